/* SPDX-License-Identifier: Apache-2.0 */
/* The life cycle of a run: start, wait, progress, cancel, and the next run. */
#define _GNU_SOURCE 1
#include "nodes.h"
#include "slow.h"
#include <math.h>
#include <pthread.h>

CONTRACT(a_run_can_be_waited_for_again_with_the_same_answer)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 3, 0, false);
    struct tg_run *run;
    struct tg_run_result result;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    for (int i = 0; i < 3; i++)
        GOOD(tg_run_wait(run, -1, error));
    GOOD(tg_run_wait(run, 0, error));
    tg_run_get_result(run, &result);
    CHECK_EQ_I(result.status, TG_OK);
    CHECK_EQ_U(result.tasks, 3);
    CHECK_EQ_U(result.finished, 3);
    CHECK_EQ_U(result.waiting, 0);
    CHECK_EQ_U(result.n_running, 0);
    CHECK(result.running == NULL);
    CHECK(result.start_seconds >= 0 && result.execute_seconds > 0);
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_run_that_is_still_running_times_out_a_wait_and_goes_on)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 30, 0.01, true);
    struct tg_run *run;
    struct tg_run_result result;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    REFUSED(TIMED_OUT, "running", tg_run_wait(run, 0, error));
    REFUSED(TIMED_OUT, "running", tg_run_wait(run, 0.01, error));
    tg_run_get_result(run, &result);
    CHECK_EQ_I(result.status, TG_TIMED_OUT);
    GOOD(tg_run_wait(run, -1, error));
    CHECK_EQ_U(slow_count(&slow, 1), 30);
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_second_run_is_refused_while_one_is_under_way)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 10, 0.01, true), other = slow_make(device, 1, 0, false);
    struct tg_run *run, *second = NULL;
    struct tg_module *module = NULL;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    REFUSED(BUSY, "run", tg_run_start(other.graph, NULL, &second, error));
    REFUSED(BUSY, "run", tg_run_start(slow.graph, NULL, &second, error));
    REFUSED(BUSY, "run", tg_graph_run(other.graph, NULL, NULL, error));
    REFUSED(BUSY, "run", tg_graph_upload(other.graph, error));
    REFUSED(BUSY, "run", tg_device_load(device, workload_path("graphs"), &module, error));
    CHECK(second == NULL && module == NULL);
    GOOD(tg_run_wait(run, -1, error));
    GOOD(tg_graph_run(other.graph, NULL, NULL, error)); /* while the first still exists */
    tg_run_destroy(run);
    slow_destroy(&slow);
    slow_destroy(&other);
    tg_device_close(device);
}

CONTRACT(a_run_that_does_not_start_leaves_no_handle)
{
    static const double bad[] = {NAN, -1, -INFINITY};
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 1, 0, false);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_run_config config = {.timeout = bad[i]};
        struct tg_run *run = (struct tg_run *)&config; /* what an earlier run may have left */
        REFUSED(BAD_ARGUMENT, "timeout", tg_run_start(slow.graph, &config, &run, error));
        CHECK(run == NULL);
    }
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_load_limit_that_is_no_time_is_refused)
{
    static const double bad[] = {NAN, -0.5, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_device_config config = device_config(1, 0);
        struct tg_device *device = (struct tg_device *)&config;
        config.load_timeout = bad[i];
        REFUSED(BAD_ARGUMENT, "load_timeout", tg_device_open(&config, &device, error));
        CHECK(device == NULL);
    }
}

CONTRACT(memory_can_be_copied_and_handed_out_during_a_run)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 20, 0.005, true);
    struct tg_run *run;
    uint64_t in = 0x1122334455667788, out = 0;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    uint64_t address = alloc_device(device, 8);
    GOOD(tg_device_copy_in(device, address, &in, 8, error));
    GOOD(tg_device_copy_out(device, &out, address, 8, error));
    GOOD(tg_device_free(device, address, error));
    CHECK_EQ_U(out, in);
    GOOD(tg_run_wait(run, -1, error));
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

