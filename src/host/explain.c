/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the chain of waits and its root, and the words for them. */
#include "host/explain.h"
#include "base/error.h"
#include "host/device_comm.h"
#include "host/site_names.h"
#include "host/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>

/* Of a longer chain, this many tasks at its begin and at its end are shown. */
enum { FIRST_TASKS = 3, LAST_TASKS = 5 };
/* What the host has seen for a shorter time may as well be new. */
#define LEAST_SECONDS 0.05
/* A core may be making a record for a shorter time without waiting. */
#define RECORD_SECONDS 0.5

/* What an explanation is made from. */
struct story {
    const struct tg_run *run;
    struct tg_waiters waiters;
    struct tg_site_names *names; /* NULL: the host built the graph, or there was no memory */
    struct tg_explanation *e;
};

/* ── words ─────────────────────────────────────────────────────────────────────────────── */

static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};

__attribute__((format(printf, 3, 0))) static void put_text(char *to, size_t room,
                                                           const char *format, va_list values)
{
    char text[1000];
    vsnprintf(text, sizeof text, format, values);
    tg_text_clean(text, to, room);
}

__attribute__((format(printf, 3, 4))) static void
say_root(struct story *s, enum tg_explain_root kind, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    s->e->root_kind = kind;
    put_text(s->e->root, sizeof s->e->root, format, values);
    va_end(values);
}

__attribute__((format(printf, 2, 3))) static void say_also(struct story *s, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (s->e->n_also < TG_EXPLAIN_ALSO)
        put_text(s->e->also[s->e->n_also++], sizeof s->e->also[0], format, values);
    va_end(values);
}

__attribute__((format(printf, 2, 3))) static void say_unknown(struct story *s, const char *format,
                                                              ...)
{
    va_list values;
    va_start(values, format);
    if (s->e->n_unknown < TG_EXPLAIN_UNKNOWN)
        put_text(s->e->unknown[s->e->n_unknown++], sizeof s->e->unknown[0], format, values);
    va_end(values);
}

__attribute__((format(printf, 4, 5))) static struct tg_explain_link *
add_link(struct story *s, const char *kind, uint64_t task, const char *format, ...)
{
    static struct tg_explain_link nowhere; /* never read */
    struct tg_explain_link *link =
        s->e->n_links < TG_EXPLAIN_LINKS ? &s->e->link[s->e->n_links++] : &nowhere;
    va_list values;
    va_start(values, format);
    *link = (struct tg_explain_link){.task = task, .core = TG_EXPLAIN_NO_CORE};
    snprintf(link->kind, sizeof link->kind, "%s", kind);
    put_text(link->text, sizeof link->text, format, values);
    va_end(values);
    return link;
}

/* "task 1:12 (mul)", of a mix "task 12 (a+b+c)". */
static const char *task_text(const struct story *s, const struct tg_task_desc *desc, char text[160])
{
    char id[32];
    size_t used = (size_t)snprintf(text, 160, "task %s (", tg_task_text(desc->id, id));
    const char *plus = "";
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        if (desc->kernel[part] == TG_NO_KERNEL || used >= 120)
            continue;
        used += (size_t)snprintf(text + used, 158 - used, "%s%.40s", plus,
                                 tg_graph_kernel_name(s->run->graph, desc->kernel[part]));
        plus = "+";
    }
    snprintf(text + used, 160 - used, ")");
    return text;
}

/* " for at least 9.8 s", or "". */
static const char *since_text(double seconds, char text[40])
{
    text[0] = '\0';
    if (seconds >= LEAST_SECONDS)
        snprintf(text, 40, " for at least %.1f s", seconds);
    return text;
}

static const char *site_text(const struct story *s, uint32_t site, char name[TG_SITE_NAME])
{
    if (s->names == NULL)
        snprintf(name, TG_SITE_NAME, "a line that is not known");
    else
        tg_site_name(s->names, site, name);
    tg_run_clean_text(name, TG_SITE_NAME);
    return name;
}

/* ── cores ─────────────────────────────────────────────────────────────────────────────── */

