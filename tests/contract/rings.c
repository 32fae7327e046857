/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that the device builds: rings of every size, long runs, and runs that end early. */
#define _GNU_SOURCE 1
#include "orchestrated.h"
#include <pthread.h>
#include <sched.h>

static struct tg_rings windows(uint32_t slots)
{
    return (struct tg_rings){.task_window = {slots, slots, slots, slots}};
}

/* Rings as small as possible, for tests that need no more. */
static struct tg_rings tiny(uint32_t slots, uint64_t heap)
{
    return (struct tg_rings){.task_window = {slots, slots, slots, slots},
                             .dep_pool = {4, 4, 4, 4},
                             .heap = {heap, heap, heap, heap},
                             .tensormap = 8};
}

static void runs_well(struct tg_device *device, enum tg_runtime_kind runtime,
                      struct orchestration of, const struct tg_rings *rings)
{
    struct orchestrated o = orchestrated_make(device, runtime, of, rings);
    orchestrated_run(&o);
    orchestrated_destroy(&o);
}

/* ── sizes ─────────────────────────────────────────────────────────────────────────────── */

CONTRACT(rings_of_every_size_give_the_same)
{
    const uint32_t slots[] = {4, 5, 6, 7, 8, 16, 64, 1000};
    struct tg_device *device = open_device(3, 0);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        for (int64_t depth = 0; depth < 5; depth += 2) {
            struct tg_rings rings = tiny(slots[i], 256);
            EACH_RUNTIME(runtime)
            {
                runs_well(device, runtime, (struct orchestration){RINGS_scopes, 100, depth, 64},
                          &rings);
                runs_well(device, runtime, (struct orchestration){RINGS_chain, 100, depth, 4},
                          &rings);
                runs_well(device, runtime, (struct orchestration){RINGS_read, 20, depth, 0},
                          &rings);
            }
            runs_well(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                      (struct orchestration){RINGS_found_scopes, 100, depth, 64}, &rings);
            runs_well(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                      (struct orchestration){RINGS_found_chain, 100, depth, 4}, &rings);
        }
    tg_device_close(device);
}

CONTRACT(every_arrangement_of_cores_gives_the_same)
{
    const struct {
        uint32_t cores, schedulers;
    } at[] = {{1, 0}, {2, 0}, {3, 1}, {12, 0}, {12, 3}};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        struct tg_device *device = open_device(at[i].cores, at[i].schedulers);
        struct tg_rings rings = tiny(5, 512);
        EACH_RUNTIME(runtime)
        {
            runs_well(device, runtime, (struct orchestration){RINGS_scopes, 500, 1, 100}, &rings);
            runs_well(device, runtime, (struct orchestration){RINGS_read, 50, 1, 0}, &rings);
            runs_well(device, runtime, (struct orchestration){RINGS_fan_in, 40, 1, 5}, NULL);
            runs_well(device, runtime, (struct orchestration){RINGS_held_after, 60, 1, 7}, NULL);
        }
        runs_well(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                  (struct orchestration){RINGS_found_scopes, 500, 1, 100}, &rings);
        runs_well(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                  (struct orchestration){RINGS_tensors, 300, 0, 8}, NULL);
        tg_device_close(device);
    }
}

CONTRACT(a_device_on_one_cpu_builds_graphs)
{
    cpu_set_t before, one;
    int cpu = 0;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    struct tg_device *device = open_device(6, 1);
    struct tg_rings rings = tiny(4, 256);
    EACH_RUNTIME(runtime)
    {
        runs_well(device, runtime, (struct orchestration){RINGS_scopes, 1000, 1, 64}, &rings);
        runs_well(device, runtime, (struct orchestration){RINGS_read, 100, 0, 0}, &rings);
    }
    tg_device_close(device);
    sched_setaffinity(0, sizeof before, &before);
}

CONTRACT(sizes_that_make_no_sense_are_refused_by_name)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = load_module(device, "rings");
    struct tg_args args;
    struct tg_graph *graph = NULL;
    tg_args_init(&args);
    EACH_RUNTIME(runtime)
    {
        struct tg_rings rings = {.task_window = {0, 3}};
        REFUSED(BAD_ARGUMENT, "--ring-task-window 3",
                tg_graph_orchestrate(module, runtime, &args, &rings, &graph, error));
        rings = (struct tg_rings){.dep_pool = {1}};
        REFUSED(BAD_ARGUMENT, "--ring-dep-pool 1",
                tg_graph_orchestrate(module, runtime, &args, &rings, &graph, error));
        rings = (struct tg_rings){.heap = {0, 0, 0, 1}};
        REFUSED(BAD_ARGUMENT, "--ring-heap 1",
                tg_graph_orchestrate(module, runtime, &args, &rings, &graph, error));
        rings = (struct tg_rings){.tensormap = UINT32_MAX};
        REFUSED(BAD_ARGUMENT, "--tensormap 4294967295",
                tg_graph_orchestrate(module, runtime, &args, &rings, &graph, error));
        rings = (struct tg_rings){.heap = {(uint64_t)1 << 43}};
        REFUSED(NO_MEMORY, "--ring-heap",
                tg_graph_orchestrate(module, runtime, &args, &rings, &graph, error));
    }
    CHECK(graph == NULL);
    tg_device_close(device);
}

