/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a recording: its tasks (timeline_tasks.h), the edges of deps.json, and what run.json says. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/ranks.h>

#include "analysis/deps.h"
#include "analysis/timeline_calls.h"
#include "analysis/timeline_load.h"
#include "analysis/timeline_tasks.h"
#include "base/error.h"
#include "base/files.h"
#include "recording/reader.h"

struct load {
    const struct tg_recording *recording;
    struct tg_timeline *timeline;
    struct tg_seen_tasks seen;
};

/* A task of which no time is known is one all the same. */
static bool add_parts(struct load *load, const struct tg_seen_task *task)
{
    struct tg_timeline_part part[TG_PARTS];
    int count = tg_seen_task_parts(&load->seen, task, part);
    if (count == 0) {
        struct tg_timeline_task made = tg_timeline_task_of(task->id);
        return tg_timeline_add_task(load->timeline, &made);
    }
    for (int i = 0; i < count; i++)
        if (!tg_timeline_add_part(load->timeline, &part[i]))
            return false;
    return count > 0;
}

/* --- facts ------------------------------------------------------------------------------------- */

static bool keep_text(struct tg_timeline *timeline, const struct tg_pull *pull, const char **text)
{
    char raw[TG_NAME_MAX + 1];
    if (pull->token != TG_PULL_STRING)
        return true;
    size_t length = tg_pull_text(pull, raw, sizeof raw);
    const char *kept = tg_timeline_name(timeline, raw, length);
    if (kept)
        *text = kept;
    return kept != NULL;
}

/* The members of "result" and "device". More cores than any device has are not believed. */
static bool read_inner(struct tg_timeline *timeline, struct tg_pull *pull, uint64_t *cores)
{
    bool good = true;
    while (good && tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_status = tg_pull_is(pull, "status"), is_cores = tg_pull_is(pull, "cores");
        (void)tg_pull_next(pull);
        if (is_status)
            good = keep_text(timeline, pull, &timeline->facts.result);
        if (is_cores && pull->token == TG_PULL_NUMBER)
            (void)tg_pull_u64(pull, cores);
        if (!tg_pull_skip(pull))
            return true;
    }
    return good;
}

static bool read_run_json(struct tg_timeline *timeline, const struct tg_map *map, uint64_t *cores)
{
    struct tg_timeline_facts *facts = &timeline->facts;
    struct {
        const char *key;
        const char **text;
    } texts[] = {{"workload", &facts->workload},
                 {"case", &facts->case_name},
                 {"platform", &facts->platform},
                 {"runtime", &facts->runtime},
                 {"version", &facts->version}};
    struct tg_pull pull;
    tg_pull_start(&pull, (const char *)map->bytes, map->size);
    if (map->size == 0 || tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return true;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        const char **text = NULL;
        bool is_inner = tg_pull_is(&pull, "result") || tg_pull_is(&pull, "device");
        bool is_orchestration = tg_pull_is(&pull, "orchestration");
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            if (tg_pull_is(&pull, texts[i].key))
                text = texts[i].text;
        (void)tg_pull_next(&pull);
        if (is_orchestration) /* none on the device: the host built the graph */
            facts->host_built = pull.token == TG_PULL_NULL;
        if (text && !keep_text(timeline, &pull, text))
            return false;
        if (is_inner && pull.token == TG_PULL_BEGIN_OBJECT) {
            if (!read_inner(timeline, &pull, cores))
                return false;
        } else if (!tg_pull_skip(&pull)) {
            return true;
        }
    }
    return true;
}

bool tg_timeline_take_facts(const struct tg_recording *recording, struct tg_timeline *timeline)
{
    enum { MOST_CORES = 1 << 16 };
    struct tg_timeline_facts *facts = &timeline->facts;
    uint64_t cores = 0;
    if (!read_run_json(timeline, &recording->run_json, &cores))
        return false;
    for (uint32_t i = 0; i < cores && cores <= MOST_CORES; i++)
        if (tg_timeline_add_lane(timeline, i) == TG_TIMELINE_NONE)
            return false;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        facts->lost += recording->info.summary.lost[cause];
    if (!*facts->result && recording->info.state != TG_RECORDING_UNKNOWN)
        facts->result = tg_recording_state_name(recording->info.state);
    facts->source = "recording";
    return true;
}

/* --- the whole --------------------------------------------------------------------------------- */

static tg_status check_times(const struct load *load, struct tg_error *error)
{
    const struct tg_recording_info *info = &load->recording->info;
    const char *why = tg_recording_why_empty(load->recording);
    if (load->seen.has_times)
        return TG_OK;
    if (load->seen.count > 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "there are no times in this recording: they are in the journal, and "
                            "'%s' has none",
                            info->dir);
    return tg_error_set(error, TG_UNSUPPORTED, "'%s' has no record of a task: %s", info->dir,
                        why ? why : "the run had no tasks with arguments");
}

static tg_status add_edges(struct load *load, struct tg_error *error)
{
    struct tg_deps *deps;
    tg_status status = tg_deps_find(load->recording, &deps, error);
    if (status != TG_OK || !deps)
        return status;
    status = tg_timeline_add_deps(deps, load->timeline, error);
    /* Only a graph that the device builds has times of submission. */
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        if (deps->task[i].submitted != TG_NONE)
            load->timeline->facts.host_built = false;
    tg_deps_free(deps);
    return status;
}

/* comm.jsonl lies in the run's folder, beside that of the recording. */
static tg_status take_calls(struct load *load, struct tg_error *error)
{
    char *path = NULL;
    int cause = tg_run_file(load->recording->info.dir, TG_CALLS_FILE, &path);
    char *slash = cause == 0 ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    tg_status status = cause != 0 && tg_cause_is_fault(cause)
                           ? tg_file_error(error, "read", path ? path : TG_CALLS_FILE, cause)
                           : tg_timeline_take_calls(
                                 load->timeline, slash ? path : load->recording->info.dir, error);
    free(path);
    return status;
}

static tg_status read_all(struct load *load, struct tg_error *error)
{
    tg_status status =
        tg_seen_tasks_read(load->recording, load->timeline, false, &load->seen, error);
    if (status == TG_OK)
        status = check_times(load, error);
    if (status == TG_OK && !tg_timeline_take_facts(load->recording, load->timeline))
        status = tg_file_no_memory(error);
    for (size_t i = 0; status == TG_OK && i < load->seen.count; i++)
        if (!add_parts(load, &load->seen.task[i]))
            status = tg_file_no_memory(error);
    if (status == TG_OK)
        status = add_edges(load, error);
    if (status == TG_OK)
        status = tg_timeline_finish(load->timeline, error);
    if (status == TG_OK)
        status = take_calls(load, error);
    return tg_recording_conclude(load->recording, status, error);
}

tg_status tg_timeline_of_recording(const struct tg_recording *recording,
                                   struct tg_timeline *timeline, struct tg_error *error)
{
    struct load load = {.recording = recording, .timeline = timeline};
    tg_timeline_start(timeline);
    tg_status status = read_all(&load, error);
    tg_seen_tasks_free(&load.seen);
    if (status != TG_OK)
        tg_timeline_free(timeline);
    return status;
}
