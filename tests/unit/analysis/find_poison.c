/* SPDX-License-Identifier: Apache-2.0 */
/* When the pattern that filled memory counts as found, and when chance may have made it. */
#include "test.h"

#include "analysis/find.h"

#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

static unsigned char memory[4096]; /* as the device's, from address 0x1000 on */
static unsigned char packed[4096]; /* the logical bytes of the view */
static struct tg_record record;
static struct tg_array array;
static struct tg_poison_traces traces;

static void fill(void)
{
    uint32_t word = TG_POISON;
    for (size_t i = 0; i < sizeof memory; i += sizeof word)
        memcpy(memory + i, &word, sizeof word);
}

/* A view of rows × columns elements that begins `start` elements into memory. */
static void view(unsigned dtype, int64_t rows, int64_t columns, int64_t row, int64_t column,
                 int64_t start)
{
    record = (struct tg_record){.data_ptr = 0x1000,
                                .dtype = (uint8_t)dtype,
                                .ndim = 2,
                                .start = start,
                                .shape = {rows, columns},
                                .strides = {row, column}};
    record.bytes = (uint64_t)(rows * columns) * tg_bits_of(dtype) / 8;
    memset(packed, 0, sizeof packed);
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t from = start + i / columns * row + i % columns * column;
        tg_store_bits(dtype, packed, i, tg_load_bits(dtype, memory, from));
    }
    array = (struct tg_array){.dtype = dtype,
                              .ndim = 2,
                              .shape = {rows, columns},
                              .elements = rows * columns,
                              .bytes = packed,
                              .size = record.bytes};
}

static bool found(void)
{
    return tg_poison_find(&array, &record, TG_POISON, &traces);
}

TEST(the_pattern_is_recognized_in_every_type_and_view)
{
    uint64_t hash;
    fill();
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        for (int64_t start = 0; start < 5; start++)
            for (int64_t column = 1; column < 4; column++) {
                view(dtype, 4, 8, 8 * column, column, start);
                CHECK(found() && traces.is_proof);
                CHECK_EQ_U(traces.count, 32);
                CHECK_EQ_U(traces.first, 0);
                CHECK(tg_poison_hash(&record, TG_POISON, &hash));
                CHECK_EQ_U(hash, tg_content_hash(packed, record.bytes));
            }
}

TEST(a_single_float_is_enough_but_a_single_integer_is_not)
{
    static const uint8_t floats[] = {TG_FLOAT64, TG_FLOAT32, TG_FLOAT16, TG_BFLOAT16};
    static const uint8_t others[] = {TG_INT32, TG_UINT16, TG_INT8, TG_FLOAT8_E4M3FN, TG_INT4};
    for (size_t i = 0; i < sizeof floats; i++) {
        fill();
        view(floats[i], 1, 32, 32, 1, 0);
        for (int64_t k = 0; k < 32; k++)
            if (k != 7)
                tg_store_bits(floats[i], packed, k, 0);
        CHECK(found());
        CHECK_EQ_U(traces.count, 1);
        CHECK_EQ_U(traces.first, 7);
    }
    for (size_t i = 0; i < sizeof others; i++) {
        view(others[i], 1, 32, 32, 1, 0);
        for (int64_t k = 0; k < 32; k++)
            if (k != 7)
                tg_store_bits(others[i], packed, k, 0);
        CHECK(!found());
        CHECK_EQ_U(traces.count, 0);
    }
}

TEST(eight_bytes_of_integers_in_a_row_are_enough)
{
    fill();
    view(TG_INT8, 1, 64, 64, 1, 0);
    memset(packed, 1, 40);
    CHECK(found());
    CHECK_EQ_U(traces.count, 24);
    CHECK_EQ_U(traces.first, 40);
    memset(packed, 1, 57);
    CHECK(!found());
}

TEST(the_pattern_at_another_phase_is_chance)
{
    fill();
    view(TG_UINT8, 1, 64, 64, 1, 0);
    memmove(packed, packed + 1, 63);
    CHECK(!found());
}

TEST(a_tensor_of_less_than_four_bytes_proves_nothing)
{
    fill();
    view(TG_INT8, 1, 2, 2, 1, 0);
    CHECK(found() && !traces.is_proof);
    view(TG_INT32, 1, 1, 1, 1, 0);
    CHECK(found() && traces.is_proof);
}

TEST(arithmetic_does_not_make_the_pattern)
{
    static const uint8_t floats[] = {TG_FLOAT64, TG_FLOAT32, TG_FLOAT16, TG_BFLOAT16};
    volatile double zero = 0;
    for (size_t i = 0; i < sizeof floats; i++) {
        fill();
        view(floats[i], 1, 8, 8, 1, 0);
        for (int64_t k = 0; k < 8; k++) {
            uint64_t bits = tg_load_bits(floats[i], packed, k);
            CHECK(tg_decode(floats[i], bits) != tg_decode(floats[i], bits)); /* NaN */
            tg_store_bits(floats[i], packed, k, tg_encode(floats[i], zero / zero));
        }
        CHECK(!found());
    }
}

TEST(strides_of_a_hostile_file_do_no_harm)
{
    fill();
    view(TG_FLOAT32, 2, 2, 2, 1, 0);
    record.strides[0] = INT64_MIN;
    record.strides[1] = INT64_MAX;
    record.start = INT64_MAX;
    (void)found();
}

TEST_MAIN()
