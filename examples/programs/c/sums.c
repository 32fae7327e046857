/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums DIR: builds a graph of two tasks by hand, t = x + x and y = t + x, runs and records it, and reads the
 * recording back from DIR. The kernel is that of the installed workload vector_add.
 */
#include <stdio.h>
#include <taskglass/recording.h>
#include <taskglass/taskglass.h>

enum { N = 1024 };

/* Everything that this program opens; what is still NULL was never opened. */
struct program {
    struct tg_settings *settings;
    struct tg_workload_file *workload;
    struct tg_device *device;
    struct tg_graph *graph;
    struct tg_recording *recording;
    struct tg_error error;
};

/* Allocates a vector on the device and fills it, unless `values` is NULL. */
static tg_status make_vector(struct program *p, const float *values, struct tg_tensor *vector)
{
    const int64_t n = N;
    uint64_t address;
    tg_status status = tg_device_alloc(p->device, N * sizeof(float), &address, &p->error);
    if (status == TG_OK && values)
        status = tg_device_copy_in(p->device, address, values, N * sizeof(float), &p->error);
    if (status == TG_OK)
        *vector = tg_tensor_make(address, TG_FLOAT32, 1, &n);
    return status;
}

/* Adds the task c = a + b, which waits for the task `after`. */
static tg_status add_sum(struct program *p, uint32_t kernel, const struct tg_tensor *a,
                         const struct tg_tensor *b, const struct tg_tensor *c, uint64_t after,
                         uint64_t *task)
{
    struct tg_args args;
    tg_args_init(&args);
    tg_args_in(&args, *a);
    tg_args_in(&args, *b);
    tg_args_out(&args, *c);
    tg_args_after(&args, after);
    return tg_graph_add(p->graph, kernel, &args, task, &p->error);
}

static tg_status open_graph(struct program *p, struct tg_module **module)
{
    struct tg_device_config config = {.platform = "a5sim"};
    tg_status status = tg_settings_create(&p->settings, &p->error);
    if (status == TG_OK)
        status = tg_workload_open(p->settings, "vector_add", &p->workload, &p->error);
    if (status == TG_OK)
        status = tg_device_open(&config, &p->device, &p->error);
    if (status == TG_OK)
        status = tg_device_load(p->device, tg_workload_path(p->workload), module, &p->error);
    if (status == TG_OK)
        status = tg_graph_create(*module, &p->graph, &p->error);
    return status;
}

static tg_status run(struct program *p, const char *folder, float *y_values)
{
    struct tg_record_config record = {.level = TG_LEVEL_FULL, .output_dir = folder};
    struct tg_run_config config = {.record = &record};
    struct tg_module *module;
    struct tg_tensor x, t, y;
    float x_values[N];
    uint64_t task;

    for (int i = 0; i < N; i++)
        x_values[i] = (float)i;
    tg_status status = open_graph(p, &module);
    if (status == TG_OK)
        status = make_vector(p, x_values, &x);
    if (status == TG_OK)
        status = make_vector(p, NULL, &t);
    if (status == TG_OK)
        status = make_vector(p, NULL, &y);
    if (status != TG_OK)
        return status;

    uint32_t kernel = tg_module_kernel(module, "vector_add_tile");
    status = add_sum(p, kernel, &x, &x, &t, TG_TASK_NONE, &task);
    if (status == TG_OK)
        status = add_sum(p, kernel, &t, &x, &y, task, &task);
    if (status == TG_OK)
        status = tg_graph_run(p->graph, &config, NULL, &p->error);
    if (status == TG_OK)
        status = tg_device_copy_out(p->device, y_values, y.addr, N * sizeof(float), &p->error);
    return status;
}

/* Prints the first and the last element of every tensor that a task wrote. */
static tg_status read_back(struct program *p, const char *folder)
{
    struct tg_entry entry;
    tg_status status = tg_recording_open(folder, &p->recording, &p->error);
    if (status != TG_OK)
        return status;
    for (uint64_t i = 0; tg_recording_get(p->recording, i, &entry); i++) {
        const float *values = tg_recording_payload(p->recording, &entry);
        if (entry.record.stage == TG_AFTER_COMPLETION && values &&
            entry.record.stored == N * sizeof(float))
            printf("task %llu wrote %g to %g\n", (unsigned long long)entry.record.task_id,
                   (double)values[0], (double)values[N - 1]);
    }
    /* The file is mapped: ask whether all of it was still there before you trust what you read. */
    return tg_recording_check_files(p->recording, &p->error);
}

int main(int argc, char **argv)
{
    struct program p = {0};
    float y[N];
    if (argc != 2) {
        fprintf(stderr, "usage: sums DIR\n");
        return 2;
    }
    tg_status status = run(&p, argv[1], y);
    if (status == TG_OK)
        status = read_back(&p, argv[1]);
    if (status == TG_OK)
        printf("y ends in %g\n", (double)y[N - 1]);
    else
        fprintf(stderr, "sums: %s: %s\n", tg_status_name(status), p.error.text);

    tg_recording_close(p.recording);
    tg_graph_destroy(p.graph); /* before its device */
    tg_device_close(p.device);
    tg_workload_close(p.workload);
    tg_settings_destroy(p.settings);
    return tg_status_exit_code(status);
}
