/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a run and the report of its end, on a device whose every answer the test gives. */
#include "host/run.h"
#include "unit/host/graph_fake.h"
#include <math.h>
#include <signal.h>

static struct tg_graph *graph;
static struct tg_run *run;

/* Starts ten tasks of the vector kernel. */
static void begin(double timeout)
{
    struct tg_run_config config = {.timeout = timeout};
    graph = fake_graph();
    fake_add(graph, VEC, 9);
    CHECK_EQ_I(tg_graph_add_mix(graph, (const uint32_t[]){MAT, VEC, ADD}, NULL, NULL, NULL), TG_OK);
    fake.poll = TG_POLL_RUNNING;
    CHECK_EQ_I(tg_run_start(graph, &config, &run, NULL), TG_OK);
}

static void finish(void)
{
    tg_run_destroy(run);
    tg_graph_destroy(graph);
}

static void ends_with(tg_status want, const char *text)
{
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_S(tg_status_name(tg_run_wait(run, -1, &error)), tg_status_name(want));
    CHECK_EQ_S(tg_status_name(error.status), tg_status_name(want));
    CHECK_HAS(error.text, text);
}

TEST(what_workers_left_of_the_last_run_is_cleared_before_a_launch)
{
    uint64_t finished, total;
    begin(0);
    fake_status(0)->finished = 10;
    fake.poll = TG_POLL_OVER;
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_OK);
    tg_run_destroy(run);
    fake.poll = TG_POLL_RUNNING;
    CHECK_EQ_I(tg_run_start(graph, NULL, &run, NULL), TG_OK);
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, 0);
    CHECK_EQ_U(total, 10);
    fake.poll = TG_POLL_STOPPED;
    finish();
}

static void never_called(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt, (void)args;
}

/* Starts a graph that the device builds, with rings as small as possible. */
static void begin_device_built(void)
{
    static const struct tg_workload built = {
        .kernels = fake_kernel_defs, .n_kernels = 3, .orchestrate = never_called};
    struct tg_rings rings = {.task_window = {4, 4, 4, 4},
                             .heap = {256, 256, 256, 256},
                             .dep_pool = {4, 4, 4, 4},
                             .tensormap = 4};
    struct tg_args args;
    tg_args_init(&args);
    tg_graph_destroy(fake_graph());
    fake_module.workload = &built;
    fake.poll = TG_POLL_RUNNING;
    REQUIRE(tg_graph_orchestrate(&fake_module, TG_RUNTIME_AICPU_BUILD_GRAPH, &args, &rings, &graph,
                                 NULL) == TG_OK);
    REQUIRE(tg_run_start(graph, NULL, &run, NULL) == TG_OK);
}

static struct tg_orchestrator_report *fake_report(void)
{
    return (struct tg_orchestrator_report *)(void *)fake_at(
        graph->orchestration + offsetof(struct tg_orchestration, report),
        sizeof(struct tg_orchestrator_report));
}

TEST(what_the_orchestration_left_of_the_last_run_is_cleared_before_a_launch)
{
    uint64_t finished, total;
    begin_device_built();
    fake_report()->status = TG_BAD_ARGUMENT;
    fake_report()->submitted = 7;
    fake.poll = TG_POLL_STOPPED;
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_BAD_ARGUMENT);
    tg_run_destroy(run);
    fake.poll = TG_POLL_RUNNING; /* the device has not seen the request yet */
    CHECK_EQ_I(tg_run_start(graph, NULL, &run, NULL), TG_OK);
    CHECK_EQ_I(tg_run_wait(run, 0.7, NULL), TG_TIMED_OUT);
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(total, 0);
    fake.poll = TG_POLL_OVER;
    finish();
}

TEST(an_orchestration_that_has_not_failed_after_all_goes_on)
{
    begin_device_built();
    fake_report()->status = TG_BAD_ARGUMENT;
    CHECK_EQ_I(tg_run_wait(run, 0, NULL), TG_TIMED_OUT); /* one look */
    fake_report()->status = TG_OK;
    CHECK_EQ_I(tg_run_wait(run, 0.7, NULL), TG_TIMED_OUT);
    CHECK_EQ_I(fake.kills, 0);
    fake.poll = TG_POLL_OVER;
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_OK);
    finish();
}

TEST(progress_is_the_sum_over_all_workers_schedulers_too)
{
    uint64_t finished, total;
    begin(0);
    fake_status(0)->finished = 1;
    fake_status(2)->finished = 2;
    fake_status(3)->finished = 4;
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, 7);
    fake.poll = TG_POLL_OVER;
    finish();
}

