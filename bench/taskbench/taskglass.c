/* SPDX-License-Identifier: Apache-2.0 */
/* Taskglass on a2a3sim: the same orchestration on its three runtimes. The device is a process of its own
 * and runs on the same CPUs as this program. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/taskglass.h>
#include <unistd.h>

#include "taskglass_kernels.h"

struct opened {
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    uint64_t cells; /* on the device */
    uint64_t bytes;
};

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_taskbench_taskglass: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

static void *open_device(struct tb_case *c)
{
    struct tg_device_config config = {.cores = c->workers};
    struct opened *o = tb_alloc(1, sizeof *o);
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_taskbench_kernels.so");
    must(tg_device_open(&config, &o->device, &error));
    must(tg_device_load(o->device, path, &o->module, &error));
    o->bytes = (uint64_t)c->grid.steps * c->grid.width * sizeof *c->cells;
    must(tg_device_alloc(o->device, o->bytes, &o->cells, &error));
    must(tg_device_copy_in(o->device, o->cells, c->cells, o->bytes, &error));
    return o;
}

static void build_and_run(struct tb_case *c, struct opened *o, enum tg_runtime_kind runtime)
{
    int64_t words = (int64_t)(o->bytes / sizeof(uint32_t));
    struct tg_args args;

    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(o->cells, TG_UINT32, 1, &words));
    tg_args_u64(&args, tb_grid_pack(&c->grid));
    tg_args_u64(&args, c->grid.steps);
    tg_args_u64(&args, c->grid.iterations);
    tg_args_u64(&args, runtime != TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
    must(tg_graph_orchestrate(o->module, runtime, &args, NULL, &o->graph, &error));
    must(tg_graph_run(o->graph, NULL, NULL, &error));
}

static void first_host(struct tb_case *c, void *opened)
{
    build_and_run(c, opened, TG_RUNTIME_HOST_BUILD_GRAPH);
}

static void first_aicpu(struct tb_case *c, void *opened)
{
    build_and_run(c, opened, TG_RUNTIME_AICPU_BUILD_GRAPH);
}

static void first_tensormap(struct tb_case *c, void *opened)
{
    build_and_run(c, opened, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
}

/* A graph of host_build_graph is on the device; the other two run their orchestration again. */
static void run_again(struct tb_case *c, void *opened)
{
    struct opened *o = opened;

    (void)c;
    must(tg_graph_run(o->graph, NULL, NULL, &error));
}

static void fetch(struct tb_case *c, void *opened)
{
    struct opened *o = opened;

    must(tg_device_copy_out(o->device, c->cells, o->cells, o->bytes, &error));
}

static void close_device(void *opened)
{
    struct opened *o = opened;

    tg_graph_destroy(o->graph);
    tg_device_close(o->device);
    free(o);
}

int main(int argc, char **argv)
{
    static const struct tb_system systems[] = {
        {"host_build_graph", open_device, first_host, run_again, fetch, close_device},
        {"aicpu_build_graph", open_device, first_aicpu, run_again, fetch, close_device},
        {"tensormap_and_ringbuffer", open_device, first_tensormap, run_again, fetch, close_device},
    };

    return tb_main(systems, 3, argc, argv);
}
