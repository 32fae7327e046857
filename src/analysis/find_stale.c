/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output of which one range has exactly the bits that an earlier record saw there, while every
 * other element has changed: the task may have written the rest, and left that range. It may also have
 * computed the same bits again, such as a table of constants that both kernels write, so this is never
 * proof. It is reported only if nothing simpler explains it:
 *
 *   - another kernel left them, with other inputs: a task that repeats the work of the one before
 *     may well compute a part of it again
 *   - they are many, and differ from one another: constants and padding are written again and again
 *   - no input of the task has them, so that it did not copy them
 *   - all of that was recorded in full
 */
#include <string.h>
#include <taskglass/numeric.h>

#include "analysis/find.h"
#include "query/array_pass.h"

/* A shorter range, or one with fewer different values, could be a coincidence. */
enum { LEAST_BYTES = 32, LEAST_VALUES = 8, LEAST_CHANGED = 8 };

/* --- the two tasks ---------------------------------------------------------------------------- */

/* The event that wrote these bytes last, before this one; NULL if that is not one event alone. */
static const struct tg_flow_event *writer_of(const struct tg_find *find,
                                             const struct tg_flow_event *event)
{
    const struct tg_flow *flow = &find->flow;
    if (event->n_writers != 1 || event->is_outside)
        return NULL;
    return &flow->event[flow->writer[event->first_writer]];
}

static bool same_names(const struct tg_entry *a, const struct tg_entry *b)
{
    for (int part = 0; part < TG_PARTS; part++)
        if (strcmp(a->kernel[part] ? a->kernel[part] : "",
                   b->kernel[part] ? b->kernel[part] : "") != 0)
            return false;
    return true;
}

static bool same_kernels(const struct tg_find *find, const struct tg_task_row *a,
                         const struct tg_task_row *b)
{
    struct tg_entry left, right;
    return a->count > 0 && b->count > 0 &&
           tg_recording_get(find->recording, find->tasks.ref[a->first].index, &left) &&
           tg_recording_get(find->recording, find->tasks.ref[b->first].index, &right) &&
           memcmp(left.record.kernel, right.record.kernel, sizeof left.record.kernel) == 0 &&
           same_names(&left, &right);
}

static bool is_input(const struct tg_find *find, uint64_t ref)
{
    return tg_record_ref_stage(&find->tasks.ref[ref]) == TG_BEFORE_DISPATCH;
}

/* What identifies the content of an input. Returns false if it is not known. */
static bool content_of(struct tg_find *find, uint64_t ref, struct tg_entry *entry,
                       uint64_t *content)
{
    if (!tg_recording_get(find->recording, find->tasks.ref[ref].index, entry))
        return false;
    *content = entry->record.value;
    return entry->record.kind == TG_KIND_SCALAR || entry->record.bytes == 0 ||
           tg_find_hash(find, entry, content);
}

/* True if both are tasks with the same inputs, all of which are known. */
static bool same_inputs(struct tg_find *find, const struct tg_task_row *a,
                        const struct tg_task_row *b)
{
    struct tg_entry left, right;
    uint64_t of_left, of_right, i = 0;
    for (;; i++) {
        bool more_a = i < a->count && is_input(find, a->first + i);
        bool more_b = i < b->count && is_input(find, b->first + i);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (!content_of(find, a->first + i, &left, &of_left) ||
            !content_of(find, b->first + i, &right, &of_right) || of_left != of_right ||
            left.record.arg_index != right.record.arg_index ||
            left.record.dtype != right.record.dtype || left.record.kind != right.record.kind)
            return false;
    }
}

bool tg_stale_is_repeat(struct tg_find *find, const struct tg_flow_event *event)
{
    const struct tg_flow_event *writer = writer_of(find, event);
    if (!writer || writer->row == event->row)
        return false;
    const struct tg_task_row *now = &find->tasks.row[event->row],
                             *then = &find->tasks.row[writer->row];
    return !tg_find_misses_argument(find, now) && same_kernels(find, now, then) &&
           same_inputs(find, now, then);
}

/* --- the range -------------------------------------------------------------------------------- */

struct range {
    uint64_t first, end; /* elements */
};

static bool is_same_at(const struct tg_array *now, const struct tg_array *then, int64_t i)
{
    tg_array_pass(now, i);
    tg_array_pass(then, i);
    return tg_load_bits(now->dtype, now->bytes, i) == tg_load_bits(then->dtype, then->bytes, i);
}

/* Finds the one range of equal elements. Returns false if there is none, or more than one. */
static bool find_range(const struct tg_array *now, const struct tg_array *then, struct range *range)
{
    uint64_t elements = (uint64_t)now->elements, i = 0;
    while (i < elements && !is_same_at(now, then, (int64_t)i))
        i++;
    range->first = i;
    while (i < elements && is_same_at(now, then, (int64_t)i))
        i++;
    range->end = i;
    while (i < elements && !is_same_at(now, then, (int64_t)i))
        i++;
    return range->end > range->first && i == elements &&
           elements - (range->end - range->first) >= LEAST_CHANGED;
}

