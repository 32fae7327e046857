/* SPDX-License-Identifier: Apache-2.0 */
/* What is written can be read back, and what happens when the disk refuses. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

TEST(what_was_written_is_what_is_read)
{
    dump_make(1000, 33);
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_recording_info info = dump_info(recording);
    CHECK(info.from_journal && info.complete && !info.foreign);
    CHECK_EQ_U(info.records, 1000);
    CHECK_EQ_U(info.level, TG_LEVEL_FULL);
    CHECK_EQ_U(info.payload_bytes, 1000 * 33 * 4);
    CHECK_EQ_S(info.journal, "tensor_dump.rec");
    CHECK_EQ_S(info.payload, "tensor_dump.bin");
    CHECK_EQ_S(info.manifest, "tensor_dump.json");
    CHECK_EQ_S(info.run_dir, strrchr(dump_dir, '/') + 1);
    for (uint64_t i = 0; i < 1000; i++)
        dump_check_tensor(recording, i, 33);
    struct tg_entry entry;
    CHECK(!tg_recording_get(recording, 1000, &entry));
    CHECK(!tg_recording_get(recording, UINT64_MAX, &entry));
    tg_recording_close(recording);
}

TEST(the_manifest_says_the_same_as_the_journal)
{
    dump_make(300, 5);
    struct tg_recording *recording = dump_open(dump_path("tensor_dump.json"));
    struct tg_recording_info info = dump_info(recording);
    CHECK(!info.from_journal && info.complete && !info.foreign);
    CHECK_EQ_U(info.records, 300);
    CHECK_EQ_U(info.level, TG_LEVEL_FULL);
    CHECK_EQ_U(info.summary.recorded, 300);
    CHECK_EQ_U(info.summary.inputs, 300);
    CHECK_EQ_U(info.summary.attempted, 300);
    for (uint64_t i = 0; i < 300; i++)
        dump_check_tensor(recording, i, 5);
    tg_recording_close(recording);
}

TEST(the_summary_counts_by_stage_role_kind_and_flag)
{
    struct tg_dump_writer *writer = dump_create();
    static const uint8_t stages[] = {TG_BEFORE_DISPATCH, TG_AFTER_COMPLETION,
                                     TG_STAGE_ORCHESTRATION};
    for (int stage = 0; stage < 3; stage++)
        for (int role = TG_IN; role <= TG_INOUT; role++)
            for (int i = 0; i < role; i++) {
                struct tg_record record = dump_tensor(1, 0, 0);
                record.stage = stages[stage];
                record.role = (uint8_t)role;
                record.flags |= stage == 0 ? TG_RECORD_TRUNCATED : 0;
                record.flags |= stage == 1 ? TG_RECORD_OVERWRITTEN : 0;
                CHECK(tg_dump_append(writer, &record));
            }
    struct tg_record scalar = dump_scalar(1, TG_INT32, 7);
    CHECK(tg_dump_append(writer, &scalar));
    struct tg_dump_account account = {
        .attempted = 25, .lost = {1, 2, 0, 0, 3}, .record_ns = 100, .wait_ns = 10};
    tg_dump_account(writer, &account);
    account = (struct tg_dump_account){.lost = {0, 0, 0, 0, 1}, .wait_ns = 5};
    tg_dump_account(writer, &account);
    CHECK_EQ_U(tg_dump_summary(writer)->recorded, 19);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);

    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_record_summary summary = dump_info(recording).summary;
    CHECK_EQ_U(summary.recorded, 19);
    CHECK_EQ_U(summary.before_dispatch, 7);
    CHECK_EQ_U(summary.after_completion, 6);
    CHECK_EQ_U(summary.orchestration, 6);
    CHECK_EQ_U(summary.inputs, 3);
    CHECK_EQ_U(summary.outputs, 6);
    CHECK_EQ_U(summary.inouts, 9);
    CHECK_EQ_U(summary.scalars, 1);
    CHECK_EQ_U(summary.truncated, 6);
    CHECK_EQ_U(summary.overwritten, 6);
    CHECK_EQ_U(summary.attempted, 25);
    CHECK_EQ_U(summary.lost[TG_LOSS_FULL], 1);
    CHECK_EQ_U(summary.lost[TG_LOSS_CORRUPT], 4);
    CHECK_EQ_U(summary.record_ns, 100);
    CHECK_EQ_U(summary.wait_ns, 15);
    tg_recording_close(recording);
}

TEST(kernels_have_their_names_in_any_order_of_numbers)
{
    struct tg_dump_writer *writer = dump_create();
    static const uint32_t numbers[] = {7, 0, 4000000000u, 3};
    char name[300];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "kernel_%u", numbers[i]);
        CHECK_EQ_I(tg_dump_add_kernel(writer, numbers[i], TG_AIV, name), TG_OK);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_EQ_I(tg_dump_add_kernel(writer, 9, TG_AIC, name), TG_OK);
    struct tg_record record = dump_tensor(0, 0, 0);
    record.kernel[0] = 4000000000u;
    record.kernel[1] = TG_NO_KERNEL;
    record.kernel[2] = 5; /* a kernel without a name */
    CHECK(tg_dump_append(writer, &record));
    record.kernel[0] = 9;
    CHECK(tg_dump_append(writer, &record));
    CHECK_EQ_I(tg_dump_add_kernel(writer, 1, TG_AIV, "late"), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);

    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, 0, &entry));
    CHECK_EQ_S(entry.kernel[0], "kernel_4000000000");
    CHECK(!entry.kernel[1]);
    CHECK_EQ_S(entry.kernel[2], "");
    REQUIRE(tg_recording_get(recording, 1, &entry));
    CHECK_EQ_U(strlen(entry.kernel[0]), TG_JOURNAL_NAME);
    tg_recording_close(recording);
}

