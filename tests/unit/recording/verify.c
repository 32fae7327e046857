/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/verify.h>

static struct tg_verification result;

enum { RECORDS = 5, ELEMENTS = 20, BYTES = 4 * ELEMENTS };

/* The position of record i in the journal: after the head and one kernel. */
static size_t journal_at(uint64_t i)
{
    return 256 * (2 + i);
}

/* Makes a recording of tensors and a scalar; `killed` leaves it without its end. Its journal has version
 * 1, in which a test can change any field of a record. */
static void make_recording(bool killed)
{
    struct tg_dump_writer *writer = dump_create();
    struct tg_record scalar = dump_scalar(9, TG_INT64, 5);
    const struct tg_dump_account account = {.attempted = RECORDS + 1};
    tg_dump_add_kernel(writer, 0, TG_AIV, "add");
    for (uint64_t task = 0; task < RECORDS; task++)
        CHECK(dump_add_tensor(writer, task, ELEMENTS));
    tg_dump_append(writer, &scalar);
    tg_dump_account(writer, &account);
    if (killed)
        tg_dump_flush(writer);
    else
        CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    dump_make_old();
}

static void verify(void)
{
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    tg_recording_close(recording);
}

/* Checks that there is one problem of that kind, and no other. */
static void check_only(enum tg_problem problem, uint64_t index, const char *text)
{
    CHECK_EQ_U(result.problems, 1);
    CHECK_EQ_U(result.by_problem[problem], 1);
    CHECK_EQ_U(result.finding[0].index, index);
    CHECK_HAS(result.finding[0].text, text);
}

/* Changes bytes of a file of the recording; `seal` corrects the record's check afterwards. */
static void poke(const char *name, size_t at, const void *bytes, size_t size, bool seal)
{
    size_t all;
    char *file = dump_read_file(dump_path(name), &all);
    REQUIRE(at + size <= all);
    memcpy(file + at, bytes, size);
    if (seal)
        tg_record_seal(file + at / 256 * 256, 256);
    dump_write_file(dump_path(name), file, all);
    free(file);
}

static void poke_record(uint64_t index, size_t field, uint64_t value)
{
    poke("tensor_dump.rec", journal_at(index) + field, &value, sizeof value, true);
    unlink(dump_path("tensor_dump.json")); /* because it would differ as well */
}

static void cut(const char *name, size_t by)
{
    size_t size;
    char *file = dump_read_file(dump_path(name), &size);
    dump_write_file(dump_path(name), file, size - by);
    free(file);
}

TEST(a_sound_recording_has_no_problems)
{
    make_recording(false);
    verify();
    CHECK_EQ_U(result.problems, 0);
    CHECK_EQ_U(result.records, RECORDS + 1);
    CHECK_EQ_U(result.payloads, RECORDS);
    CHECK_EQ_U(result.compared, RECORDS);
    CHECK_EQ_U(result.bytes, RECORDS * BYTES);
    CHECK_EQ_U(result.unclaimed, 0);
    CHECK(result.manifest);
}

TEST(a_changed_byte_of_a_payload_is_found)
{
    make_recording(false);
    poke("tensor_dump.bin", 2 * BYTES + 7, "?", 1, false);
    verify();
    check_only(TG_PROBLEM_HASH, 2, "but its 80 bytes have 0x");
}

TEST(a_damaged_record_is_found)
{
    make_recording(false);
    poke("tensor_dump.rec", journal_at(3) + 100, "?", 1, false);
    verify();
    check_only(TG_PROBLEM_JOURNAL, TG_NONE,
               "the record at byte 1280 of tensor_dump.rec is damaged");
    CHECK_EQ_U(result.records, RECORDS + 1); /* the manifest has it too */
    unlink(dump_path("tensor_dump.json"));
    verify();
    check_only(TG_PROBLEM_JOURNAL, TG_NONE,
               "the record at byte 1280 of tensor_dump.rec is damaged");
    CHECK_EQ_U(result.records, RECORDS);
}

TEST(payloads_that_share_bytes_are_found)
{
    make_recording(false);
    poke_record(1, offsetof(struct tg_record, position), 8);
    verify();
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_OVERLAP], 1);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_HASH], 1);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_UNCLAIMED], 1);
    CHECK_EQ_U(result.unclaimed, BYTES - 8);
}

TEST(a_payload_beyond_the_file_is_found)
{
    make_recording(false);
    poke_record(4, offsetof(struct tg_record, position), RECORDS * BYTES - 8);
    verify();
    CHECK_EQ_U(result.finding[1].index, 4);
    CHECK_HAS(result.finding[1].text,
              "its payload is 80 bytes at 392, but the payload file has 400");
}

TEST(a_shape_that_is_not_that_of_the_bytes_is_found)
{
    make_recording(false);
    poke_record(0, offsetof(struct tg_record, shape), ELEMENTS + 1);
    verify();
    CHECK_EQ_U(result.finding[0].index, 0);
    CHECK_HAS(result.finding[0].text, "says that 80 of 80 bytes are stored, but its shape has 84");
}

