/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/match.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/match_flow.h"
#include "base/error.h"
#include "recording/reader.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to match two recordings");
}

/* --- tasks ------------------------------------------------------------------------------------ */

static bool is_task(const struct tg_tasks *tasks, uint32_t row)
{
    return row >= tg_tasks_first(tasks);
}

static void add_both(struct tg_match *match, const struct tg_tasks *a, const struct tg_tasks *b,
                     uint32_t row_a, uint32_t row_b)
{
    match->task[match->n_tasks++] =
        (struct tg_matched_task){.a = row_a, .b = row_b, .part_of = TG_NO_ROW};
    if (is_task(a, row_a)) {
        match->matched++;
        match->renamed += a->row[row_a].kernel != b->row[row_b].kernel;
    }
}

/* `canon`: the row of A that stands for the task; TG_NO_ROW. A's tasks have the numbers of their
 * rows. */
static void add_single(struct tg_match *match, bool is_b, uint32_t row, uint32_t canon,
                       bool is_task)
{
    match->task[match->n_tasks++] = (struct tg_matched_task){
        .a = is_b ? TG_NO_ROW : row, .b = is_b ? row : TG_NO_ROW, .part_of = canon};
    if (is_task && canon != TG_NO_ROW)
        *(is_b ? &match->parts_b : &match->parts_a) += 1;
    else if (is_task)
        *(is_b ? &match->only_b : &match->only_a) += 1;
}

/* Lists the tasks of A in their order, then those that only B has. `canon_a` and `canon_b` are NULL if
 * nothing is fused. */
static bool list_tasks(const struct tg_tasks *a, const struct tg_tasks *b, const uint32_t *partner,
                       const uint32_t *canon_a, const uint32_t *canon_b, struct tg_match *match)
{
    bool *is_matched = calloc((size_t)b->n_rows + 1, sizeof *is_matched);
    match->task = calloc((size_t)a->n_rows + b->n_rows + 1, sizeof *match->task);
    bool good = is_matched && match->task;
    for (uint32_t i = 0; good && i < a->n_rows; i++) {
        if (partner[i] == TG_NO_ROW) {
            add_single(match, false, i, canon_a ? canon_a[i] : TG_NO_ROW, is_task(a, i));
        } else {
            add_both(match, a, b, i, partner[i]);
            is_matched[partner[i]] = true;
        }
    }
    for (uint32_t i = 0; good && i < b->n_rows; i++)
        if (!is_matched[i])
            add_single(match, true, i, canon_b ? canon_b[i] : TG_NO_ROW, is_task(b, i));
    free(is_matched);
    return good;
}

