/* SPDX-License-Identifier: Apache-2.0 */
/* Files made by a hostile writer. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include "recording/manifest.h"

#include <fcntl.h>

/* --- manifests ------------------------------------------------------------------------------------ */

static struct tg_recording *manifest(const char *text)
{
    return dump_from(text, strlen(text), 1000);
}

/* Opens an otherwise good manifest with this entry. */
static struct tg_recording *with_entry(const char *entry)
{
    char text[2000];
    snprintf(text, sizeof text, "{\"version\": 1, \"bin_file\": \"b\", \"tensors\": [{%s}]}",
             entry);
    return manifest(text);
}

static void check_refused(struct tg_recording *recording, const char *why)
{
    if (!CHECK(!recording))
        tg_recording_close(recording);
    else
        CHECK_HAS(dump_error.text, why);
}

static struct tg_entry only_entry(struct tg_recording *recording)
{
    struct tg_entry entry = {0};
    if (CHECK(recording)) {
        CHECK(tg_recording_get(recording, 0, &entry));
        tg_recording_close(recording); /* frees the names */
        memset(entry.kernel, 0, sizeof entry.kernel);
    } else {
        fprintf(stderr, "%s\n", dump_error.text);
    }
    return entry;
}

#define GOOD                                                               \
    "\"task_id\": \"0x1\", \"dtype\": \"float32\", \"kind\": \"tensor\", " \
    "\"role\": \"input\", \"stage\": \"before_dispatch\""

TEST(a_bin_file_is_a_plain_name)
{
    static const char *const names[] = {"../x",      "/etc/passwd", ".",        "..",
                                        "",          "a/b",         "\\u002e.", "..\\/x",
                                        "x\\u002fy", "a\\u001bb",   "a\\nb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"tensors\": [], \"bin_file\": \"%s\"}", names[i]);
        check_refused(manifest(text), "plain file name");
    }
    char text[2000];
    snprintf(text, sizeof text, "{\"tensors\": [], \"bin_file\": \"%01000d\"}", 0);
    check_refused(manifest(text), "plain file name");
}

TEST(what_is_no_manifest_is_refused_with_its_line)
{
    check_refused(manifest(""), "not a manifest");
    check_refused(manifest("[]"), "not a JSON object");
    check_refused(manifest("{}"), "neither");
    check_refused(manifest("{\"tensors\": {}}"), "wrong kind");
    check_refused(manifest("{\"tensors\": [1]}"), "wrong kind");
    check_refused(manifest("{\"tensors\": [[]]}"), "wrong kind");
    check_refused(manifest("{\"tensors\": []} x"), "after the end");
    check_refused(manifest("{\"tensors\": [], \"args\": []}"), "second list");
    check_refused(manifest("{\"tensors\": [], \"tensors\": []}"), "second list");
    check_refused(manifest("{\n\"tensors\": [\n\n{\"task_id\": {}}]}"), "line 4");
    check_refused(manifest("{\"version\": 99, \"tensors\": []}"), "version 99");
    check_refused(manifest("{\"bin_format\": {\"byte_order\": \"big_endian\"}, \"tensors\": []}"),
                  "little_endian");
    check_refused(manifest("{\"bin_format\": {\"type\": \"zip\"}, \"tensors\": []}"), "bin_format");
}

TEST(an_entry_that_is_none_costs_only_itself)
{
    struct tg_recording *recording =
        manifest("{\n\"tensors\": [\n{\"task_id\": 1},\n{\"task_id\": {}, \"stage\": 3},\n"
                 "{\"task_id\": 2}]}");
    struct tg_entry entry;
    REQUIRE(recording);
    CHECK_EQ_U(dump_info(recording).records, 2);
    CHECK_EQ_U(dump_info(recording).damaged, 1);
    CHECK(tg_recording_get(recording, 1, &entry) && entry.record.task_id == 2);
    tg_recording_close(recording);
}

