/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <taskglass/tensor.h>

enum { ADDR = 0x1000 };

static struct tg_tensor make(unsigned dtype, int ndim, const int64_t *shape)
{
    return tg_tensor_make(ADDR, dtype, ndim, shape);
}
#define MAKE(dtype, ...) \
    make(dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static bool is_none(struct tg_tensor t)
{
    return t.dtype == TG_DTYPE_NONE && !tg_tensor_valid(&t);
}

static void check_dim(const struct tg_tensor *t, int dim, int64_t shape, int64_t stride)
{
    CHECK_EQ_I(t->shape[dim], shape);
    CHECK_EQ_I(t->strides[dim], stride);
}

static void check_footprint(struct tg_tensor t, int64_t want_lo, int64_t want_hi)
{
    int64_t lo, hi;
    CHECK(tg_tensor_footprint(&t, &lo, &hi));
    CHECK_EQ_I(lo, want_lo);
    CHECK_EQ_I(hi, want_hi);
}

TEST(a_fresh_tensor_is_row_major_from_its_address)
{
    struct tg_tensor t = MAKE(TG_FLOAT32, 2, 3, 4);
    CHECK(tg_tensor_valid(&t));
    CHECK(tg_tensor_contiguous(&t));
    CHECK_EQ_U(t.addr, ADDR);
    CHECK_EQ_U(t.storage_bytes, 2 * 3 * 4 * 4);
    CHECK_EQ_I(t.start, 0);
    CHECK_EQ_I(t.ndim, 3);
    CHECK_EQ_I(tg_tensor_numel(&t), 24);
    check_dim(&t, 0, 2, 12);
    check_dim(&t, 1, 3, 4);
    check_dim(&t, 2, 4, 1);
    check_footprint(t, 0, 23);
}

TEST(a_tensor_of_no_dimension_is_one_element)
{
    struct tg_tensor t = tg_tensor_make(ADDR, TG_FLOAT64, 0, NULL);
    CHECK(tg_tensor_valid(&t));
    CHECK(tg_tensor_contiguous(&t));
    CHECK_EQ_I(tg_tensor_numel(&t), 1);
    CHECK_EQ_U(t.storage_bytes, 8);
    check_footprint(t, 0, 0);
}

TEST(a_tensor_may_have_eight_dimensions_and_no_more)
{
    int64_t shape[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    struct tg_tensor t = make(TG_INT8, 8, shape);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(tg_tensor_numel(&t), 256);
    CHECK(is_none(make(TG_INT8, 9, shape)));
    CHECK(is_none(make(TG_INT8, -1, shape)));
}

TEST(an_empty_tensor_is_valid_and_touches_nothing)
{
    struct tg_tensor t = MAKE(TG_FLOAT32, 3, 0, 5);
    int64_t lo, hi;
    CHECK(tg_tensor_valid(&t));
    CHECK(tg_tensor_contiguous(&t));
    CHECK_EQ_I(tg_tensor_numel(&t), 0);
    CHECK_EQ_U(t.storage_bytes, 0);
    CHECK(!tg_tensor_footprint(&t, &lo, &hi));
    CHECK(lo > hi);
}

TEST(parameters_that_make_no_sense_give_no_tensor)
{
    CHECK(is_none(MAKE(TG_DTYPE_NONE, 4)));
    CHECK(is_none(MAKE(TG_DTYPE_END, 4)));
    CHECK(is_none(MAKE(TG_FLOAT32, 4, -1)));
    CHECK(is_none(tg_tensor_none()));
}

TEST(a_tensor_too_large_to_count_is_none)
{
    CHECK(is_none(MAKE(TG_INT8, (int64_t)1 << 59)));
    CHECK(is_none(MAKE(TG_INT8, 1 << 30, 1 << 30)));
    CHECK(is_none(MAKE(TG_INT8, INT64_MAX, 4)));
    CHECK(is_none(MAKE(TG_INT8, 4, INT64_MAX)));
}

TEST(a_slice_starts_later_and_keeps_the_rank)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_FLOAT32, 10, 4), 0, 2, 7, 1);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.start, 8);
    CHECK_EQ_U(t.addr, ADDR);
    CHECK_EQ_U(t.storage_bytes, 160);
    check_dim(&t, 0, 5, 4);
    check_dim(&t, 1, 4, 1);
    CHECK(tg_tensor_contiguous(&t));
    check_footprint(t, 8, 27);
}

