/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules on every platform: the order on one core, runs that end and fail as without a schedule, and what
 * is known of a run that failed. tests/contract/oracle.c runs random programs. */
#include "nodes.h"
#include "orchestrated.h"

static const char *const policies[] = {"fifo", "lifo", "random:3", "adversarial:3",
                                       "order:1-0,0:7-0:2,1:1-0:1,1:3-1:2"};
enum { POLICIES = sizeof policies / sizeof policies[0], TASKS = 40 };

static struct tg_schedule *schedule_of(const char *text)
{
    struct tg_schedule *schedule = NULL;
    GOOD(tg_schedule_parse(text, &schedule, error));
    schedule->keep_starts = 100000;
    return schedule;
}

/* Runs the graph to its end and copies the order of starts, of at most TASKS tasks, to `starts`. */
static tg_status run_with(struct tg_graph *graph, const char *text, struct tg_run_result *result,
                          uint64_t *starts)
{
    struct tg_schedule *schedule = schedule_of(text);
    struct tg_run_config config = {.timeout = FAR_SECONDS, .schedule = schedule};
    struct tg_run *run;
    tg_status status;
    GOOD(tg_run_start(graph, &config, &run, error));
    tg_schedule_destroy(schedule); /* the run has a copy */
    status = tg_run_wait(run, -1, NULL);
    tg_run_get_result(run, result);
    if (starts && result->schedule.n_starts > 0)
        memcpy(starts, result->schedule.starts, 8 * result->schedule.n_starts);
    tg_run_destroy(run);
    return status;
}

/* ── the order on one core ─────────────────────────────────────────────────────────────── */

struct reads {
    uint64_t first, length;
};

static struct nodes random_nodes(struct tg_device *device, struct reads reads[TASKS])
{
    struct nodes nodes = nodes_make(device, TASKS);
    uint64_t random = 11;
    for (uint64_t i = 0; i < TASKS; i++) {
        uint64_t draw = next_random(&random), length = draw % 3 < i ? draw % 3 : 0;
        uint64_t mask = (const uint64_t[]){1, 2, 2, 3, 7}[(draw >> 8) % 5];
        uint64_t first = length > 0 ? (draw >> 16) % (i - length + 1) : 0;
        reads[i] = (struct reads){first, length};
        nodes_add(&nodes, mask, first, length);
    }
    return nodes;
}

/* The rule: the first (or last) task whose predecessors have all run. */
static void check_rule(const struct reads reads[TASKS], const uint64_t starts[TASKS], bool last)
{
    bool done[TASKS] = {false};
    for (uint64_t step = 0; step < TASKS; step++) {
        uint64_t next = TASKS;
        for (uint64_t i = 0; i < TASKS; i++) {
            bool ready = !done[i] && (last || next == TASKS);
            for (uint64_t k = 0; ready && k < reads[i].length; k++)
                ready = done[reads[i].first + k];
            next = ready ? i : next;
        }
        REQUIRE(CHECK_EQ_U(starts[step], next));
        done[next] = true;
    }
}

CONTRACT(on_one_core_a_host_built_graph_starts_its_tasks_as_the_rule_says_every_time)
{
    for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
        struct tg_device *device = open_device(1, schedulers);
        struct reads reads[TASKS];
        struct nodes nodes = random_nodes(device, reads);
        uint64_t first[POLICIES][TASKS], runs = 0;
        for (int round = 0; round < (schedulers ? 3 : contract_rounds(ROUNDS(20, 5), 5)); round++)
            for (int p = 0; p < 4; p++) {
                struct tg_run_result result;
                uint64_t starts[TASKS];
                REQUIRE(run_with(nodes.graph, policies[p], &result, starts) == TG_OK);
                REQUIRE(nodes_right(&nodes, ++runs));
                CHECK(result.schedule.on && result.schedule.known && result.schedule.serial);
                CHECK_EQ_U(result.schedule.choices, TASKS);
                CHECK_EQ_U(result.schedule.n_starts, TASKS);
                if (p < 2)
                    check_rule(reads, starts, p == 1);
                if (round == 0)
                    memcpy(first[p], starts, sizeof starts);
                CHECK(memcmp(first[p], starts, sizeof starts) == 0);
            }
        CHECK(memcmp(first[0], first[2], sizeof first[0]) != 0);
        CHECK(memcmp(first[2], first[3], sizeof first[0]) != 0);
        nodes_destroy(&nodes);
        tg_device_close(device);
    }
}

