/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <utility>
#include <vector>

#include "graphs.h"
#include "device/target.h"

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

static const struct taste *taste;

struct taste random_taste(bool mixes)
{
    return {emu_random(5), emu_random(4), mixes};
}

static uint32_t random_class(void)
{
    if (taste->mixes && emu_random(12) == 0)
        return TG_CLASS_MIX;
    switch (taste->classes) {
    case 0:
        return TG_CLASS_AIV;
    case 1:
        return TG_CLASS_AIC;
    case 2:
        return TG_CLASS_EITHER;
    case 3:
        return emu_random(8) ? TG_CLASS_AIV : TG_CLASS_AIC;
    default:
        return emu_random(3);
    }
}

static uint32_t random_work(void)
{
    switch (taste->work) {
    case 0:
        return 0;
    case 1:
        return emu_random(4);
    case 2:
        return emu_random(10) ? emu_random(3) : 200;
    default:
        return emu_random(8) ? emu_random(5) : emu_random(60);
    }
}

static uint32_t parts_of(uint32_t task_class)
{
    static const uint32_t mixed[] = {3, 5, 6, 7};
    if (task_class == TG_CLASS_MIX)
        return mixed[emu_random(4)];
    return task_class == TG_CLASS_AIC ? 1 : 2;
}

static void add_tasks(struct graph *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        node task{};
        task.task_class = random_class();
        task.work = random_work();
        task.kernel = emu_random(emu_random(3) ? 3 : (uint32_t)KERNELS);
        task.meets = emu_random(6) == 0;
        task.parts = parts_of(task.task_class);
        task.n_tensors = emu_random(emu_random(3) ? 3 : 5);
        g->nodes.push_back(task);
    }
}

static void add_edge(struct graph *g, uint32_t before, uint32_t after)
{
    g->nodes[before].successors.push_back(after);
    g->nodes[after].predecessors.push_back(before);
}

/* ── shapes ────────────────────────────────────────────────────────────────────────────── */

static void chains(struct graph *g)
{
    uint32_t n = 1 + emu_random(4), length = 1 + emu_random(80);
    add_tasks(g, n * length);
    for (uint32_t i = 0; i < n * length; i++)
        if (i % length > 0)
            add_edge(g, i - 1, i);
}

static void backward_chains(struct graph *g)
{
    uint32_t n = 1 + emu_random(4), length = 1 + emu_random(80);
    add_tasks(g, n * length);
    for (uint32_t i = 0; i < n * length; i++)
        if (i % length > 0)
            add_edge(g, i, i - 1);
}

static void interleaved_chains(struct graph *g)
{
    uint32_t n = 1 + emu_random(6), length = 1 + emu_random(60);
    add_tasks(g, n * length);
    for (uint32_t i = n; i < n * length; i++)
        add_edge(g, i - n, i);
}

static void independent(struct graph *g)
{
    add_tasks(g, 1 + emu_random(150));
}

static void fans(struct graph *g)
{
    uint32_t width = 2 + emu_random(40), last = 0;
    add_tasks(g, 1);
    for (uint32_t round = 1 + emu_random(4); round > 0; round--) {
        uint32_t first = (uint32_t)g->nodes.size();
        add_tasks(g, width + 2);
        for (uint32_t i = first; i < first + width; i++) {
            add_edge(g, last, i);
            add_edge(g, i, first + width);
        }
        add_edge(g, first + width, first + width + 1);
        last = first + width + 1;
    }
}

static void wide_fan(struct graph *g)
{
    uint32_t width = 33 + emu_random(60);
    add_tasks(g, width + 2);
    for (uint32_t i = 1; i <= width; i++) {
        add_edge(g, 0, i);
        if (emu_random(2))
            add_edge(g, i, width + 1);
    }
}

static void stencil(struct graph *g)
{
    uint32_t width = 1 + emu_random(12), rows = 2 + emu_random(12);
    add_tasks(g, width * rows);
    for (uint32_t row = 1; row < rows; row++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t from = x > 0 ? x - 1 : 0; from <= x + 1 && from < width; from++)
                add_edge(g, (row - 1) * width + from, row * width + x);
}

static void butterfly(struct graph *g)
{
    uint32_t stages = 1 + emu_random(4), width = 1u << stages;
    add_tasks(g, width * (stages + 1));
    for (uint32_t s = 0; s < stages; s++)
        for (uint32_t x = 0; x < width; x++) {
            add_edge(g, s * width + x, (s + 1) * width + x);
            add_edge(g, s * width + x, (s + 1) * width + (x ^ 1u << s));
        }
}

static void tree_out(struct graph *g)
{
    uint32_t n = 2 + emu_random(120), arity = 1 + emu_random(4);
    add_tasks(g, n);
    for (uint32_t i = 1; i < n; i++)
        add_edge(g, (i - 1) / arity, i);
}

