/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the report of an orchestration on the device into messages. The device wrote the report, so
 * numbers are checked against the host's layout, and texts are cut and cleaned.
 */
#include "base/error.h"
#include "base/ring_limits.h"
#include "host/comm_words.h"
#include "host/device_comm.h"
#include "host/device_log.h"
#include "host/run.h"
#include "host/site_names.h"
#include "host/tables.h"
#include "host/task_check.h"
#include "host/text.h"
#include <stdio.h>
#include <string.h>

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

void tg_run_clean_text(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c == 127)
            *c = '?';
}

static bool is_error_of_ours(tg_status status)
{
    switch (status) {
    case TG_BAD_ARGUMENT:
    case TG_SCOPE_DEADLOCK:
    case TG_HEAP_RING_DEADLOCK:
    case TG_FLOW_CONTROL_DEADLOCK:
    case TG_DEP_POOL_OVERFLOW:
    case TG_TENSORMAP_OVERFLOW:
        return true;
    default:
        return false;
    }
}

void tg_run_read_report(struct tg_run *run)
{
    struct tg_orchestrator_report report;
    uint64_t address = run->graph->orchestration + offsetof(struct tg_orchestration, report);
    if (tg_device_copy_out(run->device, &report, address, sizeof report, NULL) != TG_OK)
        return;
    if (!is_error_of_ours((tg_status)report.status))
        report.status = TG_OK;
    if (report.ring >= TG_RINGS)
        report.ring = 0;
    tg_run_clean_text(report.site, sizeof report.site);
    tg_run_clean_text(report.owner, sizeof report.owner);
    tg_run_clean_text(report.text, sizeof report.text);
    if (report.submitted < run->report.submitted)
        report.submitted = run->report.submitted; /* it never decreases */
    run->report = report;
    run->result.tasks = report.submitted;
    run->result.edges = report.edges;
}

void tg_run_scope_site(const struct tg_run *run, char site[128])
{
    struct tg_site_names names = {0};
    char name[TG_SITE_NAME];
    (void)tg_site_names_update(&names, run->device, run->graph->orchestration,
                               run->graph->layout->orchestration.sites);
    snprintf(site, sizeof(struct tg_site), "%.127s",
             tg_site_name(&names, run->report.scope_site, name));
    tg_run_clean_text(site, sizeof(struct tg_site));
    tg_site_names_free(&names);
}

/* ── what the orchestration is doing ───────────────────────────────────────────────────── */

const char *tg_run_resource_name(uint32_t resource)
{
    static const char *const names[TG_RESOURCES] = {
        "nothing", "task slots", "heap", "dependencies", "tensor map entries", "a result"};
    return names[resource < TG_RESOURCES ? resource : 0];
}

void tg_run_orchestrator_doing(const struct tg_run *run, char *text, size_t size)
{
    const struct tg_orchestrator_report *report = &run->report;
    char site[128];
    tg_run_scope_site(run, site);
    if (report->state == TG_ORCHESTRATOR_RETURNED)
        return;
    if (report->waits_for != TG_RESOURCE_NONE)
        snprintf(text, size, ": the orchestration, in the scope of %.100s, waits for %s of ring %u",
                 site, tg_run_resource_name(report->waits_for), report->waits_ring);
    else
        snprintf(text, size, ": the orchestration is busy in the scope of %.100s", site);
}

/* ── which ring sizes would be enough ──────────────────────────────────────────────────── */

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Writes a size as an option takes it: "64M". */
static void put_bytes(char *text, size_t size, uint64_t bytes)
{
    static const char units[] = "KMGT";
    uint64_t k = (bytes + 1023) / 1024;
    size_t unit = 0;
    while (k % 1024 == 0 && unit + 2 < sizeof units && k > 0) {
        k /= 1024;
        unit++;
    }
    snprintf(text, size, "%llu%c", (unsigned long long)k, units[unit]);
}

/* The bound on edges can be far above the real need, so the advice stops here. */
#define MOST_ADVISED (UINT64_C(1) << 24)

/* The size of each ring, and the size that the orchestration needs. */
struct needs {
    uint64_t has[TG_RINGS], wants[TG_RINGS];
    uint32_t n;
    bool bytes;
    uint64_t most; /* that the option accepts */
    uint64_t each; /* bytes of device memory for one more */
};

/* The advice while it is made: the options, and the device memory that they need on top. */
struct advice {
    char *text;
    size_t size;
    uint64_t more;
};

