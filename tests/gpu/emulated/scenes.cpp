/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenes SCENE FIRST N: runs random graphs on a device of fibers, with N seeds from FIRST, and checks what ran.
 *
 *     fixed        the edges are known before the run
 *     stopped      the same, and the run is stopped at some moment
 *     fed          an orchestrator beside the device submits the tasks, and slots are used again
 *     fed-stopped  the same, and stopped
 */
#include <stdarg.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scenes.h"
#include "device/orchestrator_hook.h"
#include "device/target.h"
#include "platform/cuda/gpu/block.h"

struct device device;
static uint64_t n_ended; /* tasks, of all seeds */

/* How many kernels a core may start after a stop. */
enum { MOST_AFTER_STOP = 8 };

/* ── what the engine calls of others ───────────────────────────────────────────────────── */

/* No scene has an orchestrator on the device, or several devices. */
uint64_t tg_orchestrator_size(void)
{
    return 64;
}
void tg_orchestrator_prepare(struct tg_orchestrator *, struct tg_engine *,
                             struct tg_orchestration *, tg_orchestrate_fn, const char *)
{
}
void tg_orchestrator_run(struct tg_orchestrator *) {}
void tg_target_post(struct tg_engine *, const struct tg_comm_post *)
{
    emu_fail("a task of another device was posted");
}

/* ── kernels ───────────────────────────────────────────────────────────────────────────── */

static void check_arguments(const struct tg_ctx *ctx, uint32_t id, uint32_t kernel)
{
    const struct node *task = &device.graph->nodes[id];
    if (ctx->scalar[1].bits != (uint64_t)id * ID_FACTOR)
        emu_fail("task %u: its second scalar is wrong", id);
    if (task->kernel != kernel)
        emu_fail("task %u runs kernel %u and not %u", id, kernel, task->kernel);
    if (ctx->core != emu_block())
        emu_fail("task %u runs on core %u and is told %u", id, emu_block(), ctx->core);
    if (ctx->n_tensors != task->n_tensors)
        emu_fail("task %u has %u tensors and not %u", id, ctx->n_tensors, task->n_tensors);
    for (uint32_t i = 0; i < ctx->n_tensors; i++) {
        struct tg_tensor tensor = tensor_of(id, i);
        if (ctx->tensor[i].addr != tensor.addr || ctx->tensor[i].shape[0] != tensor.shape[0])
            emu_fail("task %u: tensor %u is another", id, i);
    }
}

static void check_predecessors(uint32_t id)
{
    for (uint32_t before : device.graph->nodes[id].predecessors) {
        const struct node *task = &device.graph->nodes[before];
        for (uint32_t p = 0; p < PARTS; p++)
            for (uint32_t t = 0; t < EMU_CREW; t++)
                if (task->parts >> p & 1 && task->ends[p][t] != 1)
                    emu_fail("task %u runs before its predecessor %u has ended", id, before);
    }
}

/* By the first thread of the crew. */
static void check_status(uint32_t id, uint32_t kernel)
{
    const struct tg_worker_status *status = &device.status[emu_block()];
    if (device.graph->fed ? status->task_id != id : status->running != id + 1)
        emu_fail("task %u: the status of core %u names another", id, emu_block());
    if (status->kernel != kernel)
        emu_fail("task %u: the status of core %u has kernel %u", id, emu_block(), status->kernel);
}

static void begin_kernel(uint32_t id, uint32_t kernel)
{
    emu_progress();
    if (device.stopped)
        device.after_stop[emu_block()]++;
    if (device.in_kernel[emu_block()]++)
        emu_fail("task %u: core %u runs another", id, emu_block());
    check_status(id, kernel);
}

static void work(const struct tg_ctx *ctx, const struct node *task)
{
    uint32_t length = emu_thread().x % 32 == 0 ? 2 * task->work : task->work;
    if (task->meets && task->task_class == TG_CLASS_MIX)
        tg_mix_barrier(ctx);
    else if (task->meets)
        emu_crew_meet();
    for (uint32_t i = 0; i < length; i++) {
        emu_yield();
        if (length > 20)
            emu_pause(8);
    }
}

