/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <taskglass/dtype.h>

TEST(every_type_is_found_by_its_name)
{
#define CHECK_TYPE(constant, number, bits, name, kind)   \
    CHECK(tg_dtype_valid(TG_##constant));                \
    CHECK_EQ_I(TG_##constant, number);                   \
    CHECK_EQ_S(tg_dtype_name(TG_##constant), name);      \
    CHECK_EQ_I(tg_dtype_from_name(name), TG_##constant); \
    CHECK_EQ_I(tg_dtype_bits(TG_##constant), bits);
    TG_DTYPE_MAP(CHECK_TYPE)
#undef CHECK_TYPE
}

TEST(a_number_that_is_no_type_is_invalid)
{
    int numbers[] = {0, TG_DTYPE_END, 255, -1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        CHECK(!tg_dtype_valid(numbers[i]));
        CHECK_EQ_S(tg_dtype_name(numbers[i]), "invalid");
        CHECK_EQ_U(tg_dtype_bits(numbers[i]), 0);
        CHECK(!tg_dtype_is_float(numbers[i]));
        CHECK(!tg_dtype_is_signed(numbers[i]));
    }
}

TEST(a_name_that_is_no_type_is_none)
{
    const char *names[] = {"", "float", "Float32", "float32 ", "invalid", "fp16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_EQ_I(tg_dtype_from_name(names[i]), TG_DTYPE_NONE);
    CHECK_EQ_I(tg_dtype_from_name(NULL), TG_DTYPE_NONE);
}

TEST(floats_are_floats)
{
    for (int dtype = TG_FLOAT64; dtype <= TG_FLOAT4_E2M1FN; dtype++)
        CHECK(tg_dtype_is_float(dtype));
    for (int dtype = TG_INT64; dtype <= TG_BOOL; dtype++)
        CHECK(!tg_dtype_is_float(dtype));
}

TEST(signed_types_are_those_with_negative_values)
{
    for (int dtype = TG_FLOAT64; dtype < TG_DTYPE_END; dtype++) {
        unsigned char element[8] = {0};
        tg_dtype_store(dtype, element, 0, -1);
        CHECK_EQ_I(tg_dtype_is_signed(dtype), tg_dtype_load(dtype, element, 0) == -1);
    }
}

TEST(what_is_stored_is_loaded_from_every_place_of_an_array)
{
    for (int dtype = TG_FLOAT64; dtype < TG_DTYPE_END; dtype++) {
        unsigned char array[9 * 8] = {0};
        for (size_t i = 0; i < 9; i++)
            tg_dtype_store(dtype, array, i, i % 2 ? 1 : 4);
        for (size_t i = 0; i < 9; i++)
            CHECK_NEAR(tg_dtype_load(dtype, array, i), i % 2 || dtype == TG_BOOL ? 1 : 4, 0);
    }
}

TEST_MAIN()
