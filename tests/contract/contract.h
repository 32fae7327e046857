/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the contract tests share. A CONTRACT is a test that runs once on every platform this
 * machine has; inside it `platform` says which.
 *
 *     CONTRACT(an_empty_graph_finishes) { struct tg_device *device = open_device(3, 0); … }
 */
#ifndef TASKGLASS_CONTRACT_H
#define TASKGLASS_CONTRACT_H

#include "platform/platform.h"
#include "test.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <taskglass/taskglass.h>
#include <taskglass/wire/device.h>
#include <time.h>

/* How often the long tests go round: sanitizers make everything several times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(release, sanitized) (sanitized)
#else
#define ROUNDS(release, sanitized) (release)
#endif

/* The platform of the test under way. */
static const struct tg_platform_ops *platform;

TEST_FN_ void contract_each_(void (*run)(void))
{
    for (uint32_t i = 0; tg_platform_number(i) != NULL; i++) {
        struct tg_platform_info info;
        int before = test_failures_;
        platform = tg_platform_number(i);
        if (!tg_platform_get(i, &info) || !info.available)
            continue;
        run();
        if (test_failures_ != before)
            fprintf(stderr, "  … on %s\n", platform->name);
    }
}

#define CONTRACT(sentence)                   \
    static void contract_##sentence(void);   \
    TEST(sentence)                           \
    {                                        \
        contract_each_(contract_##sentence); \
    }                                        \
    static void contract_##sentence(void)

/* The status, and on failure what was said. */
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
/* Every process sleeps for a second at its end by default; a device's is waited for. */
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
        fprintf(stderr, "%s is not set: run this by ctest\n", name);
        exit(1);
    }
    return value;
}

TEST_FN_ struct tg_device_config device_config(uint32_t cores, uint32_t schedulers)
{
    struct tg_device_config config = {0};
    config.platform = platform->name;
    config.cores = cores;
    config.schedulers = schedulers;
    config.device_program = from_environment("TASKGLASS_DEVICE_PROGRAM");
    return config;
}

TEST_FN_ struct tg_device *open_device(uint32_t cores, uint32_t schedulers)
{
    struct tg_device_config config = device_config(cores, schedulers);
    struct tg_device *device = NULL;
    GOOD(tg_device_open(&config, &device, error));
    return device;
}

/* The path of a workload that only tests run; lives until the next call. */
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

/* Stops the device's process; none of its threads runs once this returns. */
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
