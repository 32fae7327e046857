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
#include <stdlib.h>

#include "base/json_pull.h"
#include "base/lock.h"
#include "recording/reader.h"
#include "recording/run_folder.h"

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

static bool ask_run_json(const struct tg_recording *recording, tg_status *status)
{
    struct tg_map map;
    bool known = tg_run_json_load(recording->dir, &map) == 0 && read_run_json(&map, status);
    tg_map_close(&map);
    return known;
}

/* A run that has closed its journal without a result may still be about to write run.json. */
static bool is_run_busy(const struct tg_recording *recording)
{
    char *folder = tg_run_folder(recording->dir);
    bool is = folder && tg_run_folder_is_busy(folder);
    free(folder);
    return is;
}

static uint32_t state_of(tg_status status)
{
    if (status == TG_CANCELLED)
        return TG_RECORDING_CANCELLED;
    return tg_status_exit_code(status) < 2 ? TG_RECORDING_FINISHED : TG_RECORDING_FAILED;
}

uint32_t tg_recording_find_state(const struct tg_recording *recording)
{
    const struct tg_record_summary *summary = &recording->info.summary;
    enum tg_lock held = TG_LOCK_FREE;
    tg_status status;
    if (recording->journal[0]) {
        char *path = tg_path_join(recording->dir, recording->journal);
        held = path ? tg_lock_look(path) : TG_LOCK_UNKNOWN;
        free(path);
    }
    if (held == TG_LOCK_BUSY)
        return TG_RECORDING_RUNNING;
    if (summary->flags & TG_SUMMARY_RESULT)
        return state_of((tg_status)summary->result);
    if (ask_run_json(recording, &status))
        return state_of(status);
    if (recording->info.complete)
        return TG_RECORDING_FINISHED;
    if (is_run_busy(recording))
        return TG_RECORDING_RUNNING;
    return held == TG_LOCK_FREE ? TG_RECORDING_INTERRUPTED : TG_RECORDING_UNKNOWN;
}
