/* SPDX-License-Identifier: Apache-2.0 */
/* Which task wrote which byte last, checked against an array of bytes; and the bytes that a view
 * touches. */
#define _GNU_SOURCE 1
#include "test.h"

#include "analysis/deps_memory.h"

#include <stdlib.h>
#include <taskglass/tensor.h>

enum { SIZE = 512 };

static uint32_t state = 3;
static uint32_t next(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

struct reading {
    uint32_t writer[SIZE];
    uint64_t at; /* position at which the next range must begin */
};

static bool take(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    struct reading *reading = context;
    CHECK_EQ_U(lo, reading->at);
    CHECK(lo < hi && hi <= SIZE);
    for (uint64_t i = lo; i < hi && i < SIZE; i++)
        reading->writer[i] = writer;
    reading->at = hi;
    return true;
}

TEST(random_writes_are_read_back_as_an_array_has_them)
{
    struct tg_memory memory;
    uint32_t want[SIZE];
    tg_memory_init(&memory);
    memset(want, 0xff, sizeof want);
    for (uint32_t round = 0; round < 20000; round++) {
        uint64_t lo = next(SIZE), hi = lo + next(SIZE - (uint32_t)lo) % (next(4) ? 16 : SIZE) + 1;
        REQUIRE(tg_memory_write(&memory, lo, hi, round));
        for (uint64_t i = lo; i < hi; i++)
            want[i] = round;
        if (round % 16)
            continue;
        struct reading reading = {.at = 0};
        CHECK(tg_memory_read(&memory, 0, SIZE, take, &reading));
        CHECK_EQ_U(reading.at, SIZE);
        if (!CHECK_EQ_MEM(reading.writer, want, sizeof want))
            break;
    }
    CHECK(memory.count < 2 * SIZE); /* entries that were overwritten are reused */
    tg_memory_free(&memory);
}

static bool stop(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    (void)lo, (void)hi;
    ++*(int *)context;
    return writer == TG_NO_WRITER;
}

TEST(reading_stops_on_request)
{
    struct tg_memory memory;
    int calls = 0;
    tg_memory_init(&memory);
    CHECK(tg_memory_read(&memory, 5, 9, stop, &calls) && calls == 1);
    tg_memory_write(&memory, 6, 7, 1);
    CHECK(!tg_memory_read(&memory, 5, 9, stop, &calls) && calls == 3);
    CHECK(tg_memory_write(&memory, 9, 9, 1)); /* an empty range */
    tg_memory_free(&memory);
}

/* --- views ------------------------------------------------------------------------------------ */

enum { BASE = 0x1000, SPACE = 4096 };

struct touched {
    unsigned char byte[SPACE];
    int runs;
};

static bool touch(void *context, uint64_t lo, uint64_t hi)
{
    struct touched *touched = context;
    touched->runs++;
    for (uint64_t at = lo; at < hi; at++)
        if (CHECK(at >= BASE && at - BASE < SPACE))
            touched->byte[at - BASE] = 1;
    return true;
}

static struct tg_record view(unsigned dtype, int64_t start, int ndim, const int64_t *shape,
                             const int64_t *strides)
{
    struct tg_record record = {.kind = TG_KIND_TENSOR,
                               .dtype = (uint8_t)dtype,
                               .ndim = (uint8_t)ndim,
                               .data_ptr = BASE,
                               .start = start};
    int64_t elements = 1;
    for (int i = 0; i < ndim; i++) {
        record.shape[i] = shape[i];
        record.strides[i] = strides[i];
        elements *= shape[i];
    }
    record.bytes = tg_bytes_of(dtype, elements);
    return record;
}

/* Touches one element after the other. */
static void touch_plainly(const struct tg_record *record, struct touched *touched)
{
    int64_t elements = 1, bits = tg_bits_of(record->dtype);
    for (int i = 0; i < record->ndim; i++)
        elements *= record->shape[i];
    for (int64_t k = 0; k < elements; k++) {
        int64_t rest = k, at = record->start;
        for (int i = record->ndim; i-- > 0;) {
            at += rest % record->shape[i] * record->strides[i];
            rest /= record->shape[i];
        }
        for (int64_t bit = at * bits; bit < (at + 1) * bits; bit++)
            touched->byte[bit / 8] = 1;
    }
}

TEST(random_views_touch_the_bytes_of_their_elements)
{
    static const unsigned dtypes[] = {TG_FLOAT32, TG_INT8, TG_INT4, TG_FLOAT64};
    for (int round = 0; round < 3000; round++) {
        static struct touched got, want;
        int64_t shape[3], strides[3], low = 0;
        int ndim = (int)next(4);
        for (int i = 0; i < ndim; i++) {
            shape[i] = 1 + next(5);
            strides[i] = (int64_t)next(30) - 8;
            low += strides[i] < 0 ? (shape[i] - 1) * strides[i] : 0;
        }
        struct tg_record record = view(dtypes[next(4)], -low + next(20), ndim, shape, strides);
        memset(&got, 0, sizeof got);
        memset(&want, 0, sizeof want);
        CHECK(tg_view_runs(&record, touch, &got));
        touch_plainly(&record, &want);
        if (!CHECK_EQ_MEM(got.byte, want.byte, sizeof want.byte))
            break;
    }
}

TEST(a_whole_tensor_is_one_run_whatever_its_shape)
{
    static struct touched touched;
    struct tg_record record = view(TG_FLOAT32, 0, 3, (int64_t[]){4, 3, 2}, (int64_t[]){6, 2, 1});
    tg_view_runs(&record, touch, &touched);
    CHECK_EQ_I(touched.runs, 1);
}

TEST(what_has_no_address_has_no_runs)
{
    static struct touched touched;
    struct tg_record record = view(TG_INT8, 0, 1, (int64_t[]){20}, (int64_t[]){1});
    record.data_ptr = 0;
    CHECK(tg_view_runs(&record, touch, &touched));
    CHECK_EQ_I(touched.runs, 0);
}

static bool count_runs(void *context, uint64_t lo, uint64_t hi)
{
    (void)lo, (void)hi;
    ++*(int *)context;
    return true;
}

TEST(runs_are_limited_and_what_leaves_64_bits_has_none)
{
    int runs = 0;
    struct tg_record many =
        view(TG_INT8, 0, 3, (int64_t[]){20, 20, 20}, (int64_t[]){2, 100, 10000});
    tg_view_runs(&many, count_runs, &runs);
    CHECK_EQ_I(runs, 1);
    struct tg_record far =
        view(TG_FLOAT64, INT64_MAX, 2, (int64_t[]){2, 2}, (int64_t[]){INT64_MIN, INT64_MAX});
    runs = 0;
    tg_view_runs(&far, count_runs, &runs);
    CHECK_EQ_I(runs, 0);
    far = view(TG_FLOAT64, INT64_MIN, 1, (int64_t[]){2}, (int64_t[]){1});
    tg_view_runs(&far, count_runs, &runs);
    CHECK_EQ_I(runs, 0);
}

TEST(a_tensor_without_elements_has_no_runs_whatever_its_other_dimensions)
{
    int runs = 0;
    struct tg_record record =
        view(TG_INT8, 0, 3, (int64_t[]){0, INT64_MAX, INT64_MAX}, (int64_t[]){0, INT64_MAX, 1});
    record.bytes = 8; /* a file may say so */
    CHECK(tg_view_runs(&record, count_runs, &runs));
    CHECK_EQ_I(runs, 0);
    record.shape[0] = 2;
    CHECK(tg_view_runs(&record, count_runs, &runs));
    CHECK_EQ_I(tg_view_key(&record), tg_view_key(&record));
}

TEST(a_key_is_that_of_the_bytes_in_their_order)
{
    struct tg_record flat = view(TG_FLOAT32, 4, 1, (int64_t[]){6}, (int64_t[]){1});
    struct tg_record square = view(TG_INT32, 4, 3, (int64_t[]){2, 1, 3}, (int64_t[]){3, 99, 1});
    struct tg_record turned = view(TG_FLOAT32, 4, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3});
    struct tg_record other = view(TG_FLOAT32, 5, 1, (int64_t[]){6}, (int64_t[]){1});
    CHECK(tg_view_key(&flat) != 0);
    CHECK_EQ_U(tg_view_key(&flat), tg_view_key(&square));
    CHECK(tg_view_key(&flat) != tg_view_key(&turned));
    CHECK(tg_view_key(&flat) != tg_view_key(&other));
    flat.data_ptr = 0;
    CHECK_EQ_U(tg_view_key(&flat), 0);
}

TEST_MAIN()
