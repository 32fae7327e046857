/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host must not trust device memory: a kernel can write anything anywhere in it. Here the test
 * itself overwrites the control area while the device is stopped or running. The host must end the
 * run with one of its named errors, and the next device must work.
 */
#define _GNU_SOURCE 1
#include "nodes.h"
#include "slow.h"

static const struct tg_run_config soon = {.timeout = 0.1};

/* Five cores are a full block, of which two lanes take tasks for AIVs, and two cores that take any. */
enum { AIV_CORES = 4 };

struct victim {
    struct tg_device *device;
    struct slow slow;
    struct tg_run *run;
    struct tg_control_head head;
    uint64_t base;
    int pid;
};

/* Waits until every core that can run a task of the graph runs one. From then on the cores write
 * nothing. */
static void wait_for_tasks(struct victim *v)
{
    struct tg_worker_status status;
    uint32_t running = 0;
    while (running < AIV_CORES) {
        running = 0;
        for (uint32_t i = 0; i < v->head.n_lanes; i++) {
            GOOD(tg_device_copy_out(v->device, &status,
                                    v->base + v->head.status + i * sizeof status, sizeof status,
                                    error));
            running += status.running != 0;
        }
    }
}

/* Makes a device that is in the middle of a run's tasks, and stops its process if the platform allows
 * that. If not, the workers still write nothing, because their tasks never end. */
static struct victim victim_make(const struct tg_run_config *config)
{
    struct victim v = {.device = open_device(5, 1)};
    v.pid = device_pid(v.device);
    if (v.pid == 0)
        SKIP("the device has no process that could be stopped");
    v.base = control_of(v.device);
    GOOD(tg_device_copy_out(v.device, &v.head, v.base, sizeof v.head, error));
    REQUIRE(v.head.magic == TG_CONTROL_MAGIC);
    v.slow = slow_make(v.device, 8, 1000, false); /* these tasks outlast the test */
    GOOD(tg_run_start(v.slow.graph, config, &v.run, error));
    wait_for_tasks(&v);
    if (can_be_stopped())
        stop_process(v.pid);
    return v;
}

/* Checks that the run ends with one of the named statuses and that its report is readable. */
static void victim_ends(struct victim *v)
{
    struct tg_error error = {TG_OK, ""};
    struct tg_run_result result;
    tg_status status = tg_run_wait(v->run, -1, &error);
    tg_run_get_result(v->run, &result);
    CHECK(status == TG_OK || status == TG_HANG || status == TG_DEVICE_LOST ||
          status == TG_KERNEL_FAULT);
    CHECK_EQ_I(result.status, status);
    CHECK(result.finished <= result.tasks);
    CHECK(result.waiting <= result.tasks);
    CHECK(result.n_running <= 3 * 2);
    for (uint32_t i = 0; i < result.n_running; i++) {
        CHECK(result.running[i].task < result.tasks);
        CHECK(result.running[i].core < 3 * 2);
        CHECK_EQ_S(result.running[i].kernel, "slow_wait");
    }
    tg_run_destroy(v->run);
    slow_destroy(&v->slow);
    tg_device_close(v->device);
}

static void write_status(struct victim *v, struct tg_worker_status status)
{
    for (uint32_t i = 0; i < v->head.n_lanes + v->head.n_schedulers; i++)
        GOOD(tg_device_copy_in(v->device, v->base + v->head.status + i * sizeof status, &status,
                               sizeof status, error));
}

CONTRACT(workers_that_claim_to_run_tasks_that_are_not_there_are_not_believed)
{
    const uint64_t running[] = {9, 10, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++) {
        struct victim v = victim_make(&soon);
        struct tg_run_result result;
        write_status(&v, (struct tg_worker_status){.running = running[i], .part = 1});
        CHECK_EQ_I(tg_run_wait(v.run, -1, NULL), TG_HANG);
        tg_run_get_result(v.run, &result);
        CHECK_EQ_U(result.n_running, 0);
        victim_ends(&v);
    }
}

