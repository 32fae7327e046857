/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/ranks_sides.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "recording/ranks.h"
#include "recording/reader.h"

/* ── words ─────────────────────────────────────────────────────────────────────────────── */

const char *tg_call_name(uint32_t kind)
{
    const char *name = tg_comm_kind_name(kind);
    return name ? name : "?";
}

const char *tg_operation_name(int32_t operation)
{
    const char *name = operation < 0 ? NULL : tg_reduction_name((uint32_t)operation);
    return name ? name : "?";
}

const char *tg_task_words(uint64_t task, char words[48])
{
    if (task == TG_TASK_NONE)
        snprintf(words, 48, "-");
    else if (task >> 32 == 0)
        snprintf(words, 48, "%" PRIu64, task);
    else
        snprintf(words, 48, "%" PRIu64 ":%" PRIu64, task >> 32, task & UINT32_MAX);
    return words;
}

/* The part of the words that only its kind has. */
static int describe_kind(const struct tg_call *call, char *words, size_t room)
{
    const char *name = tg_call_name(call->kind);
    if (call->kind == TG_COMM_SEND || call->kind == TG_COMM_RECV)
        return snprintf(words, room, "%s %s rank %" PRId32 ", tag %" PRId32 " (number %" PRIu64 ")",
                        name, call->kind == TG_COMM_SEND ? "to" : "from", call->peer, call->tag,
                        call->number);
    if (call->kind == TG_COMM_BROADCAST)
        return snprintf(words, room, "%s from rank %" PRId32, name, call->peer);
    if (call->operation != TG_COMM_NONE)
        return snprintf(words, room, "%s(%s)", name, tg_operation_name(call->operation));
    return snprintf(words, room, "%s", name);
}

const char *tg_call_describe(const struct tg_call *call, char words[TG_CALL_WORDS])
{
    size_t at = (size_t)describe_kind(call, words, TG_CALL_WORDS);
    snprintf(words + at, TG_CALL_WORDS - at, " of %" PRIu64 " %s%s%.120s", call->elements,
             call->dtype ? tg_dtype_name((int)call->dtype) : "elements of an unknown type",
             *call->site ? " at " : "", call->site);
    return words;
}

/* ── whose files they are ──────────────────────────────────────────────────────────────── */

/* A rank as one of its files names it, and of how many; UINT64_MAX: the file does not say it. */
struct owner {
    uint64_t rank, ranks;
};

