/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the recording of a killed host readable, and saves what damage has left. Nothing that can be
 * read is ever lost: only zeros and an unfinished record are cut off the journal, a new manifest has all
 * records of the journal and of the old manifest, and the old one is kept (recover_old.c).
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/recover.h>
#include <taskglass/verify.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/recover_old.h"
#include "recording/run_folder.h"

static tg_status busy(const char *path, struct tg_error *error)
{
    return tg_error_set(error, TG_BUSY, "'%s' is still being written; wait until its run has ended",
                        path);
}

/* Locks the run's folder, as a run does, and removes what a killed run left there. A folder that cannot
 * be opened is not locked; the journal is. */
static tg_status lock_run(const char *folder, const char *asked, struct tg_run_lock *lock,
                          struct tg_error *error)
{
    tg_status status = tg_run_folder_lock(folder, lock, NULL);
    if (status == TG_OK)
        tg_run_folder_clean(folder);
    return status == TG_BUSY ? busy(asked, error) : TG_OK;
}

static tg_status cut_tail(int fd, const char *path, const struct tg_recording *recording,
                          struct tg_recovery *recovered, struct tg_error *error)
{
    uint64_t cut = recording->info.zero_bytes + recording->info.torn_bytes;
    if (!recording->info.from_journal || cut == 0)
        return TG_OK;
    tg_status status = tg_recording_check_files(recording, error); /* it gets shorter by us below */
    if (status != TG_OK)
        return status;
    if (ftruncate(fd, (off_t)(recording->map.size - cut)) != 0)
        return tg_file_error(error, "cut the unfinished end off", path, errno);
    recovered->cut_bytes = cut;
    recovered->zero_bytes = recording->info.zero_bytes;
    return TG_OK;
}

static void count(const struct tg_recording *recording, struct tg_recovery *recovered)
{
    struct tg_entry entry;
    recovered->was_complete = recording->info.complete;
    recovered->lost = recording->info.complete ? tg_record_lost(&recording->info.summary) : 0;
    recovered->payload_bytes = tg_recording_stored(recording);
    recovered->damaged = recording->info.damaged;
    recovered->bad_bytes = recording->damage.slots * recording->slot_size;
    recovered->from_manifest = recording->damage.from_manifest;
    if (!recording->info.from_journal)
        recovered->from_manifest = recording->info.records;
    for (; tg_recording_get(recording, recovered->records, &entry); recovered->records++)
        recovered->truncated += (entry.record.flags & TG_RECORD_TRUNCATED) != 0;
}

/* *sound: no record has a problem either, such as a payload that the file lacks.
 * *good: true if the manifest has every record as the recording has it, with the right numbers. */
static tg_status is_good(const struct tg_recording *recording, bool *good, bool *sound,
                         struct tg_error *error)
{
    struct tg_verification result;
    *good = *sound = false;
    if (!recording->info.from_journal || !recording->manifest[0])
        return TG_OK;
    tg_status status = tg_recording_verify(recording, NULL, NULL, &result, error);
    *good = status == TG_OK && result.by_problem[TG_PROBLEM_MANIFEST] == 0 &&
            result.by_problem[TG_PROBLEM_COUNTER] == 0;
    *sound = *good && result.by_problem[TG_PROBLEM_RECORD] == 0;
    return status;
}

static tg_status write_manifest(const struct tg_recording *recording, const char *dir,
                                struct tg_recovery *recovered, struct tg_error *error)
{
    bool good, sound;
    if (!recording->info.from_journal) {
        recovered->kept_manifest = true; /* it is all there is */
        return TG_OK;
    }
    tg_status status = is_good(recording, &good, &sound, error);
    recovered->kept_manifest = good;
    if (status != TG_OK || sound)
        return status;
    enum tg_old_manifest old;
    status = tg_old_manifest_judge(recording, &old, error);
    if (status != TG_OK)
        return status;
    if (old == TG_OLD_CONTRADICTS && !good)
        return tg_error_set(
            error, TG_BAD_ARGUMENT,
            "'%s': %s and %s contradict each other, and the manifest proves itself; "
            "nothing was changed: move the one that does not belong here away",
            dir, recording->journal, recording->manifest);
    recovered->lacks_payload = old == TG_OLD_HAS_MORE;
    recovered->kept_manifest = good || recovered->lacks_payload;
    if (recovered->kept_manifest)
        return TG_OK;
    status = tg_old_manifest_put_aside(recording, &recovered->put_aside, error);
    return status == TG_OK ? tg_manifest_write(recording, dir, error) : status;
}

