/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that have not finished, and which of them waits for which. */
#include "host/explain.h"
#include <stdlib.h>
#include <string.h>

/* Rings and graphs that are larger are not looked at: their copies would take gigabytes. */
enum { MOST_STEPS = 1 << 24 };

static uint64_t most_steps(const struct tg_run *run)
{
    return run->is_view ? TG_VIEW_STEPS : MOST_STEPS;
}

static bool give_up(struct tg_waiters *w, const char *problem)
{
    w->problem = problem;
    return false;
}

static bool no_memory(struct tg_waiters *w)
{
    return give_up(w, "the host had no memory left to look at the tasks");
}

static const char too_large[] = "the graph is too large to look at every task";

/* ── a graph that the device builds ────────────────────────────────────────────────────── */

/* Copies of what the orchestrator wrote. */
struct copies {
    struct tg_task_desc *desc;
    struct tg_slot_note *note;
    struct tg_task_place *place;
    struct tg_dep *dep;
    uint32_t n_slots, n_deps;
    struct tg_ring_cursors cursors[TG_RINGS];
    uint32_t *waiter_of; /* by slot; TG_WAITER_NONE: none */
    bool *followed;      /* by entry */
};

static void copies_free(struct copies *c)
{
    free(c->desc);
    free(c->note);
    free(c->place);
    free(c->dep);
    free(c->waiter_of);
    free(c->followed);
}

static bool copy(const struct tg_run *run, void *to, uint64_t from, uint64_t size)
{
    return tg_device_copy_out(run->device, to, from, size, NULL) == TG_OK;
}

static bool make_copies(const struct tg_run *run, struct copies *c, struct tg_waiters *w)
{
    const struct tg_graph_layout *layout = run->graph->layout;
    const struct tg_orchestration *o = &layout->orchestration;
    c->n_slots = layout->launch.n_tasks;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        c->n_deps += o->ring[r].n_deps;
    if ((uint64_t)c->n_slots * 2 + c->n_deps > most_steps(run))
        return give_up(w, "the rings are too large to look at every task");
    c->desc = calloc(c->n_slots, sizeof *c->desc);
    c->note = calloc(c->n_slots, sizeof *c->note);
    c->place = calloc(c->n_slots, sizeof *c->place);
    c->waiter_of = malloc(c->n_slots * sizeof *c->waiter_of);
    c->dep = calloc(c->n_deps, sizeof *c->dep);
    c->followed = calloc(c->n_deps, sizeof *c->followed);
    if (!c->desc || !c->note || !c->place || !c->waiter_of || !c->dep || !c->followed)
        return no_memory(w);
    memset(c->waiter_of, 0xff, c->n_slots * sizeof *c->waiter_of);
    if (!copy(run, c->cursors,
              run->graph->orchestration + offsetof(struct tg_orchestration, cursors),
              sizeof c->cursors) ||
        !copy(run, c->desc, layout->launch.desc, c->n_slots * sizeof *c->desc) ||
        !copy(run, c->note, o->notes, c->n_slots * sizeof *c->note) ||
        !copy(run, c->place, o->places, c->n_slots * sizeof *c->place) ||
        !copy(run, c->dep, o->deps, c->n_deps * sizeof *c->dep))
        return give_up(w, "the memory of the device was lost with it");
    return true;
}

/* Adds the tasks of a ring that have not completed. */
static void add_ring(const struct tg_run *run, struct copies *c, uint32_t r, struct tg_waiters *w)
{
    const struct tg_ring_layout *ring = &run->graph->layout->orchestration.ring[r];
    const struct tg_ring_cursors *at = &c->cursors[r];
    uint64_t n = at->head - at->done;
    if (ring->n_slots == 0 || n > ring->n_slots)
        return; /* the cursors make no sense */
    for (uint64_t i = at->done; i != at->head; i++) {
        uint32_t slot = c->place[ring->first_slot + i % ring->n_slots].slot;
        struct tg_task_desc desc;
        if (slot - ring->first_slot >= ring->n_slots || c->waiter_of[slot] != TG_WAITER_NONE)
            continue;
        desc = c->desc[slot];
        if (desc.id != ((uint64_t)r << 32 | (uint32_t)i) || desc.succ == TG_DEP_CLOSED ||
            !tg_run_desc_makes_sense(run, &desc))
            continue;
        c->waiter_of[slot] = w->n;
        w->at[w->n++] = (struct tg_waiter){.id = desc.id, .index = slot, .desc = desc};
    }
}

