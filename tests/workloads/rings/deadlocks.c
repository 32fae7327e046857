/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that wait for an event that can never come. */
#include "rings.h"

TG_FN static void read_held(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) {
        uint64_t task = rings_good(r, 0, TG_TASK_NONE);
        tg_read_i64(r->rt, rings_value(r, 0), task); /* line: read_held */
    }
}

TG_FN static void read_behind_held(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) {
        uint64_t task = rings_good(r, 0, TG_TASK_NONE);
        TG_SCOPE(r->rt) {
            task = rings_from(r, 1, 0, task);
            tg_read_i64(r->rt, rings_value(r, 1), task); /* line: read_behind_held */
        }
    }
}

/* The tasks of ended scopes wait for a task that is held back, so they never leave their ring. */
TG_FN static void after_held(const struct rings *r)
{
    TG_SCOPE_HELD(r->rt) {
        uint64_t first = rings_good(r, 0, TG_TASK_NONE);
        for (int64_t i = 1; i < r->n; i++)
            TG_SCOPE(r->rt) {
                struct tg_args task;
                tg_args_init(&task);
                if (r->size > 0)
                    tg_args_out(&task, rings_memory(r, r->size));
                else
                    tg_args_out(&task, rings_value(r, i));
                tg_args_i64(&task, i + 1);
                tg_args_after(&task, first);
                rings_empty(r, task.tensor[0], i, tg_submit(r->rt, RINGS_SET, &task));
            }
    }
}

/* The first scope is too large; the loop after it never ends, but that must not change the
 * error. */
TG_FN static void go_on(const struct rings *r)
{
    volatile int64_t always = 1;
    uint64_t last = TG_TASK_NONE;
    TG_SCOPE_HELD(r->rt) /* line: go_on */
        for (int64_t i = 0; i < r->n; i++)
            last = rings_good(r, i, TG_TASK_NONE);
    while (always) {
        if (r->what == RINGS_read_on)
            tg_read_i64(r->rt, rings_value(r, 0), last);
        else if (r->what == RINGS_submit_on)
            TG_SCOPE(r->rt)
                rings_good(r, 0, TG_TASK_NONE);
    }
}

TG_FN void rings_deadlock(const struct rings *r)
{
    switch (r->what) {
    case RINGS_read_held:
        read_held(r);
        break;
    case RINGS_read_behind_held:
        read_behind_held(r);
        break;
    case RINGS_after_held:
    case RINGS_after_held_memory:
        after_held(r);
        break;
    default:
        go_on(r);
    }
}
