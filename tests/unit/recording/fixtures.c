/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that another implementation wrote, if they are available. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

static struct tg_recording *open_fixture(const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/../shared/fixtures/peer/%s", TASKGLASS_TEST_SOURCE_DIR, name);
    if (access(path, R_OK) != 0)
        SKIP("no recordings of another implementation beside this tree");
    return dump_open(path);
}

static struct tg_entry get(const struct tg_recording *recording, uint64_t index)
{
    struct tg_entry entry = {0};
    REQUIRE(tg_recording_get(recording, index, &entry));
    return entry;
}

TEST(a_full_recording_of_the_other_implementation_is_read)
{
    struct tg_recording *recording = open_fixture("hbg_level2");
    struct tg_recording_info info = dump_info(recording);
    CHECK(info.foreign && info.complete && !info.from_journal);
    CHECK_EQ_U(info.level, TG_LEVEL_FULL);
    CHECK_EQ_U(info.records, 28);
    CHECK_EQ_U(info.payload_bytes, 5016);
    CHECK_EQ_S(info.manifest, "args_dump.json");
    CHECK_EQ_S(info.payload, "args.bin");
    CHECK_EQ_S(info.journal, "");
    CHECK_EQ_U(info.summary.recorded, 28);
    CHECK_EQ_U(info.summary.before_dispatch, 15);
    CHECK_EQ_U(info.summary.inputs, 14);
    CHECK_EQ_U(info.summary.inouts, 2);
    for (uint64_t i = 0; i < info.records; i++) {
        struct tg_entry entry = get(recording, i);
        CHECK_EQ_U(entry.record.flags & TG_RECORD_TRUNCATED, 0);
        CHECK_EQ_U(entry.record.flags & TG_RECORD_HASHED, 0);
        CHECK(tg_dtype_valid(entry.record.dtype));
        if (entry.record.kind == TG_KIND_TENSOR)
            CHECK_EQ_U(entry.record.stored, entry.record.bytes);
    }
    tg_recording_close(recording);
}

TEST(its_views_and_payloads_are_understood)
{
    struct tg_recording *recording = open_fixture("hbg_level2/args_dump");
    struct tg_entry view = get(recording, 3), copy = get(recording, 12);
    CHECK_EQ_U(view.record.task_id, 1);
    CHECK_EQ_U(view.record.kernel[0], 3);
    CHECK_EQ_S(view.kernel[0], "");
    CHECK(!view.kernel[1]);
    CHECK_EQ_U(view.record.flags & TG_RECORD_CONTIGUOUS, 0);
    CHECK_EQ_I(view.record.start, 17);
    CHECK_EQ_I(view.record.shape[0], 4);
    CHECK_EQ_I(view.record.shape[1], 3);
    CHECK_EQ_I(view.record.strides[0], 8);
    CHECK_EQ_U(view.record.stored, 48);
    CHECK_EQ_U(copy.record.role, TG_OUT);
    CHECK_EQ_U(copy.record.stage, TG_AFTER_COMPLETION);
    CHECK(tg_recording_payload(recording, &view) && tg_recording_payload(recording, &copy));
    tg_recording_close(recording);
}

TEST(its_scalars_have_their_values)
{
    struct tg_recording *recording = open_fixture("tmr_level2");
    static const struct {
        unsigned index, dtype;
        double value;
    } want[] = {{2, TG_FLOAT32, 1.5}, {4, TG_INT64, -42}, {9, TG_BOOL, 1}};
    uint64_t first = 0;
    while (get(recording, first).record.kind != TG_KIND_SCALAR)
        first++;
    for (size_t i = 0; i < 3; i++) {
        struct tg_entry entry = get(recording, first + want[i].index - 2);
        CHECK_EQ_U(entry.record.arg_index, want[i].index);
        CHECK_EQ_U(entry.record.dtype, want[i].dtype);
        CHECK_NEAR(tg_decode(entry.record.dtype, entry.record.value), want[i].value, 0);
    }
    CHECK_EQ_U(get(recording, first + 3).record.value, UINT64_C(16045690984503111693));
    struct tg_entry entry = get(recording, first + 5);
    CHECK_NEAR(tg_decode(entry.record.dtype, entry.record.value), -INFINITY, 0);
    entry = get(recording, first + 6);
    CHECK(isnan(tg_decode(entry.record.dtype, entry.record.value)));
    tg_recording_close(recording);
}

TEST(its_levels_are_ours)
{
    struct tg_recording *recording = open_fixture("tmr_level1");
    CHECK_EQ_U(dump_info(recording).level, TG_LEVEL_MARKED);
    CHECK_EQ_U(dump_info(recording).records, 5);
    CHECK_EQ_U(get(recording, 4).record.task_id, UINT64_C(0x200000000));
    tg_recording_close(recording);
    recording = open_fixture("tmr_level3");
    CHECK_EQ_U(dump_info(recording).level, TG_LEVEL_HYBRID);
    CHECK_EQ_U(get(recording, 0).record.stored, 0);
    CHECK_EQ_U(get(recording, 0).record.flags & TG_RECORD_TRUNCATED, 0);
    tg_recording_close(recording);
}

