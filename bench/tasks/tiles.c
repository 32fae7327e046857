/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What submitting a task costs that uses three tiles of matrices, by how the tiles lie in memory and by
 * how many tasks are in flight: arguments, the search of the tensor map, and edges. Tasks do not run
 * while others are submitted.
 *
 *   bench_tasks_tiles [--in-flight N] [--layout NAME] [--repeat R]     one line of JSON for each case
 */
#include "harness.h"

#include <taskglass/taskglass.h>
#include <unistd.h>

#include "tiles.h"

enum { MOST_ROUNDS = 1000, TASKS_PER_CASE = 20000, LEAST_ROUNDS = 5 };

static const char *const layout_name[] = LAYOUT_NAMES;
static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_tasks_tiles: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

struct setup {
    struct tg_device *device;
    struct tg_module *module;
    uint64_t matrices, times;
};

static void open_device(struct setup *s)
{
    struct tg_device_config config = {.cores = 3, .memory = (uint64_t)2 << 30};
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    must(tg_device_open(&config, &s->device, &error));
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_tasks_tiles_kernels.so");
    must(tg_device_load(s->device, path, &s->module, &error));
    must(tg_device_alloc(s->device, MATRICES * (uint64_t)MATRIX_ELEMENTS * sizeof(float),
                         &s->matrices, &error));
    must(tg_device_alloc(s->device, (1 + MOST_ROUNDS) * sizeof(uint64_t), &s->times, &error));
}

static double measure(const struct setup *s, enum layout layout, uint64_t in_flight)
{
    int64_t shape[2] = {MATRICES, MATRIX_ELEMENTS}, n_times = 1 + MOST_ROUNDS;
    uint64_t rounds = TASKS_PER_CASE / in_flight, times[1 + MOST_ROUNDS];
    struct tg_graph *graph = NULL;
    struct tg_args args;

    rounds = rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(s->matrices, TG_FLOAT32, 2, shape));
    tg_args_inout(&args, tg_tensor_make(s->times, TG_INT64, 1, &n_times));
    tg_args_u64(&args, (uint64_t)layout);
    tg_args_u64(&args, in_flight);
    tg_args_u64(&args, rounds);
    must(tg_graph_orchestrate(s->module, TG_RUNTIME_TENSORMAP_AND_RINGBUFFER, &args, NULL, &graph,
                              &error));
    must(tg_graph_run(graph, NULL, NULL, &error));
    tg_graph_destroy(graph);
    must(tg_device_copy_out(s->device, times, s->times, (1 + rounds) * sizeof *times, &error));
    return bench_median(times + 2, (unsigned)rounds - 1) /
           (double)in_flight; /* without the first */
}

__attribute__((noreturn)) static void usage(const char *wrong)
{
    fprintf(stderr,
            "bench_tasks_tiles: %s\n"
            "usage: bench_tasks_tiles [--in-flight N] [--layout NAME] [--repeat R]\n",
            wrong);
    exit(2);
}

int main(int argc, char **argv)
{
    uint64_t from = 16, to = MOST_TILES, repeat = 1;
    const char *only = NULL, *rest;
    struct setup s = {0};

    for (int k = 1; k < argc; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";

        if (strcmp(argv[k], "--in-flight") == 0)
            from = to = bench_number(value, '\0', &rest);
        else if (strcmp(argv[k], "--layout") == 0)
            only = value;
        else if (strcmp(argv[k], "--repeat") == 0)
            repeat = bench_number(value, '\0', &rest);
        else
            usage(argv[k]);
    }
    if (from < 2 || to > MOST_TILES || repeat == 0)
        usage("a number is out of range");
    open_device(&s);
    for (; repeat > 0; repeat--)
        for (uint64_t in_flight = from; in_flight <= to; in_flight *= 4)
            for (int layout = 0; layout < LAYOUTS; layout++)
                if (!only || strcmp(only, layout_name[layout]) == 0)
                    printf("{\"layout\":\"%s\",\"in_flight\":%" PRIu64 ",\"ns_per_task\":%.1f}\n",
                           layout_name[layout], in_flight,
                           measure(&s, (enum layout)layout, in_flight));
    tg_device_close(s.device);
    return 0;
}
