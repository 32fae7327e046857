/* SPDX-License-Identifier: Apache-2.0 */
/* Views in memory that can only be copied: what is copied, and how often. */
#include "unit/comm/job.h"

enum { DIMS = 3, VIEWS = 200, BACKGROUND = 0xa5 };

/* --- a port that counts --------------------------------------------------------------------- */

/* Written by the progress thread; read when its calls are done. */
struct counts {
    struct job_device *device;
    uint64_t in, in_bytes, out, out_bytes;
    uint64_t at_first, at_last; /* progress of the rank, as any thread sees it */
};

static tg_status count_in(void *context, uint64_t address, const void *bytes, uint64_t size,
                          struct tg_error *error)
{
    struct counts *c = context;
    c->at_last = tg_comm_progress(c->device->job->comm[c->device->rank]);
    c->at_first = c->in == 0 ? c->at_last : c->at_first;
    c->in++;
    c->in_bytes += size;
    return job_copy_in(c->device, address, bytes, size, error);
}

static tg_status count_out(void *context, void *bytes, uint64_t address, uint64_t size,
                           struct tg_error *error)
{
    struct counts *c = context;
    c->out++;
    c->out_bytes += size;
    return job_copy_out(c->device, bytes, address, size, error);
}

static bool count_take(void *context, struct tg_comm_call *call)
{
    return job_take(((struct counts *)context)->device, call);
}

static tg_status count_done(void *context, uint32_t slot, struct tg_error *error)
{
    return job_done(((struct counts *)context)->device, slot, error);
}

static void count_failed(void *context, const struct tg_error *error)
{
    job_failed(((struct counts *)context)->device, error);
}

static void begin_counted(struct job *job, struct counts *counts)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct job_device *d = &job->device[r];
        struct tg_error error = {TG_OK, ""};
        const struct tg_comm_port port = {.context = &counts[r],
                                          .fd = d->fd,
                                          .take = count_take,
                                          .copy_in = count_in,
                                          .copy_out = count_out,
                                          .done = count_done,
                                          .failed = count_failed};
        counts[r] = (struct counts){.device = d};
        d->end_text = "";
        CHECK_EQ_I(tg_comm_begin(job->comm[r], &port, NULL, &error), TG_OK);
    }
}

/* --- views ---------------------------------------------------------------------------------- */

struct view {
    struct tg_tensor tensor;
    unsigned char *storage;
    int64_t n;
};

/* `strides` in elements; the storage is as large as they need, and begins before the view. */
static struct view make_view(unsigned dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    struct view v = {.n = 1};
    int64_t low = 3, high = 3, all;
    for (int i = 0; i < ndim; i++) {
        v.n *= shape[i];
        low += strides[i] < 0 ? (shape[i] - 1) * -strides[i] : 0;
        high += strides[i] > 0 ? (shape[i] - 1) * strides[i] : 0;
    }
    all = low + high + 5;
    v.storage = malloc(tg_bytes_of(dtype, all));
    memset(v.storage, BACKGROUND, tg_bytes_of(dtype, all));
    v.tensor = tg_tensor_make((uint64_t)(uintptr_t)v.storage, dtype, 1, &all);
    v.tensor.start = low;
    v.tensor.ndim = (uint8_t)ndim;
    for (int i = 0; i < ndim; i++) {
        v.tensor.shape[i] = shape[i];
        v.tensor.strides[i] = strides[i];
    }
    return v;
}

static int64_t place(const struct view *v, int64_t element)
{
    int64_t at = v->tensor.start;
    for (int i = v->tensor.ndim - 1; i >= 0; i--) {
        at += element % v->tensor.shape[i] * v->tensor.strides[i];
        element /= v->tensor.shape[i];
    }
    return at;
}

