/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with its threads inside the test's process, as a simulated device has it in its own
 * process, and graphs that check themselves while they run:
 *
 *   rig    opens an engine of so many cores and schedulers, launches graphs on it, stops them
 *   dag    tasks and edges; every kernel checks that all parts of all predecessors have ended
 *          (reading what they wrote without atomics, so that the thread sanitizer checks that
 *          it was published) and that it runs alone on a lane of its kind, then does what its
 *          node says
 */
#ifndef TG_TEST_RIG_H
#define TG_TEST_RIG_H

#include "device/engine.h"
#include "stress.h"

/* ── graphs ────────────────────────────────────────────────────────────────────────────── */

struct dag;
struct node;
typedef void (*node_body)(struct dag *dag, struct node *node, const struct tg_ctx *ctx);

struct node {
    node_body body; /* NULL: nothing to do */
    uint32_t arg;
    uint32_t first_pred, n_preds;
    uint32_t runs[TG_PARTS];  /* how often each part ran; __atomic */
    uint32_t inside;          /* parts that have started; __atomic */
    uint32_t cell[TG_PARTS];  /* written by one part of a mix and read by the others; plain */
    uint32_t ended[TG_PARTS]; /* plain: only the engine orders the accesses */
};

enum { DAG_TASKS = 512, DAG_EDGES = 2048, DAG_LANES = 96 };

struct dag {
    uint32_t n_tasks, n_edges;
    uint32_t before[DAG_EDGES], after[DAG_EDGES];
    struct node node[DAG_TASKS];
    uint32_t pred[DAG_EDGES];
    uint32_t inside;          /* number of bodies inside; __atomic */
    uint32_t quorum;          /* bodies that must be inside at the same time */
    uint32_t lane[DAG_LANES]; /* 1: a kernel runs there; __atomic */
    uint32_t stopping;        /* the run is being stopped: bodies must not wait; __atomic */
    /* the engine's view of the graph */
    struct tg_launch launch;
    struct tg_task_desc desc[DAG_TASKS];
    uint32_t succ[DAG_EDGES];
    uint32_t ready[TG_CLASSES][DAG_TASKS];
    uint64_t queue[TG_CLASSES][DAG_TASKS];
    struct tg_scalar payload[DAG_TASKS][2];
};

STRESS_FN bool dag_stopping(const struct dag *dag)
{
    return __atomic_load_n(&dag->stopping, __ATOMIC_SEQ_CST) != 0;
}

/* The kernel runs on a lane that may run it, and the host is shown that. */
static void dag_check_lane_(const struct dag *dag, const struct tg_task_desc *desc,
                            const struct tg_ctx *ctx)
{
    const struct tg_engine *e = ctx->engine;
    const struct tg_worker *lane = &e->worker[ctx->core];
    if (desc->task_class == TG_CLASS_MIX)
        CHECK_EQ_U(lane->part, ctx->part);
    else
        CHECK(lane->takes & TG_TAKES(desc->task_class));
    CHECK_EQ_U(__atomic_load_n(&lane->status->running, __ATOMIC_RELAXED),
               (uint64_t)(desc - dag->desc) + 1);
}

static void dag_kernel_(const struct tg_ctx *ctx)
{
    struct dag *dag = (struct dag *)(uintptr_t)tg_arg_bits(ctx, 1);
    uint32_t task = (uint32_t)tg_arg_bits(ctx, 0);
    struct node *node = &dag->node[task];
    for (uint32_t i = 0; i < node->n_preds; i++) {
        uint32_t before = dag->pred[node->first_pred + i];
        for (uint32_t part = 0; part < TG_PARTS; part++)
            if (dag->desc[before].kernel[part] != TG_NO_KERNEL)
                CHECK_EQ_U(dag->node[before].ended[part], 1);
    }
    CHECK_EQ_U(ctx->parts, dag->desc[task].n_parts);
    CHECK(dag->desc[task].kernel[ctx->part] != TG_NO_KERNEL);
    dag_check_lane_(dag, &dag->desc[task], ctx);
    CHECK_EQ_U(__atomic_exchange_n(&dag->lane[ctx->core], 1, __ATOMIC_RELAXED), 0);
    __atomic_fetch_add(&node->runs[ctx->part], 1, __ATOMIC_RELAXED);
    if (node->body)
        node->body(dag, node, ctx);
    node->ended[ctx->part] = 1;
    CHECK_EQ_U(__atomic_exchange_n(&dag->lane[ctx->core], 0, __ATOMIC_RELAXED), 1);
}

