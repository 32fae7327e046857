/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that make one mistake each, after a good task or two. */
#include "rings.h"

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

TG_FN static void ended(const struct rings *r)
{
    struct tg_tensor t;
    int64_t one = 1;
    uint64_t task = TG_TASK_NONE;
    TG_SCOPE(r->rt) {
        t = tg_alloc(r->rt, TG_INT64, 1, &one);
        task = rings_fill(r, t, 1);
    }
    if (r->what == RINGS_ended_again)
        for (int64_t i = 0; i < 100; i++)
            TG_SCOPE(r->rt)
                rings_fill(r, tg_alloc(r->rt, TG_INT64, 1, &one), 2);
    if (r->what == RINGS_ended_read)
        tg_read_i64(r->rt, t, task); /* line: ended_read */
    if (r->what == RINGS_ended_output)
        t = tg_output(r->rt, task, 0);
    TG_SCOPE(r->rt)
        rings_empty(r, t, 0, TG_TASK_NONE); /* a scope of the same depth, but another one */
}

TG_FN static void elsewhere(const struct rings *r)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, rings_value(r, 0));
    tg_args_i64(&task, 1);
    if (r->what == RINGS_nowhere)
        task.tensor[0].addr = 4096;
    else if (r->what == RINGS_dimensions)
        task.tensor[0].ndim = 200;
    else
        task.tensor[0].storage_bytes = (uint64_t)1 << 50;
    tg_submit(r->rt, RINGS_SET, &task); /* line: elsewhere */
}

TG_FN static void new_output(const struct rings *r)
{
    int64_t n = r->what == RINGS_bad_new ? -1 : 1;
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out_new(&task, TG_INT64, 1, &n);
    if (r->what == RINGS_new_input) {
        task.role[0] = TG_IN;
        tg_args_out(&task, rings_value(r, 0));
    }
    tg_args_i64(&task, 1);
    tg_submit(r->rt, r->what == RINGS_new_input ? RINGS_NEXT : RINGS_SET, &task); /* line: new */
}

/* ── tasks that do not exist ───────────────────────────────────────────────────────────── */

TG_FN static void output(const struct rings *r)
{
    uint64_t task = rings_good(r, 1, TG_TASK_NONE); /* another task sets value 0 */
    if (r->what == RINGS_no_task)
        tg_output(r->rt, task + 1, 0); /* line: no_task */
    else if (r->what == RINGS_no_ring)
        tg_output(r->rt, (uint64_t)TG_RINGS << 32, 0); /* line: no_ring */
    else
        tg_output(r->rt, task, 1); /* line: no_argument */
}

TG_FN static void depend(const struct rings *r)
{
    uint64_t first = rings_good(r, 0, TG_TASK_NONE), second = rings_good(r, 1, TG_TASK_NONE), third;
    if (r->what == RINGS_started)
        tg_depend(r->rt, second, first); /* line: started */
    TG_SCOPE_HELD(r->rt) {
        second = rings_good(r, 2, TG_TASK_NONE);
        third = rings_good(r, 3, TG_TASK_NONE);
        tg_depend(r->rt, third, second); /* good */
        tg_depend(r->rt, third, first);
        tg_depend(r->rt, third, TG_TASK_NONE);
        if (r->what == RINGS_backwards)
            tg_depend(r->rt, second, third); /* line: backwards */
        else if (r->what == RINGS_itself)
            tg_depend(r->rt, third, third); /* line: itself */
        else if (r->what == RINGS_not_there)
            tg_depend(r->rt, third, third + 1); /* line: not_there */
    }
    tg_depend(r->rt, third, first); /* line: let_go */
}

/* ── results ───────────────────────────────────────────────────────────────────────────── */

TG_FN static void read(const struct rings *r)
{
    uint64_t task = rings_good(r, 0, TG_TASK_NONE);
    int64_t one = 1;
    switch (r->what) {
    case RINGS_read_two:
        tg_read_i64(r->rt, tg_tensor_slice(r->value, 0, 0, 2, 1), task); /* line: read_two */
        break;
    case RINGS_read_half:
        tg_read_i64(r->rt, tg_alloc(r->rt, TG_INT4, 1, &one), task); /* line: read_half */
        break;
    case RINGS_read_nothing:
        tg_read_i64(r->rt, rings_value(r, r->n + 1), task); /* line: read_nothing */
        break;
    default:
        tg_read_i64(r->rt, rings_value(r, 0), task + 1); /* line: read_no_task */
    }
}

/* ── scopes ────────────────────────────────────────────────────────────────────────────── */

TG_FN static void broken(const struct rings *r)
{
    TG_SCOPE(r->rt) { /* line: broken */
        rings_good(r, 0, TG_TASK_NONE);
        break;
    }
    rings_good(r, 1, TG_TASK_NONE);
}

TG_FN static void too_deep(const struct rings *r, int64_t depth)
{
    if (depth > 0)
        TG_SCOPE(r->rt) /* line: too_deep */
            too_deep(r, depth - 1);
    else
        rings_good(r, 0, TG_TASK_NONE);
}

TG_FN void rings_mistake(const struct rings *r)
{
    rings_good(r, 0, TG_TASK_NONE);
    switch (r->what) {
    case RINGS_ended:
    case RINGS_ended_again:
    case RINGS_ended_read:
    case RINGS_ended_output:
        ended(r);
        break;
    case RINGS_no_task:
    case RINGS_no_ring:
    case RINGS_no_argument:
        output(r);
        break;
    case RINGS_after_none:
        rings_good(r, 0, (uint64_t)1 << 31);
        break;
    case RINGS_read_two:
    case RINGS_read_half:
    case RINGS_read_nothing:
    case RINGS_read_no_task:
        read(r);
        break;
    case RINGS_broken:
        broken(r);
        break;
    case RINGS_too_deep:
        too_deep(r, 64 - r->depth);
        break;
    case RINGS_one_end:
        for (int64_t i = 0; i < 2; i++)
            r->rt->ops->scope_end(r->rt); /* ends the orchestration's own scope at last */
        break;
    case RINGS_gives_up:
        tg_fail(r->rt, "this one gives up on purpose"); /* line: gives_up */
        break;
    case RINGS_nowhere:
    case RINGS_beyond:
    case RINGS_dimensions:
        elsewhere(r);
        break;
    case RINGS_new_input:
    case RINGS_bad_new:
        new_output(r);
        break;
    default:
        depend(r);
    }
    rings_good(r, 1, TG_TASK_NONE); /* calls after an error must do no harm */
}
