/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that fail while they build a graph: kernels and orchestrations that crash or never
 * return, kills, and a device that overwrites the orchestrator's own data with nonsense.
 */
#define _GNU_SOURCE 1
#include "host/graph.h"
#include "orchestrated.h"

/* For devices that may end in any way at any time. */
static const struct tg_run_config soon = {.timeout = 0.1};
static const struct tg_run_config written = {.timeout = 0.1, .deps = true};

struct failing {
    struct tg_device *device;
    struct orchestrated o;
    struct tg_run *run;
};

static struct failing start(enum tg_runtime_kind runtime, struct orchestration of, uint32_t slots,
                            const struct tg_run_config *config)
{
    struct failing f = {.device = open_device(3, 0)};
    struct tg_rings rings = {.task_window = {slots, slots, slots, slots}};
    f.o = orchestrated_make(f.device, runtime, of, &rings);
    GOOD(tg_run_start(f.o.graph, config, &f.run, error));
    return f;
}

static void end(struct failing *f)
{
    tg_run_destroy(f->run);
    orchestrated_destroy(&f->o);
    tg_device_close(f->device);
}

/* Checks that nothing runs on the device any more, and that its memory can be read if it is still
 * there. */
static void is_lost(struct failing *f)
{
    struct tg_device_info info;
    struct tg_run *run = NULL;
    int64_t value;
    tg_device_get_info(f->device, &info);
    CHECK(info.lost);
    REFUSED(DEVICE_LOST, "lost", tg_run_start(f->o.graph, NULL, &run, error));
    if (platform->memory_dies)
        REFUSED(DEVICE_LOST, "",
                tg_device_copy_out(f->device, &value, f->o.value, sizeof value, error));
    else
        GOOD(tg_device_copy_out(f->device, &value, f->o.value, sizeof value, error));
}

/* ── crashes and hangs ─────────────────────────────────────────────────────────────────── */

/* Tasks 0 and 1 are good, 2 is bad, and 3 waits for it, in a scope of depth 2. */
static void names_the_task(struct failing *f, uint64_t ring, const char *kernel, bool faulted)
{
    struct tg_run_result result;
    tg_run_get_result(f->run, &result);
    CHECK_EQ_U(result.tasks, 4);
    CHECK_EQ_U(result.finished, 2);
    CHECK_EQ_U(result.waiting, 1);
    REQUIRE(result.n_running == 1);
    CHECK_EQ_U(result.running[0].task, ring << 32 | 2);
    CHECK_EQ_S(result.running[0].kernel, kernel);
    CHECK_EQ_I(result.running[0].faulted, faulted);
    if (faulted && platform->memory_dies)
        return; /* the lists of waiting tasks are gone with the device */
    REQUIRE(result.n_unmet == 1);
    CHECK_EQ_U(result.unmet[0].task, ring << 32 | 3);
    CHECK_EQ_U(result.unmet[0].waits_for, ring << 32 | 2);
}

/* Waits until tasks 0 and 1 are counted and a core runs the only task that can run then. */
static void wait_for_the_bad_task(struct failing *f)
{
    struct tg_control_head head;
    struct tg_worker_status status = {0};
    uint64_t control = control_of(f->device), finished = 0, total;
    while (finished < 2)
        tg_run_progress(f->run, &finished, &total);
    GOOD(tg_device_copy_out(f->device, &head, control, sizeof head, error));
    for (uint32_t i = 0; status.running == 0; i = (i + 1) % head.n_lanes)
        GOOD(tg_device_copy_out(f->device, &status, control + head.status + i * sizeof status,
                                sizeof status, error));
}

/* Waits until the orchestration is in a scope of that source file. */
static void wait_for_scope(struct failing *f, const char *source)
{
    uint64_t finished, total;
    char site[128] = "";
    while (strstr(site, source) == NULL) {
        tg_run_progress(f->run, &finished, &total); /* reads the orchestrator's report too */
        tg_run_scope_site(f->run, site);
    }
}

CONTRACT(a_kernel_that_crashes_is_named_with_its_ring)
{
    EACH_RUNTIME(runtime)
    {
        struct failing f = start(runtime, (struct orchestration){RINGS_crash, 4, 1, 0}, 16, NULL);
        bool rings = runtime == TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;
        REFUSED(KERNEL_FAULT, rings ? "task 2:2, kernel crash" : "task 2, kernel crash",
                tg_run_wait(f.run, -1, error));
        names_the_task(&f, rings ? 2 : 0, "crash", true);
        is_lost(&f);
        end(&f);
        next_device_orchestrates();
    }
}

