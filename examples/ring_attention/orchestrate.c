/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention over a sequence that no single device holds. Each rank has a block of tokens: their
 * queries, keys and values. Queries stay; keys and values go around the ring of ranks, from each to
 * the next one, until every rank has seen all of them. In step s a rank has the block of the rank
 * that is s before it:
 *
 *   tg_send     the block, to the next rank; waits for the tg_recv that brought it
 *   tg_recv     the block of step s+1, from the rank before; waits for the tasks of step s-1, which
 *               read the memory that it overwrites
 *     for every tile of queries, for every tile of the block's keys:
 *       AIC  scores    scores   = scale · q·kᵀ
 *       AIV  softmax   weights  = e^(scores - maximum), and updates maximum and sum
 *       AIC  values    total    = correction · total + weights·v
 *
 * and in the end, for every tile of queries,
 *
 *   AIV  finish    out = total / sum
 *
 * Blocks are double buffered: while one is computed with and sent on, the next one arrives in the
 * other buffer. The softmax is online: a running maximum and a running sum take the place of all
 * scores. So one rank, whose ring has a single step and sends nothing, computes plain attention,
 * tile by tile.
 *
 * Every rank submits its sends before its receives, so that no send waits for a receive of the same
 * step and the ring cannot stand still.
 */
#include "ring_attention.h"

enum { KEYS, VALUES, BOTH }; /* also the tags */

/* What all tasks of this rank share. */
struct ring {
    struct tg_tensor q, out;              /* heads, tokens, head_dim: of this rank */
    struct tg_tensor maximum, sum, total; /* running; heads, tokens, and head_dim for total */
    int64_t tokens, tile, rank, ranks;    /* tokens: of all ranks */
    bool causal;
    float scale;
    uint32_t n_tiles;                 /* tiles of queries, in all heads */
    uint64_t softmax[RING_MAX_TILES]; /* the last tasks that wrote the running values */
    uint64_t values[RING_MAX_TILES];
};

/* The keys and values of one rank, and the tasks that brought and sent them. */
struct block {
    struct tg_tensor part[BOTH]; /* heads, tokens, head_dim */
    int64_t first;               /* token */
    uint64_t arrived[BOTH], sent[BOTH];
};

/* One tile of queries. */
struct tile {
    struct tg_tensor q, out, maximum, sum, total;
    int64_t head, first; /* first: token, counted over all ranks */
    uint64_t *softmax, *values;
};

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_APART TG_FN static struct tg_tensor tokens_of(struct tg_tensor t, int64_t head, int64_t from,
                                                 int64_t to)
{
    return tg_tensor_slice(tg_tensor_index(t, 0, head), 0, from, to, 1);
}

/* Tile `number`, counted over all heads. */
TG_APART TG_FN static struct tile tile_of(struct ring *r, uint32_t number)
{
    int64_t own = r->q.shape[1], in_head = (own + r->tile - 1) / r->tile;
    int64_t from = number % in_head * r->tile, to = at_most(from + r->tile, own);
    struct tile t;
    t.head = number / in_head;
    t.first = ring_first(r->tokens, r->rank, r->ranks) + from;
    t.q = tokens_of(r->q, t.head, from, to);
    t.out = tokens_of(r->out, t.head, from, to);
    t.maximum = tokens_of(r->maximum, t.head, from, to);
    t.sum = tokens_of(r->sum, t.head, from, to);
    t.total = tokens_of(r->total, t.head, from, to);
    t.softmax = &r->softmax[number];
    t.values = &r->values[number];
    return t;
}

TG_APART TG_FN static void start(struct tg_rt *rt, const struct tile *t)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, t->maximum);
    tg_args_out(&task, t->sum);
    tg_args_out(&task, t->total);
    *t->softmax = *t->values = tg_submit(rt, RING_START, &task);
}

TG_APART TG_FN static void finish(struct tg_rt *rt, const struct tile *t)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, t->total);
    tg_args_in(&task, t->sum);
    tg_args_out(&task, t->out);
    tg_args_after(&task, *t->values);
    tg_submit(rt, RING_FINISH, &task);
}

