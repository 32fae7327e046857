/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analysis/match_flow.h"

/* --- by id ------------------------------------------------------------------------------------ */

/* True if ids mean the same on both sides: every id that both have has the same kernels, and few
 * ids (none, if `all` is set) are on one side only. */
static bool ids_agree(const struct tg_tasks *a, const struct tg_tasks *b, bool all)
{
    uint32_t n_a = a->n_rows - tg_tasks_first(a), n_b = b->n_rows - tg_tasks_first(b), common = 0;
    uint32_t fewer = n_a < n_b ? n_a : n_b;
    for (uint32_t i = tg_tasks_first(a); i < a->n_rows; i++) {
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
    for (uint32_t i = tg_tasks_first(a); i < a->n_rows; i++)
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
    for (uint32_t i = tg_tasks_first(tasks); i < tasks->n_rows; i++)
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
    uint32_t skip_a = tg_tasks_first(a), skip_b = tg_tasks_first(b);
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
    for (uint32_t i = tg_tasks_first(a); good && i < a->n_rows; i++)
        if (partner[i] != TG_NO_ROW)
            taken_a[i] = taken_b[partner[i]] = true;
    good = good && match_by_position(a, b, partner, taken_a, taken_b, &is_perfect);
    free(taken_a);
    free(taken_b);
    return good;
}

/* --- choosing a method ------------------------------------------------------------------------ */

bool tg_match_by_order(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner,
                       const char **how)
{
    bool is_perfect;
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

/* --- what matching by dataflow left over --------------------------------------------------------- */

static bool try_pair(struct tg_matching *m, uint32_t a, uint32_t b)
{
    if (m->a.canon[a] != TG_NO_ROW || m->b.canon[b] != TG_NO_ROW ||
        m->a.tasks->row[a].kernel != m->b.tasks->row[b].kernel ||
        tg_matching_contradicts(m, a, b, true))
        return true;
    bool is_retiled;
    if (!tg_match_tiles(m, a, b, &is_retiled))
        return false;
    return is_retiled || tg_matching_pair(m, a, b);
}

static bool pair_same_ids(struct tg_matching *m)
{
    for (uint32_t i = m->a.first; i < m->a.n_rows; i++) {
        uint32_t other = m->a.canon[i] == TG_NO_ROW
                             ? tg_tasks_find(m->b.tasks, m->a.tasks->row[i].id)
                             : TG_NO_ROW;
        if (other != TG_NO_ROW && !try_pair(m, i, other))
            return false;
    }
    return true;
}

/* The rows of one side that have no partner, in their order. */
struct left {
    uint32_t *row;
    const char **kernel;
    uint32_t count;
};

static bool list_left(const struct tg_side *side, struct left *left)
{
    *left = (struct left){.row = malloc(((size_t)side->n_rows + 1) * sizeof *left->row),
                          .kernel = malloc(((size_t)side->n_rows + 1) * sizeof *left->kernel)};
    if (!left->row || !left->kernel)
        return false;
    for (uint32_t i = side->first; i < side->n_rows; i++)
        if (side->canon[i] == TG_NO_ROW) {
            left->kernel[left->count] = side->tasks->row[i].kernel;
            left->row[left->count++] = i;
        }
    return true;
}

static void free_left(struct left *left)
{
    free(left->row);
    free((void *)left->kernel);
}

static bool align_left(struct tg_matching *m, const struct left *a, const struct left *b)
{
    uint32_t *partner = malloc(((size_t)a->count + 1) * sizeof *partner);
    bool good = partner && tg_align(a->kernel, a->count, b->kernel, b->count, partner);
    for (uint32_t i = 0; good && i < a->count; i++)
        if (partner[i] != TG_NO_ROW)
            good = try_pair(m, a->row[i], b->row[partner[i]]);
    free(partner);
    return good;
}

static struct keyed *sort_left(const struct tg_side *side, uint32_t *count)
{
    struct keyed *list = malloc(((size_t)side->n_rows + 1) * sizeof *list);
    *count = 0;
    for (uint32_t i = side->first; list && i < side->n_rows; i++)
        if (side->canon[i] == TG_NO_ROW)
            list[(*count)++] = (struct keyed){side->tasks->row[i].kernel, i};
    if (list)
        qsort(list, *count, sizeof *list, compare_keyed);
    return list;
}

static bool pair_by_position(struct tg_matching *m)
{
    uint32_t n_a, n_b, i = 0, k = 0;
    struct keyed *a = sort_left(&m->a, &n_a), *b = sort_left(&m->b, &n_b);
    bool good = a && b;
    while (good && i < n_a && k < n_b) {
        if (a[i].kernel == b[k].kernel)
            good = try_pair(m, a[i++].row, b[k++].row);
        else if ((uintptr_t)a[i].kernel < (uintptr_t)b[k].kernel)
            i++;
        else
            k++;
    }
    free(a);
    free(b);
    return good;
}

bool tg_match_left_over(struct tg_matching *matching)
{
    struct left a = {0}, b = {0};
    bool good = true;
    if (ids_agree(matching->a.tasks, matching->b.tasks, false))
        good = pair_same_ids(matching);
    good = good && list_left(&matching->a, &a) && list_left(&matching->b, &b);
    if (good && a.count > 0 && b.count > 0)
        good = align_left(matching, &a, &b) && pair_by_position(matching);
    free_left(&a);
    free_left(&b);
    return good;
}