/* Every entry belongs to one list, so one that is found twice is part of a loop. */
static void add_edges(struct copies *c, uint32_t waiter, struct tg_waiters *w)
{
    uint32_t at = w->at[waiter].desc.succ;
    while (at < c->n_deps && !c->followed[at]) {
        uint32_t slot = c->dep[at].task;
        uint32_t after = slot < c->n_slots ? c->waiter_of[slot] : TG_WAITER_NONE;
        c->followed[at] = true;
        if (after != TG_WAITER_NONE && after != waiter) {
            w->edge[w->n_edges][0] = waiter;
            w->edge[w->n_edges++][1] = after;
            w->at[after].unmet++;
        }
        at = c->dep[at].next;
    }
}

static void set_states(const struct copies *c, struct tg_waiters *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        struct tg_waiter *t = &w->at[i];
        if (t->state == TG_WAITER_RUNS)
            continue;
        t->state = c->note[t->index].held ? TG_WAITER_HELD
                   : t->unmet > 0         ? TG_WAITER_WAITS
                                          : TG_WAITER_READY;
    }
}

static void mark_running(const struct tg_run *run, const uint32_t *waiter_of, uint64_t n,
                         struct tg_waiters *w)
{
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        uint64_t running = run->status[i].running;
        if (running == 0 || running > n || waiter_of[running - 1] == TG_WAITER_NONE)
            continue;
        w->at[waiter_of[running - 1]].state = TG_WAITER_RUNS;
    }
}

static void gather_device_built(const struct tg_run *run, struct tg_waiters *w)
{
    struct copies c = {0};
    bool good = make_copies(run, &c, w);
    if (good) {
        w->at = calloc((size_t)c.n_slots + 1, sizeof *w->at);
        w->edge = calloc((size_t)c.n_deps + 1, sizeof *w->edge);
        good = (w->at && w->edge) || no_memory(w);
    }
    if (good) {
        for (uint32_t r = 0; r < TG_RINGS; r++)
            add_ring(run, &c, r, w);
        for (uint32_t i = 0; i < w->n; i++)
            add_edges(&c, i, w);
        mark_running(run, c.waiter_of, c.n_slots, w);
        set_states(&c, w);
        w->complete = true;
    }
    copies_free(&c);
}

/* ── a graph that the host built ───────────────────────────────────────────────────────── */

/* The successors of every task: those of task t are to[first[t]] to to[first[t + 1] - 1]. */
struct successors {
    uint64_t *first;
    uint32_t *to;
};

static bool list_successors(const struct tg_edge *edge, uint64_t n_edges, uint64_t n_tasks,
                            struct successors *s)
{
    s->first = calloc(n_tasks + 2, sizeof *s->first);
    s->to = malloc((n_edges + 1) * sizeof *s->to);
    if (!s->first || !s->to)
        return false;
    for (uint64_t i = 0; i < n_edges; i++)
        s->first[edge[i].before + 2]++;
    for (uint64_t t = 0; t < n_tasks; t++)
        s->first[t + 2] += s->first[t + 1];
    for (uint64_t i = 0; i < n_edges; i++)
        s->to[s->first[edge[i].before + 1]++] = edge[i].after;
    return true;
}

static uint32_t add_task(const struct tg_run *run, uint32_t task, uint32_t *waiter_of,
                         struct tg_waiters *w)
{
    if (waiter_of[task] == TG_WAITER_NONE) {
        waiter_of[task] = w->n;
        w->at[w->n++] =
            (struct tg_waiter){.id = task, .index = task, .desc = tg_graph_desc(run->graph, task)};
    }
    return waiter_of[task];
}

