/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An orchestrator beside the device, on a fiber: it submits a graph task by task through the feeding ring,
 * and uses a slot again as soon as its task has ended.
 */
#include <algorithm>
#include <set>
#include <vector>

#include "scenes.h"
#include "device/feed.h"
#include "device/target.h"
#include "orchestrate/feed.h"

enum { ORCHESTRATOR_BLOCK = EMU_BLOCKS - 1, DRAIN_BLOCK = EMU_BLOCKS - 2 };

/* What host and device share, and the orchestrator's own books. */
static struct {
    uint32_t n_slots, n_deps, lanes;
    uint32_t holds_one_in, rests_one_in; /* tasks; 0: none */
    std::vector<struct tg_task_desc> desc, own_desc;
    std::vector<uint64_t> payload, own_payload, named;
    std::vector<struct tg_dep> deps;
    std::vector<struct tg_feed_edge> edges;
    std::vector<uint32_t> done_words;
    struct tg_orchestration orchestration;
} fed;
static struct tg_feed_ring *ring;
static struct tg_engine *book;
static struct tg_feed feed;
static uint32_t stop_word;

static bool runs(void)
{
    if (device.engine->phase != TG_RUNNING)
        book->phase = TG_STOPPED;
    return book->phase == TG_RUNNING;
}

struct orchestrator {
    std::vector<uint32_t> slot, number; /* by task: where it is, and what its done word becomes */
    std::vector<uint64_t> deps_after;   /* by task: dependencies made up to it */
    std::vector<uint32_t> free_slots, held;
    uint32_t n_fresh;     /* slots that were used */
    uint32_t head, ended; /* tasks submitted, and those that ended in order */
    uint64_t deps, deps_ended;
    uint32_t looks;
    const char *waits_for;
};
static struct orchestrator now;

static bool has_ended(uint32_t task)
{
    return *(volatile uint32_t *)&fed.done_words[now.slot[task]] != now.number[task] - 1;
}

/* Frees the slots of tasks that have ended. */
static void advance(void)
{
    for (; now.ended < now.head && has_ended(now.ended); now.ended++) {
        uint32_t slot = now.slot[now.ended], word = fed.done_words[slot];
        if (word != now.number[now.ended])
            emu_fail("the done word of task %u, slot %u, is %u and not %u", now.ended, slot, word,
                     now.number[now.ended]);
        now.deps_ended = now.deps_after[now.ended];
        now.free_slots.push_back(slot);
    }
}

static void let_go(void)
{
    for (uint32_t slot : now.held)
        tg_feed_let_go(book, slot);
    tg_feed_have_let_go(book);
    now.held.clear();
}

/* As the orchestrator's search for a deadlock: where the device is still, nothing may be left to wait for. */
static void look_if_still(const char *why)
{
    uint32_t before = now.ended;
    if (!tg_feed_is_still(book) || !runs())
        return;
    advance();
    if (now.ended == before && now.ended < now.head)
        emu_fail("the device is still, but the orchestrator waits for %s, task %u", why, now.ended);
}

static void wait_for(const char *why)
{
    now.waits_for = why;
    let_go();
    emu_sleep(50);
    advance();
    if (++now.looks % 40 == 0 && emu_random(4) == 0 && runs())
        look_if_still(why);
}

static void take_slot(uint32_t task)
{
    uint32_t slot = now.n_fresh;
    if (now.free_slots.empty()) {
        now.n_fresh++;
    } else {
        slot = now.free_slots.back();
        now.free_slots.pop_back();
    }
    now.slot[task] = slot;
    now.number[task] = fed.done_words[slot] + 1;
}

static void add_dep(uint32_t before)
{
    tg_feed_edge(&feed, now.slot[before], (uint32_t)(now.deps++ % fed.n_deps));
}

/* Returns the number of predecessors that it has to wait for. */
static uint32_t link(const struct node *task)
{
    std::set<uint32_t> seen;
    uint32_t linked = 0;
    for (uint32_t before : task->predecessors) {
        if (before < now.ended || !seen.insert(before).second)
            continue;
        while (!has_ended(before) && now.deps - now.deps_ended >= fed.n_deps && runs())
            wait_for("room for a dependency");
        if (has_ended(before) || !runs())
            continue;
        add_dep(before);
        linked++;
    }
    return linked;
}

