/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds outputs that still hold what was in their memory before. A recording does not contain the
 * memory before an output was made, only what other records saw there, and what the run filled it
 * with. A task is accused on proof alone:
 *
 *   poison   the run filled memory with a pattern, and it is still there
 *
 * The rest is possible, because a kernel that computes such values leaves the same:
 *
 *   same     an earlier record saw exactly these bytes at exactly this place, and no recorded task
 *            has written any of them since. A task that repeats an earlier one is left out.
 *   stale    one range has the bits that another kernel left, and every other element has changed.
 *            Two kernels that write the same table of constants leave that too.
 *   zero     all bytes are zero, as in new memory, and no earlier record saw anything there
 *   tail     the same for the last elements, and no other element is zero
 *   fill     one byte is repeated, in a type wider than a byte
 *
 * In a run that fills memory, stale, zero, tail and fill are no findings: what a task does not write of
 * memory that was handed out has the pattern.
 */
#include <stdlib.h>
#include <taskglass/numeric.h>
#include <taskglass/tensor.h>

#include "common/hash.h"
#include "analysis/find.h"
#include "base/files.h"
#include "query/array_pass.h"
#include "recording/record.h"

/* A record with only a hash may claim any size; above MOST_ZEROS computing the hash of zeros takes
 * too long. */
enum { LEAST_FILL = 16, LEAST_TAIL = 4, MOST_ZEROS = 1 << 30 };

static uint64_t hash_of_zeros(uint64_t size)
{
    static const unsigned char zeros[4096];
    struct tg_hash hash;
    tg_hash_init(&hash);
    for (uint64_t at = 0; at < size; at += sizeof zeros)
        tg_hash_update(&hash, zeros, (size_t)(size - at < sizeof zeros ? size - at : sizeof zeros));
    return tg_hash_final(&hash, size);
}

/* The payload, if all of it is stored. */
static const unsigned char *whole_payload(const struct tg_find *find, const struct tg_entry *entry)
{
    return entry->record.stored == entry->record.bytes
               ? tg_recording_payload(find->recording, entry)
               : NULL;
}

/* True if all bytes equal the first one; false if not all of it is stored. */
static bool is_fill(const struct tg_find *find, const struct tg_entry *entry, unsigned char *byte)
{
    const unsigned char *bytes = whole_payload(find, entry);
    if (!bytes)
        return false;
    *byte = bytes[0];
    return tg_bytes_equal(bytes, bytes + 1, (size_t)entry->record.stored - 1);
}

/* Decides by the stored bytes, or else by comparing the hash with that of zeros. */
static bool is_zero(const struct tg_find *find, const struct tg_entry *entry)
{
    unsigned char byte;
    const struct tg_record *record = &entry->record;
    if (record->stored == record->bytes)
        return is_fill(find, entry, &byte) && byte == 0;
    return record->flags & TG_RECORD_HASHED && record->bytes <= MOST_ZEROS &&
           record->hash == hash_of_zeros(record->bytes);
}

/* --- the pattern ------------------------------------------------------------------------------ */

/* Looks for the pattern in a record; by its hash alone only the whole of it can be recognized. */
static bool has_poison(struct tg_find *find, const struct tg_entry *entry,
                       struct tg_poison_traces *traces)
{
    const struct tg_record *record = &entry->record;
    uint32_t poison = find->tasks.info.poison;
    struct tg_array array;
    uint64_t hash;
    if (record->kind != TG_KIND_TENSOR || record->bytes == 0 || record->data_ptr == 0)
        return false;
    if (whole_payload(find, entry) && tg_array_of(find->recording, entry, &array)) {
        tg_find_account(find, record->stored);
        return tg_poison_find(&array, record, poison, traces);
    }
    *traces =
        (struct tg_poison_traces){.count = (uint64_t)tg_record_numel(record), .is_proof = true};
    return record->flags & TG_RECORD_HASHED && tg_poison_hash(record, poison, &hash) &&
           hash == record->hash;
}

/* Returns true if an input has the pattern. *is_known: all inputs could be searched. */
static bool search_inputs(struct tg_find *find, const struct tg_task_row *row, bool *is_known)
{
    struct tg_poison_traces traces;
    struct tg_entry entry;
    *is_known = true;
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        if (tg_record_ref_stage(&find->tasks.ref[i]) != TG_BEFORE_DISPATCH)
            break;
        if (!tg_recording_get(find->recording, find->tasks.ref[i].index, &entry)) {
            *is_known = false;
            continue;
        }
        if (has_poison(find, &entry, &traces))
            return true;
        *is_known = *is_known && (entry.record.kind != TG_KIND_TENSOR || entry.record.bytes == 0 ||
                                  whole_payload(find, &entry));
    }
    return false;
}

/* A task that was given the pattern may have copied it. */
static bool was_given_poison(struct tg_find *find, const struct tg_task_row *row, bool *is_known)
{
    struct tg_find_task *task = &find->task[row - find->tasks.row];
    if (!task->knows_poison) {
        task->was_given_poison = search_inputs(find, row, &task->inputs_are_known);
        task->knows_poison = true;
    }
    *is_known = task->inputs_are_known;
    return task->was_given_poison;
}