/* Which tasks have finished is not known of every task. But what waits for a task that runs has not. */
static bool add_reached(const struct tg_run *run, uint64_t n_tasks, const struct successors *s,
                        uint32_t *waiter_of, struct tg_waiters *w)
{
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++)
        if (run->status[i].running != 0 && run->status[i].running <= n_tasks)
            add_task(run, (uint32_t)(run->status[i].running - 1), waiter_of, w);
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t task = w->at[i].index;
        for (uint64_t at = s->first[task]; at < s->first[task + 1]; at++) {
            uint32_t after = add_task(run, s->to[at], waiter_of, w);
            w->edge[w->n_edges][0] = i;
            w->edge[w->n_edges++][1] = after;
            w->at[after].unmet++;
        }
    }
    return true;
}

static void gather_host_built(const struct tg_run *run, struct tg_waiters *w)
{
    uint64_t n_tasks = tg_graph_tasks(run->graph), n_edges;
    const struct tg_edge *edge = tg_graph_edge_list(run->graph, &n_edges);
    struct successors s = {0};
    uint32_t *waiter_of = NULL;
    if (n_tasks + n_edges > most_steps(run)) {
        give_up(w, too_large);
        return;
    }
    waiter_of = malloc((n_tasks + 1) * sizeof *waiter_of);
    w->at = calloc(n_tasks + 1, sizeof *w->at);
    w->edge = calloc(n_edges + 1, sizeof *w->edge);
    if (waiter_of && w->at && w->edge && list_successors(edge, n_edges, n_tasks, &s)) {
        memset(waiter_of, 0xff, n_tasks * sizeof *waiter_of);
        add_reached(run, n_tasks, &s, waiter_of, w);
        mark_running(run, waiter_of, n_tasks, w);
    } else {
        no_memory(w);
    }
    free(waiter_of);
    free(s.first);
    free(s.to);
}

/* ── the longest way to a root ─────────────────────────────────────────────────────────── */

struct ways {
    struct successors of;
    uint32_t *left;  /* of the tasks on the way: predecessors not walked yet */
    uint32_t *queue; /* every task enters it once at most */
    uint32_t n_queue;
};

static void mark_reached(struct tg_waiters *w, struct ways *ways, enum tg_waiter_state from)
{
    ways->n_queue = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if ((w->at[i].reached = w->at[i].state == from))
            ways->queue[ways->n_queue++] = i;
    for (uint32_t q = 0; q < ways->n_queue; q++) {
        uint32_t i = ways->queue[q];
        for (uint64_t e = ways->of.first[i]; e < ways->of.first[i + 1]; e++) {
            struct tg_waiter *after = &w->at[ways->of.to[e]];
            ways->left[ways->of.to[e]]++;
            if (!after->reached) {
                after->reached = true;
                ways->queue[ways->n_queue++] = ways->of.to[e];
            }
        }
    }
}

/* A root is walked first, and another task when all before it were: the last of them is on its longest way.
 * What is part of a cycle is never walked. */
static void walk(struct tg_waiters *w, struct ways *ways, enum tg_waiter_state from)
{
    ways->n_queue = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->at[i].reached && (w->at[i].state == from || ways->left[i] == 0))
            ways->queue[ways->n_queue++] = i;
    for (uint32_t q = 0; q < ways->n_queue; q++) {
        uint32_t i = ways->queue[q];
        for (uint64_t e = ways->of.first[i]; e < ways->of.first[i + 1]; e++) {
            uint32_t to = ways->of.to[e];
            struct tg_waiter *after = &w->at[to];
            if (after->state == from || ways->left[to] == 0 || --ways->left[to] > 0)
                continue;
            after->via = i;
            after->depth = w->at[i].depth + 1;
            ways->queue[ways->n_queue++] = to;
        }
    }
}

