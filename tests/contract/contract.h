/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the contract tests share. A CONTRACT is a test that runs once on every platform that
 * this machine has; inside it `platform` says which. If TASKGLASS_TEST_PLATFORM names a platform,
 * the tests run on that one only, and fail if the machine does not have it.
 *
 *     CONTRACT(an_empty_graph_finishes) { struct tg_device *device = open_device(3, 0); … }
 *
 * SKIP in a CONTRACT skips it on the current platform only.
 */
#ifndef TASKGLASS_CONTRACT_H
#define TASKGLASS_CONTRACT_H

#include "host/device.h"
#include "host/run.h"
#include "platform/platform.h"
#include "test.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <taskglass/taskglass.h>
#include <taskglass/wire/device.h>
#include <time.h>

/* How many rounds the long tests make: sanitizers make everything several times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(release, sanitized) (sanitized)
#else
#define ROUNDS(release, sanitized) (release)
#endif

/* The platform of the current test. */
static const struct tg_platform_ops *platform;

/* Rounds or tasks: n, or at most `few` on a platform where each takes long. */
TEST_FN_ int contract_rounds(int n, int few)
{
    return platform->slow_to_open && n > few ? few : n;
}

/* True on a real GPU: it opens slowly, and the kernels of all devices on it take turns. There a test leaves out
 * what shows nothing more about a GPU, for the same reason and with the same variables as the suites in Python
 * (SPARING in tests/platforms.py). */
TEST_FN_ bool contract_is_sparing(void)
{
    const char *sparing = getenv("TASKGLASS_TEST_SPARING"), *whole = getenv("TASKGLASS_TEST_WHOLE");
    bool is_whole = whole != NULL && *whole != '\0' && strcmp(whole, "0") != 0;
    if (!platform->slow_to_open || is_whole)
        return false;
    return sparing != NULL ? strcmp(sparing, "1") == 0 : getenv("TASKGLASS_CUDA_DRIVER") == NULL;
}

/* `seconds`, or ten times that on a platform where everything takes longer. */
TEST_FN_ double contract_seconds(double seconds)
{
    return platform->slow_to_open ? 10 * seconds : seconds;
}

/*
 * Time limits that also hold on a busy machine. If a run must detect a failure by itself, the test
 * gives the run the no-progress limit FAR_SECONDS and expects the failure within AT_ONCE_SECONDS;
 * both are so long that other processes cannot use them up. A test of the no-progress limit also
 * starts its run with FAR_SECONDS, waits until the device makes no more progress, and then calls
 * hang_soon.
 */
#define FAR_SECONDS 600.0
#define AT_ONCE_SECONDS 120.0
static const struct tg_run_config far_limit = {.timeout = FAR_SECONDS};

/* Shortens the no-progress limit of a run. The thread that waits for the run calls it. */
TEST_FN_ double hang_soon(struct tg_run *run)
{
    run->idle.seconds = platform->slow_to_open ? 3 : 0.5;
    return run->idle.seconds;
}

/* Calls `run` with longer and longer limits until the run does not end as a hang. For runs in which
 * each task takes less than the limit but all together take more: only on a busy machine does a task
 * exceed a short limit, so a longer one decides. */
TEST_FN_ tg_status with_limits(tg_status (*run)(double limit))
{
    tg_status status = TG_HANG;
    for (double limit = 0.5; status == TG_HANG && limit <= 40; limit *= 4)
        status = run(limit);
    return status;
}

/* The longest and the shortest time of several tries. Other processes can slow down every single try,
 * but hardly all of them, so tests compare `shortest` with a tight limit. */
struct tries {
    double longest, shortest;
    int n;
};

TEST_FN_ void tries_add(struct tries *tries, double seconds)
{
    tries->longest = tries->n == 0 || seconds > tries->longest ? seconds : tries->longest;
    tries->shortest = tries->n == 0 || seconds < tries->shortest ? seconds : tries->shortest;
    tries->n++;
}

/* n schedulers, or the most that the platform has, if that is less. */
TEST_FN_ uint32_t schedulers_up_to(uint32_t n)
{
    return n < platform->max_schedulers ? n : platform->max_schedulers;
}

/* True if kernels are threads of the device's process, with libc and signals. */
TEST_FN_ bool kernels_are_in_a_process(void)
{
    return strcmp(platform->name, "cuda") != 0;
}

/* Runs the test on one platform; a REQUIRE or SKIP ends only that. Returns why it was skipped, or
 * NULL. */
