/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a program that uses the C interface answer while they go on: on every platform, by every runtime.
 * The thread sanitizer runs this too. */
#include "slow.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <taskglass/live.h>
#include <unistd.h>

/* Tasks of a chain: nobody waits for the last one. One scope has all of them, so the device's ring must have
 * room for those that it builds. */
enum { ENDLESS = 200000, ENDLESS_IN_A_RING = 10000 };

static char folder[64];

static const char *output_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/taskglass_test_live_XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    return folder;
}

static bool has_file(const char *name)
{
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &info) == 0;
}

static void remove_output(void)
{
    static const char *const files[] = {"tensor_dump/tensor_dump.rec",
                                        "tensor_dump/tensor_dump.bin",
                                        "tensor_dump/tensor_dump.json", "tensor_dump", ""};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

/* A chain that the device builds. */
static struct slow slow_orchestrate(struct tg_device *device, enum tg_runtime_kind runtime,
                                    uint64_t n, double seconds)
{
    struct slow slow = {.device = device, .n = n};
    int64_t shape = (int64_t)n;
    struct tg_args args;
    slow.runs = alloc_device(device, 4 * n);
    zero_device(device, slow.runs, 4 * n);
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(slow.runs, TG_INT32, 1, &shape));
    tg_args_i64(&args, (int64_t)(seconds * 1e9));
    tg_args_bits(&args, TG_BOOL, 1);
    GOOD(tg_graph_orchestrate(load_module(device, "slow"), runtime, &args, NULL, &slow.graph,
                              error));
    return slow;
}

/* Waits a moment for the run, as its thread must, and connects. */
static struct tg_live *connect_to(struct tg_run *run)
{
    struct tg_live *live = NULL;
    while (tg_live_open(folder, &live, NULL) != TG_OK)
        REQUIRE(tg_run_wait(run, 0.01, NULL) == TG_TIMED_OUT);
    return live;
}

/* Asks until an answer shows a chain at work: tasks finish, one runs, and the next waits for it. */
static void see_a_chain(struct tg_run *run, struct tg_live *live, struct tg_live_status *status)
{
    uint64_t first = 0;
    bool is_seen = false;
    while (!is_seen) {
        GOOD(tg_live_look(live, TG_LIVE_ALL, status, error));
        first = first ? first : status->finished;
        is_seen = status->finished > first && first > 0 && status->running == 1 &&
                  status->n_waits == 1 && status->records > 0 && status->phase == TG_LIVE_RUNNING;
        REQUIRE(tg_run_wait(run, 0.001, NULL) == TG_TIMED_OUT);
    }
}

static void follow(struct slow *slow)
{
    struct tg_record_config record = {.level = TG_LEVEL_FULL, .output_dir = output_folder()};
    struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record};
    struct tg_live_status status;
    struct tg_run *run;
    GOOD(tg_run_start(slow->graph, &config, &run, error));
    struct tg_live *live = connect_to(run);
    see_a_chain(run, live, &status);
    CHECK_EQ_S(status.platform, platform->name);
    CHECK_EQ_S(status.workload, "");
    CHECK(status.recorded);
    CHECK_EQ_S(status.level, "full");
    CHECK_EQ_U(status.waits[0].task, status.waits[0].waits_for + 1);
    CHECK_NEAR(status.hang_seconds, FAR_SECONDS, 0);
    for (uint32_t i = 0; i < status.n_cores; i++)
        CHECK(!status.cores[i].busy || strcmp(status.cores[i].kernel, "slow_wait") == 0);
    tg_run_cancel(run);
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_CANCELLED);
    CHECK(!has_file(TG_LIVE_SOCKET));
    CHECK_EQ_I(tg_live_look(live, TG_LIVE_ALL, &status, NULL), TG_NOT_FOUND);
    tg_live_close(live);
    tg_run_destroy(run);
    remove_output();
}

CONTRACT(a_run_of_a_graph_that_the_host_built_answers)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, ENDLESS, contract_seconds(0.002), true);
    follow(&slow);
    slow_destroy(&slow);
    tg_device_close(device);
}

CONTRACT(a_run_of_a_graph_that_the_device_builds_answers)
{
    for (int runtime = TG_RUNTIME_AICPU_BUILD_GRAPH; runtime <= TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;
         runtime++) {
        struct tg_device *device = open_device(3, 0);
        struct slow slow = slow_orchestrate(device, (enum tg_runtime_kind)runtime,
                                            ENDLESS_IN_A_RING, contract_seconds(0.02));
        follow(&slow);
        slow_destroy(&slow);
        tg_device_close(device);
    }
}

CONTRACT(a_run_that_must_not_answer_makes_no_socket)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 20, contract_seconds(0.005), true);
    struct tg_record_config record = {.level = TG_LEVEL_META, .output_dir = output_folder()};
    struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record, .not_live = true};
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, &config, &run, error));
    while (tg_run_wait(run, 0.005, NULL) == TG_TIMED_OUT)
        CHECK(!has_file(TG_LIVE_SOCKET));
    tg_run_destroy(run);
    remove_output();
    slow_destroy(&slow);
    tg_device_close(device);
}

/* ── asking while runs begin and end ──────────────────────────────────────────────────────── */

static bool is_over; /* atomic */

/* Connects and asks again and again; counts the answers. */
static void *ask_always(void *answers)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        struct tg_live_status status;
        struct tg_live *live;
        if (tg_live_open(folder, &live, NULL) != TG_OK) {
            poll(NULL, 0, 1);
            continue;
        }
        while (tg_live_look(live, TG_LIVE_ALL, &status, NULL) == TG_OK)
            __atomic_fetch_add((uint64_t *)answers, 1, __ATOMIC_RELAXED);
        tg_live_close(live);
    }
    return NULL;
}

CONTRACT(a_run_ends_well_while_somebody_asks)
{
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 40, contract_seconds(0.001), true);
    struct tg_record_config record = {.level = TG_LEVEL_FULL, .output_dir = output_folder()};
    struct tg_run_config config = {.timeout = FAR_SECONDS, .record = &record};
    uint64_t answers = 0;
    pthread_t thread;
    __atomic_store_n(&is_over, false, __ATOMIC_RELEASE);
    REQUIRE(pthread_create(&thread, NULL, ask_always, &answers) == 0);
    int rounds = 0;
    for (; rounds < 5 || __atomic_load_n(&answers, __ATOMIC_RELAXED) == 0; rounds++)
        GOOD(tg_graph_run(slow.graph, &config, NULL, error));
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_EQ_U(slow_count(&slow, rounds), slow.n);
    remove_output();
    slow_destroy(&slow);
    tg_device_close(device);
}

TEST_MAIN()