/* `key`: the first token of the tile of keys, counted over all ranks. */
TG_APART TG_FN static uint64_t scores(struct tg_rt *rt, const struct ring *r, const struct tile *t,
                                      struct tg_tensor keys, int64_t key, struct tg_tensor to,
                                      uint64_t arrived)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, t->q);
    tg_args_in(&task, keys);
    tg_args_out(&task, to);
    /* So far before every query that each sees it, if the order does not matter. */
    tg_args_i64(&task, r->causal ? key - t->first : -r->tokens);
    tg_args_f32(&task, r->scale);
    tg_args_after(&task, arrived);
    return tg_submit(rt, RING_SCORES, &task);
}

TG_APART TG_FN static void softmax(struct tg_rt *rt, const struct tile *t, struct tg_tensor from,
                                   struct tg_tensor weights, struct tg_tensor correction,
                                   uint64_t ready)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, from);
    tg_args_inout(&task, t->maximum);
    tg_args_inout(&task, t->sum);
    tg_args_out(&task, weights);
    tg_args_out(&task, correction);
    tg_args_after(&task, ready);
    tg_args_after(&task, *t->softmax);
    *t->softmax = tg_submit(rt, RING_SOFTMAX, &task);
}

TG_APART TG_FN static void values(struct tg_rt *rt, const struct tile *t, struct tg_tensor weights,
                                  struct tg_tensor from, struct tg_tensor correction,
                                  uint64_t arrived)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, weights);
    tg_args_in(&task, from);
    tg_args_in(&task, correction);
    tg_args_inout(&task, t->total);
    tg_args_after(&task, arrived);
    tg_args_after(&task, *t->softmax);
    tg_args_after(&task, *t->values);
    *t->values = tg_submit(rt, RING_VALUES, &task);
}

/* One tile of queries with keys [from, to) of a block. Its memory lives until the scope around this
 * call ends. */
TG_APART TG_FN static void tile_with_tile(struct tg_rt *rt, const struct ring *r,
                                          const struct tile *t, const struct block *b, int64_t from,
                                          int64_t to)
{
    struct tg_tensor keys = tokens_of(b->part[KEYS], t->head, from, to);
    struct tg_tensor of_keys = tokens_of(b->part[VALUES], t->head, from, to);
    struct tg_tensor correction = tg_alloc(rt, TG_FLOAT32, 1, t->q.shape);
    struct tg_tensor raw, weights;
    int64_t shape[2];
    shape[0] = t->q.shape[0];
    shape[1] = to - from;
    raw = tg_alloc(rt, TG_FLOAT32, 2, shape);
    weights = tg_alloc(rt, TG_FLOAT32, 2, shape);
    softmax(rt, t, raw, weights, correction,
            scores(rt, r, t, keys, b->first + from, raw, b->arrived[KEYS]));
    values(rt, t, weights, of_keys, correction, b->arrived[VALUES]);
}

/* One tile of queries with a block. Where the order matters, keys after the last query are left
 * out. */
TG_APART TG_FN static void tile_with_block(struct tg_rt *rt, const struct ring *r,
                                           const struct tile *t, const struct block *b)
{
    int64_t keys = b->part[KEYS].shape[1], last = t->first + t->q.shape[0] - 1;
    for (int64_t from = 0; from < keys; from += r->tile) {
        if (r->causal && b->first + from > last)
            return;
        TG_SCOPE(rt) { /* three tasks, whose memory is reused a few tiles later */
            tile_with_tile(rt, r, t, b, from, at_most(from + r->tile, keys));
        }
    }
}

TG_APART TG_FN static uint64_t send_part(struct tg_rt *rt, const struct ring *r,
                                         const struct block *b, int part)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, b->part[part]);
    tg_args_after(&task, b->arrived[part]);
    return tg_send(rt, (r->rank + 1) % r->ranks, part, &task);
}

/* `old` is the block that was in the same buffer: whoever read it must have finished. The last
 * tasks that have waited for all of those are in r->values. */
TG_APART TG_FN static uint64_t receive_part(struct tg_rt *rt, const struct ring *r,
                                            struct tg_tensor to, const struct block *old, int part)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, to);
    if (old) {
        tg_args_after(&task, old->sent[part]);
        tg_args_after_all(&task, r->values, r->n_tiles);
    }
    return tg_recv(rt, (r->rank + r->ranks - 1) % r->ranks, part, &task);
}