TEST(strides_that_are_not_contiguous_are_found)
{
    make_recording(false);
    poke_record(2, offsetof(struct tg_record, strides), 3);
    verify();
    check_only(TG_PROBLEM_RECORD, 2, "says that it is contiguous");
}

TEST(a_counter_that_is_wrong_is_found)
{
    make_recording(false);
    poke("tensor_dump.rec", journal_at(RECORDS + 1) + offsetof(struct tg_record_summary, inputs),
         "\6", 1, true);
    verify();
    check_only(TG_PROBLEM_COUNTER, TG_NONE, "the summary says 6 inputs, but there are 5");
}

TEST(recorded_and_lost_must_make_what_was_attempted)
{
    make_recording(false);
    poke("tensor_dump.rec", journal_at(RECORDS + 1) + offsetof(struct tg_record_summary, attempted),
         "\x9", 1, true);
    unlink(dump_path("tensor_dump.json")); /* because it would differ as well */
    verify();
    check_only(TG_PROBLEM_COUNTER, TG_NONE, "9 attempted, but 6 recorded and 0 lost");
}

TEST(bytes_that_belong_to_no_record_are_found)
{
    make_recording(false);
    FILE *file = fopen(dump_path("tensor_dump.bin"), "ab");
    fputs("four", file);
    fclose(file);
    verify();
    CHECK_EQ_U(result.unclaimed, 4);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_UNCLAIMED], 1);
}

TEST(bytes_behind_the_summary_are_found)
{
    make_recording(false);
    FILE *file = fopen(dump_path("tensor_dump.rec"), "ab");
    fputs("four", file);
    fclose(file);
    verify();
    check_only(TG_PROBLEM_JOURNAL, TG_NONE, "has 4 bytes after its summary");
}

/* Replaces the first occurrence. */
static void edit_manifest(const char *old, const char *new)
{
    size_t size, length = strlen(new);
    char *text = dump_read_file(dump_path("tensor_dump.json"), &size);
    char *found = strstr(text, old), *edited = malloc(size + length);
    REQUIRE(found && edited);
    size_t before = (size_t)(found - text), behind = size - before - strlen(old);
    memcpy(edited, text, before);
    memcpy(edited + before, new, length);
    memcpy(edited + before + length, found + strlen(old), behind);
    dump_write_file(dump_path("tensor_dump.json"), edited, before + length + behind);
    free(edited);
    free(text);
}

TEST(a_manifest_that_says_something_else_is_found)
{
    make_recording(false);
    edit_manifest("\"bin_offset\":80", "\"bin_offset\":84");
    verify();
    check_only(TG_PROBLEM_MANIFEST, 1, "the manifest has another payload than the journal");
}

TEST(a_counter_of_the_manifest_is_compared)
{
    make_recording(false);
    edit_manifest("\"input_tensors\": 5", "\"input_tensors\": 7");
    verify();
    check_only(TG_PROBLEM_COUNTER, TG_NONE, "the manifest says 7 inputs, but there are 5");
}

TEST(a_manifest_that_is_laid_out_differently_is_as_good)
{
    make_recording(false);
    edit_manifest("\"arg_index\":0,", " \"arg_index\" : 0 , ");
    verify();
    CHECK_EQ_U(result.problems, 0);
}

TEST(a_broken_manifest_is_found)
{
    make_recording(false);
    cut("tensor_dump.json", 5);
    verify();
    check_only(TG_PROBLEM_MANIFEST, TG_NONE, "tensor_dump.json is damaged: line 35: a comma");
}

TEST(what_a_killed_host_left_is_good_as_far_as_it_goes)
{
    make_recording(true);
    cut("tensor_dump.rec", 100);
    verify();
    CHECK_EQ_U(result.problems, 0);
    CHECK_EQ_U(result.records, RECORDS);
    CHECK(result.torn);
}

/* Enough records for several threads. */
TEST(many_problems_are_counted_and_the_first_ones_kept)
{
    enum { MANY = 1000, SIZE = 4 * 1024 };
    struct tg_dump_writer *writer = dump_create();
    for (uint64_t task = 0; task < MANY; task++)
        CHECK(dump_add_tensor(writer, task, SIZE / 4));
    tg_dump_flush(writer);
    tg_dump_destroy(writer);
    static char zeros[MANY * SIZE];
    dump_write_file(dump_path("tensor_dump.bin"), zeros, sizeof zeros);
    verify();
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_HASH], MANY);
    CHECK_EQ_U(result.n_findings, TG_VERIFY_FINDINGS);
    for (uint32_t i = 0; i < TG_VERIFY_FINDINGS; i++)
        CHECK_EQ_U(result.finding[i].index, i);
    CHECK_EQ_U(result.compared, MANY);
    CHECK_EQ_U(result.counted.inputs, MANY);
}

TEST_MAIN()