/* Of a run that goes on: the place in the code, for whoever looks up the line. */
static void take_place(struct story *s, struct tg_explain_core *core)
{
    struct tg_place_record place;
    const char *path;
    if (!s->run->is_view || !tg_run_seen_place(s->run, core->core, &place) || place.at == 0)
        return;
    path = tg_run_module_path(s->run, place.module);
    if (path == NULL || strlen(path) >= sizeof core->module)
        return;
    snprintf(core->module, sizeof core->module, "%s", path);
    core->code = (struct tg_code_place){.at = place.at, .from = place.from};
}

static void add_core(struct story *s, const struct tg_run_task *task)
{
    struct tg_explanation *e = s->e;
    if (e->n_cores >= TG_EXPLAIN_CORES - 1) { /* the orchestration has the last place */
        e->more_cores++;
        return;
    }
    struct tg_explain_core *core = &e->core[e->n_cores++];
    *core =
        (struct tg_explain_core){.core = task->core, .task = task->task, .crashed = task->faulted};
    core->seconds = tg_run_seen_seconds(s->run, task->core);
    core->at = task->site;
    snprintf(core->kind, sizeof core->kind, "%s", parts[task->core % TG_PARTS]);
    tg_text_clean(task->kernel, core->kernel, sizeof core->kernel);
    take_place(s, core);
}

static void add_cores(struct story *s)
{
    const struct tg_run *run = s->run;
    uint32_t busy = 0;
    for (uint32_t i = 0; i < run->result.n_running; i++) {
        add_core(s, &run->running[i]);
        busy += run->running[i].core < run->device->head.n_cores;
    }
    s->e->idle_cores = run->device->head.n_cores - busy;
}

static bool orchestrates(const struct tg_run *run)
{
    return run->graph->layout != NULL && run->report.state == TG_ORCHESTRATOR_RUNS;
}

static void add_orchestrator(struct story *s)
{
    struct tg_explanation *e = s->e;
    if (!orchestrates(s->run) || e->n_cores >= TG_EXPLAIN_CORES)
        return;
    struct tg_explain_core *core = &e->core[e->n_cores++];
    *core = (struct tg_explain_core){.core = tg_device_workers(s->run->device) - 1,
                                     .task = TG_TASK_NONE,
                                     .at = s->run->orchestrator_site};
    core->seconds = tg_run_seen_seconds(s->run, core->core);
    snprintf(core->kind, sizeof core->kind, "orchestration");
    take_place(s, core);
}

/* ── a task that runs ──────────────────────────────────────────────────────────────────── */

/* The lanes of a task that runs, one bit for each part; *block is theirs. */
static uint32_t lanes_of(const struct tg_run *run, const struct tg_waiter *t, uint32_t *block)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        if (run->status[i].running != (uint64_t)t->index + 1)
            continue;
        found |= 1u << i % TG_PARTS;
        *block = i / TG_PARTS;
    }
    return found;
}

static uint32_t first_core(const struct tg_run *run, const struct tg_waiter *t)
{
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++)
        if (run->status[i].running == (uint64_t)t->index + 1)
            return i;
    return TG_EXPLAIN_NO_CORE;
}

/* A mix that lacks a part: the lane of that part runs another task, which is returned, or its part has ended
 * (its bit is in *ended). */
static uint32_t find_partner(const struct story *s, const struct tg_waiter *t, uint32_t *ended)
{
    const struct tg_run *run = s->run;
    uint32_t block = 0, here = lanes_of(run, t, &block);
    *ended = 0;
    for (uint32_t part = 0; (t->desc.n_parts & TG_DESC_PARTS) > 1 && here != 0 && part < TG_PARTS;
         part++) {
        uint32_t lane = TG_PARTS * block + part;
        const struct tg_worker_status *status = &run->status[lane];
        if (t->desc.kernel[part] == TG_NO_KERNEL || (here >> part & 1))
            continue;
        if (status->running == 0 && status->task_id == t->id)
            *ended |= 1u << part;
        for (uint32_t i = 0; status->running != 0 && i < s->waiters.n; i++)
            if (s->waiters.at[i].index + (uint64_t)1 == status->running &&
                s->waiters.at[i].state == TG_WAITER_RUNS)
                return i;
    }
    return TG_WAITER_NONE;
}

