/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in recordings that were made up for the test. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/find.h"

#include <taskglass/numeric.h>

static struct made made;
static struct tg_find *find;
static struct tg_find_info info;
static struct tg_find_finding finding;
static struct tg_error error;

static tg_status look_for(enum tg_find_kind find_kind)
{
    tg_status status = tg_find_open(made.recording, find_kind, NULL, NULL, &find, &error);
    if (status == TG_OK)
        tg_find_get_info(find, &info);
    return status;
}

static void must_find(enum tg_find_kind find_kind)
{
    made_end(&made);
    REQUIRE(look_for(find_kind) == TG_OK);
}

static void done(void)
{
    tg_find_close(find);
    find = NULL;
    tg_recording_close(made.recording);
}

static void check_finding(uint64_t number, uint64_t record, const char *trace)
{
    REQUIRE(tg_find_get_finding(find, number, &finding));
    CHECK_EQ_U(finding.record, record);
    CHECK_EQ_S(tg_trace_name(finding.trace), trace);
}

enum { X = 0x1000, Y = 0x2000, Z = 0x3000 };
#define READ(id, where, ...) \
    made_add(&made, (struct made_record){.task = (id), .address = (where), VALUES(__VA_ARGS__)})
#define WRITE(id, where, ...)      \
    made_add(&made,                \
             (struct made_record){ \
                 .task = (id), .arg = 1, .after = true, .address = (where), VALUES(__VA_ARGS__)})

TEST(nan_began_where_no_input_had_it)
{
    made_begin(&made);
    READ(0, X, 1, 2);
    WRITE(0, Y, 1, NAN);
    READ(1, Y, 1, NAN);
    WRITE(1, Z, NAN, NAN);
    must_find(TG_FIND_NAN);
    CHECK_EQ_U(info.findings, 2);
    CHECK_EQ_U(info.origins, 1);
    check_finding(0, 1, "origin");
    CHECK_EQ_U(finding.count, 1);
    CHECK_EQ_U(finding.first, 1);
    check_finding(1, 3, "inherited");
    CHECK_EQ_U(finding.count, 2);
    struct tg_find_feed feed;
    REQUIRE(tg_find_get_feed(find, 1, 0, &feed));
    CHECK_EQ_U(feed.record, 2);
    CHECK_EQ_U(feed.from, 1);
    CHECK_EQ_U(feed.count, 1);
    CHECK(!feed.is_outside && !tg_find_get_feed(find, 1, 1, &feed));
    done();
}

TEST(nan_that_came_from_outside_is_reported_as_given)
{
    made_begin(&made);
    READ(0, X, NAN);
    WRITE(0, Y, NAN);
    READ(1, X, NAN); /* the same again: reported once */
    WRITE(1, Z, 3);
    must_find(TG_FIND_NAN);
    CHECK_EQ_U(info.findings, 2);
    check_finding(0, 0, "given");
    check_finding(1, 1, "inherited");
    done();
}

TEST(an_input_that_was_not_recorded_leaves_it_open)
{
    made_begin(&made);
    made_add(&made, (struct made_record){.address = X, .meta = true, .n_values = 1});
    WRITE(0, Y, NAN);
    must_find(TG_FIND_NAN);
    check_finding(0, 1, "unclear");
    CHECK_EQ_U(info.not_stored, 1);
    done();
}

TEST(a_hash_that_was_seen_before_need_not_be_stored)
{
    made_begin(&made);
    READ(0, X, 1, 2);
    WRITE(0, Y, NAN, 1);
    uint64_t hash = tg_content_hash((float[]){NAN, 1}, 8);
    made_add(&made, (struct made_record){
                        .task = 1, .address = Y, .meta = true, .n_values = 2, .hash = hash});
    WRITE(1, Z, NAN, 1);
    must_find(TG_FIND_NAN);
    CHECK_EQ_U(info.not_stored, 0);
    check_finding(1, 3, "inherited");
    done();
}

TEST(overflow_is_an_infinity_or_the_largest_value)
{
    made_begin(&made);
    READ(0, X, 1, 2);
    WRITE(0, Y, 3.4028234664e38f, -INFINITY);
    READ(1, Y, 3.4028234664e38f, -INFINITY);
    WRITE(1, Z, 1, 2);
    must_find(TG_FIND_OVERFLOW);
    CHECK_EQ_U(info.findings, 1);
    check_finding(0, 1, "origin");
    CHECK_EQ_U(finding.count, 2);
    done();
}

TEST(constant_needs_two_elements)
{
    made_begin(&made);
    WRITE(0, X, 5);
    WRITE(1, Y, 5, 5);
    WRITE(2, Z, 5, 6);
    must_find(TG_FIND_CONSTANT);
    CHECK_EQ_U(info.findings, 1);
    check_finding(0, 1, "unclear"); /* argument 0 was not recorded */
    CHECK_EQ_U(finding.count, 2);
    done();
}

