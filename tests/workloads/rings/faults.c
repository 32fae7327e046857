/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that crash, never return, or have a task that does. */
#include "rings.h"

/* A bad task, one that waits for it, and the good ones before: all are submitted before the first
 * of them starts. */
TG_FN static void bad(const struct rings *r, uint32_t kernel)
{
    TG_SCOPE_HELD(r->rt) {
        uint64_t last = rings_good(r, 1, rings_good(r, 0, TG_TASK_NONE));
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, rings_value(r, 2));
        tg_args_i64(&task, 3);
        tg_args_after(&task, last);
        last = tg_submit(r->rt, kernel, &task);
        rings_from(r, 3, 2, last);
    }
}

TG_FN static void crash_here(const struct rings *r)
{
    rings_good(r, 0, TG_TASK_NONE);
    TG_SCOPE(r->rt) { /* line: crash_here */
        rings_good(r, 1, TG_TASK_NONE);
        rings_abort();
    }
}

TG_FN static void hang_here(const struct rings *r)
{
    /* Read from memory, so that no compiler can know the value; no task writes there. */
    const struct tg_rt_ops *const volatile *ops =
        (const struct tg_rt_ops *const volatile *)&r->rt->ops;
    rings_good(r, 0, TG_TASK_NONE);
    TG_SCOPE(r->rt) { /* line: hang_here */
        while (*ops) {
        }
    }
}

TG_FN static void endless(const struct rings *r)
{
    volatile int64_t always = 1;
    uint64_t last = TG_TASK_NONE;
    while (always)
        TG_SCOPE(r->rt)
            last = rings_good(r, 0, last);
}

TG_FN static void asleep(const struct rings *r)
{
    for (int64_t i = 0; i < r->n; i++)
        TG_SCOPE(r->rt)
            rings_dawdle(r, i, r->size, TG_TASK_NONE);
}

TG_FN void rings_fault(const struct rings *r)
{
    switch (r->what) {
    case RINGS_crash:
    case RINGS_hang:
        bad(r, r->what == RINGS_crash ? RINGS_CRASH : RINGS_SPIN);
        break;
    case RINGS_crash_here:
        crash_here(r);
        break;
    case RINGS_hang_here:
        hang_here(r);
        break;
    case RINGS_endless:
        endless(r);
        break;
    default:
        asleep(r);
    }
}
