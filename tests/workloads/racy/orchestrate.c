/* SPDX-License-Identifier: Apache-2.0 */
#include "racy.h"

/* What all cases have: the tensors, and the first value that a late reader should see. */
struct racy {
    struct tg_rt *rt;
    struct tg_tensor x, y, z;
    int64_t length, right;
};

TG_FN static struct tg_tensor buffer(const struct racy *r, int64_t n)
{
    return tg_alloc(r->rt, TG_INT64, 1, &n);
}

/* A task from x to y that waits for `after` (TG_TASK_NONE: nothing). */
TG_FN static uint64_t one(const struct racy *r, uint32_t kernel, struct tg_tensor x,
                          struct tg_tensor y, int64_t k, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, x);
    if (kernel == ADD)
        tg_args_inout(&task, y);
    else
        tg_args_out(&task, y);
    if (kernel != COPY && kernel != CLOCK)
        tg_args_i64(&task, k);
    if (after != TG_TASK_NONE)
        tg_args_after(&task, after);
    return tg_submit(r->rt, kernel, &task);
}

/* x through `length` tasks; the last tensor in *end. */
TG_FN static uint64_t chain(const struct racy *r, struct tg_tensor *end)
{
    struct tg_tensor at = r->x;
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < r->length; i++) {
        struct tg_tensor next = buffer(r, N);
        last = one(r, STEP, at, next, i, last);
        at = next;
    }
    *end = at;
    return last;
}

/* The reader is submitted first, and the writer comes at the end of the chain. Returns the reader. */
TG_FN static uint64_t war(const struct racy *r, uint32_t reader, struct tg_tensor to)
{
    struct tg_tensor b = buffer(r, N), end;
    uint64_t first = one(r, STEP, r->x, b, 1, TG_TASK_NONE);
    uint64_t read = one(r, reader, b, to, r->right, first); /* the edge from here is missing */
    uint64_t last = chain(r, &end);
    one(r, STEP, end, b, 7, last);
    return read;
}

/* The writer is submitted first, and the reader comes at the end of the chain. */
TG_FN static uint64_t raw(const struct racy *r, struct tg_tensor to)
{
    struct tg_tensor b = buffer(r, N), end;
    one(r, STEP, r->x, b, 1, TG_TASK_NONE);
    return one(r, COPY, b, to, 0, chain(r, &end));
}

TG_FN static void two(const struct racy *r)
{
    struct tg_tensor a = buffer(r, N), b = buffer(r, N);
    uint64_t first = war(r, COPY, a), second = war(r, COPY, b);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_in(&task, b);
    tg_args_out(&task, r->z);
    tg_args_i64(&task, r->right);
    tg_args_after(&task, first);
    tg_args_after(&task, second);
    tg_submit(r->rt, BOTH, &task);
}

/* The writer's output and the reader's input are neighbours. */
TG_FN static void strayed(const struct racy *r)
{
    struct tg_tensor pair = buffer(r, 2 * N), end;
    struct tg_tensor low = tg_tensor_slice(pair, 0, 0, N, 1);
    struct tg_tensor high = tg_tensor_slice(pair, 0, N, 2 * N, 1);
    uint64_t first = one(r, STEP, r->x, high, 1, TG_TASK_NONE);
    one(r, COPY, high, r->z, 0, first);
    uint64_t last = chain(r, &end);
    one(r, STRAY, end, low, 7, last);
}

/* How many tasks there are depends on the value that was read. */
TG_FN static void branch(const struct racy *r)
{
    struct tg_tensor copy = buffer(r, N), scratch = buffer(r, N);
    uint64_t reader = raw(r, copy);
    int64_t got = tg_read_i64(r->rt, tg_tensor_slice(copy, 0, 0, 1, 1), reader);
    one(r, STEP, r->x, r->z, 1, TG_TASK_NONE);
    if (got != r->right)
        one(r, STEP, r->x, scratch, 1, TG_TASK_NONE);
}

TG_FN static void commute(const struct racy *r)
{
    uint64_t id[SUMS];
    struct tg_tensor b = buffer(r, N);
    struct tg_args task;
    uint64_t first = one(r, STEP, r->x, b, 1, TG_TASK_NONE);
    for (int i = 0; i < SUMS; i++)
        id[i] = one(r, ADD, r->x, b, i, first);
    tg_args_init(&task);
    tg_args_in(&task, b);
    tg_args_out(&task, r->z);
    tg_args_after_all(&task, id, SUMS);
    tg_submit(r->rt, COPY, &task);
}

/* The reader has no edge, and its scope holds it back. */
TG_FN static void held(const struct racy *r, bool in_time)
{
    struct tg_tensor b = buffer(r, N), one_value = tg_tensor_slice(b, 0, 0, 1, 1);
    uint64_t first = one(r, STEP, r->x, b, 1, TG_TASK_NONE);
    TG_SCOPE_HELD(r->rt) {
        one(r, COPY, b, r->z, 0, TG_TASK_NONE);
        if (in_time)
            tg_read_i64(r->rt, one_value, first);
    }
    if (!in_time)
        tg_read_i64(r->rt, one_value, first);
}

TG_FN static void clean(const struct racy *r, uint32_t last)
{
    struct tg_tensor b = buffer(r, N);
    uint64_t first = one(r, STEP, r->x, b, 1, TG_TASK_NONE);
    one(r, last, b, r->z, 0, first);
}

TG_ORCHESTRATION(racy)
{
    struct tg_tensor end;
    struct racy r = {rt,
                     args->tensor[0],
                     args->tensor[1],
                     args->tensor[2],
                     tg_args_get_i64(args, 1),
                     RACY_STEP((int64_t)1, 1)};
    switch (tg_args_get_i64(args, 0)) {
    case WAR:
        war(&r, COPY, r.z);
        break;
    case RAW:
        raw(&r, r.z);
        break;
    case TWO:
        two(&r);
        break;
    case STRAYED:
        strayed(&r);
        break;
    case BRANCH:
        branch(&r);
        break;
    case HANGS:
        war(&r, SPIN, r.z);
        break;
    case CRASHES:
        war(&r, CRASH, r.z);
        break;
    case COMMUTE:
        commute(&r);
        break;
    case HELD:
    case LATE:
        held(&r, tg_args_get_i64(args, 0) == HELD);
        break;
    case TIMED:
        clean(&r, CLOCK);
        break;
    default:
        clean(&r, COPY);
    }
    uint64_t last = chain(&r, &end);
    one(&r, STEP, end, r.y, 7, last);
}
