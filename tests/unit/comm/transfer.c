/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of call gives what a serial program gives: all types, numbers of ranks, sizes and views, in
 * memory that can be mapped and in memory that cannot. */
#include "unit/comm/job.h"

#include "comm/plan.h"
#include "comm/reduce.h"

enum { MOST = JOB_MAX_RANKS };

/* A tensor on a rank, with its packed values. The storage is larger than the view, and filled with a byte
 * that must stay wherever the view does not lie. */
struct part {
    struct tg_tensor view;
    unsigned char *storage, *packed;
    int64_t n;
};

enum shape { WHOLE, GAPS, COLUMN, BACKWARDS };

static struct part make_part(unsigned dtype, int64_t n, enum shape shape)
{
    struct part part = {.n = n};
    const int64_t stride = shape == GAPS ? 3 : shape == COLUMN ? 5 : 1;
    const int64_t elements = n * stride + 16;
    const uint64_t bytes = tg_bytes_of(dtype, elements);
    part.storage = malloc(bytes);
    part.packed = calloc(1, tg_bytes_of(dtype, n) + 1);
    memset(part.storage, 0xa5, bytes);
    int64_t all = elements;
    struct tg_tensor t = tg_tensor_make((uint64_t)(uintptr_t)part.storage, dtype, 1, &all);
    part.view = t;
    part.view.start = 4;
    part.view.shape[0] = n;
    if (shape == GAPS && n % 2 == 0) { /* rows of two with a gap */
        part.view.ndim = 2;
        part.view.shape[0] = n / 2;
        part.view.shape[1] = 2;
        part.view.strides[0] = 6;
        part.view.strides[1] = 1;
    } else if (shape == BACKWARDS) {
        part.view.start = n + 3;
        part.view.strides[0] = -1;
    } else {
        part.view.strides[0] = stride;
    }
    return part;
}

static void free_part(struct part *part)
{
    free(part->storage);
    free(part->packed);
}

static int64_t place(const struct part *part, int64_t i)
{
    const struct tg_tensor *t = &part->view;
    return t->ndim == 2 ? t->start + i / 2 * t->strides[0] + i % 2 : t->start + i * t->strides[0];
}

static void set(struct part *part, int64_t i, double value)
{
    tg_store(part->view.dtype, part->packed, i, value);
    tg_store(part->view.dtype, part->storage, place(part, i), value);
}

/* Small values, so that sums and products of all ranks are exact in all types. */
static void fill(struct part *part, uint32_t rank, uint32_t operation)
{
    for (int64_t i = 0; i < part->n; i++) {
        const int64_t mixed = i * 7 + i / 5 + rank * 3;
        set(part, i, operation == TG_PRODUCT ? 1 + (mixed % 5 == 0) : (double)(mixed % 3));
    }
}

/* The whole storage is as it was, with `packed` in the view. */
static bool check_part(const struct part *part, const unsigned char *packed, const char *what)
{
    const uint64_t bytes = part->view.storage_bytes;
    unsigned char *expected = malloc(bytes);
    memset(expected, 0xa5, bytes);
    for (int64_t i = 0; i < part->n; i++)
        tg_store_bits(part->view.dtype, expected, place(part, i),
                      tg_load_bits(part->view.dtype, packed, i));
    bool good = true;
    for (uint64_t i = 0; memcmp(part->storage, expected, bytes) != 0 && good && i < bytes; i++)
        if (part->storage[i] != expected[i])
            good = TEST_FAIL_("%s: byte %llu of %llu is 0x%02x, expected 0x%02x\n", what,
                              (unsigned long long)i, (unsigned long long)bytes, part->storage[i],
                              expected[i]);
    free(expected);
    return good;
}

struct trial {
    struct job *job;
    uint32_t kind, dtype, operation, root;
    int64_t n;
    enum shape shape;
    bool in_place; /* all_reduce and broadcast: one inout tensor */
    uint64_t number;
    struct part in[MOST], out[MOST];
    char name[160];
};

