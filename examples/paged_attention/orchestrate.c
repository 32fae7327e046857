/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of decoding: each sequence asks its whole context, which is scattered over blocks of a
 * cache. For every sequence and every head of the cache (a group of query heads shares it):
 *
 *   AIV  start      maximum, sum, total = nothing
 *     for every block of the context:
 *       AIC  qk       scores   = scale · q·kᵀ
 *       AIV  softmax  weights  = e^(scores - maximum), and updates maximum and sum
 *       AIC  pv       partial  = weights·v
 *       AIV  update   total    = correction · total + partial
 *   AIV  finish     out = total / sum
 *
 * Only softmax and update wait for the block before; qk runs ahead of them. Scores, weights and
 * partial live in one scope for each block, so that the memory of a few blocks is enough for a
 * context of any length.
 */
#include "paged_attention.h"

/* What the tasks of one group of heads share. */
struct group {
    struct tg_tensor q;      /* heads, head_dim */
    struct tg_tensor keys;   /* blocks, tokens, head_dim: one head of the cache */
    struct tg_tensor values; /* the same */
    struct tg_tensor table;  /* entries of one sequence */
    struct tg_tensor length; /* one element */
    struct tg_tensor out;    /* heads, head_dim */
    struct tg_tensor maximum, sum, total;
    float scale;
};

/* The last tasks that wrote the running values. */
struct latest {
    uint64_t softmax; /* maximum and sum */
    uint64_t update;  /* total */
};

TG_APART TG_FN static struct tg_tensor matrix(struct tg_rt *rt, int64_t rows, int64_t cols)
{
    int64_t shape[2];
    shape[0] = rows;
    shape[1] = cols;
    return tg_alloc(rt, TG_FLOAT32, 2, shape);
}

TG_APART TG_FN static uint64_t start(struct tg_rt *rt, const struct group *g)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, g->maximum);
    tg_args_out(&task, g->sum);
    tg_args_out(&task, g->total);
    return tg_submit(rt, PAGED_START, &task);
}

TG_APART TG_FN static uint64_t qk(struct tg_rt *rt, const struct group *g, struct tg_tensor entry,
                                  int64_t position, struct tg_tensor scores)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, g->q);
    tg_args_in(&task, g->keys);
    tg_args_in(&task, entry);
    tg_args_in(&task, g->length);
    tg_args_out(&task, scores);
    tg_args_i64(&task, position);
    tg_args_f32(&task, g->scale);
    return tg_submit(rt, PAGED_QK, &task);
}

TG_APART TG_FN static uint64_t softmax(struct tg_rt *rt, const struct group *g,
                                       struct tg_tensor scores, struct tg_tensor weights,
                                       struct tg_tensor correction, uint64_t ready,
                                       uint64_t previous)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, scores);
    tg_args_inout(&task, g->maximum);
    tg_args_inout(&task, g->sum);
    tg_args_out(&task, weights);
    tg_args_out(&task, correction);
    tg_args_after(&task, ready);
    tg_args_after(&task, previous);
    return tg_submit(rt, PAGED_SOFTMAX, &task);
}

TG_APART TG_FN static uint64_t pv(struct tg_rt *rt, const struct group *g, struct tg_tensor weights,
                                  struct tg_tensor entry, struct tg_tensor partial, uint64_t ready)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, weights);
    tg_args_in(&task, g->values);
    tg_args_in(&task, entry);
    tg_args_out(&task, partial);
    tg_args_after(&task, ready);
    return tg_submit(rt, PAGED_PV, &task);
}

/* `ready` is a task that has waited for the softmax of its block, and so for `correction`. */
TG_APART TG_FN static uint64_t update(struct tg_rt *rt, const struct group *g,
                                      struct tg_tensor partial, struct tg_tensor correction,
                                      uint64_t ready, uint64_t previous)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, partial);
    tg_args_in(&task, correction);
    tg_args_inout(&task, g->total);
    tg_args_after(&task, ready);
    tg_args_after(&task, previous);
    return tg_submit(rt, PAGED_UPDATE, &task);
}

