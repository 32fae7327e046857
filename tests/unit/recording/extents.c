/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on what records claim. tests/e2e/test_extents.py has what the verbs do then. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include "recording/extents.h"

#define GIB (UINT64_C(1) << 30)

TEST(a_sum_that_is_too_large_does_not_begin_again)
{
    CHECK_EQ_U(tg_claims_add(2, 3), 5);
    CHECK_EQ_U(tg_claims_add(UINT64_MAX - 3, 2), UINT64_MAX - 1);
    CHECK_EQ_U(tg_claims_add(UINT64_MAX - 3, 3), UINT64_MAX);
    CHECK_EQ_U(tg_claims_add(UINT64_MAX - 3, 4), UINT64_MAX);
    CHECK_EQ_U(tg_claims_add(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

/* Records of 6 GiB each, whose payload file is one hole. */
static struct tg_recording *open_holes(uint64_t records)
{
    struct tg_dump_writer *writer = dump_create();
    for (uint64_t i = 0; i < records; i++) {
        struct tg_record record = dump_tensor(i, (int64_t)(6 * GIB / 4), i * 6 * GIB);
        CHECK(tg_dump_append(writer, &record));
    }
    struct tg_dump_account account = {.attempted = records};
    tg_dump_account(writer, &account);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    if (truncate(dump_path("tensor_dump.bin"), (off_t)(records * 6 * GIB)) != 0)
        SKIP("this file system has no files that large");
    return dump_open(dump_dir);
}

static bool is_excess(const struct tg_recording *recording, uint64_t index)
{
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, index, &entry));
    CHECK_EQ_U(entry.record.stored, 6 * GIB);
    return entry.record.flags & TG_RECORD_EXCESS;
}

TEST(holes_are_read_up_to_16_gib_of_all_records_together)
{
    struct tg_recording *recording = open_holes(3);
    CHECK_EQ_U(dump_info(recording).excess, 1);
    CHECK(!is_excess(recording, 0) && !is_excess(recording, 1) && is_excess(recording, 2));
    tg_recording_close(recording);
    recording = open_holes(2);
    CHECK_EQ_U(dump_info(recording).excess, 0);
    tg_recording_close(recording);
}

TEST(holes_are_written_up_to_1_gib)
{
    struct tg_recording *recording = open_holes(1);
    CHECK_EQ_U(tg_recording_export_limit(recording), GIB);
    CHECK_EQ_U(tg_recording_claims_limit(recording), 12 * GIB); /* twice the file */
    tg_recording_close(recording);
}

TEST_MAIN()