/* "AIC", "AIV0 and AIV1" */
static const char *parts_text(uint32_t bits, char text[32])
{
    text[0] = '\0';
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (bits >> part & 1)
            snprintf(text + strlen(text), 32 - strlen(text), "%s%s", *text ? " and " : "",
                     parts[part]);
    return text;
}

/* True if the core is making a record, and the host has not taken all that were made before: it waits for that,
 * unless it was seen in the moment in which it copies. Cores that crash or are stopped may be in that moment. */
static bool waits_for_host(const struct tg_run *run, uint32_t core,
                           struct tg_collector_counts *counts)
{
    const struct tg_collector *collector = run->of ? run->of->collector : run->collector;
    bool stands = run->is_view ? tg_run_seen_seconds(run, core) >= RECORD_SECONDS
                               : run->result.status == TG_HANG;
    if (collector == NULL || !stands || !tg_collector_is_recording(collector, core))
        return false;
    tg_collector_count(collector, counts);
    return counts->recorded > counts->records || counts->bytes_recorded > counts->bytes_written;
}

static void say_more_running(struct story *s, const struct tg_waiter *but)
{
    uint32_t more = 0, first = TG_WAITER_NONE;
    char task[160], core[24], since[40];
    for (uint32_t i = 0; i < s->waiters.n; i++)
        if (s->waiters.at[i].state == TG_WAITER_RUNS && &s->waiters.at[i] != but && more++ == 0)
            first = i;
    if (more == 0)
        return;
    const struct tg_waiter *t = &s->waiters.at[first];
    uint32_t lane = first_core(s->run, t);
    say_also(s, "%u more task%s %s: %s on %s%s%s", more, more > 1 ? "s" : "",
             s->run->is_view ? (more > 1 ? "run" : "runs") : "ran", task_text(s, &t->desc, task),
             tg_run_core_text(lane, core), since_text(tg_run_seen_seconds(s->run, lane), since),
             more > 1 ? ", …" : "");
}

/* What the core does, or did when the run ended. */
static const char *word_for(const struct tg_run *run, uint32_t core)
{
    for (uint32_t i = 0; i < run->result.n_running; i++)
        if (run->running[i].core == core && run->running[i].faulted)
            return "crashed";
    return run->is_view ? "runs" : "ran";
}

/* The root is this task, or what a mix waits for. */
static void say_running_root(struct story *s, const struct tg_waiter *t)
{
    char task[160], core[24], since[40], words[32];
    struct tg_collector_counts counts;
    uint32_t ended, lane = first_core(s->run, t), partner = find_partner(s, t, &ended), block = 0;
    double seconds = tg_run_seen_seconds(s->run, lane);
    if (partner != TG_WAITER_NONE && partner != (uint32_t)(t - s->waiters.at)) {
        const struct tg_waiter *mix = t;
        t = &s->waiters.at[partner];
        lane = first_core(s->run, t);
        add_link(s, "task", mix->id, "%s waits for %s, which runs another task",
                 task_text(s, &mix->desc, task), tg_run_core_text(lane, core));
        seconds = tg_run_seen_seconds(s->run, lane);
        (void)find_partner(s, t, &ended);
    }
    s->e->root_core = lane;
    task_text(s, &t->desc, task);
    tg_run_core_text(lane, core);
    since_text(seconds, since);
    add_link(s, "task", t->id, "%s %s on %s%s", task, word_for(s->run, lane), core, since)->core =
        lane;
    if (waits_for_host(s->run, lane, &counts)) {
        say_root(
            s, TG_ROOT_RECORDER,
            "the recorder waits for the host: %s on %s makes a record, and the host has not taken %llu "
            "records and %llu bytes that were made before",
            task, core,
            (unsigned long long)(counts.recorded > counts.records ? counts.recorded - counts.records
                                                                  : 0),
            (unsigned long long)(counts.bytes_recorded - counts.bytes_written));
    } else if (ended != 0) {
        uint32_t here = lanes_of(s->run, t, &block);
        char still[32];
        say_root(s, TG_ROOT_MIX, "%s does not end: its part %s has returned, and %s still run%s%s",
                 task, parts_text(ended, words), parts_text(here, still),
                 (here & (here - 1)) == 0 ? "s" : "", since);
    } else {
        say_root(s, TG_ROOT_KERNEL, "%s %s: it has run on %s%s", task,
                 s->run->is_view ? "runs" : "does not return", core,
                 *since            ? since
                 : s->run->is_view ? " until now"
                                   : " until the end");
    }
    say_more_running(s, t);
}

