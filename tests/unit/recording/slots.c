/* SPDX-License-Identifier: Apache-2.0 */
/* Records go into the slots of a journal and come out again, byte for byte. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

static unsigned char slots[TG_MOST_SLOTS * TG_JOURNAL_SLOT];

/* Puts the record into slots and compares what comes out. Returns how many it took. */
static unsigned check_survives(const struct tg_record *record)
{
    struct tg_record taken, read, want = *record;
    unsigned n = tg_slots_put(record, slots);
    CHECK_EQ_U(tg_slot_count(slots), n);
    CHECK_EQ_I(tg_slot_take(slots, TG_JOURNAL_SLOT, 0, n, &taken), TG_SLOT_RECORD);
    tg_slot_read(slots, TG_JOURNAL_SLOT, 0, n, &read);
    want.check = taken.check;
    CHECK_EQ_MEM(&taken, &want, sizeof want);
    CHECK_EQ_MEM(&read, &want, sizeof want);
    if (n == 2) {
        CHECK_EQ_I(tg_slot_take(slots, TG_JOURNAL_SLOT, 1, n, &taken), TG_SLOT_REST);
        CHECK_EQ_I(tg_slot_take(slots, TG_JOURNAL_SLOT, 0, 1, &taken), TG_SLOT_CUT);
    }
    return n;
}

/* A tensor of that shape with every field set. */
static struct tg_record tensor(unsigned ndim, int64_t size)
{
    struct tg_record record = dump_tensor(7, 1, 4096);
    record.flags |= TG_RECORD_HASHED | TG_RECORD_MARKED;
    record.sequence = UINT64_MAX - 1;
    record.kernel[2] = 12;
    record.stream = 3;
    record.core = 70000;
    record.start = -5;
    record.hash = UINT64_C(0x0123456789abcdef);
    record.time = 99;
    record.ndim = (uint8_t)ndim;
    record.shape[0] = record.strides[0] = 0;
    int64_t stride = 1;
    for (unsigned i = ndim; i-- > 0; stride *= size) {
        record.shape[i] = size;
        record.strides[i] = stride;
    }
    record.bytes = record.stored = 4 * (uint64_t)stride;
    return record;
}

TEST(a_row_major_tensor_takes_one_slot_whatever_its_dimensions)
{
    for (unsigned ndim = 0; ndim <= TG_MAX_DIMS; ndim++) {
        struct tg_record record = tensor(ndim, 3);
        CHECK_EQ_U(check_survives(&record), 1);
    }
    struct tg_record empty = tensor(3, 3);
    empty.shape[1] = 0;
    empty.strides[0] = 3;
    empty.bytes = empty.stored = empty.position = 0;
    CHECK_EQ_U(check_survives(&empty), 1);
}

TEST(other_strides_take_one_slot_up_to_four_dimensions)
{
    for (unsigned ndim = 1; ndim <= TG_MAX_DIMS; ndim++) {
        struct tg_record record = tensor(ndim, 3);
        record.strides[0] = -1000;
        CHECK_EQ_U(check_survives(&record), ndim <= 4 ? 1 : 2);
    }
}

TEST(numbers_that_do_not_fit_take_two_slots)
{
    struct tg_record large = tensor(1, INT64_C(1) << 32);
    CHECK_EQ_U(check_survives(&large), 2);
    large = tensor(1, UINT32_MAX);
    CHECK_EQ_U(check_survives(&large), 1);
    struct tg_record wide = tensor(2, 3);
    wide.strides[0] = INT64_C(1) << 31;
    CHECK_EQ_U(check_survives(&wide), 2);
    wide.strides[0] = INT32_MIN;
    CHECK_EQ_U(check_survives(&wide), 1);
}

TEST(a_scalar_takes_one_slot)
{
    struct tg_record scalar = dump_scalar(5, TG_UINT64, UINT64_MAX);
    scalar.flags = TG_RECORD_READ;
    scalar.data_ptr = 77;
    scalar.start = 4;
    CHECK_EQ_U(check_survives(&scalar), 1);
}

/* Whatever a host hands over comes out as it went in: readers judge it later. */
TEST(records_that_make_no_sense_survive)
{
    struct tg_record record = tensor(2, 3);
    record.bytes = 1;
    CHECK_EQ_U(check_survives(&record), 2);
    record = tensor(2, 3);
    record.ndim = 200;
    CHECK_EQ_U(check_survives(&record), 2);
    record = tensor(2, -1);
    CHECK_EQ_U(check_survives(&record), 2);
    record = tensor(2, 3);
    record.shape[5] = 1;
    CHECK_EQ_U(check_survives(&record), 2);
    record = dump_scalar(5, TG_INT32, 4);
    record.hash = 9;
    CHECK_EQ_U(check_survives(&record), 2);
}

TEST(a_kernel_takes_two_slots_if_its_name_is_long)
{
    struct tg_record_kernel kernel = {.type = TG_RECORD_KERNEL, .kernel = 3, .core = TG_AIV};
    struct tg_record record;
    memset(kernel.name, 'x', 112);
    memcpy(&record, &kernel, sizeof record);
    CHECK_EQ_U(check_survives(&record), 1);
    memset(kernel.name, 'x', TG_JOURNAL_NAME);
    memcpy(&record, &kernel, sizeof record);
    CHECK_EQ_U(check_survives(&record), 2);
}

TEST(every_flipped_bit_of_either_half_is_noticed)
{
    struct tg_record record = tensor(8, 3), taken;
    record.strides[0] = 7;
    REQUIRE(check_survives(&record) == 2);
    for (unsigned bit = 0; bit < 8 * sizeof slots; bit++) {
        slots[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(tg_slot_take(slots, TG_JOURNAL_SLOT, 0, 2, &taken) != TG_SLOT_RECORD);
        CHECK(tg_slot_take(slots, TG_JOURNAL_SLOT, 1, 2, &taken) != TG_SLOT_REST);
        slots[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

TEST(the_rest_of_another_record_does_not_fit)
{
    unsigned char mixed[sizeof slots];
    struct tg_record record = tensor(8, 3), taken;
    record.strides[0] = 7;
    REQUIRE(check_survives(&record) == 2);
    memcpy(mixed, slots, sizeof mixed);
    record.task_id++;
    REQUIRE(check_survives(&record) == 2);
    memcpy(mixed + TG_JOURNAL_SLOT, slots + TG_JOURNAL_SLOT, TG_JOURNAL_SLOT);
    CHECK_EQ_I(tg_slot_take(mixed, TG_JOURNAL_SLOT, 0, 2, &taken), TG_SLOT_CUT);
    CHECK_EQ_I(tg_slot_take(mixed, TG_JOURNAL_SLOT, 1, 2, &taken), TG_SLOT_DAMAGED);
}

TEST_MAIN()
