/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs that communicate, on several devices of this process, compared bit for bit with serial
 * execution (workloads/ranks).
 *
 *     TASKGLASS_RANKS_PROGRAMS   programs for each runtime and platform
 *     TASKGLASS_RANKS_SEED       the first seed
 *
 * A real GPU runs only a few programs if neither is set.
 */
#define _GNU_SOURCE 1
#include "contract.h"
#include "host/runtime_ops.h"
#include "workloads/ranks/serial.h"
#include <pthread.h>
#include <taskglass/comm.h>

enum { STEPS = 40, BYTES = RANKS_ELEMENTS * sizeof(int64_t) };

/* A device, and what its thread does with it. */
struct rank {
    struct tg_comm *comm;
    struct tg_device *device;
    struct tg_module *module;
    uint64_t buffer[RANKS_BUFFERS];
    enum tg_runtime_kind runtime;
    uint64_t seed;
    int64_t steps;
    tg_status status;
    struct tg_error error;
    int64_t result[RANKS_BUFFERS][RANKS_ELEMENTS];
};

struct job {
    int32_t ranks;
    struct rank rank[RANKS_MOST];
};

static uint64_t from_variable(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? strtoull(value, NULL, 0) : otherwise;
}

static bool can_communicate(void)
{
    return platform->calls_fd != NULL;
}

/* ── a job ─────────────────────────────────────────────────────────────────────────────── */

static void open_job(struct job *job, int32_t ranks, const char *workload)
{
    static const uint32_t cores[] = {2, 1, 3, 4, 6};
    struct tg_comm *comms[RANKS_MOST];
    job->ranks = ranks;
    GOOD(tg_comm_open_local((uint32_t)ranks, comms, error));
    for (int32_t r = 0; r < ranks; r++) {
        struct rank *rank = &job->rank[r];
        rank->comm = comms[r];
        rank->device = open_device(cores[r % 5], r % 3 == 2 ? 1 : 0);
        GOOD(tg_device_join(rank->device, rank->comm, error));
        rank->module = load_module(rank->device, workload);
        for (uint32_t b = 0; b < RANKS_BUFFERS; b++)
            rank->buffer[b] = alloc_device(rank->device, BYTES);
    }
}

static void close_job(struct job *job)
{
    for (int32_t r = 0; r < job->ranks; r++)
        tg_device_close(job->rank[r].device);
    for (int32_t r = 0; r < job->ranks; r++)
        tg_comm_close(job->rank[r].comm);
}

static tg_status copy_in(struct rank *rank)
{
    tg_status status = TG_OK;
    int32_t number = (int32_t)tg_comm_rank(rank->comm);
    for (uint32_t b = 0; b < RANKS_BUFFERS && status == TG_OK; b++) {
        for (int64_t i = 0; i < RANKS_ELEMENTS; i++)
            rank->result[b][i] = ranks_first(rank->seed, number, b, i);
        status =
            tg_device_copy_in(rank->device, rank->buffer[b], rank->result[b], BYTES, &rank->error);
    }
    return status;
}

static tg_status run_program(struct rank *rank)
{
    const int64_t shape[] = {RANKS_ELEMENTS};
    struct tg_graph *graph = NULL;
    struct tg_args args;
    tg_status status = copy_in(rank);
    tg_args_init(&args);
    for (uint32_t b = 0; b < RANKS_BUFFERS; b++)
        tg_args_inout(&args, tg_tensor_make(rank->buffer[b], TG_INT64, 1, shape));
    tg_args_i64(&args, (int64_t)rank->seed);
    tg_args_i64(&args, rank->steps);
    if (status == TG_OK)
        status =
            tg_graph_orchestrate(rank->module, rank->runtime, &args, NULL, &graph, &rank->error);
    if (status == TG_OK)
        status = tg_graph_run(graph, &far_limit, NULL, &rank->error);
    for (uint32_t b = 0; b < RANKS_BUFFERS && status == TG_OK; b++)
        status =
            tg_device_copy_out(rank->device, rank->result[b], rank->buffer[b], BYTES, &rank->error);
    tg_graph_destroy(graph);
    return status;
}

static void *rank_main(void *argument)
{
    struct rank *rank = argument;
    rank->status = run_program(rank);
    return NULL;
}

static void run_job(struct job *job)
{
    pthread_t thread[RANKS_MOST];
    for (int32_t r = 0; r < job->ranks; r++)
        REQUIRE(pthread_create(&thread[r], NULL, rank_main, &job->rank[r]) == 0);
    for (int32_t r = 0; r < job->ranks; r++)
        pthread_join(thread[r], NULL);
}