static bool read_comm(struct tg_pull *pull, struct owner *owner)
{
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(pull, key, sizeof key);
        tg_pull_next(pull);
        if (strcmp(key, "rank") == 0)
            (void)tg_pull_u64(pull, &owner->rank);
        else if (strcmp(key, "ranks") == 0)
            (void)tg_pull_u64(pull, &owner->ranks);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

/* "comm" of run.json. A file that is missing or broken says nothing. NO_MEMORY. */
static tg_status read_run(const char *dir, struct owner *owner, struct tg_error *error)
{
    struct tg_map map;
    struct tg_pull pull;
    char *path = tg_path_join(dir, "run.json");
    int cause = path ? tg_map_load(path, TG_RUN_JSON_MOST, &map) : ENOMEM;
    free(path);
    if (cause != 0)
        return cause == ENOMEM ? tg_file_no_memory(error) : TG_OK;
    tg_pull_start(&pull, (const char *)map.bytes, map.size);
    bool is_good = tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT;
    while (is_good && tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_comm = tg_pull_is(&pull, "comm");
        is_good = tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT && is_comm ? read_comm(&pull, owner)
                                                                         : tg_pull_skip(&pull);
    }
    tg_map_close(&map);
    return TG_OK;
}

/* Folders may have been exchanged, or copied from another run. */
static bool belongs_to(const struct tg_rank_side *side, uint32_t ranks, struct owner owner,
                       struct tg_error *why)
{
    why->status = TG_BAD_ARGUMENT;
    if (owner.rank != UINT64_MAX && owner.rank != side->rank.rank)
        snprintf(why->text, sizeof why->text, "folder '%s' has the files of rank %" PRIu64,
                 side->rank.folder, owner.rank);
    else if (owner.ranks != UINT64_MAX && owner.ranks != ranks)
        snprintf(why->text, sizeof why->text,
                 "folder '%s' has the files of a run with %" PRIu64 " ranks; this one has %" PRIu32,
                 side->rank.folder, owner.ranks, ranks);
    else
        return true;
    return false;
}

/* Sets *is_own if no file says that the folder is another rank's. */
static tg_status check_owner(const struct tg_rank_side *side, uint32_t ranks, bool *is_own,
                             struct tg_error *why, struct tg_error *error)
{
    struct tg_calls_info info;
    struct owner owner = {UINT64_MAX, UINT64_MAX};
    *is_own = true;
    if (side->calls) {
        tg_calls_get_info(side->calls, &info);
        *is_own = belongs_to(side, ranks, (struct owner){info.rank, info.ranks}, why);
    }
    if (!*is_own)
        return TG_OK;
    tg_status status = read_run(side->rank.dir, &owner, error);
    *is_own = belongs_to(side, ranks, owner, why);
    return status;
}

/* Nothing of the folder counts. */
static void disown(struct tg_rank_side *side, const struct tg_error *why)
{
    tg_calls_close(side->calls);
    side->calls = NULL;
    side->rank.is_there = false;
    side->why = side->why_no_calls = *why;
}

static void say_absent(struct tg_rank_side *side)
{
    struct stat info;
    struct tg_error why = {.status = TG_NOT_FOUND};
    const char *host = side->rank.host;
    bool is_link = lstat(side->rank.dir, &info) == 0 && S_ISLNK(info.st_mode);
    snprintf(why.text, sizeof why.text, "its folder '%s' is not here%s%s", side->rank.folder,
             is_link ? ": it is a symbolic link"
             : *host ? ": it ran on "
                     : "",
             is_link ? "" : host);
    disown(side, &why);
}

/* ── a rank without calls ──────────────────────────────────────────────────────────────── */

/* "calls" and "waiting" of "comm": true if they say that there was no call. */
static bool has_no_calls(struct tg_pull *pull)
{
    uint64_t n;
    bool none = false, idle = false;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_calls = tg_pull_is(pull, "calls"), is_waiting = tg_pull_is(pull, "waiting");
        tg_pull_next(pull);
        if (is_calls && pull->token == TG_PULL_BEGIN_OBJECT) {
            none = tg_pull_next(pull) == TG_PULL_END_OBJECT;
            if (!none)
                return false;
            continue;
        }
        if (is_waiting)
            idle = tg_pull_u64(pull, &n) && n == 0;
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT && none && idle;
}

/* run.json has no "comm" if the workload has no calls. A rank that was killed has no run.json, and has said
 * nothing. */
bool tg_rank_made_no_calls(const struct tg_rank_side *side)
{
    struct tg_map map;
    struct tg_pull pull;
    bool is_none = true;
    if (!side->rank.is_there || side->why_no_calls.status != TG_NOT_FOUND)
        return false;
    char *path = tg_path_join(side->rank.dir, "run.json");
    int cause = path ? tg_map_load(path, TG_RUN_JSON_MOST, &map) : -1;
    free(path);
    if (cause != 0)
        return false;
    tg_pull_start(&pull, (const char *)map.bytes, map.size);
    bool is_good = tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT;
    while (is_good && is_none && tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_comm = tg_pull_is(&pull, "comm");
        tg_pull_next(&pull);
        if (is_comm)
            is_none = pull.token == TG_PULL_BEGIN_OBJECT && has_no_calls(&pull);
        else
            is_good = tg_pull_skip(&pull);
    }
    is_good = is_good && pull.token == TG_PULL_END_OBJECT;
    tg_map_close(&map);
    return is_good && is_none;
}

/* ── opening ───────────────────────────────────────────────────────────────────────────── */

/* A call has one tensor that it reads and one that it writes, or one that is both. */
static void note_record(struct tg_rank_side *side, uint64_t index, const struct tg_record *record)
{
    uint64_t number;
    if (record->kind != TG_KIND_TENSOR || record->stage == TG_STAGE_ORCHESTRATION ||
        !tg_calls_index(side->calls, record->task_id, &number))
        return;
    struct tg_rank_call *call = &side->call[number];
    bool reads = record->role == TG_IN || record->role == TG_INOUT;
    bool writes = record->role == TG_OUT || record->role == TG_INOUT;
    if (record->stage == TG_BEFORE_DISPATCH && reads && call->in == TG_NONE)
        call->in = index;
    if (record->stage == TG_AFTER_COMPLETION && writes && call->out == TG_NONE)
        call->out = index;
}

static bool find_records(struct tg_rank_side *side)
{
    struct tg_entry entry;
    side->call = malloc((side->n_calls + 1) * sizeof *side->call);
    if (!side->call)
        return false;
    for (uint64_t i = 0; i < side->n_calls; i++)
        side->call[i] = (struct tg_rank_call){TG_NONE, TG_NONE};
    for (uint64_t i = 0; tg_recording_get(side->recording, i, &entry); i++)
        note_record(side, i, &entry.record);
    return true;
}

bool tg_recording_is_whole(const struct tg_recording *recording)
{
    struct tg_recording_info info;
    struct tg_note note;
    tg_recording_get_info(recording, &info);
    return !tg_recording_note(&info, 0, &note);
}

/* What a stranger wrote, or what is not there, makes that rank unknown; a machine that fails ends it. */
static bool is_fatal(tg_status status)
{
    return status == TG_NO_MEMORY;
}

static tg_status open_calls(struct tg_rank_side *side, uint32_t ranks, struct tg_error *error)
{
    struct tg_calls_info info;
    struct tg_error why;
    bool is_own;
    tg_status status = tg_calls_open(side->rank.dir, &side->calls, &side->why_no_calls);
    side->why_no_calls.status = status;
    if (is_fatal(status)) {
        *error = side->why_no_calls;
        return status;
    }
    status = check_owner(side, ranks, &is_own, &why, error);
    if (!is_own)
        disown(side, &why);
    if (side->calls) {
        tg_calls_get_info(side->calls, &info);
        side->n_calls = info.calls;
        side->damaged = info.damaged;
    }
    return status;
}

static tg_status open_side(struct tg_rank_side *side, uint32_t ranks, bool recordings,
                           struct tg_error *error)
{
    if (!side->rank.is_there) {
        say_absent(side);
        return TG_OK;
    }
    tg_status status = open_calls(side, ranks, error);
    if (status != TG_OK || !side->rank.is_there || !recordings)
        return status;
    side->why.status = tg_recording_open(side->rank.dir, &side->recording, &side->why);
    if (is_fatal(side->why.status)) {
        *error = side->why;
        return error->status;
    }
    return side->recording && !find_records(side) ? tg_file_no_memory(error) : TG_OK;
}

/* The whole of comm.jsonl is only read where run.json says nothing: it may be large. */
static tg_status check_folder(struct tg_rank_side *side, uint32_t ranks, struct tg_error *error)
{
    struct owner owner = {UINT64_MAX, UINT64_MAX};
    struct tg_error why;
    tg_status status = read_run(side->rank.dir, &owner, error);
    if (status != TG_OK)
        return status;
    if (owner.rank == UINT64_MAX && (status = open_calls(side, ranks, error)) != TG_OK)
        return status;
    if (!side->rank.is_there)
        why = side->why;
    else if (belongs_to(side, ranks, owner, &why))
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s", why.text);
}

tg_status tg_ranks_check_folder(const struct tg_ranks *ranks, uint32_t number,
                                struct tg_error *error)
{
    TG_REFUSE_NULL(error, ranks);
    struct tg_rank_side side = {0};
    struct tg_ranks_info info;
    tg_ranks_get_info(ranks, &info);
    if (!tg_ranks_get(ranks, number, &side.rank))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "there is no rank %" PRIu32 ": the run has ranks 0 to %" PRIu32, number,
                            info.ranks - 1);
    if (!side.rank.is_there) {
        say_absent(&side);
        return tg_error_set(error, TG_NOT_FOUND, "%s", side.why.text);
    }
    tg_status status = check_folder(&side, info.ranks, error);
    tg_calls_close(side.calls);
    return status;
}

