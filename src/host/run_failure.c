/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a run that failed, from what the device left in its memory. A device that went wrong
 * wrote all of it, so every index is checked before it is used.
 */
#include "base/error.h"
#include "host/module.h"
#include "host/run.h"
#include "host/text.h"
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Every line takes a process of some milliseconds. */
enum { MOST_SITES = 8 };
/* Debug information that takes longer is not read twice. */
#define SLOW_SECONDS 1.0

/* ── source lines ──────────────────────────────────────────────────────────────────────── */

/* Modules are numbered from 1 in the order in which they were loaded; the list has the newest first. */
static const struct tg_module *find_module(const struct tg_device *device, uint32_t number)
{
    const struct tg_module *module = device->modules;
    uint32_t n = 0;
    for (; module != NULL; module = module->next)
        n++;
    module = number == 0 || number > n ? NULL : device->modules;
    for (; module != NULL && n > number; n--)
        module = module->next;
    return module;
}

const char *tg_run_module_path(const struct tg_run *run, uint32_t number)
{
    const struct tg_module *module = find_module(run->device, number);
    return module != NULL ? module->path : NULL;
}

/* Looks up the line of a place, unless that has become too slow. */
static void find_site(struct tg_run *run, const struct tg_place_record *record,
                      struct tg_source_site *site)
{
    const char *module = tg_run_module_path(run, record->module);
    struct tg_code_place place = {.at = record->at, .from = record->from};
    double began = tg_limit_now();
    memset(site, 0, sizeof *site);
    if (module == NULL || record->at == 0 || run->sites >= MOST_SITES)
        return;
    run->sites++;
    run->result.site_status = tg_source_find(module, &place, site, NULL);
    if (tg_limit_now() - began > SLOW_SECONDS)
        run->sites = MOST_SITES;
}

/* ", at model.c:42 in add", or "". */
static const char *site_text(const struct tg_source_site *site, char text[400])
{
    char words[396];
    tg_source_text(site, words, sizeof words);
    snprintf(text, 400, "%s%s", *words ? ", " : "", words);
    return text;
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

static const char *kernel_of(const struct tg_run *run, const struct tg_task_desc *desc,
                             uint32_t part)
{
    return tg_graph_kernel_name(run->graph, desc->kernel[part]);
}

/* Finds the task that a worker reports to run, if the task has that part. */
static bool find(const struct tg_run *run, uint64_t running, uint32_t part,
                 struct tg_task_desc *desc)
{
    return part < TG_PARTS && tg_run_find_task(run, running, desc) &&
           desc->kernel[part] != TG_NO_KERNEL;
}

static void add_running(struct tg_run *run, uint32_t core, const struct tg_task_desc *desc,
                        uint32_t part, bool faulted)
{
    run->running[run->result.n_running++] = (struct tg_run_task){
        .task = desc->id,
        .core = core,
        .part = core % TG_PARTS,
        .kernel = kernel_of(run, desc, part),
        .faulted = faulted,
    };
}

static bool already_listed(const struct tg_run *run, uint64_t task)
{
    for (uint32_t i = 0; i < run->result.n_running; i++)
        if (run->running[i].task == task)
            return true;
    return false;
}

/* A task on a core that crashed is where the device crashed. One that hung has said where it is. A view does
 * not look that up: it takes a process, and the run must not wait for that when it ends. */
static void find_running_site(struct tg_run *run, const struct tg_worker_status *status)
{
    struct tg_run_task *task = &run->running[run->result.n_running - 1];
    if (run->is_view)
        return;
    if (task->faulted)
        task->site = run->result.site;
    else if (status->place.state == TG_PLACE_FOUND)
        find_site(run, &status->place, &task->site);
}

static void list_running(struct tg_run *run, const struct tg_fault_record *fault)
{
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        const struct tg_worker_status *status = &run->status[i];
        struct tg_task_desc desc;
        if (!find(run, status->running, status->part, &desc))
            continue;
        tasks += !already_listed(run, desc.id);
        add_running(run, i, &desc, status->part, fault->valid && fault->worker == i);
        find_running_site(run, status);
    }
    run->result.waiting = run->result.tasks - run->result.finished;
    run->result.waiting -= tasks < run->result.waiting ? tasks : run->result.waiting;
}

static void add_unmet(struct tg_run *run, uint64_t task, uint64_t waits_for)
{
    if (run->result.n_unmet < TG_MAX_UNMET)
        run->result.unmet[run->result.n_unmet] =
            (struct tg_run_unmet){.task = task, .waits_for = waits_for};
    run->result.n_unmet++;
}