TEST(a_payload_may_come_in_pieces_and_in_any_order)
{
    struct tg_dump_writer *writer = dump_create();
    uint64_t position = tg_dump_reserve(writer, 8);
    CHECK_EQ_U(tg_dump_reserve(writer, 4), position + 8);
    CHECK(tg_dump_payload(writer, position + 4, "5678", 4));
    CHECK(tg_dump_payload(writer, position, "1234", 4));
    struct tg_record record = dump_tensor(0, 2, position);
    CHECK(tg_dump_append(writer, &record));
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, 0, &entry));
    CHECK_EQ_MEM(tg_recording_payload(recording, &entry), "12345678", 8);
    tg_recording_close(recording);
}

enum { WRITERS = 4, EACH = 3000 };

struct part {
    struct tg_dump_writer *writer;
    uint64_t first;
};

/* Writes records with the numbers from `first` on, two at a time. */
static void *write_part(void *argument)
{
    const struct part *part = argument;
    for (uint64_t i = part->first; i < part->first + EACH; i += 2) {
        struct tg_record record[2];
        float values[2][4];
        uint64_t position = tg_dump_reserve(part->writer, sizeof values);
        for (uint64_t k = 0; k < 2; k++) {
            for (int j = 0; j < 4; j++)
                values[k][j] = (float)(4 * (i + k)) + (float)j;
            record[k] = dump_tensor(i + k, 4, position + k * sizeof values[0]);
        }
        if (!tg_dump_payload(part->writer, position, values, sizeof values) ||
            !tg_dump_append_all(part->writer, record, 2) ||
            (i % 500 == 0 && !tg_dump_flush(part->writer)))
            return argument;
    }
    return NULL;
}

TEST(several_threads_write_and_append_at_once)
{
    struct tg_dump_writer *writer = dump_create();
    pthread_t thread[WRITERS];
    struct part part[WRITERS];
    for (uint64_t w = 0; w < WRITERS; w++) {
        part[w] = (struct part){writer, w * EACH};
        REQUIRE(pthread_create(&thread[w], NULL, write_part, &part[w]) == 0);
    }
    for (int w = 0; w < WRITERS; w++) {
        void *failed;
        pthread_join(thread[w], &failed);
        CHECK(!failed);
    }
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);

    struct tg_recording *recording = dump_open(dump_dir);
    uint64_t next[WRITERS] = {0};
    CHECK_EQ_U(dump_info(recording).payload_bytes, WRITERS * EACH * 16);
    REQUIRE(dump_info(recording).records == WRITERS * EACH);
    for (uint64_t i = 0; i < WRITERS * EACH; i++) {
        struct tg_entry entry;
        REQUIRE(tg_recording_get(recording, i, &entry));
        uint64_t w = entry.record.task_id / EACH;
        const float *values = tg_recording_payload(recording, &entry);
        REQUIRE(w < WRITERS && values);
        CHECK_EQ_U(entry.record.task_id, w * EACH + next[w]++);
        CHECK(values[0] == (float)(4 * entry.record.task_id) && values[3] == values[0] + 3);
    }
    tg_recording_close(recording);
}

