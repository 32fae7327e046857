/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal that lost something, and a manifest beside it. The manifest was made from the journal, so
 * both list the same records in the same order; each may lack some. The journal's records are put
 * into a table by their content. Entries of the manifest that are in the table add nothing. Of the
 * others, those that are about an argument that the journal tells differently are left out: the
 * journal's word counts. What remains is what only the manifest has, and each of these belongs behind
 * the record of the entry before it.
 */
#include <stdlib.h>
#include <string.h>

#include "recording/reader.h"
#include "recording/record.h"

/* Slots of the journal by a 64-bit key; equal keys in the order in which they were added. */
struct table {
    struct {
        uint64_t key, slot; /* slot TG_NONE: free */
    } * at;
    uint64_t mask;
    bool *taken; /* by place in the table */
};

static bool make_table(struct table *table, uint64_t count)
{
    uint64_t size = 64;
    while (size < 2 * count)
        size *= 2;
    table->at = malloc((size_t)size * sizeof *table->at);
    table->taken = calloc((size_t)size, sizeof *table->taken);
    table->mask = size - 1;
    for (uint64_t i = 0; table->at && i < size; i++)
        table->at[i].slot = TG_NONE;
    return table->at && table->taken;
}

static void free_table(struct table *table)
{
    free(table->at);
    free(table->taken);
}

static void put(struct table *table, uint64_t key, uint64_t slot)
{
    uint64_t i = key & table->mask;
    while (table->at[i].slot != TG_NONE)
        i = (i + 1) & table->mask;
    table->at[i].key = key;
    table->at[i].slot = slot;
}

/* Takes the first slot with that key that has not been taken; TG_NONE if there is none. */
static uint64_t take(struct table *table, uint64_t key)
{
    for (uint64_t i = key & table->mask; table->at[i].slot != TG_NONE; i = (i + 1) & table->mask)
        if (table->at[i].key == key && !table->taken[i]) {
            table->taken[i] = true;
            return table->at[i].slot;
        }
    return TG_NONE;
}

static uint64_t key_of_content(const struct tg_recording *recording, const struct tg_record *record)
{
    struct tg_record reduced;
    tg_record_reduce(record, recording->payload.size, &reduced);
    return tg_content_hash(&reduced, sizeof reduced);
}

/* Of what the record tells, see tg_record_same_place. */
static uint64_t key_of_place(const struct tg_record *record)
{
    const uint64_t place[] = {record->task_id, (uint64_t)record->stage << 16 | record->arg_index,
                              record->flags & TG_RECORD_PARTIAL};
    return tg_content_hash(place, sizeof place);
}

struct merge {
    struct tg_recording *recording;
    struct table content;
    uint64_t last;    /* the slot of the last entry that the journal has too; TG_NONE: none yet */
    uint64_t matched; /* such entries */
    bool no_memory;
};

static void start_again(struct merge *merge)
{
    merge->last = TG_NONE;
    merge->matched = 0;
    memset(merge->content.taken, 0, (size_t)(merge->content.mask + 1));
}

/* Names whose records the journal lost. */
static void learn_kernels(struct merge *merge, const struct tg_read_entry *entry)
{
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->record.kernel[part] != TG_NO_KERNEL && entry->kernel[part] &&
            entry->kernel[part][0] &&
            !tg_journal_add_kernel(merge->recording, entry->record.kernel[part],
                                   entry->kernel[part]))
            merge->no_memory = true;
}

static bool is_missing(void *context, struct tg_read_entry *entry)
{
    struct merge *merge = context;
    if (!entry) {
        start_again(merge);
        return false;
    }
    learn_kernels(merge, entry);
    uint64_t slot = take(&merge->content, key_of_content(merge->recording, &entry->record));
    entry->after = merge->last;
    if (slot == TG_NONE)
        return true;
    merge->last = slot;
    merge->matched++;
    return false;
}

/* --- the journal's side --------------------------------------------------------------------------- */

static bool list_content(struct merge *merge)
{
    const struct tg_recording *recording = merge->recording;
    if (!make_table(&merge->content, recording->info.records))
        return false;
    for (uint64_t i = 0; i < recording->info.records; i++) {
        const struct tg_span *span = tg_span_of(recording, i);
        put(&merge->content, key_of_content(recording, tg_recording_at(recording, i)),
            span->from + (i - span->first));
    }
    return true;
}

/* Leaves out entries about arguments that the journal tells differently. */
static bool drop_contradictions(struct merge *merge, struct tg_recording *manifest)
{
    const struct table *content = &merge->content;
    struct table places = {0};
    struct tg_record record;
    uint64_t kept = 0;
    bool good = make_table(&places, merge->recording->info.records - merge->matched);
    for (uint64_t i = 0; good && i <= content->mask; i++)
        if (content->at[i].slot != TG_NONE && !content->taken[i]) {
            tg_journal_record(merge->recording, content->at[i].slot, &record);
            put(&places, key_of_place(&record), content->at[i].slot);
        }
    for (uint64_t i = 0; good && i < manifest->n_entries; i++)
        if (take(&places, key_of_place(&manifest->entry[i].record)) == TG_NONE)
            manifest->entry[kept++] = manifest->entry[i];
    if (good)
        manifest->n_entries = kept;
    free_table(&places);
    return good;
}

/* --- what the recording takes from the manifest --------------------------------------------------- */