static struct needs needs_of(const struct tg_run *run, enum tg_resource resource)
{
    const struct tg_orchestrator_report *report = &run->report;
    const struct tg_orchestration *o = &run->graph->layout->orchestration;
    struct tg_scope_memory memory = tg_device_log_memory(run->graph);
    struct needs needs = {.n = o->n_rings, .bytes = resource == TG_RESOURCE_HEAP};
    needs.most = resource == TG_RESOURCE_SLOTS  ? TG_MOST_SLOTS
                 : resource == TG_RESOURCE_HEAP ? TG_MOST_HEAP
                                                : TG_MOST_DEPS;
    needs.each = resource == TG_RESOURCE_SLOTS  ? memory.task
                 : resource == TG_RESOURCE_HEAP ? 1
                                                : memory.dep;
    for (uint32_t r = 0; r < needs.n; r++) {
        bool this = report->resource == resource && report->ring == r;
        uint64_t least = this ? report->used + report->wanted : 0;
        switch (resource) {
        case TG_RESOURCE_SLOTS:
            needs.has[r] = o->ring[r].n_slots;
            needs.wants[r] = most(least, report->need_slots[r]);
            break;
        case TG_RESOURCE_HEAP:
            needs.has[r] = o->ring[r].heap_size;
            needs.wants[r] = most(least, report->need_heap[r]);
            break;
        default:
            needs.has[r] = o->ring[r].n_deps;
            needs.wants[r] = this ? most(least, report->need_deps[r]) : 0;
            needs.wants[r] = needs.wants[r] < MOST_ADVISED ? needs.wants[r] : MOST_ADVISED;
        }
    }
    return needs;
}

static bool any_short(const struct needs *needs)
{
    for (uint32_t r = 0; r < needs->n; r++)
        if (needs->wants[r] > needs->has[r])
            return true;
    return false;
}

/* True if a ring needs more than its option accepts. */
static bool wants_too_much(const struct needs *needs)
{
    for (uint32_t r = 0; r < needs->n; r++)
        if (needs->wants[r] > needs->most)
            return true;
    return false;
}

/* Adds "--option N": one number for all rings if that fits into memory, else one for each. */
static void add_option(const struct tg_run *run, const char *option, const struct needs *needs,
                       struct advice *advice)
{
    uint64_t largest = 0, limit = run->device->head.memory_size / 2;
    char *text = advice->text, value[24];
    size_t used = strlen(text), size = advice->size;
    if (!any_short(needs) || wants_too_much(needs))
        return;
    snprintf(text + used, size - used, "%s--%s ", used ? " " : "", option);
    for (uint32_t r = 0; r < needs->n; r++)
        largest = most(largest, most(needs->has[r], needs->wants[r]));
    for (uint32_t r = 0; r < needs->n; r++) {
        bool alone = !needs->bytes || needs->n * largest <= limit;
        uint64_t number = alone ? largest : most(needs->has[r], needs->wants[r]);
        advice->more += (number - needs->has[r]) * needs->each;
        if (alone && r > 0)
            continue;
        if (needs->bytes)
            put_bytes(value, sizeof value, number);
        else
            snprintf(value, sizeof value, "%llu", (unsigned long long)number);
        used = strlen(text);
        snprintf(text + used, size - used, "%s%s", r ? "," : "", value);
    }
}

/* The entries that a task with as many tensors as there can be needs. */
#define LEAST_MAP (UINT64_C(2) * (TG_MAX_TENSORS + TG_MAX_SCALARS))

static void add_tensormap(const struct tg_run *run, struct advice *advice)
{
    const struct tg_orchestrator_report *report = &run->report;
    struct tg_scope_memory memory = tg_device_log_memory(run->graph);
    uint64_t has = run->graph->layout->orchestration.map_size;
    uint64_t wants = most(most(report->capacity + report->wanted, report->need_map), LEAST_MAP);
    size_t used = strlen(advice->text);
    if (report->resource != TG_RESOURCE_MAP || has >= TG_MOST_MAP)
        return;
    wants = wants < TG_MOST_MAP ? wants : TG_MOST_MAP;
    snprintf(advice->text + used, advice->size - used, "%s--tensormap %llu", used ? " " : "",
             (unsigned long long)wants);
    advice->more += wants > has ? (wants - has) * memory.entry : 0;
}

