/* SPDX-License-Identifier: Apache-2.0 */
#include "rings.h"

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

TG_FN struct tg_tensor rings_value(const struct rings *r, int64_t i)
{
    return tg_tensor_slice(r->value, 0, i, i + 1, 1);
}

TG_FN uint64_t rings_good(const struct rings *r, int64_t i, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, rings_value(r, i));
    tg_args_i64(&task, i + 1);
    tg_args_after(&task, after);
    return tg_submit(r->rt, RINGS_SET, &task);
}

TG_FN uint64_t rings_from(const struct rings *r, int64_t i, int64_t from, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, rings_value(r, from));
    tg_args_out(&task, rings_value(r, i));
    tg_args_i64(&task, i - from);
    tg_args_after(&task, after);
    return tg_submit(r->rt, RINGS_NEXT, &task);
}

TG_FN uint64_t rings_fill(const struct rings *r, struct tg_tensor t, int64_t first)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, t);
    tg_args_i64(&task, first);
    return tg_submit(r->rt, RINGS_SET, &task);
}

TG_FN uint64_t rings_empty(const struct rings *r, struct tg_tensor t, int64_t i, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, t);
    tg_args_out(&task, rings_value(r, i));
    tg_args_after(&task, after);
    return tg_submit(r->rt, RINGS_TAKE, &task);
}

TG_FN uint64_t rings_dawdle(const struct rings *r, int64_t i, int64_t microseconds, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, rings_value(r, i));
    tg_args_i64(&task, i + 1);
    tg_args_i64(&task, 1000 * microseconds);
    tg_args_after(&task, after);
    return tg_submit(r->rt, RINGS_WAIT, &task);
}

TG_FN struct tg_tensor rings_memory(const struct rings *r, int64_t bytes)
{
    int64_t n = bytes / 8;
    return tg_alloc(r->rt, TG_INT64, 1, &n);
}

/* ── the orchestration ─────────────────────────────────────────────────────────────────── */

TG_FN static void here(const struct rings *r)
{
    if (r->what < RINGS_slow)
        rings_room(r);
    else if (r->what < RINGS_read_held)
        rings_order(r);
    else if (r->what < RINGS_ended)
        rings_deadlock(r);
    else if (r->what < RINGS_crash)
        rings_mistake(r);
    else
        rings_fault(r);
}

/* Runs the case inside `depth` more scopes. */
TG_FN static void within(const struct rings *r, int64_t depth)
{
    if (depth == 0)
        here(r);
    else
        TG_SCOPE(r->rt) /* line: scope */
            within(r, depth - 1);
}

TG_ORCHESTRATION(rings)
{
    struct rings r;
    r.rt = rt;
    r.value = args->tensor[0];
    r.what = (int64_t)args->scalar[RINGS_WHAT].bits;
    r.n = (int64_t)args->scalar[RINGS_N].bits;
    r.depth = (int64_t)args->scalar[RINGS_DEPTH].bits;
    r.size = (int64_t)args->scalar[RINGS_SIZE].bits;
    within(&r, r.depth);
}
