/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds stomps: a record saw certain bytes, no recorded task has written any of them since, and the
 * next record of exactly the same bytes sees others. Either a task wrote past the end of its own
 * tensor, or a task did not wait for the task that wrote. Only records of the same bytes can be
 * compared by hash, so a tensor whose parts were written by several tasks cannot be checked.
 */
#include <stdlib.h>

#include "analysis/deps_memory.h"
#include "analysis/find.h"

/* Counts the elements that changed, if both records are stored whole. */
static void count_changes(struct tg_find *find, const struct tg_entry *before,
                          const struct tg_entry *now, struct tg_find_finding *finding)
{
    static const struct tg_tolerance exact = {0, 0};
    struct tg_array a, b;
    struct tg_comparison comparison;
    if (!tg_array_of(find->recording, before, &a) || !tg_array_of(find->recording, now, &b) ||
        a.cut || b.cut || a.dtype != b.dtype || a.elements != b.elements)
        return;
    if (tg_tensor_compare((int)a.dtype, a.bytes, b.bytes, a.elements, &exact, false, &comparison,
                          NULL) != TG_OK)
        return;
    finding->count = comparison.mismatches;
    finding->first = comparison.n_first > 0 ? comparison.first[0].element : TG_NONE;
}

static bool look_at_input(struct tg_find *find, const struct tg_flow_event *event)
{
    const struct tg_flow *flow = &find->flow;
    struct tg_entry now, before;
    uint64_t hash, hash_before;
    if (event->is_write || event->seen == TG_NO_EVENT || !event->is_unchanged)
        return true;
    uint64_t seen = flow->event[event->seen].record;
    if (!tg_recording_get(find->recording, event->record, &now) ||
        !tg_recording_get(find->recording, seen, &before) || !tg_find_hash(find, &now, &hash) ||
        !tg_find_hash(find, &before, &hash_before)) {
        find->not_stored++;
        return true;
    }
    find->looked_at++;
    if (hash == hash_before)
        return true;
    struct tg_find_finding finding = {.record = event->record,
                                      .trace = TG_TRACE_ORIGIN,
                                      .first = TG_NONE,
                                      .before = seen,
                                      .writer = TG_NONE};
    if (event->n_writers > 0)
        finding.writer =
            flow->event[flow->writer[event->first_writer + event->n_writers - 1]].record;
    count_changes(find, &before, &now, &finding);
    return tg_find_add(find, &finding);
}

bool tg_find_stomps(struct tg_find *find)
{
    for (uint32_t i = 0; i < find->flow.n_events; i++) {
        tg_find_account(find,
                        0); /* hashes are compared without reading: nothing else asks the watch */
        if (!look_at_input(find, &find->flow.event[i]) || find->is_cancelled)
            return false;
    }
    return true;
}

/* --- the tasks that ran in between ------------------------------------------------------------ */

/* First and last event of each task. */
struct span {
    uint32_t begin, end; /* begin is TG_NO_EVENT if it has none */
};

static struct span *make_spans(const struct tg_find *find)
{
    struct span *span = calloc((size_t)find->tasks.n_rows + 1, sizeof *span);
    for (uint32_t i = 0; span && i < find->tasks.n_rows; i++)
        span[i] = (struct span){TG_NO_EVENT, 0};
    for (uint32_t i = 0; span && i < find->flow.n_events; i++) {
        struct span *of = &span[find->flow.event[i].row];
        of->begin = of->begin == TG_NO_EVENT ? i : of->begin;
        of->end = i;
    }
    return span;
}

static int by_begin(const void *a, const void *b)
{
    const struct tg_find_neighbour *left = a, *right = b;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* A task that only read at `first` is listed: its kernel ran afterwards and may have changed the
 * bytes. */
struct tg_find_neighbour *tg_stomp_between(const struct tg_find *find, uint32_t first,
                                           uint32_t last, uint32_t *count)
{
    const struct tg_flow *flow = &find->flow;
    struct span *span = make_spans(find);
    struct tg_find_neighbour *found = malloc(((size_t)find->tasks.n_rows + 1) * sizeof *found);
    *count = 0;
    for (uint32_t i = 0; span && found && i < find->tasks.n_rows; i++)
        if (span[i].begin != TG_NO_EVENT && span[i].begin < last && span[i].end > first &&
            (i != flow->event[first].row || !flow->event[first].is_write) &&
            i != flow->event[last].row)
            found[(*count)++] = (struct tg_find_neighbour){i, span[i].begin};
    if (*count > 0)
        qsort(found, *count, sizeof *found, by_begin);
    if (!span) {
        free(found);
        found = NULL;
    }
    free(span);
    return found;
}

static bool take_run(void *context, uint64_t lo, uint64_t hi)
{
    return tg_memory_write(context, lo, hi, 0);
}

static bool has_no_writer(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    (void)context, (void)lo, (void)hi;
    return writer == TG_NO_WRITER;
}

static bool misses_run(void *context, uint64_t lo, uint64_t hi)
{
    return tg_memory_read(context, lo, hi, has_no_writer, NULL);
}

bool tg_stomp_writes(const struct tg_find *find, uint32_t row, uint64_t record)
{
    const struct tg_task_row *task = &find->tasks.row[row];
    struct tg_memory memory;
    struct tg_entry entry;
    bool writes = false;
    tg_memory_init(&memory);
    if (tg_recording_get(find->recording, record, &entry))
        (void)tg_view_runs(&entry.record, take_run, &memory);
    for (uint64_t i = task->first; i < task->first + task->count && !writes; i++)
        writes = tg_record_ref_stage(&find->tasks.ref[i]) == TG_AFTER_COMPLETION &&
                 tg_recording_get(find->recording, find->tasks.ref[i].index, &entry) &&
                 !tg_view_runs(&entry.record, misses_run, &memory);
    tg_memory_free(&memory);
    return writes;
}
