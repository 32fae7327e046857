/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of memory changed, and how far a range is from them. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/stomp.h"

static struct tg_stomp_range ranges[] = {{100, 104}, {200, 208}};
static const struct tg_stomp_bytes two = {.range = ranges, .count = 2, .is_exact = true};

static void check_distance(uint64_t lo, uint64_t hi, uint64_t distance, bool is_behind)
{
    bool behind;
    CHECK_EQ_U(tg_stomp_bytes_distance(&two, lo, hi, &behind), distance);
    CHECK(behind == is_behind);
}

TEST(the_nearest_range_counts_on_either_side)
{
    check_distance(90, 100, 0, true);
    check_distance(80, 90, 10, true);
    check_distance(104, 110, 0, false);
    check_distance(110, 120, 6, false);
    check_distance(180, 190, 10, true);
    check_distance(208, 300, 0, false);
    check_distance(1000, 1001, 792, false);
    check_distance(102, 103, 0, true);
}

TEST(only_bytes_in_common_meet)
{
    CHECK(!tg_stomp_bytes_meet(&two, 90, 100));
    CHECK(tg_stomp_bytes_meet(&two, 90, 101));
    CHECK(tg_stomp_bytes_meet(&two, 103, 104));
    CHECK(!tg_stomp_bytes_meet(&two, 104, 200));
    CHECK(tg_stomp_bytes_meet(&two, 0, 1000));
    CHECK(!tg_stomp_bytes_meet(&two, 208, 1000));
}

static struct made made;
static struct tg_find *find;

/* A tensor at 0x1000 that changes from `before` to `now`. */
static void open(const struct made_record *before, const struct made_record *now,
                 struct tg_stomp_bytes *bytes)
{
    struct tg_find_finding finding;
    struct tg_error error;
    made_begin(&made);
    made_add(&made, *before);
    made_add(&made, *now);
    made_end(&made);
    REQUIRE(tg_find_open(made.recording, TG_FIND_STOMP, NULL, NULL, &find, &error) == TG_OK);
    REQUIRE(tg_find_get_finding(find, 0, &finding));
    REQUIRE(tg_stomp_bytes_of(find, &finding, bytes));
}

static void done(struct tg_stomp_bytes *bytes)
{
    tg_stomp_bytes_free(bytes);
    tg_find_close(find);
    tg_recording_close(made.recording);
}

TEST(the_elements_that_changed_are_bytes_of_memory)
{
    struct tg_stomp_bytes bytes;
    open(&(struct made_record){.task = 1, .address = 0x1000, .start = 4, VALUES(1, 2, 3, 4, 5)},
         &(struct made_record){.task = 2, .address = 0x1000, .start = 4, VALUES(1, 9, 9, 4, 9)},
         &bytes);
    CHECK(bytes.is_exact);
    CHECK_EQ_U(bytes.count, 2);
    CHECK_EQ_U(bytes.range[0].lo, 0x1000 + 5 * 4);
    CHECK_EQ_U(bytes.range[0].hi, 0x1000 + 7 * 4);
    CHECK_EQ_U(bytes.range[1].lo, 0x1000 + 8 * 4);
    CHECK_EQ_U(bytes.range[1].hi, 0x1000 + 9 * 4);
    done(&bytes);
}

TEST(by_hashes_alone_every_byte_may_have_changed)
{
    struct tg_stomp_bytes bytes;
    open(
        &(struct made_record){.task = 1, .address = 0x1000, .n_values = 5, .meta = true, .hash = 1},
        &(struct made_record){.task = 2, .address = 0x1000, .n_values = 5, .meta = true, .hash = 2},
        &bytes);
    CHECK(!bytes.is_exact);
    CHECK_EQ_U(bytes.count, 1);
    CHECK_EQ_U(bytes.range[0].lo, 0x1000);
    CHECK_EQ_U(bytes.range[0].hi, 0x1000 + 5 * 4);
    done(&bytes);
}

TEST_MAIN()
