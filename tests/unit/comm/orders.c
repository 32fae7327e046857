/* SPDX-License-Identifier: Apache-2.0 */
/* Devices post calls in any order, each rank in its own; many are under way at once. */
#include "unit/comm/job.h"

enum { CALLS = 120, RANKS = 5, ELEMENTS = 700 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % limit;
}

/* What call `i` of all ranks is; sends go from rank i % RANKS to another one. */
struct plan {
    uint32_t kind, from, to;
    int32_t tag;
    uint64_t number;
    int64_t n;
};

static float in[RANKS][CALLS][ELEMENTS * RANKS], out[RANKS][CALLS][ELEMENTS * RANKS];

static float value(uint32_t rank, uint32_t call, int64_t i)
{
    return (float)((rank * 31 + call * 7 + (uint32_t)i * 3) % 101);
}

static void make_plans(struct plan *plans)
{
    uint64_t collectives = 0, numbers[RANKS][RANKS][2] = {{{0}}};
    for (uint32_t i = 0; i < CALLS; i++) {
        struct plan *p = &plans[i];
        *p = (struct plan){.kind = below(TG_COMM_KINDS), .from = below(RANKS), .to = below(RANKS)};
        p->n = 1 + below(ELEMENTS);
        p->tag = (int32_t)below(2);
        if (p->kind <= TG_COMM_RECV) {
            p->kind = TG_COMM_SEND;
            p->number = numbers[p->from][p->to][p->tag]++;
        } else {
            p->number = collectives++;
        }
    }
}

static void post_one(struct job *job, const struct plan *p, uint32_t i, uint32_t rank,
                     uint32_t kind)
{
    const int32_t peer = kind == TG_COMM_SEND        ? (int32_t)p->to
                         : kind == TG_COMM_RECV      ? (int32_t)p->from
                         : kind == TG_COMM_BROADCAST ? (int32_t)p->from
                                                     : -1;
    struct tg_comm_call call = job_call(kind, peer, p->tag, TG_SUM, p->number, "orders.c:1");
    const bool wide_in = kind == TG_COMM_REDUCE_SCATTER || kind == TG_COMM_ALL_TO_ALL;
    const bool wide_out = kind == TG_COMM_ALL_GATHER || kind == TG_COMM_ALL_TO_ALL;
    const bool root = kind == TG_COMM_BROADCAST && rank == p->from;
    if (kind != TG_COMM_RECV && (kind != TG_COMM_BROADCAST || root))
        job_add_tensor(&call, TG_IN,
                       job_vector(in[rank][i], TG_FLOAT32, wide_in ? p->n * RANKS : p->n));
    if (kind != TG_COMM_SEND && !root)
        job_add_tensor(&call, TG_OUT,
                       job_vector(out[rank][i], TG_FLOAT32, wide_out ? p->n * RANKS : p->n));
    job_post(job, rank, call);
}

static void post_shuffled(struct job *job, const struct plan *plans, uint32_t rank)
{
    struct {
        uint32_t call, kind;
    } todo[2 * CALLS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct plan *p = &plans[i];
        if (p->kind != TG_COMM_SEND) {
            todo[count].call = i;
            todo[count++].kind = p->kind;
            continue;
        }
        if (p->from == rank) {
            todo[count].call = i;
            todo[count++].kind = TG_COMM_SEND;
        }
        if (p->to == rank) {
            todo[count].call = i;
            todo[count++].kind = TG_COMM_RECV;
        }
    }
    for (; count > 0; count--) {
        const uint32_t next = below(count);
        post_one(job, &plans[todo[next].call], todo[next].call, rank, todo[next].kind);
        todo[next] = todo[count - 1];
    }
}

static float sum_of(uint32_t call, int64_t i)
{
    float sum = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        sum += value(r, call, i);
    return sum;
}

static float expected(const struct plan *p, uint32_t call, uint32_t rank, int64_t i)
{
    switch (p->kind) {
    case TG_COMM_SEND:
    case TG_COMM_BROADCAST:
        return value(p->from, call, i);
    case TG_COMM_ALL_REDUCE:
        return sum_of(call, i);
    case TG_COMM_REDUCE_SCATTER:
        return sum_of(call, rank * p->n + i);
    case TG_COMM_ALL_GATHER:
        return value((uint32_t)(i / p->n), call, i % p->n);
    default:
        return value((uint32_t)(i / p->n), call, rank * p->n + i % p->n);
    }
}