static int64_t in_elements(const struct trial *t)
{
    return t->kind == TG_COMM_REDUCE_SCATTER || t->kind == TG_COMM_ALL_TO_ALL ? t->n * t->job->ranks
                                                                              : t->n;
}

static int64_t out_elements(const struct trial *t)
{
    return t->kind == TG_COMM_ALL_GATHER || t->kind == TG_COMM_ALL_TO_ALL ? t->n * t->job->ranks
                                                                          : t->n;
}

static bool is_inout(const struct trial *t)
{
    return t->kind == TG_COMM_BROADCAST || (t->in_place && t->kind == TG_COMM_ALL_REDUCE);
}

static void post_trial(struct trial *t)
{
    for (uint32_t r = 0; r < t->job->ranks; r++) {
        struct tg_comm_call call =
            job_call(t->kind, t->kind == TG_COMM_BROADCAST ? (int32_t)t->root : -1, -1,
                     (int32_t)t->operation, t->number, "trial.c:1");
        t->in[r] = make_part(t->dtype, in_elements(t), t->shape);
        t->out[r] = make_part(t->dtype, out_elements(t), t->shape == GAPS ? WHOLE : t->shape);
        fill(&t->in[r], r, t->operation);
        job_add_tensor(&call, is_inout(t) ? TG_INOUT : TG_IN, t->in[r].view);
        if (!is_inout(t))
            job_add_tensor(&call, TG_OUT, t->out[r].view);
        job_post(t->job, r, call);
    }
}

static void copy_elements(uint32_t dtype, unsigned char *to, int64_t at, const unsigned char *from,
                          int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        tg_store_bits(dtype, to, at + i, tg_load_bits(dtype, from, first + i));
}

static void expect(const struct trial *t, uint32_t rank, unsigned char *want)
{
    const int64_t n = t->n;
    const uint32_t ranks = t->job->ranks;
    unsigned char *sum = malloc(tg_bytes_of(t->dtype, in_elements(t)) + 1);
    memcpy(sum, t->in[0].packed, tg_bytes_of(t->dtype, in_elements(t)));
    if (t->kind == TG_COMM_ALL_REDUCE || t->kind == TG_COMM_REDUCE_SCATTER)
        for (uint32_t r = 1; r < ranks; r++)
            tg_comm_reduce(t->dtype, t->operation, sum, sum, t->in[r].packed, in_elements(t));
    for (uint32_t r = 0; r < ranks; r++) {
        if (t->kind == TG_COMM_ALL_GATHER)
            copy_elements(t->dtype, want, r * n, t->in[r].packed, 0, n);
        else if (t->kind == TG_COMM_ALL_TO_ALL)
            copy_elements(t->dtype, want, r * n, t->in[r].packed, rank * n, n);
    }
    if (t->kind == TG_COMM_BROADCAST)
        copy_elements(t->dtype, want, 0, t->in[t->root].packed, 0, n);
    else if (t->kind == TG_COMM_ALL_REDUCE)
        copy_elements(t->dtype, want, 0, sum, 0, n);
    else if (t->kind == TG_COMM_REDUCE_SCATTER)
        copy_elements(t->dtype, want, 0, sum, rank * n, n);
    free(sum);
}

static void check_trial(struct trial *t)
{
    snprintf(t->name, sizeof t->name, "%s of %lld %u(%u) on %u ranks, view %d",
             tg_comm_kind_name(t->kind), (long long)t->n, t->dtype, t->operation, t->job->ranks,
             (int)t->shape);
    for (uint32_t r = 0; r < t->job->ranks; r++) {
        unsigned char *want = calloc(1, tg_bytes_of(t->dtype, out_elements(t)) + 1);
        expect(t, r, want);
        check_part(is_inout(t) ? &t->in[r] : &t->out[r], want, t->name);
        if (!is_inout(t))
            check_part(&t->in[r], t->in[r].packed, t->name);
        free(want);
    }
    for (uint32_t r = 0; r < t->job->ranks; r++) {
        free_part(&t->in[r]);
        free_part(&t->out[r]);
    }
}

