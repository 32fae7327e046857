/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what an empty task costs on a device. Graphs of n tasks and of n / 10 run in turn. Their
 * times, from the launch to the end of the run on the device, give two numbers:
 *
 *   ns_per_task   the slope between the two: one more task
 *   launch_us     the time of zero tasks: the launch, and noticing the end
 *
 * host_build_graph: the graph is on the device already and runs again and again. The other runtimes
 * build it on the device in every run, while its first tasks run.
 *
 * --check times nothing: the kernels check that each task runs once and after its predecessors.
 *
 * --start N measures instead what comes before the first task: opening the device, loading the module,
 * the first run of a graph of one empty task, and N more with --pause milliseconds between them, each
 * from the call that starts it to its return.
 */
#include "common.h"

#include "../tasks/shapes.h"

enum { SCOPE = 1024, CHECK_ROUNDS = 3, SMALLER = 10 };

#define ENOUGH (UINT64_C(8) << 30) /* bytes; enough for the rings of two graphs */

struct options {
    const char *platform, *runtimes, *shapes, *kinds;
    uint64_t tasks, built_tasks; /* for host_build_graph, and for the others */
    uint64_t memory;             /* most memory of the device */
    unsigned cores, schedulers, repeat, starts, pause, orchestrator;
    bool check;
};

struct bench {
    struct options o;
    struct tg_device *device;
    struct tg_module *module;
};

/* One graph; `round` is 0 if the graph is timed. */
struct subject {
    enum tg_runtime_kind runtime;
    enum shape shape;
    uint64_t tasks, round;
    uint64_t cells; /* device address: one word for each task */
    struct tg_graph *graph;
};

static const struct {
    const char *name;
    enum tg_runtime_kind kind;
} runtimes[] = {{"host_build_graph", TG_RUNTIME_HOST_BUILD_GRAPH},
                {"aicpu_build_graph", TG_RUNTIME_AICPU_BUILD_GRAPH},
                {"tensormap_and_ringbuffer", TG_RUNTIME_TENSORMAP_AND_RINGBUFFER}};

/* ── graphs ────────────────────────────────────────────────────────────────────────────── */

static struct tg_tensor cells_of(const struct subject *s, uint64_t first, uint64_t count)
{
    int64_t tasks = (int64_t)s->tasks;
    struct tg_tensor cells = tg_tensor_make(s->cells, TG_UINT64, 1, &tasks);
    return tg_tensor_slice(cells, 0, (int64_t)first, (int64_t)(first + count), 1);
}

/* If both kinds of core are used, every third task goes to matrix cores, because a third of the
 * cores are matrix cores. */
static uint32_t empty_kernel(const struct bench *b, uint64_t i)
{
    return strcmp(b->o.kinds, "both") == 0 && i % 3 == 0 ? KERNEL_EMPTY_AIC : KERNEL_EMPTY;
}

static void add_task(const struct bench *b, const struct subject *s, uint64_t i,
                     const uint64_t *preds, int count)
{
    struct tg_args args;
    uint64_t task;
    if (s->round == 0) {
        must(tg_graph_add(s->graph, empty_kernel(b, i), NULL, &task, &error));
    } else {
        tg_args_init(&args);
        if (count > 0)
            tg_args_in(&args, cells_of(s, preds[0], (uint64_t)count));
        tg_args_inout(&args, cells_of(s, i, 1));
        tg_args_u64(&args, s->round);
        must(tg_graph_add(s->graph, count > 0 ? KERNEL_MARK_NEXT : KERNEL_MARK_FIRST, &args, &task,
                          &error));
    }
    for (int k = 0; k < count; k++)
        must(tg_graph_add_edge(s->graph, preds[k], task, &error));
}

static void build_on_host(const struct bench *b, struct subject *s)
{
    must(tg_graph_create(b->module, &s->graph, &error));
    for (uint64_t i = 0; i < s->tasks; i++) {
        uint64_t preds[SHAPE_MAX_PREDS];
        int count = shape_preds(s->shape, i, preds);
        add_task(b, s, i, preds, count);
    }
    must(tg_graph_upload(s->graph, &error));
}