static const tg_kernel_fn dag_kernels_[] = {dag_kernel_};

STRESS_FN struct dag *dag_new(void)
{
    struct dag *dag = calloc(1, sizeof *dag);
    REQUIRE(dag != NULL);
    return dag;
}

#define DAG_AIC (1u << TG_PART_AIC)
#define DAG_AIV (1u << TG_PART_AIV0)
#define DAG_AIV1 (1u << TG_PART_AIV1)
#define DAG_FULL (DAG_AIC | DAG_AIV | DAG_AIV1)
#define DAG_EITHER (1u << TG_PARTS | DAG_AIV) /* a plain task that any core may run */

/* A task with a kernel for each bit of `parts`: DAG_AIC and DAG_AIV alone are plain tasks. */
STRESS_FN uint32_t dag_add(struct dag *dag, uint32_t parts, node_body body, uint32_t arg)
{
    uint32_t task = dag->n_tasks++;
    struct tg_task_desc *desc = &dag->desc[task];
    REQUIRE(task < DAG_TASKS);
    desc->id = task;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        desc->kernel[part] = parts & (1u << part) ? 0 : TG_NO_KERNEL;
        desc->n_parts += desc->kernel[part] == 0;
    }
    desc->task_class = desc->n_parts > 1     ? TG_CLASS_MIX
                       : parts == DAG_AIC    ? TG_CLASS_AIC
                       : parts == DAG_EITHER ? TG_CLASS_EITHER
                                             : TG_CLASS_AIV;
    desc->n_scalars = 2;
    desc->args = task * sizeof dag->payload[0];
    dag->payload[task][0].bits = task;
    dag->payload[task][1].bits = (uint64_t)(uintptr_t)dag;
    dag->node[task].body = body;
    dag->node[task].arg = arg;
    return task;
}

STRESS_FN void dag_edge(struct dag *dag, uint32_t before, uint32_t after)
{
    REQUIRE(dag->n_edges < DAG_EDGES);
    dag->before[dag->n_edges] = before;
    dag->after[dag->n_edges++] = after;
}

/* Groups one end of all edges by the other, with a counting sort. */
static void dag_group_(const struct dag *dag, const uint32_t *by, const uint32_t *what,
                       uint32_t task, uint32_t *at, uint32_t *count, uint32_t *grouped)
{
    *count = 0;
    for (uint32_t i = 0; i < dag->n_edges; i++)
        if (by[i] == task)
            grouped[*at + (*count)++] = what[i];
    *at += *count;
}

/* Call it after the last task and edge, and before the first run. */
STRESS_FN void dag_seal(struct dag *dag)
{
    struct tg_launch *launch = &dag->launch;
    uint32_t preds = 0, succs = 0;
    *launch = (struct tg_launch){.magic = TG_LAUNCH_MAGIC, .n_tasks = dag->n_tasks};
    launch->desc = (uint64_t)(uintptr_t)dag->desc;
    launch->succ = (uint64_t)(uintptr_t)dag->succ;
    launch->payload = (uint64_t)(uintptr_t)dag->payload;
    for (uint32_t t = 0; t < dag->n_tasks; t++) {
        struct tg_task_desc *desc = &dag->desc[t];
        struct node *node = &dag->node[t];
        node->first_pred = preds;
        dag_group_(dag, dag->after, dag->before, t, &preds, &node->n_preds, dag->pred);
        desc->succ = succs;
        dag_group_(dag, dag->before, dag->after, t, &succs, &desc->n_succ, dag->succ);
        desc->next = desc->n_succ > 0 ? dag->succ[desc->succ + t % desc->n_succ] : 0;
        desc->fanin = desc->pending = node->n_preds;
        if (desc->fanin == 0)
            dag->ready[desc->task_class][launch->n_ready[desc->task_class]++] = t + 1;
    }
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        launch->ready[c] = (uint64_t)(uintptr_t)dag->ready[c];
        launch->queue[c] = (uint64_t)(uintptr_t)dag->queue[c];
        launch->queue_size[c] = DAG_TASKS;
    }
}

