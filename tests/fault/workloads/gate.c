/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload that stops at one place, so that a test can do something to a run that is exactly there.
 * TASKGLASS_GATE names the place: load (the module, in the host), device_load (the same in the device),
 * prepare, orchestration, kernel, golden, reference. It prints "gate: PLACE" on standard error and waits.
 * A gate in the host opens when the file that TASKGLASS_GATE_KEY names exists; the others stay closed.
 *
 * The place `tasks` is for runs that a limit watches: each task waits there for the file, but at most for
 * 20 ms, so it ends within its limit. The run lasts until the file exists, or until it has no more tasks.
 */
#define _GNU_SOURCE
#include "table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_closed(const char *place)
{
    const char *closed = getenv("TASKGLASS_GATE");
    return closed != NULL && strcmp(closed, place) == 0;
}

static void say(const char *place)
{
    char text[64];
    int size = snprintf(text, sizeof text, "gate: %s\n", place);
    if (write(STDERR_FILENO, text, (size_t)size) != size)
        abort();
}

static void gate(const char *place)
{
    const char *key = getenv("TASKGLASS_GATE_KEY");
    if (!is_closed(place))
        return;
    say(place);
    while (key == NULL || access(key, F_OK) != 0)
        usleep(1000);
}

static void gate_for_a_while(void)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    const char *key = getenv("TASKGLASS_GATE_KEY");
    if (key == NULL || !is_closed("tasks"))
        return;
    if (!atomic_flag_test_and_set(&is_said))
        say("tasks");
    for (int ms = 0; ms < 20 && access(key, F_OK) != 0; ms++)
        usleep(1000);
}

__attribute__((constructor)) static void construct(void)
{
    if (strcmp(program_invocation_short_name, "taskglass") == 0)
        gate("load");
    else if (strcmp(program_invocation_short_name, "taskglass-device") == 0)
        gate("device_load");
}

static const struct tg_case_def cases[] = {{"case", "adds one n times", "n=3 elements=64"}};

static void prepare(struct tg_case *c)
{
    int64_t elements = tg_case_int(c, "elements");
    gate("prepare");
    tg_case_tensor(c, "count", TG_INOUT, TG_INT32, 1, &elements);
    tg_case_scalar(c, "n", TG_INT64, (uint64_t)tg_case_int(c, "n"));
}

static void golden(struct tg_case *c)
{
    int32_t *expected = tg_case_expect_exact(c, "count");
    gate("golden");
    for (int64_t i = 0; i < tg_case_int(c, "elements"); i++)
        expected[i] = (int32_t)tg_case_int(c, "n");
}

static void add_one(const struct tg_ctx *ctx)
{
    int32_t *count = TG_ARG(ctx, 0, int32_t);
    int64_t n = ctx->tensor[0].shape[0];
    gate("kernel");
    gate_for_a_while();
    for (int64_t i = 0; i < n; i++)
        count[i]++;
}

static void reference(const struct tg_ctx *ctx)
{
    gate("reference");
    add_one(ctx);
}

static const struct tg_reference_def references[] = {{"add_one", reference, 0, 0}};
static const struct tg_kernel_def kernels[] = {{"add_one", add_one, TG_AIV, "inout:int32"}};

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    gate("orchestration");
    for (uint64_t i = 0; i < args->scalar[0].bits; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, args->tensor[0]);
        tg_args_after(&task, last);
        last = tg_submit(rt, 0, &task);
    }
}

TG_WORKLOAD = {TABLE("gate", "stops where a test wants it to"), TABLE_REFERENCES};