/* Reads the progress as fast as it can: the count must never decrease. */
static void watch(struct tg_run *run, uint64_t n)
{
    uint64_t last = 0, finished, total;
    tg_status status;
    do {
        tg_run_progress(run, &finished, &total);
        CHECK_EQ_U(total, n);
        CHECK(finished <= n);
        REQUIRE(finished >= last);
        last = finished;
        status = tg_run_wait(run, 0, NULL);
    } while (status == TG_TIMED_OUT);
    CHECK_EQ_I(status, TG_OK);
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, n);
}

CONTRACT(progress_only_goes_up)
{
    const uint64_t n = 200;
    struct tg_device *device = open_device(6, 0);
    struct slow slow = slow_make(device, n, 0.00001, true);
    for (int i = 0; i < ROUNDS(100, 20); i++) {
        struct tg_run *run;
        GOOD(tg_run_start(slow.graph, NULL, &run, error));
        watch(run, n);
        tg_run_destroy(run);
    }
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(progress_starts_from_nothing_in_every_run)
{
    if (!can_be_stopped())
        SKIP("the device cannot be stopped");
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 10, 0, true);
    struct tg_run *run;
    uint64_t finished, total;
    int pid = device_pid(device);
    GOOD(tg_graph_run(slow.graph, NULL, NULL, error));
    stop_process(pid); /* so that the run cannot have begun */
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, 0);
    kill(pid, SIGCONT);
    GOOD(tg_run_wait(run, -1, error));
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_graph_can_be_run_a_thousand_times)
{
    const uint64_t runs = ROUNDS(1000, 60);
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 100);
    uint64_t random = 5;
    nodes_add_random(&nodes, 100, 4, true, &random);
    for (uint64_t i = 1; i < runs; i++)
        GOOD(tg_graph_run(nodes.graph, NULL, NULL, error));
    nodes_run(&nodes, runs);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(a_graph_can_be_cleared_and_built_again)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 3000);
    uint64_t random = 6;
    for (int i = 0; i < ROUNDS(60, 10); i++) {
        nodes_clear(&nodes);
        nodes_add_random(&nodes, next_random(&random) % 3000, 1 + next_random(&random) % 5,
                         i % 2 == 0, &random);
        nodes_run(&nodes, 1);
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(a_graph_that_grew_since_its_last_run_runs_whole)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 2000);
    uint64_t random = 8;
    for (int i = 0; i < ROUNDS(40, 8); i++) {
        nodes_reset(&nodes);
        nodes_add_random(&nodes, 50, 4, true, &random);
        nodes_run(&nodes, 1);
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(an_edge_added_since_the_last_run_is_obeyed)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 64);
    for (int i = 0; i < 64; i++)
        nodes_add(&nodes, MASK_AIV, 0, 0);
    nodes_run(&nodes, 1);
    for (uint64_t i = 0; i + 1 < 64; i++) {
        GOOD(tg_graph_add_edge(nodes.graph, i, i + 1, error));
        nodes_run(&nodes, i + 2);
    }
    CHECK_EQ_U(tg_graph_edges(nodes.graph), 63);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(graphs_on_one_device_take_turns)
{
    enum { GRAPHS = 5 };
    struct tg_device *device = open_device(4, 0);
    struct nodes nodes[GRAPHS];
    uint64_t random = 9;
    for (int i = 0; i < GRAPHS; i++) {
        nodes[i] = nodes_make(device, 300);
        nodes_add_random(&nodes[i], 300, 4, i % 2 == 0, &random);
    }
    for (uint64_t round = 1; round <= ROUNDS(20, 3); round++)
        for (int i = 0; i < GRAPHS; i++)
            nodes_run(&nodes[i], round);
    nodes_destroy(&nodes[2]);
    nodes_run(&nodes[3], ROUNDS(20, 3) + 1);
    for (int i = 0; i < GRAPHS; i++)
        if (i != 2)
            nodes_destroy(&nodes[i]);
    tg_device_close(device);
}

CONTRACT(destroying_a_graph_gives_its_device_memory_back)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_device_info before, after;
    uint64_t random = 10;
    tg_device_get_info(device, &before);
    for (int i = 0; i < 10; i++) {
        struct nodes nodes = nodes_make(device, 500);
        nodes_add_random(&nodes, 500, 4, true, &random);
        nodes_run(&nodes, 1);
        nodes_destroy(&nodes);
    }
    tg_device_get_info(device, &after);
    CHECK_EQ_U(after.memory_used, before.memory_used);
    tg_device_close(device);
}