/* ── ready tasks ───────────────────────────────────────────────────────────────────────── */

/* A task on a core that could take one of the class; NULL: there is none. */
static const struct tg_waiter *find_running(const struct story *s, uint32_t task_class)
{
    for (uint32_t i = 0; i < s->waiters.n; i++) {
        const struct tg_waiter *t = &s->waiters.at[i];
        if (t->state == TG_WAITER_RUNS &&
            tg_core_could_take(s->run, first_core(s->run, t), task_class))
            return t;
    }
    return NULL;
}

static void add_way(struct story *s, uint32_t start);

/* True if the task runs, or waits for one that does. */
static bool leads_to_running(const struct story *s, uint32_t i)
{
    if (i == TG_WAITER_NONE)
        return false;
    while (s->waiters.at[i].via != TG_WAITER_NONE)
        i = s->waiters.at[i].via;
    return s->waiters.at[i].state == TG_WAITER_RUNS;
}

/* The schedule holds the task back for another one, as long as anything runs. */
static void say_paired(struct story *s, const struct tg_waiter *t, const char *task)
{
    uint32_t other = tg_waiters_find(&s->waiters, t->pair);
    const struct tg_waiter *running = find_running(s, TG_CLASS_EITHER);
    char id[32];
    tg_task_text(t->pair, id);
    add_link(s, "task", t->id, "%s is held back by the schedule until task %s has completed", task,
             id);
    if (leads_to_running(s, other))
        add_way(s, other);
    else if (running != NULL)
        say_running_root(s, running);
    else
        say_root(s, TG_ROOT_READY, "%s is held back by the schedule until task %s has completed",
                 task, id);
}

static void say_ready_root(struct story *s, const struct tg_waiter *t, const char *task)
{
    uint32_t task_class = t->desc.task_class;
    const struct tg_waiter *running =
        tg_cores_have_idle(s->run, task_class) ? NULL : find_running(s, task_class);
    char core[24];
    if (t->pair != TG_TASK_NONE) {
        say_paired(s, t, task);
    } else if (running != NULL) {
        add_link(s, "task", t->id, "%s is ready, but %s runs another task", task,
                 tg_run_core_text(first_core(s->run, running), core));
        say_running_root(s, running);
    } else {
        add_link(s, "task", t->id, "%s is ready, and no core has taken it", task);
        say_root(s, TG_ROOT_READY, "%s is ready, and no core has taken it: %u core%s idle", task,
                 s->e->idle_cores, s->e->idle_cores == 1 ? " is" : "s are");
    }
}

/* ── the chain ─────────────────────────────────────────────────────────────────────────── */

/* How many of its predecessors a task waits for. */
static uint32_t unmet_of(const struct story *s, const struct tg_waiter *t)
{
    uint32_t pending;
    if (s->waiters.complete || !tg_graph_read_pending(s->run->graph, t->index, &pending) ||
        pending < t->unmet || pending > t->desc.fanin)
        return t->unmet;
    return pending;
}

static void add_waiting(struct story *s, const struct tg_waiter *t)
{
    char task[160];
    uint32_t unmet = unmet_of(s, t);
    if (!s->waiters.complete && t->desc.fanin > 1)
        add_link(s, "task", t->id, "%s waits for %u of %u predecessors",
                 task_text(s, &t->desc, task), unmet, t->desc.fanin);
    else
        add_link(s, "task", t->id, "%s waits for %u predecessor%s%s", task_text(s, &t->desc, task),
                 unmet, unmet == 1 ? "" : "s",
                 t->state == TG_WAITER_HELD ? ", and its scope holds it back" : "");
}

static void say_other_root(struct story *s, const struct tg_waiter *t)
{
    char task[160], name[TG_SITE_NAME];
    task_text(s, &t->desc, task);
    site_text(s, t->desc.site, name);
    if (t->state == TG_WAITER_HELD) {
        add_link(s, "task", t->id, "%s is held back by the scope begun at %.100s", task, name);
        add_link(s, "scope", TG_TASK_NONE, "that scope is still open");
        say_root(s, TG_ROOT_SCOPE, "the scope begun at %.128s is still open, and holds back %s",
                 name, task);
    } else if (t->state == TG_WAITER_READY) {
        say_ready_root(s, t, task);
    } else {
        say_root(s, TG_ROOT_UNKNOWN, "%s waits, but for what is not known", task);
    }
}

