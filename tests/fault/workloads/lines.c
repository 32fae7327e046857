/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload that fails in a line which a report has to name. The parameter `what` says how, and the line
 * has the same word in a comment "LINE word"; "FROM word" marks the line of the outermost function. The
 * tests compile it themselves, with several options. With where=nowhere golden expects another value.
 */
#define _GNU_SOURCE
#include "table.h"

#include <stdlib.h>
#include <string.h>

static volatile int zero, ever;
static volatile int *volatile nowhere;
static void (*volatile nobody)(void), (*volatile astray)(void);
static const uint64_t wild = 0x123456789a; /* no address of a function, and not 0 */
/* No address: the processor wants its upper bits to be all the same. */
static volatile int *volatile garbage = (volatile int *)0xa5a5a5a5a5a5a5a5;
static volatile int sink;

enum what {
    NONE,
    NULL_WRITE,
    DIVIDE,
    ABORT,
    BOUNDS,
    STACK,
    INLINED,
    CALLED,
    LIBRARY,
    NOBODY,
    ASTRAY,
    GARBAGE,
    SPIN,
    WHATS
};
static const char *const words[WHATS] = {"none",   "null",    "divide", "abort",   "bounds",
                                         "stack",  "inlined", "called", "library", "nobody",
                                         "astray", "garbage", "spin"};

static inline __attribute__((always_inline)) void clamp(volatile int *to)
{
    *to = 1; /* LINE inlined */
}

__attribute__((noinline)) static int helper(void)
{
    *nowhere = 2; /* LINE called */
    return zero;
}

/* No tail call, so that the caller stays on the stack. */
__attribute__((noinline)) static int deep(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1; /* LINE stack */
    return zero < 0 ? 0 : deep(depth + 1) + room[0];
}

__attribute__((noinline)) static void fail(enum what what, const float *from)
{
    if (what == NULL_WRITE)
        *nowhere = 1; /* LINE null */
    if (what == DIVIDE)
        sink = 7 / zero; /* LINE divide */
    if (what == ABORT)
        abort(); /* LINE abort */
    if (what == BOUNDS)
        sink = (int)from[(int64_t)1 << 40]; /* LINE bounds */
    if (what == STACK)
        sink = deep(0);
    if (what == INLINED)
        clamp(nowhere);
    if (what == CALLED)
        sink += helper();
    if (what == LIBRARY)
        memset((void *)nowhere, 1, (size_t)100000 + (size_t)zero); /* LINE library */
    if (what == NOBODY)
        nobody(); /* LINE nobody */
    if (what == ASTRAY) {
        memcpy((void *)&astray, &wild, sizeof astray);
        astray(); /* LINE astray */
    }
    if (what == GARBAGE)
        *garbage = 3; /* LINE garbage */
    while (what == SPIN)
        ever++; /* LINE spin */
    sink++;
}

TG_KERNEL(lines_kernel)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    fail((enum what)tg_arg_i64(ctx, 0), x); /* FROM kernel */
    y[0] = x[0];
}

TG_KERNEL(lines_reference)
{
    if (TG_ARG(ctx, 0, const float)[1] != 0)
        fail(NULL_WRITE, TG_ARG(ctx, 0, const float)); /* FROM reference */
    TG_ARG(ctx, 1, float)[0] = TG_ARG(ctx, 0, const float)[0];
}

static enum what what_of(struct tg_case *c, const char *where)
{
    if (strcmp(tg_case_text(c, "where"), where) != 0)
        return NONE;
    for (int i = 0; i < WHATS; i++)
        if (strcmp(tg_case_text(c, "what"), words[i]) == 0)
            return (enum what)i;
    tg_case_fail(c, "unknown word");
    return NONE;
}

/* Arguments: x[2], y[1]; scalars: what fails in the kernel, what in the orchestration. */
TG_ORCHESTRATION(orchestrate)
{
    struct tg_args a;
    fail((enum what)args->scalar[1].bits, NULL); /* FROM orchestration */
    tg_args_init(&a);
    tg_args_in(&a, args->tensor[0]);
    tg_args_out(&a, args->tensor[1]);
    tg_args_i64(&a, (int64_t)args->scalar[0].bits);
    tg_submit(rt, 0, &a);
}

static void prepare(struct tg_case *c)
{
    static const int64_t two = 2, one = 1;
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &two);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &one);
    tg_case_scalar(c, "kernel", TG_INT64, (uint64_t)what_of(c, "kernel"));
    tg_case_scalar(c, "orchestration", TG_INT64, (uint64_t)what_of(c, "orchestration"));
    x[0] = 3;
    x[1] = strcmp(tg_case_text(c, "where"), "reference") == 0;
    fail(what_of(c, "prepare"), x); /* FROM prepare */
}

static void golden(struct tg_case *c)
{
    const float *x = tg_case_input(c, "x");
    fail(what_of(c, "golden"), x); /* FROM golden */
    tg_case_expect(c, "y", 0, 0)[0] =
        strcmp(tg_case_text(c, "where"), "nowhere") == 0 ? -1 : (double)x[0];
}

static const struct tg_kernel_def kernels[] = {
    {"lines_kernel", lines_kernel, TG_EITHER, "in:float32 out:float32 scalar:int64"},
};
static const struct tg_reference_def references[] = {{"lines_kernel", lines_reference, 0, 0}};
static const struct tg_case_def cases[] = {
    {"lines", "fails in a line that the report names", "where=kernel what=none"},
};

TG_WORKLOAD = {TABLE("lines", "fails in a line that the report names"), TABLE_REFERENCES};
