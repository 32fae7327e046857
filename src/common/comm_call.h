/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of communication (wire/comm.h), in the same way on the host and on the device: whether the
 * arguments fit, which number a call has, and the task that it becomes.
 */
#ifndef TG_COMMON_COMM_CALL_H
#define TG_COMMON_COMM_CALL_H

#include <taskglass/args.h>
#include <taskglass/wire/comm.h>

/* Why a call is refused; src/host/comm_words.c finds the words. */
enum tg_comm_fault {
    TG_COMM_GOOD = 0,
    TG_COMM_NOT_SAID,    /* the workload does not say that it communicates */
    TG_COMM_NO_ARGS,     /* more than there can be, or not initialised */
    TG_COMM_HAS_SCALARS, /* calls have no scalars */
    TG_COMM_NO_PEER,     /* no such rank */
    TG_COMM_NO_TAG,      /* a tag is 0 or more */
    TG_COMM_NO_OPERATION,
    TG_COMM_COUNT,   /* the number of tensors */
    TG_COMM_ROLES,   /* what is done with them */
    TG_COMM_TYPES,   /* in and out have two types */
    TG_COMM_SIZES,   /* in and out do not fit each other */
    TG_COMM_PIECES,  /* a tensor has no `ranks` equal pieces of whole bytes */
    TG_COMM_OVERLAP, /* in and out lie in the same bytes */
    TG_COMM_MANY     /* more pairs of peer and tag than can be counted */
};

/* One call, as an orchestration makes it. */
struct tg_comm_asked {
    uint32_t kind; /* enum tg_comm_kind */
    int32_t peer, tag, operation;
    int32_t rank, ranks;
};

TG_INLINE bool tg_comm_is_pair(uint32_t kind)
{
    return kind == TG_COMM_SEND || kind == TG_COMM_RECV;
}

TG_INLINE bool tg_comm_reduces(uint32_t kind)
{
    return kind == TG_COMM_ALL_REDUCE || kind == TG_COMM_REDUCE_SCATTER;
}

/* ── do the arguments fit? ─────────────────────────────────────────────────────────────── */

/* The bits of `n` elements; 0 if the type is unknown. */
TG_INLINE uint64_t tg_comm_bits(const struct tg_tensor *t, int64_t n)
{
    return (uint64_t)n * tg_bits_of(t->dtype);
}

TG_INLINE enum tg_comm_fault tg_comm_check_roles(const struct tg_comm_asked *asked,
                                                 const struct tg_args *args)
{
    uint32_t first = args->role[0];
    switch (asked->kind) {
    case TG_COMM_SEND:
        return first == TG_IN ? TG_COMM_GOOD : TG_COMM_ROLES;
    case TG_COMM_RECV:
        return first == TG_OUT ? TG_COMM_GOOD : TG_COMM_ROLES;
    case TG_COMM_BROADCAST:
        return first == TG_INOUT || (first == TG_IN) == (asked->rank == asked->peer)
                   ? TG_COMM_GOOD
                   : TG_COMM_ROLES;
    default:
        if (args->n_tensors == 1)
            return first == TG_INOUT ? TG_COMM_GOOD : TG_COMM_ROLES;
        return first == TG_IN && args->role[1] == TG_OUT ? TG_COMM_GOOD : TG_COMM_ROLES;
    }
}

TG_INLINE enum tg_comm_fault tg_comm_check_sizes(const struct tg_comm_asked *asked,
                                                 const struct tg_args *args)
{
    const struct tg_tensor *in = &args->tensor[0], *out = &args->tensor[args->n_tensors - 1];
    int64_t n = tg_tensor_numel(in), m = tg_tensor_numel(out), ranks = asked->ranks;
    int64_t whole = n > m ? n : m;
    if (in->dtype != out->dtype)
        return TG_COMM_TYPES;
    if (asked->kind == TG_COMM_REDUCE_SCATTER || asked->kind == TG_COMM_ALL_GATHER) {
        int64_t part = asked->kind == TG_COMM_ALL_GATHER ? n : m;
        whole = asked->kind == TG_COMM_ALL_GATHER ? m : n;
        if (whole / ranks != part || whole % ranks != 0)
            return TG_COMM_SIZES;
    } else if (n != m) {
        return TG_COMM_SIZES;
    }
    if (asked->kind >= TG_COMM_REDUCE_SCATTER &&
        (whole % ranks != 0 || tg_comm_bits(in, whole / ranks) % 8 != 0))
        return TG_COMM_PIECES;
    return TG_COMM_GOOD;
}

/* The bits from the first to the last element of a valid tensor that has elements. */
TG_INLINE void tg_comm_extent(const struct tg_tensor *t, uint64_t *from, uint64_t *to)
{
    int64_t first = t->start, last = t->start;
    for (int d = 0; d < t->ndim; d++) {
        int64_t reach = (t->shape[d] - 1) * t->strides[d];
        first += reach < 0 ? reach : 0;
        last += reach > 0 ? reach : 0;
    }
    *from = t->addr * 8 + tg_comm_bits(t, first);
    *to = t->addr * 8 + tg_comm_bits(t, last + 1);
}

TG_INLINE bool tg_comm_is_same_view(const struct tg_tensor *a, const struct tg_tensor *b)
{
    bool same = a->addr == b->addr && a->start == b->start && a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->shape[d] == b->shape[d] && (a->strides[d] == b->strides[d] || a->shape[d] == 1);
    return same;
}

/*
 * Ranks receive into `out` while they still send from `in`, so the two must not share bytes. Allowed are
 * the same view twice (all_reduce), and the rank's own piece of `out` (all_gather, both without gaps).
 * Tensors whose elements lie between each other's are refused too.
 */