/* Resets the graph as if nothing had run, except `pending`, which a full run restores by itself. */
STRESS_FN void dag_rewind(struct dag *dag)
{
    dag->inside = dag->stopping = 0;
    for (uint32_t t = 0; t < dag->n_tasks; t++) {
        struct node *node = &dag->node[t];
        node->inside = 0;
        for (uint32_t part = 0; part < TG_PARTS; part++)
            node->runs[part] = node->ended[part] = 0;
    }
}

/* Restores the graph after a stopped run, as the host does by sending the graph again. */
STRESS_FN void dag_restore(struct dag *dag)
{
    for (uint32_t t = 0; t < dag->n_tasks; t++)
        dag->desc[t].pending = dag->desc[t].fanin;
}

STRESS_FN void dag_check_all_ran(const struct dag *dag)
{
    for (uint32_t t = 0; t < dag->n_tasks; t++)
        for (uint32_t part = 0; part < TG_PARTS; part++)
            if (!CHECK_EQ_U(dag->node[t].runs[part], dag->desc[t].kernel[part] != TG_NO_KERNEL))
                return;
}

/* Checks after a stop: no part ran twice, mixes ran whole or not at all, and no task counts that
 * did not run. */
STRESS_FN void dag_check_some_ran(const struct dag *dag, uint64_t finished)
{
    uint64_t whole = 0;
    for (uint32_t t = 0; t < dag->n_tasks; t++) {
        uint32_t parts = 0;
        for (uint32_t part = 0; part < TG_PARTS; part++) {
            CHECK(dag->node[t].runs[part] <= (dag->desc[t].kernel[part] != TG_NO_KERNEL));
            parts += dag->node[t].ended[part];
        }
        CHECK(parts == 0 || parts == dag->desc[t].n_parts);
        whole += parts == dag->desc[t].n_parts;
    }
    CHECK(finished <= whole);
}

/* ── bodies of kernels ───────────────────────────────────────────────────────────────────── */

STRESS_FN void body_dawdle(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)dag;
    stress_dawdle(node->arg + ctx->part);
}

STRESS_FN void body_sleep(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)dag, (void)ctx;
    stress_sleep(node->arg);
}

/* Returns once `quorum` kernels with this body are inside: only if that many run at once. */
STRESS_FN void body_meet(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)node, (void)ctx;
    __atomic_fetch_add(&dag->inside, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&dag->inside, __ATOMIC_SEQ_CST) < dag->quorum && !dag_stopping(dag))
        stress_sleep(50);
}

/* For the parts of a mix: all must have started before any ends, and the barrier must publish their
 * writes, also in a run that is being stopped. */
STRESS_FN void body_mix(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    __atomic_fetch_add(&node->inside, 1, __ATOMIC_RELAXED);
    stress_dawdle(node->arg + 3 * ctx->part);
    if (node->arg % 2) {
        while (__atomic_load_n(&node->inside, __ATOMIC_RELAXED) < ctx->parts)
            tg_target_yield();
        return;
    }
    for (uint32_t round = 1; round <= 3; round++) {
        node->cell[ctx->part] = round;
        tg_mix_barrier(ctx);
        for (uint32_t part = 0; part < TG_PARTS; part++)
            if (dag->desc[tg_arg_bits(ctx, 0)].kernel[part] != TG_NO_KERNEL)
                CHECK_EQ_U(node->cell[part], round);
        tg_mix_barrier(ctx);
    }
}

/* ── the engine and its threads ────────────────────────────────────────────────────────── */

struct rig {
    struct tg_engine *engine;
    struct tg_worker_status *status;
    pthread_t *thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t launches, runs_over, entered; /* under lock */
    bool closing;
};

