/* SPDX-License-Identifier: Apache-2.0 */
/* What a recovery does with a manifest that is there: it never loses what that one says. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/verify.h>

enum { TASKS = 8, HEAD = 256, RECORD = 128 };

static const char journal[] = "tensor_dump.rec", manifest[] = "tensor_dump.json",
                  payload[] = "tensor_dump.bin";

static void check_unchanged(const char *name, const char *bytes, size_t size)
{
    size_t now_size;
    char *now = dump_read_file(dump_path(name), &now_size);
    CHECK(now_size == size && memcmp(now, bytes, size) == 0);
    free(now);
}

TEST(a_payload_file_that_is_away_costs_a_good_manifest_nothing)
{
    struct tg_recovery recovered;
    size_t size;
    dump_make(TASKS, 5);
    char *before = dump_read_file(dump_path(manifest), &size);
    REQUIRE(truncate(dump_path(journal), HEAD + 4 * RECORD) == 0);
    for (int missing = 0; missing < 2; missing++) {
        REQUIRE((missing ? unlink(dump_path(payload)) : truncate(dump_path(payload), 30)) == 0);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK(recovered.kept_manifest);
        CHECK(recovered.lacks_payload);
        CHECK_EQ_U(recovered.put_aside, 0);
        check_unchanged(manifest, before, size);
    }
    free(before);
}

TEST(the_journal_of_another_run_does_not_replace_a_good_manifest)
{
    struct tg_recovery recovered;
    size_t foreign_size, size;
    dump_make(TASKS + 2, 7);
    char *foreign = dump_read_file(dump_path(journal), &foreign_size);
    dump_make(TASKS, 5);
    char *before = dump_read_file(dump_path(manifest), &size);
    for (size_t cut = 0; cut < 9 * RECORD; cut += 2 * RECORD + 10) {
        dump_write_file(dump_path(journal), foreign, foreign_size - cut);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_BAD_ARGUMENT);
        CHECK_HAS(dump_error.text, "contradict each other");
        check_unchanged(manifest, before, size);
        check_unchanged(journal, foreign, foreign_size - cut);
    }
    free(foreign);
    free(before);
}

TEST(a_replaced_manifest_is_kept_and_never_replaces_another)
{
    struct tg_recovery recovered;
    static const char *const kept[] = {"tensor_dump.json.damaged", "tensor_dump.json.damaged.2"};
    size_t size;
    dump_make(TASKS, 5);
    char *before = dump_read_file(dump_path(manifest), &size);
    for (unsigned i = 0; i < 2; i++) {
        before[size / 2 + i] ^= 1;
        dump_write_file(dump_path(manifest), before, size);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK(!recovered.kept_manifest);
        CHECK_EQ_U(recovered.put_aside, i + 1);
        check_unchanged(kept[i], before, size);
    }
    free(before);
}

static void check_copy_is_dropped(void)
{
    static struct tg_verification result;
    struct tg_recovery recovered;
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    CHECK_EQ_U(recovered.records, TASKS);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, TASKS);
    CHECK(dump_info(recording).complete);
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    CHECK(result.problems > 0); /* behind the summary, the copy makes two */
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_JOURNAL], result.problems);
    CHECK_HAS(result.finding[result.problems - 1].text, "a copy of an earlier one");
    tg_recording_close(recording);
}

TEST(an_exact_copy_of_a_record_is_left_out)
{
    size_t size;
    dump_make(TASKS, 5);
    char *bytes = dump_read_file(dump_path(journal), &size);
    char *twice = malloc(size + RECORD);
    size_t third = HEAD + 3 * RECORD;
    for (size_t at = third + RECORD; at <= size; at += RECORD) {
        if (at == size - RECORD)
            continue; /* between the halves of the summary */
        memcpy(twice, bytes, at);
        memcpy(twice + at, bytes + third, RECORD);
        memcpy(twice + at + RECORD, bytes + at, size - at);
        dump_write_file(dump_path(journal), twice, size + RECORD);
        check_copy_is_dropped();
    }
    unlink(dump_path(manifest));
    check_copy_is_dropped();
    free(bytes);
    free(twice);
}

static void check_missing(uint64_t records)
{
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_recording_info info = dump_info(recording);
    CHECK_EQ_U(info.records, records);
    CHECK_EQ_U(info.damaged, TASKS - records);
    CHECK(!info.complete);
    tg_recording_close(recording);
}

TEST(records_that_only_the_head_of_the_manifest_promises_are_missing)
{
    struct tg_recovery recovered;
    size_t size;
    dump_make(TASKS, 5);
    char *text = dump_read_file(dump_path(manifest), &size);
    const char *entry = strstr(text, "\"tensors\"");
    for (int i = 0; i < 6; i++)
        entry = strchr(entry, '\n') + 1; /* five entries come before it */
    REQUIRE(truncate(dump_path(manifest), entry - text + 50) == 0);
    REQUIRE(truncate(dump_path(journal), HEAD + 4 * RECORD + 100) == 0);
    check_missing(5);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK(!recovered.was_complete);
        CHECK_EQ_U(recovered.records, 5);
        CHECK_EQ_U(recovered.damaged, TASKS - 5);
        CHECK_EQ_I(recovered.kept_manifest, i == 1);
        check_missing(5);
    }
    unlink(dump_path(journal));
    check_missing(5);
    free(text);
}

static const struct tg_verification *verify(void)
{
    static struct tg_verification result;
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    tg_recording_close(recording);
    return &result;
}

TEST(verify_says_how_many_records_of_the_manifest_a_cut_journal_lacks)
{
    dump_make(TASKS, 5);
    REQUIRE(truncate(dump_path(journal), HEAD + 4 * RECORD) == 0);
    CHECK_EQ_U(verify()->problems, 1);
    CHECK_HAS(verify()->finding[0].text, "lacks 5 of the records that tensor_dump.json has");
    REQUIRE(truncate(dump_path(journal), HEAD) == 0);
    CHECK_EQ_U(verify()->by_problem[TG_PROBLEM_JOURNAL], 1);
    CHECK_HAS(verify()->finding[0].text, "lacks 8 of the records that tensor_dump.json has");
}

TEST(verify_blames_a_short_payload_file_and_not_the_manifest)
{
    dump_make(TASKS, 5);
    for (int missing = 0; missing < 2; missing++) {
        REQUIRE((missing ? unlink(dump_path(payload)) : truncate(dump_path(payload), 130)) == 0);
        const struct tg_verification *result = verify();
        CHECK_EQ_U(result->by_problem[TG_PROBLEM_RECORD], missing ? TASKS + 1 : 3);
        CHECK_EQ_U(result->problems, result->by_problem[TG_PROBLEM_RECORD]);
        CHECK_HAS(result->finding[0].text,
                  missing ? "the payload file is missing: it cuts the payloads of 8 records"
                          : "the payload file is too short: it cuts the payloads of 2 records");
    }
}

TEST_MAIN()
