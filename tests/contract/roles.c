/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains whose kernels alternate between the two kinds of cores. On the simulators the thread of one
 * core then acts for another (src/device/role.h): records, results, crashes and hangs must name the
 * core whose kind ran the kernel, not the thread's first one.
 */
#include "nodes.h"
#include <stdio.h>
#include <taskglass/recording.h>
#include <unistd.h>

enum { STEPS = 40 }; /* the good tasks before the bad one: enough for cores to have gone to sleep */

static bool is_aic(uint32_t core)
{
    return core % TG_PARTS == TG_PART_AIC;
}

/* ── crashes, hangs and cancellations after a handover ─────────────────────────────────── */

struct chain {
    struct tg_device *device;
    struct tg_graph *graph;
    struct tg_run *run;
};

static void chain_add(struct chain *c, struct tg_module *module, uint64_t count, const char *kernel)
{
    static const int64_t one = 1;
    uint64_t n = tg_graph_tasks(c->graph);
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(count, TG_INT32, 1, &one));
    if (n > 0)
        tg_args_after(&args, n - 1);
    GOOD(tg_graph_add(c->graph, tg_module_kernel(module, kernel), &args, NULL, error));
}

/* A chain of good tasks of both kinds by turns, then `bad`, which is the other kind than the one
 * before it, and one more. */
static struct chain chain_start(uint32_t cores, const char *bad)
{
    struct chain c = {.device = open_device(cores, 0)};
    struct tg_module *module = load_module(c.device, "faults");
    uint64_t count = alloc_device(c.device, 4);
    bool ends_on_aic = strncmp(bad, "fault_aic", 9) == 0;
    zero_device(c.device, count, 4);
    GOOD(tg_graph_create(module, &c.graph, error));
    for (uint64_t i = 0; i < STEPS; i++)
        chain_add(&c, module, count, i % 2 == ends_on_aic ? "fault_aic_none" : "fault_none");
    chain_add(&c, module, count, bad);
    chain_add(&c, module, count, "fault_none");
    GOOD(tg_run_start(c.graph, &far_limit, &c.run, error));
    return c;
}

static void chain_wait_for_bad(struct chain *c)
{
    uint64_t finished = 0, total;
    while (finished < STEPS)
        tg_run_progress(c->run, &finished, &total);
}

/* The result names the bad task alone, with a core of its kind. */
static void chain_end(struct chain *c, bool aic, bool faulted)
{
    struct tg_run_result result;
    tg_run_get_result(c->run, &result);
    CHECK_EQ_U(result.finished, STEPS);
    if (CHECK_EQ_U(result.n_running, 1)) {
        CHECK_EQ_U(result.running[0].task, STEPS);
        CHECK_EQ_U(is_aic(result.running[0].core), aic);
        CHECK_EQ_U(result.running[0].faulted, faulted);
    }
    tg_run_destroy(c->run);
    tg_graph_destroy(c->graph);
    tg_device_close(c->device);
}

static void crash(uint32_t cores, const char *kernel, bool aic)
{
    struct chain c = chain_start(cores, kernel);
    char text[100];
    snprintf(text, sizeof text, "task %d, kernel %s, ", STEPS, kernel);
    REFUSED(KERNEL_FAULT, text, tg_run_wait(c.run, -1, error));
    REFUSED(KERNEL_FAULT, aic ? "(AIC)" : "(AIV", tg_run_wait(c.run, -1, error));
    chain_end(&c, aic, true);
}

CONTRACT(a_crash_after_kinds_alternated_names_the_core_that_ran_the_kernel)
{
    for (int i = 0; i < contract_rounds(2, 1); i++) {
        crash(3, "fault_abort", false);
        crash(3, "fault_aic_abort", true);
        crash(6, "fault_aic_abort", true);
    }
}

CONTRACT(a_hang_after_kinds_alternated_names_the_core_that_runs_the_kernel)
{
    struct chain c = chain_start(3, "fault_aic_spin");
    chain_wait_for_bad(&c);
    hang_soon(c.run);
    REFUSED(HANG, "kernel fault_aic_spin, on core 0 (AIC)", tg_run_wait(c.run, -1, error));
    chain_end(&c, true, false);
}

/* ── mixes and results ─────────────────────────────────────────────────────────────────── */

enum { NODES = 300 };

/* Adds a chain: each node reads the one before, and every seventh is a mix. */
static void add_chain(struct nodes *nodes, uint64_t n)
{
    static const uint64_t mix[] = {WHOLE_BLOCK, 3, 6, 5};
    for (uint64_t i = 0; i < n; i++)
        nodes_add(nodes, i % 7 == 6 ? mix[i / 7 % 4] : 1 + i % 2, i > 0 ? i - 1 : 0, i > 0);
}

