/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own list of the tasks of a graph: 16 bytes each. Tasks of one kind, for instance those of
 * one loop, share all of their descriptor but their arguments and edges, so that part is kept once.
 *
 *   tasks ──► ┌──────┬──────┬───────┬────────┐      kinds ──► ┌─────────┬────────┬───────┬──────┐
 *             │ kind │ args │ fanin │ n_succ │ …              │ kernels │ counts │ roles │ site │ …
 *             └──────┴──────┴───────┴────────┘                └─────────┴────────┴───────┴──────┘
 *
 * A kind also has the source line of the submit, because tasks of one line are of one kind.
 *
 * From this the host makes the descriptors that the device runs, again after a run that failed, and
 * names tasks in its reports. It never reads a descriptor back: a kernel can overwrite the image.
 */
#ifndef TG_HOST_GRAPH_TASKS_H
#define TG_HOST_GRAPH_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/wire/task.h>

struct tg_host_task {
    uint32_t kind;
    uint32_t args; /* where its arguments begin, in words from the start of their chunk */
    uint32_t fanin;
    uint32_t n_succ;
};

struct tg_task_kind {
    uint32_t kernel[TG_PARTS];
    uint8_t task_class, n_tensors, n_scalars, n_parts;
    uint32_t roles, marks, site;
    uint32_t line; /* 1 + the site of the call that added it; 0: not known */
};

/* A kind that was not among the last of its hash is stored again, which only takes memory. */
enum { TG_RECENT_KINDS = 64 };

struct tg_graph_tasks {
    struct tg_host_task *at;
    uint64_t count;
    size_t room;
    struct tg_task_kind *kind;
    uint32_t n_kinds;
    size_t room_kinds;
    uint32_t recent[TG_RECENT_KINDS]; /* the last kind of that hash */
};

/* Stores a new kind. False if memory ran out. */
bool tg_graph_tasks_new_kind(struct tg_graph_tasks *tasks, const struct tg_task_desc *desc,
                             uint32_t line, uint32_t hash, uint32_t *kind);

static inline bool tg_task_is_of_kind(const struct tg_task_desc *d, uint32_t line,
                                      const struct tg_task_kind *k)
{
    uint32_t differs = (d->kernel[0] ^ k->kernel[0]) | (d->kernel[1] ^ k->kernel[1]) |
                       (d->kernel[2] ^ k->kernel[2]) | (d->roles ^ k->roles) |
                       (d->marks ^ k->marks) | (d->site ^ k->site) | (line ^ k->line);
    return (differs | (uint32_t)(d->n_tensors ^ k->n_tensors) |
            (uint32_t)(d->n_scalars ^ k->n_scalars)) == 0;
}

/* The kind of a task that has this descriptor and line; its class and parts follow from its kernels. */
static inline bool tg_graph_tasks_kind(struct tg_graph_tasks *tasks,
                                       const struct tg_task_desc *desc, uint32_t line,
                                       uint32_t *kind)
{
    uint32_t mixed = (desc->kernel[0] ^ desc->kernel[1] * 3 ^ desc->kernel[2] * 5 ^ desc->roles) +
                     (desc->marks ^ desc->site * 7) + line * 11;
    uint32_t hash = (mixed * 2654435769u) >> 26;
    *kind = tasks->recent[hash];
    return (*kind < tasks->n_kinds && tg_task_is_of_kind(desc, line, &tasks->kind[*kind])) ||
           tg_graph_tasks_new_kind(tasks, desc, line, hash, kind);
}

/* The descriptor of a task, but for `args` and `succ`, `next`: the caller sets those. */
static inline struct tg_task_desc tg_graph_tasks_desc(const struct tg_graph_tasks *tasks,
                                                      uint64_t task)
{
    const struct tg_host_task *t = &tasks->at[task];
    const struct tg_task_kind *k = &tasks->kind[t->kind];
    return (struct tg_task_desc){
        .id = task, /* ring 0 */
        .kernel = {k->kernel[0], k->kernel[1], k->kernel[2]},
        .task_class = k->task_class,
        .n_tensors = k->n_tensors,
        .n_scalars = k->n_scalars,
        .n_parts = k->n_parts,
        .roles = k->roles,
        .marks = k->marks,
        .fanin = t->fanin,
        .n_succ = t->n_succ,
        .site = k->site,
        .pending = t->fanin,
    };
}

void tg_graph_tasks_clear(struct tg_graph_tasks *tasks);
void tg_graph_tasks_free(struct tg_graph_tasks *tasks);

#endif