TG_APART TG_FN static uint64_t finish(struct tg_rt *rt, const struct group *g, struct latest latest)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, g->total);
    tg_args_in(&task, g->sum);
    tg_args_out(&task, g->out);
    tg_args_after(&task, latest.softmax);
    tg_args_after(&task, latest.update);
    return tg_submit(rt, PAGED_FINISH, &task);
}

/* Block `number` of the context. The kernels find it by its entry in the table; the orchestration
 * reads the entry too, because a kernel would follow any number. */
TG_APART TG_FN static struct latest one_block(struct tg_rt *rt, const struct group *g,
                                              int64_t number, struct latest before)
{
    int64_t heads = g->q.shape[0], head_dim = g->q.shape[1], tokens = g->keys.shape[1];
    struct tg_tensor entry = tg_tensor_index(g->table, 0, number);
    struct tg_tensor scores = matrix(rt, heads, tokens);
    struct tg_tensor weights = matrix(rt, heads, tokens);
    struct tg_tensor partial = matrix(rt, heads, head_dim);
    struct tg_tensor correction = tg_alloc(rt, TG_FLOAT32, 1, &heads);
    struct latest now;
    uint64_t task;
    if ((uint64_t)tg_table_i64(rt, g->table, number) >= (uint64_t)g->keys.shape[0])
        tg_fail(rt, "the block table names a block that the cache does not have");
    task = qk(rt, g, entry, number * tokens, scores);
    now.softmax = softmax(rt, g, scores, weights, correction, task, before.softmax);
    task = pv(rt, g, weights, entry, partial, now.softmax);
    now.update = update(rt, g, partial, correction, task, before.update);
    return now;
}

TG_APART TG_FN static void attend(struct tg_rt *rt, struct group *g, int64_t length)
{
    int64_t tokens = g->keys.shape[1];
    struct latest latest;
    g->maximum = tg_alloc(rt, TG_FLOAT32, 1, g->q.shape);
    g->sum = tg_alloc(rt, TG_FLOAT32, 1, g->q.shape);
    g->total = tg_alloc(rt, TG_FLOAT32, 2, g->q.shape);
    latest.softmax = latest.update = start(rt, g);
    for (int64_t number = 0; number * tokens < length; number++) {
        TG_SCOPE(rt) { /* the hot loop: four tasks, whose memory lives until they have finished */
            latest = one_block(rt, g, number, latest);
        }
    }
    finish(rt, g, latest);
}

TG_ORCHESTRATION(paged_attention)
{
    struct tg_tensor q = args->tensor[0];       /* batch, heads, head_dim */
    struct tg_tensor keys = args->tensor[1];    /* blocks, tokens, kv_heads, head_dim */
    struct tg_tensor values = args->tensor[2];  /* the same */
    struct tg_tensor table = args->tensor[3];   /* batch, entries */
    struct tg_tensor lengths = args->tensor[4]; /* batch */
    struct tg_tensor out = args->tensor[5];     /* batch, heads, head_dim */
    int64_t kv_heads = keys.shape[2], heads = q.shape[1] / kv_heads;
    struct group g;

    g.scale = (float)tg_args_get_real(args, 0);
    for (int64_t sequence = 0; sequence < q.shape[0]; sequence++) {
        struct tg_tensor q_heads = tg_tensor_index(q, 0, sequence);
        struct tg_tensor out_heads = tg_tensor_index(out, 0, sequence);
        g.table = tg_tensor_index(table, 0, sequence);
        g.length = tg_tensor_index(lengths, 0, sequence);
        for (int64_t head = 0; head < kv_heads; head++) {
            g.q = tg_tensor_slice(q_heads, 0, head * heads, (head + 1) * heads, 1);
            g.out = tg_tensor_slice(out_heads, 0, head * heads, (head + 1) * heads, 1);
            g.keys = tg_tensor_index(keys, 2, head);
            g.values = tg_tensor_index(values, 2, head);
            TG_SCOPE(rt) { /* the running values of one group of heads */
                attend(rt, &g, tg_table_i64(rt, lengths, sequence));
            }
        }
    }
}