TEST(progress_never_goes_down_nor_beyond_the_end)
{
    uint64_t finished, total;
    begin(0);
    fake_status(0)->finished = 5;
    tg_run_progress(run, &finished, &total);
    fake_status(0)->finished = 2;
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, 5);
    for (uint32_t i = 0; i < FAKE_LANES; i++)
        fake_status(i)->finished = UINT64_MAX;
    tg_run_progress(run, &finished, &total);
    CHECK_EQ_U(finished, 10);
    fake.poll = TG_POLL_OVER;
    finish();
}

TEST(a_run_without_progress_is_a_hang_and_the_device_is_killed)
{
    begin(0.01);
    fake_status(1)->running = 4;
    fake_status(1)->part = TG_PART_AIV0;
    fake_status(0)->finished = 3;
    ends_with(TG_HANG, "3 of 10 finished, 1 running: task 3, kernel vec, on core 1 (AIV0)");
    CHECK_EQ_I(fake.kills, 1);
    CHECK(fake_device.lost);
    finish();
}

TEST(looking_at_progress_does_not_hide_it_from_the_watchdog)
{
    uint64_t finished, total;
    begin(600);
    for (uint64_t i = 1; i <= 10; i++) {
        run->idle.counted += 400; /* as if so many seconds had passed: each step within the limit */
        fake_status(0)->finished = i;
        tg_run_progress(run, &finished, &total);
        CHECK_EQ_I(tg_run_wait(run, 0.001, NULL), TG_TIMED_OUT);
    }
    fake.poll = TG_POLL_OVER;
    ends_with(TG_OK, "");
    finish();
}

TEST(a_wait_that_is_no_number_is_refused)
{
    begin(0);
    CHECK_EQ_I(tg_run_wait(run, (double)NAN, NULL), TG_BAD_ARGUMENT);
    fake.poll = TG_POLL_OVER;
    ends_with(TG_OK, "");
    finish();
}

TEST(a_timeout_without_end_is_allowed)
{
    begin((double)INFINITY);
    CHECK_EQ_I(tg_run_wait(run, 0.01, NULL), TG_TIMED_OUT);
    fake.poll = TG_POLL_OVER;
    ends_with(TG_OK, "");
    finish();
}

TEST(a_cancel_goes_to_the_device_once)
{
    begin(0);
    tg_run_cancel(run);
    tg_run_cancel(run);
    CHECK_EQ_I(fake.cancels, 1);
    fake.poll = TG_POLL_STOPPED;
    ends_with(TG_CANCELLED, "cancelled after 0 of 10 tasks");
    finish();
    CHECK_EQ_I(fake.cancels, 1);
}

TEST(a_cancel_of_a_run_that_has_ended_goes_nowhere)
{
    struct tg_run *first;
    begin(0);
    fake.poll = TG_POLL_OVER;
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_OK);
    first = run;
    fake.poll = TG_POLL_RUNNING;
    CHECK_EQ_I(tg_run_start(graph, NULL, &run, NULL), TG_OK);
    tg_run_cancel(first);
    CHECK_EQ_I(fake.cancels, 0);
    fake.poll = TG_POLL_OVER;
    tg_run_destroy(first);
    finish();
}

TEST(a_run_that_is_destroyed_is_cancelled_first)
{
    begin(0);
    fake.poll = TG_POLL_STOPPED;
    finish();
    CHECK_EQ_I(fake.cancels, 1);
    CHECK(fake_device.run == NULL);
}

TEST(a_cancelled_run_that_does_not_stop_costs_the_device)
{
    begin(0.01);
    tg_run_cancel(run);
    ends_with(TG_CANCELLED, "did not stop");
    CHECK_EQ_I(fake.kills, 1);
    CHECK(fake_device.lost);
    finish();
}

TEST(a_graph_is_sent_again_after_a_run_that_did_not_finish)
{
    begin(0);
    CHECK(graph->resident);
    fake.poll = TG_POLL_STOPPED;
    tg_run_cancel(run);
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_CANCELLED);
    CHECK(!graph->resident);
    finish();
}

/* ── reports ───────────────────────────────────────────────────────────────────────────── */

/* Makes the device die with that fault record. */
static void die(struct tg_fault_record fault, bool crashed)
{
    fake_head()->fault = fault;
    fake.crashed = crashed;
    fake.poll = TG_POLL_LOST;
}

TEST(a_crash_is_reported_with_task_kernel_core_signal_and_address)
{
    begin(0);
    fake_status(2)->running = 5;
    fake_status(2)->part = TG_PART_AIV0;
    die((struct tg_fault_record){.valid = 1,
                                 .worker = 2,
                                 .signal = SIGSEGV,
                                 .part = TG_PART_AIV0,
                                 .running = 5,
                                 .address = 0x1234},
        true);
    ends_with(TG_KERNEL_FAULT,
              "task 4, kernel vec, on core 2 (AIV1): Segmentation fault at address 0x1234");
    finish();
}