TEST(a_slice_of_columns_has_gaps)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_FLOAT32, 10, 4), 1, 1, 3, 1);
    CHECK(tg_tensor_valid(&t));
    CHECK(!tg_tensor_contiguous(&t));
    check_footprint(t, 1, 38);
}

TEST(a_step_rounds_the_count_up)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_INT16, 10), 0, 1, 9, 3);
    check_dim(&t, 0, 3, 3);
    check_footprint(t, 1, 7);
    CHECK(tg_tensor_valid(&t));
}

TEST(slices_of_slices_add_up)
{
    struct tg_tensor t = MAKE(TG_INT32, 100);
    t = tg_tensor_slice(t, 0, 10, 90, 2);
    t = tg_tensor_slice(t, 0, 5, 40, 3);
    check_dim(&t, 0, 12, 6);
    CHECK_EQ_I(t.start, 20);
    CHECK(tg_tensor_valid(&t));
}

TEST(an_empty_slice_is_valid_even_at_the_end)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_INT32, 10), 0, 10, 10, 1);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(tg_tensor_numel(&t), 0);
}

TEST(a_slice_outside_its_tensor_is_none)
{
    struct tg_tensor t = MAKE(TG_INT32, 10);
    CHECK(is_none(tg_tensor_slice(t, 0, 0, 11, 1)));
    CHECK(is_none(tg_tensor_slice(t, 0, -1, 5, 1)));
    CHECK(is_none(tg_tensor_slice(t, 0, 6, 5, 1)));
    CHECK(is_none(tg_tensor_slice(t, 0, 0, 5, 0)));
    CHECK(is_none(tg_tensor_slice(t, 0, 0, 5, -1)));
    CHECK(is_none(tg_tensor_slice(t, 1, 0, 1, 1)));
    CHECK(is_none(tg_tensor_slice(t, -1, 0, 1, 1)));
}

TEST(a_view_of_none_stays_none)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_INT32, 4, 4), 0, 0, 5, 1);
    int64_t flat[] = {1};
    CHECK(is_none(tg_tensor_slice(t, 0, 0, 0, 1)));
    CHECK(is_none(tg_tensor_index(t, 0, 0)));
    CHECK(is_none(tg_tensor_transpose(t, 0, 0)));
    CHECK(is_none(tg_tensor_reshape(t, 1, flat)));
    CHECK(is_none(tg_tensor_tile(t, 0, 1, 0, 1)));
}

TEST(an_index_takes_its_dimension_away)
{
    struct tg_tensor t = tg_tensor_index(MAKE(TG_FLOAT32, 2, 3, 4), 1, 2);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.ndim, 2);
    CHECK_EQ_I(t.start, 8);
    check_dim(&t, 0, 2, 12);
    check_dim(&t, 1, 4, 1);
    check_dim(&t, 2, 0, 0); /* unused dimensions stay zero */
    check_footprint(t, 8, 23);
}

TEST(indexing_down_to_one_element_works)
{
    struct tg_tensor t = tg_tensor_index(tg_tensor_index(MAKE(TG_INT8, 3, 4), 0, 2), 0, 3);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.ndim, 0);
    check_footprint(t, 11, 11);
    CHECK(is_none(tg_tensor_index(t, 0, 0)));
}

TEST(an_index_outside_is_none)
{
    struct tg_tensor t = MAKE(TG_INT8, 3, 4);
    CHECK(is_none(tg_tensor_index(t, 0, 3)));
    CHECK(is_none(tg_tensor_index(t, 0, -1)));
    CHECK(is_none(tg_tensor_index(t, 2, 0)));
}

TEST(a_transpose_moves_nothing_in_memory)
{
    struct tg_tensor t = tg_tensor_transpose(MAKE(TG_FLOAT32, 3, 5), 0, 1);
    CHECK(tg_tensor_valid(&t));
    CHECK(!tg_tensor_contiguous(&t));
    check_dim(&t, 0, 5, 1);
    check_dim(&t, 1, 3, 5);
    check_footprint(t, 0, 14);
    t = tg_tensor_transpose(t, 1, 0);
    CHECK(tg_tensor_contiguous(&t));
    CHECK(is_none(tg_tensor_transpose(t, 0, 2)));
}

