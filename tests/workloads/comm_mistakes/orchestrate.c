/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mistakes with communication, one for each case. The lines that a report has to name end in a comment
 * with the number of the case and a letter: tests/bugs/test_comm_mistakes.py looks for them.
 */
#include "comm_mistakes.h"

/* The tensors of the orchestration, and what calls of this rank wait for. */
struct own {
    struct tg_rt *rt;
    struct tg_tensor x, y, whole, large;
    int32_t rank, ranks;
    uint64_t last;
};

TG_FN static struct tg_tensor first(struct tg_tensor t, int64_t n)
{
    return tg_tensor_slice(t, 0, 0, n, 1);
}

/* Arguments of a call with one tensor, after the last one. */
TG_FN static const struct tg_args *one(const struct own *own, struct tg_args *args,
                                       enum tg_role role, struct tg_tensor t)
{
    tg_args_init(args);
    tg_args_after(args, own->last);
    tg_args_tensor(args, role, t);
    return args;
}

TG_FN static const struct tg_args *two(const struct own *own, struct tg_args *args,
                                       struct tg_tensor in, struct tg_tensor out)
{
    one(own, args, TG_IN, in);
    tg_args_out(args, out);
    return args;
}

/* A good call before the mistake. */
TG_FN static void begin_well(struct own *own)
{
    struct tg_args a;
    own->last = tg_all_reduce(own->rt, TG_SUM, one(own, &a, TG_INOUT, own->x));
}

/* ── collectives that differ ───────────────────────────────────────────────────────────── */

TG_FN static void differ(struct own *own, int64_t which)
{
    struct tg_rt *rt = own->rt;
    struct tg_tensor x = own->x, y = own->y;
    bool odd = own->rank == own->ranks - 1;
    struct tg_args a;
    if (which == 1 && odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, first(x, 512))); /* 1b */
    if (which == 1 && !odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, x)); /* 1a */
    if (which == 2 && odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, y)); /* 2b */
    if (which == 2 && !odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, x)); /* 2a */
    if (which == 3 && odd)
        tg_all_reduce(rt, TG_MAX, one(own, &a, TG_INOUT, x)); /* 3b */
    if (which == 3 && !odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, x)); /* 3a */
    if (which == 4 && odd)
        tg_broadcast(rt, own->ranks - 1, one(own, &a, TG_INOUT, x)); /* 4b */
    if (which == 4 && !odd)
        tg_broadcast(rt, 0, one(own, &a, TG_INOUT, x)); /* 4a */
    if (which == 5 && odd)
        tg_broadcast(rt, 0, one(own, &a, TG_INOUT, x)); /* 5b */
    if (which == 5 && !odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, x)); /* 5a */
}

/* Calls that one rank leaves out, adds, or makes in another order. */
TG_FN static void count(struct own *own, int64_t which)
{
    struct tg_rt *rt = own->rt;
    bool odd = own->rank == own->ranks - 1;
    struct tg_args a;
    if (which == 6 && !odd)
        tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, own->x)); /* 6a */
    if (which == 7 && odd)
        tg_broadcast(rt, 0, one(own, &a, TG_INOUT, own->x)); /* 7a */
    if (which == 8 && odd)
        own->last = tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, own->y)); /* 8b */
    if (which == 8)
        own->last = tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, own->x)); /* 8a */
    if (which == 8 && !odd)
        own->last = tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, own->y));
    for (int32_t i = 0; which == 9 && i < 3 + own->rank; i++)
        own->last = tg_all_reduce(rt, TG_SUM, one(own, &a, TG_INOUT, own->x)); /* 9a */
}

TG_FN static void differ_in_pieces(struct own *own, int64_t which)
{
    struct tg_rt *rt = own->rt;
    struct tg_tensor w = own->whole, x = own->x;
    int64_t n = COMM_SMALL / own->ranks;
    bool odd = own->rank == own->ranks - 1;
    struct tg_args a;
    if (which == 10 && odd)
        tg_all_gather(rt, two(own, &a, first(x, n), w)); /* 10b */
    if (which == 10 && !odd)
        tg_all_to_all(rt, two(own, &a, x, w)); /* 10a */
    if (which == 11 && odd)
        tg_reduce_scatter(rt, TG_SUM, two(own, &a, first(x, own->ranks), first(w, 1))); /* 11b */
    if (which == 11 && !odd)
        tg_reduce_scatter(rt, TG_SUM, two(own, &a, x, first(w, n))); /* 11a */
}

/* ── messages ──────────────────────────────────────────────────────────────────────────── */

