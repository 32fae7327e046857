/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the task behind a number that the device wrote. For a graph that the host built, the number
 * is an index into the host's own array. For a graph that the device built, it is a slot in device
 * memory, which the host copies and checks before use.
 */
#include "common/stored_args.h"
#include "host/run.h"
#include <string.h>

static uint64_t slots_of(const struct tg_run *run)
{
    return run->graph->layout ? run->graph->layout->launch.n_tasks : run->result.tasks;
}

bool tg_run_desc_makes_sense(const struct tg_run *run, const struct tg_task_desc *desc)
{
    const struct tg_graph_layout *layout = run->graph->layout;
    uint32_t first = layout->orchestration.first_kernel, n = layout->orchestration.n_kernels;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (desc->kernel[part] != TG_NO_KERNEL && desc->kernel[part] - first >= n)
            return false;
    return desc->n_tensors <= TG_MAX_TENSORS && desc->n_scalars <= TG_MAX_SCALARS &&
           desc->id >> 32 < TG_RINGS;
}

/* Rebuilds the descriptor from the lanes' status if the device's memory is lost. */
static bool find_in_status(const struct tg_run *run, uint64_t running, struct tg_task_desc *desc)
{
    uint32_t parts = 0;
    memset(desc, 0, sizeof *desc);
    for (uint32_t part = 0; part < TG_PARTS; part++)
        desc->kernel[part] = TG_NO_KERNEL;
    for (uint32_t i = 0; i < run->device->head.n_lanes; i++) {
        const struct tg_worker_status *status = &run->status[i];
        if (status->running != running || status->part >= TG_PARTS)
            continue;
        desc->id = status->task_id;
        desc->kernel[status->part] = status->kernel;
        parts++;
    }
    desc->succ = TG_DEP_NONE;
    return parts > 0;
}

bool tg_run_find_task(const struct tg_run *run, uint64_t running, struct tg_task_desc *desc)
{
    const struct tg_graph_layout *layout = run->graph->layout;
    if (running == 0 || running > slots_of(run))
        return false;
    if (layout == NULL) {
        *desc = tg_graph_desc(run->graph, running - 1);
        return true;
    }
    if (tg_device_copy_out(run->device, desc, layout->launch.desc + (running - 1) * sizeof *desc,
                           sizeof *desc, NULL) != TG_OK &&
        !find_in_status(run, running, desc))
        return false;
    return tg_run_desc_makes_sense(run, desc);
}

static bool in_memory(const struct tg_run *run, const struct tg_tensor *t)
{
    uint64_t start = run->device->head.memory_start, end = run->device->head.memory_end;
    return t->storage_bytes == 0 ||
           (t->addr >= start && t->addr <= end && t->storage_bytes <= end - t->addr);
}

/* Reads the tensors of a task that the device made. */
static bool find_in_slot(const struct tg_run *run, const struct tg_task_desc *desc,
                         struct tg_tensor *tensors)
{
    const struct tg_graph_layout *layout = run->graph->layout;
    uint64_t stored[TG_STORED_MOST_WORDS], most = layout->orchestration.payload_stride;
    uint64_t room = (uint64_t)layout->orchestration.n_args_blocks * TG_ARGS_BLOCK;
    uint64_t bytes = tg_stored_most_bytes(desc->n_tensors, desc->n_scalars);
    bytes = bytes < most ? bytes : most;
    return desc->args <= room - bytes &&
           tg_device_copy_out(run->device, stored, layout->launch.payload + desc->args, bytes,
                              NULL) == TG_OK &&
           tg_stored_get_all_checked(stored, (uint32_t)(bytes / 8), desc->n_scalars,
                                     desc->n_tensors, tensors);
}

bool tg_run_find_tensors(const struct tg_run *run, const struct tg_task_desc *desc,
                         struct tg_tensor *tensors)
{
    if (run->graph->layout ? !find_in_slot(run, desc, tensors)
                           : !tg_graph_tensors(run->graph, desc, tensors))
        return false;
    for (uint32_t i = 0; i < desc->n_tensors; i++)
        if (!in_memory(run, &tensors[i]))
            return false;
    return true;
}
