/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that the device builds from cases of workloads/rings; EACH_RUNTIME runs a body for both
 * runtimes that do so. */
#ifndef TASKGLASS_CONTRACT_ORCHESTRATED_H
#define TASKGLASS_CONTRACT_ORCHESTRATED_H

#include "contract.h"
#include "workloads/rings/rings.h"

#define EACH_RUNTIME(runtime)                                         \
    for (enum tg_runtime_kind runtime = TG_RUNTIME_AICPU_BUILD_GRAPH; \
         runtime <= TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;              \
         runtime = (enum tg_runtime_kind)(runtime + 1))

/* A case with its parameters, as `--set` would give them. */
struct orchestration {
    int64_t what, n, depth, size;
};

struct orchestrated {
    struct tg_device *device;
    struct tg_graph *graph;
    struct orchestration of;
    uint64_t value;
};

TEST_FN_ void orchestrated_reset(struct orchestrated *o)
{
    zero_device(o->device, o->value, 8 * ((uint64_t)o->of.n + 1));
}

TEST_FN_ struct orchestrated orchestrated_make(struct tg_device *device,
                                               enum tg_runtime_kind runtime,
                                               struct orchestration of,
                                               const struct tg_rings *rings)
{
    struct orchestrated o = {.device = device, .of = of};
    struct tg_module *module = load_module(device, "rings");
    int64_t elements = of.n + 1;
    struct tg_args args;
    o.value = alloc_device(device, 8 * (uint64_t)elements);
    orchestrated_reset(&o);
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(o.value, TG_INT64, 1, &elements));
    tg_args_i64(&args, of.what);
    tg_args_i64(&args, of.n);
    tg_args_i64(&args, of.depth);
    tg_args_i64(&args, of.size);
    GOOD(tg_graph_orchestrate(module, runtime, &args, rings, &o.graph, error));
    return o;
}

TEST_FN_ void orchestrated_destroy(struct orchestrated *o)
{
    tg_graph_destroy(o->graph);
    tg_device_free(o->device, o->value, NULL);
}

/* True if every element but the last has the value that a good run leaves. */
TEST_FN_ bool orchestrated_right(const struct orchestrated *o)
{
    uint64_t n = (uint64_t)o->of.n;
    int64_t *value = calloc(n + 1, sizeof *value);
    bool right = true;
    GOOD(tg_device_copy_out(o->device, value, o->value, 8 * n, error));
    for (uint64_t i = 0; i < n && right; i++)
        right = CHECK_EQ_I(value[i], (int64_t)i + 1);
    free(value);
    return right;
}

/* Makes one whole run, and checks everything that holds for every run. */
TEST_FN_ struct tg_run_result orchestrated_run(struct orchestrated *o)
{
    struct tg_run_result result;
    orchestrated_reset(o);
    GOOD(tg_graph_run(o->graph, NULL, &result, error));
    CHECK_EQ_U(result.finished, result.tasks);
    CHECK(result.orchestration.on);
    REQUIRE(orchestrated_right(o));
    return result;
}

/* Checks that a small graph still runs on the device. */
TEST_FN_ void orchestrated_works(struct tg_device *device)
{
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_scopes, 20, 1, 64}, NULL);
        CHECK_EQ_U(orchestrated_run(&o).tasks, 60);
        orchestrated_destroy(&o);
    }
}

TEST_FN_ void next_device_orchestrates(void)
{
    struct tg_device *device = open_device(3, 0);
    orchestrated_works(device);
    tg_device_close(device);
}

#endif