TEST(nesting_without_end_is_refused)
{
    enum { DEEP = 1 << 20 };
    char *text = malloc(DEEP + 1);
    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    memcpy(text, "{\"x\":", 5);
    check_refused(manifest(text), "too deep");
    for (int i = 0; i + 5 <= DEEP; i += 5)
        memcpy(text + i, "{\"x\":", 5);
    check_refused(manifest(text), "too deep");
    free(text);
}

TEST(entries_with_values_of_the_wrong_kind_are_refused)
{
    check_refused(with_entry(""), "without a task_id");
    check_refused(with_entry("\"task_id\": null"), "wrong kind");
    check_refused(with_entry("\"task_id\": -1"), "wrong kind");
    check_refused(with_entry(GOOD ", \"shape\": 4"), "wrong kind");
    check_refused(with_entry(GOOD ", \"shape\": [1.5]"), "wrong kind");
    check_refused(with_entry(GOOD ", \"shape\": [99999999999999999999]"), "wrong kind");
    check_refused(with_entry(GOOD ", \"shape\": [[1]]"), "wrong kind");
    check_refused(with_entry(GOOD ", \"strides\": {}"), "wrong kind");
    check_refused(with_entry(GOOD ", \"bin_size\": -4"), "wrong kind");
    check_refused(with_entry(GOOD ", \"bin_offset\": 1e3"), "wrong kind");
    check_refused(with_entry(GOOD ", \"truncated\": 1"), "wrong kind");
    check_refused(with_entry(GOOD ", \"kernel\": [3]"), "wrong kind");
    check_refused(with_entry(GOOD ", \"func_id\": [\"x\"]"), "wrong kind");
    check_refused(with_entry(GOOD ", \"hash\": \"xyz\""), "wrong kind");
    check_refused(with_entry(GOOD ", \"dtype\": 4"), "wrong kind");
    check_refused(with_entry(GOOD ", \"role\": 4"), "wrong kind");
}

TEST(extents_that_lie_outside_the_payload_are_cut)
{
    static const char *const extents[] = {
        "\"shape\": [4], \"bin_offset\": 1000, \"bin_size\": 16",
        "\"shape\": [4], \"bin_offset\": 18446744073709551600, \"bin_size\": 16",
        "\"shape\": [4], \"bin_offset\": 18446744073709551615, \"bin_size\": 16",
        "\"shape\": [4], \"bin_offset\": 0, \"bin_size\": 18446744073709551615",
        "\"shape\": [-4], \"bin_offset\": 0, \"bin_size\": 16",
        "\"shape\": [4294967296, 4294967296], \"bin_offset\": 0, \"bin_size\": 16",
        "\"shape\": [1,1,1,1,1,1,1,1,4], \"bin_offset\": 0, \"bin_size\": 16",
        "\"shape\": [4], \"dtype\": \"float77\", \"bin_offset\": 0, \"bin_size\": 16",
        "\"shape\": [4], \"stage\": \"never\", \"bin_offset\": 0, \"bin_size\": 16",
    };
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, GOOD ", %s", extents[i]);
        struct tg_entry entry = only_entry(with_entry(text));
        CHECK_EQ_U(entry.record.stored, 0);
        CHECK(entry.record.flags & TG_RECORD_TRUNCATED);
        CHECK(entry.record.ndim <= TG_MAX_DIMS);
    }
    struct tg_entry entry =
        only_entry(with_entry(GOOD ", \"shape\": [4], \"bin_offset\": 992, \"bin_size\": 16"));
    CHECK_EQ_U(entry.record.stored, 8);
    CHECK(entry.record.flags & TG_RECORD_TRUNCATED);
}

TEST(of_keys_that_repeat_the_last_one_counts)
{
    struct tg_entry entry = only_entry(with_entry(
        GOOD ", \"task_id\": 9, \"shape\": [1, 2, 3], \"shape\": [4], \"bin_size\": 16"));
    CHECK_EQ_U(entry.record.task_id, 9);
    CHECK_EQ_U(entry.record.ndim, 1);
    CHECK_EQ_U(entry.record.stored, 16);
}