/* The links from a task to the root that it waits for. A way has no task twice: `via` has a smaller depth. */
static void add_way(struct story *s, uint32_t start)
{
    const struct tg_waiter *at = s->waiters.at;
    uint32_t length = at[start].depth, n = 0;
    bool cut = length > FIRST_TASKS + LAST_TASKS;
    uint32_t i = start;
    for (; at[i].via != TG_WAITER_NONE; i = at[i].via, n++) {
        if (!cut || n < FIRST_TASKS || n >= length - LAST_TASKS)
            add_waiting(s, &at[i]);
        else if (n == FIRST_TASKS)
            add_link(s, "more", TG_TASK_NONE, "%u more tasks, each of which waits for the next",
                     length - FIRST_TASKS - LAST_TASKS)
                ->tasks = length - FIRST_TASKS - LAST_TASKS;
    }
    if (at[i].state == TG_WAITER_RUNS)
        say_running_root(s, &at[i]);
    else
        say_other_root(s, &at[i]);
}

/* The end of the longest way: of several the task that was submitted last. */
static uint32_t find_start(const struct tg_waiters *w)
{
    uint32_t best = TG_WAITER_NONE;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->at[i].reached &&
            (best == TG_WAITER_NONE || w->at[i].depth > w->at[best].depth ||
             (w->at[i].depth == w->at[best].depth && w->at[i].id > w->at[best].id)))
            best = i;
    return best;
}

/* ── the orchestration ─────────────────────────────────────────────────────────────────── */

static void resource_use(const struct tg_run *run, uint32_t resource, uint32_t ring, char text[64])
{
    const struct tg_ring_use *use = &run->result.orchestration.ring[ring < TG_RINGS ? ring : 0];
    uint64_t used = resource == TG_RESOURCE_SLOTS  ? use->task_window_used
                    : resource == TG_RESOURCE_HEAP ? use->heap_used
                                                   : use->dep_pool_used;
    uint64_t has = resource == TG_RESOURCE_SLOTS  ? use->task_window
                   : resource == TG_RESOURCE_HEAP ? use->heap
                                                  : use->dep_pool;
    text[0] = '\0';
    if (resource >= TG_RESOURCE_SLOTS && resource <= TG_RESOURCE_DEPS)
        snprintf(text, 64, " of ring %u (%llu of %llu%s in use)", ring, (unsigned long long)used,
                 (unsigned long long)has, resource == TG_RESOURCE_HEAP ? " bytes" : "");
}

static void add_orchestrator_wait(struct story *s)
{
    const struct tg_orchestrator_report *report = &s->run->report;
    uint32_t me = tg_device_workers(s->run->device) - 1;
    char name[TG_SITE_NAME], use[64], since[40], id[32];
    site_text(s, report->waits_line, name);
    since_text(tg_run_seen_seconds(s->run, me), since);
    resource_use(s->run, report->waits_for, report->waits_ring, use);
    tg_task_text(report->waits_task, id);
    if (report->waits_for == TG_RESOURCE_RESULT)
        add_link(s, "orchestration", report->waits_task,
                 "the orchestration at %.100s waits%s for the result of task %s", name, since, id)
            ->core = me;
    else
        add_link(s, "orchestration", report->waits_task,
                 "the orchestration at %.100s waits%s for %s%s", name, since,
                 tg_run_resource_name(report->waits_for), use)
            ->core = me;
    if (report->waits_for != TG_RESOURCE_RESULT)
        add_link(s, "ring", report->waits_task, "room is given back when task %s has ended", id);
}