/* ── cancelling ────────────────────────────────────────────────────────────────────────── */

CONTRACT(a_cancelled_run_starts_no_more_tasks)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 10000, 0.002, true);
    struct tg_run *run;
    struct tg_run_result result;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    tg_run_cancel(run);
    REFUSED(CANCELLED, "of 10000 tasks", tg_run_wait(run, -1, error));
    REFUSED(CANCELLED, "of 10000 tasks", tg_run_wait(run, 0, error));
    tg_run_get_result(run, &result);
    CHECK_EQ_I(result.status, TG_CANCELLED);
    CHECK_EQ_U(result.waiting, result.tasks - result.finished);
    CHECK(result.finished < 10000);
    CHECK_EQ_U(slow_count(&slow, 1), result.finished);
    CHECK_EQ_U(slow_count(&slow, 0), 10000 - result.finished);
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_device_runs_on_after_a_cancelled_run)
{
    const struct {
        uint32_t cores, schedulers;
    } at[] = {{1, 0}, {3, 0}, {5, 0}, {3, 1}, {9, schedulers_up_to(3)}};
    for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
        struct tg_device *device = open_device(at[k].cores, at[k].schedulers);
        struct nodes nodes = nodes_make(device, 800);
        uint64_t random = 20 + k;
        nodes_add_random(&nodes, 800, 3, true, &random);
        for (int i = 0; i < ROUNDS(15, 4); i++) {
            struct tg_run *run;
            GOOD(tg_run_start(nodes.graph, NULL, &run, error));
            if (i % 3)
                sleep_seconds((double)(next_random(&random) % 1000) * 1e-6);
            tg_run_cancel(run);
            tg_status status = tg_run_wait(run, -1, NULL);
            CHECK(status == TG_OK || status == TG_CANCELLED);
            tg_run_destroy(run);
            nodes_reset(&nodes);
            nodes_run(&nodes, 1); /* starts afresh: nothing of the last run is left */
        }
        nodes_destroy(&nodes);
        tg_device_close(device);
    }
}

