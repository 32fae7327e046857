/* SPDX-License-Identifier: Apache-2.0 */
#include "host/graph_tasks.h"
#include "base/grow.h"

bool tg_graph_tasks_new_kind(struct tg_graph_tasks *tasks, const struct tg_task_desc *desc,
                             uint32_t line, uint32_t hash, uint32_t *kind)
{
    if (!tg_grow(&tasks->kind, &tasks->room_kinds, (size_t)tasks->n_kinds + 1, sizeof *tasks->kind))
        return false;
    *kind = tasks->recent[hash] = tasks->n_kinds++;
    tasks->kind[*kind] = (struct tg_task_kind){
        .kernel = {desc->kernel[0], desc->kernel[1], desc->kernel[2]},
        .task_class = desc->task_class,
        .n_tensors = desc->n_tensors,
        .n_scalars = desc->n_scalars,
        .n_parts = desc->n_parts,
        .roles = desc->roles,
        .marks = desc->marks,
        .site = desc->site,
        .line = line,
    };
    return true;
}

void tg_graph_tasks_clear(struct tg_graph_tasks *tasks)
{
    tasks->count = 0;
    tasks->n_kinds = 0;
}

void tg_graph_tasks_free(struct tg_graph_tasks *tasks)
{
    free(tasks->at);
    free(tasks->kind);
    *tasks = (struct tg_graph_tasks){0};
}