TG_INLINE bool tg_comm_overlaps(const struct tg_comm_asked *asked, const struct tg_args *args)
{
    const struct tg_tensor *in = &args->tensor[0], *out = &args->tensor[1];
    int64_t n = tg_tensor_numel(in), m = tg_tensor_numel(out);
    uint64_t in_from, in_to, out_from, out_to;
    if (args->n_tensors < 2 || n == 0 || m == 0)
        return false;
    tg_comm_extent(in, &in_from, &in_to);
    tg_comm_extent(out, &out_from, &out_to);
    if (in_to <= out_from || out_to <= in_from)
        return false;
    if (asked->kind == TG_COMM_ALL_REDUCE)
        return !tg_comm_is_same_view(in, out);
    return asked->kind != TG_COMM_ALL_GATHER || !tg_tensor_contiguous(in) ||
           !tg_tensor_contiguous(out) || in_from != out_from + tg_comm_bits(in, asked->rank * n);
}

/* Tensors that are not valid are left to the submit, which says so. */
TG_INLINE enum tg_comm_fault tg_comm_check(const struct tg_comm_asked *asked,
                                           const struct tg_args *args)
{
    bool two = asked->kind >= TG_COMM_REDUCE_SCATTER;
    if (args->overflow || args->n_tensors > TG_MAX_TENSORS || args->n_scalars > TG_MAX_SCALARS ||
        (args->ready != TG_ARGS_READY && args->ready != 0))
        return TG_COMM_NO_ARGS;
    if (args->n_scalars > 0)
        return TG_COMM_HAS_SCALARS;
    if ((tg_comm_is_pair(asked->kind) || asked->kind == TG_COMM_BROADCAST) &&
        (asked->peer < 0 || asked->peer >= asked->ranks))
        return TG_COMM_NO_PEER;
    if (tg_comm_is_pair(asked->kind) && asked->tag < 0)
        return TG_COMM_NO_TAG;
    if (tg_comm_reduces(asked->kind) && (asked->operation < 0 || asked->operation >= TG_REDUCTIONS))
        return TG_COMM_NO_OPERATION;
    if (args->n_tensors < 1 || args->n_tensors > TG_COMM_TENSORS || (two && args->n_tensors != 2) ||
        (args->n_tensors == 2 && !two && asked->kind != TG_COMM_ALL_REDUCE))
        return TG_COMM_COUNT;
    for (uint32_t i = 0; i < args->n_tensors; i++)
        if (!tg_tensor_valid(&args->tensor[i]))
            return TG_COMM_GOOD;
    if (tg_comm_check_roles(asked, args) != TG_COMM_GOOD)
        return TG_COMM_ROLES;
    enum tg_comm_fault fault = tg_comm_check_sizes(asked, args);
    return fault == TG_COMM_GOOD && tg_comm_overlaps(asked, args) ? TG_COMM_OVERLAP : fault;
}

/* ── the task ──────────────────────────────────────────────────────────────────────────── */

/* Numbers a call: see wire/comm.h. `counts` has TG_COMM_COUNTS entries, which were zero before the
 * first call. False if the table is full. */
TG_INLINE bool tg_comm_number(struct tg_comm_count *counts, const struct tg_comm_asked *asked,
                              uint64_t *number)
{
    bool pair = tg_comm_is_pair(asked->kind);
    uint32_t kind = pair ? asked->kind : (uint32_t)TG_COMM_KINDS;
    int32_t peer = pair ? asked->peer : 0, tag = pair ? asked->tag : 0;
    uint32_t at =
        ((uint32_t)peer * 0x9e3779b1u ^ (uint32_t)tag * 0x85ebca6bu ^ kind) % TG_COMM_COUNTS;
    for (uint32_t tries = 0; tries < TG_COMM_COUNTS; tries++, at = (at + 1) % TG_COMM_COUNTS) {
        struct tg_comm_count *c = &counts[at];
        if (!c->used) {
            c->used = 1;
            c->kind = kind;
            c->peer = peer;
            c->tag = tag;
            c->count = 0;
        }
        if (c->kind == kind && c->peer == peer && c->tag == tag) {
            *number = c->count++;
            return true;
        }
    }
    return false;
}

/* The arguments of the task: those of the call, and its scalars. `args` is checked and has no
 * scalars. */
TG_INLINE void tg_comm_fill(struct tg_args *to, const struct tg_args *args,
                            const struct tg_comm_asked *asked, uint64_t number)
{
    tg_args_init(to);
    for (uint32_t i = 0; i < args->n_tensors; i++)
        tg_args_put(to, (enum tg_role)args->role[i], &args->tensor[i]);
    for (uint32_t i = 0; i < args->n_after && i < TG_MAX_INLINE_AFTER; i++)
        to->after[i] = args->after[i];
    to->n_after = args->n_after;
    to->n_more_after = args->n_more_after;
    to->more_after = args->more_after;
    to->tensor_marks = args->tensor_marks;
    to->scalar_marks = args->scalar_marks;
    tg_args_i32(to, asked->peer);
    tg_args_i32(to, asked->tag);
    tg_args_i32(to, asked->operation);
    tg_args_i64(to, (int64_t)number);
}

/* The same for a call that is refused before it has a number: the host reads from it what was asked. */
TG_INLINE void tg_comm_fill_refused(struct tg_args *to, const struct tg_args *args,
                                    const struct tg_comm_asked *asked)
{
    struct tg_args none;
    tg_args_init(&none);
    if (args->n_tensors <= TG_COMM_TENSORS && args->n_scalars == 0 && !args->overflow &&
        (args->ready == TG_ARGS_READY || args->ready == 0))
        tg_comm_fill(to, args, asked, 0);
    else
        tg_comm_fill(to, &none, asked, 0);
}

#endif
