/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "recording/extents.h"
#include "recording/record.h"

/* `text`: links are followed, and giants of zeros cut off. */
static tg_status open_map(const char *dir, const char *name, enum tg_file_links links, bool text,
                          struct tg_map *map, struct tg_error *error)
{
    char *path = tg_path_join(dir, name);
    if (!path)
        return tg_file_no_memory(error);
    int cause = text ? tg_map_text(path, map) : tg_map_open(path, links, map);
    tg_status status = TG_OK;
    if (cause == ENOENT)
        status = tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path);
    else if (cause == ELOOP && links == TG_LINKS_REFUSE)
        status = tg_error_set(error, TG_BAD_ARGUMENT,
                              "'%s' is a symbolic link; put the payload file itself there", path);
    else if (cause)
        status = tg_file_error(error, "read", path, cause);
    free(path);
    return status;
}

/* A recording without a payload file has only metadata. The file's name comes from the manifest or
 * journal, which may be a stranger's, so symbolic links are not followed. */
static tg_status open_payload(struct tg_recording *recording, struct tg_error *error)
{
    tg_status status = TG_NOT_FOUND;
    if (recording->payload_name[0])
        status = open_map(recording->dir, recording->payload_name, TG_LINKS_REFUSE, false,
                          &recording->payload, error);
    if (status == TG_NOT_FOUND &&
        (recording->damage.journal_head || recording->damage.manifest_head)) {
        memcpy(recording->payload_name, TG_DUMP_PAYLOAD, sizeof TG_DUMP_PAYLOAD);
        status = open_map(recording->dir, recording->payload_name, TG_LINKS_REFUSE, false,
                          &recording->payload, error);
    }
    if (status == TG_NOT_FOUND)
        recording->payload_name[0] = '\0';
    return status == TG_NOT_FOUND ? TG_OK : status;
}

void tg_recording_note_loss(struct tg_recording *recording, const struct tg_map *map,
                            const char *path)
{
    if (recording->lost.status == TG_OK)
        (void)tg_map_report(map, path, &recording->lost);
}

static tg_status report_loss(const struct tg_recording *recording, const struct tg_map *map,
                             const char *name, struct tg_error *error)
{
    if (tg_map_check(map) == 0)
        return TG_OK;
    char *path = tg_path_join(recording->dir, name);
    tg_status status = tg_map_report(map, path ? path : name, error);
    free(path);
    return status;
}

tg_status tg_recording_check_files(const struct tg_recording *recording, struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    if (recording->lost.status != TG_OK)
        return tg_error_set(error, recording->lost.status, "%s", recording->lost.text);
    tg_status status = report_loss(recording, &recording->map, recording->journal, error);
    return status == TG_OK
               ? report_loss(recording, &recording->payload, recording->payload_name, error)
               : status;
}

tg_status tg_recording_conclude(const struct tg_recording *recording, tg_status status,
                                struct tg_error *error)
{
    struct tg_error loss;
    if (tg_recording_check_files(recording, &loss) == TG_OK)
        return status;
    return tg_error_set(error, loss.status, "%s", loss.text);
}

static void fill_info(struct tg_recording *recording)
{
    struct tg_recording_info *info = &recording->info;
    info->dir = recording->dir;
    info->manifest = recording->manifest;
    info->journal = recording->journal;
    info->payload = recording->payload_name;
    info->run_dir = recording->run_dir;
    info->payload_bytes = recording->payload.size;
}

static tg_status read_manifest_file(struct tg_recording *recording, const char *name,
                                    struct tg_error *error)
{
    struct tg_map map = {0};
    tg_status status = open_map(recording->dir, name, TG_LINKS_FOLLOW, true, &map, error);
    if (status == TG_OK) {
        status = tg_manifest_read(recording, &map, name, error);
        report_loss(recording, &map, name, &recording->lost);
    }
    tg_map_close(&map);
    return status == TG_OK ? tg_manifest_add_addresses(recording, error) : status;
}

static tg_status read_journal_file(struct tg_recording *recording, const char *name,
                                   struct tg_error *error)
{
    tg_status status =
        open_map(recording->dir, name, TG_LINKS_FOLLOW, false, &recording->map, error);
    return status == TG_OK ? tg_journal_read(recording, name, error) : status;
}