/* Sends block `now` on and receives `next`, the block of rank `origin`, in `buffer`. */
TG_APART TG_FN static void pass_on(struct tg_rt *rt, const struct ring *r, struct block *now,
                                   struct block *next, const struct tg_tensor buffer[BOTH],
                                   int64_t origin, bool buffer_was_used)
{
    int64_t first = ring_first(r->tokens, origin, r->ranks);
    int64_t end = ring_first(r->tokens, origin + 1, r->ranks);
    TG_SCOPE(rt) {
        for (int part = 0; part < BOTH; part++)
            now->sent[part] = send_part(rt, r, now, part);
        for (int part = 0; part < BOTH; part++) {
            next->part[part] = tg_tensor_slice(buffer[part], 1, 0, end - first, 1);
            next->arrived[part] =
                receive_part(rt, r, next->part[part], buffer_was_used ? next : 0, part);
        }
    }
    next->first = first;
}

/* Blocks alternate between two places: in step s the one in place s % 2 is used, and the next one
 * arrives in the other. The input takes the first place until step 2. */
TG_APART TG_FN static void all_steps(struct tg_rt *rt, struct ring *r, struct tg_tensor keys,
                                     struct tg_tensor of_keys)
{
    struct tg_tensor buffer[2][BOTH];
    struct block block[2];
    int64_t shape[3];
    shape[0] = keys.shape[0];
    shape[1] = (r->tokens + r->ranks - 1) / r->ranks; /* the most that any rank has */
    shape[2] = keys.shape[2];
    for (int i = 0; r->ranks > 1 && i < 2 * BOTH; i++)
        buffer[i / BOTH][i % BOTH] = tg_alloc(rt, TG_FLOAT32, 3, shape);
    block[0].part[KEYS] = keys;
    block[0].part[VALUES] = of_keys;
    block[0].first = ring_first(r->tokens, r->rank, r->ranks);
    block[0].arrived[KEYS] = block[0].arrived[VALUES] = TG_TASK_NONE;
    for (int64_t s = 0; s < r->ranks; s++) {
        struct block *now = &block[s % 2];
        if (s + 1 < r->ranks)
            pass_on(rt, r, now, &block[(s + 1) % 2], buffer[(s + 1) % 2],
                    (r->rank + 2 * r->ranks - s - 1) % r->ranks, s > 1);
        for (uint32_t i = 0; i < r->n_tiles; i++) {
            struct tile t = tile_of(r, i);
            tile_with_block(rt, r, &t, now);
        }
    }
}

TG_ORCHESTRATION(ring_attention)
{
    struct tg_tensor q = args->tensor[0]; /* heads, tokens, head_dim; so are k, v and out */
    int64_t own = q.shape[1], heads = q.shape[0], tiles;
    struct ring r;

    r.q = q;
    r.out = args->tensor[3];
    r.scale = (float)tg_args_get_real(args, 0);
    r.tokens = tg_args_get_i64(args, 1);
    r.tile = tg_args_get_i64(args, 2);
    r.causal = tg_args_get_i64(args, 3) != 0;
    r.rank = tg_rank(rt);
    r.ranks = tg_ranks(rt);
    tiles = r.tile < 1 ? 0 : heads * ((own + r.tile - 1) / r.tile);
    if (tiles < 1 || tiles > RING_MAX_TILES) {
        tg_fail(rt, "a rank must have 1 to 256 tiles of queries in all heads: change the tile");
        return;
    }
    r.n_tiles = (uint32_t)tiles;
    r.maximum = tg_alloc(rt, TG_FLOAT32, 2, q.shape);
    r.sum = tg_alloc(rt, TG_FLOAT32, 2, q.shape);
    r.total = tg_alloc(rt, TG_FLOAT32, 3, q.shape);
    for (uint32_t i = 0; i < r.n_tiles; i++) {
        struct tile t = tile_of(&r, i);
        TG_SCOPE(rt) {
            start(rt, &t);
        }
    }
    all_steps(rt, &r, args->tensor[1], args->tensor[2]);
    for (uint32_t i = 0; i < r.n_tiles; i++) {
        struct tile t = tile_of(&r, i);
        TG_SCOPE(rt) {
            finish(rt, &t);
        }
    }
}