CONTRACT(a_chain_of_both_kinds_and_mixes_runs_in_order_for_any_number_of_cores)
{
    static const uint32_t cores[] = {1, 2, 3, 4, 6, 8, 72};
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        struct tg_device *device = open_device(cores[i], 0);
        struct nodes nodes = nodes_make(device, NODES);
        add_chain(&nodes, NODES);
        for (uint64_t run = 1; run <= 5; run++)
            nodes_run(&nodes, run);
        nodes_destroy(&nodes);
        tg_device_close(device);
    }
}

/* Kernels for either kind, in a chain with others and all at once, also where the device has
 * dedicated schedulers. A mix refuses them. */
CONTRACT(kernels_for_either_kind_run_on_any_core)
{
    static const uint32_t cores[] = {1, 3, 7};
    for (uint32_t i = 0; i < 2 * sizeof cores / sizeof cores[0]; i++) {
        struct tg_device *device = open_device(cores[i / 2], schedulers_up_to(i % 2));
        struct nodes nodes = nodes_make(device, NODES);
        uint32_t aiv = nodes.kernel[TG_AIV][0], *vector = nodes.kernel[TG_AIV];
        vector[0] = tg_module_kernel(nodes.module, "node_either_0");
        vector[1] = tg_module_kernel(nodes.module, "node_either_1");
        for (uint64_t n = 0; n < NODES; n++)
            nodes_add(&nodes, n % 3 ? 2 : 1, n > 0 ? n - 1 : 0, n > 0 && n < NODES / 2);
        for (uint64_t run = 1; run <= 3; run++)
            nodes_run(&nodes, run);
        REFUSED(BAD_ARGUMENT, "kernel node_either_0 cannot be part AIV0 of a mix",
                tg_graph_add_mix(nodes.graph, (const uint32_t[]){TG_NO_KERNEL, vector[0], aiv},
                                 NULL, NULL, error));
        nodes_destroy(&nodes);
        tg_device_close(device);
    }
}

CONTRACT(a_chain_of_both_kinds_can_be_cancelled_at_any_moment)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, NODES);
    uint64_t random = 3;
    add_chain(&nodes, NODES);
    for (int i = 0; i < contract_rounds(20, 4); i++) {
        struct tg_run *run;
        tg_status status;
        GOOD(tg_run_start(nodes.graph, &far_limit, &run, error));
        sleep_seconds((double)(next_random(&random) % 8) * 1e-4);
        tg_run_cancel(run);
        status = tg_run_wait(run, -1, NULL);
        CHECK(status == TG_OK || status == TG_CANCELLED);
        tg_run_destroy(run);
    }
    nodes_reset(&nodes);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

/* ── recordings ────────────────────────────────────────────────────────────────────────── */

static void check_cores(const struct tg_recording *recording, const struct nodes *nodes)
{
    uint64_t last[TG_PARTS] = {0}, records = 0;
    struct tg_entry entry;
    for (; tg_recording_get(recording, records, &entry); records++) {
        uint64_t parts = nodes->parts[(uint32_t)entry.record.task_id];
        uint32_t part = entry.record.core % TG_PARTS;
        if (parts == 1 || parts == 2)
            CHECK_EQ_U(is_aic(entry.record.core), parts == 1);
        else
            CHECK(parts >> part & 1);
        /* Each core writes its own stream, in order. */
        CHECK(entry.record.sequence >= last[part]);
        last[part] = entry.record.sequence + 1;
    }
    /* three or four tensors before and after each task, and two scalars */
    CHECK(records > 4 * nodes->n);
}

CONTRACT(records_of_both_kinds_are_in_the_streams_of_the_cores_that_ran_them)
{
    char folder[] = "/tmp/taskglass_test_roles_XXXXXX", command[100];
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, NODES);
    struct tg_record_config record = {.level = TG_LEVEL_FULL};
    struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record};
    struct tg_recording *recording;
    REQUIRE(mkdtemp(folder) != NULL);
    record.output_dir = folder;
    add_chain(&nodes, NODES);
    GOOD(tg_graph_run(nodes.graph, &config, NULL, error));
    CHECK(nodes_right(&nodes, 1));
    GOOD(tg_recording_open(folder, &recording, error));
    check_cores(recording, &nodes);
    tg_recording_close(recording);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    CHECK_EQ_I(system(command), 0);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

TEST_MAIN()