static uint64_t value_of(unsigned dtype, int64_t element, uint64_t seed)
{
    uint64_t bits = ((uint64_t)element + 1) * (2 * seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return tg_bits_of(dtype) < 64 ? bits >> 20 & ((UINT64_C(1) << tg_bits_of(dtype)) - 1) : bits;
}

static void fill(struct view *v, uint64_t seed)
{
    for (int64_t i = 0; i < v->n; i++)
        tg_store_bits(v->tensor.dtype, v->storage, place(v, i), value_of(v->tensor.dtype, i, seed));
}

/* The values are in the view, and what lies between them is as it was. */
static bool has(const struct view *v, uint64_t seed)
{
    unsigned char *expected = malloc(v->tensor.storage_bytes);
    struct view want = *v;
    want.storage = expected;
    memset(expected, BACKGROUND, v->tensor.storage_bytes);
    fill(&want, seed);
    const bool good = memcmp(expected, v->storage, v->tensor.storage_bytes) == 0;
    free(expected);
    return good;
}

/* Rank 0 sends one view, which rank 1 receives into the other. */
static void pass(struct job *job, uint64_t number, const struct view *from, const struct view *to)
{
    for (uint32_t r = 0; r < 2; r++) {
        struct tg_comm_call call =
            job_call(r == 0 ? TG_COMM_SEND : TG_COMM_RECV, r == 0, 0, -1, number, "views.c:1");
        job_add_tensor(&call, r == 0 ? TG_IN : TG_OUT, r == 0 ? from->tensor : to->tensor);
        job_post(job, r, call);
    }
    CHECK(job_wait(job));
}

static void pass_alone(struct counts *counts, struct view *from, struct view *to)
{
    struct job *job = job_open(2, 0);
    begin_counted(job, counts);
    fill(from, 7);
    pass(job, 0, from, to);
    CHECK(has(from, 7));
    CHECK(has(to, 7));
    job_end_well(job);
    job_close(job);
    free(from->storage);
    free(to->storage);
}

TEST(a_transposed_matrix_is_copied_once)
{
    enum { N = 1500 };
    const int64_t shape[2] = {N, N}, columns[2] = {1, N};
    struct view from = make_view(TG_FLOAT32, 2, shape, columns);
    struct view to = make_view(TG_FLOAT32, 2, shape, columns);
    struct counts counts[2];
    pass_alone(counts, &from, &to);
    CHECK(counts[0].out <= 4);
    CHECK_EQ_U(counts[0].out_bytes, N * N * 4);
    CHECK(counts[1].in <= 4);
    CHECK_EQ_U(counts[1].in_bytes, N * N * 4);
}

TEST(a_part_of_a_transposed_matrix_is_written_row_by_row)
{
    enum { ROWS = 300, COLUMNS = 200, WIDTH = 256 };
    const int64_t shape[2] = {COLUMNS, ROWS}, columns[2] = {1, WIDTH};
    struct view from = make_view(TG_FLOAT32, 2, shape, columns);
    struct view to = make_view(TG_FLOAT32, 2, shape, columns);
    struct counts counts[2];
    pass_alone(counts, &from, &to);
    CHECK_EQ_U(counts[0].out, 1);
    CHECK(counts[0].out_bytes <= ROWS * WIDTH * 4);
    CHECK_EQ_U(counts[1].in, ROWS);
    CHECK_EQ_U(counts[1].in_bytes, ROWS * COLUMNS * 4);
    CHECK_EQ_U(counts[1].out, 0);
}

TEST(elements_that_lie_far_apart_are_read_one_by_one)
{
    const int64_t shape[2] = {40, 3}, strides[2] = {100000, 1};
    struct view from = make_view(TG_FLOAT32, 2, shape, strides);
    struct view to = make_view(TG_FLOAT32, 2, shape, strides);
    struct counts counts[2];
    pass_alone(counts, &from, &to);
    CHECK_EQ_U(counts[0].out, 40);
    CHECK_EQ_U(counts[0].out_bytes, 40 * 3 * 4);
}

TEST(a_view_that_needs_many_copies_shows_progress)
{
    const int64_t shape[1] = {2000}, strides[1] = {2};
    struct view from = make_view(TG_FLOAT32, 1, shape, strides);
    struct view to = make_view(TG_FLOAT32, 1, shape, strides);
    struct counts counts[2];
    pass_alone(counts, &from, &to);
    CHECK_EQ_U(counts[1].in, 2000);
    CHECK(counts[1].at_last > counts[1].at_first);
}

/* --- any view ------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A shape, laid out with its dimensions in any order, some of them backwards, and with gaps. */
static struct view random_view(unsigned dtype, const int64_t *shape, uint64_t *random)
{
    int64_t strides[DIMS], step = 1;
    int order[DIMS] = {0, 1, 2};
    for (int i = DIMS - 1; i > 0; i--) {
        const int k = (int)(next_random(random) % (uint64_t)(i + 1)), was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
    for (int i = 0; i < DIMS; i++) {
        if (next_random(random) % 3 == 0)
            step += (int64_t)(next_random(random) % 5);
        strides[order[i]] = next_random(random) % 4 == 0 ? -step : step;
        step *= shape[order[i]];
    }
    return make_view(dtype, DIMS, shape, strides);
}

TEST(every_view_arrives_in_every_other)
{
    static const unsigned dtypes[] = {TG_FLOAT4_E2M1FN, TG_INT8, TG_INT16, TG_FLOAT32, TG_INT64};
    struct job *job = job_open(2, 0);
    struct counts counts[2];
    uint64_t random = 1;
    begin_counted(job, counts);
    for (uint64_t i = 0; i < VIEWS; i++) {
        const unsigned dtype = dtypes[i % 5];
        int64_t shape[DIMS];
        for (int k = 0; k < DIMS; k++)
            shape[k] = 1 + (int64_t)(next_random(&random) % (i % 20 == 3 ? 60 : 12));
        struct view from = random_view(dtype, shape, &random);
        struct view to = random_view(dtype, shape, &random);
        fill(&from, i);
        pass(job, i, &from, &to);
        CHECK(has(&from, i));
        CHECK(has(&to, i));
        free(from.storage);
        free(to.storage);
    }
    job_end_well(job);
    job_close(job);
}

/* Large enough for the ring, whose segments are loaded and stored while others are combined. */
TEST(a_transposed_matrix_is_reduced_in_place)
{
    enum { N = 500 };
    const int64_t shape[2] = {N, N}, columns[2] = {1, N};
    struct job *job = job_open(3, 0);
    struct counts counts[3];
    struct view views[3];
    begin_counted(job, counts);
    for (uint32_t r = 0; r < 3; r++) {
        views[r] = make_view(TG_INT32, 2, shape, columns);
        struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "views.c:2");
        for (int64_t i = 0; i < views[r].n; i++)
            tg_store_bits(TG_INT32, views[r].storage, place(&views[r], i), (uint64_t)(i + r));
        job_add_tensor(&call, TG_INOUT, views[r].tensor);
        job_post(job, r, call);
    }
    CHECK(job_wait(job));
    for (uint32_t r = 0; r < 3; r++) {
        int64_t wrong = 0;
        for (int64_t i = 0; i < views[r].n; i++)
            wrong += tg_load_bits(TG_INT32, views[r].storage, place(&views[r], i)) !=
                     (uint64_t)(3 * i + 3);
        CHECK_EQ_I(wrong, 0);
        CHECK_EQ_U(counts[r].in, 1);
        free(views[r].storage);
    }
    job_end_well(job);
    job_close(job);
}

TEST_MAIN()