TEST(a_reservation_that_no_file_can_hold_is_refused)
{
    struct tg_dump_writer *writer = dump_create();
    uint64_t position = tg_dump_reserve(writer, 100);
    tg_dump_reserve(writer, UINT64_MAX);
    CHECK_EQ_U(tg_dump_reserve(writer, 0), position + 100);
    CHECK(!tg_dump_payload(writer, position, "x", 1));
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_IO_ERROR);
    tg_dump_destroy(writer);
}

TEST(what_was_flushed_is_readable_while_the_run_goes_on)
{
    struct tg_dump_writer *writer = dump_create();
    for (uint64_t i = 0; i < 5; i++)
        CHECK(dump_add_tensor(writer, i, 4));
    CHECK(tg_dump_flush(writer));
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, 5);
    CHECK(!dump_info(recording).complete);
    for (uint64_t i = 0; i < 5; i++)
        dump_check_tensor(recording, i, 4);
    tg_recording_close(recording);
    tg_dump_destroy(writer);
}

TEST(without_finish_the_journal_has_what_was_appended_and_no_end)
{
    struct tg_dump_writer *writer = dump_create();
    CHECK(dump_add_tensor(writer, 0, 4));
    tg_dump_destroy(writer);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, 1);
    CHECK(!dump_info(recording).complete);
    CHECK_EQ_S(dump_info(recording).manifest, "");
    tg_recording_close(recording);
}

TEST(a_recording_from_before_is_gone_at_once)
{
    struct tg_dump_writer *writer;
    dump_make(5, 4);
    REQUIRE(tg_dump_create(dump_dir, TG_LEVEL_META, TG_POLICY_DROP, 0, &writer, &dump_error) ==
            TG_OK);
    CHECK(access(dump_path("tensor_dump.json"), F_OK) != 0);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, 0);
    CHECK_EQ_U(dump_info(recording).payload_bytes, 0);
    tg_recording_close(recording);
    tg_dump_destroy(writer);
}

TEST(journal_and_manifest_each_name_the_pattern_that_filled_memory)
{
    struct tg_dump_writer *writer;
    dump_make_dir();
    REQUIRE(tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, TG_POISON, &writer,
                           &dump_error) == TG_OK);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    for (int from_manifest = 0; from_manifest < 2; from_manifest++) {
        struct tg_recording *recording = dump_open(dump_dir);
        CHECK_EQ_U(dump_info(recording).from_journal, !from_manifest);
        CHECK_EQ_U(dump_info(recording).poison, TG_POISON);
        tg_recording_close(recording);
        (void)unlink(dump_path("tensor_dump.rec"));
    }
}

TEST(a_directory_that_is_missing_or_not_writable_is_named_with_the_cause)
{
    struct tg_dump_writer *writer;
    CHECK_EQ_I(tg_dump_create("/nonexistent/run", 5, 0, 0, &writer, &dump_error), TG_IO_ERROR);
    CHECK(!writer);
    CHECK_HAS(dump_error.text, "/nonexistent/run/tensor_dump");
    CHECK_HAS(dump_error.text, "No such file");
}

TEST(a_file_in_place_of_the_folder_is_named_with_the_cause)
{
    struct tg_dump_writer *writer;
    char path[600];
    dump_make_dir();
    snprintf(path, sizeof path, "%s/tensor_dump", dump_dir);
    dump_write_file(path, "", 0);
    CHECK_EQ_I(tg_dump_create(dump_dir, 5, 0, 0, &writer, &dump_error), TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "Not a directory");
}

TEST(a_read_only_directory_is_named_with_the_cause)
{
    struct tg_dump_writer *writer;
    if (geteuid() == 0)
        SKIP("root may write everywhere");
    dump_make_dir();
    chmod(dump_dir, 0500);
    CHECK_EQ_I(tg_dump_create(dump_dir, 5, 0, 0, &writer, &dump_error), TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "Permission denied");
    chmod(dump_dir, 0700);
}

TEST(a_manifest_that_cannot_be_renamed_leaves_a_complete_journal)
{
    struct tg_dump_writer *writer = dump_create();
    CHECK(dump_add_tensor(writer, 0, 4));
    mkdir(dump_path("tensor_dump.json"), 0777);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "tensor_dump.json");
    tg_dump_destroy(writer);
    CHECK(access(dump_path(".tensor_dump.json.tmp"), F_OK) != 0);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK(dump_info(recording).complete);
    CHECK_EQ_U(dump_info(recording).records, 1);
    tg_recording_close(recording);
}

/* --- disk full: no file may grow past a limit ---------------------------------------------------- */