/* `found` has the journal, and the manifest if there is one. */
static tg_status recover(int fd, const char *path, struct tg_found *found,
                         struct tg_recovery *recovered, struct tg_error *error)
{
    struct tg_recording *recording;
    /* The writer of a journal holds its lock until it closes the file or dies. */
    tg_status status = tg_lock_take(fd) == TG_LOCK_BUSY ? busy(path, error) : TG_OK;
    if (status == TG_OK)
        status = tg_recording_open_found(found, &recording, error);
    if (status != TG_OK)
        return status;
    count(recording, recovered);
    status = write_manifest(recording, recording->dir, recovered, error);
    if (status == TG_OK)
        status = cut_tail(fd, path, recording, recovered, error);
    tg_recording_close(recording);
    return status;
}

static tg_status recover_found(struct tg_found *found, const char *asked,
                               struct tg_recovery *recovered, struct tg_error *error)
{
    tg_status status = tg_found_both(found, error);
    if (status != TG_OK)
        return status;
    if (!found->journal)
        return tg_error_set(error, TG_NOT_FOUND,
                            "'%s' has no journal (tensor_dump.rec) to recover from", asked);
    char *path = tg_path_join(found->dir, found->journal);
    if (!path)
        return tg_file_no_memory(error);
    int fd, cause = tg_file_open(path, TG_LINKS_FOLLOW, true, &fd, NULL);
    status = cause != 0 ? tg_file_error(error, "open", path, cause)
                        : recover(fd, path, found, recovered, error);
    tg_lock_drop(fd);
    free(path);
    return status;
}

/* A run that was killed before it recorded anything leaves no recording, but maybe other files. */
static tg_status recover_nothing(const char *asked, struct tg_run_lock *lock,
                                 struct tg_error *error)
{
    struct tg_error found_nothing = *error;
    tg_status status = lock_run(asked, asked, lock, error);
    if (status == TG_OK)
        *error = found_nothing;
    return status == TG_OK ? TG_NOT_FOUND : status;
}

/* Finds the files again under the lock: a run may have replaced them meanwhile. */
static tg_status recover_locked(struct tg_found *found, const char *asked, struct tg_run_lock *lock,
                                struct tg_recovery *recovered, struct tg_error *error)
{
    char *folder;
    int cause = tg_run_folder(found->dir, &folder);
    if (cause != 0)
        return tg_file_error(error, "find the run's directory of", found->dir, cause);
    tg_status status = folder ? lock_run(folder, asked, lock, error) : TG_OK;
    free(folder);
    if (status != TG_OK)
        return status;
    tg_found_free(found);
    status = tg_found_files(asked, found, error);
    return status == TG_OK ? recover_found(found, asked, recovered, error) : status;
}

tg_status tg_recording_recover(const char *path, struct tg_recovery *recovered,
                               struct tg_error *error)
{
    TG_REFUSE_NULL(error, path);
    TG_REFUSE_NULL(error, recovered);
    struct tg_run_lock lock = TG_RUN_LOCK_NONE;
    struct tg_error said = {TG_OK, ""};
    struct tg_found found;
    *recovered = (struct tg_recovery){0};
    tg_status status = tg_found_files(path, &found, &said);
    if (status == TG_OK)
        status = recover_locked(&found, path, &lock, recovered, &said);
    else if (status == TG_NOT_FOUND)
        status = recover_nothing(path, &lock, &said);
    tg_found_free(&found);
    tg_run_folder_unlock(&lock);
    if (status != TG_OK && error)
        *error = said;
    return status;
}