TEST_FN_ const char *contract_turn_(void (*run)(void))
{
    jmp_buf end;
    int before = test_failures_;
    const char *skipped;
    memcpy(&end, &test_end_, sizeof end);
    if (setjmp(test_end_) == 0)
        run();
    memcpy(&test_end_, &end, sizeof end);
    if (test_failures_ != before)
        fprintf(stderr, "  … on %s\n", platform->name);
    skipped = test_skipped_;
    test_skipped_ = NULL;
    return skipped;
}

TEST_FN_ void contract_each_(const char *sentence, void (*run)(void))
{
    const char *only = getenv("TASKGLASS_TEST_PLATFORM"), *skipped = NULL;
    uint32_t turns = 0, skips = 0;
    bool all = only == NULL || *only == '\0';
    for (uint32_t i = 0; tg_platform_number(i) != NULL; i++) {
        struct tg_platform_info info;
        const char *why;
        platform = tg_platform_number(i);
        if (!tg_platform_get(i, &info) || !info.available ||
            !(all || strcmp(only, platform->name) == 0))
            continue;
        turns++;
        why = contract_turn_(run);
        if (why == NULL)
            continue;
        skips++;
        skipped = why;
        printf("skipped %s on %s: %s\n", sentence, platform->name, why);
    }
    if (turns == 0)
        (void)TEST_FAIL_("this machine has no platform %s\n", all ? "at all" : only);
    else if (skips == turns)
        SKIP(skipped);
}

#define CONTRACT(sentence)                              \
    static void contract_##sentence(void);              \
    TEST(sentence)                                      \
    {                                                   \
        contract_each_(#sentence, contract_##sentence); \
    }                                                   \
    static void contract_##sentence(void)

/* The call must succeed; on failure prints its message. */
#define GOOD(call)                                                                          \
    do {                                                                                    \
        struct tg_error good_error_ = {TG_OK, ""};                                          \
        struct tg_error *error = &good_error_;                                              \
        tg_status good_status_ = (call);                                                    \
        if (good_status_ != TG_OK) {                                                        \
            (void)TEST_FAIL_("%s:%d: %s on %s: %s: %s\n", __FILE__, __LINE__, #call,        \
                             platform ? platform->name : "?", tg_status_name(good_status_), \
                             error->text);                                                  \
            longjmp(test_end_, 1);                                                          \
        }                                                                                   \
    } while (0)

/* The call must fail with this status, and its one line must contain the text. */
#define REFUSED(want, part, call)                         \
    do {                                                  \
        struct tg_error refused_ = {TG_OK, ""};           \
        struct tg_error *error = &refused_;               \
        CHECK_EQ_S(tg_status_name(call), #want);          \
        CHECK_EQ_S(tg_status_name(error->status), #want); \
        CHECK_HAS(error->text, part);                     \
    } while (0)

#if defined(__SANITIZE_THREAD__)
/* With the thread sanitizer a process sleeps for a second when it exits, and tests wait for the
 * device's process. */
__attribute__((constructor)) static void end_at_once(void)
{
    const char *options = getenv("TSAN_OPTIONS");
    char text[1000];
    snprintf(text, sizeof text, "%s atexit_sleep_ms=0", options ? options : "");
    setenv("TSAN_OPTIONS", text, 1);
}
#endif

TEST_FN_ const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL || *value == '\0') {
        fprintf(stderr, "%s is not set; run this test with ctest\n", name);
        exit(1);
    }
    return value;
}

/* The device program: TASKGLASS_DEVICE_PROGRAM, or the one beside it. */
TEST_FN_ const char *device_program(void)
{
    static char path[4096];
    const char *simulator = from_environment("TASKGLASS_DEVICE_PROGRAM");
    const char *name = strrchr(simulator, '/');
    if (kernels_are_in_a_process() || name == NULL)
        return simulator;
    snprintf(path, sizeof path, "%.*s/taskglass-%s", (int)(name - simulator), simulator,
             platform->name);
    return path;
}

/* The tests know no settings, but this one changes what they test. */
TEST_FN_ uint32_t orchestrator_place(void)
{
    const char *place = getenv("TASKGLASS_ORCHESTRATOR");
    return place == NULL                  ? TG_ORCHESTRATOR_AUTO
           : strcmp(place, "host") == 0   ? TG_ORCHESTRATOR_HOST
           : strcmp(place, "device") == 0 ? TG_ORCHESTRATOR_DEVICE
                                          : TG_ORCHESTRATOR_AUTO;
}

/* True if orchestrations run on a CPU of the host. */
TEST_FN_ bool orchestrates_beside(void)
{
    return platform->orchestrates_beside && orchestrator_place() != TG_ORCHESTRATOR_DEVICE;
}

/* If a platform takes all configured memory at once, the device gets less, because several tests
 * run at the same time. */
TEST_FN_ struct tg_device_config device_config(uint32_t cores, uint32_t schedulers)
{
    struct tg_device_config config = {0};
    config.platform = platform->name;
    config.cores = cores;
    config.schedulers = schedulers;
    config.device_program = device_program();
    if (platform->memory_dies)
        config.memory = (uint64_t)1 << 30;
    config.orchestrator = orchestrator_place();
    return config;
}

TEST_FN_ struct tg_device *open_device(uint32_t cores, uint32_t schedulers)
{
    struct tg_device_config config = device_config(cores, schedulers);
    struct tg_device *device = NULL;
    GOOD(tg_device_open(&config, &device, error));
    return device;
}

/* The most cores that this machine's device can have with this many schedulers. If that is less than
 * the platform allows, the function takes the number from the error message. */
TEST_FN_ uint32_t most_cores(uint32_t schedulers)
{
    struct tg_device_config config = device_config(TG_PARTS * platform->max_blocks, schedulers);
    struct tg_device *device = NULL;
    struct tg_error error = {TG_OK, ""};
    unsigned most = 0;
    const char *room;
    if (!platform->slow_to_open)
        return config.cores;
    if (tg_device_open(&config, &device, &error) == TG_OK) {
        tg_device_close(device);
        return config.cores;
    }
    room = strstr(error.text, "has room for ");
    if (room == NULL || sscanf(room, "has room for %u", &most) != 1)
        (void)CHECK_HAS(error.text, "has room for ");
    REQUIRE(most > 0 && most < config.cores);
    return most;
}

/* n cores, or fewer, so that each gets its own multiprocessor: some have no room for two cores. */
TEST_FN_ uint32_t cores_up_to(uint32_t n, uint32_t schedulers)
{
    struct tg_device_info info;
    struct tg_device *device;
    if (!platform->slow_to_open)
        return n;
    device = open_device(0, schedulers);
    tg_device_get_info(device, &info);
    tg_device_close(device);
    return n < info.cores ? n : info.cores;
}

/* The path of a workload for tests; valid until the next call. */
TEST_FN_ const char *workload_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", from_environment("TASKGLASS_TEST_WORKLOADS"), name);
    return path;
}