static void tree_in(struct graph *g)
{
    uint32_t n = 2 + emu_random(120), arity = 1 + emu_random(4);
    add_tasks(g, n);
    for (uint32_t i = 1; i < n; i++)
        add_edge(g, n - 1 - i, n - 1 - (i - 1) / arity);
}

/* Some edges are there twice. */
static void random_edges(struct graph *g)
{
    uint32_t n = 2 + emu_random(100);
    add_tasks(g, n);
    for (uint32_t left = emu_random(3 * n); left > 0; left--) {
        uint32_t after = 1 + emu_random(n - 1), before = emu_random(after);
        add_edge(g, before, after);
        if (emu_random(8) == 0)
            add_edge(g, before, after);
    }
}

static void near_edges(struct graph *g)
{
    uint32_t n = 2 + emu_random(150);
    add_tasks(g, n);
    for (uint32_t after = 1; after < n; after++)
        for (uint32_t left = emu_random(3); left > 0; left--) {
            uint32_t distance = 1 + emu_random(6);
            if (distance <= after)
                add_edge(g, after - distance, after);
        }
}

static void shuffled_edges(struct graph *g)
{
    uint32_t n = 2 + emu_random(80);
    std::vector<uint32_t> order(n);
    add_tasks(g, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n - 1; i > 0; i--)
        std::swap(order[i], order[emu_random(i + 1)]);
    for (uint32_t left = emu_random(2 * n); left > 0; left--) {
        uint32_t after = 1 + emu_random(n - 1);
        add_edge(g, order[emu_random(after)], order[after]);
    }
}

static void chains_that_meet(struct graph *g)
{
    uint32_t n = 2 + emu_random(4), length = 2 + emu_random(12), last = 0;
    add_tasks(g, 1);
    for (uint32_t round = 1 + emu_random(4); round > 0; round--) {
        uint32_t first = (uint32_t)g->nodes.size(), end = first + n * length;
        add_tasks(g, n * length + 1);
        for (uint32_t i = first; i < end; i++) {
            uint32_t place = (i - first) % length;
            add_edge(g, place > 0 ? i - 1 : last, i);
            if (place == length - 1)
                add_edge(g, i, end);
        }
        last = end;
    }
}

static void chain_with_branches(struct graph *g)
{
    uint32_t n = 2 + emu_random(120), last = 0;
    add_tasks(g, n);
    for (uint32_t i = 1; i < n; i++) {
        add_edge(g, last, i);
        if (emu_random(6))
            last = i;
        if (emu_random(10) == 0 && i > 4)
            add_edge(g, i - 1 - emu_random(4), i);
    }
}

static const struct {
    const char *name;
    void (*make)(struct graph *);
    bool in_order;
} shapes[] = {
    {"chains", chains, true},
    {"backward chains", backward_chains, false},
    {"interleaved chains", interleaved_chains, true},
    {"independent tasks", independent, true},
    {"fans", fans, true},
    {"wide fan", wide_fan, true},
    {"stencil", stencil, true},
    {"butterfly", butterfly, true},
    {"tree out", tree_out, true},
    {"tree in", tree_in, true},
    {"random edges", random_edges, true},
    {"near edges", near_edges, true},
    {"shuffled edges", shuffled_edges, false},
    {"chains that meet", chains_that_meet, true},
    {"chain with branches", chain_with_branches, true},
};

void make_graph(struct graph *g, const struct taste *t, bool in_order)
{
    uint32_t i;
    do
        i = emu_random(sizeof shapes / sizeof shapes[0]);
    while (in_order && !shapes[i].in_order);
    taste = t;
    g->shape = shapes[i].name;
    shapes[i].make(g);
}

/* ── arguments ─────────────────────────────────────────────────────────────────────────── */

struct tg_tensor tensor_of(uint32_t id, uint32_t i)
{
    int64_t shape[8] = {id + 1, 3, 2, 1, 1, 1, 1, 1};
    return tg_tensor_make(id * 1000ull + i, TG_FLOAT32, 1 + (id + i) % 4, shape);
}

static uint64_t *put_scalar(uint64_t *to, uint64_t bits)
{
    struct tg_scalar scalar;
    memset(&scalar, 0, sizeof scalar);
    scalar.bits = bits;
    memcpy(to, &scalar, sizeof scalar);
    return to + sizeof scalar / sizeof *to;
}

uint64_t *put_args(uint64_t *to, uint32_t id, uint32_t n_tensors)
{
    to = put_scalar(to, id);
    to = put_scalar(to, (uint64_t)id * ID_FACTOR);
    for (uint32_t i = 0; i < n_tensors; i++) {
        struct tg_tensor tensor = tensor_of(id, i);
        to = tg_stored_put(to, &tensor);
    }
    return to;
}