static bool find_poison(struct tg_find *find, const struct tg_flow_event *event,
                        const struct tg_entry *entry, struct tg_find_finding *finding)
{
    const struct tg_task_row *row = &find->tasks.row[event->row];
    struct tg_poison_traces traces;
    bool is_known;
    if (!has_poison(find, entry, &traces))
        return false;
    finding->sign = TG_SIGN_POISON;
    finding->count = traces.count;
    finding->first = traces.first;
    if (was_given_poison(find, row, &is_known))
        finding->trace = TG_TRACE_INHERITED;
    else if (!is_known || tg_find_misses_argument(find, row) || /* the one may have had it */
             tg_find_is_call(find, row))
        finding->trace = TG_TRACE_UNCLEAR;
    finding->is_proved = finding->trace == TG_TRACE_ORIGIN && traces.is_proof;
    return true;
}

/* --- other signs ------------------------------------------------------------------------------ */

static bool is_same(struct tg_find *find, const struct tg_flow_event *event,
                    const struct tg_entry *entry, struct tg_find_finding *finding)
{
    uint64_t now, then;
    struct tg_entry earlier;
    if (event->seen == TG_NO_EVENT || !event->is_unchanged)
        return false;
    uint64_t before = find->flow.event[event->seen].record;
    if (!tg_recording_get(find->recording, before, &earlier) || !tg_find_hash(find, entry, &now) ||
        !tg_find_hash(find, &earlier, &then) || now != then || tg_stale_is_repeat(find, event))
        return false;
    finding->sign = TG_SIGN_SAME;
    finding->before = before;
    return true;
}

/* The last elements are zero, and no other is: a kernel that forgot its tail leaves that in new
 * memory. Sets their number and the first of them. */
static bool has_zero_tail(const struct tg_find *find, const struct tg_entry *entry,
                          struct tg_find_finding *finding)
{
    struct tg_array array;
    if (!whole_payload(find, entry) || !tg_array_of(find->recording, entry, &array) ||
        array.elements / 2 < LEAST_TAIL)
        return false;
    int64_t end = array.elements, first = end;
    while (first > 0 && tg_load_bits(array.dtype, array.bytes, first - 1) == 0)
        tg_array_pass(&array, --first);
    if (end - first < LEAST_TAIL || first < end - first)
        return false;
    for (int64_t i = 0; i < first; i++) {
        tg_array_pass(&array, i);
        if (tg_load_bits(array.dtype, array.bytes, i) == 0)
            return false;
    }
    finding->first = (uint64_t)first;
    finding->count = (uint64_t)(end - first);
    return true;
}

/* True if nothing is known of the memory before this output. */
static bool is_new_memory(const struct tg_find *find, const struct tg_flow_event *event,
                          const struct tg_entry *entry)
{
    return find->tasks.info.poison == 0 && event->seen == TG_NO_EVENT && event->n_writers == 0 &&
           entry->record.data_ptr != 0;
}

static bool looks_new(struct tg_find *find, const struct tg_flow_event *event,
                      const struct tg_entry *entry, struct tg_find_finding *finding)
{
    const struct tg_record *record = &entry->record;
    unsigned char byte;
    if (!is_new_memory(find, event, entry))
        return false;
    if (is_zero(find, entry))
        finding->sign = TG_SIGN_ZERO;
    else if (tg_bits_of(record->dtype) > 8 && record->bytes >= LEAST_FILL &&
             is_fill(find, entry, &byte))
        finding->sign = TG_SIGN_FILL;
    else if (has_zero_tail(find, entry, finding))
        finding->sign = TG_SIGN_TAIL;
    tg_find_account(find, record->stored);
    return finding->sign != TG_SIGN_NONE;
}

static bool is_suspicious(struct tg_find *find, const struct tg_flow_event *event,
                          const struct tg_entry *entry, struct tg_find_finding *finding)
{
    if (find->tasks.info.poison && find_poison(find, event, entry, finding))
        return true;
    if (is_same(find, event, entry, finding))
        return true;
    if (!find->tasks.info.poison && tg_stale_find(find, event, entry, finding)) {
        finding->sign = TG_SIGN_STALE;
        return true;
    }
    return looks_new(find, event, entry, finding);
}

static bool look_at_output(struct tg_find *find, const struct tg_flow_event *event)
{
    struct tg_entry entry;
    if (!event->is_write || !tg_recording_get(find->recording, event->record, &entry) ||
        entry.record.role != TG_OUT || entry.record.bytes == 0)
        return true;
    /* A task that had not finished may still have been about to write. */
    if (entry.record.flags & TG_RECORD_PARTIAL) {
        find->unfinished++;
        return true;
    }
    bool is_whole = whole_payload(find, &entry) != NULL;
    if (!is_whole && !(entry.record.flags & TG_RECORD_HASHED)) {
        find->not_stored++;
        return true;
    }
    find->looked_at++;
    find->only_hashed += !is_whole;
    struct tg_find_finding finding = {.record = event->record,
                                      .trace = TG_TRACE_ORIGIN,
                                      .count = (uint64_t)tg_record_numel(&entry.record),
                                      .before = TG_NONE,
                                      .writer = TG_NONE};
    return !is_suspicious(find, event, &entry, &finding) || tg_find_add(find, &finding);
}

bool tg_find_unwritten(struct tg_find *find)
{
    find->task = calloc((size_t)find->tasks.n_rows + 1, sizeof *find->task);
    if (!find->task)
        return false;
    for (uint32_t i = 0; i < find->flow.n_events; i++) {
        tg_find_account(find,
                        0); /* hashes are compared without reading: nothing else asks the watch */
        if (!look_at_output(find, &find->flow.event[i]) || find->is_cancelled)
            return false;
    }
    return true;
}