tg_status tg_rank_sides_open(const struct tg_ranks *ranks, bool recordings,
                             struct tg_rank_sides *sides, struct tg_error *error)
{
    struct tg_ranks_info info;
    struct tg_error unseen;
    tg_status status = TG_OK;
    error = error ? error : &unseen;
    tg_ranks_get_info(ranks, &info);
    *sides = (struct tg_rank_sides){.side = calloc(info.ranks, sizeof *sides->side)};
    if (!sides->side)
        return tg_file_no_memory(error);
    sides->n = info.ranks;
    for (uint32_t i = 0; status == TG_OK && tg_ranks_get(ranks, i, &sides->side[i].rank); i++)
        status = open_side(&sides->side[i], info.ranks, recordings, error);
    return status;
}

void tg_rank_sides_close(struct tg_rank_sides *sides)
{
    for (uint32_t i = 0; i < sides->n; i++) {
        tg_recording_close(sides->side[i].recording);
        tg_calls_close(sides->side[i].calls);
        free(sides->side[i].call);
    }
    free(sides->side);
    *sides = (struct tg_rank_sides){0};
}

tg_status tg_rank_sides_check(const struct tg_rank_sides *sides, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; status == TG_OK && i < sides->n; i++)
        if (sides->side[i].recording)
            status = tg_recording_check_files(sides->side[i].recording, error);
    return status;
}