static void mark_fusions(const struct tg_matching *matching, struct tg_match *match)
{
    for (size_t i = 0; i < matching->n_fusions; i++) {
        const struct tg_fusion *fusion = &matching->fusion[i];
        match->task[fusion->a].is_fused = true;
        match->renamed -=
            matching->a.tasks->row[fusion->a].kernel != matching->b.tasks->row[fusion->b].kernel;
    }
    match->fused = (uint32_t)matching->n_fusions;
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

static bool is_output(const struct tg_record_ref *ref)
{
    return tg_record_ref_stage(ref) == TG_AFTER_COMPLETION;
}

/* Pairs the outputs of a task of another kernel by what they are; its inputs are paired already. */
static void pair_outputs(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t number,
                         const uint64_t *partner, struct tg_match *match)
{
    struct tg_matched_task *task = &match->task[number];
    const struct tg_task_row *row_a = &a->row[task->a], *row_b = &b->row[task->b];
    uint64_t first = match->n_pairs, last;
    for (uint64_t i = row_a->first; i < row_a->first + row_a->count; i++)
        if (is_output(&a->ref[i]))
            add_pair(match, a->ref[i].index, *partner++, number);
    last = match->n_pairs;
    for (uint64_t i = row_b->first; i < row_b->first + row_b->count; i++) {
        bool is_paired = !is_output(&b->ref[i]);
        for (uint64_t k = first; k < last && !is_paired; k++)
            is_paired = match->pair[k].b == b->ref[i].index;
        if (!is_paired)
            add_pair(match, TG_NONE, b->ref[i].index, number);
    }
    task->n_pairs = match->n_pairs - task->first_pair;
}

/* The outputs come last: drops their pairs. */
static void drop_outputs(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t number,
                         struct tg_match *match)
{
    const struct tg_matched_task *task = &match->task[number];
    while (match->n_pairs > task->first_pair) {
        const struct tg_matched_pair *pair = &match->pair[match->n_pairs - 1];
        const struct tg_record *record = pair->a != TG_NONE
                                             ? tg_recording_at(a->recording, pair->a)
                                             : tg_recording_at(b->recording, pair->b);
        if (record->stage != TG_AFTER_COMPLETION)
            return;
        match->n_pairs--;
    }
}

static void pair_other_kernel(const struct tg_matching *matching, uint32_t number,
                              struct tg_match *match)
{
    const struct tg_tasks *a = matching->a.tasks, *b = matching->b.tasks;
    const struct tg_matched_task *task = &match->task[number];
    uint64_t partner[TG_MOST_OUTPUTS];
    pair_records(a, b, number, match);
    if (a->row[task->a].kernel == b->row[task->b].kernel ||
        !tg_match_outputs(matching, task->a, task->b, partner))
        return;
    drop_outputs(a, b, number, match);
    pair_outputs(a, b, number, partner, match);
}

/* Pairs what the tasks of both sides read and leave, by what it is: the same views of it. */
static bool pair_ends(const struct tg_matching *matching, const struct tg_fusion *fusion,
                      struct tg_match *match)
{
    struct tg_fusion_end *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0, i = 0, k = 0;
    struct tg_matched_task *task = &match->task[fusion->a];
    bool good = tg_fusion_ends(matching, fusion, false, &a, &n_a) &&
                tg_fusion_ends(matching, fusion, true, &b, &n_b);
    task->first_pair = match->n_pairs;
    while (good && (i < n_a || k < n_b)) {
        int order = i == n_a   ? 1
                    : k == n_b ? -1
                               : (a[i].is_output != b[k].is_output
                                      ? (a[i].is_output ? 1 : -1)
                                      : (a[i].key > b[k].key) - (a[i].key < b[k].key));
        uint64_t record_a = order <= 0 ? a[i++].record : TG_NONE;
        uint64_t record_b = order >= 0 ? b[k++].record : TG_NONE;
        /* A fused task may read as a whole what the others read in parts: then there is no pair. */
        bool is_output = order <= 0 ? a[i - 1].is_output : b[k - 1].is_output;
        if (order == 0 || is_output)
            add_pair(match, record_a, record_b, fusion->a);
    }
    task->n_pairs = match->n_pairs - task->first_pair;
    free(a);
    free(b);
    return good;
}

static int by_last_a(const void *a, const void *b)
{
    const struct tg_fusion *left = a, *right = b;
    return (left->a > right->a) - (left->a < right->a);
}

/* `matching` is NULL if nothing is fused. */
static bool list_pairs(const struct tg_tasks *a, const struct tg_tasks *b,
                       struct tg_matching *matching, struct tg_match *match)
{
    size_t n_fusions = matching ? matching->n_fusions : 0, fusion = 0;
    bool good = true;
    match->pair = malloc((size_t)(a->n_refs + b->n_refs + 1) * sizeof *match->pair);
    if (!match->pair)
        return false;
    if (n_fusions > 1)
        qsort(matching->fusion, n_fusions, sizeof *matching->fusion, by_last_a);
    for (uint32_t i = 0; good && i < match->n_tasks; i++)
        if (match->task[i].is_fused && fusion < n_fusions)
            good = pair_ends(matching, &matching->fusion[fusion++], match);
        else if (match->task[i].a != TG_NO_ROW && match->task[i].b != TG_NO_ROW)
            matching ? pair_other_kernel(matching, i, match) : pair_records(a, b, i, match);
    return good;
}

/* --- both ------------------------------------------------------------------------------------- */

static bool have_same_ids(const struct tg_tasks *a, const struct tg_tasks *b,
                          const uint32_t *partner)
{
    for (uint32_t i = 0; i < a->n_rows; i++)
        if (partner[i] != TG_NO_ROW && a->row[i].id != b->row[partner[i]].id)
            return false;
    return true;
}

/* The rows of both sides in the same order, from the first one. */
static bool match_in_order(const struct tg_tasks *a, const struct tg_tasks *b, bool is_known,
                           struct tg_match *match)
{
    uint32_t *partner = malloc(((size_t)a->n_rows + 1) * sizeof *partner);
    uint32_t first_a = tg_tasks_first(a), first_b = tg_tasks_first(b);
    if (!partner)
        return false;
    partner[0] = first_a && first_b ? 0 : TG_NO_ROW;
    for (uint32_t i = first_a; i < a->n_rows; i++)
        partner[i] = i - first_a + first_b;
    match->how = have_same_ids(a, b, partner) ? "id" : is_known ? "dataflow" : "position";
    bool good = list_tasks(a, b, partner, NULL, NULL, match) && list_pairs(a, b, NULL, match);
    free(partner);
    return good;
}

static bool match_rows(struct tg_matching *m, const char **how)
{
    const struct tg_tasks *a = m->a.tasks, *b = m->b.tasks;
    if (m->a.first && m->b.first)
        m->partner[0] = m->a.canon[0] = m->b.canon[0] = 0;
    if (m->is_blind)
        return tg_match_by_order(a, b, m->partner, how);
    if (!tg_match_by_flow(m))
        return false;
    *how = m->by_flow > 0 ? "dataflow" : "alignment";
    if (m->matched > 0 && have_same_ids(a, b, m->partner))
        *how = "id";
    return true;
}

static bool match_by_flow(struct tg_sources *a, struct tg_sources *b, struct tg_match *match)
{
    struct tg_matching m;
    bool good = tg_matching_open(a, b, &m) && match_rows(&m, &match->how) &&
                list_tasks(a->tasks, b->tasks, m.partner, m.a.canon, m.b.canon, match);
    if (good) {
        mark_fusions(&m, match);
        good = list_pairs(a->tasks, b->tasks, &m, match);
    }
    tg_matching_close(&m);
    return good;
}

tg_status tg_match_make(struct tg_sources *a, struct tg_sources *b, struct tg_match *match,
                        struct tg_error *error)
{
    bool is_alike, is_known;
    *match = (struct tg_match){.how = "id"};
    bool good = tg_match_alike(a, b, &is_alike, &is_known) &&
                (is_alike ? match_in_order(a->tasks, b->tasks, is_known, match)
                          : match_by_flow(a, b, match));
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
