/* SPDX-License-Identifier: Apache-2.0 */
/* Journals and payload files that end in the middle, and their repair. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

enum { TENSORS = 6, ELEMENTS = 8, HEAD = 256, RECORD = 128 };

/* Head, one kernel, TENSORS tensors, a summary of two slots. */
static void make(void)
{
    dump_make(TENSORS, ELEMENTS);
    unlink(dump_path("tensor_dump.json"));
}

static uint64_t whole_tensors(size_t size)
{
    uint64_t records = (size - HEAD) / RECORD;
    uint64_t tensors = records > 0 ? records - 1 : 0;
    return tensors < TENSORS ? tensors : TENSORS;
}

static void check_readable(size_t size)
{
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_recording_info info = dump_info(recording);
    CHECK_EQ_U(info.records, whole_tensors(size));
    CHECK_EQ_I(info.complete, size >= HEAD + RECORD * (TENSORS + 3));
    for (uint64_t i = 0; i < info.records; i++)
        dump_check_tensor(recording, i, ELEMENTS);
    tg_recording_close(recording);
}

TEST(a_journal_torn_at_any_byte_is_read_up_to_its_last_whole_record)
{
    make();
    size_t full = HEAD + RECORD * (TENSORS + 3);
    for (size_t size = full; size + 3 * RECORD >= full; size--) {
        REQUIRE(truncate(dump_path("tensor_dump.rec"), (off_t)size) == 0);
        check_readable(size);
    }
}

TEST(a_torn_journal_is_cut_and_gets_its_manifest)
{
    size_t full = HEAD + RECORD * (TENSORS + 3);
    for (size_t size = full - 1; size + 3 * RECORD + 3 >= full; size -= 37) {
        struct tg_recovery recovered;
        make();
        REQUIRE(truncate(dump_path("tensor_dump.rec"), (off_t)size) == 0);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK_EQ_U(recovered.records, whole_tensors(size));
        CHECK_EQ_U(recovered.cut_bytes, (size > full - RECORD ? RECORD : 0) + size % RECORD);
        CHECK_EQ_U(recovered.bad_bytes, 0);
        CHECK_EQ_U(recovered.truncated, 0);
        CHECK(!recovered.was_complete);

        struct tg_recording *recording = dump_open(dump_path("tensor_dump.json"));
        CHECK(!dump_info(recording).complete);
        CHECK_EQ_U(dump_info(recording).records, recovered.records);
        for (uint64_t i = 0; i < recovered.records; i++)
            dump_check_tensor(recording, i, ELEMENTS);
        tg_recording_close(recording);

        CHECK_EQ_I(tg_recording_recover(dump_path("tensor_dump.rec"), &recovered, &dump_error),
                   TG_OK);
        CHECK_EQ_U(recovered.cut_bytes, 0);
    }
}

TEST(recovering_a_complete_recording_writes_the_same_manifest_again)
{
    struct tg_recovery recovered;
    size_t before_size, after_size;
    dump_make(TENSORS, ELEMENTS);
    char *before = dump_read_file(dump_path("tensor_dump.json"), &before_size);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    CHECK(recovered.was_complete);
    char *after = dump_read_file(dump_path("tensor_dump.json"), &after_size);
    CHECK_EQ_S(after, before);
    free(before);
    free(after);
}

TEST(payload_that_is_not_there_is_not_claimed)
{
    size_t full = TENSORS * ELEMENTS * 4;
    for (size_t size = 0; size <= full; size += 5) {
        struct tg_recovery recovered;
        make();
        REQUIRE(truncate(dump_path("tensor_dump.bin"), (off_t)size) == 0);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK_EQ_U(recovered.truncated, TENSORS - size / (ELEMENTS * 4));
        struct tg_recording *recording = dump_open(dump_dir);
        for (uint64_t i = 0; i < TENSORS; i++) {
            struct tg_entry entry;
            REQUIRE(tg_recording_get(recording, i, &entry));
            uint64_t begin = i * ELEMENTS * 4, stored = begin < size ? size - begin : 0;
            CHECK_EQ_U(entry.record.stored, stored < ELEMENTS * 4 ? stored : ELEMENTS * 4);
            CHECK_EQ_U(entry.record.bytes, ELEMENTS * 4);
            CHECK_EQ_I((entry.record.flags & TG_RECORD_TRUNCATED) != 0, stored < ELEMENTS * 4);
            CHECK_EQ_I(tg_recording_payload(recording, &entry) != NULL, stored > 0);
        }
        tg_recording_close(recording);
    }
}

TEST(a_missing_payload_file_leaves_the_metadata)
{
    make();
    unlink(dump_path("tensor_dump.bin"));
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_entry entry;
    CHECK_EQ_S(dump_info(recording).payload, "");
    REQUIRE(tg_recording_get(recording, 0, &entry));
    CHECK_EQ_U(entry.record.bytes, ELEMENTS * 4);
    CHECK_EQ_U(entry.record.stored, 0);
    CHECK(!tg_recording_payload(recording, &entry));
    tg_recording_close(recording);
}

