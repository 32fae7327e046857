/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs N tasks with the recorder off, on one core in the main thread, for callgrind to count
 * (--toggle-collect=run_tasks). It is linked twice: with src/device as it is, and with src/device
 * compiled without its recorder hooks (no_recorder.h). The difference between the marginal
 * instructions of a task in the two programs is the cost of a recorder that is off.
 */
#include "harness.h"

#include "common/stored_args.h"
#include "device/comm.h"
#include "device/engine.h"
#include "device/target.h"

enum { CORES = 1, TENSORS = 3 };

struct graph {
    struct tg_launch launch;
    struct tg_task_desc *desc;
    uint64_t *stored; /* arguments */
    uint32_t *ready;
    uint64_t *queue;
};

static void *array(uint64_t count, size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, TG_LINE, count * size + TG_LINE) != 0)
        exit(1);
    memset(memory, 0, count * size);
    return memory;
}

static void nothing(const struct tg_ctx *ctx)
{
    (void)ctx;
}

/* No task here is a call of communication. */
void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    (void)e;
    (void)post;
    abort();
}

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

/* Builds independent tasks with two input tensors and one output. */
static void build(struct graph *g, uint32_t tasks)
{
    uint32_t size = power_of_two(tasks);
    struct tg_tensor scalar = tg_tensor_make(0, TG_FLOAT32, 0, NULL);
    uint64_t *to;
    g->desc = array(tasks, sizeof *g->desc);
    g->stored = array((uint64_t)tasks * TENSORS * TG_STORED_TENSOR_WORDS, sizeof *g->stored);
    g->ready = array(tasks, sizeof *g->ready);
    g->queue = array(size, sizeof *g->queue);
    to = g->stored;
    for (uint32_t t = 0; t < tasks; t++) {
        g->desc[t] = (struct tg_task_desc){
            .id = t,
            .kernel = {TG_NO_KERNEL, 0, TG_NO_KERNEL},
            .task_class = TG_CLASS_AIV,
            .n_parts = 1,
            .n_tensors = TENSORS,
            .args = (uint64_t)((char *)to - (char *)g->stored),
            .roles = TG_IN | TG_IN << 2 | TG_OUT << 4,
        };
        for (uint32_t i = 0; i < TENSORS; i++)
            to = tg_stored_put(to, &scalar);
        g->ready[t] = t + 1;
    }
    g->launch = (struct tg_launch){.magic = TG_LAUNCH_MAGIC, .n_tasks = tasks};
    g->launch.desc = address(g->desc);
    g->launch.payload = address(g->stored);
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        g->launch.ready[c] = address(g->ready);
        g->launch.queue[c] = address(c == TG_CLASS_AIV ? g->queue : array(1, sizeof *g->queue));
        g->launch.queue_size[c] = c == TG_CLASS_AIV ? size : 1;
    }
    g->launch.n_ready[TG_CLASS_AIV] = tasks;
}

__attribute__((noinline)) void run_tasks(struct tg_engine *e);

/* Leaves out the lanes that only stand in for the parts of a mix: no task here needs them. */
void run_tasks(struct tg_engine *e)
{
    tg_engine_enter(e, 0);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    static const tg_kernel_fn kernels[] = {nothing};
    uint32_t tasks = argc > 1 ? (uint32_t)bench_size(argv[1]) : 1000;
    uint32_t blocks = (CORES + TG_PARTS - 1) / TG_PARTS;
    struct tg_worker_status *status = array(TG_PARTS * blocks + 1, sizeof *status);
    struct tg_engine *e = tg_engine_init(array(1, tg_engine_size(blocks, 0)), CORES, 0, status);
    struct graph g;
    build(&g, tasks);
    tg_engine_prepare(e, &g.launch, kernels, NULL, NULL);
    run_tasks(e);
    if (status[0].finished != tasks) {
        fprintf(stderr, "bench_record_off: %llu of %u tasks ran\n",
                (unsigned long long)status[0].finished, tasks);
        return 1;
    }
    return 0;
}
