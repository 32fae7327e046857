/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One byte of a recording changes, anywhere: at most one record is lost, none if the other file has
 * it too, recovering loses nothing, and verifying notices whatever changed a record, a payload, or a
 * number. The places are random, from a fixed seed.
 */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <fcntl.h>
#include <taskglass/verify.h>

enum { TASKS = 12, RECORDS = 2 * TASKS, FLIPS = 250, HEAD = 256, RECORD = 128 };

static const char journal[] = "tensor_dump.rec", manifest[] = "tensor_dump.json",
                  payload[] = "tensor_dump.bin";

/* Which of the two files there are. */
enum files { BOTH, JOURNAL_ONLY, MANIFEST_ONLY, KINDS };

static struct {
    char *bytes;
    size_t size;
} good[3]; /* journal, manifest, payload, as the writer left them */

static const char *const names[] = {journal, manifest, payload};

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % limit;
}

static bool is_old; /* the journal has version 1 */

/* Two kernels, tensors and scalars, and a summary with numbers that are not all zero. */
static void make(void)
{
    struct tg_dump_writer *writer = dump_create();
    struct tg_dump_account account = {
        .attempted = RECORDS + 2, .lost = {1, 1}, .record_ns = 12345, .wait_ns = 67};
    tg_dump_add_kernel(writer, 0, TG_AIV, "add");
    tg_dump_add_kernel(writer, 1, TG_AIC, "mul");
    for (uint64_t task = 0; task < TASKS; task++) {
        struct tg_record scalar = dump_scalar(task, TG_INT64, task * 1000);
        CHECK(dump_add_tensor(writer, task, 5));
        CHECK(tg_dump_append(writer, &scalar));
    }
    tg_dump_account(writer, &account);
    tg_dump_set_result(writer, TG_OK);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    if (is_old)
        dump_make_old();
    for (int i = 0; i < 3; i++) {
        free(good[i].bytes);
        good[i].bytes = dump_read_file(dump_path(names[i]), &good[i].size);
    }
}

/* Puts all files back as they were. */
static void restore(enum files files)
{
    for (int i = 0; i < 3; i++)
        dump_write_file(dump_path(names[i]), good[i].bytes, good[i].size);
    unlink(dump_path("tensor_dump.json.damaged"));
    if (files == JOURNAL_ONLY)
        unlink(dump_path(manifest));
    if (files == MANIFEST_ONLY)
        unlink(dump_path(journal));
}

static void change(int file, size_t at, unsigned char to)
{
    int fd = open(dump_path(names[file]), O_WRONLY);
    REQUIRE(fd >= 0);
    CHECK(pwrite(fd, &to, 1, (off_t)at) == 1);
    close(fd);
}

/* Checks that every record that is there is one of those that were written. */
static void check_records(const struct tg_recording *recording)
{
    struct tg_entry entry;
    uint64_t last = 0;
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        const struct tg_record *record = &entry.record;
        bool is_scalar = record->kind == TG_KIND_SCALAR;
        uint64_t number = 2 * record->task_id + is_scalar;
        CHECK(i == 0 || number > last);
        CHECK(record->task_id < TASKS);
        CHECK_EQ_U(record->value, is_scalar ? record->task_id * 1000 : 0);
        CHECK_EQ_U(record->stored, is_scalar ? 0 : 20);
        last = number;
    }
}

static uint64_t readable(void)
{
    struct tg_recording *recording;
    struct tg_recording_info info;
    if (tg_recording_open(dump_dir, &recording, &dump_error) != TG_OK)
        return 0;
    info = dump_info(recording);
    check_records(recording);
    if (!CHECK(info.records + info.damaged <= RECORDS + 1))
        fprintf(stderr, "  %u and %u\n", (unsigned)info.records, (unsigned)info.damaged);
    tg_recording_close(recording);
    return info.records;
}

static uint64_t problems(void)
{
    static struct tg_verification result;
    struct tg_recording *recording;
    if (tg_recording_open(dump_dir, &recording, &dump_error) != TG_OK)
        return 1; /* verify ends with that error */
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    tg_recording_close(recording);
    return result.problems;
}