static void say_orchestrator_busy(struct story *s)
{
    uint32_t me = tg_device_workers(s->run->device) - 1;
    char name[TG_SITE_NAME], since[40];
    site_text(s, s->run->report.scope_site, name);
    since_text(tg_run_seen_seconds(s->run, me), since);
    if (s->e->root[0] != '\0') {
        say_also(s, "the orchestration, in the scope of %.100s, has submitted nothing%s", name,
                 since);
        return;
    }
    s->e->root_core = me;
    add_link(s, "orchestration", TG_TASK_NONE,
             "the orchestration computes in the scope of %.100s%s", name, since)
        ->core = me;
    say_root(s, TG_ROOT_ORCHESTRATION,
             "the orchestration computes in the scope of %.128s and has submitted nothing%s", name,
             since);
}

/* ── what else ─────────────────────────────────────────────────────────────────────────── */

static const char *waits_word(const struct tg_run *run, uint64_t n)
{
    return !run->is_view ? (n == 1 ? " waited" : "s waited") : n == 1 ? " waits" : "s wait";
}

static const char *is_word(const struct tg_run *run, uint64_t n)
{
    return !run->is_view ? (n == 1 ? " was" : "s were") : n == 1 ? " is" : "s are";
}

/* Tasks that no core runs may be calls that wait for other ranks: the device does not list these. */
static bool may_wait_for_ranks(const struct tg_run *run)
{
    return tg_device_ranks(run->device) > 1;
}

/* Tasks that no core has taken, and how many cores could have. */
static void say_ready(struct story *s)
{
    static const char *const words[TG_CLASSES] = {"AIC cores", "AIV cores", "any core",
                                                  "all cores of a block"};
    const struct tg_run *run = s->run;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint64_t ready = 0;
        uint32_t takers = 0, idle = 0;
        for (uint32_t i = 0; i < s->waiters.n; i++)
            ready += s->waiters.at[i].state == TG_WAITER_READY &&
                     s->waiters.at[i].pair == TG_TASK_NONE && s->waiters.at[i].desc.task_class == c;
        for (uint32_t i = 0; i < run->device->head.n_cores; i++) {
            takers += tg_core_could_take(run, i, c);
            idle += tg_core_could_take(run, i, c) && run->status[i].running == 0;
        }
        if (ready > 0)
            say_also(s, "%llu task%s ready for %s: %u of %u idle", (unsigned long long)ready,
                     is_word(run, ready), words[c], idle, takers);
    }
}

static void say_overdue(struct story *s)
{
    const struct tg_run *run = s->run;
    const struct tg_waiters *w = &s->waiters;
    uint64_t running = 0, rest = run->result.tasks - run->result.finished;
    for (uint32_t i = 0; i < w->n; i++)
        running += w->at[i].state == TG_WAITER_RUNS;
    if (w->complete && run->report.status == TG_OK) /* after an error the device starts no more */
        say_ready(s);
    if (w->complete && w->paired > 0)
        say_also(s, "%llu task%s held back by the pairs of the schedule",
                 (unsigned long long)w->paired, is_word(run, w->paired));
    if (w->complete && w->held > 0 && s->e->root_kind != TG_ROOT_SCOPE)
        say_also(s, "%llu task%s held back by a scope that is still open",
                 (unsigned long long)w->held, is_word(run, w->held));
    if (w->complete && w->waits > 0)
        say_also(s, "%llu task%s for other tasks", (unsigned long long)w->waits,
                 waits_word(run, w->waits));
    if (!w->complete && w->problem == NULL && w->n > running)
        say_also(s, "%llu task%s for what %s, directly or not",
                 (unsigned long long)(w->n - running), waits_word(run, w->n - running),
                 run->is_view ? "runs" : "ran");
    if (!w->complete && w->problem == NULL && rest > w->n)
        say_also(s, "%llu more task%s ready for a core%s, or waited for such a task",
                 (unsigned long long)(rest - w->n), is_word(run, rest - w->n),
                 may_wait_for_ranks(run) ? ", a call that waited for another rank" : "");
    for (uint32_t i = 0; i < s->e->n_cores; i++) {
        const struct tg_explain_core *core = &s->e->core[i];
        struct tg_collector_counts counts;
        char text[24];
        if (core->task != TG_TASK_NONE && core->core != s->e->root_core &&
            waits_for_host(run, core->core, &counts))
            say_also(s, "%s makes a record too", tg_run_core_text(core->core, text));
    }
}

