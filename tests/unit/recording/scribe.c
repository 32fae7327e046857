/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest that is printed while the recording is made says what the journal says. */
#define _GNU_SOURCE 1
#include "recording/scribe.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <taskglass/verify.h>

#include "recording/manifest.h"
#include "unit/recording/recording.h"

enum { RECORDS = 12000 };

/* Records of every form: packed, in two slots, scalars, several shapes, lost bytes. */
static struct tg_record made(uint64_t i, uint64_t position)
{
    struct tg_record record = dump_tensor(i, 1 + (int64_t)(i % 5), position);
    if (i % 7 == 3)
        return dump_scalar(i, i % 2 ? TG_FLOAT32 : TG_INT64, i * UINT64_C(0x9E3779B97F4A7C15));
    record.hash = i * UINT64_C(0xD6E8FEB86659FD93);
    record.flags |= i % 3 ? TG_RECORD_HASHED : 0;
    if (i % 11 == 5)
        record.strides[0] = (int64_t)1 << 40; /* needs two slots */
    if (i % 13 == 6) {
        record.flags |= TG_RECORD_OVERWRITTEN;
        record.stored = record.position = 0;
    }
    if (i % 17 == 7) {
        record.flags |= TG_RECORD_TRUNCATED;
        record.stored = 0;
        record.position = 0;
    }
    record.start = i % 19 == 8 ? (int64_t)i : 0;
    record.stage = (uint8_t)(i % 2);
    record.role = (uint8_t)(TG_IN + i % 3);
    return record;
}

static void add_many(struct tg_dump_writer *writer, uint64_t first, uint64_t n)
{
    static const unsigned char bytes[64];
    for (uint64_t i = first; i < first + n; i++) {
        struct tg_record record = made(i, 0);
        record.position = tg_dump_reserve(writer, record.stored);
        CHECK(record.stored == 0 || tg_dump_payload(writer, record.position, bytes, record.stored));
        record.position = record.stored > 0 ? record.position : 0;
        CHECK(tg_dump_append(writer, &record));
        if (i % 1000 == 17)
            CHECK(tg_dump_flush(writer));
    }
}

static struct tg_dump_writer *begin(void)
{
    struct tg_dump_writer *writer = dump_create();
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add \"quoted\""), TG_OK);
    CHECK_EQ_I(
        tg_dump_add_kernel(writer, 1, TG_AIV,
                           "a name that is so long that it takes the journal two slots, which is "
                           "more than a hundred and twenty bytes"),
        TG_OK);
    return writer;
}

static void finish(struct tg_dump_writer *writer, uint64_t n)
{
    struct tg_dump_account account = {.attempted = n, .record_ns = 123456789};
    tg_dump_account(writer, &account);
    tg_dump_set_result(writer, TG_OK);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
}

/* Takes blanks at the beginnings of lines away: the head may leave room behind it. */
static size_t strip(char *text, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_end = text[i] == '\n';
        text[kept++] = text[i];
        while (is_end && i + 1 < size && text[i + 1] == ' ')
            i++;
    }
    return kept;
}

/* True if the manifest is what reading the journal prints. */
static void check_manifest(uint64_t records)
{
    size_t size, again_size;
    char *text = dump_read_file(dump_path("tensor_dump.json"), &size);
    struct tg_recording *recording = dump_open(dump_path("tensor_dump.rec"));
    CHECK_EQ_U(dump_info(recording).records, records);
    CHECK(dump_info(recording).complete);
    CHECK_EQ_I(tg_manifest_write(recording, dump_dir, &dump_error), TG_OK);
    tg_recording_close(recording);
    char path[600];
    snprintf(path, sizeof path, "%s/tensor_dump.json", dump_dir);
    char *again = dump_read_file(path, &again_size);
    size = strip(text, size);
    again_size = strip(again, again_size);
    CHECK_EQ_U(size, again_size);
    CHECK(size == again_size && memcmp(text, again, size) == 0);
    free(text);
    free(again);
}

static void check_verified(void)
{
    struct tg_verification result;
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    tg_recording_close(recording);
    CHECK(result.manifest);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_MANIFEST], 0);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_COUNTER], 0);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_JOURNAL], 0);
}

static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *dir = opendir(dump_path("."));
    REQUIRE(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

TEST(what_is_printed_during_the_run_is_what_the_journal_says)
{
    struct tg_dump_writer *writer = begin();
    add_many(writer, 0, RECORDS);
    finish(writer, RECORDS);
    CHECK_EQ_U(count_files(), 3);
    check_verified();
    check_manifest(RECORDS);
}

TEST(every_number_of_records_gives_a_whole_manifest)
{
    for (uint64_t n = 4094; n < 4094 + 2048; n += 293) {
        struct tg_dump_writer *writer = begin();
        add_many(writer, 0, n);
        finish(writer, n);
        check_manifest(n);
    }
}

TEST(a_recording_that_is_not_finished_has_no_manifest)
{
    struct tg_dump_writer *writer = begin();
    add_many(writer, 0, RECORDS);
    CHECK_EQ_U(count_files(), 2);
    tg_dump_destroy(writer);
    CHECK_EQ_U(count_files(), 2);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, RECORDS);
    CHECK(!dump_info(recording).complete);
    tg_recording_close(recording);
}

/* The file may not grow beyond what the journal needs, but the manifest is larger. */
TEST(a_manifest_that_the_disk_refuses_costs_no_record)
{
    struct tg_dump_writer *writer = begin();
    struct rlimit old, limit;
    add_many(writer, 0, 4000);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = (struct rlimit){128 * (rlim_t)RECORDS * 2, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    add_many(writer, 4000, RECORDS);
    tg_status status = tg_dump_finish(writer, &dump_error);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_EQ_I(status, TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "tensor_dump.json");
    CHECK_HAS(dump_error.text, strerror(EFBIG));
    tg_dump_destroy(writer);
    CHECK_EQ_U(count_files(), 2);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, 4000 + RECORDS);
    CHECK(dump_info(recording).complete);
    tg_recording_close(recording);
}

TEST(a_scribe_that_gives_up_leaves_nothing)
{
    struct tg_dump_writer *writer = begin();
    add_many(writer, 0, 2000);
    CHECK(tg_dump_flush(writer));
    FILE *journal = fopen(dump_path("tensor_dump.rec"), "rb");
    REQUIRE(journal);
    fseek(journal, 0, SEEK_END);
    struct tg_scribe *scribe =
        tg_scribe_begin(dump_path("."), fileno(journal), (uint64_t)ftell(journal));
    if (scribe) { /* not every file system has files without names */
        tg_scribe_drop(scribe);
        CHECK(!tg_scribe_finish(scribe, tg_dump_summary(writer)));
    }
    fclose(journal);
    CHECK_EQ_U(count_files(), 2);
    finish(writer, 2000);
    check_manifest(2000);
}

TEST_MAIN()