TEST(a_crash_without_an_address_is_reported_without_one)
{
    begin(0);
    die(
        (struct tg_fault_record){
            .valid = 1, .signal = SIGFPE, .part = TG_PART_AIV0, .running = 1, .address = 0x1234},
        true);
    ends_with(TG_KERNEL_FAULT, "task 0, kernel vec, on core 0 (AIC): Floating point exception");
    finish();
}

TEST(a_crash_in_a_mix_names_the_kernel_of_the_part)
{
    struct tg_run_result result;
    begin(0);
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        fake_status(part)->running = 10;
        fake_status(part)->part = part;
    }
    die(
        (struct tg_fault_record){
            .valid = 1, .worker = 2, .signal = SIGABRT, .part = TG_PART_AIV1, .running = 10},
        true);
    ends_with(TG_KERNEL_FAULT, "task 9, kernel add, on core 2 (AIV1)");
    tg_run_get_result(run, &result);
    CHECK_EQ_U(result.n_running, 3);
    CHECK(!result.running[0].faulted && !result.running[1].faulted && result.running[2].faulted);
    CHECK_EQ_S(result.running[0].kernel, "mat");
    CHECK_EQ_U(result.waiting, 9); /* three parts are one task */
    finish();
}

TEST(a_fault_record_that_cannot_be_is_not_believed)
{
    const struct tg_fault_record wrong[] = {
        {.valid = 1, .worker = FAKE_LANES, .signal = SIGSEGV, .part = 1, .running = 1},
        {.valid = 1, .worker = UINT32_MAX, .signal = SIGSEGV, .part = 1, .running = 1},
        {.valid = 1, .signal = SIGSEGV, .part = 1, .running = 0},
        {.valid = 1, .signal = SIGSEGV, .part = 1, .running = 11},
        {.valid = 1, .signal = SIGSEGV, .part = 1, .running = UINT64_MAX},
        {.valid = 1, .signal = SIGSEGV, .part = 3, .running = 1},
        {.valid = 1, .signal = SIGSEGV, .part = UINT32_MAX, .running = 1},
        {.valid = 1, .signal = SIGSEGV, .part = 0, .running = 1}, /* task 0 has no AIC part */
        {.valid = 0, .signal = SIGSEGV, .part = 1, .running = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(0);
        die(wrong[i], true);
        ends_with(TG_DEVICE_LOST, "the device is only a fake after 0 of 10 tasks");
        finish();
    }
}

TEST(a_fault_record_of_a_device_that_did_not_crash_is_not_believed)
{
    begin(0);
    die((struct tg_fault_record){.valid = 1, .signal = SIGSEGV, .part = 1, .running = 1}, false);
    ends_with(TG_DEVICE_LOST, "the device is only a fake");
    finish();
}

TEST(an_invalid_signal_number_is_reported_all_the_same)
{
    const int32_t signals[] = {0, -1, 65, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        begin(0);
        die((struct tg_fault_record){.valid = 1, .signal = signals[i], .part = 1, .running = 1},
            true);
        ends_with(TG_KERNEL_FAULT, "task 0, kernel vec");
        finish();
    }
}

TEST(random_bytes_where_the_device_tells_its_end_are_survived)
{
    uint64_t seed = 42;
    for (int round = 0; round < 2000; round++) {
        struct tg_run_result result;
        begin(0);
        size_t workers = FAKE_LANES + FAKE_SCHEDULERS;
        size_t end = sizeof(struct tg_control_head) + workers * sizeof(struct tg_worker_status);
        for (size_t i = 64; i < end; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            /* Mostly small numbers, which are nearly valid. */
            fake.memory[i] = (char)(i % 8 && seed >> 62 ? 0 : seed >> 55 & 15);
        }
        fake.crashed = round % 2 == 0;
        fake.poll = TG_POLL_LOST;
        tg_status status = tg_run_wait(run, -1, NULL);
        CHECK(status == TG_DEVICE_LOST || status == TG_KERNEL_FAULT);
        tg_run_get_result(run, &result);
        CHECK(result.finished <= 10 && result.waiting <= 10 && result.n_running <= FAKE_LANES);
        for (uint32_t i = 0; i < result.n_running; i++) {
            CHECK(result.running[i].task < 10);
            CHECK(result.running[i].kernel[0] != '\0');
        }
        finish();
    }
}

TEST_MAIN()
