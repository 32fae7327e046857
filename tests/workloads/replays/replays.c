/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that add 1 to a row of numbers. In the broken module they do what the digit of their task says; the
 * digits come from the parameter `plan`, again and again:
 *
 *     0  adds 1                          5  ends the device's process
 *     1  adds 2                          6  adds 1, but spoils the process that it runs in
 *     2  adds another number each time   7  adds 1, or 101 in a process that was spoilt
 *     3  writes to address 0             8  adds 1, or writes to address 0 in a process that was spoilt
 *     4  does not return                 9  adds 1 to the first half of the row alone
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <taskglass/workload.h>
#include <unistd.h>

enum { WIDTH = 8, MOST_DIGITS = 16 };
enum { KERNEL_STEP, KERNEL_OTHER, KERNELS };

static void add(const struct tg_ctx *ctx, int32_t number, int64_t count)
{
    const int32_t *x = TG_ARG(ctx, 0, const int32_t);
    int32_t *y = TG_ARG(ctx, 1, int32_t);
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] + number;
}

#ifdef REPLAYS_BROKEN
/* The fault is intended: a sanitizer must not report it first. */
__attribute__((no_sanitize("undefined", "address"))) static void write_to_null(void)
{
    volatile int32_t *volatile nowhere = 0;
    *nowhere = 1;
}

static void misbehave(const struct tg_ctx *ctx, int64_t how)
{
    static int32_t number;
    static bool is_spoilt;
    int64_t count = tg_arg_numel(ctx, 1);
    volatile bool returns = false;
    if (how == 3 || (how == 8 && is_spoilt))
        write_to_null();
    while (how == 4 && !returns) {
    }
    if (how == 5)
        _exit(7);
    if (how == 6)
        is_spoilt = true;
    if (how == 2)
        number++;
    add(ctx,
        how == 1                ? 2
        : how == 2              ? 1000 + number
        : how == 7 && is_spoilt ? 101
                                : 1,
        how == 9 ? count / 2 : count);
}
#endif

TG_KERNEL(step)
{
#ifdef REPLAYS_BROKEN
    misbehave(ctx, tg_arg_i64(ctx, 0));
#else
    add(ctx, 1, tg_arg_numel(ctx, 1));
#endif
}

TG_KERNEL(other)
{
    add(ctx, 1, tg_arg_numel(ctx, 1));
}

TG_ORCHESTRATION(replays)
{
    struct tg_tensor x = args->tensor[0], y = args->tensor[1];
    uint64_t plan = args->scalar[0].bits;
    int64_t digits = (int64_t)args->scalar[1].bits;
    for (int64_t i = 0; i < y.shape[0]; i++) {
        uint64_t how = plan >> 4 * (i % digits) & 15;
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, tg_tensor_slice(x, 0, i, i + 1, 1));
        tg_args_out(&task, tg_tensor_slice(y, 0, i, i + 1, 1));
        tg_args_bits(&task, TG_INT64, how);
        tg_submit(rt, how == 0 && i % 2 ? KERNEL_OTHER : KERNEL_STEP, &task);
    }
}

static const struct tg_kernel_def kernels[KERNELS] = {
    [KERNEL_STEP] = {"step", step, TG_AIV, "in:int32 out:int32 scalar:int64"},
    [KERNEL_OTHER] = {"other", other, TG_AIV, "in:int32 out:int32 scalar:int64"},
};

static const struct tg_case_def cases[] = {{"plan", "as the plan says", "tasks=16 plan=0"}};

static void prepare(struct tg_case *c)
{
    const char *plan = tg_case_text(c, "plan");
    int64_t tasks = tg_case_int(c, "tasks"), shape[2] = {tasks, WIDTH};
    size_t digits = strlen(plan);
    uint64_t bits = 0;
    if (digits < 1 || digits > MOST_DIGITS || strspn(plan, "0123456789") != digits || tasks < 1 ||
        tasks > 1 << 20) {
        tg_case_fail(c, "plan must have 1 to 16 digits, and tasks must be from 1 to 1048576");
        return;
    }
    for (size_t i = 0; i < digits; i++)
        bits |= (uint64_t)(plan[i] - '0') << 4 * i;
    int32_t *x = tg_case_tensor(c, "x", TG_IN, TG_INT32, 2, shape);
    for (int64_t i = 0; x != NULL && i < tasks * WIDTH; i++)
        x[i] = (int32_t)i;
    tg_case_tensor(c, "y", TG_OUT, TG_INT32, 2, shape);
    tg_case_scalar(c, "plan", TG_INT64, bits);
    tg_case_scalar(c, "digits", TG_INT64, digits);
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "tasks") * WIDTH;
    int32_t *y = tg_case_expect_exact(c, "y");
    for (int64_t i = 0; i < n; i++)
        y[i] = (int32_t)i + 1;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "replays",
    .summary = "tasks that misbehave only when they are replayed",
    .kernels = kernels,
    .n_kernels = KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = replays,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