/* Rings that are larger than the device's memory need a larger device. */
static void add_memory(const struct tg_run *run, struct advice *advice)
{
    enum { STEP = 64 << 20 };
    struct tg_scope_memory memory = tg_device_log_memory(run->graph);
    uint64_t wants = memory.used + advice->more;
    size_t used = strlen(advice->text);
    char value[24];
    if (advice->more == 0 || wants <= memory.size || wants > TG_MOST_MEMORY - STEP)
        return;
    put_bytes(value, sizeof value, (wants + STEP - 1) / STEP * STEP);
    snprintf(advice->text + used, advice->size - used, " --device-memory %s", value);
}

/* Writes the options that let the next run pass, as far as the device could count its needs. */
static void advise(struct tg_run *run)
{
    struct advice advice = {run->result.orchestration.advice,
                            sizeof run->result.orchestration.advice, 0};
    struct needs slots = needs_of(run, TG_RESOURCE_SLOTS);
    struct needs heap = needs_of(run, TG_RESOURCE_HEAP);
    struct needs deps = needs_of(run, TG_RESOURCE_DEPS);
    advice.text[0] = '\0';
    add_option(run, "ring-task-window", &slots, &advice);
    add_option(run, "ring-heap", &heap, &advice);
    add_option(run, "ring-dep-pool", &deps, &advice);
    add_tensormap(run, &advice);
    add_memory(run, &advice);
}

/* ── the error ─────────────────────────────────────────────────────────────────────────── */

static tg_status explain_full(struct tg_run *run, struct tg_error *error)
{
    const struct tg_orchestrator_report *report = &run->report;
    const char *advice = run->result.orchestration.advice;
    char ring[24] = "";
    advise(run);
    if (report->resource != TG_RESOURCE_MAP)
        snprintf(ring, sizeof ring, " of ring %u", report->ring);
    return tg_error_set(error, (tg_status)report->status,
                        "%s: the scope begun here needs more %s%s: %llu/%llu in use, %llu more "
                        "wanted at %s; %s%s%s",
                        report->owner, tg_run_resource_name(report->resource), ring,
                        (unsigned long long)report->used, (unsigned long long)report->capacity,
                        (unsigned long long)report->wanted, report->site,
                        *advice ? "set " : "no ring can be that large", advice,
                        *advice && !report->counted ? " or more" : "");
}

/* Explains a refused submit with the host's own message, from the arguments that it got. */
static tg_status explain_submit(struct tg_run *run, struct tg_error *error)
{
    const struct tg_orchestrator_report *report = &run->report;
    struct tg_args args;
    struct tg_error why = {TG_BAD_ARGUMENT, "the arguments are not valid"};
    if (tg_device_copy_out(run->device, &args, run->graph->layout->orchestration.refused,
                           sizeof args, NULL) == TG_OK)
        tg_task_explain(run->graph->module, report->kernel, &args, report->task, &why);
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s", report->site, why.text);
}

/* Explains a refused tg_table with the host's own message. */
static tg_status explain_table(struct tg_run *run, struct tg_error *error)
{
    const struct tg_orchestrator_report *report = &run->report;
    const struct tg_graph *graph = run->graph;
    struct tg_args asked;
    struct tg_error why = {TG_BAD_ARGUMENT, "tg_table: the element cannot be read"};
    int64_t index[TG_MAX_INLINE_AFTER];
    if (tg_device_copy_out(run->device, &asked, graph->layout->orchestration.refused, sizeof asked,
                           NULL) == TG_OK) {
        memcpy(index, asked.after, sizeof index);
        tg_table_explain((enum tg_table_fault)report->table, graph->given, graph->names,
                         report->argument, report->task, &asked.tensor[0], index,
                         asked.n_after <= TG_MAX_DIMS ? asked.n_after : 0, &why);
    }
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s", report->site, why.text);
}

/* Explains a refused call of communication with the host's own message. */
static tg_status explain_call(struct tg_run *run, struct tg_error *error)
{
    const struct tg_orchestrator_report *report = &run->report;
    struct tg_comm_asked asked = {.kind = report->kernel[0],
                                  .rank = (int32_t)tg_device_rank(run->device),
                                  .ranks = (int32_t)tg_device_ranks(run->device)};
    struct tg_args args;
    struct tg_error why = {TG_BAD_ARGUMENT, "the call is not valid"};
    if (tg_device_copy_out(run->device, &args, run->graph->layout->orchestration.refused,
                           sizeof args, NULL) == TG_OK &&
        args.n_scalars == TG_COMM_SCALARS && args.n_tensors <= TG_COMM_TENSORS) {
        asked.peer = (int32_t)(uint32_t)args.scalar[TG_COMM_SCALAR_PEER].bits;
        asked.tag = (int32_t)(uint32_t)args.scalar[TG_COMM_SCALAR_TAG].bits;
        asked.operation = (int32_t)(uint32_t)args.scalar[TG_COMM_SCALAR_OPERATION].bits;
        tg_comm_refuse((enum tg_comm_fault)report->table, &asked, &args, &why);
    }
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s", report->site, why.text);
}