/* White space may become other white space without any harm. */
static bool is_harmless(int file, size_t at, unsigned char to)
{
    static const char space[] = " \n\r\t";
    unsigned char from = (unsigned char)good[file].bytes[at];
    return from == to || (file == 1 && to && strchr(space, to) && strchr(space, from));
}

static void check_flip(enum files files, int file, size_t at, unsigned char to)
{
    restore(files);
    change(file, at, to);
    uint64_t before = readable(), found = problems();
    bool kept = CHECK(before + 1 >= RECORDS) && CHECK(before == RECORDS || files != BOTH);
    bool noticed = CHECK((found > 0) == !is_harmless(file, at, to));
    struct tg_recovery recovered;
    if (tg_recording_recover(dump_dir, &recovered, &dump_error) == TG_OK) {
        kept = CHECK_EQ_U(recovered.records, before) && kept;
        kept = CHECK_EQ_U(readable(), before) && kept;
        unlink(dump_path(journal));
        kept = CHECK_EQ_U(readable(), before) && kept; /* the manifest has all of it */
    } else {
        kept = CHECK_EQ_I(files, MANIFEST_ONLY) && kept;
    }
    if (!kept || !noticed)
        fprintf(stderr, "  byte %zu of %s changed from 0x%02x to 0x%02x; %s\n", at, names[file],
                (unsigned char)good[file].bytes[at], to,
                files == BOTH           ? "both files are there"
                : files == JOURNAL_ONLY ? "there is no manifest"
                                        : "there is no journal");
}

static void check_flips(enum files files, int file, unsigned flips)
{
    make();
    seed = 1 + files * 3 + (unsigned)file;
    for (unsigned i = 0; i < flips; i++) {
        size_t at = random_below(good[file].size);
        unsigned char from = (unsigned char)good[file].bytes[at];
        /* half of the changes are a single bit, as memory and disks do it */
        unsigned char to =
            (unsigned char)(i % 2 ? from ^ 1u << random_below(8) : random_below(256));
        check_flip(files, file, at, to);
    }
}

TEST(a_changed_byte_of_the_journal_costs_nothing_beside_a_manifest)
{
    check_flips(BOTH, 0, FLIPS);
}

TEST(a_changed_byte_of_the_manifest_costs_nothing_beside_a_journal)
{
    check_flips(BOTH, 1, FLIPS);
}

TEST(a_changed_byte_of_the_payload_is_noticed)
{
    check_flips(BOTH, 2, FLIPS);
    check_flips(MANIFEST_ONLY, 2, FLIPS / 5);
}

TEST(a_changed_byte_of_a_journal_alone_costs_one_record)
{
    check_flips(JOURNAL_ONLY, 0, FLIPS);
}

TEST(a_changed_byte_of_a_manifest_alone_costs_one_record)
{
    check_flips(MANIFEST_ONLY, 1, FLIPS);
}

TEST(journals_of_version_1_prove_themselves_too)
{
    is_old = true;
    check_flips(BOTH, 0, FLIPS / 2);
    check_flips(JOURNAL_ONLY, 0, FLIPS / 2);
    for (size_t at = 0; at < HEAD; at += 3)
        check_flip(JOURNAL_ONLY, 0, at, (unsigned char)(good[0].bytes[at] ^ 1 << at % 8));
    is_old = false;
}

TEST(every_byte_of_the_head_of_a_journal_may_change)
{
    make();
    for (size_t at = 0; at < HEAD; at++)
        for (int files = BOTH; files <= JOURNAL_ONLY; files++) {
            unsigned char from = (unsigned char)good[0].bytes[at];
            check_flip((enum files)files, 0, at, (unsigned char)(from ^ 1u << at % 8));
        }
}

/* The other flips are random; the head is a small part of a manifest. */
TEST(every_byte_of_the_head_of_a_manifest_may_change)
{
    make();
    size_t head = (size_t)(strstr(good[1].bytes, "\"tensors\"") - good[1].bytes);
    for (size_t at = 0; at < head + 20; at++) {
        unsigned char from = (unsigned char)good[1].bytes[at];
        check_flip(MANIFEST_ONLY, 1, at, (unsigned char)(from ^ 1u << at % 7));
    }
}