static struct rlimit unlimited;

static void limit_files(rlim_t bytes)
{
    struct rlimit limit = unlimited;
    signal(SIGXFSZ, SIG_IGN);
    if (unlimited.rlim_max == 0) {
        getrlimit(RLIMIT_FSIZE, &unlimited);
        limit = unlimited;
    }
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void lift_limit(void)
{
    setrlimit(RLIMIT_FSIZE, &unlimited);
}

/* Checks that every record in the journal is whole and verifies, and that the rest is counted as
 * lost. */
static void check_what_is_left(uint64_t attempted, int64_t elements, uint64_t lost)
{
    struct tg_recording *recording = dump_open(dump_path("tensor_dump.rec"));
    struct tg_recording_info info = dump_info(recording);
    struct stat journal;
    for (uint64_t i = 0; i < info.records; i++)
        dump_check_tensor(recording, i, elements);
    CHECK_EQ_U(info.records + lost, attempted);
    if (info.complete) {
        CHECK_EQ_U(info.summary.recorded, info.records);
        CHECK_EQ_U(info.summary.lost[TG_LOSS_DISK], lost);
    }
    CHECK(stat(dump_path("tensor_dump.rec"), &journal) == 0);
    CHECK_EQ_I(journal.st_size % 128, 0);
    tg_recording_close(recording);
}

static void fill_disk(rlim_t limit, uint64_t n, int64_t elements, uint64_t flush_every,
                      const char *file)
{
    struct tg_dump_writer *writer = dump_create();
    limit_files(limit);
    for (uint64_t i = 0; i < n; i++) {
        dump_add_tensor(writer, i, elements);
        if (i % flush_every == flush_every - 1)
            tg_dump_flush(writer);
    }
    tg_status status = tg_dump_finish(writer, &dump_error);
    lift_limit();
    CHECK_EQ_I(status, TG_IO_ERROR);
    CHECK_HAS(dump_error.text, file);
    CHECK_HAS(dump_error.text, strerror(EFBIG));
    uint64_t lost = tg_dump_summary(writer)->lost[TG_LOSS_DISK];
    CHECK(lost > 0);
    tg_dump_destroy(writer);
    check_what_is_left(n, elements, lost);
}

TEST(a_full_disk_in_mid_payload_costs_only_what_follows)
{
    for (rlim_t limit = 40000; limit < 40000 + 2048; limit += 333)
        fill_disk(limit, 60, 256, 10, "tensor_dump.bin");
}

TEST(a_full_disk_in_mid_journal_leaves_whole_records)
{
    for (rlim_t limit = 128 * 20; limit <= 128 * 22; limit += 17)
        fill_disk(limit, 60, 1, 7, "tensor_dump.rec");
    fill_disk(128 * 30 + 100, 900, 1, 1000, "tensor_dump.rec");
}

TEST(without_room_for_its_head_there_is_no_journal)
{
    struct tg_dump_writer *writer;
    dump_make_dir();
    limit_files(100);
    tg_status status =
        tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, &writer, &dump_error);
    lift_limit();
    CHECK_EQ_I(status, TG_IO_ERROR);
    CHECK(!writer);
    CHECK_HAS(dump_error.text, "tensor_dump.rec");
    CHECK(access(dump_path("tensor_dump.rec"), F_OK) != 0);
    CHECK(access(dump_path(".tensor_dump.rec.tmp"), F_OK) != 0);
}

TEST(after_a_full_disk_writing_stops_and_says_so)
{
    struct tg_dump_writer *writer = dump_create();
    limit_files(1000);
    CHECK(!dump_add_tensor(writer, 0, 1000));
    lift_limit();
    CHECK(!tg_dump_payload(writer, 0, "x", 1));
    CHECK(!dump_add_tensor(writer, 1, 1));
    CHECK(!tg_dump_flush(writer));
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "tensor_dump.bin': File too large");
    CHECK_EQ_U(tg_dump_summary(writer)->lost[TG_LOSS_DISK], 2);
    tg_dump_destroy(writer);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK(dump_info(recording).complete);
    CHECK_EQ_U(dump_info(recording).payload_bytes, 0);
    tg_recording_close(recording);
    for (int again = 0; again < 2; again++) {
        struct tg_recovery recovered;
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK(recovered.was_complete);
        CHECK_EQ_U(recovered.lost, 2);
        CHECK_EQ_I(unlink(dump_path("tensor_dump.json")), 0);
    }
}

TEST_MAIN()