/* --- single tensors --------------------------------------------------------------------------- */

static uint64_t probe(enum tg_find_kind find_kind, unsigned dtype, const void *bytes, int64_t n)
{
    struct tg_array array = {.dtype = dtype,
                             .ndim = 1,
                             .shape = {n},
                             .elements = n,
                             .bytes = bytes,
                             .size = tg_bytes_of(dtype, n)};
    struct tg_probe result;
    tg_probe_array(find_kind, &array, &result);
    CHECK(result.is_known);
    return result.count;
}

TEST(each_type_has_its_own_nan_and_its_own_end)
{
    const unsigned char e4m3[3] = {0x7f, 0xff, 0x7e}, e8m0[2] = {0xff, 0xfe};
    const int16_t words[4] = {INT16_MAX, INT16_MIN, 0, -1};
    const uint32_t large[2] = {UINT32_MAX, 0};
    const int64_t longs[3] = {INT64_MAX, INT64_MIN, INT64_MAX - 1};
    const unsigned char bytes[2] = {255, 255};
    CHECK_EQ_U(probe(TG_FIND_NAN, TG_FLOAT8_E4M3FN, e4m3, 3), 2);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_FLOAT8_E4M3FN, e4m3, 3), 1);
    CHECK_EQ_U(probe(TG_FIND_NAN, TG_FLOAT8_E8M0FNU, e8m0, 2), 1);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_FLOAT8_E8M0FNU, e8m0, 2), 1);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_INT16, words, 4), 2);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_UINT32, large, 2), 1);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_INT64, longs, 3), 2);
    CHECK_EQ_U(probe(TG_FIND_OVERFLOW, TG_UINT8, bytes, 2), 0);
    CHECK_EQ_U(probe(TG_FIND_NAN, TG_INT16, words, 4), 0);
}

TEST(a_rare_element_is_found_wherever_it_is)
{
    static double values[5000];
    values[4999] = NAN;
    values[2048] = INFINITY;
    CHECK_EQ_U(probe(TG_FIND_NAN, TG_FLOAT64, values, 5000), 1);
    CHECK_EQ_U(probe(TG_FIND_INF, TG_FLOAT64, values, 5000), 1);
    CHECK_EQ_U(probe(TG_FIND_NAN, TG_FLOAT64, values, 4999), 0);
}

TEST(constant_nibbles_leave_the_unused_half_out)
{
    const unsigned char three[2] = {0x33, 0x03}, mixed[2] = {0x33, 0x43}, odd[2] = {0x33, 0x04};
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, three, 3), 3);
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, three, 4), 0);
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, mixed, 4), 0);
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, odd, 3), 0);
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, three, 2), 2);
    CHECK_EQ_U(probe(TG_FIND_CONSTANT, TG_INT4, three, 1), 0);
}

/* --- by memory -------------------------------------------------------------------------------- */

TEST(an_output_that_is_what_was_there_was_not_written)
{
    made_begin(&made);
    WRITE(0, X, 1, 2);
    WRITE(1, X, 1, 2);
    WRITE(2, X, 1, 3);
    WRITE(3, Y, 0, 0);
    WRITE(4, Y, 0, 0);
    uint32_t poison = 0xa5a5a5a5;
    float fill;
    memcpy(&fill, &poison, sizeof fill);
    WRITE(5, Z, fill, fill, fill, fill);
    must_find(TG_FIND_UNWRITTEN);
    CHECK_EQ_U(info.findings, 4);
    check_finding(0, 1, "origin");
    CHECK_EQ_S(tg_sign_name(finding.sign), "same");
    CHECK_EQ_U(finding.before, 0);
    check_finding(1, 3, "origin");
    CHECK_EQ_S(tg_sign_name(finding.sign), "zero");
    check_finding(2, 4, "origin");
    CHECK_EQ_S(tg_sign_name(finding.sign), "same");
    check_finding(3, 5, "origin");
    CHECK_EQ_S(tg_sign_name(finding.sign), "fill");
    done();
}

TEST(each_output_of_a_task_gets_the_answer_of_its_task)
{
    static const char *const traces[] = {"origin", "inherited", "unclear", "unclear"};
    uint32_t poison = TG_POISON;
    float fill;
    memcpy(&fill, &poison, sizeof fill);
    made_begin(&made);
    made.head = "\"poison\": \"0x7ffb7fd3\", ";
    READ(0, 0x100, 1, 2); /* clean inputs */
    READ(1, 0x200, fill, fill, fill, fill);
    made_add(&made, (struct made_record){.task = 2, .address = 0x300, .cut = true, VALUES(1, 2)});
    for (uint64_t i = 0; i < 12; i++) /* task 3 has no record of its argument 0 */
        WRITE(i / 3, X + 0x100 * i, fill, fill, fill, fill);
    must_find(TG_FIND_UNWRITTEN);
    CHECK_EQ_U(info.findings, 12);
    for (uint64_t i = 0; i < 12; i++) {
        check_finding(i, 3 + i, traces[i / 3]);
        CHECK_EQ_S(tg_sign_name(finding.sign), "poison");
        CHECK(finding.is_proved == (i / 3 == 0));
    }
    done();
}