static void *rig_thread_(void *argument)
{
    struct rig *rig = argument;
    pthread_mutex_lock(&rig->lock);
    uint32_t worker = rig->entered++;
    for (uint32_t seen = 0;; seen++) {
        while (rig->launches == seen && !rig->closing)
            pthread_cond_wait(&rig->changed, &rig->lock);
        if (rig->closing)
            break;
        pthread_mutex_unlock(&rig->lock);
        bool last = tg_engine_enter(rig->engine, worker);
        pthread_mutex_lock(&rig->lock);
        if (last) {
            rig->runs_over++;
            pthread_cond_broadcast(&rig->changed);
        }
    }
    pthread_mutex_unlock(&rig->lock);
    return NULL;
}

/* `spin` as the platform would set it: with 0, idle workers sleep soonest. */
STRESS_FN void rig_open(struct rig *rig, uint32_t cores, uint32_t schedulers, uint32_t spin)
{
    uint32_t blocks = (cores + TG_PARTS - 1) / TG_PARTS;
    uint64_t size = tg_engine_size(blocks, schedulers);
    uint32_t workers = TG_PARTS * blocks + schedulers;
    void *memory = NULL;
    memset(rig, 0, sizeof *rig);
    REQUIRE(posix_memalign(&memory, TG_LINE, size) == 0);
    memset(memory, 0, size);
    REQUIRE((rig->status = calloc(workers + 1, sizeof *rig->status)) != NULL);
    REQUIRE((rig->thread = calloc(workers, sizeof *rig->thread)) != NULL);
    rig->engine = tg_engine_init(memory, cores, schedulers, rig->status);
    rig->engine->patience.spin = spin;
    rig->engine->patience.yields = spin ? 2 : 0;
    CHECK_EQ_U(tg_engine_orchestrator(rig->engine), workers); /* it is not started */
    pthread_mutex_init(&rig->lock, NULL);
    pthread_cond_init(&rig->changed, NULL);
    for (uint32_t i = 0; i < workers; i++)
        REQUIRE(pthread_create(&rig->thread[i], NULL, rig_thread_, rig) == 0);
}

STRESS_FN void rig_close(struct rig *rig)
{
    pthread_mutex_lock(&rig->lock);
    rig->closing = true;
    pthread_cond_broadcast(&rig->changed);
    pthread_mutex_unlock(&rig->lock);
    for (uint32_t i = 0; i < tg_engine_orchestrator(rig->engine); i++)
        pthread_join(rig->thread[i], NULL);
    pthread_mutex_destroy(&rig->lock);
    pthread_cond_destroy(&rig->changed);
    free(rig->thread);
    free(rig->status);
    free(rig->engine);
    stress_calm();
}

STRESS_FN void rig_launch(struct rig *rig, struct dag *dag)
{
    tg_engine_prepare(rig->engine, &dag->launch, dag_kernels_, NULL, NULL);
    pthread_mutex_lock(&rig->lock);
    rig->launches++;
    pthread_cond_broadcast(&rig->changed);
    pthread_mutex_unlock(&rig->lock);
}

STRESS_FN void rig_wait(struct rig *rig)
{
    pthread_mutex_lock(&rig->lock);
    while (rig->runs_over != rig->launches)
        pthread_cond_wait(&rig->changed, &rig->lock);
    pthread_mutex_unlock(&rig->lock);
}

STRESS_FN uint64_t rig_finished(const struct rig *rig)
{
    uint64_t finished = 0;
    for (uint32_t i = 0; i < rig->engine->n_workers; i++)
        finished += rig->status[i].finished;
    return finished;
}

/* Makes one whole run, and checks everything that must hold afterwards. */
STRESS_FN void rig_run(struct rig *rig, struct dag *dag)
{
    dag_rewind(dag);
    rig_launch(rig, dag);
    rig_wait(rig);
    CHECK_EQ_U(rig->engine->phase, TG_OVER);
    CHECK_EQ_U(rig_finished(rig), dag->n_tasks);
    dag_check_all_ran(dag);
}

#endif