/* ── device-built graphs ───────────────────────────────────────────────────────────────── */

/* Some fill their rings, hold tasks back, read results or make a mistake. */
static const struct orchestration cases[] = {
    {RINGS_tasks, 6, 1, 0},     {RINGS_held, 20, 1, 0},       {RINGS_nested, 20, 5, 0},
    {RINGS_pieces, 20, 1, 100}, {RINGS_scopes, 40, 1, 64},    {RINGS_inner, 20, 2, 256},
    {RINGS_fan_in, 40, 0, 1},   {RINGS_held_fan, 6, 1, 0},    {RINGS_held_after, 6, 1, 3},
    {RINGS_behind, 8, 0, 50},   {RINGS_map_behind, 3, 0, 50}, {RINGS_slow_fan, 12, 0, 20},
    {RINGS_chain, 40, 1, 4},    {RINGS_read, 20, 1, 0},       {RINGS_no_task, 4, 1, 0},
    {RINGS_gives_up, 4, 1, 0},  {RINGS_ended_read, 4, 1, 0}};
static const struct orchestration deadlocks[] = {{RINGS_read_held, 4, 1, 0},
                                                 {RINGS_read_behind_held, 4, 1, 0},
                                                 {RINGS_after_held, 40, 1, 0},
                                                 {RINGS_after_held_memory, 40, 1, 4096}};

/* With every schedule the run ends as it does without one. */
static void ends_alike(struct tg_device *device, enum tg_runtime_kind runtime,
                       struct orchestration of, const struct tg_rings *rings)
{
    struct orchestrated o = orchestrated_make(device, runtime, of, rings);
    struct tg_run_result result;
    tg_status plain = tg_graph_run(o.graph, &far_limit, &result, NULL);
    bool right = plain == TG_OK && orchestrated_right(&o);
    for (int p = 0; p < POLICIES; p++) {
        orchestrated_reset(&o);
        if (!CHECK_EQ_S(tg_status_name(run_with(o.graph, policies[p], &result, NULL)),
                        tg_status_name(plain)))
            fprintf(stderr, "  case %d, %s\n", (int)of.what, policies[p]);
        if (plain == TG_OK) {
            CHECK_EQ_U(result.schedule.choices, result.tasks);
            if (right && !orchestrated_right(&o))
                fprintf(stderr, "  case %d, %s\n", (int)of.what, policies[p]);
        }
    }
    orchestrated_destroy(&o);
}

CONTRACT(device_built_graphs_end_under_every_schedule_as_without)
{
    const uint32_t cores[] = {1, 3};
    struct tg_rings small = {.task_window = {8, 8, 8, 8}, .dep_pool = {64, 64, 64, 64}};
    for (size_t c = 0; c < 2; c++)
        for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
            struct tg_device *device = open_device(cores[c], schedulers);
            /* Where runs take long, each arrangement of cores and schedulers tries a part of the cases. */
            size_t step = platform->slow_to_open ? 7 : ROUNDS(1, 4);
            size_t first = step > 1 ? 2 * c + schedulers : 0;
            EACH_RUNTIME(runtime)
            {
                for (size_t i = first; i < sizeof cases / sizeof cases[0]; i += step) {
                    ends_alike(device, runtime, cases[i], NULL);
                    ends_alike(device, runtime, cases[i], &small);
                }
                for (size_t i = 0; i < sizeof deadlocks / sizeof deadlocks[0]; i++)
                    ends_alike(device, runtime, deadlocks[i], &small);
            }
            tg_device_close(device);
        }
}

CONTRACT(on_one_core_a_device_built_graph_starts_its_tasks_in_one_order)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_rings rings = {.task_window = {8, 8, 8, 8}};
    EACH_RUNTIME(runtime)
    {
        struct orchestrated o = orchestrated_make(
            device, runtime, (struct orchestration){RINGS_scopes, 12, 1, 100}, &rings);
        for (int p = 0; p < 4; p++) {
            uint64_t first[TASKS], starts[TASKS];
            for (int round = 0; round < contract_rounds(ROUNDS(20, 5), 5); round++) {
                struct tg_run_result result;
                orchestrated_reset(&o);
                REQUIRE(run_with(o.graph, policies[p], &result, starts) == TG_OK);
                REQUIRE(CHECK_EQ_U(result.schedule.n_starts, 36));
                if (round == 0)
                    memcpy(first, starts, 36 * 8);
                REQUIRE(memcmp(first, starts, 36 * 8) == 0);
            }
        }
        orchestrated_destroy(&o);
    }
    tg_device_close(device);
}

