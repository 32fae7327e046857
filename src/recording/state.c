/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the run that wrote a recording ended. Three witnesses, in this order:
 *   - the writer holds the journal's lock until it closes the file or dies, so a lock that another
 *     process holds means that the run still goes on; the lock of the run's folder says the same of a
 *     journal that names no result;
 *   - the summary, or the manifest, names the status that the run ended with;
 *   - run.json names it too; older recordings have it only there.
 * Without any of them the writing process died, unless the file system has no locks: then nobody can
 * tell a dead writer from a living one.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>

#include "base/json_pull.h"
#include "base/lock.h"
#include "recording/reader.h"

bool tg_status_from_word(const struct tg_pull *pull, tg_status *status)
{
#define STATUS(name, number, ...) {#name, TG_##name},
    static const struct {
        const char *word;
        tg_status status;
    } all[] = {TG_STATUS_MAP(STATUS)};
#undef STATUS
    for (size_t i = 0; pull->token == TG_PULL_STRING && i < sizeof all / sizeof all[0]; i++)
        if (tg_pull_is(pull, all[i].word)) {
            *status = all[i].status;
            return true;
        }
    return false;
}

/* Reads the object `result` of run.json, at its first token. */
static bool read_result(struct tg_pull *pull, tg_status *status)
{
    bool found = false;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_status = tg_pull_is(pull, "status");
        tg_pull_next(pull);
        if (is_status)
            found = tg_status_from_word(pull, status);
        if (!tg_pull_skip(pull))
            return false;
    }
    return found;
}

static bool read_run_json(const struct tg_map *map, tg_status *status)
{
    struct tg_pull pull;
    if (map->size == 0)
        return false;
    tg_pull_start(&pull, (const char *)map->bytes, map->size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_result = tg_pull_is(&pull, "result");
        tg_pull_next(&pull);
        if (is_result)
            return read_result(&pull, status);
        if (!tg_pull_skip(&pull))
            return false;
    }
    return false;
}

uint32_t tg_recording_state_of(tg_status status)
{
    if (status == TG_CANCELLED)
        return TG_RECORDING_CANCELLED;
    return tg_status_exit_code(status) < 2 ? TG_RECORDING_FINISHED : TG_RECORDING_FAILED;
}

/* What the locks say: of the journal, and of the run's folder, in which a run that has closed its journal
 * may still be about to write run.json. */
struct locks {
    enum tg_lock journal, folder;
};

static uint32_t find_state(const struct tg_recording *recording, struct locks locks)
{
    const struct tg_record_summary *summary = &recording->info.summary;
    tg_status status = TG_OK;
    if (locks.journal == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    if (summary->flags & TG_SUMMARY_RESULT)
        return tg_recording_state_of((tg_status)summary->result);
    if (read_run_json(&recording->run_json, &status))
        return tg_recording_state_of(status);
    if (recording->info.complete)
        return TG_RECORDING_FINISHED;
    if (locks.folder == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    return locks.journal == TG_LOCK_FREE ? TG_RECORDING_INTERRUPTED : TG_RECORDING_UNKNOWN;
}

/* Returns 0, or a cause that is a fault. */
static int look_at_locks(const struct tg_recording *recording, struct locks *locks)
{
    char *folder = NULL, *journal = NULL;
    int cause = 0;
    *locks = (struct locks){TG_LOCK_FREE, TG_LOCK_FREE};
    if (recording->journal[0]) {
        journal = tg_path_join(recording->dir, recording->journal);
        cause = journal ? tg_lock_look(journal, &locks->journal) : ENOMEM;
    }
    if (cause == 0)
        cause = tg_run_folder(recording->dir, &folder);
    if (cause == 0 && folder)
        cause = tg_lock_look(folder, &locks->folder);
    free(folder);
    free(journal);
    return cause;
}

tg_status tg_recording_find_state(struct tg_recording *recording, struct tg_error *error)
{
    struct locks locks;
    int cause = look_at_locks(recording, &locks);
    if (cause != 0)
        return tg_file_error(error, "look at the lock of", recording->dir, cause);
    recording->info.state = find_state(recording, locks);
    return TG_OK;
}
