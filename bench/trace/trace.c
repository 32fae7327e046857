/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace costs: the same graph of empty tasks with a trace and without, in turn, on a2a3sim. Prints a
 * line of JSON: nanoseconds a task of both (medians; from the launch to the last task), the median
 * difference of neighbouring runs, what one look at the clock costs in this process, and the largest size
 * of the host's process.
 *
 *   bench_trace RUNTIME SHAPE TASKS CORES ROUNDS FILE
 *
 * RUNTIME is host_build_graph, aicpu_build_graph or tensormap_and_ringbuffer; SHAPE one of
 * bench/tasks/shapes.h. ROUNDS 0: one traced run and nothing else, for its memory.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <taskglass/taskglass.h>
#include <time.h>
#include <unistd.h>

#include "../tasks/taskglass_kernels.h"

enum { SCOPE = 1024, MOST_ROUNDS = 101, LOOKS = 1000000 };

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_trace: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

struct bench {
    enum tg_runtime_kind runtime;
    enum shape shape;
    uint64_t tasks;
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    const char *file;
};

static enum tg_runtime_kind runtime_of(const char *name)
{
    struct tg_runtime_info info;
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return (enum tg_runtime_kind)i;
    fprintf(stderr, "bench_trace: no runtime '%s'\n", name);
    exit(2);
}

static void open_device(struct bench *b, unsigned cores)
{
    struct tg_device_config config = {.cores = cores, .memory = (uint64_t)8 << 30};
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    must(tg_device_open(&config, &b->device, &error));
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_tasks_kernels.so");
    must(tg_device_load(b->device, path, &b->module, &error));
}

static void build_on_host(struct bench *b)
{
    must(tg_graph_create(b->module, &b->graph, &error));
    for (uint64_t i = 0; i < b->tasks; i++) {
        uint64_t preds[SHAPE_MAX_PREDS], task;
        int count = shape_preds(b->shape, i, preds);
        must(tg_graph_add(b->graph, KERNEL_EMPTY, NULL, &task, &error));
        for (int k = 0; k < count; k++)
            must(tg_graph_add_edge(b->graph, preds[k], i, &error));
    }
}

/* The cells are words of device memory, one for each task. */
static void build_on_device(struct bench *b)
{
    int64_t tasks = (int64_t)b->tasks;
    struct tg_args args;
    uint64_t cells;
    must(tg_device_alloc(b->device, b->tasks * sizeof(uint64_t), &cells, &error));
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(cells, TG_UINT64, 1, &tasks));
    tg_args_u64(&args, (uint64_t)b->shape);
    tg_args_u64(&args, b->tasks);
    tg_args_u64(&args, SCOPE);
    tg_args_u64(&args, 0);
    tg_args_u64(&args, b->runtime == TG_RUNTIME_AICPU_BUILD_GRAPH);
    must(tg_graph_orchestrate(b->module, b->runtime, &args, NULL, &b->graph, &error));
}

static double run(struct bench *b, bool traced, struct tg_run_trace *trace)
{
    struct tg_run_config config = {.timeout = 60, .trace = traced ? b->file : NULL};
    struct tg_run_result result;
    must(tg_graph_run(b->graph, &config, &result, &error));
    if (traced)
        *trace = result.trace;
    if (traced && result.trace.status != TG_OK)
        fprintf(stderr, "bench_trace: %s\n", result.trace.text);
    return result.execute_seconds * 1e9 / (double)b->tasks;
}

static double clock_cost(void)
{
    struct timespec begin, end, any;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < LOOKS; i++)
        clock_gettime(CLOCK_MONOTONIC, &any);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           LOOKS;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n == 0 ? 0 : values[n / 2];
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct tg_run_trace trace = {0};
    struct rusage usage;
    double off[MOST_ROUNDS], on[MOST_ROUNDS], more[MOST_ROUNDS], looks[MOST_ROUNDS], once = 0;
    if (argc != 7) {
        fprintf(stderr, "usage: bench_trace RUNTIME SHAPE TASKS CORES ROUNDS FILE\n");
        return 2;
    }
    int rounds = atoi(argv[5]);
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    b.runtime = runtime_of(argv[1]);
    b.shape = shape_from_name(argv[2]);
    b.tasks = strtoull(argv[3], NULL, 10);
    b.file = argv[6];
    open_device(&b, (unsigned)atoi(argv[4]));
    if (b.runtime == TG_RUNTIME_HOST_BUILD_GRAPH)
        build_on_host(&b);
    else
        build_on_device(&b);
    if (rounds == 0)
        once = run(&b, true, &trace);
    for (int i = -1; rounds > 0 && i < rounds; i++) { /* the first pair warms up */
        double without = run(&b, false, NULL), with = run(&b, true, &trace), look = clock_cost();
        if (i < 0)
            continue;
        off[i] = without;
        on[i] = with;
        more[i] = with - without;
        looks[i] = look;
    }
    double typical[] = {median(off, rounds), median(on, rounds), median(more, rounds),
                        median(looks, rounds)}; /* sorts them */
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "{\"runtime\": \"%s\", \"shape\": \"%s\", \"tasks\": %" PRIu64 ", \"cores\": %s, "
        "\"off_ns\": %.1f, \"on_ns\": %.1f, \"more_ns\": %.1f, \"clock_ns\": %.1f, "
        "\"least_off_ns\": %.1f, \"least_on_ns\": %.1f, \"least_clock_ns\": %.1f, \"once_ns\": %.1f, \"events\": %" PRIu64
        ", \"lost\": %" PRIu64 ", \"wait_s\": %.3f, "
        "\"finish_s\": %.3f, \"bytes\": %" PRIu64 ", \"peak_kib\": %ld}\n",
        argv[1], argv[2], b.tasks, argv[4], typical[0], typical[1], typical[2], typical[3],
        rounds ? off[0] : 0, rounds ? on[0] : 0, rounds ? looks[0] : 0, once, trace.events,
        trace.lost, (double)trace.wait_ns * 1e-9, trace.finish_seconds, trace.bytes,
        usage.ru_maxrss);
    tg_graph_destroy(b.graph);
    tg_device_close(b.device);
    return 0;
}