/* ── runs that fail, and refused schedules ─────────────────────────────────────────────── */

CONTRACT(a_crash_and_a_hang_are_reported_as_without_a_schedule_and_the_starts_are_known)
{
    const int64_t what[] = {RINGS_crash, RINGS_hang};
    for (int i = 0; i < 2; i++) {
        struct tg_device *device = open_device(1, 0);
        struct orchestrated o = orchestrated_make(device, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER,
                                                  (struct orchestration){what[i], 4, 1, 0}, NULL);
        struct tg_schedule *schedule = schedule_of("lifo");
        struct tg_run_config config = {.timeout = FAR_SECONDS, .schedule = schedule};
        struct tg_run_result result;
        struct tg_run *run;
        GOOD(tg_run_start(o.graph, &config, &run, error));
        tg_schedule_destroy(schedule);
        if (what[i] == RINGS_hang) {
            double end = seconds_now() + AT_ONCE_SECONDS;
            while (run->status[0].running == 0 && seconds_now() < end) /* the kernel has begun */
                (void)tg_run_wait(run, 0.01, NULL);
            hang_soon(run);
        }
        CHECK_EQ_S(tg_status_name(tg_run_wait(run, -1, NULL)), i == 0 ? "KERNEL_FAULT" : "HANG");
        tg_run_get_result(run, &result);
        CHECK(result.schedule.on);
        if (kernels_are_in_a_process()) {
            CHECK(result.schedule.known && result.schedule.n_starts == result.schedule.choices);
            REQUIRE(result.schedule.n_starts > 0 && result.n_running == 1);
            CHECK_EQ_U(result.schedule.starts[result.schedule.n_starts - 1],
                       result.running[0].task);
        }
        tg_run_destroy(run);
        tg_graph_destroy(o.graph);
        tg_device_close(device);
    }
}

CONTRACT(a_run_with_a_schedule_can_be_cancelled)
{
    const struct orchestration of[] = {{RINGS_read, 200000, 0, 0}, {RINGS_asleep, 400, 1, 20000}};
    for (uint32_t cores = 1; cores <= 3; cores += 2) {
        struct tg_device *device = open_device(cores, 0);
        struct orchestrated o =
            orchestrated_make(device, TG_RUNTIME_AICPU_BUILD_GRAPH, of[cores > 1], NULL);
        struct tg_schedule *schedule = schedule_of("order:0:900000-0:3");
        struct tg_run_config config = {.timeout = FAR_SECONDS, .schedule = schedule};
        struct tg_run *run;
        GOOD(tg_run_start(o.graph, &config, &run, error));
        tg_schedule_destroy(schedule);
        (void)tg_run_wait(run, 0.05, NULL);
        tg_run_cancel(run);
        CHECK_EQ_S(tg_status_name(tg_run_wait(run, -1, NULL)), "CANCELLED");
        tg_run_destroy(run);
        orchestrated_destroy(&o);
        orchestrated_works(device);
        tg_device_close(device);
    }
}

CONTRACT(a_schedule_that_makes_no_sense_is_refused)
{
    const struct tg_schedule_pair pair = {4, 4};
    struct tg_schedule bad[] = {
        {.policy = TG_SCHEDULE_POLICIES},
        {.policy = TG_SCHEDULE_ORDER, .n_pairs = 1, .pairs = &pair},
        {.policy = TG_SCHEDULE_ORDER, .n_pairs = 1},
        {.policy = TG_SCHEDULE_ORDER, .n_pairs = TG_MAX_SCHEDULE_PAIRS + 1, .pairs = &pair},
        {.policy = TG_SCHEDULE_LIFO, .n_pairs = 1, .pairs = &pair},
        {.policy = TG_SCHEDULE_LIFO, .keep_starts = UINT64_MAX},
    };
    struct tg_device *device = open_device(1, 0);
    struct nodes nodes = nodes_make(device, 4);
    nodes_add(&nodes, 1, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_run_config config = {.schedule = &bad[i]};
        REFUSED(BAD_ARGUMENT, "", tg_graph_run(nodes.graph, &config, NULL, error));
    }
    nodes_run(&nodes, 1); /* and the graph still runs without one */
    nodes_destroy(&nodes);
    tg_device_close(device);
}

TEST_MAIN()
