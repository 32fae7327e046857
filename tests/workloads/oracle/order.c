/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

/* A multiple of 8, so that no element is in two cells. */
TG_FN static uint64_t cell_bytes(const struct buffer *b)
{
    return (b->whole.storage_bytes + 8 * CELLS - 1) / (8 * CELLS) * 8;
}

TG_FN static void add(struct edges *edges, uint64_t task)
{
    if (task == TG_TASK_NONE)
        return;
    for (uint32_t i = 0; i < edges->n; i++)
        if (edges->task[i] == task)
            return;
    edges->task[edges->n++] = task;
}

/* The reader that the next one replaces. The next one waits for it, so a task that waits for the
 * next one waits for both. */
TG_FN static uint32_t oldest_reader(const struct cell *cell)
{
    return cell->n_readers % CELL_READERS;
}

TG_FN static void need_cell(const struct cell *cell, uint32_t role, struct edges *edges)
{
    add(edges, cell->writer);
    if (role != TG_IN)
        for (uint32_t i = 0; i < CELL_READERS && i < cell->n_readers; i++)
            add(edges, cell->reader[i]);
    else if (cell->n_readers >= CELL_READERS)
        add(edges, cell->reader[oldest_reader(cell)]);
}

TG_FN void oracle_need(struct program *p, const struct access *access, uint32_t n,
                       struct edges *edges)
{
    edges->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t size = cell_bytes(&p->buffer[access[i].buffer]);
        if (!p->is.edges && access[i].buffer != ORACLE_hidden)
            continue;
        for (uint64_t k = access[i].lo / size; k <= access[i].hi / size; k++)
            need_cell(&p->cell[access[i].buffer][k], access[i].role, edges);
    }
    if (edge_chance(p, 50)) /* an edge that is not needed */
        add(edges, p->recent[oracle_next(&p->edge_random) % RECENT]);
}

/* Drops edges on purpose. */
TG_FN static void drop(struct program *p, struct edges *edges)
{
    uint32_t kept = 0;
    if (p->is.drop == 0)
        return;
    for (uint32_t i = 0; i < edges->n; i++)
        if (!edge_chance(p, (uint64_t)p->is.drop))
            edges->task[kept++] = edges->task[i];
    edges->n = kept;
}

TG_FN uint32_t oracle_attach(struct program *p, struct edges *edges, struct tg_args *args)
{
    uint32_t later = 0;
    bool defers = p->scope[p->depth].holds && edge_chance(p, 500);
    drop(p, edges);
    if (defers)
        later = (uint32_t)(oracle_next(&p->edge_random) % (edges->n + 1));
    if (later > MAX_DEFERRED - p->n_deferred)
        later = MAX_DEFERRED - p->n_deferred;
    if (edge_chance(p, 200)) {
        tg_args_after_all(args, edges->task + later, edges->n - later);
        return later;
    }
    for (uint32_t i = later; i < edges->n; i++) {
        if (i - later == TG_MAX_INLINE_AFTER) {
            tg_args_after_all(args, edges->task + i, edges->n - i);
            break;
        }
        tg_args_after(args, edges->task[i]);
    }
    return later;
}

TG_FN static void has_read(struct cell *cell, uint64_t task)
{
    for (uint32_t i = 0; i < CELL_READERS && i < cell->n_readers; i++)
        if (cell->reader[i] == task)
            return;
    cell->reader[oldest_reader(cell)] = task;
    cell->n_readers++;
}

TG_FN static void has_written(struct cell *cell, uint64_t task)
{
    cell->writer = task;
    cell->n_readers = 0;
}

TG_FN static void note(struct program *p, uint64_t task, const struct access *access, bool writes)
{
    uint64_t size = cell_bytes(&p->buffer[access->buffer]);
    for (uint64_t k = access->lo / size; k <= access->hi / size; k++) {
        struct cell *cell = &p->cell[access->buffer][k];
        if (writes && access->role != TG_IN)
            has_written(cell, task);
        else if (!writes && access->role == TG_IN)
            has_read(cell, task);
    }
}

/* Enters the reads first: if the task also writes a cell, it counts as the writer. */
TG_FN void oracle_done(struct program *p, uint64_t task, const struct access *access, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        note(p, task, &access[i], false);
    for (uint32_t i = 0; i < n; i++)
        note(p, task, &access[i], true);
    p->recent[p->n_tasks % RECENT] = task;
    p->n_tasks++;
}

TG_FN uint64_t oracle_writer(const struct program *p, const struct access *access)
{
    uint64_t size = cell_bytes(&p->buffer[access->buffer]);
    return p->cell[access->buffer][access->hi / size].writer;
}

TG_FN uint32_t oracle_add_buffer(struct program *p, struct tg_tensor whole, uint64_t task,
                                 uint32_t argument)
{
    struct buffer *b;
    if (p->n_buffers == MAX_BUFFERS || whole.storage_bytes == 0)
        return NO_BUFFER;
    b = &p->buffer[p->n_buffers];
    b->whole = whole;
    b->task = task;
    b->argument = argument;
    for (uint32_t k = 0; k < CELLS; k++) {
        p->cell[p->n_buffers][k].writer = task;
        p->cell[p->n_buffers][k].n_readers = 0;
    }
    return p->n_buffers++;
}