CONTRACT(a_kernel_that_never_returns_is_named_with_its_ring)
{
    EACH_RUNTIME(runtime)
    {
        struct failing f =
            start(runtime, (struct orchestration){RINGS_hang, 4, 1, 0}, 16, &far_limit);
        bool rings = runtime == TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;
        wait_for_the_bad_task(&f);
        hang_soon(f.run);
        REFUSED(HANG, rings ? "task 2:2, kernel spin" : "task 2, kernel spin",
                tg_run_wait(f.run, -1, error));
        names_the_task(&f, rings ? 2 : 0, "spin", false);
        is_lost(&f);
        end(&f);
        next_device_orchestrates();
    }
}

CONTRACT(an_orchestration_that_crashes_is_named_with_its_scope)
{
    EACH_RUNTIME(runtime)
    {
        struct failing f =
            start(runtime, (struct orchestration){RINGS_crash_here, 4, 2, 0}, 16, NULL);
        REFUSED(KERNEL_FAULT, "the orchestration", tg_run_wait(f.run, -1, error));
        if (!platform->memory_dies || orchestrates_beside()) { /* else the scope is gone with it */
            REFUSED(KERNEL_FAULT, ", in the scope of tests/workloads/rings/faults.c:",
                    tg_run_wait(f.run, -1, error));
            REFUSED(KERNEL_FAULT, "after 2 tasks: Aborted", tg_run_wait(f.run, -1, error));
        }
        is_lost(&f);
        end(&f);
        next_device_orchestrates();
    }
}

CONTRACT(an_orchestration_that_never_returns_is_a_hang_that_says_so)
{
    EACH_RUNTIME(runtime)
    {
        struct failing f =
            start(runtime, (struct orchestration){RINGS_hang_here, 4, 2, 0}, 16, &far_limit);
        wait_for_scope(&f, "rings/faults.c:");
        hang_soon(f.run);
        REFUSED(HANG, "the orchestration is busy in the scope of tests/workloads/rings/faults.c:",
                tg_run_wait(f.run, -1, error));
        is_lost(&f);
        end(&f);
        next_device_orchestrates();
    }
}

static tg_status run_for_the_limit(double limit)
{
    struct tg_run_config config = {.timeout = limit};
    int64_t microseconds = (int64_t)(limit * 1e6 / 8); /* 24 tasks, 3 at a time, take the limit */
    struct failing f = start(TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                             (struct orchestration){RINGS_slow, 24, 0, microseconds}, 4, &config);
    tg_status status = tg_run_wait(f.run, -1, NULL);
    CHECK(status == TG_HANG || orchestrated_right(&f.o));
    end(&f);
    return status;
}

/* Slow tasks are not a hang, however long the orchestration waits for them. */
CONTRACT(an_orchestration_that_waits_for_slow_tasks_is_no_hang)
{
    CHECK_EQ_S(tg_status_name(with_limits(run_for_the_limit)), "OK");
}

/* The error is the ring that can never drain, although the orchestration also never returns. */
CONTRACT(a_deadlock_is_reported_even_if_the_orchestration_never_returns)
{
    const struct {
        enum tg_runtime_kind runtime;
        int64_t what;
    } cases[] = {{TG_RUNTIME_AICPU_BUILD_GRAPH, RINGS_submit_on},
                 {TG_RUNTIME_TENSORMAP_AND_RINGBUFFER, RINGS_read_on}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double began = seconds_now();
        struct failing f =
            start(cases[i].runtime, (struct orchestration){cases[i].what, 20, 1, 0}, 8, &far_limit);
        struct tg_run_result result;
        REFUSED(SCOPE_DEADLOCK, "8/8", tg_run_wait(f.run, -1, error));
        CHECK(seconds_now() - began < AT_ONCE_SECONDS);
        tg_run_get_result(f.run, &result);
        CHECK_HAS(result.orchestration.advice, "--ring-task-window 20");
        is_lost(&f);
        end(&f);
    }
    next_device_orchestrates();
}

/* ── kills ─────────────────────────────────────────────────────────────────────────────── */

CONTRACT(a_device_that_is_killed_while_it_builds_a_graph_is_lost)
{
    const struct orchestration of[] = {
        {RINGS_endless, 4, 1, 0},      /* the orchestration submits */
        {RINGS_asleep, 400, 1, 50000}, /* the orchestration waits for a slot */
        {RINGS_read, 200000, 0, 0},    /* the orchestration waits for results */
    };
    uint64_t random = 9;
    struct tries took = {0};
    for (int i = 0; i < contract_rounds(ROUNDS(12, 6), 3); i++)
        EACH_RUNTIME(runtime)
        {
            struct tg_run_config config = {.timeout = FAR_SECONDS, .deps = i % 2};
            struct failing f = start(runtime, of[i % 3], 8, &config);
            double killed;
            if (device_pid(f.device) == 0)
                SKIP("the device has no process that could be killed");
            sleep_seconds((double)(next_random(&random) % 20) * 1e-3);
            kill(device_pid(f.device), SIGKILL);
            killed = seconds_now();
            REFUSED(DEVICE_LOST, "killed by signal 9", tg_run_wait(f.run, -1, error));
            tries_add(&took, seconds_now() - killed);
            is_lost(&f);
            end(&f);
        }
    CHECK(took.shortest < contract_seconds(ROUNDS(1, 10)));
    CHECK(took.longest < AT_ONCE_SECONDS);
    next_device_orchestrates();
}