static void say_not_known(struct story *s)
{
    const struct tg_run *run = s->run;
    bool lacks = false, cannot = false;
    for (uint32_t i = 0; i < s->e->n_cores; i++) {
        const struct tg_explain_core *core = &s->e->core[i];
        cannot |= !tg_run_tells_place(run, core->core);
        lacks |= core->at.at.line == 0 && core->module[0] == '\0';
    }
    if (s->waiters.problem != NULL)
        say_unknown(s, "which task waits for which: %s", s->waiters.problem);
    if (cannot)
        say_unknown(s, "the source lines of what runs: the platform does not tell them");
    else if (lacks && run->result.site_status == TG_UNSUPPORTED)
        say_unknown(s, "the source lines of what runs: there is no addr2line (binutils)");
    else if (lacks && run->result.site_status == TG_NOT_FOUND)
        say_unknown(s, "some source lines: the module has no debug information for them (-g)");
}

/* ── a run that does not go on ─────────────────────────────────────────────────────────── */

static void explain_waits(struct story *s)
{
    const struct tg_run *run = s->run;
    uint32_t start;
    bool waits = orchestrates(run) && run->report.waits_for != TG_RESOURCE_NONE;
    char id[32];
    if (waits) {
        add_orchestrator_wait(s);
        start = tg_waiters_find(&s->waiters, run->report.waits_task);
        if (start != TG_WAITER_NONE &&
            (s->waiters.at[start].reached || s->waiters.at[start].state != TG_WAITER_WAITS))
            add_way(s, start);
        else if (s->waiters.problem == NULL)
            say_unknown(s, "what task %s waits for: it %s",
                        tg_task_text(run->report.waits_task, id),
                        run->is_view ? "may have ended meanwhile" : "is not in the rings");
    }
    /* Of tasks that nobody runs, those that are ready may wait until the orchestration gives them to the
     * cores, and those that are held back until it ends their scope. */
    start = find_start(&s->waiters);
    if (orchestrates(run) && !waits && run->result.n_running == 0)
        say_orchestrator_busy(s);
    else if (s->e->root[0] == '\0' && start != TG_WAITER_NONE)
        add_way(s, start);
    if (s->e->root[0] == '\0' && run->result.n_running > 0) {
        char core[24];
        s->e->root_core = run->running[0].core;
        say_root(s, TG_ROOT_KERNEL, "task %s (%.60s) runs on %s",
                 tg_task_text(run->running[0].task, id), run->running[0].kernel,
                 tg_run_core_text(run->running[0].core, core));
    }
    if (orchestrates(run) && !waits && s->e->root_kind != TG_ROOT_ORCHESTRATION)
        say_orchestrator_busy(s);
    if (s->e->root[0] == '\0' && run->is_view)
        say_root(s, TG_ROOT_NONE, "%s",
                 may_wait_for_ranks(run)
                     ? "no task runs at this moment; calls may wait for other ranks"
                     : "nothing runs and nothing waits at this moment");
    else if (s->e->root[0] == '\0')
        say_root(s, TG_ROOT_UNKNOWN, "why nothing moved is not known: no task runs, and %s",
                 may_wait_for_ranks(run) ? "calls may have waited for other ranks"
                                         : "none is ready");
}

/* ── a run that failed ─────────────────────────────────────────────────────────────────── */

/* Tasks that wait for one that a scope holds back keep what they use. The oldest one of the ring is in the way
 * of all others. False: it is not known. */
static bool add_oldest(struct story *s)
{
    const struct tg_waiters *w = &s->waiters;
    uint32_t oldest = TG_WAITER_NONE;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->at[i].id >> 32 == s->run->report.ring && w->at[i].reached &&
            (oldest == TG_WAITER_NONE || w->at[i].id < w->at[oldest].id))
            oldest = i;
    if (oldest == TG_WAITER_NONE)
        return false;
    add_way(s, oldest);
    return s->e->root_kind == TG_ROOT_SCOPE;
}

