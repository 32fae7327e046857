/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that need a certain amount of room, and pass if there is as much. */
#include "rings.h"

/* The largest n of cases that keep a list, and of those that keep tensors. */
enum { MOST = 256, MOST_TENSORS = 64 };

/* ── slots ─────────────────────────────────────────────────────────────────────────────── */

TG_APART TG_FN static void tasks(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++)
        rings_good(r, i, TG_TASK_NONE);
}

TG_APART TG_FN static void held(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) /* line: held */
        tasks(r);
}

/* Depths from 3 on share a ring if there are four rings. */
TG_APART TG_FN static void nested(const struct rings *r, int64_t i)
{
    if (i == r->n)
        return;
    rings_good(r, i, TG_TASK_NONE);
    TG_SCOPE(r->rt) /* line: nested */
        nested(r, i + 1);
}

/* For rings whose slots are freed in order: the slots before the held ones are freed after a
 * while. */
TG_APART TG_FN static void behind(const struct rings *r)
{
    rings_dawdle(r, 0, r->size, TG_TASK_NONE);
    rings_dawdle(r, 1, r->size, TG_TASK_NONE);
    TG_SCOPE_HELD(r->rt)
        for (int64_t i = 2; i < r->n; i++)
            rings_good(r, i, TG_TASK_NONE);
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

/* Two tasks for each piece: one fills it, and when all are filled the other checks that its content
 * is still there. */
TG_APART TG_FN static void pieces(const struct rings *r)
{
    struct tg_tensor t[MOST_TENSORS];
    uint64_t filled[MOST_TENSORS];
    for (int64_t i = 0; i < r->n; i++) {
        t[i] = rings_memory(r, r->size); /* line: pieces */
        filled[i] = rings_fill(r, t[i], i + 1);
    }
    for (int64_t i = 0; i < r->n; i++)
        rings_empty(r, t[i], i, filled[i]);
}

TG_APART TG_FN static uint64_t fill_new(const struct rings *r, int64_t bytes, int64_t first)
{
    int64_t n = bytes / 8;
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out_new(&task, TG_INT64, 1, &n);
    tg_args_i64(&task, first);
    return tg_submit(r->rt, RINGS_SET, &task); /* line: outputs */
}

TG_APART TG_FN static void outputs(const struct rings *r)
{
    struct tg_tensor t[MOST_TENSORS];
    uint64_t filled[MOST_TENSORS];
    for (int64_t i = 0; i < r->n; i++) {
        filled[i] = fill_new(r, r->size, i + 1);
        t[i] = tg_output(r->rt, filled[i], 0);
    }
    for (int64_t i = 0; i < r->n; i++)
        rings_empty(r, t[i], i, filled[i]);
}

/* The piece that does not fit is neither the first nor the last, and differs in size. */
TG_APART TG_FN static void uneven(const struct rings *r)
{
    struct tg_tensor t[MOST_TENSORS];
    uint64_t filled[MOST_TENSORS];
    for (int64_t i = 0; i < r->n; i++) {
        filled[i] = fill_new(r, i == 1 ? 100 * r->size : r->size, i + 1);
        t[i] = tg_output(r->rt, filled[i], 0);
    }
    for (int64_t i = 0; i < r->n; i++)
        rings_empty(r, t[i], i, filled[i]);
}

/* Small scopes with memory of both kinds, one after the other. */
TG_APART TG_FN static void scopes(const struct rings *r, bool named)
{
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt) {
            struct tg_tensor first = rings_memory(r, r->size), second;
            uint64_t filled = rings_fill(r, first, i + 1), copied;
            int64_t one = 1;
            struct tg_args task;
            tg_args_init(&task);
            tg_args_in(&task, first);
            tg_args_out_new(&task, TG_INT64, 1, &one);
            tg_args_after(&task, named ? filled : TG_TASK_NONE);
            copied = tg_submit(r->rt, RINGS_TAKE, &task);
            second = tg_output(r->rt, copied, 1);
            rings_empty(r, second, i, named ? copied : TG_TASK_NONE);
        }
}

