/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the shapes on the device while their tasks run. For aicpu_build_graph the orchestration
 * gives the edges by task ids; tensormap_and_ringbuffer finds them from the cells that the tasks
 * name. */
#include "kernels.h"

#include "../tasks/shapes.h"

/* Ids of the latest tasks are kept by index modulo this: no shape but the tree refers further
 * back. */
enum { REMEMBERED = 32 };

/* Like tg_tensor_slice, but in place, as a loop that makes many views would do it. */
TG_FN static void put_cells(struct tg_args *task, enum tg_role role, const struct tg_tensor *cells,
                            uint64_t first, uint64_t count)
{
    struct tg_tensor *view = &task->tensor[task->n_tensors];
    tg_args_put(task, role, cells);
    view->start = (int64_t)first;
    view->shape[0] = (int64_t)count;
}

/* The predecessors of a task are adjacent in every shape, so one view covers them all. */
TG_FN static uint64_t submit_task(struct tg_rt *rt, const struct tg_args *args, uint64_t i,
                                  const uint64_t *ids)
{
    uint64_t preds[SHAPE_MAX_PREDS], round = args->scalar[ARG_ROUND].bits;
    uint64_t told = args->scalar[ARG_EXPLICIT].bits;
    int count = shape_preds((enum shape)args->scalar[ARG_SHAPE].bits, i, preds);
    uint32_t kernel = count > 0 ? KERNEL_NEXT : KERNEL_FIRST;
    struct tg_args task;

    tg_args_init(&task);
    if (told)
        for (int k = 0; k < count; k++)
            tg_args_after(&task, ids[preds[k] % REMEMBERED]);
    if (told && !round)
        return tg_submit(rt, KERNEL_EMPTY, &task);
    if (count > 0)
        put_cells(&task, TG_IN, &args->tensor[0], preds[0], (uint64_t)count);
    put_cells(&task, round ? TG_INOUT : TG_OUT, &args->tensor[0], i, 1);
    if (round) {
        tg_args_u64(&task, round);
        kernel += KERNEL_MARK_FIRST - KERNEL_FIRST;
    }
    return tg_submit(rt, kernel, &task);
}

TG_ORCHESTRATION(gpu_orchestrate)
{
    uint64_t tasks = args->scalar[ARG_TASKS].bits, scope = args->scalar[ARG_SCOPE].bits;
    uint64_t ids[REMEMBERED];

    for (uint64_t i = 0; i < tasks; i += scope)
        TG_SCOPE(rt) {
            for (uint64_t k = i; k < i + scope && k < tasks; k++)
                ids[k % REMEMBERED] = submit_task(rt, args, k, ids);
        }
}
