/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs on one open device, with far more threads than CPUs and with a single CPU; and a device
 * that has nothing to do. A lost wake-up shows as a HANG. */
#define _GNU_SOURCE 1
#include "nodes.h"
#include "slow.h"
#include <sched.h>
#include <unistd.h>

/* Opens 72 cores, or as many as the platform has. */
static struct tg_device *open_large(uint32_t schedulers)
{
    return open_device(cores_up_to(72, schedulers), schedulers);
}

/* Builds a thousand small random graphs and runs each a few times. */
static void many_small_graphs(struct tg_device *device, uint64_t runs, bool mixes, uint64_t seed)
{
    struct nodes nodes = nodes_make(device, 60);
    uint64_t random = seed;
    for (uint64_t i = 0; i < runs; i++) {
        if (i % 4 == 0) {
            nodes_clear(&nodes);
            nodes_add_random(&nodes, next_random(&random) % 60, 1 + next_random(&random) % 4, mixes,
                             &random);
        }
        nodes_run(&nodes, i % 4 + 1);
    }
    nodes_destroy(&nodes);
}

CONTRACT(a_thousand_runs_with_72_cores_and_schedulers_lose_no_wake_up)
{
    struct tg_device *device = open_large(schedulers_up_to(4));
    many_small_graphs(device, ROUNDS(1000, 60), false, 1);
    tg_device_close(device);
}

CONTRACT(a_thousand_runs_with_72_cores_and_schedulers_and_mixes_lose_no_wake_up)
{
    struct tg_device *device = open_large(schedulers_up_to(4));
    many_small_graphs(device, ROUNDS(1000, 60), true, 2);
    tg_device_close(device);
}

CONTRACT(a_thousand_runs_with_72_cores_that_schedule_for_themselves_lose_no_wake_up)
{
    struct tg_device *device = open_large(0);
    many_small_graphs(device, ROUNDS(1000, 60), true, 3);
    tg_device_close(device);
}

CONTRACT(a_thousand_runs_with_a_core_too_few_for_a_block_lose_no_wake_up)
{
    struct tg_device *device = open_device(2, 0);
    many_small_graphs(device, ROUNDS(1000, 60), true, 4);
    tg_device_close(device);
}

/* Pins this process, and everything that it starts from here on, to one CPU. */
static void pin_to_one_cpu(cpu_set_t *before)
{
    cpu_set_t one;
    int cpu = 0;
    REQUIRE(sched_getaffinity(0, sizeof *before, before) == 0);
    while (!CPU_ISSET(cpu, before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

CONTRACT(one_core_and_one_scheduler_on_one_cpu_run_everything)
{
    cpu_set_t before;
    pin_to_one_cpu(&before);
    struct tg_device *device = open_device(1, 1);
    many_small_graphs(device, ROUNDS(300, 40), true, 5);
    tg_device_close(device);
    sched_setaffinity(0, sizeof before, &before);
}

CONTRACT(a_whole_device_on_one_cpu_runs_everything)
{
    const struct {
        uint32_t cores, schedulers;
    } at[] = {{1, 0}, {3, 0}, {12, 0}, {12, 3}, {72, schedulers_up_to(4)}};
    cpu_set_t before;
    pin_to_one_cpu(&before);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        struct tg_device *device =
            open_device(cores_up_to(at[i].cores, at[i].schedulers), at[i].schedulers);
        many_small_graphs(device, ROUNDS(100, 10), true, 6 + i);
        tg_device_close(device);
    }
    sched_setaffinity(0, sizeof before, &before);
}

/* Clock ticks of CPU time a process has used. */
static unsigned long long ticks_used(int pid)
{
    char path[64], text[1024] = "", *rest;
    unsigned long long user = 0, system = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    REQUIRE(file != NULL);
    REQUIRE(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    rest = strrchr(text, ')'); /* the name may contain anything */
    REQUIRE(rest != NULL);
    REQUIRE(sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                   &system) == 2);
    return user + system;
}

/* Checks that the device's threads sleep. A thread that spins or polls would use much CPU time in
 * every try; three ticks are measurement noise. Several tries, because on a busy machine the threads
 * need some time until each has found nothing to do and sleeps. */
static void idles(struct tg_device *device)
{
    int pid = device_pid(device);
    unsigned long long before, used = 4;
    if (pid == 0)
        return;
    for (int tries = 0; used > 3 && tries < 20; tries++) {
        sleep_seconds(0.05);
        before = ticks_used(pid);
        sleep_seconds(0.5);
        used = ticks_used(pid) - before;
    }
    CHECK(used <= 3);
}

CONTRACT(an_open_device_that_has_nothing_to_do_uses_no_cpu)
{
    struct tg_device *small = open_device(1, 0), *large = open_large(schedulers_up_to(4));
    idles(small);
    idles(large);
    tg_device_close(small);
    tg_device_close(large);
}

CONTRACT(a_device_uses_no_cpu_after_a_run)
{
    struct tg_device *device = open_device(12, 2);
    many_small_graphs(device, 10, true, 7);
    idles(device);
    tg_device_close(device);
}

CONTRACT(cores_without_work_use_no_cpu_while_another_runs)
{
    /* One task on one of 12 cores: the other eleven and the schedulers sleep. */
    struct tg_device *device = open_device(12, 2);
    struct slow slow = slow_make(device, 1, 0.6, false);
    int pid = device_pid(device);
    if (pid != 0) {
        unsigned long long before = ticks_used(pid), used;
        double start = seconds_now(), took;
        GOOD(tg_graph_run(slow.graph, NULL, NULL, error));
        took = seconds_now() - start;
        used = ticks_used(pid) - before;
        CHECK((double)used <= took * (double)sysconf(_SC_CLK_TCK) * 1.25 + 3);
    }
    slow_destroy(&slow);
    tg_device_close(device);
}

TEST_MAIN()
