/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest beside a journal. Its lines are compared as text (verify_text.c). If they are not one
 * for each record of the journal, the manifest is read properly and compared entry by entry.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader.h"
#include "recording/record.h"
#include "recording/verify_state.h"

/* How far to look for the record of an entry if there are others in between. */
enum { FAR = 4096 };

/* Walks through both lists, which have the same order. */
struct walk {
    struct tg_verifier *verifier;
    const struct tg_recording *manifest;
    uint64_t at;             /* the next record of the journal */
    uint64_t missing, added; /* records without an entry, entries without a record */
};

static void reduce(const struct walk *walk, const struct tg_entry *entry, struct tg_record *reduced)
{
    tg_record_reduce(&entry->record, walk->verifier->info.payload_bytes, reduced);
}

/* The record from `at` on that the entry is about; TG_NONE if there is none nearby. */
static uint64_t find_record(const struct walk *walk, const struct tg_record *entry)
{
    struct tg_entry ours;
    for (uint64_t i = walk->at; i < walk->at + FAR; i++) {
        if (!tg_recording_get(walk->verifier->recording, i, &ours))
            break;
        if (tg_record_same_place(&ours.record, entry))
            return i;
    }
    return TG_NONE;
}

static const char *difference(const struct walk *walk, const struct tg_entry *ours,
                              const struct tg_entry *theirs)
{
    struct tg_record a, b;
    reduce(walk, ours, &a);
    reduce(walk, theirs, &b);
    const char *what = tg_record_difference(&a, &b);
    for (int part = 0; !what && part < TG_PARTS; part++)
        if (ours->kernel[part] && theirs->kernel[part] &&
            strcmp(ours->kernel[part], theirs->kernel[part]) != 0)
            what = "kernel name";
    return what;
}

static void compare_entry(struct walk *walk, const struct tg_entry *theirs)
{
    struct tg_entry ours;
    uint64_t index = find_record(walk, &theirs->record);
    if (index == TG_NONE || !tg_recording_get(walk->verifier->recording, index, &ours)) {
        walk->added++;
        return;
    }
    walk->missing += index - walk->at;
    walk->at = index + 1;
    const char *what = difference(walk, &ours, theirs);
    if (what)
        tg_verify_found(walk->verifier, TG_PROBLEM_MANIFEST, index,
                        "the manifest has another %s than the journal", what);
}

static void compare_entries(struct tg_verifier *verifier, const struct tg_recording *manifest)
{
    struct walk walk = {.verifier = verifier, .manifest = manifest};
    struct tg_entry theirs;
    for (uint64_t i = 0; tg_recording_get(manifest, i, &theirs); i++)
        compare_entry(&walk, &theirs);
    walk.missing += verifier->info.records - walk.at;
    if (walk.added > 0 || walk.missing > manifest->damage.entries)
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE,
                        "%s has %" PRIu64 " records, the journal %" PRIu64, verifier->info.manifest,
                        manifest->info.records, verifier->info.records);
}

static void compare_with(struct tg_verifier *verifier, const struct tg_recording *manifest)
{
    struct tg_recording_info info;
    tg_recording_get_info(manifest, &info);
    compare_entries(verifier, manifest);
    tg_verify_counters(verifier, &info);
    tg_verify_damage(verifier, manifest);
}

static void verify_json(struct tg_verifier *verifier, const char *path)
{
    struct tg_recording *manifest;
    struct tg_error error;
    tg_status status = tg_recording_open(path, &manifest, &error);
    if (status == TG_IO_ERROR || status == TG_NO_MEMORY) {
        verifier->loss = error; /* nothing is known of the manifest */
        return;
    }
    if (status != TG_OK) {
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE, "%s", error.text);
        return;
    }
    compare_with(verifier, manifest);
    (void)tg_recording_check_files(manifest, &verifier->loss);
    tg_recording_close(manifest);
}

/* True if the manifest has one line for each record; they have then been compared. */
static bool verify_text(struct tg_verifier *verifier, const struct tg_map *map)
{
    struct tg_recording_info info;
    const char *list;
    struct tg_recording *head = tg_manifest_peek((const char *)map->bytes, map->size, &list);
    if (!head || head->damage.manifest[0] || !tg_verify_lines(verifier, map, list)) {
        tg_recording_close(head);
        return false;
    }
    uint64_t before = verifier->result->problems;
    tg_recording_get_info(head, &info);
    info.payload_bytes = verifier->info.payload_bytes;
    info.damaged = verifier->info.damaged;
    tg_verify_counters(verifier, &info);
    if (verifier->result->problems == before && verifier->short_records == 0)
        tg_verify_head(verifier, map, list);
    if (verifier->result->problems == before)
        tg_verify_damage(verifier,
                         head); /* no number contradicts the journal, but the check does */
    tg_recording_close(head);
    return true;
}

void tg_verify_manifest(struct tg_verifier *verifier)
{
    struct tg_map map = {0};
    if (!verifier->info.from_journal || !*verifier->info.manifest)
        return;
    char *path = tg_path_join(verifier->info.dir, verifier->info.manifest);
    if (!path) {
        (void)tg_file_no_memory(&verifier->loss);
        return;
    }
    int cause = tg_map_text(path, &map);
    bool done = cause == 0 && verify_text(verifier, &map);
    done |= tg_map_report(&map, path, &verifier->loss) != TG_OK;
    tg_map_close(&map);
    if (tg_cause_is_fault(cause))
        (void)tg_file_error(&verifier->loss, "read", path, cause);
    else if (!done)
        verify_json(verifier, path);
    verifier->result->manifest = true;
    free(path);
}