/* A view lists no more waits than there is room for. */
static bool is_enough(const struct tg_run *run)
{
    return run->is_view && run->result.n_unmet > TG_MAX_UNMET;
}

/* Lists the tasks that wait for running tasks, from the edges of a graph that the host built. */
static void list_unmet_edges(struct tg_run *run)
{
    uint64_t n_edges;
    const struct tg_edge *edge = tg_graph_edge_list(run->graph, &n_edges);
    if (run->is_view && run->result.n_running > 0)
        n_edges = n_edges < TG_VIEW_STEPS / run->result.n_running
                      ? n_edges
                      : TG_VIEW_STEPS / run->result.n_running;
    for (uint64_t i = 0; run->result.n_running > 0 && i < n_edges && !is_enough(run); i++) {
        if (already_listed(run, edge[i].before)) /* a task's number is its id */
            add_unmet(run, edge[i].after, edge[i].before);
    }
}

/* Lists the tasks that wait for one running task, from the dependency lists of a graph that the
 * device built. The lists may be damaged: every step is checked, and the number of steps is limited
 * to the number of entries, so that a loop ends too. */
static void list_unmet_of(struct tg_run *run, const struct tg_task_desc *running)
{
    const struct tg_orchestration *o = &run->graph->layout->orchestration;
    uint32_t at = running->succ, n_deps = 0;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        n_deps += o->ring[r].n_deps;
    for (uint32_t steps = 0; steps < n_deps && at < n_deps && !is_enough(run); steps++) {
        struct tg_task_desc waits;
        struct tg_dep dep;
        if (tg_device_copy_out(run->device, &dep, o->deps + at * sizeof dep, sizeof dep, NULL) !=
                TG_OK ||
            !tg_run_find_task(run, (uint64_t)dep.task + 1, &waits))
            return;
        add_unmet(run, waits.id, running->id);
        at = dep.next;
    }
}

/* While a view reads the list of a task, the task may complete, and its list be used again. */
static bool has_ended(const struct tg_run *run, uint64_t running, uint64_t id)
{
    struct tg_task_desc desc;
    return !tg_run_find_task(run, running, &desc) || desc.id != id || desc.succ == TG_DEP_CLOSED;
}

static void list_unmet(struct tg_run *run)
{
    uint64_t last = TG_TASK_NONE;
    if (run->graph->layout == NULL) {
        list_unmet_edges(run);
        return;
    }
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        struct tg_task_desc desc;
        if (!find(run, run->status[i].running, run->status[i].part, &desc) || desc.id == last)
            continue;
        last = desc.id; /* a mix runs on several lanes; list it once */
        uint32_t before = run->result.n_unmet;
        list_unmet_of(run, &desc);
        if (run->is_view && has_ended(run, run->status[i].running, desc.id))
            run->result.n_unmet = before;
    }
}

void tg_run_list_running(struct tg_run *run)
{
    static const struct tg_fault_record none;
    list_running(run, &none);
    list_unmet(run);
}

const char *tg_run_core_text(uint32_t lane, char text[24])
{
    static const char *const part[] = {"AIC", "AIV0", "AIV1"};
    snprintf(text, 24, "core %u (%s)", lane, part[lane % TG_PARTS]);
    return text;
}

/* The faulting address, for the signals that report one. */
static const char *fault_address(const struct tg_run *run, const struct tg_fault_record *fault,
                                 char text[80])
{
    text[0] = '\0';
    if (fault->signal == SIGSEGV && fault->address == UINT64_MAX)
        snprintf(text, 80, " at an address that no memory can have");
    else if (fault->signal == SIGSEGV || fault->signal == SIGBUS)
        snprintf(text, 80, " at address 0x%llx%s", (unsigned long long)fault->address,
                 run->overflow ? ", because the stack is full" : "");
    return text;
}

/* The device wrote this text, so cut it to a known length and replace unprintable characters. */
static const char *fault_words(const struct tg_fault_record *fault, char text[112])
{
    snprintf(text, 112, "%.95s", fault->text);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return text;
}

static const char *fault_cause(const struct tg_fault_record *fault, char text[112])
{
    const char *signal = fault->signal ? strsignal(fault->signal) : NULL;
    if (fault->signal == 0)
        return fault_words(fault, text);
    snprintf(text, 112, "%.95s", signal ? signal : "unknown signal");
    return text;
}

/* A GPU reports a bad store late. When it records tasks or orchestrates itself, it waits for a task's
 * stores before it starts the next one; otherwise the next task of a chain may already run. */
static bool may_be_late(const struct tg_run *run, const struct tg_fault_record *fault)
{
    return fault->signal == 0 && run->collector == NULL &&
           (run->graph->layout == NULL || run->result.orchestration.beside);
}