/* The short ones have no exact sums of eight. */
static bool is_exact(uint32_t dtype, uint32_t operation)
{
    return (dtype != TG_FLOAT4_E2M1FN && dtype != TG_FLOAT8_E8M0FNU) || operation >= TG_MIN;
}

static bool has_odd_nibbles(const struct trial *t)
{
    return tg_bits_of(t->dtype) < 8 && t->n % 2 != 0 && t->kind >= TG_COMM_REDUCE_SCATTER &&
           t->job->ranks > 1;
}

static void try_all_kinds(struct job *job, uint32_t dtype, int64_t n, enum shape shape,
                          uint64_t *number)
{
    static struct trial trials[64];
    int count = 0;
    for (uint32_t kind = TG_COMM_BROADCAST; kind < TG_COMM_KINDS; kind++)
        for (uint32_t operation = 0; operation < TG_REDUCTIONS; operation++) {
            const bool reduces = kind == TG_COMM_ALL_REDUCE || kind == TG_COMM_REDUCE_SCATTER;
            struct trial t = {.job = job,
                              .kind = kind,
                              .dtype = dtype,
                              .operation = operation,
                              .root = (uint32_t)n % job->ranks,
                              .n = n,
                              .shape = shape,
                              .in_place = operation % 2 == 0,
                              .number = *number};
            if ((!reduces && operation > 0) || !is_exact(dtype, operation) || has_odd_nibbles(&t))
                continue;
            trials[count] = t;
            post_trial(&trials[count++]);
            (*number)++;
        }
    const bool good = job_wait(job);
    CHECK(good);
    for (int i = 0; i < count && good; i++)
        check_trial(&trials[i]);
}

static void try_types(uint32_t ranks, unsigned maps, int64_t n, enum shape shape, uint32_t first,
                      uint32_t step)
{
    struct job *job = job_open(ranks, maps);
    uint64_t number = 0;
    job_begin(job);
    for (uint32_t dtype = first; dtype < TG_DTYPE_END; dtype += step)
        try_all_kinds(job, dtype, n, shape, &number);
    job_end_well(job);
    job_close(job);
}

TEST(every_type_and_kind_of_call_on_few_elements)
{
    static const uint32_t ranks[] = {1, 2, 3, 4, 8};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        try_types(ranks[i], ~0u, 0, WHOLE, 1, 1);
        try_types(ranks[i], ~0u, 1, WHOLE, 1, 1);
        try_types(ranks[i], ~0u, 38, WHOLE, 1, 1);
        try_types(ranks[i], 0, 37, WHOLE, 1, 1);
    }
}

TEST(views_with_gaps_keep_what_lies_between)
{
    static const uint32_t ranks[] = {1, 2, 3};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (unsigned maps = 0; maps < 2; maps++) {
            try_types(ranks[i], maps ? ~0u : 0, 38, GAPS, 1, 1);
            try_types(ranks[i], maps ? ~0u : 0, 21, COLUMN, 1, 1);
            try_types(ranks[i], maps ? ~0u : 0, 40, BACKWARDS, 1, 1);
        }
}

TEST(around_the_sizes_at_which_algorithms_change)
{
    static const int64_t sizes[] = {4095, 4096, 4097, 16383, 16384, 16385};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        try_types(2 + (uint32_t)i % 3, i % 2 ? ~0u : 5u, sizes[i], WHOLE, TG_FLOAT32, 16);
}

