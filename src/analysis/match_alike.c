/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether the tasks of two recordings are the same in the same order, which most runs that
 * are compared are. It takes one look at each record and does not follow the data.
 *
 * Two rows are alike if they have the same kernels, wait for the same rows, and their records look
 * the same: scalars, and which part of which tensor. Contents need not be equal, since they are what
 * the comparison is about; but equal contents make up for edges that are not the same (the runtime
 * leaves out an edge to a task that has finished long ago). A few rows may differ in a scalar, a view,
 * a kernel or an edge, if no other row of the other side is what the row was: if there is one, the
 * order has changed.
 */
#include <stdlib.h>

#include "analysis/match_flow.h"
#include "analysis/match_mix.h"
#include "analysis/source.h"
#include "recording/reader.h"

struct odd {
    uint64_t key;
    uint32_t row; /* in both recordings, not counting the input of the orchestration */
};

struct odds {
    struct odd *a, *b;
    uint32_t count, room;
};

struct rows {
    const struct tg_sources *a, *b;
    uint32_t first_a, first_b, count;
    struct tg_object_rule objects;
    bool is_known; /* something besides the kernels says that the rows are alike */
};

static uint64_t look_of(const struct rows *rows, const struct tg_sources *sources,
                        const struct tg_record *record)
{
    uint64_t hash = tg_mix_shape(record->role, record);
    if (record->kind == TG_KIND_SCALAR)
        return tg_mix(hash, record->value);
    return tg_mix(hash, tg_object_place(sources, &rows->objects, record));
}

enum likeness { ALIKE, OTHER_CONTENT, OTHER };

/* `has_edges`: the edges of deps.json say who wrote what is not part of an object. */
static enum likeness compare_records(struct rows *rows, const struct tg_record *a,
                                     const struct tg_record *b, bool has_edges)
{
    bool is_tensor = a->kind == TG_KIND_TENSOR;
    bool is_placed = a->data_ptr != 0 && b->data_ptr != 0;
    bool is_hashed = a->flags & b->flags & TG_RECORD_HASHED;
    if (is_tensor && !is_placed && (a->data_ptr != 0 || b->data_ptr != 0)) {
        if (tg_mix_shape(0, a) != tg_mix_shape(0, b))
            return OTHER;
    } else if (look_of(rows, rows->a, a) != look_of(rows, rows->b, b)) {
        return OTHER;
    }
    rows->is_known = rows->is_known || !is_tensor || is_placed;
    if (!is_tensor || a->stage != TG_BEFORE_DISPATCH || !is_hashed)
        return is_tensor && a->stage == TG_BEFORE_DISPATCH && !is_placed ? OTHER_CONTENT : ALIKE;
    rows->is_known = true;
    if (a->hash == b->hash)
        return ALIKE;
    /* Another content may be another task's, unless something else says which task it is. */
    return is_placed && (has_edges ||
                         (rows->objects.is_known && tg_sources_object(rows->a, a->data_ptr)))
               ? OTHER_CONTENT
               : OTHER;
}

/* Records that only one side has say nothing: they were lost, or not asked for. */
static enum likeness compare_all_records(struct rows *rows, const struct tg_task_row *a,
                                         const struct tg_task_row *b, bool has_edges)
{
    const struct tg_record_ref *x = rows->a->tasks->ref + a->first, *end_x = x + a->count;
    const struct tg_record_ref *y = rows->b->tasks->ref + b->first, *end_y = y + b->count;
    enum likeness worst = a->count > 0 && b->count > 0 ? ALIKE : OTHER_CONTENT;
    while (x < end_x && y < end_y) {
        if (x->place != y->place) {
            worst = worst == ALIKE ? OTHER_CONTENT : worst;
            x->place < y->place ? x++ : y++;
            continue;
        }
        const struct tg_record *p = tg_recording_at(rows->a->tasks->recording, (x++)->index);
        const struct tg_record *q = tg_recording_at(rows->b->tasks->recording, (y++)->index);
        if (p->stage == TG_STAGE_ORCHESTRATION)
            continue;
        enum likeness now = compare_records(rows, p, q, has_edges);
        worst = now > worst ? now : worst;
        if (worst == OTHER)
            break;
    }
    return worst;
}

/* --- edges ------------------------------------------------------------------------------------ */

static const struct tg_deps_task *deps_of(const struct tg_sources *sources, uint32_t row)
{
    const struct tg_tasks *tasks = sources->tasks;
    return tasks->row[row].deps == TG_NO_ROW ? NULL : &tasks->deps->task[tasks->row[row].deps];
}

static uint32_t edge_of(const struct tg_sources *sources, const struct tg_deps_task *task,
                        uint64_t edge, uint32_t first)
{
    const struct tg_tasks *tasks = sources->tasks;
    return tasks->of_deps[tasks->deps->before[task->first_edge + edge]] - first;
}

/* *is_known: both sides have the edges of this row. */
static bool same_edges(const struct rows *rows, uint32_t row, bool *is_known)
{
    const struct tg_deps_task *a = deps_of(rows->a, rows->first_a + row);
    const struct tg_deps_task *b = deps_of(rows->b, rows->first_b + row);
    *is_known = a && b;
    if (!a || !b)
        return true;
    if (a->n_edges != b->n_edges)
        return false;
    for (uint64_t i = 0; i < a->n_edges; i++)
        if (edge_of(rows->a, a, i, rows->first_a) != edge_of(rows->b, b, i, rows->first_b))
            return false;
    return true;
}