void fill_desc(struct tg_task_desc *desc, const struct node *n, uint32_t id, uint64_t args)
{
    memset(desc, 0, sizeof *desc);
    desc->id = id;
    for (uint32_t p = 0; p < PARTS; p++)
        desc->kernel[p] = n->parts >> p & 1 ? n->kernel : TG_NO_KERNEL;
    desc->task_class = n->task_class;
    desc->n_parts = (uint32_t)__builtin_popcount(n->parts);
    desc->n_scalars = 2;
    desc->n_tensors = n->n_tensors;
    desc->args = args;
}

/* ── images ────────────────────────────────────────────────────────────────────────────── */

struct heirs {
    std::vector<bool> is_heir, is_awaited;
};

/* As choose_beyond in src/host/graph_upload.c. */
static void choose_beyond(struct graph *g, struct heirs *h, uint32_t t)
{
    enum { LOOKS = 64 };
    const node &task = g->nodes[t];
    for (uint32_t i = 0, looks = 0; i < task.successors.size() && looks < LOOKS; i++, looks++) {
        const std::vector<uint32_t> *next = &task.successors;
        uint32_t first = i, n = 1;
        while (n == 1 && (*next)[first] > t && looks++ < LOOKS) {
            next = &g->nodes[(*next)[first]].successors;
            first = 0;
            n = (uint32_t)next->size();
        }
        for (uint32_t k = 1; k < n && looks < LOOKS; k++, looks++) {
            uint32_t heir = (*next)[first + k];
            if (heir <= t || h->is_heir[heir] || g->nodes[heir].task_class != task.task_class ||
                task.task_class == TG_CLASS_MIX)
                continue;
            h->is_heir[heir] = h->is_awaited[heir] = true;
            g->desc[t].next = heir;
            g->desc[t].n_parts |= TG_DESC_BEYOND;
            return;
        }
    }
}

/* As choose_heir there. */
static void choose_heir(struct graph *g, struct heirs *h, uint32_t t)
{
    const std::vector<uint32_t> &own = g->nodes[t].successors;
    struct tg_task_desc *desc = &g->desc[t];
    desc->next = own.empty() ? 0 : own[0];
    if (desc->fanin == 1 && h->is_awaited[t])
        desc->n_parts |= TG_DESC_AWAITED;
    for (uint32_t next : own)
        if (!h->is_heir[next]) {
            h->is_heir[next] = true;
            desc->next = next;
            return;
        }
    choose_beyond(g, h, t);
}

static void make_queues(struct graph *g)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint32_t n = 0, size;
        g->ready[c].clear();
        for (uint32_t t = 0; t < g->nodes.size(); t++) {
            if (g->nodes[t].task_class != c)
                continue;
            n++;
            if (g->desc[t].fanin == 0)
                g->ready[c].push_back(t + 1);
        }
        size = n > 0 ? 32 : 0;
        while (size > 0 && size < n)
            size *= 2;
        g->launch.n_ready[c] = (uint32_t)g->ready[c].size();
        g->ready[c].push_back(0); /* so that there is an address */
        g->queue[c].assign(size + 1, 0);
        g->launch.ready[c] = (uint64_t)g->ready[c].data();
        g->launch.queue[c] = (uint64_t)g->queue[c].data();
        g->launch.queue_size[c] = size;
    }
}

void seal_graph(struct graph *g)
{
    uint32_t n = (uint32_t)g->nodes.size();
    struct heirs heirs = {std::vector<bool>(n), std::vector<bool>(n)};
    g->desc.assign(n, tg_task_desc());
    g->payload.assign(n * ARGS_WORDS, 0);
    for (uint32_t t = 0; t < n; t++) {
        const node &task = g->nodes[t];
        struct tg_task_desc *desc = &g->desc[t];
        put_args(&g->payload[t * ARGS_WORDS], t, task.n_tensors);
        fill_desc(desc, &task, t, (uint64_t)t * ARGS_BYTES);
        desc->succ = (uint32_t)g->succ.size();
        desc->n_succ = (uint32_t)task.successors.size();
        desc->fanin = desc->pending = (uint32_t)task.predecessors.size();
        g->succ.insert(g->succ.end(), task.successors.begin(), task.successors.end());
    }
    g->succ.push_back(0xEEEEEEEE);
    for (uint32_t t = 0; t < n; t++)
        choose_heir(g, &heirs, t);
    memset(&g->launch, 0, sizeof g->launch);
    g->launch.magic = TG_LAUNCH_MAGIC;
    g->launch.n_tasks = n;
    g->launch.desc = (uint64_t)g->desc.data();
    g->launch.succ = (uint64_t)g->succ.data();
    g->launch.payload = (uint64_t)g->payload.data();
    make_queues(g);
}
