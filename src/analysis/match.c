/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to match two recordings");
}

/* Row 0 may be the input of the orchestration, which is not a task and is always matched with its
 * like. */
static uint32_t first_task(const struct tg_tasks *tasks)
{
    return tasks->n_rows > 0 && tasks->row[0].id == TG_TASK_NONE ? 1 : 0;
}

/* --- by id ------------------------------------------------------------------------------------ */

/* True if ids mean the same on both sides: every id that both have has the same kernels, and few
 * ids (none, if `all` is set) are on one side only. */
static bool ids_agree(const struct tg_tasks *a, const struct tg_tasks *b, bool all)
{
    uint32_t n_a = a->n_rows - first_task(a), n_b = b->n_rows - first_task(b), common = 0;
    uint32_t fewer = n_a < n_b ? n_a : n_b;
    for (uint32_t i = first_task(a); i < a->n_rows; i++) {
        uint32_t other = tg_tasks_find(b, a->row[i].id);
        if (other == TG_NO_ROW)
            continue;
        if (a->row[i].kernel != b->row[other].kernel)
            return false;
        common++;
    }
    return all ? common == n_a && common == n_b : common > 0 && common >= fewer - fewer / 4;
}

static void match_by_id(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner)
{
    for (uint32_t i = first_task(a); i < a->n_rows; i++)
        partner[i] = tg_tasks_find(b, a->row[i].id);
}

/* --- by position ------------------------------------------------------------------------------ */