/* --- rows that are not alike ------------------------------------------------------------------- */

static uint64_t key_of_row(const struct rows *rows, const struct tg_sources *sources, uint32_t row)
{
    const struct tg_task_row *task = &sources->tasks->row[row];
    uint64_t key = tg_mix(0, (uintptr_t)task->kernel);
    for (uint64_t i = task->first; i < task->first + task->count; i++) {
        const struct tg_record *record =
            tg_recording_at(sources->tasks->recording, sources->tasks->ref[i].index);
        key = tg_mix(key, sources->tasks->ref[i].place);
        key = tg_mix(key, look_of(rows, sources, record));
        if (record->data_ptr == 0 && record->stage == TG_BEFORE_DISPATCH)
            key = tg_mix(key, record->hash);
    }
    return key;
}

static uint64_t add_edges(const struct tg_sources *sources, uint32_t first, uint32_t row,
                          uint64_t key)
{
    const struct tg_deps_task *deps = deps_of(sources, first + row);
    uint64_t sum = 1;
    for (uint64_t i = 0; deps && i < deps->n_edges; i++)
        sum += tg_mix(1, edge_of(sources, deps, i, first));
    return tg_mix(key, sum);
}

/* Rows that differ in their edges only may have changed places with rows that wait for others. */
static bool note_odd(const struct rows *rows, struct odds *odds, uint32_t row)
{
    if (odds->count == odds->room)
        return false;
    uint64_t a = key_of_row(rows, rows->a, rows->first_a + row);
    uint64_t b = key_of_row(rows, rows->b, rows->first_b + row);
    if (a == b) {
        a = add_edges(rows->a, rows->first_a, row, a);
        b = add_edges(rows->b, rows->first_b, row, b);
    }
    odds->a[odds->count] = (struct odd){a, row};
    odds->b[odds->count] = (struct odd){b, row};
    odds->count++;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct odd *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* True if a row of A is what another row of B is. */
static bool have_moved(struct odds *odds)
{
    qsort(odds->a, odds->count, sizeof *odds->a, by_key);
    qsort(odds->b, odds->count, sizeof *odds->b, by_key);
    for (uint32_t i = 0, k = 0; i < odds->count && k < odds->count;) {
        if (odds->a[i].key == odds->b[k].key) {
            if (odds->a[i].row != odds->b[k].row)
                return true;
            i++, k++;
        } else if (odds->a[i].key < odds->b[k].key) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

/* --- all rows --------------------------------------------------------------------------------- */

/* Another kernel may write its outputs in another order, and only the dataflow shows that. */
static bool has_several_outputs(const struct tg_tasks *tasks, const struct tg_task_row *row)
{
    uint32_t count = 0;
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        count += tg_record_ref_stage(&tasks->ref[i]) == TG_AFTER_COMPLETION;
    return count > 1;
}

static bool is_odd(struct rows *rows, uint32_t row, bool *is_hopeless)
{
    const struct tg_task_row *a = &rows->a->tasks->row[rows->first_a + row];
    const struct tg_task_row *b = &rows->b->tasks->row[rows->first_b + row];
    bool knows_edges, has_edges = same_edges(rows, row, &knows_edges);
    enum likeness likeness = compare_all_records(rows, a, b, knows_edges);
    rows->is_known = rows->is_known || knows_edges;
    /* Another kernel that reads other data is another task, not a renamed one. */
    if (a->kernel != b->kernel && (likeness == OTHER || !has_edges || a->count == 0 ||
                                   b->count == 0 || has_several_outputs(rows->a->tasks, a)))
        *is_hopeless = true;
    return a->kernel != b->kernel || likeness == OTHER || (!has_edges && likeness != ALIKE);
}

static bool are_alike(struct rows *rows, struct odds *odds)
{
    bool is_hopeless = false;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (is_odd(rows, i, &is_hopeless) && !note_odd(rows, odds, i))
            return false;
        if (is_hopeless)
            return false;
    }
    return odds->count == 0 || !have_moved(odds);
}

/* If more than one row of this many is odd, the dataflow decides. */
enum { ROWS_PER_ODD = 64 };

bool tg_match_alike(const struct tg_sources *a, const struct tg_sources *b, bool *is_alike,
                    bool *is_known)
{
    struct rows rows = {.a = a,
                        .b = b,
                        .first_a = tg_tasks_first(a->tasks),
                        .first_b = tg_tasks_first(b->tasks),
                        .count = a->tasks->n_rows - tg_tasks_first(a->tasks)};
    struct odds odds = {.room = rows.count / ROWS_PER_ODD};
    *is_alike = *is_known = false;
    tg_object_rule_make(a, b, &rows.objects);
    if (rows.count != b->tasks->n_rows - rows.first_b)
        return true;
    odds.a = malloc(((size_t)odds.room + 1) * sizeof *odds.a);
    odds.b = malloc(((size_t)odds.room + 1) * sizeof *odds.b);
    bool good = odds.a && odds.b;
    if (good)
        *is_alike = are_alike(&rows, &odds);
    *is_known = rows.is_known;
    free(odds.a);
    free(odds.b);
    return good;
}
