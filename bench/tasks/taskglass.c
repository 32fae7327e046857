/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taskglass, host_build_graph on a2a3sim: cores that schedule for themselves.
 *
 *   build      build the graph on the host and send it to the device
 *   rerun      run a graph that is on the device already
 *   build_run  both
 *   first      both, once on a fresh device
 *   fixed      open a device, run one task, close it
 *
 * The kernels are in a module beside the program, like those of a workload.
 */
#include "harness.h"

#include <taskglass/taskglass.h>
#include <unistd.h>

#include "taskglass_kernels.h"

static struct tg_error error;

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_tasks_taskglass: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

struct runtime {
    struct tg_device *device;
    struct tg_module *module;
};

static void open_device(struct runtime *r, unsigned cores)
{
    struct tg_device_config config = {.cores = cores};
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    must(tg_device_open(&config, &r->device, &error));
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_tasks_kernels.so");
    must(tg_device_load(r->device, path, &r->module, &error));
}

static void *start(unsigned cores)
{
    struct runtime *r = bench_alloc(1, sizeof *r);

    open_device(r, cores);
    return r;
}

static void stop(void *started)
{
    struct runtime *r = started;

    tg_device_close(r->device);
    free(r);
}

/* The state of a case between runs: the graph, and the marks of a verified one. */
struct opened {
    struct runtime *in;
    struct tg_graph *graph;
    uint64_t marks;
};

/* A timed task has no arguments; the arguments of a verified one say where to mark. */
static void add_task(const struct bench_case *c, struct opened *o, uint64_t i)
{
    int64_t words = (int64_t)c->tasks + MARKS_HEAD;
    bool on_aic = c->alternate && i % 2 == 1;
    struct tg_args args;
    uint64_t task;

    if (!c->check) {
        must(tg_graph_add(o->graph, on_aic ? KERNEL_EMPTY_AIC : KERNEL_EMPTY, NULL, &task, &error));
        return;
    }
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(o->marks, TG_UINT64, 1, &words));
    tg_args_u64(&args, i);
    tg_args_u64(&args, (uint64_t)c->shape);
    must(tg_graph_add(o->graph, on_aic ? KERNEL_MARK_AIC : KERNEL_MARK, &args, &task, &error));
}

static void build_graph(const struct bench_case *c, struct opened *o)
{
    tg_graph_clear(o->graph);
    for (uint64_t i = 0; i < c->tasks; i++) {
        uint64_t preds[SHAPE_MAX_PREDS];
        int count = shape_preds(c->shape, i, preds);

        add_task(c, o, i);
        for (int k = 0; k < count; k++)
            must(tg_graph_add_edge(o->graph, preds[k], i, &error));
    }
    must(tg_graph_upload(o->graph, &error));
}

static void *open_empty(const struct bench_case *c)
{
    struct opened *o = bench_alloc(1, sizeof *o);
    uint64_t words = c->tasks + MARKS_HEAD;

    o->in = c->runtime;
    must(tg_graph_create(o->in->module, &o->graph, &error));
    if (c->check) {
        uint64_t *zeros = bench_alloc(words, sizeof *zeros);

        must(tg_device_alloc(o->in->device, words * sizeof *zeros, &o->marks, &error));
        must(tg_device_copy_in(o->in->device, o->marks, zeros, words * sizeof *zeros, &error));
        free(zeros);
    }
    return o;
}

static void *open_built(const struct bench_case *c)
{
    struct opened *o = open_empty(c);

    build_graph(c, o);
    return o;
}

static void close_graph(void *opened)
{
    struct opened *o = opened;

    tg_graph_destroy(o->graph);
    if (o->marks)
        tg_device_free(o->in->device, o->marks, NULL);
    free(o);
}

