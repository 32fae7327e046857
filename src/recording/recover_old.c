/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest that a recovery finds. Its checks prove that it is as its writer left it, so it may know
 * more than a journal that was cut, a payload file that is away for a moment, or the journal of another
 * run. Such a manifest is not replaced, and a replaced one is kept under another name.
 */
#define _GNU_SOURCE 1
#include "recording/recover_old.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/reader.h"
#include "recording/record.h"

enum { MOST_COPIES = 10000 };

static bool adds_up(const struct tg_recording *manifest)
{
    const struct tg_record_summary *said = &manifest->info.summary;
    uint64_t all = said->recorded;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        all += said->lost[cause];
    return said->recorded == manifest->n_entries &&
           (!manifest->info.complete || said->attempted == all);
}

/* True if every check of the manifest is there and right, and its counters agree. */
static bool proves_itself(const struct tg_recording *manifest)
{
    const struct tg_damage *damage = &manifest->damage;
    if (damage->manifest[0] || damage->manifest_head || damage->entries > 0 ||
        manifest->n_entries == 0)
        return false;
    for (uint64_t i = 0; i < manifest->n_entries; i++)
        if (manifest->entry[i].check != TG_TEXT_INTACT)
            return false;
    return adds_up(manifest);
}

/* What the two must agree on. How much payload the file has is another question. */
static void reduce(const struct tg_record *record, struct tg_record *reduced)
{
    tg_record_reduce(record, UINT64_MAX, reduced);
    reduced->flags &= (uint16_t)~TG_RECORD_TRUNCATED;
    reduced->stored = reduced->position = 0;
}

/* True if the recording has each entry of the manifest, in the same order. */
static bool has_all(const struct tg_recording *recording, const struct tg_recording *manifest)
{
    struct tg_record ours, theirs;
    uint64_t at = 0;
    for (uint64_t i = 0; i < manifest->n_entries; i++) {
        bool found = false;
        reduce(&manifest->entry[i].record, &theirs);
        for (; !found && at < recording->info.records; at++) {
            reduce(tg_recording_at(recording, at), &ours);
            found = memcmp(&ours, &theirs, sizeof ours) == 0;
        }
        if (!found)
            return false;
    }
    return true;
}

static bool has_less_payload(const struct tg_recording *recording,
                             const struct tg_recording *manifest)
{
    struct tg_entry entry;
    uint64_t ours = 0, theirs = 0;
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++)
        ours += entry.record.stored;
    for (uint64_t i = 0; i < manifest->n_entries; i++)
        theirs += manifest->entry[i].record.stored;
    return ours < theirs;
}

static enum tg_old_manifest judge(const struct tg_recording *recording,
                                  const struct tg_recording *manifest)
{
    if (!proves_itself(manifest))
        return TG_OLD_REPLACE;
    if (strcmp(recording->run_dir, manifest->run_dir) != 0 || !has_all(recording, manifest))
        return TG_OLD_CONTRADICTS;
    return has_less_payload(recording, manifest) ? TG_OLD_HAS_MORE : TG_OLD_REPLACE;
}

tg_status tg_old_manifest_judge(const struct tg_recording *recording, enum tg_old_manifest *old,
                                struct tg_error *error)
{
    struct tg_recording *manifest;
    *old = TG_OLD_REPLACE;
    if (!recording->manifest[0])
        return TG_OK;
    char *path = tg_path_join(recording->dir, recording->manifest);
    if (!path)
        return tg_file_no_memory(error);
    tg_status status = tg_recording_open(path, &manifest, error);
    free(path);
    if (status != TG_OK) /* nothing in it can be read */
        return status == TG_NO_MEMORY ? status : TG_OK;
    *old = judge(recording, manifest);
    tg_recording_close(manifest);
    return TG_OK;
}

tg_status tg_old_manifest_put_aside(const struct tg_recording *recording, uint32_t *number,
                                    struct tg_error *error)
{
    char name[sizeof TG_DUMP_MANIFEST + 32];
    if (!recording->manifest[0])
        return TG_OK;
    for (uint32_t i = 1; i <= MOST_COPIES; i++) {
        (void)snprintf(name, sizeof name, i == 1 ? "%s.damaged" : "%s.damaged.%u", TG_DUMP_MANIFEST,
                       i);
        char *from = tg_path_join(recording->dir, recording->manifest);
        char *to = tg_path_join(recording->dir, name);
        int cause = from && to ? (link(from, to) == 0 ? 0 : errno) : ENOMEM;
        tg_status status = TG_OK;
        if (cause == 0)
            *number = i;
        else if (cause != ENOENT && cause != EEXIST)
            status = tg_file_error(error, "keep the old manifest as", to ? to : name, cause);
        free(from);
        free(to);
        if (cause != EEXIST)
            return status;
    }
    return tg_file_error(error, "keep the old manifest as", name, EEXIST);
}