TEST(a_dimension_of_one_does_not_break_contiguity)
{
    struct tg_tensor t = tg_tensor_transpose(MAKE(TG_FLOAT32, 7, 1), 0, 1);
    CHECK(tg_tensor_contiguous(&t));
    t = tg_tensor_slice(MAKE(TG_FLOAT32, 4, 6), 0, 1, 2, 1);
    CHECK(tg_tensor_contiguous(&t));
}

TEST(a_reshape_keeps_elements_and_place)
{
    struct tg_tensor rows = tg_tensor_slice(MAKE(TG_INT16, 6, 4), 0, 2, 5, 1);
    int64_t shape[] = {2, 6};
    struct tg_tensor t = tg_tensor_reshape(rows, 2, shape);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.start, 8);
    CHECK_EQ_U(t.storage_bytes, 48);
    check_dim(&t, 0, 2, 6);
    check_dim(&t, 1, 6, 1);
    check_footprint(t, 8, 19);
}

TEST(a_reshape_wants_the_same_count_and_no_gaps)
{
    int64_t eleven[] = {11}, twelve[] = {12};
    struct tg_tensor t = MAKE(TG_INT16, 3, 4);
    CHECK(is_none(tg_tensor_reshape(t, 1, eleven)));
    CHECK(is_none(tg_tensor_reshape(tg_tensor_transpose(t, 0, 1), 1, twelve)));
}

TEST(a_tile_is_a_rectangle_of_the_last_two_dimensions)
{
    struct tg_tensor t = tg_tensor_tile(MAKE(TG_FLOAT32, 2, 8, 8), 4, 2, 6, 2);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.start, 38);
    check_dim(&t, 0, 2, 64);
    check_dim(&t, 1, 2, 8);
    check_dim(&t, 2, 2, 1);
    CHECK(is_none(tg_tensor_tile(MAKE(TG_FLOAT32, 8, 8), 7, 2, 0, 1)));
    CHECK(is_none(tg_tensor_tile(MAKE(TG_FLOAT32, 8), 0, 1, 0, 1)));
}

TEST(negative_and_zero_strides_count_in_the_footprint)
{
    struct tg_tensor t = MAKE(TG_INT32, 4, 5);
    t.start = 19;
    t.strides[0] = -5;
    t.strides[1] = -1;
    check_footprint(t, 0, 19);
    CHECK(tg_tensor_valid(&t));
    CHECK(!tg_tensor_contiguous(&t));
    t.strides[0] = 0;
    check_footprint(t, 15, 19);
    CHECK(tg_tensor_valid(&t));
}

TEST(a_view_that_leaves_its_storage_is_invalid)
{
    struct tg_tensor t = MAKE(TG_INT32, 10);
    t.start = 1;
    CHECK(!tg_tensor_valid(&t));
    t.start = -1;
    CHECK(!tg_tensor_valid(&t));
    t.start = 0;
    t.strides[0] = -1;
    CHECK(!tg_tensor_valid(&t));
    t.strides[0] = 2;
    CHECK(!tg_tensor_valid(&t));
}

TEST(more_dimensions_than_there_are_is_invalid)
{
    struct tg_tensor t = MAKE(TG_INT32, 10);
    t.ndim = TG_MAX_DIMS + 1;
    CHECK(!tg_tensor_valid(&t));
}

TEST(a_footprint_that_overflows_is_refused)
{
    struct tg_tensor t = MAKE(TG_INT32, 10, 10);
    int64_t lo, hi;
    t.strides[0] = INT64_MAX / 2;
    CHECK(!tg_tensor_footprint(&t, &lo, &hi));
    CHECK(lo > hi);
    CHECK(!tg_tensor_valid(&t));
    t.strides[0] = -(INT64_MAX / 2);
    CHECK(!tg_tensor_footprint(&t, &lo, &hi));
    CHECK(!tg_tensor_valid(&t));
    t.strides[0] = INT64_MIN;
    CHECK(!tg_tensor_footprint(&t, &lo, &hi));
    CHECK(!tg_tensor_valid(&t));
    t.strides[0] = 10;
    t.start = INT64_MAX;
    CHECK(!tg_tensor_footprint(&t, &lo, &hi));
    CHECK(!tg_tensor_valid(&t));
    t.start = INT64_MIN;
    CHECK(!tg_tensor_valid(&t));
}

