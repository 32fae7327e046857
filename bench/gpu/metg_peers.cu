/* SPDX-License-Identifier: Apache-2.0 */
/*
 * METG(50 %) of the peers (metg_harness.h): the grids of metg.c with CUDA's own means. A task is a block
 * of 256 threads that does and checks the same.
 *
 *   cuda_graph        a graph of kernel nodes, instantiated before; a run launches it
 *   cuda_graph_made   the same, made and instantiated in every run
 *   stream            one stream, a launch for each row: its end is a barrier for all columns
 *   streams           a launch for each task; a column has its stream, and events are the dependencies
 *                     between streams
 *
 * Times are the host's, from the first call to the end of the last task. A graph of independent nodes
 * cannot be held to some of the multiprocessors, so it is measured only with all of them, where the
 * hardware runs at most 128 kernels at once.
 */
#include "cuda_common.h"
#include "metg_harness.h"

enum { THREADS = 256, STREAMS = TB_MAX_WIDTH };

#define CLOCK_TICKS (UINT64_C(1) << 22)
#define SYSTEMS "cuda_graph,cuda_graph_made,stream,streams"

/* The cells of one grid on the GPU, and what runs it. */
struct made {
    struct tb_grid grid;
    struct tb_cell *cells;
    struct metg_settings *settings;
    uint64_t packed;
    cudaGraphExec_t exec;
    std::vector<cudaEvent_t> events; /* of two rows, for streams */
    std::vector<uint8_t> awaited;    /* whether another stream waits for the task */
};

static cudaStream_t stream[STREAMS];
static bool measures_all; /* the width is that of the whole GPU */

/* ── on the device ─────────────────────────────────────────────────────────────────────── */

/* As metg_kernels.c: one thread checks one input, and the first finishes the task. */
__global__ void task(struct tb_cell *cells, const struct metg_settings *settings, uint64_t packed,
                     uint32_t step, uint32_t first)
{
    uint32_t column = first + blockIdx.x, inputs[METG_MAX_INPUTS], count;
    uint64_t round = settings->round, ticks = settings->ticks;
    struct tb_grid g = tb_grid_unpack(packed, 0, 0);
    struct tb_cell *row = cells + (uint64_t)step * g.width;

    if (threadIdx.x >= METG_MAX_INPUTS)
        return;
    count = metg_inputs(&g, step, column, inputs);
    if (threadIdx.x < count)
        metg_check(&row[column], row - g.width + inputs[threadIdx.x], step - 1, inputs[threadIdx.x],
                   round);
    if (threadIdx.x == 0)
        metg_finish(&g, &row[column], step, column, ticks);
}

__global__ void time_ticks(uint64_t *out)
{
    metg_time_ticks(CLOCK_TICKS, out);
}

/* ── cells ─────────────────────────────────────────────────────────────────────────────── */

static uint64_t cells_of(const struct tb_grid *g)
{
    return (uint64_t)g->steps * g->width;
}

static struct made *make_cells(const struct tb_grid *g)
{
    struct made *m = new made();
    m->grid = *g;
    m->packed = tb_grid_pack(g);
    MUST(cudaMalloc((void **)&m->cells, cells_of(g) * sizeof *m->cells));
    MUST(cudaMemset(m->cells, 0, cells_of(g) * sizeof *m->cells));
    MUST(cudaMalloc((void **)&m->settings, sizeof *m->settings));
    MUST(cudaDeviceSynchronize());
    return m;
}

static void fetch(void *made, struct tb_cell *cells)
{
    struct made *m = (struct made *)made;
    MUST(cudaMemcpy(cells, m->cells, cells_of(&m->grid) * sizeof *cells, cudaMemcpyDeviceToHost));
}

static void destroy(void *made)
{
    struct made *m = (struct made *)made;
    for (cudaEvent_t event : m->events)
        MUST(cudaEventDestroy(event));
    if (m->exec)
        MUST(cudaGraphExecDestroy(m->exec));
    MUST(cudaFree(m->cells));
    MUST(cudaFree(m->settings));
    delete m;
}

