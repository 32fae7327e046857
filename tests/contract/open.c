/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: counts, limits, memory sizes, several at once. */
#define _GNU_SOURCE 1
#include "contract.h"
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

/* Opens a device, and expects this many cores and schedulers. */
static void opens(uint32_t cores, uint32_t schedulers)
{
    struct tg_device *device = open_device(cores, schedulers);
    struct tg_device_info info;
    tg_device_get_info(device, &info);
    CHECK_EQ_S(info.platform, platform->name);
    CHECK_EQ_U(info.cores, cores);
    CHECK_EQ_U(info.blocks, (cores + TG_PARTS - 1) / TG_PARTS);
    CHECK_EQ_U(info.schedulers, schedulers);
    CHECK(!info.lost);
    tg_device_close(device);
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

CONTRACT(every_number_of_cores_up_to_the_limit_opens)
{
    uint32_t most = most_cores(0);
    if (platform->slow_to_open)
        for (uint32_t cores = 1; cores <= most; cores *= 2)
            opens(cores, 0);
    else
        for (uint32_t cores = 1; cores <= most; cores += cores < 8 ? 1 : ROUNDS(7, 25))
            opens(cores, 0);
    opens(most, 0);
}

CONTRACT(every_number_of_schedulers_up_to_the_limit_opens)
{
    for (uint32_t schedulers = 0; schedulers <= platform->max_schedulers; schedulers++)
        opens(4, schedulers);
    opens(1, platform->max_schedulers);
}

CONTRACT(the_largest_device_opens)
{
    uint32_t most = most_cores(platform->max_schedulers);
    opens(most, platform->max_schedulers);
    if (most < TG_PARTS * platform->max_blocks) {
        struct tg_device_config config = device_config(most + 1, platform->max_schedulers);
        struct tg_device *device = NULL;
        char room[32];
        snprintf(room, sizeof room, "room for %u ", most);
        REFUSED(BAD_ARGUMENT, room, tg_device_open(&config, &device, error));
    }
}

CONTRACT(one_core_more_than_the_limit_is_refused_with_the_limit)
{
    struct tg_device_config config = device_config(TG_PARTS * platform->max_blocks + 1, 0);
    struct tg_device *device = NULL;
    char limit[32];
    snprintf(limit, sizeof limit, "at most %u", TG_PARTS * platform->max_blocks);
    REFUSED(BAD_ARGUMENT, limit, tg_device_open(&config, &device, error));
    config.cores = UINT32_MAX;
    REFUSED(BAD_ARGUMENT, limit, tg_device_open(&config, &device, error));
    CHECK(device == NULL);
}

CONTRACT(one_scheduler_more_than_the_limit_is_refused_with_the_limit)
{
    struct tg_device_config config = device_config(1, platform->max_schedulers + 1);
    struct tg_device *device = NULL;
    char limit[32];
    snprintf(limit, sizeof limit, "at most %u", platform->max_schedulers);
    REFUSED(BAD_ARGUMENT, limit, tg_device_open(&config, &device, error));
    CHECK(device == NULL);
}

CONTRACT(zero_means_whole_blocks_for_what_is_here_and_4_GiB)
{
    struct tg_device_config config = device_config(0, 0);
    struct tg_device *device;
    struct tg_device_info info;
    config.memory = 0;
    GOOD(tg_device_open(&config, &device, error));
    tg_device_get_info(device, &info);
    CHECK(info.cores > 0);
    CHECK_EQ_U(info.cores % TG_PARTS, 0);
    CHECK_EQ_U(info.schedulers, 0);
    CHECK_EQ_U(info.memory, (uint64_t)4 << 30);
    tg_device_close(device);
}

CONTRACT(too_little_or_too_much_memory_is_refused)
{
    struct tg_device_config config = device_config(1, 0);
    struct tg_device *device = NULL;
    const uint64_t wrong[] = {1, 4096, (4u << 20) - 1, ((uint64_t)1 << 44) + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        config.memory = wrong[i];
        REFUSED(BAD_ARGUMENT, "--device-memory", tg_device_open(&config, &device, error));
    }
    CHECK(device == NULL);
}

CONTRACT(the_least_memory_is_enough_for_the_largest_device)
{
    const uint32_t schedulers = platform->max_schedulers;
    struct tg_device_config config = device_config(most_cores(schedulers), schedulers);
    struct tg_device *device;
    config.memory = 4 << 20;
    GOOD(tg_device_open(&config, &device, error));
    alloc_device(device, 1 << 20);
    tg_device_close(device);
}

CONTRACT(an_odd_memory_size_gives_no_more_than_was_asked_for)
{
    struct tg_device_config config = device_config(1, 0);
    struct tg_device *device;
    struct tg_device_info info;
    char last = 1;
    config.memory = (5u << 20) + 12345;
    GOOD(tg_device_open(&config, &device, error));
    tg_device_get_info(device, &info);
    CHECK(info.memory <= config.memory);
    CHECK(info.memory + 4096 > config.memory);
    uint64_t address = alloc_device(device, info.memory - info.memory_used);
    uint64_t end = address + (info.memory - info.memory_used);
    GOOD(tg_device_copy_in(device, end - 1, &last, 1, error));
    tg_device_close(device);
}

CONTRACT(devices_that_are_open_at_once_are_independent)
{
    enum { N = 8 };
    const uint64_t n = (uint64_t)contract_rounds(N, 4);
    struct tg_device *device[N];
    uint64_t address[N];
    for (uint64_t i = 0; i < n; i++) {
        device[i] = open_device(1 + (uint32_t)i, (uint32_t)i % 3);
        address[i] = alloc_device(device[i], sizeof i);
        GOOD(tg_device_copy_in(device[i], address[i], &i, sizeof i, error));
    }
    tg_device_close(device[3]);
    device[3] = open_device(1, 0);
    for (uint64_t i = 0, got; i < n; i++) {
        if (i != 3) {
            GOOD(tg_device_copy_out(device[i], &got, address[i], sizeof got, error));
            CHECK_EQ_U(got, i);
        }
        tg_device_close(device[i]);
    }
}

CONTRACT(closing_no_device_is_allowed)
{
    tg_device_close(NULL);
}

CONTRACT(closing_ends_the_process_and_gives_back_every_descriptor)
{
    int before = open_files();
    for (int i = 0; i < contract_rounds(20, 4); i++) {
        struct tg_device *device = open_device(3, 1);
        int pid = device_pid(device);
        tg_device_close(device);
        if (pid != 0) {
            CHECK_EQ_I(kill(pid, 0), -1);
            CHECK_EQ_I(errno, ESRCH);
        }
    }
    CHECK_EQ_I(open_files(), before);
}

CONTRACT(an_open_that_fails_gives_back_every_descriptor)
{
    int before = open_files();
    struct tg_device *device = NULL;
    struct tg_device_config config = device_config(1, 0);
    if (strcmp(platform->program, "taskglass-device") != 0)
        SKIP("the caller cannot choose the program of this platform");
    config.device_program = "/nowhere/taskglass-device";
    for (int i = 0; i < 5; i++)
        REFUSED(NOT_FOUND, "/nowhere/taskglass-device", tg_device_open(&config, &device, error));
    config.device_program = "/bin/true";
    for (int i = 0; i < 5; i++)
        REFUSED(DEVICE_LOST, "exited with status 0", tg_device_open(&config, &device, error));
    CHECK(device == NULL);
    CHECK_EQ_I(open_files(), before);
}

TEST(an_unknown_platform_is_refused_with_those_there_are)
{
    struct tg_device_config config = {.platform = "a9sim"};
    struct tg_device *device = NULL;
    REFUSED(NOT_FOUND, "a2a3sim", tg_device_open(&config, &device, error));
    CHECK(device == NULL);
}

TEST_MAIN()