/* The device found that a resource can never be given back. */
static void explain_full(struct story *s)
{
    const struct tg_orchestrator_report *report = &s->run->report;
    const char *what = tg_run_resource_name(report->resource);
    char ring[24] = "";
    if (report->resource != TG_RESOURCE_MAP)
        snprintf(ring, sizeof ring, " of ring %u", report->ring);
    add_link(s, "orchestration", TG_TASK_NONE, "the orchestration at %.100s wants more %s%s",
             report->site, what, ring);
    add_link(s, "ring", TG_TASK_NONE, "%llu of %llu are in use, and it wants %llu more",
             (unsigned long long)report->used, (unsigned long long)report->capacity,
             (unsigned long long)report->wanted);
    if (report->status == TG_FLOW_CONTROL_DEADLOCK && add_oldest(s))
        return;
    add_link(s, "scope", TG_TASK_NONE, "the scope begun at %.100s keeps them until it ends",
             report->owner);
    add_link(s, "scope", TG_TASK_NONE, "that scope is still open: the orchestration is inside it");
    say_root(
        s, TG_ROOT_SCOPE,
        "the scope begun at %.128s is still open and needs more %s%s than there are: %llu of %llu "
        "are in use, and %.128s wants %llu more",
        report->owner, what, ring, (unsigned long long)report->used,
        (unsigned long long)report->capacity, report->site, (unsigned long long)report->wanted);
}

static void explain_orchestration(struct story *s)
{
    const struct tg_orchestrator_report *report = &s->run->report;
    char id[32];
    if (report->fault == TG_FAULT_FULL) {
        explain_full(s);
    } else if (report->fault == TG_FAULT_HELD) {
        uint32_t start = tg_waiters_find(&s->waiters, report->task);
        add_link(s, "orchestration", report->task,
                 "the orchestration at %.100s waits for the result of task %s", report->site,
                 tg_task_text(report->task, id));
        if (start != TG_WAITER_NONE)
            add_way(s, start);
        if (s->e->root_kind != TG_ROOT_SCOPE)
            say_root(s, TG_ROOT_SCOPE, "%s", s->run->error.text);
    } else {
        say_root(s, TG_ROOT_ORCHESTRATION, "%s", s->run->error.text);
    }
}

/* What waits for the task that crashed, if it is known which one did. */
static void explain_crash(struct story *s)
{
    const struct tg_run *run = s->run;
    uint32_t start = TG_WAITER_NONE;
    for (uint32_t i = 0; i < run->result.n_running; i++)
        if (run->running[i].faulted)
            s->e->root_core = run->running[i].core;
    if (s->e->root_core != TG_EXPLAIN_NO_CORE)
        start = find_start(&s->waiters);
    if (start != TG_WAITER_NONE)
        add_way(s, start);
    s->e->root[0] = '\0';
    say_root(s, run->result.status == TG_KERNEL_FAULT ? TG_ROOT_CRASH : TG_ROOT_DEVICE, "%s",
             run->error.text);
}

static void explain_end(struct story *s)
{
    const struct tg_run *run = s->run;
    if (run->is_view) {
        explain_waits(s);
    } else if (run->report.status != TG_OK) {
        explain_orchestration(s);
    } else if (run->result.status == TG_HANG ||
               (run->result.status == TG_CANCELLED && run->device->lost)) {
        explain_waits(s);
    } else if (run->result.status == TG_CANCELLED) {
        say_root(s, TG_ROOT_CANCELLED, "the run was asked to end: %s", run->error.text);
    } else {
        explain_crash(s);
    }
}

void tg_run_explain(const struct tg_run *run, struct tg_explanation *e)
{
    struct story s = {.run = run, .e = e};
    e->looked = true;
    e->root_core = TG_EXPLAIN_NO_CORE;
    e->tasks = run->result.tasks;
    e->finished = run->result.finished;
    tg_waiters_gather(run, &s.waiters);
    if (run->graph->layout != NULL && (s.names = calloc(1, sizeof *s.names)) != NULL)
        (void)tg_site_names_update(s.names, run->device, run->graph->orchestration,
                                   run->graph->layout->orchestration.sites);
    add_cores(&s);
    add_orchestrator(&s);
    explain_end(&s);
    say_overdue(&s);
    say_not_known(&s);
    if (s.names != NULL)
        tg_site_names_free(s.names);
    free(s.names);
    tg_waiters_free(&s.waiters);
}

void tg_run_keep_explanation(struct tg_run *run)
{
    run->explanation = calloc(1, sizeof *run->explanation);
    if (run->explanation != NULL)
        tg_run_explain(run, run->explanation);
}