/* The output of a task that counts as finished is right, also in a cancelled run. */
CONTRACT(no_task_of_a_cancelled_run_is_half_done)
{
    struct tg_device *device = open_device(6, 0);
    struct nodes nodes = nodes_make(device, 3000);
    uint64_t random = 31, *value = calloc(3000, 8), wrong = 0;
    nodes_add_random(&nodes, 3000, 3, false, &random);
    for (int i = 0; i < ROUNDS(40, 6); i++) {
        struct tg_run *run;
        struct tg_run_result result;
        uint64_t done = 0;
        nodes_reset(&nodes);
        GOOD(tg_run_start(nodes.graph, NULL, &run, error));
        sleep_seconds((double)(next_random(&random) % 500) * 1e-6);
        tg_run_cancel(run);
        tg_run_wait(run, -1, NULL);
        tg_run_get_result(run, &result);
        GOOD(tg_device_copy_out(device, value, nodes.value, 3000 * 8, error));
        for (uint64_t k = 0; k < 3000; k++) {
            done += value[k] == nodes.expected[k];
            wrong += value[k] != 0 && value[k] != nodes.expected[k];
        }
        CHECK_EQ_U(done, result.finished);
        tg_run_destroy(run);
    }
    CHECK_EQ_U(wrong, 0);
    free(value);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

/* A running mix has a barrier in its middle: cancelling must not let one part pass it alone. */
CONTRACT(no_mix_of_a_cancelled_run_is_half_done)
{
    const uint64_t n = 2000;
    struct tg_device *device = open_device(6, 0);
    struct nodes nodes = nodes_make(device, n);
    uint64_t random = 32, *value = calloc(n, 8), wrong = 0;
    for (uint64_t i = 0; i < n; i++)
        nodes_add(&nodes, WHOLE_BLOCK, i ? i - 1 : 0, i > 0);
    for (int i = 0; i < ROUNDS(100, 10); i++) {
        struct tg_run *run;
        nodes_reset(&nodes);
        GOOD(tg_run_start(nodes.graph, NULL, &run, error));
        sleep_seconds((double)(next_random(&random) % 2000) * 1e-6);
        tg_run_cancel(run);
        tg_run_wait(run, -1, NULL);
        GOOD(tg_device_copy_out(device, value, nodes.value, n * 8, error));
        for (uint64_t k = 0; k < n; k++)
            wrong += value[k] != 0 && value[k] != nodes.expected[k];
        tg_run_destroy(run);
    }
    CHECK_EQ_U(wrong, 0);
    free(value);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(an_empty_run_can_be_cancelled)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 1);
    for (int i = 0; i < 20; i++) {
        struct tg_run *run;
        GOOD(tg_run_start(nodes.graph, NULL, &run, error));
        tg_run_cancel(run);
        tg_status status = tg_run_wait(run, -1, NULL);
        CHECK(status == TG_OK || status == TG_CANCELLED);
        tg_run_destroy(run);
    }
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(cancelling_a_finished_run_changes_nothing)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 3, 0, false);
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    GOOD(tg_run_wait(run, -1, error));
    tg_run_cancel(run);
    GOOD(tg_run_wait(run, -1, error));
    tg_run_destroy(run);
    GOOD(tg_graph_run(slow.graph, NULL, NULL, error));
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(cancelling_a_finished_run_does_not_stop_the_next)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 3, 0, false), next = slow_make(device, 50, 0.001, true);
    for (int i = 0; i < 10; i++) {
        struct tg_run *run, *second;
        GOOD(tg_run_start(slow.graph, NULL, &run, error));
        GOOD(tg_run_wait(run, -1, error));
        GOOD(tg_run_start(next.graph, NULL, &second, error));
        sleep_seconds(0.002);
        tg_run_cancel(run);
        GOOD(tg_run_wait(second, -1, error));
        tg_run_destroy(run);
        tg_run_destroy(second);
    }
    slow_destroy(&slow);
    slow_destroy(&next);
    tg_device_close(device);
}

CONTRACT(cancelling_many_times_is_as_cancelling_once)
{
    struct tg_device *device = open_device(1, 0);
    struct slow slow = slow_make(device, 10000, 0.002, true);
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    for (int i = 0; i < 100000; i++)
        tg_run_cancel(run);
    REFUSED(CANCELLED, "cancelled", tg_run_wait(run, -1, error));
    tg_run_destroy(run);
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    REFUSED(TIMED_OUT, "running", tg_run_wait(run, 0.01, error));
    tg_run_destroy(run);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_run_that_is_destroyed_while_it_runs_is_cancelled)
{
    struct tg_device *device = open_device(2, 0);
    struct slow slow = slow_make(device, 10000, 0.001, false);
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    tg_run_destroy(run);
    CHECK(slow_count(&slow, 0) > 0);
    tg_run_destroy(NULL);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_device_that_is_closed_after_a_destroyed_run_closes)
{
    for (int i = 0; i < contract_rounds(5, 2); i++) {
        struct tg_device *device = open_device(3, (uint32_t)i % 2);
        struct slow slow = slow_make(device, 1000, 0.001, false);
        struct tg_run *run;
        GOOD(tg_run_start(slow.graph, NULL, &run, error));
        tg_run_destroy(run);
        slow_destroy(&slow);
        tg_device_close(device);
    }
}

struct canceller {
    struct tg_run *run;
    double after;
};

static void *cancel_later(void *argument)
{
    struct canceller *c = argument;
    sleep_seconds(c->after);
    tg_run_cancel(c->run);
    return NULL;
}

