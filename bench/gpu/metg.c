/* SPDX-License-Identifier: Apache-2.0 */
/*
 * METG(50 %) of the three runtimes (metg_harness.h): grids in the manner of Task Bench, whose tasks spin
 * and check their inputs.
 *
 * host_build_graph: the graph is on the device already and runs again and again. The other runtimes
 * build it in every run, while its first tasks run. Times are from the call that starts the run to its
 * return.
 */
#include "common.h"
#include "metg_harness.h"
#include "metg_kernels.h"

#define ENOUGH (UINT64_C(8) << 30)      /* bytes; enough for the rings of a graph */
#define CLOCK_TICKS (UINT64_C(1) << 22) /* some ms */
#define RUNTIMES "host_build_graph,aicpu_build_graph,tensormap_and_ringbuffer"

static struct tg_device *device;
static struct tg_module *module;

struct made {
    struct tg_graph *graph;
    uint64_t cells, settings; /* on the device */
    uint64_t bytes, tasks;
};

/* ── graphs ────────────────────────────────────────────────────────────────────────────── */

static uint64_t take_zeros(uint64_t bytes)
{
    uint64_t address;
    void *zeros = calloc(1, bytes);
    if (!zeros)
        fail("no memory");
    must(tg_device_alloc(device, bytes, &address, &error));
    must(tg_device_copy_in(device, address, zeros, bytes, &error));
    free(zeros);
    return address;
}

static void *make(const struct tb_grid *g, enum tg_runtime_kind runtime)
{
    struct made *m = calloc(1, sizeof *m);
    struct tg_args args;
    int64_t words;
    if (!m)
        fail("no memory");
    m->tasks = tb_tasks(g);
    m->bytes = (uint64_t)g->steps * g->width * sizeof(struct tb_cell);
    m->cells = take_zeros(m->bytes);
    m->settings = take_zeros(sizeof(struct metg_settings));
    words = (int64_t)(m->bytes / sizeof(uint32_t));
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(m->cells, TG_UINT32, 1, &words));
    tg_args_u64(&args, tb_grid_pack(g));
    tg_args_u64(&args, g->steps);
    tg_args_u64(&args, m->settings);
    tg_args_u64(&args, runtime != TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
    must(tg_graph_orchestrate(module, runtime, &args, NULL, &m->graph, &error));
    return m;
}

static void *make_on_host(const struct tb_grid *g)
{
    struct made *m = make(g, TG_RUNTIME_HOST_BUILD_GRAPH);
    must(tg_graph_upload(m->graph, &error));
    return m;
}

static void *make_aicpu(const struct tb_grid *g)
{
    return make(g, TG_RUNTIME_AICPU_BUILD_GRAPH);
}

static void *make_tensormap(const struct tb_grid *g)
{
    return make(g, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
}

static double run(void *made, struct metg_settings settings)
{
    struct made *m = made;
    struct tg_run_result result;
    double began;
    must(tg_device_copy_in(device, m->settings, &settings, sizeof settings, &error));
    began = bench_seconds();
    must(tg_graph_run(m->graph, NULL, &result, &error));
    began = bench_seconds() - began;
    if (result.finished != m->tasks)
        fail("tasks are missing");
    return began;
}

static void fetch(void *made, struct tb_cell *cells)
{
    struct made *m = made;
    must(tg_device_copy_out(device, cells, m->cells, m->bytes, &error));
}

static void destroy(void *made)
{
    struct made *m = made;
    tg_graph_destroy(m->graph);
    must(tg_device_free(device, m->cells, &error));
    must(tg_device_free(device, m->settings, &error));
    free(m);
}

static const struct metg_system systems[] = {
    {"host_build_graph", make_on_host, run, fetch, destroy},
    {"aicpu_build_graph", make_aicpu, run, fetch, destroy},
    {"tensormap_and_ringbuffer", make_tensormap, run, fetch, destroy},
};

enum { SYSTEMS = sizeof systems / sizeof *systems };

static bool is_system(const char *word)
{
    for (int k = 0; k < SYSTEMS; k++)
        if (strcmp(systems[k].name, word) == 0)
            return true;
    return false;
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

/* Nanoseconds in a tick of a core's clock. */
static double ns_per_tick(void)
{
    uint64_t times[2] = {0, 0}, place = take_zeros(sizeof times), task;
    struct tg_graph *graph;
    struct tg_args args;
    int64_t words = 2;
    tg_args_init(&args);
    tg_args_out(&args, tg_tensor_make(place, TG_UINT64, 1, &words));
    tg_args_u64(&args, CLOCK_TICKS);
    must(tg_graph_create(module, &graph, &error));
    must(tg_graph_add(graph, METG_CLOCK, &args, &task, &error));
    must(tg_graph_run(graph, NULL, NULL, &error));
    must(tg_device_copy_out(device, times, place, sizeof times, &error));
    tg_graph_destroy(graph);
    must(tg_device_free(device, place, &error));
    return (double)times[1] / (double)times[0];
}

static bool measure(const struct metg_options *o, uint32_t width)
{
    bool good = true;
    for (int s = 0; s < SYSTEMS; s++)
        for (int p = 0; p < METG_PATTERNS; p++)
            if (metg_named(o->systems, systems[s].name) &&
                metg_named(o->patterns, metg_patterns[p].name))
                good &= metg_figure(&systems[s], o, "metg", metg_patterns[p].pattern, width,
                                    ns_per_tick);
    return good;
}

/* A device with as many cores as a row has tasks. */
static bool measure_width(const struct metg_options *o, const char *word)
{
    struct tg_device_config config = {
        .platform = o->platform,
        .cores = strcmp(word, "all") == 0 ? o->cores : (uint32_t)bench_size(word),
        .memory = ENOUGH};
    uint32_t cores;
    bool good;
    if (o->memory > 0 && o->memory < ENOUGH)
        config.memory = o->memory;
    must(tg_device_open(&config, &device, &error));
    module = load_module(device, "bench_gpu_metg_kernels.so");
    cores = device_cores(device);
    good = measure(o, metg_clamp(cores, 1, TB_MAX_WIDTH));
    tg_device_close(device);
    return good;
}

int main(int argc, char **argv)
{
    struct metg_options o = metg_parse(RUNTIMES, is_system, argc, argv);
    const char *widths = o.widths;
    bool good = true;
    char word[64];
    while (next_word(&widths, word, sizeof word))
        good &= measure_width(&o, word);
    if (!good)
        fprintf(stderr, "bench_gpu: a task ran wrongly, or not once in each run\n");
    return good ? 0 : PROGRAM_ERROR;
}