/* ── long runs ─────────────────────────────────────────────────────────────────────────── */

CONTRACT(many_tasks_pass_through_few_slots)
{
    const int64_t n = contract_rounds(ROUNDS(200000, 20000), 50000);
    struct tg_device *device = open_device(3, 0);
    struct tg_rings rings = windows(16);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_chain, n, 0, 8}, &rings);
        struct tg_run_result result = orchestrated_run(&o);
        CHECK_EQ_U(result.tasks, (uint64_t)n);
        CHECK_EQ_U(result.orchestration.ring[0].task_window, 16);
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

/* The memory of a graph does not depend on its number of tasks. */
CONTRACT(a_million_tasks_take_no_more_memory_than_a_few)
{
    const int64_t n = contract_rounds(ROUNDS(333334, 10000), 30000); /* scopes of three tasks */
    struct tg_device *device = open_device(3, 0);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_scopes, n, 0, 64}, NULL);
        struct tg_device_info before, after;
        struct tg_run_result result;
        tg_device_get_info(device, &before);
        result = orchestrated_run(&o);
        tg_device_get_info(device, &after);
        CHECK_EQ_U(result.tasks, 3 * (uint64_t)n);
        CHECK_EQ_U(after.memory_used, before.memory_used);
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

CONTRACT(a_graph_that_the_device_builds_can_be_run_again_and_again)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_device_info before, after;
    tg_device_get_info(device, &before);
    EACH_RUNTIME(runtime)
    {
        struct tg_rings rings = tiny(7, 512);
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_scopes, 40, 1, 100}, &rings);
        for (int i = 0; i < ROUNDS(200, 20); i++) {
            CHECK_EQ_U(orchestrated_run(&o).tasks, 120);
            if (i % 16 == 0) { /* one run with deps.json between runs without */
                orchestrated_reset(&o);
                GOOD(tg_graph_run(o.graph, &(struct tg_run_config){.deps = true}, NULL, error));
                CHECK(orchestrated_right(&o));
            }
        }
        orchestrated_destroy(&o);
    }
    tg_device_get_info(device, &after);
    CHECK_EQ_U(after.memory_used, before.memory_used);
    tg_device_close(device);
}

CONTRACT(nothing_can_be_added_to_a_graph_that_the_device_builds)
{
    struct tg_device *device = open_device(1, 0);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o =
            orchestrated_make(device, runtime, (struct orchestration){RINGS_tasks, 4, 0, 0}, NULL);
        uint64_t task;
        CHECK_EQ_U(tg_graph_tasks(o.graph), 0);
        CHECK(tg_graph_add(o.graph, RINGS_SET, NULL, &task, NULL) != TG_OK);
        CHECK(tg_graph_add_edge(o.graph, 0, 1, NULL) != TG_OK);
        orchestrated_run(&o);
        CHECK(tg_graph_add(o.graph, RINGS_SET, NULL, &task, NULL) != TG_OK);
        orchestrated_run(&o);
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

/* ── waiting for room ──────────────────────────────────────────────────────────────────── */

/* A run that did not get its CPUs is not warned of, because its waits may have been the machine's: there a later
 * one will do. */
static struct tg_run_result run_until_warned(struct orchestrated *o)
{
    struct tg_run_result result = orchestrated_run(o);
    for (int more = 0; more < 30 && result.orchestration.warning == TG_OK; more++)
        result = orchestrated_run(o);
    return result;
}

CONTRACT(an_orchestration_that_waits_for_slots_is_warned_of)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_rings rings = windows(4);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_slow, 40, 0, 10000}, &rings);
        struct tg_run_result result = run_until_warned(&o);
        CHECK_EQ_S(tg_status_name(result.orchestration.warning), "RING_BUFFER_BACKPRESSURE");
        CHECK_HAS(result.orchestration.text, "--ring-task-window");
        CHECK(result.orchestration.wait_seconds > 0.5 * result.orchestration.seconds);
        orchestrated_destroy(&o);
        o = orchestrated_make(device, runtime, (struct orchestration){RINGS_slow, 40, 0, 1000},
                              NULL);
        result = orchestrated_run(&o);
        CHECK_EQ_I(result.orchestration.warning, TG_OK);
        CHECK_EQ_S(result.orchestration.text, "");
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