static void run_kernel(const struct tg_ctx *ctx, uint32_t kernel)
{
    uint32_t id = (uint32_t)ctx->scalar[0].bits, thread = emu_thread().x, part = ctx->part;
    const struct tg_scalar *scalar = ctx->scalar;
    if (id >= device.graph->nodes.size())
        emu_fail("a kernel of task %u, which does not exist", id);
    struct node *task = &device.graph->nodes[id];
    check_arguments(ctx, id, kernel);
    check_predecessors(id);
    if (task->starts[part][thread]++)
        emu_fail("task %u runs twice", id);
    if (thread == 0)
        begin_kernel(id, kernel);
    work(ctx, task);
    if (ctx->scalar != scalar || scalar[0].bits != id || ctx->part != part)
        emu_fail("task %u: its context has changed while it ran", id);
    check_arguments(ctx, id, kernel);
    if (thread == 0)
        device.in_kernel[emu_block()]--;
    task->ends[part][thread]++;
}

/* A function of its own for each kernel, as its address is all that the device has. */
template <uint32_t N> static void kernel(const struct tg_ctx *ctx)
{
    run_kernel(ctx, N);
}
template <uint32_t... N> static const tg_kernel_fn *all(std::integer_sequence<uint32_t, N...>)
{
    static const tg_kernel_fn functions[] = {kernel<N>...};
    return functions;
}

/* ── the device ────────────────────────────────────────────────────────────────────────── */

void tg_block_fill(void)
{
    tg_engine_fill(device.engine, &device.graph->launch, emu_block() * EMU_CREW + emu_thread().x,
                   device.n_blocks * EMU_CREW);
}

/* As in platform/cuda/gpu/entry.cu: one run after the other, until the device is closed. */
static void lead(void)
{
    uint32_t call = 0, block = emu_block();
    for (;;) {
        while (device.call == call && !device.closes)
            emu_sleep(100);
        if (device.call == call)
            break;
        call = device.call;
        tg_order_have_done(TG_ORDER_FILL);
        if (++device.n_filled == device.n_blocks)
            device.filled_call = call;
        while (device.filled_call != call)
            emu_sleep(20);
        tg_lanes_begin(device.engine, &device.engine->worker[block]);
        tg_engine_enter(device.engine, block);
        device.inside--;
    }
    tg_block_end();
    tg_lanes_dismiss(device.engine);
    device.inside--;
}

static void run_thread(void)
{
    tg_block_init();
    if (emu_thread().x < EMU_CREW)
        tg_block_crew();
    else if (emu_thread().x == EMU_CREW)
        lead();
    else
        tg_lanes_help(device.engine);
}

bool all_left(void)
{
    return device.inside == 0;
}

bool all_filled(void)
{
    return device.filled_call == device.call;
}

static void open_device(uint32_t n_cores, bool mixes)
{
    static void *memory;
    uint64_t size = tg_engine_size((n_cores + 2) / 3, 0);
    free(memory);
    memory = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(memory, 0xCC, size);
    device = {};
    device.status.assign(64, tg_worker_status());
    device.n_cores = n_cores;
    struct tg_engine *e = tg_engine_init(memory, n_cores, 0, device.status.data());
    e->n_cpus = 0;
    e->patience.spin = emu_random(2) ? 300 : emu_random(20);
    e->patience.yields = 0;
    e->batch = emu_random(2) ? 32 : 1 + emu_random(64);
    e->steal_every = emu_random(2) ? 16 : 1 + emu_random(4);
    e->always_shares = true;
    device.engine = e;
    device.n_blocks = mixes ? e->n_lanes : n_cores;
    for (uint32_t block = 0; block < device.n_blocks; block++)
        for (uint32_t thread = 0; thread < EMU_THREADS; thread++)
            emu_spawn(block, thread, run_thread);
}