TG_FN static void miss(struct own *own, int64_t which)
{
    struct tg_rt *rt = own->rt;
    struct tg_args a;
    if (which == 12 && own->rank == 0)
        tg_recv(rt, 1, 0, one(own, &a, TG_OUT, own->x)); /* 12a */
    if (which == 13 && own->rank == 0)
        tg_send(rt, 1, 0, one(own, &a, TG_IN, own->x)); /* 13a */
    if (which == 14 && own->rank == 0)
        tg_send(rt, 1, 0, one(own, &a, TG_IN, own->large)); /* 14a */
    if (which == 15 && own->rank == 0)
        tg_send(rt, 1, 5, one(own, &a, TG_IN, own->x)); /* 15a */
    if (which == 15 && own->rank == 1)
        tg_recv(rt, 0, 6, one(own, &a, TG_OUT, own->x)); /* 15b */
    if (which == 16 && own->rank == 0)
        tg_send(rt, own->ranks - 1, 0, one(own, &a, TG_IN, own->x)); /* 16a */
    if (which == 16 && own->rank == 1)
        tg_recv(rt, 0, 0, one(own, &a, TG_OUT, own->x)); /* 16b */
}

TG_FN static void misfit(struct own *own, int64_t which)
{
    struct tg_rt *rt = own->rt;
    struct tg_tensor x = own->x;
    struct tg_args a;
    if (which == 17 && own->rank == 0)
        tg_send(rt, 1, 0, one(own, &a, TG_IN, first(x, 100))); /* 17a */
    if (which == 17 && own->rank == 1)
        tg_recv(rt, 0, 0, one(own, &a, TG_OUT, x)); /* 17b */
    if (which == 18 && own->rank == 0)
        tg_send(rt, 1, 0, one(own, &a, TG_IN, own->large)); /* 18a */
    if (which == 18 && own->rank == 1)
        tg_recv(rt, 0, 0, one(own, &a, TG_OUT, x)); /* 18b */
    if (which == 19 && own->rank == 0)
        tg_send(rt, 1, 0, one(own, &a, TG_IN, x)); /* 19a */
    if (which == 19 && own->rank == 1)
        tg_recv(rt, 0, 0, one(own, &a, TG_OUT, own->y)); /* 19b */
}

/* Each rank sends only after it has received. */
TG_FN static void wait_in_a_circle(struct own *own)
{
    struct tg_rt *rt = own->rt;
    int32_t left = (own->rank + own->ranks - 1) % own->ranks, right = (own->rank + 1) % own->ranks;
    struct tg_args a;
    own->last = tg_recv(rt, left, 0, one(own, &a, TG_OUT, own->x)); /* 20a */
    tg_send(rt, right, 0, one(own, &a, TG_IN, own->x));
}

/* Two messages with one tag are received in another order than they are sent. */
TG_FN static void swap(struct own *own)
{
    struct tg_rt *rt = own->rt;
    struct tg_args a;
    if (own->rank == 0) {
        own->last = tg_send(rt, 1, 0, one(own, &a, TG_IN, own->x)); /* 21a */
        tg_send(rt, 1, 0, one(own, &a, TG_IN, first(own->whole, 7)));
    }
    if (own->rank == 1) {
        own->last = tg_recv(rt, 0, 0, one(own, &a, TG_OUT, first(own->whole, 7))); /* 21b */
        tg_recv(rt, 0, 0, one(own, &a, TG_OUT, own->x));
    }
}

/* A rank whose own orchestration is refused, while the others wait for it. */
TG_FN static void refuse(struct own *own)
{
    struct tg_args a;
    if (own->rank == 0)
        tg_send(own->rt, own->ranks, 0, one(own, &a, TG_IN, own->x)); /* 22a */
    tg_all_reduce(own->rt, TG_SUM, one(own, &a, TG_INOUT, own->x));
}

TG_ORCHESTRATION(comm_orchestrate)
{
    int64_t which = tg_args_get_i64(args, 0);
    struct own own;
    own.rt = rt;
    own.x = args->tensor[0];
    own.y = args->tensor[1];
    own.whole = args->tensor[2];
    own.large = args->tensor[3];
    own.rank = tg_rank(rt);
    own.ranks = tg_ranks(rt);
    own.last = TG_TASK_NONE;
    begin_well(&own);
    differ(&own, which);
    count(&own, which);
    differ_in_pieces(&own, which);
    miss(&own, which);
    misfit(&own, which);
    if (which == 20)
        wait_in_a_circle(&own);
    if (which == 21)
        swap(&own);
    if (which == 22)
        refuse(&own);
    if (which == 23) /* no mistake either: a value that a call has brought */
        (void)tg_read_real(rt, tg_tensor_index(own.x, 0, 1), own.last);
}