/* Each round has memory that is used until its end, and an inner scope with memory whose tasks are
 * done long before. The memory in use must not be given to the next round. */
TG_APART TG_FN static void inner(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt) {
            struct tg_tensor t = rings_memory(r, r->size);
            uint64_t filled = rings_fill(r, t, i + 1);
            TG_SCOPE(r->rt)
                rings_fill(r, rings_memory(r, r->size), -5);
            rings_empty(r, t, i, rings_dawdle(r, i, 300, filled));
        }
}

/* For a heap of 1024 bytes. The third scope's first piece does not fit at the end, so 128 bytes are
 * skipped there. They count as used while the second scope lives; afterwards they must not. */
TG_APART TG_FN static void wrap(const struct rings *r)
{
    struct tg_tensor t, other;
    uint64_t filled;
    TG_SCOPE(r->rt) {
        t = rings_memory(r, 512);
        rings_empty(r, t, 0, rings_fill(r, t, 1));
    }
    TG_SCOPE(r->rt) {
        t = rings_memory(r, 384);
        rings_empty(r, t, 1, rings_dawdle(r, 1, 20000, rings_fill(r, t, 2)));
    }
    TG_SCOPE(r->rt) {
        t = rings_memory(r, 192);
        other = rings_memory(r, 832);
        filled = rings_fill(r, t, 3);
        rings_empty(r, other, 3, rings_fill(r, other, 4));
        rings_empty(r, t, 2, filled);
    }
    for (int64_t i = 4; i < r->n; i++)
        TG_SCOPE(r->rt) {
            t = rings_memory(r, 1024);
            rings_empty(r, t, i, rings_fill(r, t, i + 1));
        }
}

/* `size` is a quarter of the heap. None of it belongs to the scope in the middle. */
TG_APART TG_FN static void empty(const struct rings *r)
{
    struct tg_tensor t;
    TG_SCOPE(r->rt) {
        t = rings_memory(r, r->size);
        rings_empty(r, t, 0, rings_fill(r, t, 1));
    }
    TG_SCOPE(r->rt) {
        rings_memory(r, 0);
        for (int64_t i = 1; i < r->n; i++)
            TG_SCOPE(r->rt) {
                t = rings_memory(r, i % 2 ? 2 * r->size : 4 * r->size);
                rings_empty(r, t, i, rings_fill(r, t, i + 1));
            }
    }
}

/* ── dependencies ──────────────────────────────────────────────────────────────────────── */

/* A task that waits for all others checks what they left, and copies their first number, 1, to the
 * last element. */
TG_APART TG_FN static uint64_t take_all(const struct rings *r, const uint64_t *after, uint32_t n)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(r->value, 0, 0, r->n, 1));
    tg_args_out(&task, rings_value(r, r->n));
    tg_args_after_all(&task, after, n);
    return tg_submit(r->rt, RINGS_TAKE, &task);
}

TG_APART TG_FN static void fan_in(const struct rings *r, bool named)
{
    uint64_t id[MOST], last = TG_TASK_NONE;
    for (int64_t round = 0; round < r->size; round++) {
        for (int64_t i = 0; i < r->n; i++)
            id[i] = rings_good(r, i, last);
        last = take_all(r, id, named ? (uint32_t)r->n : 0);
        last = named ? last : TG_TASK_NONE;
    }
}

TG_APART TG_FN static void slow_fan(const struct rings *r)
{
    uint64_t id[MOST];
    for (int64_t i = 0; i < r->n; i++)
        id[i] = rings_dawdle(r, i, r->size, TG_TASK_NONE);
    take_all(r, id, (uint32_t)r->n); /* line: slow_fan */
}

TG_APART TG_FN static void held_fan(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) { /* line: held_fan */
        uint64_t id[MOST], last;
        for (int64_t i = 0; i < r->n; i++)
            id[i] = rings_good(r, i, TG_TASK_NONE);
        last = take_all(r, 0, 0);
        for (int64_t i = 0; i < r->n; i++)
            tg_depend(r->rt, last, id[i]);
    }
}