/* Copies the device's marks to the harness. */
static void fetch_marks(const struct bench_case *c, const struct opened *o)
{
    uint64_t words = c->tasks + MARKS_HEAD;
    uint64_t *marks = bench_alloc(words, sizeof *marks);

    must(tg_device_copy_out(o->in->device, marks, o->marks, words * sizeof *marks, &error));
    c->check->faults = marks[MARKS_FAULTS];
    for (uint64_t i = 0; i < c->tasks; i++)
        c->check->cells[i].runs = marks[MARKS_HEAD + i];
    free(marks);
}

static void run_scheduled(const struct bench_case *c, struct opened *o,
                          const struct tg_schedule *schedule)
{
    struct tg_run_config config = {.schedule = schedule};

    if (c->check)
        must(tg_device_copy_in(o->in->device, o->marks, &c->check->round, sizeof c->check->round,
                               &error));
    must(tg_graph_run(o->graph, &config, NULL, &error));
    if (c->check)
        fetch_marks(c, o);
}

static void run_graph(const struct bench_case *c, struct opened *o)
{
    run_scheduled(c, o, NULL);
}

static struct bench_sample rerun(const struct bench_case *c, void *opened)
{
    uint64_t begin = bench_now_ns();

    run_graph(c, opened);
    return (struct bench_sample){.total_ns = bench_now_ns() - begin};
}

/* The same with a schedule, for what it costs a task. */
static struct bench_sample rerun_with(const struct bench_case *c, void *opened, uint32_t policy)
{
    struct tg_schedule schedule = {.policy = policy, .seed = 1};
    uint64_t begin = bench_now_ns();

    run_scheduled(c, opened, &schedule);
    return (struct bench_sample){.total_ns = bench_now_ns() - begin};
}

static struct bench_sample rerun_fifo(const struct bench_case *c, void *opened)
{
    return rerun_with(c, opened, TG_SCHEDULE_FIFO);
}

static struct bench_sample rerun_random(const struct bench_case *c, void *opened)
{
    return rerun_with(c, opened, TG_SCHEDULE_RANDOM);
}

static struct bench_sample rerun_adversarial(const struct bench_case *c, void *opened)
{
    return rerun_with(c, opened, TG_SCHEDULE_ADVERSARIAL);
}

static struct bench_sample build(const struct bench_case *c, void *opened)
{
    uint64_t begin = bench_now_ns();

    build_graph(c, opened);
    return (struct bench_sample){.total_ns = bench_now_ns() - begin};
}

static struct bench_sample build_run(const struct bench_case *c, void *opened)
{
    struct bench_sample sample = {0};
    uint64_t begin = bench_now_ns();

    build_graph(c, opened);
    sample.build_ns = bench_now_ns() - begin;
    run_graph(c, opened);
    sample.total_ns = bench_now_ns() - begin;
    return sample;
}

static struct bench_sample fixed(const struct bench_case *c, void *opened)
{
    struct bench_case one = *c;
    struct runtime r;
    uint64_t begin = bench_now_ns();

    (void)opened;
    open_device(&r, c->cores);
    one.runtime = &r;
    opened = open_built(&one);
    run_graph(&one, opened);
    close_graph(opened);
    tg_device_close(r.device);
    return (struct bench_sample){.total_ns = bench_now_ns() - begin};
}

static const struct bench_phase phases[] = {
    {"build", BENCH_PER_TASK, open_empty, build, close_graph},
    {"rerun", BENCH_PER_TASK, open_built, rerun, close_graph},
    {"rerun_fifo", BENCH_PER_TASK, open_built, rerun_fifo, close_graph},
    {"rerun_random", BENCH_PER_TASK, open_built, rerun_random, close_graph},
    {"rerun_adversarial", BENCH_PER_TASK, open_built, rerun_adversarial, close_graph},
    {"build_run", BENCH_PER_TASK, open_empty, build_run, close_graph},
    {"first", BENCH_FIRST, open_empty, build_run, close_graph},
    {"fixed", BENCH_FIXED, NULL, fixed, NULL},
};

static const struct bench_peer peer = {"taskglass", phases, 8, start, stop};

int main(int argc, char **argv)
{
    return bench_main(&peer, argc, argv);
}