/* Seconds of `run`, which waits for the end of what it starts. */
template <class Run> static double timed(struct made *m, struct metg_settings settings, Run run)
{
    double began;
    MUST(cudaMemcpy(m->settings, &settings, sizeof settings, cudaMemcpyHostToDevice));
    MUST(cudaDeviceSynchronize());
    began = seconds_now();
    run();
    return seconds_now() - began;
}

/* ── CUDA Graphs ───────────────────────────────────────────────────────────────────────── */

static cudaGraph_t build(struct made *m)
{
    std::vector<cudaGraphNode_t> rows[2], before;
    uint32_t step = 0, column = 0, inputs[METG_MAX_INPUTS];
    void *arguments[] = {&m->cells, &m->settings, &m->packed, &step, &column};
    cudaKernelNodeParams params = {};
    cudaGraph_t graph;

    params.func = (void *)task;
    params.gridDim = dim3(1);
    params.blockDim = dim3(THREADS);
    params.kernelParams = arguments; /* copied into the node */
    rows[0].resize(m->grid.width);
    rows[1].resize(m->grid.width);
    MUST(cudaGraphCreate(&graph, 0));
    for (step = 0; step < m->grid.steps; step++)
        for (column = 0; column < tb_row(&m->grid, step); column++) {
            uint32_t count = metg_inputs(&m->grid, step, column, inputs);
            before.clear();
            for (uint32_t k = 0; k < count; k++)
                before.push_back(rows[(step + 1) % 2][inputs[k]]);
            MUST(cudaGraphAddKernelNode(&rows[step % 2][column], graph, before.data(),
                                        before.size(), &params));
        }
    return graph;
}

static cudaGraphExec_t instantiate(struct made *m)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph = build(m);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

static void launch(struct made *m)
{
    MUST(cudaGraphLaunch(m->exec, stream[0]));
    MUST(cudaStreamSynchronize(stream[0]));
}

static void *make_graph(const struct tb_grid *g)
{
    struct made *m = make_cells(g);
    m->exec = instantiate(m);
    MUST(cudaGraphUpload(m->exec, stream[0]));
    MUST(cudaStreamSynchronize(stream[0]));
    return m;
}

static double run_graph(void *made, struct metg_settings settings)
{
    struct made *m = (struct made *)made;
    return timed(m, settings, [m] { launch(m); });
}

static void *make_nothing(const struct tb_grid *g)
{
    return make_cells(g);
}

static double run_made_graph(void *made, struct metg_settings settings)
{
    struct made *m = (struct made *)made;
    double seconds = timed(m, settings, [m] {
        m->exec = instantiate(m);
        launch(m);
    });
    MUST(cudaGraphExecDestroy(m->exec));
    m->exec = nullptr;
    return seconds;
}

/* ── streams ───────────────────────────────────────────────────────────────────────────── */

static double run_rows(void *made, struct metg_settings settings)
{
    struct made *m = (struct made *)made;
    return timed(m, settings, [m] {
        for (uint32_t step = 0; step < m->grid.steps; step++)
            task<<<tb_row(&m->grid, step), THREADS, 0, stream[0]>>>(m->cells, m->settings,
                                                                    m->packed, step, 0);
        MUST(cudaGetLastError());
        MUST(cudaStreamSynchronize(stream[0]));
    });
}

static void *make_streams(const struct tb_grid *g)
{
    struct made *m = make_cells(g);
    uint32_t inputs[METG_MAX_INPUTS];
    m->awaited.resize(cells_of(g));
    m->events.resize(2 * (size_t)g->width);
    for (cudaEvent_t &event : m->events)
        MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (uint32_t step = 1; step < g->steps; step++)
        for (uint32_t column = 0; column < tb_row(g, step); column++) {
            uint32_t count = metg_inputs(g, step, column, inputs);
            for (uint32_t k = 0; k < count; k++)
                if (inputs[k] % STREAMS != column % STREAMS)
                    m->awaited[(uint64_t)(step - 1) * g->width + inputs[k]] = 1;
        }
    return m;
}