TEST(a_damaged_head_gets_its_members_from_the_manifest)
{
    make();
    change(0, offsetof(struct tg_journal_head, level), 77);
    change(0, 0, 'x');
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).level, TG_LEVEL_FULL);
    CHECK_EQ_U(dump_info(recording).records, RECORDS);
    tg_recording_close(recording);
    unlink(dump_path(manifest));
    recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).level, 0); /* not known */
    CHECK_EQ_U(dump_info(recording).records, RECORDS);
    tg_recording_close(recording);
}

TEST(the_names_of_kernels_come_from_the_manifest_if_the_journal_lost_them)
{
    struct tg_entry entry;
    make();
    change(0, HEAD + 30, '?');
    change(0, HEAD + RECORD + 30, '?');
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK(tg_recording_get(recording, 0, &entry));
    CHECK_EQ_S(entry.kernel[1], "add");
    CHECK_EQ_U(dump_info(recording).damaged, 0); /* no argument is lost */
    tg_recording_close(recording);
}

/* The journal ends at any byte of its last records, and the manifest has what it lost. */
TEST(a_journal_cut_short_anywhere_costs_nothing_beside_a_manifest)
{
    make();
    for (size_t cut = 1; cut < 3 * RECORD; cut += 7) {
        struct tg_recovery recovered;
        restore(BOTH);
        REQUIRE(truncate(dump_path(journal), (off_t)(good[0].size - cut)) == 0);
        CHECK_EQ_U(readable(), RECORDS);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK_EQ_U(recovered.records, RECORDS);
        CHECK_EQ_U(recovered.damaged, 0);
        CHECK_EQ_U(readable(), RECORDS);
    }
    REQUIRE(truncate(dump_path(journal), HEAD) == 0);
    CHECK_EQ_U(readable(), RECORDS);
    REQUIRE(truncate(dump_path(journal), 100) == 0);
    CHECK_EQ_U(readable(), RECORDS);
    CHECK(problems() > 0);
}

TEST(a_manifest_cut_short_has_the_entries_before)
{
    make();
    for (size_t size = good[1].size - 2; size > good[1].size / 2; size -= 97) {
        restore(MANIFEST_ONLY);
        REQUIRE(truncate(dump_path(manifest), (off_t)size) == 0);
        uint64_t lines = 0;
        for (size_t i = 0; i < size; i++)
            lines += strncmp(good[1].bytes + i, "\n{", 2) == 0;
        uint64_t left = readable();
        CHECK(left + 1 >= lines && left <= lines);
        CHECK(problems() > 0);
    }
}

/* Zeros replace the end of a file, as after a power loss. */
static void zero_end(int file, size_t bytes)
{
    restore(file == 1 ? BOTH : JOURNAL_ONLY);
    REQUIRE(truncate(dump_path(names[file]), (off_t)(good[file].size - bytes)) == 0);
    REQUIRE(truncate(dump_path(names[file]), (off_t)good[file].size) == 0);
}

TEST(zeros_at_the_end_of_the_journal_are_no_damage)
{
    make();
    for (size_t records = 1; records < 4; records++) {
        struct tg_recovery recovered;
        size_t bytes = (records + 1) * RECORD; /* the summary has two */
        zero_end(0, bytes);
        struct tg_recording *recording = dump_open(dump_dir);
        struct tg_recording_info info = dump_info(recording);
        CHECK_EQ_U(info.zero_bytes, bytes);
        CHECK_EQ_U(info.torn_bytes, 0);
        CHECK_EQ_U(info.damaged, 0);
        CHECK_EQ_U(info.records, RECORDS + 1 - records);
        CHECK(!info.complete);
        tg_recording_close(recording);
        CHECK_EQ_U(problems(), 0);
        CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
        CHECK_EQ_U(recovered.zero_bytes, bytes);
        CHECK_EQ_U(recovered.cut_bytes, bytes);
    }
}