static void build_on_device(const struct bench *b, struct subject *s)
{
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, cells_of(s, 0, s->tasks));
    tg_args_u64(&args, (uint64_t)s->shape);
    tg_args_u64(&args, s->tasks);
    tg_args_u64(&args, SCOPE);
    tg_args_u64(&args, s->round);
    tg_args_u64(&args, s->runtime == TG_RUNTIME_AICPU_BUILD_GRAPH);
    must(tg_graph_orchestrate(b->module, s->runtime, &args, NULL, &s->graph, &error));
}

static void build(const struct bench *b, struct subject *s)
{
    if (s->runtime == TG_RUNTIME_HOST_BUILD_GRAPH)
        build_on_host(b, s);
    else
        build_on_device(b, s);
}

static void take_cells(const struct bench *b, struct subject *s)
{
    uint64_t *zeros = calloc(s->tasks, sizeof *zeros);
    if (!zeros)
        fail("no memory");
    must(tg_device_alloc(b->device, s->tasks * sizeof *zeros, &s->cells, &error));
    must(tg_device_copy_in(b->device, s->cells, zeros, s->tasks * sizeof *zeros, &error));
    free(zeros);
}

static double run(const struct subject *s)
{
    struct tg_run_result result;
    must(tg_graph_run(s->graph, NULL, &result, &error));
    if (result.finished != s->tasks)
        fail("tasks are missing");
    return result.execute_seconds;
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

static void print_head(const struct bench *b, const struct subject *s, const char *runtime)
{
    printf("{\"program\":\"tasks\",\"platform\":\"%s\",\"cores\":%u,\"schedulers\":%u,"
           "\"runtime\":\"%s\",\"shape\":\"%s\",\"kinds\":\"%s\",\"n\":%llu",
           b->o.platform, device_cores(b->device), b->o.schedulers, runtime, shape_name(s->shape),
           b->o.kinds, (unsigned long long)s->tasks);
}

static void print_times(const struct subject s[2], struct spread large, struct spread small)
{
    double n = (double)s[0].tasks, few = (double)s[1].tasks;
    double slope = (large.median - small.median) / (n - few);
    printf(",\"n_small\":%llu,\"t_s\":%.9f,\"t_best_s\":%.9f,\"t_worst_s\":%.9f,\"t_small_s\":%.9f,"
           "\"t_small_best_s\":%.9f,\"ns_per_task\":%.2f,\"ns_per_task_best\":%.2f,"
           "\"ns_per_task_total\":%.2f,\"launch_us\":%.2f}\n",
           (unsigned long long)s[1].tasks, large.median, large.best, large.worst, small.median,
           small.best, slope * 1e9, (large.best - small.best) / (n - few) * 1e9,
           large.median / n * 1e9, (small.median - slope * few) * 1e6);
    fflush(stdout);
}

static void measure(const struct bench *b, struct subject first, const char *runtime)
{
    struct subject s[2] = {first, first};
    double *times[2];
    s[1].tasks = first.tasks / SMALLER;
    for (int k = 0; k < 2; k++) {
        times[k] = calloc(b->o.repeat, sizeof **times);
        if (!times[k])
            fail("no memory");
        take_cells(b, &s[k]);
        build(b, &s[k]);
        run(&s[k]); /* warm-up */
    }
    for (unsigned r = 0; r < b->o.repeat; r++)
        for (int k = 0; k < 2; k++)
            times[k][r] = run(&s[k]);
    print_head(b, &s[0], runtime);
    print_times(s, spread_of(times[0], b->o.repeat), spread_of(times[1], b->o.repeat));
    for (int k = 0; k < 2; k++) {
        tg_graph_destroy(s[k].graph);
        must(tg_device_free(b->device, s[k].cells, &error));
        free(times[k]);
    }
}

/* ── checking ──────────────────────────────────────────────────────────────────────────── */

static uint64_t count_faults(const struct bench *b, const struct subject *s)
{
    uint64_t *cells = calloc(s->tasks, sizeof *cells), faults = 0;
    if (!cells)
        fail("no memory");
    must(tg_device_copy_out(b->device, cells, s->cells, s->tasks * sizeof *cells, &error));
    for (uint64_t i = 0; i < s->tasks; i++)
        faults += cells[i] != s->round;
    free(cells);
    return faults;
}

/* Each round builds its own graph, because the round's number is an argument of the tasks. */
static bool check(const struct bench *b, struct subject s, const char *runtime)
{
    uint64_t faults = 0;
    take_cells(b, &s);
    for (s.round = 1; s.round <= CHECK_ROUNDS && faults == 0; s.round++) {
        build(b, &s);
        run(&s);
        faults = count_faults(b, &s);
        tg_graph_destroy(s.graph);
    }
    must(tg_device_free(b->device, s.cells, &error));
    print_head(b, &s, runtime);
    printf(",\"rounds\":%llu,\"faults\":%llu}\n", (unsigned long long)s.round - 1,
           (unsigned long long)faults);
    return faults == 0;
}

/* ── starting ──────────────────────────────────────────────────────────────────────────── */

static double run_one(struct tg_graph *graph)
{
    double began = bench_seconds();
    must(tg_graph_run(graph, NULL, NULL, &error));
    return (bench_seconds() - began) * 1e6;
}

static void rest(unsigned milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    if (milliseconds > 0)
        nanosleep(&t, NULL);
}

/* `opened` and `loaded`: milliseconds that these took. */
static void measure_starts(const struct bench *b, double opened, double loaded)
{
    double *times = calloc(b->o.starts, sizeof *times), first;
    struct tg_graph *graph;
    struct spread us;
    uint64_t task;
    if (!times)
        fail("no memory");
    must(tg_graph_create(b->module, &graph, &error));
    must(tg_graph_add(graph, KERNEL_EMPTY, NULL, &task, &error));
    first = run_one(graph);
    for (unsigned r = 0; r < b->o.starts; r++) {
        rest(b->o.pause);
        times[r] = run_one(graph);
    }
    us = spread_of(times, b->o.starts);
    printf("{\"program\":\"start\",\"platform\":\"%s\",\"cores\":%u,\"pause_ms\":%u,\"runs\":%u,"
           "\"open_ms\":%.3f,\"load_ms\":%.3f,\"first_us\":%.2f,\"us\":%.2f,\"best_us\":%.2f,"
           "\"worst_us\":%.2f}\n",
           b->o.platform, device_cores(b->device), b->o.pause, b->o.starts, opened, loaded, first,
           us.median, us.best, us.worst);
    tg_graph_destroy(graph);
    free(times);
}

/* ── command line ──────────────────────────────────────────────────────────────────────── */

static bool parse_value(struct options *o, const char *key, const char *value)
{
    if (strcmp(key, "--platform") == 0)
        return (o->platform = value) != NULL;
    if (strcmp(key, "--runtimes") == 0)
        return (o->runtimes = value) != NULL;
    if (strcmp(key, "--shapes") == 0)
        return (o->shapes = value) != NULL;
    if (strcmp(key, "--kinds") == 0)
        return strcmp(o->kinds = value, "aiv") == 0 || strcmp(value, "both") == 0;
    if (strcmp(key, "--tasks") == 0)
        return (o->tasks = bench_size(value)) >= 2 * SMALLER;
    if (strcmp(key, "--built-tasks") == 0)
        return (o->built_tasks = bench_size(value)) >= 2 * SMALLER;
    if (strcmp(key, "--memory") == 0)
        return (o->memory = bench_size(value)) > 0;
    if (strcmp(key, "--cores") == 0)
        return (o->cores = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--schedulers") == 0)
        return (o->schedulers = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--repeat") == 0)
        return (o->repeat = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--orchestrator") == 0) {
        o->orchestrator =
            strcmp(value, "host") == 0 ? TG_ORCHESTRATOR_HOST : TG_ORCHESTRATOR_DEVICE;
        return strcmp(value, "host") == 0 || strcmp(value, "device") == 0;
    }
    if (strcmp(key, "--start") == 0)
        return (o->starts = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--pause") == 0)
        return (o->pause = (unsigned)bench_size(value)) > 0;
    return false;
}

static void usage(const char *program, const char *wrong)
{
    fprintf(stderr,
            "%s: %s\nusage: %s [--platform P] [--cores N] [--schedulers N] [--memory BYTES]\n"
            "       [--runtimes R,R…] [--shapes independent,chain,fan,stencil,tree,fft]\n"
            "       [--kinds aiv|both] [--orchestrator host|device]\n"
            "       [--tasks N] [--built-tasks N] [--repeat R] [--check]\n"
            "       [--start N [--pause MILLISECONDS]]\n",
            program, wrong, program);
    exit(PROGRAM_USAGE);
}

static struct options parse(int argc, char **argv)
{
    struct options o = {
        .platform = "cuda",
        .runtimes = "host_build_graph,aicpu_build_graph,tensormap_and_ringbuffer",
        .shapes = "independent,chain,fan",
        .kinds = "aiv",
        .tasks = 100000,
        .built_tasks = 20000,
        .memory = ENOUGH,
        .repeat = 7,
    };
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--check") == 0)
            o.check = true;
        else if (k + 1 == argc || !parse_value(&o, argv[k], argv[k + 1]))
            usage(argv[0], argv[k]);
        else
            k++;
    }
    return o;
}

static enum tg_runtime_kind runtime_of(const char *program, const char *name)
{
    unsigned k = 0;
    while (k < sizeof runtimes / sizeof *runtimes && strcmp(runtimes[k].name, name) != 0)
        k++;
    if (k == sizeof runtimes / sizeof *runtimes)
        usage(program, name);
    return runtimes[k].kind;
}

/* Refuses the tree for runtimes that build it: it refers to older tasks than the orchestration
 * remembers. */
static enum shape shape_of(const char *program, const char *name, enum tg_runtime_kind runtime)
{
    enum shape shape = shape_from_name(name);
    if (shape == SHAPE_COUNT || (shape == SHAPE_TREE && runtime != TG_RUNTIME_HOST_BUILD_GRAPH))
        usage(program, name);
    return shape;
}

/* Every shape with every runtime; false if a check found a fault. */
static bool measure_all(const struct bench *b, const char *program)
{
    const char *runtime_list = b->o.runtimes;
    char runtime[64], shape[64];
    bool good = true;

    while (next_word(&runtime_list, runtime, sizeof runtime)) {
        struct subject s = {.runtime = runtime_of(program, runtime)};
        const char *shape_list = b->o.shapes;
        s.tasks = s.runtime == TG_RUNTIME_HOST_BUILD_GRAPH ? b->o.tasks : b->o.built_tasks;
        while (next_word(&shape_list, shape, sizeof shape)) {
            s.shape = shape_of(program, shape, s.runtime);
            if (b->o.check)
                good &= check(b, s, runtime);
            else
                measure(b, s, runtime);
        }
    }
    return good;
}

int main(int argc, char **argv)
{
    struct bench b = {.o = parse(argc, argv)};
    struct tg_device_config config = {.platform = b.o.platform,
                                      .cores = b.o.cores,
                                      .schedulers = b.o.schedulers,
                                      .orchestrator = b.o.orchestrator,
                                      .memory = b.o.memory < ENOUGH ? b.o.memory : ENOUGH};
    double began = bench_seconds(), opened;
    bool good = true;

    must(tg_device_open(&config, &b.device, &error));
    opened = bench_seconds();
    b.module = load_module(b.device, "bench_gpu_kernels.so");
    if (b.o.starts > 0)
        measure_starts(&b, (opened - began) * 1e3, (bench_seconds() - opened) * 1e3);
    else
        good = measure_all(&b, argv[0]);
    tg_device_close(b.device);
    return good ? 0 : PROGRAM_ERROR;
}
