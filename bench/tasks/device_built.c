/* SPDX-License-Identifier: Apache-2.0 */
/* Taskglass, graphs that the device builds, on a2a3sim: the orchestration runs on the device, and every
 * task names the cells it reads and the cell it writes. Built twice:
 *
 *   tensormap  tensormap_and_ringbuffer: the runtime finds the edges
 *   aicpu      aicpu_build_graph: the orchestration names the edges (BENCH_EXPLICIT)
 *
 *   build_run  submit and run, which overlap, in rings that exist
 *   next       the same in rings that are made for each run, on a device that has run graphs before
 *   first      the same once on a fresh device
 *
 * The orchestration is in the module of the kernels. Its cells are words of device memory, one for
 * each task, and it opens a scope for every SCOPE tasks.
 */
#include "harness.h"

#include <taskglass/taskglass.h>
#include <unistd.h>

#include "taskglass_kernels.h"

enum { SCOPE = 1024 };

#ifdef BENCH_EXPLICIT
#define NAME "aicpu"
#define RUNTIME TG_RUNTIME_AICPU_BUILD_GRAPH
enum { EXPLICIT = 1 };
#else
#define NAME "tensormap"
#define RUNTIME TG_RUNTIME_TENSORMAP_AND_RINGBUFFER
enum { EXPLICIT = 0 };
#endif

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_tasks_" NAME ": %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

struct runtime {
    struct tg_device *device;
    struct tg_module *module;
};

static void *start(unsigned cores)
{
    struct tg_device_config config = {.cores = cores, .memory = (uint64_t)8 << 30};
    struct runtime *r = bench_alloc(1, sizeof *r);
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    must(tg_device_open(&config, &r->device, &error));
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_tasks_kernels.so");
    must(tg_device_load(r->device, path, &r->module, &error));
    return r;
}

static void stop(void *started)
{
    struct runtime *r = started;

    tg_device_close(r->device);
    free(r);
}

/* A timed case of build_run keeps its rings from run to run; a checked case gets the round as a new
 * argument each time. */
struct opened {
    struct runtime *in;
    uint64_t cells;
    struct tg_graph *graph;
};

static struct tg_graph *make_graph(const struct bench_case *c, const struct opened *o)
{
    int64_t tasks = (int64_t)c->tasks;
    struct tg_graph *graph = NULL;
    struct tg_args args;

    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(o->cells, TG_UINT64, 1, &tasks));
    tg_args_u64(&args, (uint64_t)c->shape);
    tg_args_u64(&args, c->tasks);
    tg_args_u64(&args, SCOPE);
    tg_args_u64(&args, c->check ? c->check->round : 0);
    tg_args_u64(&args, EXPLICIT);
    must(tg_graph_orchestrate(o->in->module, RUNTIME, &args, NULL, &graph, &error));
    return graph;
}

static void *open_cells(const struct bench_case *c)
{
    struct opened *o = bench_alloc(1, sizeof *o);
    uint64_t *zeros = bench_alloc(c->tasks, sizeof *zeros);

    o->in = c->runtime;
    must(tg_device_alloc(o->in->device, c->tasks * sizeof *zeros, &o->cells, &error));
    must(tg_device_copy_in(o->in->device, o->cells, zeros, c->tasks * sizeof *zeros, &error));
    free(zeros);
    return o;
}

static void *open_graph(const struct bench_case *c)
{
    struct opened *o = open_cells(c);

    if (!c->check)
        o->graph = make_graph(c, o);
    return o;
}

static void close_cells(void *opened)
{
    struct opened *o = opened;

    tg_graph_destroy(o->graph);
    tg_device_free(o->in->device, o->cells, NULL);
    free(o);
}

/* Copies the cells' contents to where the harness checks them. */
static void fetch_cells(const struct bench_case *c, const struct opened *o)
{
    uint64_t *cells = bench_alloc(c->tasks, sizeof *cells);

    must(tg_device_copy_out(o->in->device, cells, o->cells, c->tasks * sizeof *cells, &error));
    for (uint64_t i = 0; i < c->tasks; i++)
        c->check->cells[i].runs = cells[i];
    free(cells);
}

static struct bench_sample run_made(const struct bench_case *c, struct opened *o, uint64_t begin)
{
    struct bench_sample sample = {0};

    must(tg_graph_run(o->graph, NULL, NULL, &error));
    sample.total_ns = bench_now_ns() - begin;
    if (c->check)
        fetch_cells(c, o);
    return sample;
}

static struct bench_sample make_and_run(const struct bench_case *c, void *opened)
{
    struct opened *o = opened;
    struct bench_sample sample;
    uint64_t begin = bench_now_ns();

    o->graph = make_graph(c, o);
    sample = run_made(c, o, begin);
    tg_graph_destroy(o->graph);
    o->graph = NULL;
    return sample;
}

static struct bench_sample build_run(const struct bench_case *c, void *opened)
{
    return c->check ? make_and_run(c, opened) : run_made(c, opened, bench_now_ns());
}

static const struct bench_phase phases[] = {
    {"build_run", BENCH_PER_TASK, open_graph, build_run, close_cells},
    {"next", BENCH_PER_TASK, open_cells, make_and_run, close_cells},
    {"first", BENCH_FIRST, open_cells, make_and_run, close_cells},
};

static const struct bench_peer peer = {NAME, phases, 3, start, stop};

int main(int argc, char **argv)
{
    return bench_main(&peer, argc, argv);
}