/* The first different values of a range. */
struct values {
    uint64_t bits[LEAST_VALUES];
    unsigned count;
};

static bool has_value(const struct values *values, uint64_t bits, unsigned *which)
{
    for (*which = 0; *which < values->count; ++*which)
        if (values->bits[*which] == bits)
            return true;
    return false;
}

/* Returns false if there are too few, or the range is too short. */
static bool take_values(const struct tg_array *array, const struct range *range,
                        struct values *values)
{
    unsigned which;
    values->count = 0;
    if ((range->end - range->first) * tg_bits_of(array->dtype) < UINT64_C(8) * LEAST_BYTES)
        return false;
    for (uint64_t i = range->first; i < range->end && values->count < LEAST_VALUES; i++) {
        uint64_t bits = tg_load_bits(array->dtype, array->bytes, (int64_t)i);
        tg_array_pass(array, (int64_t)i);
        if (!has_value(values, bits, &which))
            values->bits[values->count++] = bits;
    }
    return values->count == LEAST_VALUES;
}

/* True if most of the values are in the array, in any order: a task may move what it copies. */
static bool has_most_of(const struct tg_array *array, const struct values *values)
{
    unsigned seen = 0, count = 0, which;
    for (int64_t i = 0; i < array->elements; i++) {
        tg_array_pass(array, i);
        if (has_value(values, tg_load_bits(array->dtype, array->bytes, i), &which))
            seen |= 1u << which;
    }
    for (; seen; seen &= seen - 1)
        count++;
    return count > LEAST_VALUES / 2;
}

/* True if all inputs are stored whole and none of them has the values of the range. */
static bool is_not_copied(struct tg_find *find, const struct tg_task_row *row, unsigned dtype,
                          const struct values *values)
{
    struct tg_entry entry;
    struct tg_array input;
    for (uint64_t i = row->first; i < row->first + row->count && is_input(find, i); i++) {
        if (!tg_recording_get(find->recording, find->tasks.ref[i].index, &entry))
            return false;
        if (entry.record.kind == TG_KIND_SCALAR || entry.record.bytes == 0)
            continue;
        if (!tg_array_of(find->recording, &entry, &input) || input.cut)
            return false;
        tg_find_account(find, input.size);
        if (tg_bits_of(input.dtype) == tg_bits_of(dtype) && has_most_of(&input, values))
            return false;
    }
    return true;
}

/* True if no tensor that one of them was given is among those that the other was given. */
static bool shares_no_input(struct tg_find *find, const struct tg_task_row *a,
                            const struct tg_task_row *b)
{
    struct tg_entry left, right;
    uint64_t of_left, of_right;
    for (uint64_t i = a->first; i < a->first + a->count && is_input(find, i); i++)
        for (uint64_t k = b->first; k < b->first + b->count && is_input(find, k); k++) {
            if (!content_of(find, i, &left, &of_left) || !content_of(find, k, &right, &of_right))
                return false;
            if (left.record.kind == TG_KIND_TENSOR && right.record.kind == TG_KIND_TENSOR &&
                of_left == of_right)
                return false;
        }
    return true;
}

bool tg_stale_find(struct tg_find *find, const struct tg_flow_event *event,
                   const struct tg_entry *entry, struct tg_find_finding *finding)
{
    const struct tg_flow_event *writer = writer_of(find, event);
    struct tg_entry earlier;
    struct tg_array now, then;
    struct values values;
    struct range range;
    if (!writer || writer->row == event->row || event->seen == TG_NO_EVENT ||
        !event->is_unchanged || tg_bits_of(entry->record.dtype) < 8)
        return false;
    const struct tg_task_row *row = &find->tasks.row[event->row],
                             *other = &find->tasks.row[writer->row];
    uint64_t seen = find->flow.event[event->seen].record;
    if (same_kernels(find, row, other) || !tg_recording_get(find->recording, seen, &earlier) ||
        earlier.record.dtype != entry->record.dtype || !tg_array_of(find->recording, entry, &now) ||
        !tg_array_of(find->recording, &earlier, &then) || now.cut || then.cut ||
        now.elements != then.elements)
        return false;
    tg_find_account(find, now.size + then.size);
    if (!find_range(&now, &then, &range) || !take_values(&now, &range, &values) ||
        tg_find_misses_argument(find, row) || tg_find_misses_argument(find, other) ||
        !shares_no_input(find, row, other) || !is_not_copied(find, row, now.dtype, &values))
        return false;
    finding->first = range.first;
    finding->count = range.end - range.first;
    finding->before = seen;
    return true;
}