TEST_FN_ struct tg_module *load_module(struct tg_device *device, const char *name)
{
    struct tg_module *module = NULL;
    GOOD(tg_device_load(device, workload_path(name), &module, error));
    return module;
}

TEST_FN_ uint64_t alloc_device(struct tg_device *device, uint64_t bytes)
{
    uint64_t address = 0;
    GOOD(tg_device_alloc(device, bytes, &address, error));
    return address;
}

TEST_FN_ void zero_device(struct tg_device *device, uint64_t address, uint64_t bytes)
{
    void *zeros = calloc(1, bytes ? bytes : 1);
    GOOD(tg_device_copy_in(device, address, zeros, bytes, error));
    free(zeros);
}

TEST_FN_ int device_pid(struct tg_device *device)
{
    struct tg_device_info info;
    tg_device_get_info(device, &info);
    return info.pid;
}

/* The address of the control area. */
TEST_FN_ uint64_t control_of(struct tg_device *device)
{
    return device->control;
}

/* True if the control area is at the beginning of device memory, before all allocations. */
TEST_FN_ bool control_comes_first(struct tg_device *device)
{
    struct tg_device_info info;
    uint64_t address = alloc_device(device, 1);
    tg_device_get_info(device, &info);
    GOOD(tg_device_free(device, address, error));
    return control_of(device) + info.memory_used - 256 == address;
}

/* False if memory dies with the device: there the device's process itself reads and writes the
 * memory, and the work that it has started continues without it. So a test cannot stop the work and
 * look at the memory. */
TEST_FN_ bool can_be_stopped(void)
{
    return !platform->memory_dies;
}

/* Stops the device's process; when this returns none of its threads runs. */
TEST_FN_ void stop_process(int pid)
{
    siginfo_t info;
    REQUIRE(kill(pid, SIGSTOP) == 0);
    REQUIRE(waitid(P_PID, (id_t)pid, &info, WSTOPPED) == 0);
}

TEST_FN_ double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TEST_FN_ void sleep_seconds(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t) != 0)
        ;
}

/* Numbers that are the same in every run of the test. */
TEST_FN_ uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