/* ── distrust ──────────────────────────────────────────────────────────────────────────── */

struct victim {
    struct failing f;
    int pid;
    uint64_t at; /* address of the orchestration */
};

/* A device in the middle of an orchestration, with its process stopped if the platform allows
 * it. */
static struct victim victim_make(enum tg_runtime_kind runtime, int64_t what,
                                 const struct tg_run_config *config)
{
    struct victim v = {.f = start(runtime, (struct orchestration){what, 40, 1, 5000}, 8, config)};
    v.pid = device_pid(v.f.device);
    if (v.pid == 0)
        SKIP("the device has no process that could be stopped");
    v.at = v.f.o.graph->orchestration;
    sleep_seconds(0.005);
    if (can_be_stopped())
        stop_process(v.pid);
    return v;
}

/* A device that was not stopped may already be lost because of earlier writes. */
static void scribble(struct victim *v, uint64_t at, const void *bytes, uint64_t size)
{
    if (can_be_stopped())
        GOOD(tg_device_copy_in(v->f.device, at, bytes, size, error));
    else
        (void)tg_device_copy_in(v->f.device, at, bytes, size, NULL);
}

static void scribble_at_random(struct victim *v, uint64_t at, uint64_t size, uint64_t *random)
{
    unsigned char *bytes = malloc(size);
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)next_random(random);
    scribble(v, at, bytes, size);
    free(bytes);
}

static bool is_text(const char *text, size_t room)
{
    size_t length = strnlen(text, room);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    return length < room;
}

/* What the test does to the device afterwards. */
enum { KILLED, STOPPED, CANCELLED, WAYS };

/* Checks that the run ends with a named status, consistent numbers and printable text. */
static void victim_ends(struct victim *v, uint32_t how)
{
    struct tg_error error = {TG_OK, ""};
    struct tg_run_result result;
    uint64_t finished, total;
    tg_status status;
    if (how == CANCELLED)
        tg_run_cancel(v->f.run);
    if (how != STOPPED)
        kill(v->pid, how == KILLED ? SIGKILL : SIGCONT);
    status = tg_run_wait(v->f.run, -1, &error);
    tg_run_get_result(v->f.run, &result);
    CHECK_EQ_I(result.status, status);
    CHECK(status != TG_TIMED_OUT && *tg_status_name(status) != '\0');
    CHECK(is_text(error.text, sizeof error.text));
    CHECK(is_text(result.orchestration.text, sizeof result.orchestration.text));
    CHECK(is_text(result.orchestration.advice, sizeof result.orchestration.advice));
    CHECK(result.finished <= result.tasks);
    CHECK(result.waiting <= result.tasks);
    CHECK(result.n_running <= 3);
    CHECK(result.orchestration.n_rings <= TG_RINGS);
    for (uint32_t i = 0; i < result.n_running; i++) {
        CHECK(result.running[i].task >> 32 < TG_RINGS);
        CHECK(result.running[i].kernel != NULL && is_text(result.running[i].kernel, 100));
    }
    for (uint32_t r = 0; r < result.orchestration.n_rings; r++) {
        const struct tg_ring_use *use = &result.orchestration.ring[r];
        CHECK(use->task_window_used <= use->task_window);
        CHECK(use->heap_used <= use->heap);
        CHECK(use->dep_pool_used <= use->dep_pool);
    }
    tg_run_progress(v->f.run, &finished, &total);
    CHECK(finished <= total);
    end(&v->f);
}