/* Forgets a journal that could not be read, but not why. */
static void drop_journal(struct tg_recording *recording, const struct tg_error *why)
{
    tg_map_close(&recording->map);
    free(recording->mark);
    recording->mark = NULL;
    recording->n_marks = recording->slots = recording->claimed = 0;
    recording->info = (struct tg_recording_info){0};
    recording->damage = (struct tg_damage){0};
    (void)snprintf(recording->damage.journal, sizeof recording->damage.journal, "%.*s",
                   (int)sizeof recording->damage.journal - 1, why->text);
}

/* The manifest suffices if the journal beside it is not one that this program can read. */
static tg_status read_files(struct tg_recording *recording, const struct tg_found *found,
                            struct tg_error *error)
{
    struct tg_error why = {TG_OK, ""};
    if (!found->journal)
        return read_manifest_file(recording, found->manifest, error);
    tg_status status = read_journal_file(recording, found->journal, &why);
    if (tg_map_check(&recording->map) != 0)
        return report_loss(recording, &recording->map, found->journal, error);
    if ((status == TG_BAD_ARGUMENT || status == TG_UNSUPPORTED) && found->manifest) {
        struct tg_error failure = {TG_OK, ""};
        drop_journal(recording, &why);
        tg_status second = read_manifest_file(recording, found->manifest, &failure);
        if (second == TG_NO_MEMORY || second == TG_IO_ERROR) /* it may be good */
            why = failure;
        if (second == TG_OK)
            return TG_OK;
        status = why.status;
    }
    if (status != TG_OK && error)
        *error = why;
    return status;
}

/* A run that was killed has none, and a recording may have been copied without it. */
static tg_status open_run_json(struct tg_recording *recording, struct tg_error *error)
{
    char *path;
    int cause = tg_run_file(recording->dir, "run.json", &path);
    if (cause == 0)
        cause = tg_map_load(path, TG_RUN_JSON_MOST, &recording->run_json);
    recording->no_run_json = cause;
    tg_status status = TG_OK;
    if (tg_cause_is_fault(cause))
        status = tg_file_error(error, "read", path ? path : "run.json", cause);
    free(path);
    return status;
}

static tg_status open_files(struct tg_recording *recording, struct tg_found *found,
                            struct tg_error *error)
{
    recording->dir = found->dir;
    found->dir = NULL;
    if (found->journal)
        (void)snprintf(recording->journal, sizeof recording->journal, "%s", found->journal);
    if (found->manifest)
        (void)snprintf(recording->manifest, sizeof recording->manifest, "%s", found->manifest);
    tg_status status = read_files(recording, found, error);
    if (status == TG_OK)
        status = open_payload(recording, error);
    if (status == TG_OK)
        status = tg_recording_merge(recording, error);
    if (status == TG_OK)
        status = tg_recording_judge_claims(recording, error);
    if (status == TG_OK)
        status = open_run_json(recording, error);
    status = tg_recording_conclude(recording, status, error);
    if (status == TG_OK) {
        fill_info(recording);
        status = tg_recording_find_state(recording, error);
    }
    return status;
}

tg_status tg_recording_open_found(struct tg_found *found, struct tg_recording **recording,
                                  struct tg_error *error)
{
    struct tg_recording *r = calloc(1, sizeof *r);
    *recording = NULL;
    if (!r)
        return tg_file_no_memory(error);
    tg_status status = open_files(r, found, error);
    if (status == TG_OK)
        *recording = r;
    else
        tg_recording_close(r);
    return status;
}

tg_status tg_recording_open(const char *path, struct tg_recording **recording,
                            struct tg_error *error)
{
    TG_REFUSE_NULL(error, path);
    TG_REFUSE_NULL(error, recording);
    struct tg_found found;
    *recording = NULL;
    tg_status status = tg_found_files(path, &found, error);
    if (status == TG_OK)
        status = tg_recording_open_found(&found, recording, error);
    tg_found_free(&found);
    return status;
}