CONTRACT(what_a_run_says_of_its_rings_is_true)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_rings rings = {
        .task_window = {10, 20, 30, 40}, .heap = {256, 512, 1024, 2048}, .dep_pool = {4, 5, 6, 7}};
    struct orchestrated o =
        orchestrated_make(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                          (struct orchestration){RINGS_scopes, 50, 1, 64}, &rings);
    struct tg_run_result result = orchestrated_run(&o);
    CHECK_EQ_U(result.orchestration.n_rings, TG_RINGS);
    for (uint64_t r = 0; r < TG_RINGS; r++) {
        const struct tg_ring_use *use = &result.orchestration.ring[r];
        CHECK_EQ_U(use->tasks, r == 2 ? 150 : 0);
        CHECK_EQ_U(use->task_window, rings.task_window[r]);
        CHECK_EQ_U(use->heap, rings.heap[r]);
        CHECK_EQ_U(use->dep_pool, rings.dep_pool[r]);
        CHECK(use->task_window_used <= use->task_window && use->heap_used <= use->heap);
    }
    CHECK_EQ_U(result.orchestration.scopes, 52);
    orchestrated_destroy(&o);
    tg_device_close(device);
}

CONTRACT(progress_of_a_graph_that_the_device_builds_only_goes_up)
{
    struct tg_device *device = open_device(3, 0);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_chain, 20000, 0, 8}, NULL);
        struct tg_run *run;
        uint64_t last = 0, last_total = 0, finished, total;
        GOOD(tg_run_start(o.graph, NULL, &run, error));
        do {
            tg_run_progress(run, &finished, &total);
            REQUIRE(finished >= last && total >= last_total && finished <= total);
            last = finished;
            last_total = total;
        } while (tg_run_wait(run, 0, NULL) == TG_TIMED_OUT);
        tg_run_progress(run, &finished, &total);
        CHECK_EQ_U(finished, 20000);
        CHECK_EQ_U(total, 20000);
        tg_run_destroy(run);
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

/* ── rings that can never drain ────────────────────────────────────────────────────────── */

static void fails(struct orchestrated *o, tg_status want, const char *part)
{
    struct tg_run_result result;
    struct tg_error error = {TG_OK, ""};
    double start = seconds_now();
    CHECK_EQ_S(tg_status_name(tg_graph_run(o->graph, &far_limit, &result, &error)),
               tg_status_name(want));
    CHECK(seconds_now() - start < AT_ONCE_SECONDS);
    CHECK_HAS(error.text, part);
    CHECK_EQ_I(result.status, want);
}

/* The device works as before: the graph fails again, and others pass. */
CONTRACT(a_deadlock_leaves_a_device_that_works)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_device_info info;
    struct tg_rings rings = tiny(8, 1024);
    EACH_RUNTIME(runtime)
    {
        const struct {
            struct orchestration of;
            tg_status status;
            const char *part;
        } cases[] = {
            {{RINGS_held, 20, 1, 0}, TG_SCOPE_DEADLOCK, "8/8"},
            {{RINGS_pieces, 3, 1, 600}, TG_HEAP_RING_DEADLOCK, "--ring-heap"},
            {{RINGS_outputs, 1, 3, 5000}, TG_HEAP_RING_DEADLOCK, "--ring-heap"},
            {{RINGS_held_after, 8, 1, 7}, TG_DEP_POOL_OVERFLOW, "4/4"},
            {{RINGS_read_held, 4, 1, 0}, TG_FLOW_CONTROL_DEADLOCK, "can never finish"},
            {{RINGS_read_behind_held, 4, 1, 0}, TG_FLOW_CONTROL_DEADLOCK, "can never finish"},
            {{RINGS_backwards, 4, 1, 0}, TG_BAD_ARGUMENT, "mistakes.c"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct orchestrated o = orchestrated_make(device, runtime, cases[i].of, &rings);
            for (int again = 0; again < 3; again++)
                fails(&o, cases[i].status, cases[i].part);
            orchestrated_destroy(&o);
            orchestrated_works(device);
        }
    }
    tg_device_get_info(device, &info);
    CHECK(!info.lost);
    tg_device_close(device);
}