static const char *words_for(enum tg_orchestration_fault fault)
{
    switch (fault) {
    case TG_FAULT_ALLOC:
        return "tg_alloc: no tensor can have this type and shape";
    case TG_FAULT_DEPEND:
        return "tg_depend: the task may have started already; submit it in a TG_SCOPE_HELD";
    case TG_FAULT_ORDER:
        return "tg_depend: a task can only wait for one submitted before it";
    case TG_FAULT_OUTPUT:
        return "tg_output: no such task in an open scope, or it has no such tensor";
    case TG_FAULT_READ:
        return "tg_read: needs a tensor of one element, of 8 bits or more, in device memory";
    case TG_FAULT_DEPTH:
        return "scopes are nested too deep (64 at most)";
    case TG_FAULT_SCOPE_END:
        return "a scope ends that never began";
    case TG_FAULT_SCOPE_LEFT:
        return "the scope begun here was left by break, goto or return";
    default:
        return "unknown error";
    }
}

static tg_status explain(struct tg_run *run, struct tg_error *error)
{
    const struct tg_orchestrator_report *report = &run->report;
    tg_status status = (tg_status)report->status;
    char task[32], wanted[32];
    tg_task_text(report->task, task);
    tg_task_text(report->wanted, wanted);
    switch (report->fault) {
    case TG_FAULT_FULL:
        return explain_full(run, error);
    case TG_FAULT_ARGUMENTS:
    case TG_FAULT_MEMORY:
        return explain_submit(run, error);
    case TG_FAULT_PREDECESSOR:
        if (report->task == TG_TASK_NONE)
            return tg_error_set(error, status, "%s: waits for task %s, which does not exist yet",
                                report->site, wanted);
        return tg_error_set(error, status,
                            "%s: task %s waits for task %s, which does not exist yet", report->site,
                            task, wanted);
    case TG_FAULT_OUT_OF_SCOPE:
        return tg_error_set(error, status,
                            "%s: argument %u is memory of a scope that has ended; allocate it in "
                            "an outer scope",
                            report->site, report->argument);
    case TG_FAULT_TABLE:
        return explain_table(run, error);
    case TG_FAULT_CALL:
        return explain_call(run, error);
    case TG_FAULT_HELD:
        return tg_error_set(error, status,
                            "%s: task %s can never finish, because it or a task before it is held "
                            "back by a scope that is still open; end that scope first",
                            report->site, task);
    case TG_FAULT_OWN:
        return tg_error_set(error, status, "%s: %s", report->site, report->text);
    default:
        return tg_error_set(error, status, "%s: %s", report->site,
                            words_for((enum tg_orchestration_fault)report->fault));
    }
}

tg_status tg_run_orchestration_error(struct tg_run *run, struct tg_error *error)
{
    return run->report.status == TG_OK ? TG_OK : explain(run, error);
}

struct tg_scope_fatal tg_run_scope_fatal(const struct tg_run *run)
{
    const struct tg_orchestrator_report *report = &run->report;
    static const uint32_t resources[TG_RESOURCES] = {
        [TG_RESOURCE_SLOTS] = TG_SCOPE_TASK_WINDOW,
        [TG_RESOURCE_HEAP] = TG_SCOPE_HEAP,
        [TG_RESOURCE_DEPS] = TG_SCOPE_DEP_POOL,
        [TG_RESOURCE_MAP] = TG_SCOPE_TENSORMAP,
    };
    return (struct tg_scope_fatal){
        .on = report->status != TG_OK && report->fault == TG_FAULT_FULL,
        .resource = resources[report->resource < TG_RESOURCES ? report->resource : 0],
        .ring = report->ring,
        .site = report->owner,
        .used = report->used,
        .capacity = report->capacity,
        .wanted = report->wanted,
        .advice = run->result.orchestration.advice,
        .error = tg_status_name((tg_status)report->status),
    };
}