static void overwrite(size_t at, const void *bytes, size_t size)
{
    FILE *file = fopen(dump_path("tensor_dump.rec"), "r+b");
    REQUIRE(file);
    fseek(file, (long)at, SEEK_SET);
    CHECK_EQ_U(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

TEST(records_of_zeros_at_the_end_are_cut_off)
{
    static const char zeros[2 * RECORD + 10];
    struct tg_recovery recovered;
    make();
    overwrite(HEAD + RECORD * (TENSORS + 1), zeros, sizeof zeros);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, TENSORS);
    CHECK_EQ_U(dump_info(recording).damaged, 0);
    CHECK_EQ_U(dump_info(recording).zero_bytes, sizeof zeros);
    tg_recording_close(recording);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    CHECK_EQ_U(recovered.cut_bytes, sizeof zeros);
    CHECK_EQ_U(recovered.zero_bytes, sizeof zeros);
    CHECK_EQ_U(recovered.records, TENSORS);
}

TEST(a_bad_record_in_the_middle_costs_one_record)
{
    struct tg_recovery recovered;
    struct tg_entry entry;
    struct stat before, after;
    make();
    overwrite(HEAD + RECORD * 4 + 100, "?", 1);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, TENSORS - 1);
    CHECK_EQ_U(dump_info(recording).damaged, 1);
    CHECK(dump_info(recording).complete);
    CHECK(tg_recording_get(recording, 2, &entry) && entry.record.task_id == 2);
    CHECK(tg_recording_get(recording, 3, &entry) && entry.record.task_id == 4);
    CHECK(!tg_recording_get(recording, TENSORS - 1, &entry));
    tg_recording_close(recording);
    stat(dump_path("tensor_dump.rec"), &before);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    stat(dump_path("tensor_dump.rec"), &after);
    CHECK_EQ_I(after.st_size, before.st_size);
    CHECK_EQ_U(recovered.records, TENSORS - 1);
    CHECK_EQ_U(recovered.damaged, 1);
    CHECK_EQ_U(recovered.bad_bytes, RECORD);
    recording = dump_open(dump_path("tensor_dump.json"));
    CHECK_EQ_U(dump_info(recording).records, TENSORS - 1);
    CHECK_EQ_U(dump_info(recording).damaged, 1);
    CHECK(!dump_info(recording).complete);
    tg_recording_close(recording);
}

TEST(a_journal_that_is_still_written_is_left_alone)
{
    struct tg_dump_writer *writer = dump_create();
    struct tg_recovery recovered;
    CHECK(dump_add_tensor(writer, 0, 4));
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_BUSY);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    tg_dump_destroy(writer);
}

/* What a process does that creates recordings in one directory until it is killed. */
enum creating {
    CREATES,       /* one after the other */
    CREATES_LATER, /* … and is killed after the first */
    CREATES_ONE,   /* and then nothing more, so that it is there */
    CREATINGS
};

/* Closes `created` after the first. */
static void create_until_killed(enum creating what, int created)
{
    struct tg_dump_writer *writer;
    while (tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, &writer, NULL) == TG_OK) {
        tg_dump_destroy(writer);
        close(created);
        created = -1;
        if (what == CREATES_ONE)
            pause();
    }
    _exit(1);
}

static pid_t start_creating(enum creating what)
{
    int created[2];
    char none;
    REQUIRE(pipe(created) == 0);
    pid_t child = fork();
    if (child == 0)
        create_until_killed(what, created[1]);
    close(created[1]);
    if (what != CREATES)
        CHECK_EQ_I(read(created[0], &none, 1), 0);
    close(created[0]);
    return child;
}

TEST(a_journal_that_has_its_name_has_its_head)
{
    struct tg_recovery recovered;
    dump_make_dir();
    for (unsigned i = 0; i < 100; i++) {
        int ended;
        enum creating what = i % CREATINGS;
        pid_t child = start_creating(what);
        usleep(i * 37 % 1500);
        kill(child, SIGKILL);
        CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended));
        if (access(dump_path("tensor_dump.rec"), F_OK) != 0) {
            CHECK(what != CREATES_ONE);
            continue;
        }
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK_EQ_U(recovered.records, 0);
    }
}

TEST(where_there_is_nothing_to_recover_the_error_says_so)
{
    struct tg_recovery recovered;
    make();
    unlink(dump_path("tensor_dump.rec"));
    dump_write_file(dump_path("tensor_dump.json"), "{}", 2);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_NOT_FOUND);
    CHECK_HAS(dump_error.text, "no journal");
    CHECK_EQ_I(tg_recording_recover("/nonexistent", &recovered, &dump_error), TG_NOT_FOUND);
    dump_write_file(dump_path("tensor_dump.rec"), "something else, longer than a magic", 30);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_BAD_ARGUMENT);
}

TEST_MAIN()