struct keyed {
    const char *kernel;
    uint32_t row;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    if (left->kernel != right->kernel)
        return (uintptr_t)left->kernel < (uintptr_t)right->kernel ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* Sorts the rows that have no partner yet by kernel, then by order. */
static struct keyed *sort_by_kernel(const struct tg_tasks *tasks, const bool *is_taken,
                                    uint32_t *count)
{
    struct keyed *list = malloc(((size_t)tasks->n_rows + 1) * sizeof *list);
    *count = 0;
    if (!list)
        return NULL;
    for (uint32_t i = first_task(tasks); i < tasks->n_rows; i++)
        if (!is_taken || !is_taken[i])
            list[(*count)++] = (struct keyed){tasks->row[i].kernel, i};
    qsort(list, *count, sizeof *list, compare_keyed);
    return list;
}

/* Matches the n-th task of a kernel with the n-th on the other side. Returns true if none is left
 * over. */
static bool join_lists(const struct keyed *a, uint32_t n_a, const struct keyed *b, uint32_t n_b,
                       uint32_t *partner)
{
    uint32_t i = 0, k = 0;
    bool is_perfect = n_a == n_b;
    while (i < n_a && k < n_b) {
        if (a[i].kernel == b[k].kernel) {
            if (partner)
                partner[a[i].row] = b[k].row;
            i++, k++;
            continue;
        }
        is_perfect = false;
        if ((uintptr_t)a[i].kernel < (uintptr_t)b[k].kernel)
            i++;
        else
            k++;
    }
    return is_perfect;
}

/* Matches the rows that have no partner yet. With `partner` NULL it only finds out whether the
 * match would be perfect. Returns false if memory ran out. */
static bool match_by_position(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner,
                              const bool *taken_a, const bool *taken_b, bool *is_perfect)
{
    uint32_t n_a, n_b;
    struct keyed *list_a = sort_by_kernel(a, taken_a, &n_a);
    struct keyed *list_b = sort_by_kernel(b, taken_b, &n_b);
    bool good = list_a && list_b;
    if (good)
        *is_perfect = join_lists(list_a, n_a, list_b, n_b, partner);
    free(list_a);
    free(list_b);
    return good;
}

/* --- by alignment ----------------------------------------------------------------------------- */

static const char **kernels_of(const struct tg_tasks *tasks)
{
    const char **kernel = malloc(((size_t)tasks->n_rows + 1) * sizeof *kernel);
    for (uint32_t i = 0; kernel && i < tasks->n_rows; i++)
        kernel[i] = tasks->row[i].kernel;
    return kernel;
}

static bool align_rows(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner)
{
    const char **kernel_a = kernels_of(a), **kernel_b = kernels_of(b);
    uint32_t skip_a = first_task(a), skip_b = first_task(b);
    bool good = kernel_a && kernel_b &&
                tg_align(kernel_a + skip_a, a->n_rows - skip_a, kernel_b + skip_b,
                         b->n_rows - skip_b, partner + skip_a);
    for (uint32_t i = skip_a; good && i < a->n_rows; i++)
        partner[i] = partner[i] == TG_NO_ROW ? TG_NO_ROW : partner[i] + skip_b;
    free((void *)kernel_a);
    free((void *)kernel_b);
    return good;
}

/* Tasks left over on both sides were submitted in another order, so they are matched by
 * position. */
static bool match_by_alignment(const struct tg_tasks *a, const struct tg_tasks *b,
                               uint32_t *partner)
{
    bool *taken_a = calloc((size_t)a->n_rows + 1, sizeof *taken_a);
    bool *taken_b = calloc((size_t)b->n_rows + 1, sizeof *taken_b);
    bool is_perfect, good = taken_a && taken_b && align_rows(a, b, partner);
    for (uint32_t i = first_task(a); good && i < a->n_rows; i++)
        if (partner[i] != TG_NO_ROW)
            taken_a[i] = taken_b[partner[i]] = true;
    good = good && match_by_position(a, b, partner, taken_a, taken_b, &is_perfect);
    free(taken_a);
    free(taken_b);
    return good;
}

/* --- choosing a method ------------------------------------------------------------------------ */

static bool match_rows(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner,
                       const char **how)
{
    bool is_perfect;
    for (uint32_t i = 0; i < a->n_rows; i++)
        partner[i] = TG_NO_ROW;
    if (first_task(a) && first_task(b))
        partner[0] = 0;
    *how = "id";
    if (ids_agree(a, b, true)) {
        match_by_id(a, b, partner);
        return true;
    }
    if (!match_by_position(a, b, NULL, NULL, NULL, &is_perfect))
        return false;
    if (is_perfect) {
        *how = "position";
        return match_by_position(a, b, partner, NULL, NULL, &is_perfect);
    }
    if (ids_agree(a, b, false)) {
        match_by_id(a, b, partner);
        return true;
    }
    *how = "alignment";
    return match_by_alignment(a, b, partner);
}

/* Lists the tasks of A in their order, then those that only B has. */
static bool list_tasks(const struct tg_tasks *a, const struct tg_tasks *b, const uint32_t *partner,
                       struct tg_match *match)
{
    bool *is_matched = calloc((size_t)b->n_rows + 1, sizeof *is_matched);
    match->task = calloc((size_t)a->n_rows + b->n_rows + 1, sizeof *match->task);
    if (!is_matched || !match->task) {
        free(is_matched);
        return false;
    }
    for (uint32_t i = 0; i < a->n_rows; i++) {
        bool is_task = a->row[i].id != TG_TASK_NONE;
        match->task[match->n_tasks++] =
            (struct tg_matched_task){.a = i, .b = partner[i], .part_of = TG_NO_ROW};
        match->only_a += is_task && partner[i] == TG_NO_ROW;
        match->matched += is_task && partner[i] != TG_NO_ROW;
        if (partner[i] != TG_NO_ROW)
            is_matched[partner[i]] = true;
    }
    for (uint32_t i = 0; i < b->n_rows; i++)
        if (!is_matched[i]) {
            match->task[match->n_tasks++] =
                (struct tg_matched_task){.a = TG_NO_ROW, .b = i, .part_of = TG_NO_ROW};
            match->only_b += b->row[i].id != TG_TASK_NONE;
        }
    free(is_matched);
    return true;
}

/* --- records ---------------------------------------------------------------------------------- */

static void add_pair(struct tg_match *match, uint64_t a, uint64_t b, uint32_t task)
{
    match->pair[match->n_pairs++] = (struct tg_matched_pair){a, b, task};
}

/* Both sides are sorted by stage and argument; several records of one place are paired in order. */
static void pair_records(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t number,
                         struct tg_match *match)
{
    struct tg_matched_task *task = &match->task[number];
    const struct tg_task_row *row_a = &a->row[task->a], *row_b = &b->row[task->b];
    const struct tg_record_ref *x = a->ref + row_a->first, *y = b->ref + row_b->first;
    const struct tg_record_ref *end_x = x + row_a->count, *end_y = y + row_b->count;
    task->first_pair = match->n_pairs;
    while (x < end_x || y < end_y) {
        if (y == end_y || (x < end_x && x->place < y->place))
            add_pair(match, (x++)->index, TG_NONE, number);
        else if (x == end_x || y->place < x->place)
            add_pair(match, TG_NONE, (y++)->index, number);
        else
            add_pair(match, (x++)->index, (y++)->index, number);
    }
    task->n_pairs = match->n_pairs - task->first_pair;
}

static bool list_pairs(const struct tg_tasks *a, const struct tg_tasks *b, struct tg_match *match)
{
    uint64_t most = a->n_refs + b->n_refs;
    match->pair = malloc((size_t)(most + 1) * sizeof *match->pair);
    if (!match->pair)
        return false;
    for (uint32_t i = 0; i < match->n_tasks; i++)
        if (match->task[i].a != TG_NO_ROW && match->task[i].b != TG_NO_ROW)
            pair_records(a, b, i, match);
    return true;
}

tg_status tg_match_make(struct tg_sources *source_a, struct tg_sources *source_b,
                        struct tg_match *match, struct tg_error *error)
{
    const struct tg_tasks *a = source_a->tasks, *b = source_b->tasks;
    uint32_t *partner = malloc(((size_t)a->n_rows + 1) * sizeof *partner);
    *match = (struct tg_match){.how = "id"};
    bool good = partner && match_rows(a, b, partner, &match->how) &&
                list_tasks(a, b, partner, match) && list_pairs(a, b, match);
    free(partner);
    if (good)
        return TG_OK;
    tg_match_free(match);
    return no_memory(error);
}

void tg_match_free(struct tg_match *match)
{
    free(match->task);
    free(match->pair);
    *match = (struct tg_match){0};
}
