/* SPDX-License-Identifier: Apache-2.0 */
/* The request `run`: what a run is, and what it has. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/scope_stats.h>
#include <taskglass/text.h>
#include <taskglass/timing.h>

#include "analysis/deps_read.h"
#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/reader.h"
#include "trace/timeline.h"
#include "workbench/json_copy.h"
#include "workbench/requests.h"

enum { TEXT = 500 };

/* --- what the run has: "" or the reason why not --------------------------------------------- */

static bool has_file(const struct tg_bench_run *run, const char *name)
{
    enum tg_path_kind kind = TG_PATH_NOTHING;
    char *path = tg_path_join(run->folder, name);
    bool has = path && tg_path_look(path, &kind) == 0 && kind == TG_PATH_FILE;
    free(path);
    return has;
}

/* A journal has them in its first record, so this ends at once; of a manifest it reads all, which are in memory. */
static void look_for_times(const struct tg_bench_run *run, char *why)
{
    const struct tg_record *record;
    uint64_t i = 0;
    size_t released = 0;
    *why = '\0';
    if (has_file(run, TG_SWIMLANE_FILE))
        return;
    if (!run->recording) {
        (void)snprintf(why, TEXT, "%s", run->why);
        return;
    }
    for (; (record = tg_recording_at(run->recording, i)); i++) {
        if (record->stage != TG_STAGE_ORCHESTRATION && record->time != 0 &&
            record->time != TG_TIME_UNKNOWN)
            return;
        tg_recording_let_go(run->recording, i, &released);
    }
    (void)snprintf(why, TEXT, "%s",
                   run->info.from_journal ? "the recording has no record of a task with a time"
                                          : "times are in the journal, and the recording has none");
}

static void look_for_edges(const struct tg_bench_run *run, char *why)
{
    *why = '\0';
    if (!has_file(run, TG_DEPS_FILE))
        (void)snprintf(why, TEXT, "the run has no %s, which lists tasks and edges", TG_DEPS_FILE);
}

static void look_for_scopes(const struct tg_bench_run *run, char *why)
{
    *why = '\0';
    if (!has_file(run, TG_SCOPE_FOLDER "/" TG_SCOPE_SAMPLES))
        (void)snprintf(why, TEXT, "the run took no scope stats; run with --enable-scope-stats");
}

static void put_has(struct tg_json *json, const struct tg_bench_run *run)
{
    char why[TEXT];
    tg_json_key(json, "has");
    tg_json_begin_object(json);
    look_for_times(run, why);
    tg_json_put_string(json, "times", why);
    look_for_edges(run, why);
    tg_json_put_string(json, "edges", why);
    look_for_scopes(run, why);
    tg_json_put_string(json, "scopes", why);
    tg_json_end_object(json);
}

/* --- the recording -------------------------------------------------------------------------- */

static void put_recording(struct tg_json *json, const struct tg_recording_info *info)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < TG_LOSS_CAUSES; i++)
        lost += info->summary.lost[i];
    tg_json_begin_object(json);
    tg_json_put_string(json, "level", info->level ? tg_level_name(info->level) : "unknown");
    tg_json_put_bool(json, "complete", info->complete);
    tg_json_put_string(json, "state", tg_recording_state_name(info->state));
    tg_json_put_bool(json, "foreign", info->foreign);
    tg_json_put_uint(json, "records", info->records);
    tg_json_put_uint(json, "damaged", info->damaged);
    tg_json_put_uint(json, "lost", lost);
    tg_json_put_uint(json, "payload_bytes", info->payload_bytes);
    tg_json_put_bool(json, "poison", info->poison != 0);
    tg_json_end_object(json);
}

static void put_notes(struct tg_json *json, const struct tg_bench_run *run)
{
    struct tg_note note;
    const char *why = run->recording ? tg_recording_why_empty(run->recording) : NULL;
    tg_json_key(json, "notes");
    tg_json_begin_array(json);
    for (unsigned i = 0; run->recording && tg_recording_note(&run->info, i, &note); i++)
        tg_json_string(json, note.text);
    if (why && run->info.records == 0)
        tg_json_string(json, why);
    tg_json_end_array(json);
}

/* run.json as the recording has it, or else as it lies there; null if there is none. */
static tg_status put_run_json(struct tg_json *json, const struct tg_bench_run *run,
                              struct tg_error *error)
{
    struct tg_map map = {0};
    char *path = run->recording ? NULL : tg_path_join(run->folder, "run.json");
    if (!run->recording && !path)
        return tg_file_no_memory(error);
    if (path)
        (void)tg_map_load(path, TG_RUN_JSON_MOST, &map);
    const struct tg_map *from = run->recording ? &run->recording->run_json : &map;
    tg_json_key(json, "run_json");
    bool good = tg_json_copy(json, (const char *)from->bytes, from->size);
    tg_map_close(&map);
    free(path);
    return good ? TG_OK : tg_file_no_memory(error);
}

/* A run holds the lock of its directory until its last file is written. */
static bool goes_on(const struct tg_bench_run *run)
{
    enum tg_lock lock = TG_LOCK_UNKNOWN;
    if (run->recording && run->info.state == TG_RECORDING_RUNNING)
        return true;
    return tg_lock_look(run->folder, &lock) == 0 && lock == TG_LOCK_BUSY;
}

/* Of a run of several ranks, or of one of its ranks: which it is. */
static void put_ranks(struct tg_json *json, const struct tg_bench_run *run)
{
    tg_json_key(json, "ranks");
    if (!run->ranks && !*run->whole) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "key", run->ranks ? run->key : run->whole);
    tg_json_key(json, "rank");
    if (run->ranks)
        tg_json_null(json);
    else
        tg_json_uint(json, run->rank);
    tg_json_end_object(json);
}

static tg_status write(struct tg_json *json, const struct tg_bench_run *run, struct tg_error *error)
{
    char path[1024], command[4096] = "";
    tg_json_put_string(json, "key", run->key);
    tg_json_put_string(json, "name", run->key);
    tg_json_put_string(json, "path", tg_text_clean(run->path, path, sizeof path));
    tg_status status = put_run_json(json, run, error);
    if (status != TG_OK)
        return status;
    tg_json_key(json, "recording");
    if (run->recording)
        put_recording(json, &run->info);
    else
        tg_json_null(json);
    tg_json_put_string(json, "no_recording", run->why);
    put_notes(json, run);
    put_has(json, run);
    if (run->recording)
        (void)tg_recording_command(run->recording, NULL, command, sizeof command);
    tg_json_put_string(json, "command", command);
    tg_json_put_uint(json, "generation", run->generation);
    tg_json_put_bool(json, "live", goes_on(run));
    put_ranks(json, run);
    return TG_OK;
}

tg_status tg_request_run(struct tg_request_context *context, struct tg_error *error)
{
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    return status == TG_OK ? write(&context->answer->json, context->run, error) : status;
}