CONTRACT(another_thread_can_cancel_at_any_moment)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 500);
    uint64_t random = 41;
    nodes_add_random(&nodes, 500, 3, true, &random);
    for (int i = 0; i < ROUNDS(100, 20); i++) {
        struct canceller canceller = {.after = (double)(next_random(&random) % 2000) * 1e-6};
        pthread_t thread;
        nodes_reset(&nodes);
        GOOD(tg_run_start(nodes.graph, NULL, &canceller.run, error));
        REQUIRE(pthread_create(&thread, NULL, cancel_later, &canceller) == 0);
        tg_status status = tg_run_wait(canceller.run, -1, NULL);
        CHECK(status == TG_OK || status == TG_CANCELLED);
        if (status == TG_OK)
            CHECK(nodes_right(&nodes, 1));
        /* The next run begins while the cancel request may still be in transit. */
        nodes_reset(&nodes);
        nodes_run(&nodes, 1);
        pthread_join(thread, NULL);
        tg_run_destroy(canceller.run);
    }
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(several_threads_can_cancel_the_same_run)
{
    enum { THREADS = 8 };
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 10000, 0.001, true);
    for (int i = 0; i < ROUNDS(20, 4); i++) {
        struct canceller canceller = {.after = 0.0005};
        pthread_t thread[THREADS];
        GOOD(tg_run_start(slow.graph, NULL, &canceller.run, error));
        for (int k = 0; k < THREADS; k++)
            REQUIRE(pthread_create(&thread[k], NULL, cancel_later, &canceller) == 0);
        CHECK_EQ_I(tg_run_wait(canceller.run, -1, NULL), TG_CANCELLED);
        for (int k = 0; k < THREADS; k++)
            pthread_join(thread[k], NULL);
        tg_run_destroy(canceller.run);
    }
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(devices_run_side_by_side)
{
    struct tg_device *device[4];
    struct nodes nodes[4];
    struct tg_run *run[4];
    uint64_t random = 51;
    for (int i = 0; i < 4; i++) {
        device[i] = open_device(1 + 2 * (uint32_t)i, (uint32_t)i % 2);
        nodes[i] = nodes_make(device[i], 1000);
        nodes_add_random(&nodes[i], 1000, 4, true, &random);
    }
    for (uint64_t round = 1; round <= 10; round++) {
        for (int i = 0; i < 4; i++)
            GOOD(tg_run_start(nodes[i].graph, NULL, &run[i], error));
        for (int i = 3; i >= 0; i--) {
            GOOD(tg_run_wait(run[i], -1, error));
            tg_run_destroy(run[i]);
            CHECK(nodes_right(&nodes[i], round));
        }
    }
    for (int i = 0; i < 4; i++) {
        nodes_destroy(&nodes[i]);
        tg_device_close(device[i]);
    }
}

/* Opens a device whose kernel stays for so long, and runs a graph n times. Returns how many runs found a
 * kernel. */
static int count_lingered(double linger, int n)
{
    struct tg_device_config config = device_config(3, 0);
    struct tg_device *device;
    int lingered = 0;
    config.linger = linger;
    GOOD(tg_device_open(&config, &device, error));
    struct slow slow = slow_make(device, 3, 0, false);
    for (int i = 0; i < n; i++) {
        struct tg_run_result result;
        GOOD(tg_graph_run(slow.graph, NULL, &result, error));
        CHECK_EQ_U(result.finished, 3);
        CHECK(result.begin_seconds >= 0 && result.begin_seconds <= result.execute_seconds);
        CHECK(i > 0 || !result.lingered);
        lingered += result.lingered;
    }
    CHECK_EQ_U(slow_count(&slow, n), 3);
    slow_destroy(&slow);
    tg_device_close(device);
    return lingered;
}

CONTRACT(a_gpu_runs_graph_after_graph_on_a_kernel_that_stays)
{
    enum { N = 1000 };
    if (kernels_are_in_a_process())
        SKIP("its device has no kernel that could stay");
    CHECK_EQ_I(count_lingered(3600, N), N - 1);
    CHECK_EQ_I(count_lingered(-1, 20), 0);
}

CONTRACT(a_kernel_that_stays_longer_than_an_hour_is_refused)
{
    static const double bad[] = {NAN, INFINITY, 3601};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_device_config config = device_config(3, 0);
        struct tg_device *device = NULL;
        config.linger = bad[i];
        REFUSED(BAD_ARGUMENT, "linger", tg_device_open(&config, &device, error));
        CHECK(device == NULL);
    }
}

TEST_MAIN()