TEST(zeros_in_place_of_a_file_have_their_own_words)
{
    static const char zeros[4096];
    struct tg_recording *recording;
    make();
    dump_write_file(dump_path(journal), zeros, sizeof zeros);
    CHECK_EQ_U(readable(), RECORDS); /* the manifest has them */
    CHECK(problems() > 0);
    unlink(dump_path(manifest));
    CHECK_EQ_I(tg_recording_open(dump_dir, &recording, &dump_error), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "zeros, as a power loss leaves them");
    unlink(dump_path(journal));
    dump_write_file(dump_path(manifest), zeros, sizeof zeros);
    CHECK_EQ_I(tg_recording_open(dump_dir, &recording, &dump_error), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "4096 bytes of zeros, as a power loss leaves them");
}

TEST(zeros_at_the_end_of_a_manifest_cost_the_entries_that_were_there)
{
    make();
    zero_end(1, good[1].size / 2);
    unlink(dump_path(journal));
    uint64_t left = readable();
    CHECK(left > 5 && left < RECORDS);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(left + dump_info(recording).damaged, RECORDS);
    tg_recording_close(recording);
}

TEST(zeros_at_the_end_of_the_payload_have_their_own_words)
{
    static struct tg_verification result;
    make();
    zero_end(2, 30);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_I(tg_recording_verify(recording, NULL, NULL, &result, &dump_error), TG_OK);
    CHECK_EQ_U(result.by_problem[TG_PROBLEM_HASH], 2);
    CHECK_HAS(result.finding[1].text, "zeros up to the end of the payload file, as a power loss");
    tg_recording_close(recording);
}

/* The manifest that a recovery finds may have more than the journal. */
TEST(recover_keeps_the_records_that_only_the_manifest_has)
{
    struct tg_recovery recovered;
    make();
    for (uint64_t slot = 5; slot < 20; slot += 3)
        change(0, HEAD + slot * RECORD + 50, '!');
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    CHECK_EQ_U(recovered.records, RECORDS);
    CHECK_EQ_U(recovered.from_manifest, 5);
    CHECK_EQ_U(recovered.damaged, 0);
    CHECK(recovered.kept_manifest);
    unlink(dump_path(manifest));
    CHECK_EQ_U(readable(), RECORDS - 5);
}

TEST(records_that_both_files_lost_are_counted_and_the_old_manifest_is_kept)
{
    struct tg_recovery recovered;
    make();
    change(0, HEAD + 8 * RECORD + 50, '!');
    char *line = strstr(good[1].bytes, "\"tensors\"");
    for (int i = 0; i <= 8 - 2; i++)
        line = strchr(line, '\n') + 1; /* the entry of the same record: two slots have names */
    change(1, (size_t)(line - good[1].bytes) + 30, '!');
    CHECK_EQ_U(readable(), RECORDS - 1);
    CHECK_EQ_I(tg_recording_recover(dump_dir, &recovered, &dump_error), TG_OK);
    CHECK_EQ_U(recovered.records, RECORDS - 1);
    CHECK_EQ_U(recovered.damaged, 1);
    CHECK(!recovered.kept_manifest);
    CHECK(access(dump_path("tensor_dump.json.damaged"), F_OK) == 0);
    unlink(dump_path(journal));
    CHECK_EQ_U(readable(), RECORDS - 1);
}

TEST(the_manifest_of_another_recording_adds_nothing)
{
    make();
    dump_make(4, 3);
    dump_write_file(dump_path(journal), good[0].bytes, good[0].size);
    dump_write_file(dump_path(payload), good[2].bytes, good[2].size);
    change(0, HEAD + 8 * RECORD + 50, '!');
    CHECK_EQ_U(readable(), RECORDS - 1);
}

TEST(a_manifest_that_was_printed_anew_still_proves_itself)
{
    make();
    restore(MANIFEST_ONLY);
    char *text = malloc(good[1].size * 2);
    size_t used = 0;
    for (size_t i = 0; i < good[1].size; i++) {
        char c = good[1].bytes[i];
        if (c == '\n' || (c == ' ' && strchr(",: \n", good[1].bytes[i - 1])))
            continue;
        text[used++] = c;
        if (c == ',')
            text[used++] = '\n';
    }
    dump_write_file(dump_path(manifest), text, used);
    CHECK_EQ_U(readable(), RECORDS);
    CHECK_EQ_U(problems(), 0);
    free(text);
}

TEST_MAIN()