TEST(large_tensors_go_in_segments)
{
    enum { SEGMENT = TG_SEGMENT / sizeof(float) };
    try_types(2, ~0u, 2 * SEGMENT + 1, WHOLE, TG_FLOAT32, 32);
    try_types(2, 0, 2 * SEGMENT + 1, WHOLE, TG_FLOAT32, 32);
    try_types(3, 1, 3 * SEGMENT + 7, WHOLE, TG_FLOAT32, 32);
    try_types(3, 2, 60002, GAPS, TG_FLOAT64, 32);
}

/* More reductions than receive at a time. */
TEST(segments_that_wait_for_their_turn_get_it)
{
    enum { N = 2 * (2 * TG_MOST_RECEIVING + 1) * (TG_SEGMENT / 4) };
    for (unsigned maps = 0; maps < 4; maps++) {
        struct job *job = job_open(2, maps);
        float *x = malloc(2 * N * sizeof *x);
        REQUIRE(x != NULL);
        job_begin(job);
        for (int64_t i = 0; i < 2 * N; i++)
            x[i] = (float)(i % N) + (float)(i / N);
        for (uint32_t r = 0; r < 2; r++) {
            struct tg_comm_call call =
                job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "reduce.c:1");
            job_add_tensor(&call, TG_INOUT, job_vector(x + r * N, TG_FLOAT32, N));
            job_post(job, r, call);
        }
        CHECK(job_wait(job));
        for (int64_t i = 0; i < 2 * N; i++)
            REQUIRE(x[i] == 2 * (float)(i % N) + 1);
        job_end_well(job);
        job_close(job);
        free(x);
    }
}

/* --- point to point ------------------------------------------------------------------------- */

static void send_around(uint32_t ranks, unsigned maps, uint32_t dtype, int64_t n, enum shape shape)
{
    struct job *job = job_open(ranks, maps);
    struct part in[MOST][MOST], out[MOST][MOST];
    job_begin(job);
    for (uint32_t a = 0; a < ranks; a++)
        for (uint32_t b = 0; b < ranks; b++) {
            struct tg_comm_call send = job_call(TG_COMM_SEND, (int32_t)b, 5, -1, 0, "s.c:1");
            struct tg_comm_call receive = job_call(TG_COMM_RECV, (int32_t)b, 5, -1, 0, "r.c:1");
            in[a][b] = make_part(dtype, n, shape);
            out[a][b] = make_part(dtype, n, (a + b) % 2 ? shape : WHOLE);
            fill(&in[a][b], a * 8 + b, TG_SUM);
            job_add_tensor(&send, TG_IN, in[a][b].view);
            job_add_tensor(&receive, TG_OUT, out[a][b].view);
            if ((a + b) % 3 == 0)
                job_post(job, a, receive);
            job_post(job, a, send);
            if ((a + b) % 3 != 0)
                job_post(job, a, receive);
        }
    CHECK(job_wait(job));
    for (uint32_t a = 0; a < ranks; a++)
        for (uint32_t b = 0; b < ranks; b++)
            check_part(&out[a][b], in[b][a].packed, "received");
    job_end_well(job);
    for (uint32_t a = 0; a < ranks; a++) {
        CHECK_EQ_U(job->device[a].result.calls[TG_COMM_SEND], ranks);
        CHECK_EQ_U(job->device[a].result.calls[TG_COMM_RECV], ranks);
        for (uint32_t b = 0; b < ranks; b++) {
            free_part(&in[a][b]);
            free_part(&out[a][b]);
        }
    }
    job_close(job);
}

TEST(sends_reach_their_receives_also_on_the_rank_itself)
{
    static const int64_t sizes[] = {0, 1, 37, 16383, 16385, TG_SEGMENT / 4 + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t ranks = 1; ranks <= (i < 3 ? 4 : 2); ranks++) {
            send_around(ranks, ~0u, TG_FLOAT32, sizes[i], WHOLE);
            send_around(ranks, 2, TG_INT8, sizes[i], COLUMN);
        }
    send_around(8, ~0u, TG_INT4, 33, GAPS);
    send_around(2, 0, TG_INT4, 33, BACKWARDS);
}

TEST_MAIN()
