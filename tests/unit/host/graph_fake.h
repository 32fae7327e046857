/* SPDX-License-Identifier: Apache-2.0 */
/* A fake device: a table of functions over an array, for tests that need no process. The test sets
 * its answers. */
#ifndef TASKGLASS_TEST_GRAPH_FAKE_H
#define TASKGLASS_TEST_GRAPH_FAKE_H

#include "host/device.h"
#include "host/graph.h"
#include "host/module.h"
#include "test.h"
#include <stdlib.h>
#include <taskglass/run.h>

enum { FAKE_BYTES = 1 << 20, FAKE_CONTROL = 4096, FAKE_LANES = 3, FAKE_SCHEDULERS = 1 };
#define FAKE_BASE UINT64_C(0x7000000000)

static struct {
    char memory[FAKE_BYTES];
    uint64_t used;
    uint64_t launched; /* address of the last launch */
    int launches, cancels, kills;
    enum tg_poll poll; /* the answer of the next polls */
    bool crashed;      /* what the report of the device's death will say */
    bool deaf;         /* refuses every copy to it */
    uint64_t gone;     /* memory from this address on cannot be read; 0: all can */
} fake;

TEST_FN_ struct tg_control_head *fake_head(void)
{
    return (struct tg_control_head *)(void *)fake.memory;
}

TEST_FN_ struct tg_worker_status *fake_status(uint32_t worker)
{
    return (struct tg_worker_status *)(void *)(fake.memory + sizeof(struct tg_control_head)) +
           worker;
}

static tg_status fake_alloc(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error)
{
    (void)state, (void)error;
    bytes = (bytes + 255) / 256 * 256;
    if (bytes > FAKE_BYTES - fake.used)
        return TG_NO_MEMORY;
    *address = FAKE_BASE + fake.used;
    fake.used += bytes;
    return TG_OK;
}

static tg_status fake_free(void *state, uint64_t address, struct tg_error *error)
{
    (void)state, (void)address, (void)error;
    return TG_OK;
}

static char *fake_at(uint64_t address, uint64_t size)
{
    bool inside = address >= FAKE_BASE && address - FAKE_BASE <= FAKE_BYTES &&
                  size <= FAKE_BYTES - (address - FAKE_BASE);
    return inside ? fake.memory + (address - FAKE_BASE) : NULL;
}

static tg_status fake_copy_in(void *state, uint64_t address, const void *bytes, uint64_t size,
                              struct tg_error *error)
{
    (void)state, (void)error;
    if (fake_at(address, size) == NULL)
        return TG_BAD_ARGUMENT;
    if (fake.deaf)
        return TG_DEVICE_LOST;
    if (size > 0)
        memcpy(fake_at(address, size), bytes, size);
    return TG_OK;
}

static tg_status fake_copy_out(void *state, void *bytes, uint64_t address, uint64_t size,
                               struct tg_error *error)
{
    (void)state, (void)error;
    if (fake_at(address, size) == NULL)
        return TG_BAD_ARGUMENT;
    if (fake.gone != 0 && address + size > fake.gone)
        return TG_DEVICE_LOST;
    memcpy(bytes, fake_at(address, size), size);
    return TG_OK;
}

static tg_status fake_launch(void *state, const struct tg_platform_launch *launch,
                             struct tg_error *error)
{
    (void)state, (void)error;
    fake.launched = launch->address;
    fake.launches++;
    return TG_OK;
}

static enum tg_poll fake_poll(void *state, int milliseconds)
{
    (void)state, (void)milliseconds;
    return fake.poll;
}

static void fake_cancel(void *state)
{
    (void)state;
    fake.cancels++;
}

static void fake_kill(void *state)
{
    (void)state;
    fake.kills++;
}

static void fake_autopsy(void *state, struct tg_autopsy *autopsy)
{
    (void)state;
    autopsy->crashed = fake.crashed;
    strcpy(autopsy->cause, "is only a fake");
}

static void fake_describe(const void *state, struct tg_platform_about *about)
{
    (void)state;
    *about = (struct tg_platform_about){.control = FAKE_BASE, .memory_used = fake.used};
}

static struct tg_platform_ops fake_ops = {
    .abi = TG_PLATFORM_ABI,
    .size = sizeof fake_ops,
    .name = "fake",
    .max_blocks = 1,
    .max_schedulers = 1,
    .alloc = fake_alloc,
    .free = fake_free,
    .copy_in = fake_copy_in,
    .copy_out = fake_copy_out,
    .launch = fake_launch,
    .poll = fake_poll,
    .cancel = fake_cancel,
    .kill = fake_kill,
    .autopsy = fake_autopsy,
    .describe = fake_describe,
};

static struct tg_kernel_desc fake_kernels[] = {
    {.core = TG_AIC},
    {.core = TG_AIV},
    {.core = TG_AIV},
};
static struct tg_kernel_def fake_kernel_defs[] = {
    {.name = "mat", .core = TG_AIC},
    {.name = "vec", .core = TG_AIV},
    {.name = "add", .core = TG_AIV},
};
static const struct tg_workload fake_workload = {.kernels = fake_kernel_defs, .n_kernels = 3};
enum { MAT, VEC, ADD };

static struct tg_device fake_device;
static struct tg_module fake_module;

/* A fresh device, and an empty graph of a module whose kernels are numbers 10, 11 and 12. */
TEST_FN_ struct tg_graph *fake_graph(void)
{
    struct tg_graph *graph = NULL;
    memset(&fake, 0, sizeof fake);
    fake.used = FAKE_CONTROL;
    *fake_head() = (struct tg_control_head){
        .magic = TG_CONTROL_MAGIC,
        .version = TG_CONTROL_VERSION,
        .head_size = sizeof(struct tg_control_head),
        .base = FAKE_BASE,
        .control_size = FAKE_CONTROL,
        .memory_size = FAKE_BYTES,
        .memory_start = FAKE_BASE + FAKE_CONTROL,
        .memory_end = FAKE_BASE + FAKE_BYTES,
        .n_lanes = FAKE_LANES,
        .n_schedulers = FAKE_SCHEDULERS,
        .n_cores = FAKE_LANES,
        .status = sizeof(struct tg_control_head),
        .status_size = sizeof(struct tg_worker_status),
    };
    fake_device = (struct tg_device){.ops = &fake_ops, .head = *fake_head(), .control = FAKE_BASE};
    fake_module = (struct tg_module){.device = &fake_device,
                                     .workload = &fake_workload,
                                     .kernels = fake_kernels,
                                     .n_kernels = 3,
                                     .first = 10};
    if (tg_graph_create(&fake_module, &graph, NULL) != TG_OK)
        abort();
    return graph;
}

TEST_FN_ void fake_add(struct tg_graph *graph, uint32_t kernel, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ_I(tg_graph_add(graph, kernel, NULL, NULL, NULL), TG_OK);
}

TEST_FN_ void fake_edge(struct tg_graph *graph, uint64_t before, uint64_t after)
{
    CHECK_EQ_I(tg_graph_add_edge(graph, before, after, NULL), TG_OK);
}

#endif