CONTRACT(workers_that_claim_to_run_parts_that_are_not_there_are_not_believed)
{
    const uint32_t part[] = {0, 2, 3, UINT32_MAX};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        struct victim v = victim_make(&soon);
        struct tg_run_result result;
        write_status(&v, (struct tg_worker_status){.running = 1, .part = part[i]});
        CHECK_EQ_I(tg_run_wait(v.run, -1, NULL), TG_HANG);
        tg_run_get_result(v.run, &result);
        CHECK_EQ_U(result.n_running, 0);
        victim_ends(&v);
    }
}

CONTRACT(more_finished_tasks_than_there_are_count_as_all)
{
    const uint64_t finished[] = {9, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof finished / sizeof finished[0]; i++) {
        struct victim v = victim_make(&soon);
        uint64_t got, total;
        write_status(&v, (struct tg_worker_status){.finished = finished[i]});
        tg_run_progress(v.run, &got, &total);
        CHECK_EQ_U(got, 8);
        victim_ends(&v);
    }
}

CONTRACT(a_fault_record_that_a_living_device_left_is_not_believed)
{
    struct victim v = victim_make(&far_limit);
    struct tg_fault_record fault = {.valid = 1, .signal = SIGSEGV, .part = 1, .running = 1};
    GOOD(tg_device_copy_in(v.device, v.base + offsetof(struct tg_control_head, fault), &fault,
                           sizeof fault, error));
    kill(v.pid, SIGKILL);
    REFUSED(DEVICE_LOST, "killed by signal 9", tg_run_wait(v.run, -1, error));
    victim_ends(&v);
}

/* Writes random bytes over the head, the status array, or all of the control area. */
CONTRACT(random_bytes_in_the_control_area_never_harm_the_host)
{
    uint64_t random = 77;
    for (int i = 0; i < contract_rounds(ROUNDS(24, 6), 6); i++) {
        struct victim v = victim_make(&soon);
        uint64_t size = i % 3 == 0   ? sizeof v.head
                        : i % 3 == 1 ? v.head.status + 7 * sizeof(struct tg_worker_status)
                                     : v.head.control_size;
        unsigned char *bytes = malloc(size);
        for (uint64_t k = 0; k < size; k++)
            bytes[k] = (unsigned char)next_random(&random);
        (void)tg_device_copy_in(v.device, v.base, bytes, size, NULL);
        free(bytes);
        kill(v.pid, i % 2 ? SIGKILL : SIGCONT);
        victim_ends(&v);
    }
}

/* The graph is in device memory too, and the next run uses whatever is there. */
CONTRACT(random_bytes_in_a_resident_graph_never_harm_the_host)
{
    uint64_t random = 78;
    for (int i = 0; i < contract_rounds(ROUNDS(12, 4), 4); i++) {
        struct tg_device *device = open_device(3, (uint32_t)i % 2);
        struct nodes nodes = nodes_make(device, 50);
        struct tg_device_info info;
        uint64_t start = nodes.value + 512, size;
        unsigned char *image;
        nodes_add_random(&nodes, 50, 3, true, &random);
        nodes_run(&nodes, 1);
        tg_device_get_info(device, &info);
        size = nodes.count + info.memory_used - start; /* reaches past the image */
        image = malloc(size);
        GOOD(tg_device_copy_out(device, image, start, size, error));
        for (uint64_t at = 0; at + 64 <= size; at += 64) {
            uint64_t garbage = next_random(&random);
            memcpy(image + at + garbage % 57, &garbage, 8);
        }
        GOOD(tg_device_copy_in(device, start, image, size, error));
        free(image);
        tg_graph_run(nodes.graph, &soon, NULL, NULL); /* any status is fine; no crash */
        nodes_destroy(&nodes);
        tg_device_close(device);
    }
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 50);
    nodes_add_random(&nodes, 50, 3, true, &random);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

TEST_MAIN()