static bool check_call(const struct plan *p, uint32_t call, uint32_t rank)
{
    const bool wide = p->kind == TG_COMM_ALL_GATHER || p->kind == TG_COMM_ALL_TO_ALL;
    if ((p->kind == TG_COMM_SEND && p->to != rank) ||
        (p->kind == TG_COMM_BROADCAST && p->from == rank))
        return true;
    for (int64_t i = 0; i < (wide ? p->n * RANKS : p->n); i++)
        if (!CHECK_NEAR(out[rank][call][i], expected(p, call, rank, i), 0))
            return false;
    return true;
}

TEST(calls_in_any_order_on_each_rank)
{
    static struct plan plans[CALLS];
    for (int round = 0; round < 8; round++) {
        seed = 100 + (uint64_t)round;
        struct job *job = job_open(RANKS, round % 2 ? ~0u : 0x0bu);
        make_plans(plans);
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint32_t c = 0; c < CALLS; c++)
                for (int64_t i = 0; i < ELEMENTS * RANKS; i++)
                    in[r][c][i] = value(r, c, i);
        job_begin(job);
        for (uint32_t r = 0; r < RANKS; r++)
            post_shuffled(job, plans, r);
        if (CHECK(job_wait(job)))
            for (uint32_t r = 0; r < RANKS; r++)
                for (uint32_t c = 0; c < CALLS; c++)
                    if (!check_call(&plans[c], c, r))
                        break;
        job_end_well(job);
        job_close(job);
    }
}

/* Sums of floats whose order matters: all ranks must still have the same bits, and so must a second run. */
TEST(all_ranks_and_runs_have_the_same_bits)
{
    static float first[200000];
    static float values[RANKS][200000];
    static const int64_t sizes[] = {3, 1000, 4096, 4097, 200000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int run = 0; run < 3; run++) {
            struct job *job = job_open(RANKS, run == 1 ? 0 : ~0u);
            job_begin(job);
            for (uint32_t r = 0; r < RANKS; r++) {
                struct tg_comm_call call =
                    job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "orders.c:2");
                for (int64_t i = 0; i < sizes[s]; i++)
                    values[r][i] = 1.0f / (float)(1 + (i * 7919 + r * 104729) % 1000003) *
                                   (i % 3 ? 1e6f : 1e-6f) * (i % 1000 == 999 ? NAN : 1);
                job_add_tensor(&call, TG_INOUT, job_vector(values[r], TG_FLOAT32, sizes[s]));
                job_post(job, r, call);
            }
            CHECK(job_wait(job));
            if (run == 0)
                memcpy(first, values[0], sizeof first);
            for (uint32_t r = 0; r < RANKS; r++)
                CHECK_EQ_MEM(values[r], first, (size_t)sizes[s] * sizeof(float));
            job_end_well(job);
            job_close(job);
        }
}

/* More bytes than the sockets and the receiver's credit hold, before anyone receives. */
TEST(many_sends_before_their_receives)
{
    enum { SENDS = 2000, SIZE = 3000 };
    static unsigned char from[SENDS][SIZE], to[SENDS][SIZE];
    struct job *job = job_open(2, ~0u);
    job_begin(job);
    for (uint32_t i = 0; i < SENDS; i++) {
        struct tg_comm_call call = job_call(TG_COMM_SEND, 1, 0, -1, i, "orders.c:3");
        memset(from[i], (int)(i % 251), SIZE);
        job_add_tensor(&call, TG_IN, job_vector(from[i], TG_UINT8, SIZE));
        job_post(job, 0, call);
    }
    for (uint32_t i = SENDS; i-- > 0;) {
        struct tg_comm_call call = job_call(TG_COMM_RECV, 0, 0, -1, i, "orders.c:4");
        job_add_tensor(&call, TG_OUT, job_vector(to[i], TG_UINT8, SIZE));
        job_post(job, 1, call);
    }
    CHECK(job_wait(job));
    CHECK(memcmp(from, to, sizeof from) == 0);
    job_end_well(job);
    job_close(job);
}

TEST_MAIN()