tg_status tg_recording_from_memory(const void *bytes, size_t size, const void *payload,
                                   size_t payload_size, struct tg_recording **recording,
                                   struct tg_error *error)
{
    struct tg_recording *r = calloc(1, sizeof *r);
    tg_status status;
    *recording = NULL;
    if (!r || !(r->dir = strdup("."))) {
        free(r);
        return tg_file_no_memory(error);
    }
    r->payload = (struct tg_map){.bytes = payload, .size = payload_size};
    if (tg_journal_begins(bytes, size)) {
        r->map = (struct tg_map){.bytes = bytes, .size = size};
        status = tg_journal_read(r, "memory", error);
    } else {
        const struct tg_map map = {.bytes = bytes, .size = size};
        status = tg_manifest_read(r, &map, "memory", error);
    }
    if (status == TG_OK)
        status = tg_recording_judge_claims(r, error);
    fill_info(r);
    r->info.state = r->info.complete ? TG_RECORDING_FINISHED : TG_RECORDING_UNKNOWN;
    if (status == TG_OK)
        *recording = r;
    else
        tg_recording_close(r);
    return status;
}

void tg_recording_close(struct tg_recording *recording)
{
    if (!recording)
        return;
    tg_map_close(&recording->map);
    tg_map_close(&recording->payload);
    tg_map_close(&recording->run_json);
    tg_names_free(&recording->names);
    tg_recording_close(recording->beside);
    free(recording->kernel);
    free(recording->entry);
    free(recording->span);
    free(recording->mark);
    free(recording->excess);
    free(recording->dir);
    free(recording);
}

void tg_recording_get_info(const struct tg_recording *recording, struct tg_recording_info *info)
{
    if (recording == NULL || info == NULL)
        return;
    *info = recording->info;
}

const struct tg_record *tg_recording_at_(const struct tg_recording *recording, uint64_t index,
                                         struct tg_record *room)
{
    if (index >= recording->info.records)
        return NULL;
    const struct tg_span *span = tg_span_of(recording, index);
    uint64_t place = span->from + (index - span->first);
    if (span->in_manifest)
        return &recording->entry[place].record;
    if (recording->slot_size == TG_JOURNAL_SLOT_V1)
        return (const struct tg_record *)(const void *)tg_journal_slot(recording, place);
    tg_journal_record(recording, place, room);
    return room;
}

static void name_kernels(const struct tg_recording *recording, uint64_t index,
                         const struct tg_record *record, const char *kernel[TG_PARTS])
{
    const struct tg_span *span = tg_span_of(recording, index);
    if (span->in_manifest) {
        const struct tg_read_entry *entry = &recording->entry[span->from + (index - span->first)];
        memcpy((void *)kernel, (const void *)entry->kernel, TG_PARTS * sizeof *kernel);
        return;
    }
    for (int part = 0; part < TG_PARTS; part++)
        kernel[part] = record->kernel[part] == TG_NO_KERNEL
                           ? NULL
                           : tg_journal_kernel(recording, record->kernel[part]);
}

void tg_recording_kernels(const struct tg_recording *recording, uint64_t index,
                          const char *kernel[TG_PARTS])
{
    name_kernels(recording, index, tg_recording_at(recording, index), kernel);
}

bool tg_recording_get(const struct tg_recording *recording, uint64_t index, struct tg_entry *entry)
{
    if (recording == NULL || entry == NULL)
        return false;
    const struct tg_record *found = tg_recording_at_(recording, index, &entry->record);
    if (found == NULL)
        return false;
    if (found != &entry->record)
        memcpy(&entry->record, found, sizeof entry->record);
    entry->record.type = TG_RECORD_ARGUMENT; /* as it was when the reader checked it */
    name_kernels(recording, index, &entry->record, entry->kernel);
    tg_record_confine(&entry->record, recording->payload.size);
    if (recording->excess && recording->excess[index / 8] >> index % 8 & 1)
        entry->record.flags |= TG_RECORD_EXCESS;
    return true;
}

const void *tg_recording_payload(const struct tg_recording *recording, const struct tg_entry *entry)
{
    if (recording == NULL || entry == NULL)
        return NULL;
    uint64_t size = recording->payload.size, stored = entry->record.stored;
    /* Checked again, because the caller could have changed the entry. */
    if (entry->record.flags & TG_RECORD_EXCESS)
        return NULL;
    if (stored == 0 || entry->record.position > size || stored > size - entry->record.position)
        return NULL;
    return recording->payload.bytes + entry->record.position;
}

bool tg_recording_intact(const struct tg_recording *recording, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    const void *bytes = tg_recording_payload(recording, entry);
    if (!bytes || !(record->flags & TG_RECORD_HASHED) || record->stored != record->bytes ||
        record->flags & (TG_RECORD_PARTIAL | TG_RECORD_OVERWRITTEN))
        return true;
    return tg_content_hash(bytes, (size_t)record->stored) == record->hash;
}