TEST(counters_that_make_no_sense_do_no_harm)
{
    struct tg_recording *recording = manifest(
        "{\"version\": 1, \"total_tensors\": 18446744073709551615, \"scalars\": -4, "
        "\"input_tensors\": [1, {\"a\": 2}], \"lost\": {\"disk\": \"x\", \"full\": 3}, \"tensors\": []}");
    REQUIRE(recording);
    struct tg_recording_info info = dump_info(recording);
    CHECK_EQ_U(info.records, 0);
    CHECK_EQ_U(info.summary.recorded, UINT64_MAX);
    CHECK_EQ_U(info.summary.scalars, 0);
    CHECK_EQ_U(info.summary.lost[TG_LOSS_FULL], 3);
    CHECK_EQ_U(info.summary.lost[TG_LOSS_DISK], 0);
    tg_recording_close(recording);
}

TEST(names_that_would_steer_a_terminal_are_cleaned)
{
    struct tg_recording *recording = with_entry(
        GOOD ", \"func_id\": [1, 2, 3, 4], \"kernel\": [\"\\u001b[2J\", \"b\", \"c\", \"d\"]");
    struct tg_entry entry;
    REQUIRE(recording && tg_recording_get(recording, 0, &entry));
    CHECK_EQ_S(entry.kernel[0], "?[2J");
    CHECK_EQ_S(entry.kernel[2], "c");
    tg_recording_close(recording);
}

/* --- journals ------------------------------------------------------------------------------------- */

static struct {
    struct tg_journal_head head;
    struct tg_record record[40];
} journal;

static void start_journal(void)
{
    memset(&journal, 0, sizeof journal);
    journal.head = (struct tg_journal_head){.magic = TG_JOURNAL_MAGIC,
                                            .version = 1, /* which has room for any record */
                                            .head_size = 256,
                                            .record_size = 256,
                                            .bin_file = "tensor_dump.bin"};
}

static struct tg_recording *journal_of(unsigned records)
{
    for (unsigned i = 0; i < records; i++)
        tg_record_seal(&journal.record[i], sizeof journal.record[i]);
    return dump_from(&journal, 256 + 256 * records, 1000);
}

TEST(heads_that_are_none_are_refused)
{
    start_journal();
    journal.head.version = 3;
    check_refused(journal_of(0), "version 3");
    CHECK_EQ_I(dump_error.status, TG_UNSUPPORTED);
    start_journal();
    journal.head.incompatible = 1;
    check_refused(journal_of(0), "flags 0x1");
    start_journal();
    journal.head.record_size = 0;
    check_refused(journal_of(0), "sizes");
    start_journal();
    journal.head.head_size = UINT32_MAX;
    check_refused(journal_of(0), "sizes");
    start_journal();
    strcpy(journal.head.bin_file, "../../secret");
    check_refused(journal_of(0), "plain file name");
    start_journal();
    memset(journal.head.bin_file, 'x', sizeof journal.head.bin_file);
    check_refused(journal_of(0), "plain file name");
    start_journal();
    for (size_t size = 8; size < 256; size += 31)
        check_refused(dump_from(&journal, size, 0), "within its head");
}

TEST(flags_an_old_reader_may_ignore_are_ignored)
{
    start_journal();
    journal.head.compatible = UINT32_MAX;
    struct tg_recording *recording = journal_of(0);
    CHECK(recording);
    tg_recording_close(recording);
}

TEST(a_summary_that_lies_changes_nothing)
{
    start_journal();
    journal.record[0] = dump_tensor(0, 4, 0);
    struct tg_record_summary *summary = (void *)&journal.record[1];
    memset(summary, 0xff, sizeof *summary);
    summary->type = TG_RECORD_SUMMARY;
    struct tg_recording *recording = journal_of(2);
    REQUIRE(recording);
    CHECK_EQ_U(dump_info(recording).records, 1);
    CHECK(dump_info(recording).complete);
    tg_recording_close(recording);
}