static void say_fault(struct tg_run *run, const struct tg_fault_record *fault,
                      const struct tg_task_desc *desc)
{
    char core[24], task[32], address[80], cause[112], site[400];
    run->result.status = TG_KERNEL_FAULT;
    tg_error_set(&run->error, TG_KERNEL_FAULT, "task %s, kernel %s,%s on %s: %s%s%s",
                 tg_task_text(desc->id, task), kernel_of(run, desc, fault->part),
                 may_be_late(run, fault) ? " or one just before it," : "",
                 tg_run_core_text(fault->worker, core), fault_cause(fault, cause),
                 fault_address(run, fault, address), site_text(&run->result.site, site));
}

/* Finds the lane whose kernel has ended the device because its task lacks an argument. The line to name
 * is the kernel's own, not that of the accessor in kernel.h. */
static bool find_missing(struct tg_run *run, struct tg_fault_record *fault,
                         struct tg_task_desc *desc)
{
    struct tg_source_site *site = &run->result.site;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        const struct tg_worker_status *status = &run->status[i];
        uint64_t kind = status->missing >> 48;
        if ((kind != TG_MISSING_TENSOR && kind != TG_MISSING_SCALAR) ||
            !find(run, status->running, status->part, desc))
            continue;
        fault->valid = 1;
        fault->worker = i;
        fault->part = status->part;
        if (site->called_at.line != 0)
            *site = (struct tg_source_site){.at = site->called_at};
        return true;
    }
    return false;
}

/* "3 tensors (0 to 2)" */
static const char *count_text(uint32_t n, const char *what, char text[40])
{
    if (n == 0)
        snprintf(text, 40, "no %s", what);
    else if (n == 1)
        snprintf(text, 40, "one %s (number 0)", what);
    else
        snprintf(text, 40, "%u %ss (0 to %u)", n, what, n - 1);
    return text;
}

static void say_missing(struct tg_run *run, const struct tg_fault_record *fault,
                        const struct tg_task_desc *desc)
{
    uint64_t missing = run->status[fault->worker].missing;
    const char *what = missing >> 48 == TG_MISSING_TENSOR ? "tensor" : "scalar";
    char core[24], task[32], has[40], site[400];
    run->result.status = TG_KERNEL_FAULT;
    tg_error_set(&run->error, TG_KERNEL_FAULT,
                 "task %s, kernel %s, on %s: the kernel wants %s %u, but the task has %s%s",
                 tg_task_text(desc->id, task), kernel_of(run, desc, fault->part),
                 tg_run_core_text(fault->worker, core), what, (uint32_t)missing,
                 count_text(missing >> 32 & 0xffff, what, has), site_text(&run->result.site, site));
}

/* The device cannot tell which kernel failed. */
static void say_fault_somewhere(struct tg_run *run, const struct tg_fault_record *fault)
{
    uint32_t last = tg_device_workers(run->device) - 1;
    bool orchestrates = run->graph->layout != NULL && run->status[last].running != 0;
    char cause[112], who[96];
    snprintf(who, sizeof who, "one of the %u kernels that were running%s", run->result.n_running,
             orchestrates ? ", or the orchestration" : "");
    if (run->result.n_running == 0)
        snprintf(who, sizeof who, "%s",
                 orchestrates ? "the orchestration, or a kernel that had already ended"
                              : "a kernel that had already ended");
    run->result.status = TG_KERNEL_FAULT;
    tg_error_set(&run->error, TG_KERNEL_FAULT, "%s, after %llu of %llu tasks: %s", who,
                 (unsigned long long)run->result.finished, (unsigned long long)run->result.tasks,
                 fault_cause(fault, cause));
}

/* True if the device gave up for a reason outside any kernel: `signal` then holds a tg_status. */
static bool gave_up(const struct tg_fault_record *fault)
{
    return fault->valid == 1 && fault->worker == UINT32_MAX &&
           (fault->signal == TG_NO_MEMORY || fault->signal == TG_BAD_ARGUMENT ||
            fault->signal == TG_UNSUPPORTED || fault->signal == TG_DEVICE_LOST);
}

static void say_gave_up(struct tg_run *run, const struct tg_fault_record *fault)
{
    char words[112];
    run->result.status = (tg_status)fault->signal;
    tg_error_set(&run->error, run->result.status, "%s", fault_words(fault, words));
}