static void take_head(struct tg_recording *recording, const struct tg_recording *manifest)
{
    if (manifest->damage.manifest_head)
        return;
    if (recording->damage.journal_head) {
        recording->info.level = manifest->info.level;
        recording->info.poison = manifest->info.poison;
        recording->policy = manifest->policy;
        memcpy(recording->run_dir, manifest->run_dir, sizeof recording->run_dir);
    }
    if (!recording->info.complete) { /* the journal has no summary */
        recording->info.complete = manifest->info.complete;
        recording->info.summary = manifest->info.summary;
    }
}

/* Damaged slots that no entry stands in for. The entries for a run of damaged slots all belong behind
 * the slot before it. */
static uint64_t count_unfilled(const struct tg_recording *recording)
{
    uint64_t filled = 0, entry = 0;
    for (size_t i = 0; i < recording->n_marks;) {
        uint64_t first = recording->mark[i].slot, run = 0, here = 0;
        for (; i < recording->n_marks && recording->mark[i].slot == first + run; i++) {
            if (!tg_mark_is_damage(&recording->mark[i]))
                break;
            run += recording->mark[i].count;
        }
        i += run == 0;
        while (entry < recording->n_entries && recording->entry[entry].after + 1 < first)
            entry++;
        for (; entry < recording->n_entries && recording->entry[entry].after + 1 == first; entry++)
            here++;
        filled += here < run ? here : run;
    }
    return recording->info.damaged > filled ? recording->info.damaged - filled : 0;
}

/* Compares what there is with what an intact head of the manifest promises: its entries, and the records
 * that were already damaged when it was written. `ends_here`: the journal has a summary of its own. */
static void count_promised(struct tg_recording *recording, const struct tg_recording *manifest,
                           bool ends_here)
{
    struct tg_recording_info *info = &recording->info;
    uint64_t before = manifest->info.damaged - manifest->damage.entries;
    uint64_t promised = manifest->info.summary.recorded + before;
    if (manifest->damage.manifest_head || promised < before)
        return;
    if (manifest->info.complete && info->records >= promised)
        info->damaged = 0; /* what is damaged was no record: all of them are here */
    if (promised <= info->records)
        return;
    if (info->damaged < promised - info->records)
        info->damaged = promised - info->records;
    info->complete = info->complete && ends_here;
}

static bool take_entries(struct tg_recording *recording, struct tg_recording *manifest,
                         bool ends_here)
{
    recording->entry = manifest->entry;
    recording->n_entries = manifest->n_entries;
    manifest->entry = NULL;
    manifest->n_entries = 0;
    recording->beside = manifest;
    recording->damage.from_manifest = recording->n_entries;
    recording->info.damaged = count_unfilled(recording);
    if (!tg_spans_make(recording))
        return false;
    count_promised(recording, manifest, ends_here);
    return true;
}

/* A manifest of another recording would add nonsense: nothing in it is what the journal says. */
static bool belongs_together(const struct merge *merge)
{
    return merge->matched > 0 || merge->recording->info.records < 2;
}

/* True if memory sufficed, whether or not there was anything to add. */
static bool merge_manifest(struct tg_recording *recording, const struct tg_map *map)
{
    struct merge merge = {.recording = recording, .last = TG_NONE};
    struct tg_recording *manifest = calloc(1, sizeof *manifest);
    struct tg_manifest_reading reading = {.recording = manifest,
                                          .text = (const char *)map->bytes,
                                          .size = map->size,
                                          .map = map,
                                          .keep = is_missing,
                                          .context = &merge};
    bool good = manifest && list_content(&merge);
    tg_status status = good ? tg_manifest_read_with(&reading, recording->manifest, NULL) : TG_OK;
    good = good && status != TG_NO_MEMORY && !merge.no_memory;
    if (good && status == TG_OK && belongs_together(&merge)) {
        good = drop_contradictions(&merge, manifest);
        if (good) {
            bool ends_here = recording->info.complete;
            take_head(recording, manifest);
            good = take_entries(recording, manifest, ends_here);
            manifest = NULL;
        }
    }
    free_table(&merge.content);
    tg_recording_close(manifest);
    return good;
}

static bool is_damaged(const struct tg_recording *recording)
{
    return recording->damage.slots > 0 || recording->damage.journal_head ||
           recording->info.zero_bytes > 0 || recording->info.torn_bytes > 0;
}

/* A journal without a summary may still have all that the manifest has: a glance at its head tells. */
static bool is_worth_reading(const struct tg_recording *recording, const struct tg_map *map)
{
    const char *list;
    if (map->size == 0)
        return false;
    struct tg_recording *head =
        is_damaged(recording) ? NULL : tg_manifest_peek((const char *)map->bytes, map->size, &list);
    bool has_all = head && !head->damage.manifest_head && !head->info.complete &&
                   head->info.damaged == 0 &&
                   head->info.summary.recorded <= recording->info.records;
    tg_recording_close(head);
    return !has_all;
}

tg_status tg_recording_merge(struct tg_recording *recording, struct tg_error *error)
{
    struct tg_map map = {0};
    if (!recording->info.from_journal || !recording->manifest[0] ||
        (recording->info.complete && !is_damaged(recording)))
        return TG_OK;
    char *path = tg_path_join(recording->dir, recording->manifest);
    if (!path)
        return tg_file_no_memory(error);
    int cause = tg_map_text(path, &map);
    tg_status status = TG_OK;
    if (tg_cause_is_fault(cause))
        status = tg_file_error(error, "read", path, cause);
    else if (cause == 0 && is_worth_reading(recording, &map) && !merge_manifest(recording, &map))
        status = tg_file_no_memory(error);
    tg_recording_note_loss(recording, &map, path);
    tg_map_close(&map);
    free(path);
    return status;
}