TEST(more_bytes_than_64_bits_count_are_refused)
{
    struct tg_tensor t = MAKE(TG_FLOAT64, 1);
    t.shape[0] = (int64_t)1 << 61; /* 2^64 bytes, which wraps to 0 */
    CHECK(!tg_tensor_valid(&t));
}

TEST(a_huge_step_takes_one_element)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_INT32, 10, 10), 0, 2, 9, INT64_MAX);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_I(t.shape[0], 1);
    check_footprint(t, 20, 29);
}

TEST(a_tile_whose_end_cannot_be_counted_is_none)
{
    struct tg_tensor t = MAKE(TG_INT32, 10, 10);
    CHECK(is_none(tg_tensor_tile(t, 1, INT64_MAX, 0, 1)));
    CHECK(is_none(tg_tensor_tile(t, 0, 1, 1, INT64_MAX)));
    CHECK(is_none(tg_tensor_tile(t, 0, -1, 0, 1)));
}

TEST(contiguity_of_what_cannot_be_counted_is_no)
{
    struct tg_tensor t = MAKE(TG_INT8, 2, 2, 2);
    t.shape[0] = t.shape[1] = t.shape[2] = INT64_MAX;
    CHECK(!tg_tensor_contiguous(&t));
    t.shape[0] = 0;
    CHECK(tg_tensor_contiguous(&t));
}

TEST(a_count_that_overflows_is_refused)
{
    struct tg_tensor t = MAKE(TG_INT8, 4, 4);
    t.shape[0] = t.shape[1] = (int64_t)1 << 40;
    CHECK_EQ_I(tg_tensor_numel(&t), -1);
    CHECK(!tg_tensor_valid(&t));
}

TEST(a_negative_dimension_is_refused)
{
    struct tg_tensor t = MAKE(TG_INT8, 4, 4);
    t.shape[1] = -4;
    CHECK_EQ_I(tg_tensor_numel(&t), -1);
    CHECK(!tg_tensor_valid(&t));
}

TEST(nibbles_take_half_a_byte_and_an_odd_one_takes_a_whole)
{
    struct tg_tensor t = MAKE(TG_INT4, 3, 5);
    CHECK_EQ_U(t.storage_bytes, 8);
    CHECK(tg_tensor_valid(&t));
    CHECK_EQ_U(tg_bytes_of(TG_FLOAT4_E2M1FN, 0), 0);
    CHECK_EQ_U(tg_bytes_of(TG_FLOAT4_E2M1FN, 1), 1);
    CHECK_EQ_U(tg_bytes_of(TG_FLOAT4_E2M1FN, 2), 1);
}

TEST(a_view_of_nibbles_may_start_in_the_middle_of_a_byte)
{
    struct tg_tensor t = tg_tensor_slice(MAKE(TG_INT4, 3, 5), 0, 1, 3, 1);
    CHECK_EQ_I(t.start, 5);
    CHECK(tg_tensor_valid(&t));
    check_footprint(t, 5, 14);
    t.start = 6; /* the padding nibble belongs to the storage */
    CHECK(tg_tensor_valid(&t));
    t.start = 7;
    CHECK(!tg_tensor_valid(&t));
}

TEST(bits_are_those_of_the_table)
{
#define CHECK_BITS(constant, number, bits, name, kind) CHECK_EQ_U(tg_bits_of(TG_##constant), bits);
    TG_DTYPE_MAP(CHECK_BITS)
#undef CHECK_BITS
    CHECK_EQ_U(tg_bits_of(TG_DTYPE_NONE), 0);
    CHECK_EQ_U(tg_bits_of(TG_DTYPE_END), 0);
    CHECK_EQ_U(tg_bits_of(UINT32_MAX), 0);
}

TEST_MAIN()
