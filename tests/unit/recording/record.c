/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that a record cannot exceed, whoever wrote it. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include "unit/common/hash_model.h"

static struct tg_record confined(struct tg_record record, uint64_t payload_size)
{
    tg_record_confine(&record, payload_size);
    return record;
}

static void check_no_payload(struct tg_record record)
{
    record = confined(record, 1000);
    CHECK_EQ_U(record.stored, 0);
    CHECK(record.flags & TG_RECORD_TRUNCATED);
    CHECK(tg_record_numel(&record) >= 0);
}

TEST(a_sound_record_stays_as_it_is)
{
    struct tg_record record = dump_tensor(1, 10, 960);
    struct tg_record after = confined(record, 1000);
    CHECK_EQ_MEM(&after, &record, sizeof record);
}

TEST(every_flipped_bit_breaks_the_check)
{
    struct tg_record record = dump_tensor(1, 10, 960);
    unsigned char *bytes = (unsigned char *)&record;
    tg_record_seal(&record, sizeof record);
    CHECK(tg_record_intact(&record, sizeof record));
    for (unsigned bit = 0; bit < 8 * sizeof record; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(!tg_record_intact(&record, sizeof record));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

TEST(the_check_is_the_folded_hash_of_the_bytes_without_it)
{
    struct tg_record record = dump_tensor(1, 10, 960);
    uint64_t hash = model_hash((const unsigned char *)&record, sizeof record);
    tg_record_seal(&record, sizeof record);
    CHECK_EQ_U(record.check, (uint32_t)(hash ^ hash >> 32));
}

TEST(zeros_are_no_record)
{
    CHECK(!tg_record_intact(&(struct tg_record){0}, sizeof(struct tg_record)));
}

TEST(words_that_do_not_exist_cost_the_payload)
{
    for (int field = 0; field < 4; field++) {
        struct tg_record record = dump_tensor(1, 10, 0);
        uint8_t *fields[] = {&record.stage, &record.role, &record.kind, &record.dtype};
        *fields[field] = 200;
        check_no_payload(record);
        record = confined(record, 1000);
        CHECK(record.stage <= TG_STAGE_ORCHESTRATION);
        CHECK(record.role >= TG_IN && record.role <= TG_INOUT);
        CHECK(record.kind <= TG_KIND_SCALAR);
        CHECK(record.dtype < TG_DTYPE_END);
    }
}

TEST(dimensions_that_make_no_sense_cost_the_payload)
{
    struct tg_record record = dump_tensor(1, 10, 0);
    record.ndim = 9;
    check_no_payload(record);
    record.ndim = 255;
    check_no_payload(record);
    record.ndim = 1;
    record.shape[0] = -1;
    check_no_payload(record);
    record.shape[0] = INT64_MAX;
    check_no_payload(record);
    record.ndim = 3;
    record.shape[0] = record.shape[1] = record.shape[2] = (int64_t)1 << 40;
    check_no_payload(record);
    record.shape[0] = record.shape[1] = (int64_t)1 << 32; /* the product is 0 in 64 bits */
    record.ndim = 2;
    check_no_payload(record);
}

TEST(sizes_that_do_not_fit_the_shape_cost_the_payload)
{
    struct tg_record record = dump_tensor(1, 10, 0);
    record.stored = 41;
    check_no_payload(record);
    record.stored = UINT64_MAX;
    check_no_payload(record);
    record = dump_tensor(1, 10, 0);
    record.bytes = 44;
    check_no_payload(record);
    CHECK_EQ_U(confined(record, 1000).bytes, 40);
}

TEST(a_payload_past_the_end_of_the_file_is_cut_to_what_is_there)
{
    struct tg_record record = confined(dump_tensor(1, 10, 990), 1000);
    CHECK_EQ_U(record.stored, 10);
    CHECK(record.flags & TG_RECORD_TRUNCATED);
    check_no_payload(dump_tensor(1, 10, 1000));
    check_no_payload(dump_tensor(1, 10, 1001));
    check_no_payload(dump_tensor(1, 10, UINT64_MAX));
    check_no_payload(dump_tensor(1, 10, UINT64_MAX - 39)); /* its end wraps to 0 */
}

TEST(a_payload_that_was_asked_for_and_is_not_there_is_truncated)
{
    struct tg_record record = dump_tensor(1, 10, 0);
    record.stored = 0;
    check_no_payload(record);
    record.flags &= (uint16_t)~TG_RECORD_PAYLOAD;
    CHECK_EQ_U(confined(record, 1000).flags & TG_RECORD_TRUNCATED, 0);
}

TEST(an_overwritten_payload_has_no_bytes)
{
    struct tg_record record = dump_tensor(1, 10, 0);
    record.flags |= TG_RECORD_OVERWRITTEN;
    record = confined(record, 1000);
    CHECK_EQ_U(record.stored, 0);
    CHECK_EQ_U(record.flags & TG_RECORD_TRUNCATED, 0);
}

TEST(a_scalar_has_no_payload_and_no_bits_beyond_its_type)
{
    struct tg_record record = dump_scalar(1, TG_INT8, 0xffff);
    record.stored = 8;
    record.position = UINT64_MAX;
    record = confined(record, 0);
    CHECK_EQ_U(record.value, 0xff);
    CHECK_EQ_U(record.stored, 0);
    CHECK_EQ_U(record.bytes, 1);
    CHECK_EQ_U(confined(dump_scalar(1, TG_UINT64, UINT64_MAX), 0).value, UINT64_MAX);
    CHECK_EQ_U(confined(dump_scalar(1, TG_INT4, UINT64_MAX), 0).value, 0xf);
}

TEST(only_a_scalar_of_the_orchestration_can_be_a_value_that_it_read)
{
    struct tg_record read = {.type = TG_RECORD_ARGUMENT,
                             .flags = TG_RECORD_READ,
                             .stage = TG_STAGE_ORCHESTRATION,
                             .role = TG_IN,
                             .kind = TG_KIND_SCALAR,
                             .dtype = TG_INT32,
                             .start = 5,
                             .bytes = 4};
    struct tg_record after = confined(read, 0), other = read;
    CHECK_EQ_MEM(&after, &read, sizeof read);
    other.stage = TG_BEFORE_DISPATCH;
    CHECK(!(confined(other, 0).flags & TG_RECORD_READ));
    CHECK_EQ_I(confined(other, 0).start, 0);
    other = read;
    other.kind = TG_KIND_TENSOR;
    CHECK(!(confined(other, 0).flags & TG_RECORD_READ));
}

TEST(counting_and_taking_back_leaves_nothing)
{
    struct tg_record_summary summary = {0}, none = {0};
    for (unsigned i = 0; i < 24; i++) {
        struct tg_record record = dump_tensor(1, 1, 0);
        record.stage = (uint8_t)(i % 3);
        record.role = (uint8_t)(i % 4);
        record.kind = i / 12;
        record.flags = (uint16_t)(i << 2);
        tg_record_count(&summary, &record);
        CHECK_EQ_U(summary.recorded, 1);
        tg_record_uncount(&summary, &record);
    }
    CHECK_EQ_MEM(&summary, &none, sizeof none);
}

TEST_MAIN()
