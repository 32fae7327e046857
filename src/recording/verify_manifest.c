/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest beside a journal. Reading JSON is slow, and nearly always the manifest is exactly
 * what we would write again. So this first compares each entry's text with the text that its record
 * gives, and reads only the few lines before the entries. If that fails, it reads the manifest
 * properly and compares entry by entry.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/verify_state.h"

enum { LONGEST_HEAD = 1 << 16 };

/* --- as text ----------------------------------------------------------------------------------- */

struct text {
    const char *at, *end;
};

/* Skips the words if they come next. */
static bool pass(struct text *text, const char *words, size_t length)
{
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, words, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* Reads what stands before the entries, as a manifest without entries. */
static struct tg_recording *read_head(const struct tg_map *map, struct text *text)
{
    static const char list[] = "\"tensors\": [", none[] = "]}";
    size_t most = map->size < LONGEST_HEAD ? map->size : LONGEST_HEAD;
    struct tg_recording *recording = NULL;
    const char *found = most > 0 ? memmem(map->bytes, most, list, sizeof list - 1) : NULL;
    if (!found)
        return NULL;
    *text = (struct text){found + sizeof list - 1, (const char *)map->bytes + map->size};
    size_t length = (size_t)(text->at - (const char *)map->bytes);
    char *head = malloc(length + sizeof none);
    if (!head)
        return NULL;
    memcpy(head, map->bytes, length);
    memcpy(head + length, none, sizeof none);
    (void)tg_recording_from_memory(head, length + sizeof none - 1, NULL, 0, &recording, NULL);
    free(head);
    return recording;
}

/* The text of one entry after the other, each with the comma and the line break before it. */
static bool entries_are_as_printed(const struct tg_verifier *verifier, char *buffer, size_t room,
                                   struct text *text)
{
    struct tg_json json;
    struct tg_entry entry;
    tg_json_start_buffer(&json, buffer, room, -1, 0);
    tg_json_begin_object(&json);
    tg_json_key(&json, "tensors");
    tg_json_begin_array(&json);
    for (uint64_t i = 0; i < verifier->info.records; i++) {
        if (!tg_recording_get(verifier->recording, i, &entry))
            return false;
        json.used = 0;
        tg_manifest_put_entry(&json, &entry, true);
        if (json.status != TG_OK || !pass(text, buffer, json.used))
            return false;
    }
    json.used = 0;
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    return tg_json_finish(&json) == TG_OK && pass(text, buffer, json.used) && text->at == text->end;
}

/* True if the entries are exactly ours; their counters have then been compared. */
static bool verify_text(struct tg_verifier *verifier, const struct tg_map *map)
{
    const size_t room = 1 << 16; /* no entry is longer */
    struct text text;
    struct tg_recording *head = read_head(map, &text);
    char *buffer = head ? malloc(room) : NULL;
    bool same = buffer && entries_are_as_printed(verifier, buffer, room, &text);
    if (same) {
        struct tg_recording_info info;
        tg_recording_get_info(head, &info);
        info.payload_bytes = verifier->info.payload_bytes;
        tg_verify_counters(verifier, &info);
    }
    free(buffer);
    tg_recording_close(head);
    return same;
}

/* --- as JSON ----------------------------------------------------------------------------------- */

/* The first field in which two entries differ; NULL if none does. The position has no meaning if
 * nothing is stored. */
static const char *difference(const struct tg_record *a, const struct tg_record *b)
{
    static const unsigned flags =
        TG_RECORD_TRUNCATED | TG_RECORD_OVERWRITTEN | TG_RECORD_CONTIGUOUS;
    bool is_scalar = a->kind == TG_KIND_SCALAR;
    if (a->task_id != b->task_id)
        return "task";
    if (a->stage != b->stage)
        return "stage";
    if (a->arg_index != b->arg_index)
        return "argument";
    if (a->role != b->role)
        return "role";
    if (a->kind != b->kind)
        return "kind";
    if (a->dtype != b->dtype)
        return "dtype";
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, sizeof a->shape) != 0)
        return "shape";
    if (is_scalar)
        return a->value == b->value ? NULL : "value";
    if (memcmp(a->strides, b->strides, sizeof a->strides) != 0 || a->start != b->start)
        return "strides or start";
    if (a->stored != b->stored || (a->stored > 0 && a->position != b->position))
        return "payload";
    if ((a->flags & TG_RECORD_HASHED) && a->hash != b->hash)
        return "hash";
    return (a->flags ^ b->flags) & flags ? "flags" : NULL;
}

static void compare_entries(struct tg_verifier *verifier, const struct tg_recording *manifest)
{
    struct tg_entry ours, theirs;
    for (uint64_t i = 0; i < verifier->info.records; i++) {
        if (!tg_recording_get(verifier->recording, i, &ours) ||
            !tg_recording_get(manifest, i, &theirs))
            continue;
        const char *what = difference(&ours.record, &theirs.record);
        if (what)
            tg_verify_found(verifier, TG_PROBLEM_MANIFEST, i,
                            "the manifest has another %s than the journal", what);
    }
}

static void compare_with(struct tg_verifier *verifier, const struct tg_recording *manifest)
{
    struct tg_recording_info info;
    tg_recording_get_info(manifest, &info);
    if (info.records != verifier->info.records)
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE,
                        "%s has %" PRIu64 " records, the journal %" PRIu64, info.manifest,
                        info.records, verifier->info.records);
    else
        compare_entries(verifier, manifest);
    tg_verify_counters(verifier, &info);
}

static void verify_json(struct tg_verifier *verifier, const char *path)
{
    struct tg_recording *manifest;
    struct tg_error error;
    if (tg_recording_open(path, &manifest, &error) != TG_OK) {
        tg_verify_found(verifier, TG_PROBLEM_MANIFEST, TG_NONE, "%s", error.text);
        return;
    }
    compare_with(verifier, manifest);
    tg_recording_close(manifest);
}

void tg_verify_manifest(struct tg_verifier *verifier)
{
    struct tg_map map = {0};
    if (!verifier->info.from_journal || !*verifier->info.manifest)
        return;
    char *path = tg_path_join(verifier->info.dir, verifier->info.manifest);
    if (!path)
        return;
    bool done = tg_map_open(path, true, &map) == 0 && verify_text(verifier, &map);
    tg_map_close(&map);
    if (!done)
        verify_json(verifier, path);
    verifier->result->manifest = true;
    free(path);
}