/* Running tasks finish; waiting tasks never start. */
CONTRACT(a_deadlock_while_tasks_run_is_found_at_once)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_rings rings = windows(8);
    for (int i = 0; i < ROUNDS(20, 4); i++) {
        struct orchestrated o =
            orchestrated_make(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                              (struct orchestration){RINGS_tasks, 9 + i, i % 5, 0}, &rings);
        fails(&o, TG_SCOPE_DEADLOCK, "8/8");
        orchestrated_destroy(&o);
    }
    orchestrated_works(device);
    tg_device_close(device);
}

/* ── cancelling ────────────────────────────────────────────────────────────────────────── */

CONTRACT(a_run_can_be_cancelled_at_any_moment_of_its_orchestration)
{
    struct tg_device *device = open_device(3, 0);
    uint64_t random = 3;
    EACH_RUNTIME(runtime)
    {
        struct tg_rings rings = tiny(6, 512);
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_scopes, 3000, 1, 100}, &rings);
        for (int i = 0; i < ROUNDS(40, 8); i++) {
            struct tg_run *run;
            GOOD(tg_run_start(o.graph, NULL, &run, error));
            sleep_seconds((double)(next_random(&random) % 2000) * 1e-6);
            tg_run_cancel(run);
            tg_status status = tg_run_wait(run, -1, NULL);
            CHECK(status == TG_OK || status == TG_CANCELLED);
            tg_run_destroy(run);
            if (i % 8 == 0)
                orchestrated_run(&o);
        }
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

CONTRACT(an_orchestration_that_waits_for_a_slot_can_be_cancelled)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_rings rings = windows(4);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_asleep, 400, 1, 500000}, &rings);
        struct tg_run *run;
        struct tg_run_result result;
        GOOD(tg_run_start(o.graph, NULL, &run, error));
        sleep_seconds(0.02);
        tg_run_cancel(run);
        REFUSED(CANCELLED, "cancelled", tg_run_wait(run, AT_ONCE_SECONDS, error));
        tg_run_get_result(run, &result);
        CHECK(result.tasks < 100);
        tg_run_destroy(run);
        orchestrated_destroy(&o);
    }
    orchestrated_works(device);
    tg_device_close(device);
}

CONTRACT(an_orchestration_that_waits_for_a_result_can_be_cancelled)
{
    struct tg_device *device = open_device(3, 0);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_read, 200000, 0, 0}, NULL);
        struct tg_run *run;
        GOOD(tg_run_start(o.graph, NULL, &run, error));
        sleep_seconds(0.01);
        tg_run_cancel(run);
        REFUSED(CANCELLED, "cancelled", tg_run_wait(run, AT_ONCE_SECONDS, error));
        tg_run_destroy(run);
        orchestrated_destroy(&o);
    }
    orchestrated_works(device);
    tg_device_close(device);
}

/* The orchestration never returns, so after the no-progress limit the device is lost. */
CONTRACT(an_endless_orchestration_can_be_cancelled_at_the_cost_of_the_device)
{
    EACH_RUNTIME(runtime)
    {
        struct tg_device *device = open_device(3, 0);
        struct tg_device_info info;
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_endless, 4, 1, 0}, NULL);
        struct tg_run *run;
        GOOD(tg_run_start(o.graph, &far_limit, &run, error));
        REFUSED(TIMED_OUT, "running", tg_run_wait(run, contract_seconds(0.02), error));
        hang_soon(run);
        tg_run_cancel(run);
        REFUSED(CANCELLED, "did not stop", tg_run_wait(run, -1, error));
        tg_device_get_info(device, &info);
        CHECK(info.lost);
        tg_run_destroy(run);
        orchestrated_destroy(&o);
        tg_device_close(device);
    }
    next_device_orchestrates();
}

static void *cancel_soon(void *run)
{
    sleep_seconds(0.0005);
    tg_run_cancel(run);
    return NULL;
}

CONTRACT(another_thread_can_cancel_an_orchestration)
{
    struct tg_device *device = open_device(3, 0);
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_chain, 100000, 0, 8}, NULL);
        for (int i = 0; i < ROUNDS(10, 3); i++) {
            struct tg_run *run;
            pthread_t thread;
            GOOD(tg_run_start(o.graph, NULL, &run, error));
            REQUIRE(pthread_create(&thread, NULL, cancel_soon, run) == 0);
            tg_status status = tg_run_wait(run, -1, NULL);
            CHECK(status == TG_OK || status == TG_CANCELLED);
            pthread_join(thread, NULL);
            tg_run_destroy(run);
        }
        orchestrated_destroy(&o);
    }
    orchestrated_works(device);
    tg_device_close(device);
}

TEST_MAIN()