/* tg_depend: one more predecessor of the task that was submitted last, and is held back. */
static void depend_late(struct node *task, uint32_t number)
{
    uint32_t slot = now.slot[number], before = number - 1 - emu_random(2);
    if (before < now.ended || has_ended(before) || now.deps - now.deps_ended >= fed.n_deps ||
        std::find(now.held.begin(), now.held.end(), now.slot[before]) != now.held.end())
        return;
    fed.own_desc[slot].pending++;
    tg_feed_begin(&feed);
    add_dep(before);
    now.deps_after[number] = now.deps;
    tg_feed_late(book, slot);
    task->predecessors.push_back(before);
}

static void submit(struct node *task, uint32_t number)
{
    bool holds = fed.holds_one_in > 0 && emu_random(fed.holds_one_in) == 0;
    take_slot(number);
    uint32_t slot = now.slot[number];
    struct tg_task_desc *desc = &fed.own_desc[slot];
    uint64_t *args = &fed.own_payload[slot * ARGS_WORDS];
    uint32_t words = (uint32_t)(put_args(args, number, task->n_tensors) - args);
    fill_desc(desc, task, number, (uint64_t)slot * ARGS_BYTES);
    desc->succ = TG_DEP_NONE;
    desc->n_succ = now.number[number];
    desc->next = 12345; /* nobody may use it */
    tg_feed_begin(&feed);
    uint32_t linked = link(task);
    if (!runs())
        return;
    desc->pending = linked + holds;
    desc->fanin = holds || linked > 1 ? 2 : linked;
    now.deps_after[number] = now.deps;
    now.head = number + 1;
    tg_feed_task(book, slot, words * sizeof *args, 0);
    if (holds) {
        now.held.push_back(slot);
        if (emu_random(3) == 0 && number > 2)
            depend_late(task, number);
    }
    if (!now.held.empty() && emu_random(4) == 0)
        let_go();
}

static void orchestrate(void)
{
    std::vector<node> &nodes = device.graph->nodes;
    uint32_t n = (uint32_t)nodes.size();
    now = orchestrator();
    now.slot.assign(n, 0);
    now.number.assign(n, 0);
    now.deps_after.assign(n, 0);
    for (uint32_t i = 0; i < n && runs(); i++) {
        if (fed.rests_one_in > 0 && emu_random(fed.rests_one_in) == 0)
            emu_pause(emu_random(3000));
        advance();
        while (now.head - now.ended >= fed.n_slots && runs())
            wait_for("a slot");
        if (runs())
            submit(&nodes[i], i);
    }
    if (runs()) {
        let_go();
        tg_feed_end(book, n);
    }
    while (runs() && now.ended < n)
        wait_for("the end");
    device.inside--;
}

/* ── the draining block ────────────────────────────────────────────────────────────────── */

static struct {
    uint32_t arrived, least, result;
    volatile uint32_t number;
} meeting;

static void reset_meeting(void)
{
    meeting.arrived = meeting.number = 0;
    meeting.least = UINT32_MAX;
}

void drain_meet(void)
{
    uint32_t number = meeting.number;
    emu_yield();
    if (++meeting.arrived < fed.lanes) {
        while (meeting.number == number)
            emu_sleep(8);
        return;
    }
    meeting.arrived = 0;
    meeting.result = meeting.least;
    meeting.least = UINT32_MAX;
    meeting.number = number + 1;
}

uint32_t drain_least(uint32_t value)
{
    if (value < meeting.least)
        meeting.least = value;
    drain_meet();
    uint32_t least = meeting.result;
    drain_meet();
    return least;
}

static void drain(void)
{
    drain_run(device.engine, ring, emu_thread().x, fed.lanes);
    ring->over = 1;
    device.inside--;
}

/* ── the scene's side ──────────────────────────────────────────────────────────────────── */

static void close_slots(void)
{
    for (struct tg_task_desc &desc : fed.desc)
        desc.succ = TG_DEP_CLOSED;
}

