/* SPDX-License-Identifier: Apache-2.0 */
/* Names that only the recording itself gives. Names that every run has are in
 * tests/e2e/test_output_directory.py. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

static const char *at(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", dump_dir, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    dump_write_file(at(name), text, strlen(text));
}

/* Whether an output of that name, or a link to it, is refused. */
static void check_refused(const struct tg_recording *recording, const char *name)
{
    char link[400];
    CHECK_EQ_I(tg_recording_check_output(recording, at(name), &dump_error), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "is a file of the recording itself");
    snprintf(link, sizeof link, "%s", at("link"));
    unlink(link);
    CHECK(symlink(name, link) == 0);
    CHECK_EQ_I(tg_recording_check_output(recording, link, &dump_error), TG_BAD_ARGUMENT);
}

static void check_allowed(const struct tg_recording *recording, const char *name)
{
    CHECK_EQ_I(tg_recording_check_output(recording, at(name), &dump_error), TG_OK);
}

TEST(a_journal_and_its_payload_file_are_not_replaced)
{
    struct tg_journal_head head = {.magic = TG_JOURNAL_MAGIC,
                                   .version = TG_JOURNAL_VERSION,
                                   .head_size = 256,
                                   .record_size = TG_JOURNAL_SLOT,
                                   .bin_file = "bytes"};
    dump_make_dir();
    dump_write_file(at("records"), &head, sizeof head);
    write_text("bytes", "1234");
    write_text("other", "");
    struct tg_recording *recording = dump_open(at("records"));
    CHECK_EQ_S(dump_info(recording).journal, "records");
    check_refused(recording, "records");
    check_refused(recording, "bytes");
    check_allowed(recording, "other");
    check_allowed(recording, "new");
    tg_recording_close(recording);
}

TEST(a_manifest_and_its_payload_file_are_not_replaced)
{
    dump_make_dir();
    write_text("list", "{\"version\": 1, \"bin_file\": \"bytes\", \"tensors\": []}");
    write_text("bytes", "1234");
    struct tg_recording *recording = dump_open(at("list"));
    CHECK_EQ_S(dump_info(recording).manifest, "list");
    check_refused(recording, "list");
    check_refused(recording, "bytes");
    check_allowed(recording, "new");
    tg_recording_close(recording);
}

TEST_MAIN()