/* The orchestration function itself crashed. */
static void say_orchestration_fault(struct tg_run *run, const struct tg_fault_record *fault)
{
    char scope[128], address[80], cause[112], site[400];
    tg_run_scope_site(run, scope);
    run->result.status = TG_KERNEL_FAULT;
    tg_error_set(&run->error, TG_KERNEL_FAULT,
                 "the orchestration, in the scope of %s, after %llu tasks: %s%s%s", scope,
                 (unsigned long long)run->result.tasks, fault_cause(fault, cause),
                 fault_address(run, fault, address), site_text(&run->result.site, site));
}

/* Where the orchestration is that has not returned. */
static void find_orchestrator_site(struct tg_run *run)
{
    const struct tg_place_record *place = &run->status[tg_device_workers(run->device) - 1].place;
    if (run->graph->layout != NULL && run->report.state == TG_ORCHESTRATOR_RUNS)
        find_site(run, place, &run->orchestrator_site);
}

static void say_hang(struct tg_run *run, tg_status status)
{
    const struct tg_run_task *first = run->running;
    char who[700] = "", core[24], task[32], site[400];
    find_orchestrator_site(run);
    if (run->result.n_running > 0) {
        run->result.site = first->site;
        snprintf(who, sizeof who, ": task %s, kernel %s, on %s%s", tg_task_text(first->task, task),
                 first->kernel, tg_run_core_text(first->core, core), site_text(&first->site, site));
    } else if (run->graph->layout != NULL) {
        tg_run_orchestrator_doing(run, who, sizeof who);
        run->result.site = run->orchestrator_site;
        snprintf(who + strlen(who), sizeof who - strlen(who), "%s",
                 site_text(&run->result.site, site));
    }
    if (run->result.n_running > 1)
        snprintf(who + strlen(who), sizeof who - strlen(who), " and %u more",
                 run->result.n_running - 1);
    tg_error_set(&run->error, status,
                 "%s%g s without a finished task, %llu of %llu finished, %u running%s",
                 status == TG_CANCELLED ? "cancelled, but the device did not stop: " : "",
                 run->idle.seconds, (unsigned long long)run->result.finished,
                 (unsigned long long)run->result.tasks, run->result.n_running, who);
}

static void say_lost(struct tg_run *run)
{
    struct tg_autopsy autopsy;
    run->device->ops->autopsy(run->device->state, &autopsy);
    tg_error_set(&run->error, TG_DEVICE_LOST, "the device %s after %llu of %llu tasks, %u running",
                 autopsy.cause, (unsigned long long)run->result.finished,
                 (unsigned long long)run->result.tasks, run->result.n_running);
}

/* Where the device crashed. */
static void find_fault_site(struct tg_run *run)
{
    struct tg_place_record place;
    uint64_t address = run->device->control + offsetof(struct tg_control_head, fault_place);
    if (tg_device_copy_out(run->device, &place, address, sizeof place, NULL) != TG_OK)
        return;
    run->overflow = place.state == TG_PLACE_STACK_OVERFLOW;
    if (place.state == TG_PLACE_FOUND || place.state == TG_PLACE_STACK_OVERFLOW)
        find_site(run, &place, &run->result.site);
}

void tg_run_describe_failure(struct tg_run *run, tg_status status)
{
    struct tg_fault_record fault;
    struct tg_device *device = run->device;
    struct tg_autopsy autopsy;
    struct tg_task_desc desc;
    bool in_orchestration, somewhere, unable, missing;
    uint64_t address = device->control + offsetof(struct tg_control_head, fault);
    /* The rest of the control area is not read: the pulse's thread may still count there. */
    if (tg_device_copy_out(device, &fault, address, sizeof fault, NULL) != TG_OK)
        memset(&fault, 0, sizeof fault);
    device->ops->autopsy(device->state, &autopsy);
    in_orchestration = autopsy.crashed && fault.valid && run->graph->layout != NULL &&
                       fault.worker == tg_device_workers(device) - 1;
    somewhere = autopsy.crashed && fault.valid && fault.signal == 0;
    unable = autopsy.crashed && gave_up(&fault);
    if (!autopsy.crashed || fault.worker >= device->head.n_lanes ||
        !find(run, fault.running, fault.part, &desc))
        fault.valid = 0;
    if (autopsy.crashed)
        find_fault_site(run);
    missing = autopsy.crashed && find_missing(run, &fault, &desc);
    list_running(run, &fault);
    list_unmet(run);
    if (status != TG_DEVICE_LOST)
        say_hang(run, status);
    else if (unable)
        say_gave_up(run, &fault);
    else if (missing)
        say_missing(run, &fault, &desc);
    else if (in_orchestration)
        say_orchestration_fault(run, &fault);
    else if (fault.valid)
        say_fault(run, &fault, &desc);
    else if (somewhere)
        say_fault_somewhere(run, &fault);
    else
        say_lost(run);
}
