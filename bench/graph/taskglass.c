/* SPDX-License-Identifier: Apache-2.0 */
/* host_build_graph: what one graph costs that is built, sent and run once, and in how many bytes. */
#define _GNU_SOURCE
#include "harness.h"

#include <taskglass/taskglass.h>
#include <unistd.h>

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_graph_taskglass: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

static struct tg_module *load(struct tg_device *device)
{
    struct tg_module *module;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_graph_kernels.so");
    must(tg_device_load(device, path, &module, &error));
    return module;
}

/* Like tg_tensor_tile, but in place, as a loop that makes millions of views would do it. */
static void put_tile(struct tg_args *args, enum tg_role role, const struct tg_tensor *matrix,
                     int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    struct tg_tensor *view = &args->tensor[args->n_tensors];
    tg_args_put(args, role, matrix);
    view->start = row * matrix->strides[0] + col;
    view->shape[0] = rows;
    view->shape[1] = cols;
}

/* Tiles of one matrix, so that no tensor is a whole one. */
static void build(struct tg_graph *graph, const struct tg_tensor *matrix, uint64_t tasks)
{
    int64_t rows = matrix->shape[0] / COLUMNS;
    for (uint64_t i = 0; i < tasks; i++) {
        int64_t row = (int64_t)(i / COLUMNS) % rows * COLUMNS, col = (int64_t)(i % COLUMNS);
        struct tg_args args;
        tg_args_init(&args);
        put_tile(&args, TG_IN, matrix, row, col, 64, 32);
        put_tile(&args, TG_IN, matrix, row, col + 32, 64, 32);
        put_tile(&args, TG_OUT, matrix, row, col, 32, 64);
        tg_args_f32(&args, 0.5f);
        if (i > 0)
            tg_args_after(&args, i - 1);
        if (i >= COLUMNS)
            tg_args_after(&args, i - COLUMNS);
        must(tg_graph_add(graph, 0, &args, NULL, &error));
    }
}

int main(int argc, char **argv)
{
    struct figures f = {.tasks = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000};
    int repeat = argc > 2 ? atoi(argv[2]) : 5;
    struct tg_device_config config = {.cores = 1, .memory = (UINT64_C(64) << 20) + 1200 * f.tasks};
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    struct tg_tensor matrix = tg_tensor_make(0, TG_FLOAT32, 2, (int64_t[]){1024, 1024});
    uint64_t before, begin;
    if (argc > 3)
        config.platform = argv[3];
    must(tg_device_open(&config, &device, &error));
    module = load(device);
    must(tg_device_alloc(device, matrix.storage_bytes, &matrix.addr, &error));
    before = touched();
    begin = now_ns();
    must(tg_graph_create(module, &graph, &error));
    build(graph, &matrix, f.tasks);
    f.build_ns = now_ns() - begin;
    must(tg_graph_upload(graph, &error));
    f.send_ns = now_ns() - begin - f.build_ns;
    must(tg_graph_run(graph, NULL, NULL, &error));
    f.first_ns = now_ns() - begin;
    f.bytes = touched() - before;
    f.again_ns = UINT64_MAX;
    for (int i = 0; i < repeat; i++) {
        uint64_t took;
        begin = now_ns();
        must(tg_graph_run(graph, NULL, NULL, &error));
        took = now_ns() - begin;
        f.again_ns = took < f.again_ns ? took : f.again_ns;
    }
    begin = now_ns();
    must(tg_graph_reset(graph, &error));
    build(graph, &matrix, f.tasks);
    must(tg_graph_run(graph, NULL, NULL, &error));
    f.next_ns = now_ns() - begin;
    tg_graph_destroy(graph);
    tg_device_close(device);
    print_figures("taskglass", &f);
    return 0;
}