TEST(a_kernel_name_without_an_end_stays_in_its_record)
{
    start_journal();
    struct tg_record_kernel *kernel = (void *)&journal.record[0];
    memset(kernel->name, 'k', sizeof kernel->name);
    kernel->type = TG_RECORD_KERNEL;
    journal.record[1] = dump_tensor(0, 4, 0);
    struct tg_recording *recording = journal_of(2);
    struct tg_entry entry;
    REQUIRE(recording && tg_recording_get(recording, 0, &entry));
    CHECK_EQ_U(strlen(entry.kernel[1]), sizeof kernel->name);
    tg_recording_close(recording);
}

TEST(records_of_other_types_among_the_arguments_are_not_given)
{
    start_journal();
    journal.record[0] = dump_tensor(0, 4, 0);
    journal.record[1].type = TG_RECORD_KERNEL;
    journal.record[2].type = 99;
    journal.record[3] = dump_tensor(3, 4, 0);
    struct tg_recording *recording = journal_of(4);
    struct tg_entry entry;
    REQUIRE(recording);
    CHECK_EQ_U(dump_info(recording).records, 2);
    CHECK(tg_recording_get(recording, 0, &entry) && entry.record.task_id == 0);
    CHECK(tg_recording_get(recording, 1, &entry) && entry.record.task_id == 3);
    CHECK(!tg_recording_get(recording, 2, &entry));
    tg_recording_close(recording);
}

/* --- folders -------------------------------------------------------------------------------------- */

TEST(paths_that_are_no_recording_are_named)
{
    struct tg_recording *recording;
    CHECK_EQ_I(tg_recording_open("/nonexistent/x", &recording, &dump_error), TG_NOT_FOUND);
    CHECK_HAS(dump_error.text, "/nonexistent/x");
    dump_make_dir();
    CHECK_EQ_I(tg_recording_open(dump_dir, &recording, &dump_error), TG_NOT_FOUND);
    CHECK_HAS(dump_error.text, "no recording");
    CHECK_EQ_I(tg_recording_open("/dev/null", &recording, &dump_error), TG_BAD_ARGUMENT);
    dump_make(1, 1);
    CHECK_EQ_I(tg_recording_open(dump_path("tensor_dump.bin"), &recording, &dump_error),
               TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "tensor_dump.bin");
    CHECK(!recording);
}

TEST(a_recording_is_found_by_each_of_its_paths)
{
    dump_make(2, 1);
    char with_slash[300];
    snprintf(with_slash, sizeof with_slash, "%s/tensor_dump/", dump_dir);
    const char *paths[] = {dump_dir, with_slash, dump_path("tensor_dump.rec")};
    for (int i = 0; i < 3; i++) {
        struct tg_recording *recording = dump_open(paths[i]);
        CHECK(dump_info(recording).from_journal);
        CHECK_EQ_U(dump_info(recording).records, 2);
        tg_recording_close(recording);
    }
    CHECK(rename(dump_path("tensor_dump.rec"), dump_path("other")) == 0);
    struct tg_recording *recording = dump_open(dump_path("other"));
    CHECK(dump_info(recording).from_journal);
    tg_recording_close(recording);
}

TEST(a_payload_file_that_is_a_link_or_a_pipe_is_refused)
{
    struct tg_recording *recording;
    dump_make(1, 1);
    unlink(dump_path("tensor_dump.bin"));
    CHECK(symlink("/etc/passwd", dump_path("tensor_dump.bin")) == 0);
    CHECK_EQ_I(tg_recording_open(dump_dir, &recording, &dump_error), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "link");
    unlink(dump_path("tensor_dump.bin"));
    CHECK(mkfifo(dump_path("tensor_dump.bin"), 0600) == 0);
    CHECK_EQ_I(tg_recording_open(dump_dir, &recording, &dump_error), TG_IO_ERROR);
}

TEST_MAIN()