TG_APART TG_FN static void held_after(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) {
        uint64_t id[MOST];
        for (int64_t i = 0; i < r->n; i++) {
            int64_t first = i > r->size ? i - r->size : 0;
            struct tg_args task;
            tg_args_init(&task);
            tg_args_out(&task, rings_value(r, i));
            tg_args_i64(&task, i + 1);
            tg_args_after_all(&task, id + first, (uint32_t)(i - first));
            id[i] = tg_submit(r->rt, RINGS_SET, &task);
        }
    }
}

/* ── the tensor map ────────────────────────────────────────────────────────────────────── */

/* Computes value[i] from its predecessors plus the missing rest; each is a separate tensor. */
TG_APART TG_FN static void tensors(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        int64_t missing = i + 1;
        struct tg_args task;
        tg_args_init(&task);
        for (int64_t k = 1; k < r->size && k <= i; k++) {
            tg_args_in(&task, rings_value(r, i - k));
            missing -= i - k + 1;
        }
        tg_args_out(&task, rings_value(r, i));
        tg_args_i64(&task, missing);
        tg_submit(r->rt, RINGS_SUM, &task); /* line: tensors */
    }
}

TG_APART TG_FN static void held_tensors(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt)
        tensors(r);
}

/* For four entries: the slow task has one, and the held scope needs four. */
TG_APART TG_FN static void map_behind(const struct rings *r)
{
    rings_dawdle(r, 0, r->size, TG_TASK_NONE);
    TG_SCOPE_HELD(r->rt) {
        struct tg_args task;
        rings_good(r, 1, TG_TASK_NONE);
        tg_args_init(&task);
        tg_args_in(&task, rings_value(r, r->n));
        tg_args_out(&task, rings_value(r, 2));
        tg_args_i64(&task, 3);
        tg_submit(r->rt, RINGS_NEXT, &task);
    }
}

/* ── sites ─────────────────────────────────────────────────────────────────────────────── */

#define TEN(x) x x x x x x x x x x
/* Each end of this text is the name of a site. */
TG_DATA static const char all_sites[] =
    TEN(TEN("0123456789abcdef0123456789abcdef0123456")) "/sites.c:1";

TG_APART TG_FN static void sites(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        const char *site = all_sites + sizeof all_sites - sizeof "sites.c:1" - i % 3900;
        r->rt->ops->scope_begin(r->rt, TG_SCOPE_OPEN, site);
        rings_good(r, i, TG_TASK_NONE);
        r->rt->ops->scope_end(r->rt);
    }
}

TG_FN void rings_room(const struct rings *r)
{
    switch (r->what) {
    case RINGS_sites:
        sites(r);
        break;
    case RINGS_tasks:
        tasks(r);
        break;
    case RINGS_held:
        held(r);
        break;
    case RINGS_nested:
        nested(r, 0);
        break;
    case RINGS_behind:
        behind(r);
        break;
    case RINGS_pieces:
        pieces(r);
        break;
    case RINGS_outputs:
        outputs(r);
        break;
    case RINGS_uneven:
        uneven(r);
        break;
    case RINGS_scopes:
    case RINGS_found_scopes:
        scopes(r, r->what == RINGS_scopes);
        break;
    case RINGS_inner:
        inner(r);
        break;
    case RINGS_wrap:
        wrap(r);
        break;
    case RINGS_empty:
        empty(r);
        break;
    case RINGS_fan_in:
    case RINGS_found_fan:
        fan_in(r, r->what == RINGS_fan_in);
        break;
    case RINGS_slow_fan:
        slow_fan(r);
        break;
    case RINGS_held_fan:
        held_fan(r);
        break;
    case RINGS_held_after:
        held_after(r);
        break;
    case RINGS_tensors:
        tensors(r);
        break;
    case RINGS_held_tensors:
        held_tensors(r);
        break;
    default:
        map_behind(r);
    }
}