void prepare_run(struct graph *g)
{
    for (struct node &task : g->nodes) {
        memset(task.starts, 0, sizeof task.starts);
        memset(task.ends, 0, sizeof task.ends);
    }
    device.graph = g;
    device.stopped = false;
    memset(device.after_stop, 0, sizeof device.after_stop);
    memset(device.in_kernel, 0, sizeof device.in_kernel);
    tg_engine_reset(device.engine, &g->launch, all(std::make_integer_sequence<uint32_t, KERNELS>()),
                    0, 0);
    device.engine->active = device.n_blocks;
    device.n_filled = 0;
}

void start_run(uint32_t others)
{
    device.inside = device.n_blocks + others;
    emu_progress();
    device.call++;
}

static void close_device(void)
{
    device.inside = device.n_blocks;
    device.closes = true;
    emu_progress();
    emu_run(all_left);
}

/* ── checks ────────────────────────────────────────────────────────────────────────────── */

static uint64_t finished(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < device.engine->n_workers; i++)
        n += device.engine->worker[i].finished;
    return n;
}

/* Every kernel that has started has ended. Returns the number of tasks that ran. */
static uint64_t check_ends(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->nodes.size(); i++) {
        const struct node *task = &g->nodes[i];
        bool ran = true;
        for (uint32_t p = 0; p < PARTS; p++)
            for (uint32_t t = 0; t < EMU_CREW && task->parts >> p & 1; t++) {
                if (task->ends[p][t] != task->starts[p][t])
                    emu_fail("a kernel of task %zu has not ended", i);
                ran = ran && task->ends[p][t] == 1;
            }
        n += ran;
    }
    return n;
}

static void check_run(const struct graph *g)
{
    uint64_t told = 0, n = g->nodes.size();
    if (device.engine->phase != TG_OVER)
        emu_fail("the run has ended in phase %u", device.engine->phase);
    if (check_ends(g) != n)
        emu_fail("some of %zu tasks did not run", g->nodes.size());
    if (finished() != n)
        emu_fail("%llu of %zu tasks are counted", (unsigned long long)finished(), g->nodes.size());
    for (uint32_t b = 0; b < device.n_blocks; b++) {
        told += device.status[b].finished;
        if (device.status[b].running)
            emu_fail("the status of core %u says that it runs a task", b);
    }
    if (told != n)
        emu_fail("the statuses tell of %llu of %zu tasks", (unsigned long long)told,
                 g->nodes.size());
    for (size_t i = 0; i < n && !g->fed; i++)
        if (g->desc[i].pending != g->desc[i].fanin)
            emu_fail("task %zu is left with %u of %u pending", i, g->desc[i].pending,
                     g->desc[i].fanin);
    n_ended += n;
}

static void check_stopped(const struct graph *g)
{
    for (uint32_t b = 0; b < device.n_blocks; b++)
        if (device.after_stop[b] > MOST_AFTER_STOP)
            emu_fail("core %u started %u kernels after the stop", b, device.after_stop[b]);
    uint64_t ran = check_ends(g);
    if (finished() > ran)
        emu_fail("%llu tasks are counted, but %llu ran", (unsigned long long)finished(),
                 (unsigned long long)ran);
    n_ended += ran;
}

static void describe(void)
{
    const struct graph *g = device.graph;
    if (!g)
        return;
    fprintf(stderr, "  %s, %zu tasks on %u cores, %s, phase %u\n", g->shape, g->nodes.size(),
            device.n_cores, g->fed ? "fed" : "fixed", device.engine->phase);
    if (g->fed) {
        fed_describe();
        return;
    }
    for (size_t i = 0, n = 0; i < g->nodes.size() && n < 20; i++)
        if (g->desc[i].pending != g->desc[i].fanin && ++n)
            fprintf(stderr, "  task %zu: pending %x, fanin %u, next %u, parts %x\n", i,
                    g->desc[i].pending, g->desc[i].fanin, g->desc[i].next, g->desc[i].n_parts);
}

