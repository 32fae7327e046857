/* SPDX-License-Identifier: Apache-2.0 */
#include "common/comm_call.h"
#include "test.h"

enum { RANKS = 4, N = 64 };

/* A vector of float32 that begins `from` elements into a buffer of this test's imagination. */
static struct tg_tensor at(int64_t from, int64_t n)
{
    return tg_tensor_make(0x10000 + (uint64_t)from * 4, TG_FLOAT32, 1, &n);
}

static enum tg_comm_fault check(uint32_t kind, int32_t rank, struct tg_tensor in,
                                struct tg_tensor out)
{
    struct tg_comm_asked asked = {kind, TG_COMM_NONE, TG_COMM_NONE, TG_SUM, rank, RANKS};
    struct tg_args args;
    tg_args_init(&args);
    tg_args_in(&args, in);
    tg_args_out(&args, out);
    return tg_comm_check(&asked, &args);
}

TEST(an_output_of_its_own_is_good)
{
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, at(0, N), at(N, N)), TG_COMM_GOOD);
    CHECK_EQ_I(check(TG_COMM_ALL_REDUCE, 0, at(N, N), at(0, N)), TG_COMM_GOOD);
    CHECK_EQ_I(check(TG_COMM_ALL_GATHER, 1, at(N, N / RANKS), at(0, N)), TG_COMM_GOOD);
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, at(0, 0), at(0, 0)), TG_COMM_GOOD);
}

TEST(in_and_out_that_share_memory_are_refused)
{
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, at(0, N), at(0, N)), TG_COMM_OVERLAP);
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, at(0, N), at(N - 1, N)), TG_COMM_OVERLAP);
    CHECK_EQ_I(check(TG_COMM_ALL_REDUCE, 0, at(0, N), at(1, N)), TG_COMM_OVERLAP);
    CHECK_EQ_I(check(TG_COMM_ALL_GATHER, 1, at(0, N / RANKS), at(0, N)), TG_COMM_OVERLAP);
    CHECK_EQ_I(check(TG_COMM_REDUCE_SCATTER, 0, at(0, N), at(0, N / RANKS)), TG_COMM_OVERLAP);
}

TEST(what_is_safe_in_place_is_allowed)
{
    struct tg_tensor every_other = tg_tensor_slice(at(0, 2 * N), 0, 0, 2 * N, 2);
    CHECK_EQ_I(check(TG_COMM_ALL_REDUCE, 0, at(0, N), at(0, N)), TG_COMM_GOOD);
    CHECK_EQ_I(check(TG_COMM_ALL_REDUCE, 0, every_other, every_other), TG_COMM_GOOD);
    for (int32_t rank = 0; rank < RANKS; rank++)
        CHECK_EQ_I(check(TG_COMM_ALL_GATHER, rank, at(rank * N / RANKS, N / RANKS), at(0, N)),
                   TG_COMM_GOOD);
}

TEST(a_reversed_view_reaches_back)
{
    struct tg_tensor back = tg_tensor_flip(at(0, N), 0);
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, back, at(N / 2, N)), TG_COMM_OVERLAP);
    CHECK_EQ_I(check(TG_COMM_ALL_TO_ALL, 0, back, at(N, N)), TG_COMM_GOOD);
    CHECK_EQ_I(check(TG_COMM_ALL_REDUCE, 0, back, at(0, N)), TG_COMM_OVERLAP);
}

TEST_MAIN()