TEST(a_manifest_without_its_payload_file_is_read)
{
    struct tg_recording *recording = open_fixture("truncated_manifest_only");
    struct tg_entry entry = get(recording, 0);
    CHECK_EQ_S(dump_info(recording).payload, "");
    CHECK_EQ_U(entry.record.bytes, 160000000);
    CHECK_EQ_U(entry.record.stored, 0);
    CHECK(entry.record.flags & TG_RECORD_TRUNCATED);
    CHECK(!tg_recording_payload(recording, &entry));
    tg_recording_close(recording);
}

/* Older recordings have other names, and do not name the payload file. */
TEST(the_older_names_are_found)
{
    char path[600];
    static const char text[] =
        "{\"tensors\": [{\"task_id\": \"0x0000000000000002\", \"func_id\": 4, \"role\": \"output\", "
        "\"stage\": \"after_completion\", \"arg_index\": 1, \"dtype\": \"int32\", \"shape\": [2], "
        "\"bin_offset\": 4, \"bin_size\": 8}]}";
    dump_make_dir();
    snprintf(path, sizeof path, "%s/manifest.json", dump_dir);
    dump_write_file(path, text, strlen(text));
    snprintf(path, sizeof path, "%s/tensors.bin", dump_dir);
    dump_write_file(path, "xxxxabcdefgh", 12);
    struct tg_recording *recording = dump_open(dump_dir);
    struct tg_entry entry = get(recording, 0);
    CHECK(dump_info(recording).foreign);
    CHECK_EQ_S(dump_info(recording).payload, "tensors.bin");
    CHECK_EQ_U(entry.record.kernel[0], 4);
    CHECK_EQ_MEM(tg_recording_payload(recording, &entry), "abcdefgh", 8);
    tg_recording_close(recording);
}

/* --- recordings under tests/golden/peer ---------------------------------------------------------- */

static struct tg_recording *open_golden(const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/golden/peer/%s", TASKGLASS_TEST_SOURCE_DIR, name);
    return dump_open(path);
}

static void check_scalar(const struct tg_recording *recording, uint64_t index, const char *want)
{
    struct tg_value_text text;
    struct tg_entry entry = get(recording, index);
    CHECK_EQ_U(entry.record.kind, TG_KIND_SCALAR);
    CHECK_EQ_S(tg_scalar_format(&entry.record, &text), want);
    CHECK_EQ_U(entry.record.flags & TG_RECORD_NO_VALUE,
               strcmp(want, "unknown") == 0 ? TG_RECORD_NO_VALUE : 0);
}

TEST(a_recording_whose_bin_file_is_null_has_level_meta)
{
    struct tg_recording *recording = open_golden("meta");
    struct tg_recording_info info = dump_info(recording);
    CHECK_EQ_U(info.level, TG_LEVEL_META);
    CHECK_EQ_S(info.payload, "");
    CHECK(info.foreign && info.complete);
    CHECK_EQ_U(info.records, 4);
    for (uint64_t i = 0; i < info.records; i++)
        CHECK_EQ_U(get(recording, i).record.flags & (TG_RECORD_TRUNCATED | TG_RECORD_PAYLOAD), 0);
    tg_recording_close(recording);
}

TEST(a_scalar_value_is_64_bits_that_the_dtype_decodes)
{
    struct tg_recording *recording = open_golden("unified");
    check_scalar(recording, 1, "1.5");
    check_scalar(recording, 2, "-42");
    check_scalar(recording, 3, "16045690984503111693");
    check_scalar(recording, 4, "1");
    check_scalar(recording, 5, "0x3ff0000000000000");
    check_scalar(recording, 6, "unknown");
    check_scalar(recording, 7, "unknown");
    check_scalar(recording, 8, "true");
    tg_recording_close(recording);
}

TEST(the_first_form_is_what_the_orchestration_was_given)
{
    struct tg_recording *recording = open_golden("first_form");
    struct tg_recording_info info = dump_info(recording);
    static const char *const want[] = {
        NULL,      "7",   NULL, "-42", "18446744073709551615", "1.5", "1.5", "0x0000000000000007",
        "unknown", "true"};
    CHECK_EQ_U(info.records, 10);
    CHECK_EQ_U(info.level, TG_LEVEL_META);
    CHECK_EQ_U(info.summary.orchestration, 10);
    for (uint64_t i = 0; i < info.records; i++) {
        struct tg_entry entry = get(recording, i);
        CHECK_EQ_U(entry.record.task_id, TG_TASK_NONE);
        CHECK_EQ_U(entry.record.stage, TG_STAGE_ORCHESTRATION);
        CHECK_EQ_U(entry.record.arg_index, i);
        if (want[i])
            check_scalar(recording, i, want[i]);
    }
    struct tg_entry tensor = get(recording, 0), other = get(recording, 2);
    CHECK_EQ_U(tensor.record.data_ptr, 0x7f0000001000);
    CHECK_EQ_I(tensor.record.shape[1], 16);
    CHECK_EQ_I(tensor.record.strides[0], 16);
    CHECK_EQ_U(tensor.record.flags & TG_RECORD_CONTIGUOUS, TG_RECORD_CONTIGUOUS);
    CHECK_EQ_U(other.record.data_ptr, UINT64_C(140000000000));
    CHECK_EQ_U(other.record.bytes, 16);
    tg_recording_close(recording);
}