/* Waits for the inputs from other streams, starts the task, and notes its end if another stream will
 * wait for it. An event can be recorded anew two rows later: all that wait for it have asked by then. */
static void launch_task(struct made *m, uint32_t step, uint32_t column)
{
    uint32_t inputs[METG_MAX_INPUTS], count = metg_inputs(&m->grid, step, column, inputs);
    uint32_t width = m->grid.width;
    cudaStream_t own = stream[column % STREAMS];
    for (uint32_t k = 0; k < count; k++)
        if (inputs[k] % STREAMS != column % STREAMS)
            MUST(cudaStreamWaitEvent(own, m->events[(step + 1) % 2 * width + inputs[k]], 0));
    task<<<1, THREADS, 0, own>>>(m->cells, m->settings, m->packed, step, column);
    if (m->awaited[(uint64_t)step * width + column])
        MUST(cudaEventRecord(m->events[step % 2 * width + column], own));
}

static double run_streams(void *made, struct metg_settings settings)
{
    struct made *m = (struct made *)made;
    return timed(m, settings, [m] {
        for (uint32_t step = 0; step < m->grid.steps; step++)
            for (uint32_t column = 0; column < tb_row(&m->grid, step); column++)
                launch_task(m, step, column);
        MUST(cudaGetLastError());
        MUST(cudaDeviceSynchronize());
    });
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

static const struct metg_system systems[] = {
    {"cuda_graph", make_graph, run_graph, fetch, destroy},
    {"cuda_graph_made", make_nothing, run_made_graph, fetch, destroy},
    {"stream", make_nothing, run_rows, fetch, destroy},
    {"streams", make_streams, run_streams, fetch, destroy},
};

static bool is_system(const char *word)
{
    for (const struct metg_system &system : systems)
        if (strcmp(system.name, word) == 0)
            return true;
    return false;
}

static double ns_per_tick(void)
{
    uint64_t *out, times[2];
    MUST(cudaMalloc((void **)&out, sizeof times));
    time_ticks<<<1, 1>>>(out);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(times, out, sizeof times, cudaMemcpyDeviceToHost));
    MUST(cudaFree(out));
    return (double)times[1] / (double)times[0];
}

/* Whether this system can do this: see above. */
static bool is_fair(const struct metg_system &system, uint32_t pattern)
{
    return measures_all || pattern != TB_TRIVIAL || strncmp(system.name, "cuda_graph", 10) != 0;
}

static bool measure_width(const struct metg_options *o, uint32_t width)
{
    bool good = true;
    for (const struct metg_system &system : systems)
        for (const auto &known : metg_patterns)
            if (metg_named(o->systems, system.name) && metg_named(o->patterns, known.name) &&
                is_fair(system, known.pattern))
                good &= metg_figure(&system, o, "metg", known.pattern, width, ns_per_tick);
    return good;
}

static bool measure(const struct metg_options *o, int multiprocessors)
{
    char *list = strdup(o->widths), *rest = nullptr;
    bool good = true;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(nullptr, ",", &rest)) {
        uint32_t width = (uint32_t)bench_size(word);
        if (width == 0)
            width = metg_clamp(multiprocessors, 1, TB_MAX_WIDTH);
        /* Taskglass leaves some multiprocessors to others, so its widest row is a little shorter. */
        measures_all = width * 10 >= (uint32_t)multiprocessors * 9;
        good &= measure_width(o, width);
    }
    free(list);
    return good;
}

int main(int argc, char **argv)
{
    struct metg_options o = metg_parse(SYSTEMS, is_system, argc, argv);
    cudaDeviceProp device;
    bool good;

    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32",
           1); /* queues of the streams: as many as there can be */
    open_gpu();
    MUST(cudaGetDeviceProperties(&device, 0));
    for (cudaStream_t &s : stream)
        MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    good = measure(&o, device.multiProcessorCount);
    if (!good)
        fprintf(stderr, "bench_gpu: a task ran wrongly, or not once in each run\n");
    return good ? 0 : 1;
}
