/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what scope stats cost the orchestrator: the same empty scopes with and without them, in
 * turn, in one run. The run without them is the peer. It takes the CPU time of the orchestrator's
 * thread, so that the host, which writes the files meanwhile, does not count.
 *
 *     bench_scope_cost FOLDER [SCOPES]      FOLDER: where scope_stats/ is written
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/taskglass.h>
#include <unistd.h>

enum { ROUNDS = 9 };

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_scope_cost: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

/* CPU time of the device's orchestrator so far in nanoseconds; 0 if the system does not tell. */
static double orchestrator_time(int pid)
{
    char path[64], name[32] = "";
    double time = 0;
    DIR *tasks;
    struct dirent *task;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && time == 0 && (task = readdir(tasks))) {
        char file[400];
        FILE *in;
        snprintf(file, sizeof file, "%s/%s/comm", path, task->d_name);
        in = fopen(file, "r");
        if (in && fgets(name, sizeof name, in) && strncmp(name, "tg-orchestrate", 14) == 0) {
            FILE *stat;
            snprintf(file, sizeof file, "%s/%s/schedstat", path, task->d_name);
            stat = fopen(file, "r");
            if (stat) {
                if (fscanf(stat, "%lf", &time) != 1)
                    time = 0;
                fclose(stat);
            }
        }
        if (in)
            fclose(in);
    }
    if (tasks)
        closedir(tasks);
    return time;
}

/* The orchestrator's nanoseconds for each scope. */
static double run(struct tg_graph *graph, int pid, const char *folder, uint64_t scopes)
{
    struct tg_run_config config = {.scope_stats = folder};
    struct tg_run_result result;
    double before = orchestrator_time(pid);
    must(tg_graph_run(graph, &config, &result, &error));
    if (folder && (result.scopes.dropped > 0 || result.scopes.samples != 2 * (scopes + 1)))
        fprintf(stderr, "bench_scope_cost: %" PRIu64 " of %" PRIu64 " samples dropped\n",
                result.scopes.dropped, result.scopes.samples);
    return (orchestrator_time(pid) - before) / (double)scopes;
}

static void compare(struct tg_module *module, int pid, const char *folder, uint64_t scopes,
                    uint64_t tasks)
{
    struct tg_graph *graph;
    struct tg_args args;
    double off[ROUNDS], on[ROUNDS], without, with;
    tg_args_init(&args);
    tg_args_u64(&args, scopes);
    tg_args_u64(&args, tasks);
    must(tg_graph_orchestrate(module, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER, &args, NULL, &graph,
                              &error));
    run(graph, pid, folder, scopes);
    for (int i = 0; i < ROUNDS; i++) {
        off[i] = run(graph, pid, NULL, scopes);
        on[i] = run(graph, pid, folder, scopes);
    }
    without = median(off);
    with = median(on);
    printf("%" PRIu64 " scopes of %" PRIu64 " tasks: off %.1f ns, on %.1f ns, difference %.1f ns a "
           "scope\n",
           scopes, tasks, without, with, with - without);
    tg_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    struct tg_device *device;
    struct tg_module *module;
    struct tg_device_info info;
    uint64_t scopes = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    if (argc < 2) {
        fputs("usage: bench_scope_cost FOLDER [SCOPES]\n", stderr);
        return 2;
    }
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_scope_cost_kernels.so");
    must(tg_device_open(&(struct tg_device_config){.cores = 1}, &device, &error));
    must(tg_device_load(device, path, &module, &error));
    tg_device_get_info(device, &info);
    compare(module, info.pid, argv[1], scopes, 0);
    if (argc < 4)
        compare(module, info.pid, argv[1], scopes, 4);
    tg_device_close(device);
    return 0;
}