TEST(a_view_by_the_shape_of_its_storage_has_strides)
{
    struct tg_recording *recording = open_golden("offsets");
    struct tg_entry entry = get(recording, 0);
    CHECK_EQ_I(entry.record.strides[0], 8);
    CHECK_EQ_I(entry.record.strides[1], 1);
    CHECK_EQ_I(entry.record.start, 17);
    CHECK_EQ_U(entry.record.flags & TG_RECORD_CONTIGUOUS, 0);
    CHECK_EQ_U(entry.record.stored, 48);
    tg_recording_close(recording);
}

/* --- other ways to write the same ----------------------------------------------------------------- */

static void check_text(const char *text, uint64_t records)
{
    struct tg_recording *recording = dump_from(text, strlen(text), 0);
    if (!CHECK(recording))
        return;
    CHECK_EQ_U(dump_info(recording).records, records);
    for (uint64_t i = 0; i < records; i++)
        CHECK_EQ_U(get(recording, i).record.stage, TG_STAGE_ORCHESTRATION);
    tg_recording_close(recording);
}

TEST(the_first_form_may_be_a_list_or_stand_under_any_name)
{
    check_text("[{\"arg_index\": 0, \"type\": \"scalar\"}]", 1);
    check_text("{\"args\": [{\"arg_index\": 0, \"type\": \"scalar\"}]}", 1);
    check_text("{\"n\": 1, \"orch_args\": [{\"type\": \"tensor\", \"arg_index\": 0}]}", 1);
    check_text("{\"list\": [{\"arg_index\": 0}, {\"arg_index\": 1}], \"others\": [1]}", 2);
}

static void check_one_scalar(const char *members, const char *want)
{
    char text[300];
    snprintf(text, sizeof text, "[{\"arg_index\": 0, \"type\": \"scalar\", %s}]", members);
    struct tg_recording *recording = dump_from(text, strlen(text), 0);
    if (!CHECK(recording))
        return;
    check_scalar(recording, 0, want);
    tg_recording_close(recording);
}

TEST(scalar_values_come_with_and_without_quotes_signs_and_points)
{
    check_one_scalar("\"dtype\": \"INT32\", \"scalar_value\": \"4294967295\"", "-1");
    check_one_scalar("\"dtype\": \"INT8\", \"scalar_value\": -5", "-5");
    check_one_scalar("\"dtype\": \"Float32\", \"scalar_value\": \"-1.25e2\"", "-125");
    check_one_scalar("\"dtype\": \"FLOAT32\", \"scalar_value\": \"-$Inf\"", "-inf");
    check_one_scalar("\"dtype\": \"FLOAT32\", \"scalar_value\": 0", "0");
    check_one_scalar("\"dtype\": \"FLOAT16\", \"scalar_value\": 15360", "1");
    check_one_scalar("\"dtype\": \"FLOAT16\", \"value\": 15360", "1");
    check_one_scalar("\"dtype\": \"BOOL\", \"scalar_value\": 256", "true");
    check_one_scalar("\"dtype\": \"BOOL\", \"scalar_value\": true", "true");
    check_one_scalar("\"dtype\": \"UNDEFINED\", \"scalar_value\": 9", "0x0000000000000009");
    check_one_scalar("\"dtype\": null, \"scalar_value\": \"0x9\"", "0x0000000000000009");
}

TEST(an_unknown_value_stays_unknown_in_a_manifest_of_ours)
{
    static const char text[] =
        "{\"version\": 1, \"tensors\": [{\"task_id\": \"0x1\", \"kind\": \"scalar\", "
        "\"dtype\": \"float32\", \"arg_index\": 0, \"value\": null, \"raw\": null}]}";
    struct tg_recording *recording = dump_from(text, strlen(text), 0);
    REQUIRE(recording);
    check_scalar(recording, 0, "unknown");
    tg_recording_close(recording);
}

TEST(a_scalar_without_a_value_is_unknown_and_not_zero)
{
    check_one_scalar("\"dtype\": \"INT64\"", "unknown");
    check_one_scalar("\"dtype\": \"INT64\", \"scalar_value\": null", "unknown");
    check_one_scalar("\"dtype\": \"INT64\", \"value\": null", "unknown");
    check_one_scalar("\"dtype\": \"FLOAT32\", \"scalar_value\": null", "unknown");
    check_one_scalar("\"dtype\": \"INT64\", \"scalar_value\": \"many\"", "unknown");
    check_one_scalar("\"dtype\": \"INT64\", \"scalar_value\": \"18446744073709551616\"", "unknown");
    check_one_scalar("\"dtype\": \"FLOAT32\", \"scalar_value\": \"1.5x\"", "unknown");
    check_one_scalar("\"dtype\": \"INT64\", \"scalar_value\": [1]", "unknown");
}

TEST_MAIN()
