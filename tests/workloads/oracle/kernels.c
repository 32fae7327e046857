/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

/* The elements of a view in row-major order. */
struct walk {
    const struct tg_tensor *t;
    int64_t left;
    int64_t offset; /* elements from addr */
    int64_t at[TG_MAX_DIMS];
};

TG_FN static struct walk walk_begin(const struct tg_tensor *t)
{
    struct walk w;
    w.t = t;
    w.left = tg_tensor_numel(t);
    w.offset = t->start;
    for (int i = 0; i < TG_MAX_DIMS; i++)
        w.at[i] = 0;
    return w;
}

TG_FN static void walk_next(struct walk *w)
{
    w->left--;
    for (int i = w->t->ndim - 1; i >= 0; i--) {
        w->offset += w->t->strides[i];
        if (++w->at[i] < w->t->shape[i])
            return;
        w->offset -= w->at[i] * w->t->strides[i];
        w->at[i] = 0;
    }
}

TG_FN static uint64_t walk_load(const struct walk *w)
{
    return tg_load_bits(w->t->dtype, TG_DEVICE_PTR(const char, w->t->addr), w->offset);
}

TG_FN static unsigned role_of(const struct tg_ctx *ctx, uint32_t tensor)
{
    return (unsigned)(tg_arg_bits(ctx, ORACLE_TASK_ROLES) >> 2 * tensor) & 3;
}

/* If the parts of a mix do not meet, a part must not read what another one writes. */
TG_FN static bool is_read_by_all(const struct tg_ctx *ctx, uint32_t tensor)
{
    bool alone = ctx->parts == 1 || (tg_arg_bits(ctx, ORACLE_TASK_FLAGS) & ORACLE_MEETS);
    return role_of(ctx, tensor) == TG_IN || (alone && role_of(ctx, tensor) == TG_INOUT);
}

TG_FN static void spin(const struct tg_ctx *ctx, bool is_last)
{
    volatile uint64_t turns = tg_arg_bits(ctx, ORACLE_TASK_SPIN);
    bool spins_last = (tg_arg_bits(ctx, ORACLE_TASK_FLAGS) & ORACLE_SPINS_LAST) != 0;
    if (ctx->core == ORACLE_SERIAL || spins_last != is_last)
        return;
    while (turns > 0)
        turns = turns - 1;
}

TG_FN static uint64_t read_scalars(const struct tg_ctx *ctx)
{
    uint64_t hash = tg_arg_bits(ctx, ORACLE_TASK_SEED);
    for (uint32_t i = ORACLE_TASK_SCALARS; i < ctx->n_scalars; i++)
        hash = oracle_hash(hash + ctx->scalar[i].dtype, tg_arg_bits(ctx, i));
    return oracle_hash(hash, tg_arg_bits(ctx, ORACLE_TASK_ROLES));
}

TG_FN static uint64_t read_all(const struct tg_ctx *ctx)
{
    uint64_t hidden = tg_arg_bits(ctx, ORACLE_TASK_HIDDEN_READ), hash = read_scalars(ctx);
    for (uint32_t i = 0; i < ctx->n_tensors; i++) {
        if (!is_read_by_all(ctx, i))
            continue;
        for (struct walk w = walk_begin(&ctx->tensor[i]); w.left > 0; walk_next(&w))
            hash = oracle_hash(hash, walk_load(&w));
    }
    return hidden ? oracle_hash(hash, *TG_DEVICE_PTR(const uint64_t, hidden)) : hash;
}

TG_FN static void write_one(const struct tg_ctx *ctx, uint32_t tensor, uint64_t hash)
{
    const struct tg_tensor *t = &ctx->tensor[tensor];
    uint64_t mask = UINT64_MAX >> (64 - tg_bits_of(t->dtype));
    bool keeps = role_of(ctx, tensor) == TG_INOUT;
    hash = oracle_hash(hash, tensor);
    for (struct walk w = walk_begin(t); w.left > 0; walk_next(&w)) {
        uint64_t value = oracle_hash(hash, (uint64_t)w.left);
        if (keeps)
            value = oracle_hash(value, walk_load(&w));
        tg_store_bits(t->dtype, TG_DEVICE_PTR(char, t->addr), w.offset, value >> 13 & mask);
    }
}

/* Writes the outputs that belong to this part: they are dealt out among the parts in turn. */
TG_FN static void write_own(const struct tg_ctx *ctx, uint64_t hash)
{
    uint64_t mask = tg_arg_bits(ctx, ORACLE_TASK_FLAGS) & 7;
    uint64_t hidden = tg_arg_bits(ctx, ORACLE_TASK_HIDDEN_WRITE);
    uint64_t witness = tg_arg_bits(ctx, ORACLE_TASK_WITNESS);
    uint32_t number = 0, output = 0;
    for (uint32_t part = 0; part < ctx->part; part++)
        number += mask >> part & 1;
    for (uint32_t i = 0; i < ctx->n_tensors; i++) {
        if (role_of(ctx, i) == TG_IN)
            continue;
        if (output++ % ctx->parts == number)
            write_one(ctx, i, hash);
    }
    if (hidden && number == 0)
        *TG_DEVICE_PTR(uint64_t, hidden) = oracle_hash(hash, 1);
    if (witness && number == 0)
        *TG_DEVICE_PTR(uint64_t, witness) = hash;
}

/* Reads everything, then writes everything. One thread of a core does all of it. */
TG_KERNEL(oracle_kernel)
{
    uint64_t hash = 0;
    TG_FOR(once, 1) {
        spin(ctx, false);
        hash = read_all(ctx);
    }
    if (tg_arg_bits(ctx, ORACLE_TASK_FLAGS) & ORACLE_MEETS)
        tg_mix_barrier(ctx);
    TG_FOR(again, 1) {
        spin(ctx, true);
        write_own(ctx, hash);
    }
}