/* Reports every known fault and some unknown ones, with random values in all other fields. */
CONTRACT(a_report_that_is_a_lie_does_not_harm_the_host)
{
    const tg_status statuses[] = {TG_BAD_ARGUMENT,
                                  TG_SCOPE_DEADLOCK,
                                  TG_HEAP_RING_DEADLOCK,
                                  TG_FLOW_CONTROL_DEADLOCK,
                                  TG_DEP_POOL_OVERFLOW,
                                  TG_TENSORMAP_OVERFLOW,
                                  TG_RING_BUFFER_BACKPRESSURE,
                                  TG_OK,
                                  (tg_status)12345};
    uint64_t random = 11;
    for (uint32_t i = 0; i < (uint32_t)contract_rounds(24, 18); i++) {
        struct victim v =
            victim_make(i % 2 ? TG_RUNTIME_TENSORMAP_AND_RINGBUFFER : TG_RUNTIME_AICPU_BUILD_GRAPH,
                        RINGS_asleep, &soon);
        struct tg_orchestrator_report report;
        for (size_t k = 0; k < sizeof report; k++)
            ((unsigned char *)&report)[k] = (unsigned char)next_random(&random);
        report.fault = i % 18;
        report.status = (int32_t)statuses[next_random(&random) % 9];
        report.resource = (uint32_t)next_random(&random) % 8;
        report.ring = (uint32_t)next_random(&random) % 6;
        for (int part = 0; part < TG_PARTS; part++)
            report.kernel[part] = (uint32_t)next_random(&random) % (RINGS_KERNELS + 2);
        scribble_at_random(&v, v.f.o.graph->layout->orchestration.refused, sizeof(struct tg_args),
                           &random);
        scribble(&v, v.at + offsetof(struct tg_orchestration, report), &report, sizeof report);
        victim_ends(&v, i % 16 ? CANCELLED : STOPPED);
    }
    next_device_orchestrates();
}

/* The data that the host reads after a crash or a hang: slots, arguments, dependencies, sites,
 * cursors. */
CONTRACT(random_bytes_where_the_orchestrator_keeps_its_books_never_harm_the_host)
{
    uint64_t random = 12;
    for (int i = 0; i < 9; i++) {
        struct victim v =
            victim_make(i % 2 ? TG_RUNTIME_TENSORMAP_AND_RINGBUFFER : TG_RUNTIME_AICPU_BUILD_GRAPH,
                        i % 4 < 2 ? RINGS_asleep : RINGS_hang, i % 5 ? &soon : &written);
        const struct tg_graph_layout *layout = v.f.o.graph->layout;
        const struct tg_orchestration *o = &layout->orchestration;
        switch (i % 6) {
        case 0:
            scribble_at_random(&v, v.at, sizeof *o, &random);
            break;
        case 1:
            scribble_at_random(&v, v.at + offsetof(struct tg_orchestration, cursors),
                               sizeof o->cursors, &random);
            break;
        case 2:
            scribble_at_random(&v, layout->launch.desc, 8 * sizeof(struct tg_task_desc), &random);
            break;
        case 3:
            scribble_at_random(&v, layout->launch.payload, 8 * o->payload_stride, &random);
            break;
        case 4:
            scribble_at_random(&v, o->deps, 4096, &random);
            scribble_at_random(&v, o->sites, 4 * sizeof(struct tg_site), &random);
            break;
        default:
            scribble_at_random(&v, o->notes, 8 * sizeof(struct tg_slot_note), &random);
        }
        victim_ends(&v, (uint32_t)i / 2 % WAYS);
    }
    next_device_orchestrates();
}

/* A list of waiting tasks that loops back to itself is cut at some point. */
CONTRACT(a_list_of_waiting_tasks_without_an_end_is_cut)
{
    EACH_RUNTIME(runtime)
    {
        struct victim v = victim_make(runtime, RINGS_hang, &soon);
        const struct tg_graph_layout *layout = v.f.o.graph->layout;
        struct tg_dep loop[2] = {{.task = 0, .next = 1}, {.task = 1, .next = 0}};
        scribble(&v, layout->orchestration.deps, loop, sizeof loop);
        for (uint64_t slot = 0; slot < layout->launch.n_tasks; slot++) {
            uint32_t succ = 0;
            scribble(&v,
                     layout->launch.desc + slot * sizeof(struct tg_task_desc) +
                         offsetof(struct tg_task_desc, succ),
                     &succ, sizeof succ);
        }
        victim_ends(&v, STOPPED);
    }
}

/* Overwrites the whole stream that carries edges; the host counts the invalid records. The test
 * writes where a thread of its own process reads, which the thread sanitizer would report. */
#if !defined(__SANITIZE_THREAD__)
CONTRACT(random_bytes_in_the_stream_of_edges_never_harm_the_host)
{
    uint64_t random = 13;
    for (int i = 0; i < contract_rounds(ROUNDS(8, 4), 4); i++) {
        struct victim v = victim_make(TG_RUNTIME_TENSORMAP_AND_RINGBUFFER, RINGS_asleep, &written);
        struct tg_orchestration o;
        GOOD(tg_device_copy_out(v.f.device, &o, v.at, sizeof o, error));
        REQUIRE(o.log != 0);
        scribble_at_random(&v, o.log, 512u << (i % 8), &random);
        victim_ends(&v, (uint32_t)i % WAYS);
    }
    next_device_orchestrates();
}
#endif

TEST_MAIN()