void fed_open(bool narrow)
{
    static struct tg_feed_ring the_ring;
    static struct tg_engine the_book;
    ring = &the_ring;
    book = &the_book;
    memset((void *)ring, 0, sizeof *ring);
    memset((void *)book, 0, sizeof *book);
    memset((void *)&feed, 0, sizeof feed);
    fed.n_slots = narrow ? 2 + emu_random(11) : 5 + emu_random(emu_random(3) ? 36 : 300);
    fed.n_deps = emu_random(3) == 0 ? 400 : narrow ? 2 + emu_random(12) : 4 + emu_random(60);
    fed.lanes = 1 + emu_random(4);
    fed.holds_one_in = emu_random(3) ? 0 : 2 + emu_random(8);
    fed.rests_one_in = emu_random(2) ? 0 : 1 + emu_random(narrow ? 40 : 20);
    fed.desc.assign(fed.n_slots, tg_task_desc());
    memset((void *)fed.desc.data(), 0xEE, fed.n_slots * sizeof fed.desc[0]);
    close_slots();
    fed.own_desc = fed.desc;
    fed.payload.assign(fed.n_slots * ARGS_WORDS, 0);
    fed.own_payload = fed.payload;
    fed.deps.assign(fed.n_deps, tg_dep{0xEEEEEEEE, 0xEEEEEEEE});
    fed.done_words.assign(fed.n_slots, emu_random(2) ? 0 : 100);
    struct tg_feed_edge no_edge = {};
    fed.edges.assign(fed.n_deps + 100, no_edge); /* the name is a function too */
    memset((void *)&fed.orchestration, 0, sizeof fed.orchestration);
    fed.orchestration.deps = (uint64_t)fed.deps.data();
    fed.orchestration.n_rings = 1;
    fed.orchestration.ring[0].n_deps = fed.n_deps;
}

static void fill_launch(struct graph *g)
{
    struct tg_launch *launch = &g->launch;
    bool has[TG_CLASSES] = {};
    for (const node &task : g->nodes)
        has[task.task_class] = true;
    memset((void *)launch, 0, sizeof *launch);
    launch->magic = TG_LAUNCH_MAGIC;
    launch->edges = TG_EDGES_GROWING;
    launch->n_tasks = fed.n_slots;
    launch->desc = (uint64_t)fed.desc.data();
    launch->payload = (uint64_t)fed.payload.data();
    launch->orchestration = (uint64_t)&fed.orchestration;
    launch->done_words = (uint64_t)fed.done_words.data();
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint32_t size = 64;
        while (size < fed.n_slots)
            size *= 2;
        if (c >= 2 && !has[c])
            size = 0;
        g->queue[c].assign(size + 1, 0);
        g->ready[c].assign(1, 0);
        launch->queue[c] = (uint64_t)g->queue[c].data();
        launch->queue_size[c] = size;
        launch->ready[c] = (uint64_t)g->ready[c].data();
    }
}

static void begin_feed(void)
{
    ring->over = 0;
    ring->head = ring->taken;
    feed.ring = ring;
    feed.stop = &stop_word;
    feed.head = feed.fenced = ring->head;
    feed.asked = ring->answered;
    fed.named.assign(fed.n_slots, 0);
    feed.named = fed.named.data();
    feed.edge = fed.edges.data();
    tg_feed_init(&feed);
    book->desc = fed.own_desc.data();
    book->payload = (char *)fed.own_payload.data();
    book->feed = &feed;
    book->phase = TG_RUNNING;
    book->patience.spin = 10;
}

void fed_start(struct graph *g)
{
    g->fed = true;
    fill_launch(g);
    prepare_run(g);
    begin_feed();
    reset_meeting();
    start_run(1 + fed.lanes);
    emu_run(all_filled);
    emu_spawn(ORCHESTRATOR_BLOCK, 0, orchestrate);
    for (uint32_t i = 0; i < fed.lanes; i++)
        emu_spawn(DRAIN_BLOCK, i, drain);
}

void fed_after_stop(void)
{
    close_slots();
    ring->taken = ring->head;
}

void fed_describe(void)
{
    fprintf(stderr,
            "  orchestrator: waits for %s, submitted %u, ended %u, %u slots, %u lanes drain\n",
            now.waits_for ? now.waits_for : "nothing", now.head, now.ended, fed.n_slots, fed.lanes);
    for (uint32_t s = 0; s < fed.n_slots && s < 40; s++) {
        const struct tg_task_desc *desc = &fed.desc[s];
        fprintf(stderr, "  slot %u: task %lld, succ %x, number %u, done %u, fanin %u, pending %d\n",
                s, (long long)desc->id, desc->succ, desc->n_succ, fed.done_words[s], desc->fanin,
                (int)desc->pending);
    }
}