TEST(what_a_call_received_may_have_been_sent_with_the_pattern)
{
    uint32_t poison = TG_POISON;
    float fill;
    memcpy(&fill, &poison, sizeof fill);
    made_begin(&made);
    made.head = "\"poison\": \"0x7ffb7fd3\", ";
    made_add(&made,
             (struct made_record){
                 .kernel = "tg_recv", .after = true, .address = X, VALUES(fill, fill, fill, fill)});
    must_find(TG_FIND_UNWRITTEN);
    CHECK_EQ_U(info.findings, 1);
    check_finding(0, 0, "unclear");
    CHECK(!finding.is_proved);
    done();
}

TEST(zeros_are_known_by_their_hash)
{
    static const float zeros[2000];
    made_begin(&made);
    made_add(&made, (struct made_record){.after = true,
                                         .address = X,
                                         .meta = true,
                                         .n_values = 2000,
                                         .hash = tg_content_hash(zeros, sizeof zeros)});
    must_find(TG_FIND_UNWRITTEN);
    CHECK_EQ_U(info.findings, 1);
    CHECK(tg_find_get_finding(find, 0, &finding) && finding.sign == TG_SIGN_ZERO);
    done();
}

TEST(what_changed_without_a_writer_was_stomped)
{
    made_begin(&made);
    WRITE(0, X, 1, 2);
    READ(1, X, 1, 2);
    WRITE(2, Y, 7);
    READ(3, X, 1, 9);
    READ(4, X, 1, 9); /* the same as before: reported once */
    must_find(TG_FIND_STOMP);
    CHECK_EQ_U(info.findings, 1);
    check_finding(0, 3, "origin");
    CHECK_EQ_U(finding.before, 1);
    CHECK_EQ_U(finding.writer, 0);
    CHECK_EQ_U(finding.count, 1);
    CHECK_EQ_U(finding.first, 1);
    struct tg_find_between between;
    REQUIRE(tg_find_get_between(find, 0, 0, &between));
    CHECK_EQ_U(between.task_id, 2);
    CHECK(!between.writes && !tg_find_get_between(find, 0, 1, &between));
    done();
}

TEST(the_one_that_saw_it_last_may_have_done_it_after_that)
{
    made_begin(&made);
    WRITE(0, X, 1, 2);
    READ(1, X, 1, 2);
    WRITE(1, Y, 7); /* task 1 also writes elsewhere */
    READ(2, X, 1, 9);
    must_find(TG_FIND_STOMP);
    struct tg_find_between between;
    REQUIRE(tg_find_get_between(find, 0, 0, &between));
    CHECK_EQ_U(between.task_id, 1);
    CHECK(!tg_find_get_between(find, 0, 1, &between));
    done();
}

TEST(a_writer_of_a_part_makes_it_no_stomp)
{
    made_begin(&made);
    WRITE(0, X, 1, 2);
    WRITE(1, X + 4, 9);
    READ(2, X, 1, 9);
    must_find(TG_FIND_STOMP);
    CHECK_EQ_U(info.findings, 0);
    done();
}

/* --- findings that stay unclear --------------------------------------------------------------- */

static void refuse(enum tg_find_kind find_kind, struct made_record record, const char *why)
{
    made_begin(&made);
    made_add(&made, record);
    made_end(&made);
    CHECK_EQ_I(look_for(find_kind), TG_UNSUPPORTED);
    CHECK_HAS(error.text, why);
    done();
}

TEST(a_recording_that_could_not_show_it_is_refused)
{
    struct made_record meta = {.meta = true, .n_values = 1, .address = X};
    struct made_record hashed = {.meta = true, .n_values = 1, .address = X, .hash = 5};
    struct made_record nowhere = {VALUES(1)};
    refuse(TG_FIND_NAN, hashed, "has no payloads, which nan needs");
    refuse(TG_FIND_STOMP, meta, "has neither payloads nor hashes");
    refuse(TG_FIND_UNWRITTEN, nowhere, "has no addresses");
}

TEST(a_recording_without_records_has_nothing)
{
    for (unsigned find_kind = 0; find_kind < TG_FIND_RACE; find_kind++) {
        made_begin(&made);
        must_find(find_kind);
        CHECK_EQ_U(info.findings, 0);
        done();
    }
}

TEST_MAIN()
