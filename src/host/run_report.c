/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be said about a run that failed, from what the device left in its memory. All of it
 * was written by a device that went wrong: every index is checked before it is used.
 */
#include "base/error.h"
#include "host/run.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *kernel_of(const struct tg_run *run, uint64_t task, uint32_t part)
{
    const struct tg_task_desc *desc = tg_graph_desc(run->graph, task);
    return tg_graph_kernel_name(run->graph, desc->kernel[part]);
}

/* True where `running` names a task of the graph and one of its parts. */
static bool makes_sense(const struct tg_run *run, uint64_t running, uint32_t part)
{
    return running > 0 && running <= run->result.tasks && part < TG_PARTS &&
           tg_graph_desc(run->graph, running - 1)->kernel[part] != TG_NO_KERNEL;
}

static void add_running(struct tg_run *run, uint32_t core, uint64_t running, uint32_t part,
                        bool faulted)
{
    run->running[run->result.n_running++] = (struct tg_run_task){
        .task = tg_graph_desc(run->graph, running - 1)->id,
        .core = core,
        .part = core % TG_PARTS,
        .kernel = kernel_of(run, running - 1, part),
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

static void list_running(struct tg_run *run, const struct tg_fault_record *fault)
{
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        const struct tg_worker_status *status = &run->status[i];
        if (!makes_sense(run, status->running, status->part))
            continue;
        tasks += !already_listed(run, tg_graph_desc(run->graph, status->running - 1)->id);
        add_running(run, i, status->running, status->part, fault->valid && fault->worker == i);
    }
    run->result.waiting = run->result.tasks - run->result.finished;
    run->result.waiting -= tasks < run->result.waiting ? tasks : run->result.waiting;
}

/* Who waits for the tasks that were running. */
static void list_unmet(struct tg_run *run)
{
    uint64_t n_edges;
    const struct tg_edge *edge = tg_graph_edge_list(run->graph, &n_edges);
    for (uint64_t i = 0; run->result.n_running > 0 && i < n_edges; i++) {
        uint64_t before = tg_graph_desc(run->graph, edge[i].before)->id;
        if (!already_listed(run, before))
            continue;
        if (run->result.n_unmet < TG_MAX_UNMET)
            run->result.unmet[run->result.n_unmet] = (struct tg_run_unmet){
                .task = tg_graph_desc(run->graph, edge[i].after)->id, .waits_for = before};
        run->result.n_unmet++;
    }
}

static const char *core_name(uint32_t lane, char text[24])
{
    static const char *const part[] = {"AIC", "AIV0", "AIV1"};
    snprintf(text, 24, "core %u (%s)", lane, part[lane % TG_PARTS]);
    return text;
}

static void say_fault(struct tg_run *run, const struct tg_fault_record *fault)
{
    const char *signal = strsignal(fault->signal);
    char core[24], address[40] = "";
    if (fault->signal == SIGSEGV || fault->signal == SIGBUS)
        snprintf(address, sizeof address, " at address 0x%llx", (unsigned long long)fault->address);
    run->result.status = TG_KERNEL_FAULT;
    tg_error_set(&run->error, TG_KERNEL_FAULT, "task %llu, kernel %s, on %s: %s%s",
                 (unsigned long long)tg_graph_desc(run->graph, fault->running - 1)->id,
                 kernel_of(run, fault->running - 1, fault->part), core_name(fault->worker, core),
                 signal ? signal : "unknown signal", address);
}

static void say_hang(struct tg_run *run, tg_status status)
{
    const struct tg_run_task *first = run->running;
    char who[160] = "", core[24];
    if (run->result.n_running > 0)
        snprintf(who, sizeof who, ": task %llu, kernel %s, on %s", (unsigned long long)first->task,
                 first->kernel, core_name(first->core, core));
    if (run->result.n_running > 1)
        snprintf(who + strlen(who), sizeof who - strlen(who), " and %u more",
                 run->result.n_running - 1);
    tg_error_set(&run->error, status,
                 "%s%g s without a finished task, %llu of %llu finished, %u running%s",
                 status == TG_CANCELLED ? "cancelled, but the device did not stop: " : "",
                 run->timeout, (unsigned long long)run->result.finished,
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

void tg_run_report(struct tg_run *run, tg_status status)
{
    struct tg_control_head head;
    struct tg_device *device = run->device;
    struct tg_autopsy autopsy;
    if (tg_device_copy_out(device, &head, device->control, sizeof head, NULL) != TG_OK)
        memset(&head, 0, sizeof head);
    device->ops->autopsy(device->state, &autopsy);
    if (!autopsy.crashed || head.fault.worker >= device->head.n_lanes ||
        !makes_sense(run, head.fault.running, head.fault.part))
        head.fault.valid = 0;
    list_running(run, &head.fault);
    list_unmet(run);
    if (status != TG_DEVICE_LOST)
        say_hang(run, status);
    else if (head.fault.valid)
        say_fault(run, &head.fault);
    else
        say_lost(run);
}