static void find_ways(struct tg_waiters *w)
{
    struct ways ways = {0};
    enum tg_waiter_state from = TG_WAITER_HELD;
    for (uint32_t i = 0; i < w->n; i++) {
        w->at[i].via = TG_WAITER_NONE;
        w->ready += w->at[i].state == TG_WAITER_READY;
        w->held += w->at[i].state == TG_WAITER_HELD;
        w->waits += w->at[i].state == TG_WAITER_WAITS;
        if (w->at[i].state == TG_WAITER_RUNS)
            from = TG_WAITER_RUNS;
        else if (w->at[i].state == TG_WAITER_READY && from != TG_WAITER_RUNS)
            from = TG_WAITER_READY;
    }
    struct tg_edge *edge = malloc((w->n_edges + 1) * sizeof *edge);
    ways.left = calloc((size_t)w->n + 1, sizeof *ways.left);
    ways.queue = calloc((size_t)w->n + 1, sizeof *ways.queue);
    for (uint64_t i = 0; edge && i < w->n_edges; i++)
        edge[i] = (struct tg_edge){w->edge[i][0], w->edge[i][1]};
    if (edge && ways.left && ways.queue && list_successors(edge, w->n_edges, w->n, &ways.of)) {
        mark_reached(w, &ways, from);
        walk(w, &ways, from);
    } else {
        no_memory(w);
    }
    free(edge);
    free(ways.left);
    free(ways.queue);
    free(ways.of.first);
    free(ways.of.to);
}

/* ── schedules ─────────────────────────────────────────────────────────────────────────── */

/* The task for which a pair holds this one back. Only the states are the device's. */
static uint64_t find_pair(const struct tg_schedule_area *area, const struct tg_order_pair *now,
                          uint64_t id)
{
    uint32_t low = 0, high = area->setup.n_pairs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (area->pairs[middle].after < id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < area->setup.n_pairs && area->pairs[low].after == id; low++)
        if (now[low].state == TG_PAIR_OPEN)
            return area->pairs[low].before;
    return TG_TASK_NONE;
}

/* Which of the ready tasks pairs hold back. */
static void note_pairs(const struct tg_run *run, struct tg_waiters *w)
{
    const struct tg_schedule_area *area = run->of ? &run->of->schedule : &run->schedule;
    uint32_t n = area->address != 0 ? area->setup.n_pairs : 0;
    struct tg_order_pair *now = n > 0 ? malloc(n * sizeof *now) : NULL;
    bool known = now && copy(run, now, area->setup.pairs, n * sizeof *now);
    for (uint32_t i = 0; i < w->n; i++) {
        w->at[i].pair = known && w->at[i].state == TG_WAITER_READY
                            ? find_pair(area, now, w->at[i].id)
                            : TG_TASK_NONE;
        w->paired += w->at[i].pair != TG_TASK_NONE;
    }
    free(now);
}

/* ── cores ─────────────────────────────────────────────────────────────────────────────── */

bool tg_core_could_take(const struct tg_run *run, uint32_t core, uint32_t task_class)
{
    bool is_full = core / TG_PARTS * TG_PARTS + TG_PARTS <= run->device->head.n_cores;
    if (task_class > TG_CLASS_AIV || !is_full)
        return true;
    return (core % TG_PARTS == TG_PART_AIC) == (task_class == TG_CLASS_AIC);
}

static bool is_idle(const struct tg_run *run, uint32_t core)
{
    return run->status[core].running == 0;
}

bool tg_cores_have_idle(const struct tg_run *run, uint32_t task_class)
{
    uint32_t n = run->device->head.n_cores;
    for (uint32_t i = 0; i < n; i++) {
        bool idle = tg_core_could_take(run, i, task_class) && is_idle(run, i);
        if (idle && task_class == TG_CLASS_MIX)
            for (uint32_t k = i / TG_PARTS * TG_PARTS; k < n && k / TG_PARTS == i / TG_PARTS; k++)
                idle &= is_idle(run, k);
        if (idle)
            return true;
    }
    return false;
}

/* ── for the others ────────────────────────────────────────────────────────────────────── */

void tg_waiters_gather(const struct tg_run *run, struct tg_waiters *w)
{
    memset(w, 0, sizeof *w);
    if (run->graph->layout != NULL)
        gather_device_built(run, w);
    else
        gather_host_built(run, w);
    if (w->problem != NULL)
        w->n = 0;
    else
        find_ways(w);
    note_pairs(run, w);
}

void tg_waiters_free(struct tg_waiters *w)
{
    free(w->at);
    free(w->edge);
    memset(w, 0, sizeof *w);
}

uint32_t tg_waiters_find(const struct tg_waiters *w, uint64_t id)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->at[i].id == id)
            return i;
    return TG_WAITER_NONE;
}
