/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations whose tasks wait for one another. */
#include "rings.h"

TG_APART TG_FN static void slow(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt)
            rings_dawdle(r, i, r->size, TG_TASK_NONE);
}

TG_APART TG_FN static void chain(const struct rings *r, bool named)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < r->n; i += r->size)
        TG_SCOPE(r->rt)
            for (int64_t k = i; k < i + r->size && k < r->n; k++) {
                last = k == 0 ? rings_good(r, k, last) : rings_from(r, k, k - 1, last);
                last = named ? last : TG_TASK_NONE;
            }
}

/* One task counts, and the orchestration passes its count to the next one. */
TG_APART TG_FN static void read(const struct rings *r)
{
    uint64_t task;
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt) {
            struct tg_args add;
            tg_args_init(&add);
            tg_args_inout(&add, rings_value(r, r->n));
            tg_args_i64(&add, 1);
            task = tg_submit(r->rt, RINGS_ADD, &add);
            rings_good(r, tg_read_i64(r->rt, rings_value(r, r->n), task) - 1, TG_TASK_NONE);
        }
}

/*
 *   task   does                      waits for
 *   0      writes 0
 *   1      reads 0, writes 1         0 raw
 *   2      reads 0, writes 2         0 raw
 *   3      writes 0                  1 war, 2 war
 *   4      writes 1                  1 waw
 *   5      writes 3, after 2         2 explicit
 *   6      reads 2, writes 4         2 raw, though it was named too
 *   7      reads 0 and 1, writes 5   3 raw, 4 raw
 *   8      reads and writes 3        5 raw
 *   9      reads 0 and 1 as one, writes 6   3 raw, 4 raw
 *   10     writes 6 and 7 as one     9 waw
 *   11     reads 7, writes 8         10 raw
 */
TG_APART TG_FN static uint64_t sum(const struct rings *r, int64_t i, struct tg_tensor a,
                                   struct tg_tensor b)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_in(&task, b);
    tg_args_out(&task, rings_value(r, i));
    tg_args_i64(&task, 3);
    return tg_submit(r->rt, RINGS_SUM, &task);
}

TG_APART TG_FN static void kinds(const struct rings *r)
{
    struct tg_args task;
    uint64_t second;
    rings_fill(r, rings_value(r, 0), 1);
    rings_from(r, 1, 0, TG_TASK_NONE);
    second = rings_from(r, 2, 0, TG_TASK_NONE);
    rings_good(r, 0, TG_TASK_NONE);
    rings_good(r, 1, TG_TASK_NONE);
    tg_args_init(&task);
    tg_args_out(&task, rings_value(r, 3));
    tg_args_i64(&task, 1);
    tg_args_after(&task, second);
    tg_submit(r->rt, RINGS_SET, &task);
    rings_from(r, 4, 2, second);
    sum(r, 5, rings_value(r, 0), rings_value(r, 1));
    tg_args_init(&task);
    tg_args_inout(&task, rings_value(r, 3));
    tg_args_i64(&task, 3);
    tg_submit(r->rt, RINGS_ADD, &task);
    rings_empty(r, tg_tensor_slice(r->value, 0, 0, 2, 1), 6, TG_TASK_NONE);
    rings_fill(r, tg_tensor_slice(r->value, 0, 6, 8, 1), 7);
    rings_from(r, 8, 7, TG_TASK_NONE);
}

TG_APART TG_FN static void marked(const struct rings *r)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt) {
            struct tg_args task;
            tg_args_init(&task);
            tg_args_in(&task, rings_value(r, i > 0 ? i - 1 : r->n));
            tg_args_out(&task, rings_value(r, i));
            tg_args_i64(&task, 1);
            tg_args_after(&task, last);
            if (i % r->size == 0)
                tg_args_mark_task(&task);
            else if (i % 2)
                tg_args_mark_tensor(&task, 1);
            last = tg_submit(r->rt, RINGS_NEXT, &task);
        }
}

TG_FN void rings_order(const struct rings *r)
{
    switch (r->what) {
    case RINGS_slow:
        slow(r);
        break;
    case RINGS_chain:
    case RINGS_found_chain:
        chain(r, r->what == RINGS_chain);
        break;
    case RINGS_read:
        read(r);
        break;
    case RINGS_kinds:
        kinds(r);
        break;
    default:
        marked(r);
    }
}