/* ── scenes ────────────────────────────────────────────────────────────────────────────── */

static uint64_t stop_at;

static bool all_left_or_time(void)
{
    return all_left() || emu_steps() >= stop_at;
}

static void random_pace(void)
{
    static const uint32_t accesses[] = {3, 10, 40, 200, 2000}, atomics[] = {1, 2, 6, 30};
    static const uint32_t rates[] = {0, 1, 1, 8, 100, 100000};
    uint32_t access = accesses[emu_random(5)], atomic = atomics[emu_random(4)];
    uint32_t rate = rates[emu_random(6)];
    emu_set_pace(access, atomic, rate, emu_random(4) != 0);
}

/* Returns false if the run was stopped. */
static bool finish_run(struct graph *g, bool stops)
{
    if (stops) {
        stop_at = emu_steps() + emu_random(emu_random(2) ? 20000 : 200000);
        emu_run(all_left_or_time);
        if (!all_left()) {
            emu_set_pace(40, 2, 100000, emu_random(2)); /* soon, by the clock */
            tg_engine_stop(device.engine);
            device.stopped = true;
        }
    }
    emu_run(all_left);
    if (device.stopped)
        check_stopped(g);
    if (device.engine->phase == TG_STOPPED)
        return false;
    check_run(g);
    return true;
}

static void run_fixed(bool stops)
{
    random_pace();
    uint32_t n_cores = 1 + emu_random(emu_random(2) ? 4 : 9);
    struct taste taste = random_taste(n_cores <= 4 && emu_random(5) == 0);
    open_device(n_cores, taste.mixes);
    for (uint32_t graphs = 1 + emu_random(3); graphs > 0; graphs--) {
        graph g = {};
        make_graph(&g, &taste, false);
        seal_graph(&g);
        for (uint32_t runs = 1 + emu_random(3); runs > 0; runs--) {
            prepare_run(&g);
            start_run(0);
            if (!finish_run(&g, stops))
                for (struct tg_task_desc &desc : g.desc)
                    desc.pending = desc.fanin; /* as the host does after a stop */
        }
        device.graph = 0;
    }
    close_device();
}

static void run_fed(bool stops)
{
    random_pace();
    uint32_t n_cores = 1 + emu_random(4);
    struct taste taste = random_taste(emu_random(6) == 0);
    open_device(n_cores, taste.mixes);
    fed_open(emu_random(2));
    for (uint32_t graphs = 1 + emu_random(3); graphs > 0; graphs--) {
        graph g = {};
        make_graph(&g, &taste, true);
        const std::vector<node> nodes = g.nodes;
        for (uint32_t runs = 1 + emu_random(2); runs > 0; runs--) {
            g.nodes = nodes; /* without late edges */
            fed_start(&g);
            finish_run(&g, stops);
            if (device.stopped)
                fed_after_stop();
        }
        device.graph = 0;
    }
    close_device();
}

static const struct {
    const char *name;
    void (*run)(bool stops);
    bool stops;
} scenes[] = {
    {"fixed", run_fixed, false},
    {"stopped", run_fixed, true},
    {"fed", run_fed, false},
    {"fed-stopped", run_fed, true},
};

int main(int n, char **words)
{
    for (const auto &scene : scenes) {
        if (n != 4 || strcmp(words[1], scene.name) != 0)
            continue;
        uint64_t first = strtoull(words[2], 0, 10), count = strtoull(words[3], 0, 10);
        emu_describe = describe;
        for (uint64_t seed = first; seed < first + count; seed++) {
            emu_reset(seed);
            scene.run(scene.stops);
        }
        printf("%llu\n", (unsigned long long)n_ended);
        return 0;
    }
    fprintf(stderr, "usage: scenes fixed|stopped|fed|fed-stopped FIRST_SEED N_SEEDS\n");
    return 2;
}