static bool is_right(const struct job *job)
{
    static struct ranks_world world;
    uint64_t seed = job->rank[0].seed;
    bool right = true;
    ranks_run(&world, seed, job->rank[0].steps, job->ranks);
    for (int32_t r = 0; r < job->ranks; r++) {
        const struct rank *rank = &job->rank[r];
        if (rank->status != TG_OK)
            right = TEST_FAIL_("seed %llu, %d ranks, rank %d: %s: %s\n", (unsigned long long)seed,
                               job->ranks, r, tg_status_name(rank->status), rank->error.text);
        else if (memcmp(rank->result, world.at[r], sizeof rank->result) != 0)
            right = TEST_FAIL_("seed %llu, %d ranks: rank %d has other values\n",
                               (unsigned long long)seed, job->ranks, r);
    }
    return right;
}

static void run_one(struct job *job, enum tg_runtime_kind runtime, uint64_t seed, int64_t steps)
{
    for (int32_t r = 0; r < job->ranks; r++) {
        job->rank[r].runtime = runtime;
        job->rank[r].seed = seed;
        job->rank[r].steps = steps;
    }
    run_job(job);
    REQUIRE(is_right(job));
}

static void run_many(enum tg_runtime_kind runtime)
{
    static struct job job;
    uint64_t first = from_variable("TASKGLASS_RANKS_SEED", 1);
    uint64_t programs = from_variable("TASKGLASS_RANKS_PROGRAMS",
                                      (uint64_t)contract_rounds(ROUNDS(24, 8), 6)),
             seed = first;
    static const int32_t sizes[] = {2, 3, 4, 1, 5, 8};
    uint64_t each = (programs + 5) / 6;
    for (uint32_t i = 0; i < 6; i++) {
        open_job(&job, sizes[i], "ranks");
        for (uint64_t n = 0; n < each && seed < first + programs; n++, seed++)
            run_one(&job, runtime, seed, STEPS);
        close_job(&job);
    }
}

/* ── where devices share a GPU ─────────────────────────────────────────────────────────── */

/* There a rank that waits for another one waits for its kernel's turn, and the other programs have turns in
 * between. A runtime has two short programs of every kind of step. Eight ranks would show nothing that four do
 * not: how many there are only matters to the host. All programs together wait for another rank 110 times, and
 * those of run_many 1,362 times. */
static const struct {
    int32_t ranks;
    uint64_t seed;
} shared[][2] = {
    [TG_RUNTIME_HOST_BUILD_GRAPH] = {{2, 168}, {3, 13}},
    [TG_RUNTIME_AICPU_BUILD_GRAPH] = {{4, 314}, {1, 10}},
    [TG_RUNTIME_TENSORMAP_AND_RINGBUFFER] = {{3, 98}, {2, 314}},
};

static bool has_every_kind(uint64_t seed, int64_t steps, int32_t ranks)
{
    uint32_t kinds = 0;
    for (int64_t i = 0; i < steps; i++) {
        struct ranks_step s = ranks_draw(&seed, ranks);
        bool stays = s.kind == RANKS_PAIR && s.from == s.to && ranks > 1;
        kinds |= stays ? 0 : 1u << s.kind;
    }
    return kinds == (1u << RANKS_KINDS) - 1;
}

static void run_few(enum tg_runtime_kind runtime)
{
    enum { SHORT = 12 };
    static struct job job;
    for (uint32_t i = 0; i < 2; i++) {
        int32_t ranks = shared[runtime][i].ranks;
        uint64_t seed = shared[runtime][i].seed;
        CHECK(has_every_kind(seed, SHORT, ranks));
        open_job(&job, ranks, "ranks");
        run_one(&job, runtime, seed, SHORT);
        close_job(&job);
    }
}

/* ── the tests ─────────────────────────────────────────────────────────────────────────── */

static void run_programs(enum tg_runtime_kind runtime)
{
    bool is_told =
        getenv("TASKGLASS_RANKS_PROGRAMS") != NULL || getenv("TASKGLASS_RANKS_SEED") != NULL;
    if (contract_is_sparing() && !is_told)
        run_few(runtime);
    else
        run_many(runtime);
}

CONTRACT(random_communication_of_a_graph_that_the_host_builds_equals_serial_execution)
{
    if (!can_communicate())
        SKIP("a device of this platform cannot communicate");
    run_programs(TG_RUNTIME_HOST_BUILD_GRAPH);
}

CONTRACT(random_communication_with_explicit_edges_equals_serial_execution)
{
    if (!can_communicate())
        SKIP("a device of this platform cannot communicate");
    run_programs(TG_RUNTIME_AICPU_BUILD_GRAPH);
}

CONTRACT(random_communication_with_found_edges_equals_serial_execution)
{
    if (!can_communicate())
        SKIP("a device of this platform cannot communicate");
    run_programs(TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
}

TEST_MAIN()
