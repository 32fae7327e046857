/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer: the same graphs of empty tasks as CUDA Graphs, with a kernel of one block of 256
 * threads for each task; and a chain of such kernels launched one by one into a stream.
 *
 * As in tasks.c, n tasks and n / 10 run in turn, and the slope between them is what one more task
 * costs. Times are taken on the device between two events, so they do not include the host's work
 * to launch.
 */
#include "../tasks/shapes.h"
#include "cuda_common.h"

enum { THREADS = 256, SMALLER = 10 };

__global__ void empty_task(void) {}

struct options {
    uint64_t tasks;
    unsigned repeat;
};

/* The times of a graph of one size. */
struct figures {
    uint64_t tasks;
    double build = 0, instantiate = 0, upload = 0;
    std::vector<double> device, host;
};

/* ── CUDA Graphs ───────────────────────────────────────────────────────────────────────── */

static cudaGraph_t build(enum shape shape, uint64_t tasks)
{
    std::vector<cudaGraphNode_t> nodes(tasks), before;
    cudaKernelNodeParams params = {};
    cudaGraph_t graph;

    params.func = (void *)empty_task;
    params.gridDim = dim3(1);
    params.blockDim = dim3(THREADS);
    MUST(cudaGraphCreate(&graph, 0));
    for (uint64_t i = 0; i < tasks; i++) {
        uint64_t preds[SHAPE_MAX_PREDS];
        int count = shape_preds(shape, i, preds);
        before.clear();
        for (int k = 0; k < count; k++)
            before.push_back(nodes[preds[k]]);
        MUST(cudaGraphAddKernelNode(&nodes[i], graph, before.data(), before.size(), &params));
    }
    return graph;
}

static cudaGraphExec_t prepare(enum shape shape, cudaStream_t stream, struct figures *f)
{
    cudaGraphExec_t exec;
    double began = seconds_now(), built, instantiated;
    cudaGraph_t graph = build(shape, f->tasks);

    built = seconds_now();
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    instantiated = seconds_now();
    MUST(cudaGraphUpload(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    f->build = built - began;
    f->instantiate = instantiated - built;
    f->upload = seconds_now() - instantiated;
    MUST(cudaGraphDestroy(graph));
    return exec;
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

/* Runs both sizes in turn, after one untimed run of each. */
template <class Run>
static void collect(timed_stream &stream, struct figures f[2], unsigned repeat, Run run)
{
    for (unsigned r = 0; r <= repeat; r++) {
        for (int k = 0; k < 2; k++) {
            double began = seconds_now();
            double device = stream.time([&] { run(k); });
            double host = seconds_now() - began;
            if (r == 0)
                continue;
            f[k].device.push_back(device);
            f[k].host.push_back(host);
        }
    }
}

static void print(const char *peer, enum shape shape, const struct figures f[2])
{
    double n = (double)f[0].tasks, few = (double)f[1].tasks;
    double large = median(f[0].device), small = median(f[1].device);
    double slope = (large - small) / (n - few);
    double best = (smallest(f[0].device) - smallest(f[1].device)) / (n - few);
    double host = (median(f[0].host) - median(f[1].host)) / (n - few);

    printf("{\"program\":\"graphs\",\"peer\":\"%s\",\"shape\":\"%s\",\"n\":%llu,\"n_small\":%llu,"
           "\"t_s\":%.9f,\"t_best_s\":%.9f,\"t_small_s\":%.9f,\"t_host_s\":%.9f,"
           "\"ns_per_task\":%.2f,\"ns_per_task_best\":%.2f,\"ns_per_task_total\":%.2f,"
           "\"ns_per_task_host\":%.2f,\"launch_us\":%.2f,\"launch_host_us\":%.2f",
           peer, shape_name(shape), (unsigned long long)f[0].tasks, (unsigned long long)f[1].tasks,
           large, smallest(f[0].device), small, median(f[0].host), slope * 1e9, best * 1e9,
           large / n * 1e9, host * 1e9, (small - slope * few) * 1e6,
           (median(f[1].host) - host * few) * 1e6);
    if (f[0].instantiate > 0)
        printf(",\"build_s\":%.6f,\"instantiate_s\":%.6f,\"upload_s\":%.6f", f[0].build,
               f[0].instantiate, f[0].upload);
    printf("}\n");
    fflush(stdout);
}

static void measure_graph(timed_stream &stream, enum shape shape, const struct options *o)
{
    struct figures f[2];
    cudaGraphExec_t exec[2];

    f[0].tasks = o->tasks;
    f[1].tasks = o->tasks / SMALLER;
    for (int k = 1; k >= 0; k--)
        exec[k] = prepare(shape, stream.stream, &f[k]);
    collect(stream, f, o->repeat, [&](int k) { MUST(cudaGraphLaunch(exec[k], stream.stream)); });
    print("cuda_graph", shape, f);
    for (int k = 0; k < 2; k++)
        MUST(cudaGraphExecDestroy(exec[k]));
}

static void measure_stream(timed_stream &stream, const struct options *o)
{
    struct figures f[2];

    f[0].tasks = o->tasks;
    f[1].tasks = o->tasks / SMALLER;
    collect(stream, f, o->repeat, [&](int k) {
        for (uint64_t i = 0; i < f[k].tasks; i++)
            empty_task<<<1, THREADS, 0, stream.stream>>>();
    });
    print("stream", SHAPE_CHAIN, f);
}

static struct options parse(int argc, char **argv)
{
    struct options o = {10000, 7};

    for (int k = 1; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--tasks") == 0)
            o.tasks = strtoull(argv[k + 1], nullptr, 10);
        else if (strcmp(argv[k], "--repeat") == 0)
            o.repeat = (unsigned)strtoul(argv[k + 1], nullptr, 10);
        else
            o.repeat = 0;
    }
    if (argc % 2 == 0 || o.repeat == 0 || o.tasks < 2 * SMALLER) {
        fprintf(stderr, "usage: %s [--tasks N] [--repeat R]\n", argv[0]);
        exit(2);
    }
    return o;
}

int main(int argc, char **argv)
{
    static const enum shape shapes[] = {SHAPE_INDEPENDENT, SHAPE_CHAIN, SHAPE_FAN,
                                        SHAPE_STENCIL,     SHAPE_TREE,  SHAPE_FFT};
    struct options o = parse(argc, argv);

    open_gpu();
    timed_stream stream;
    for (enum shape shape : shapes)
        measure_graph(stream, shape, &o);
    measure_stream(stream, &o);
    return 0;
}
