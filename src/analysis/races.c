/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/races.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "recording/reader.h"

enum { GOOD, FOUND, OPEN }; /* exit codes */

__attribute__((format(printf, 2, 3))) static void add_note(struct tg_races_summary *summary,
                                                           const char *format, ...)
{
    va_list list;
    if (summary->n_notes == TG_RACE_NOTES)
        return;
    va_start(list, format);
    vsnprintf(summary->note[summary->n_notes].text, sizeof summary->note[0].text, format, list);
    va_end(list);
    summary->n_notes++;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- what can be searched at all -------------------------------------------------------------- */

/* An edge that is missing in deps.json would make a race of tasks that were in order. */
static tg_status check_deps(const struct tg_races *races, struct tg_error *error)
{
    const struct tg_deps *deps = races->tasks.deps;
    const char *dir = races->tasks.info.dir;
    if (*races->tasks.deps_error.text)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s", races->tasks.deps_error.text);
    if (!deps)
        return tg_error_set(
            error, TG_UNSUPPORTED,
            "'%s' has no deps.json, which says what tasks waited for: a run that was "
            "killed leaves none",
            dir);
    if (deps->lost + deps->unknown > 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "the deps.json of '%s' lacks %" PRIu64
                            " tasks or edges, so that an order "
                            "between two tasks may be missing",
                            dir, deps->lost + deps->unknown);
    return TG_OK;
}

static bool leaves_out_arguments(const struct tg_races *races)
{
    const struct tg_recording_info *info = &races->tasks.info;
    return !races->peer.is_peer &&
           (info->level == TG_LEVEL_MARKED || tg_recording_was_filtered(races->recording));
}

/* Refuses a recording without tensors of tasks, unless it is one of a run without tasks. */
static tg_status check_accesses(const struct tg_races *races, struct tg_error *error)
{
    const char *why = tg_recording_why_empty(races->recording);
    if (races->summary->accesses > 0 || races->peer.is_peer || races->tasks.deps->n_tasks == 0 ||
        !why)
        return TG_OK;
    return tg_error_set(error, TG_UNSUPPORTED, "'%s' has no tensor of a task: %s",
                        races->tasks.info.dir, why);
}

/* --- what the filters select ------------------------------------------------------------------ */

static tg_status choose_tasks(struct tg_races *races, struct tg_error *error)
{
    const struct tg_query *query = races->config->query;
    struct tg_entry entry;
    bool some = false;
    if (tg_query_is_empty(query))
        return TG_OK;
    races->chosen = calloc((size_t)races->tasks.deps->n_tasks + 1, sizeof *races->chosen);
    if (!races->chosen)
        return tg_error_set(error, TG_NO_MEMORY, "no memory to search for races");
    for (uint64_t i = 0; tg_query_next(query, races->recording, &i, &entry); i++) {
        uint32_t row = tg_tasks_find(&races->tasks, entry.record.task_id);
        some = true;
        if (row != TG_NO_ROW && races->tasks.row[row].deps != TG_NO_ROW)
            races->chosen[races->tasks.row[row].deps] = true;
    }
    return some ? TG_OK : tg_error_set(error, TG_NOT_FOUND, "no record matches the filters");
}

/* --- the search ------------------------------------------------------------------------------- */

static int tell_pair(void *context, uint32_t first, uint32_t second)
{
    const struct tg_races *races = context;
    const struct tg_deps_task *task = races->tasks.deps->task;
    return races->config->each(races->config->each_context, task[first].id, task[second].id);
}

static int watch(void *context, uint64_t done, uint64_t total)
{
    struct tg_races *races = context;
    races->was_cancelled = races->config->watch(races->config->watch_context, done, total) != 0;
    return races->was_cancelled;
}

static void add_notes(const struct tg_races *races, const struct tg_race_result *result)
{
    struct tg_races_summary *summary = races->summary;
    const uint64_t strange = result->left_out + races->peer.strange;
    if (leaves_out_arguments(races))
        add_note(summary,
                 "the recording left out arguments (filters, or --dump-tensor=marked), and "
                 "races over them are not found");
    if (races->no_address > 0)
        add_note(summary, "%" PRIu64 " tensor%s without an address left out", races->no_address,
                 plural(races->no_address));
    if (races->unsure > 0)
        add_note(summary,
                 "%" PRIu64 " tensor%s left out: the deps.json is of an older version and does not "
                 "say which memory of the device was given out again; record again",
                 races->unsure, plural(races->unsure));
    if (strange > 0)
        add_note(summary, "%" PRIu64 " tensor%s left out whose bytes are not known", strange,
                 plural(strange));
    if (races->crossing > 0)
        add_note(summary,
                 "%" PRIu64 " tensor%s at the addresses of others taken as other memory: the file "
                 "does not say whether they were there at the same time",
                 races->crossing, plural(races->crossing));
    if (summary->unclear > 0)
        add_note(summary,
                 "of at least %" PRIu64
                 " unordered pair%s it is not known whether they share bytes: "
                 "their views are too irregular",
                 summary->unclear, plural(summary->unclear));
    if (result->judged < races->tasks.deps->n_tasks)
        add_note(summary,
                 "the search ended at its limit: the first %" PRIu32 " of %" PRIu32
                 " tasks were compared",
                 result->judged, races->tasks.deps->n_tasks);
    else if (!result->is_exact && summary->unclear == 0 && result->left_out == 0)
        add_note(summary, "not every pair was counted: there are more than the search may look at");
}

/* An older deps.json does not say what the orchestrator waited for. */
static bool knows_waits(const struct tg_races *races)
{
    return races->peer.is_peer || races->tasks.deps->knows_memory;
}

static void conclude(const struct tg_races *races, const struct tg_race_result *result)
{
    struct tg_races_summary *summary = races->summary;
    struct tg_note note;
    summary->pairs = result->pairs;
    summary->unclear = result->unclear;
    /* What was left out may race too. */
    summary->is_exact = result->is_exact && races->unsure == 0 && races->no_address == 0 &&
                        races->peer.strange == 0;
    summary->tasks = races->tasks.deps->n_tasks;
    add_notes(races, result);
    bool is_whole = summary->n_notes == 0 && !tg_recording_note(&races->tasks.info, 0, &note);
    summary->is_proof = is_whole && knows_waits(races) && !races->chosen && summary->pairs == 0;
    if (summary->pairs > 0 && !knows_waits(races)) {
        add_note(summary,
                 "the deps.json is of an older version and does not say what the orchestrator "
                 "waited for, which may have kept these tasks in order; record again");
        summary->result = "possible";
        summary->exit_code = OPEN;
    } else if (summary->pairs > 0) {
        summary->result = "found";
        summary->exit_code = FOUND;
    } else if (summary->unclear > 0 || result->judged < races->tasks.deps->n_tasks) {
        summary->result = "not known";
        summary->exit_code = OPEN;
    } else {
        summary->result = is_whole ? "nothing found" : "nothing found in what was searched";
        summary->exit_code = GOOD;
    }
}

static tg_status search(struct tg_races *races, struct tg_error *error)
{
    struct tg_race_config config = {.group = tg_races_tell,
                                    .pair = races->config->each ? tell_pair : NULL,
                                    .watch = races->config->watch ? watch : NULL,
                                    .context = races,
                                    .chosen = races->chosen,
                                    .work = races->config->work};
    struct tg_race_result result;
    tg_status status = tg_races_put_order(races, error);
    if (status == TG_OK)
        status = tg_races_put_accesses(races, error);
    if (status == TG_OK)
        status = check_accesses(races, error);
    if (status == TG_OK)
        status = tg_race_search_run(races->search, &config, &result, error);
    if (status == TG_OK)
        conclude(races, &result);
    return status;
}

static tg_status open_and_search(struct tg_races *races, struct tg_error *error)
{
    tg_status status = check_deps(races, error);
    if (status == TG_OK && !tg_tasks_name(&races->tasks, false, &races->names))
        status = tg_error_set(error, TG_NO_MEMORY, "no memory to search for races");
    if (status == TG_OK)
        status = tg_sources_open(&races->tasks, &races->sources, error);
    if (status == TG_OK)
        status = choose_tasks(races, error);
    if (status == TG_OK)
        status = tg_race_search_new(races->tasks.deps->n_tasks, &races->search, error);
    if (status == TG_OK)
        status = search(races, error);
    return tg_recording_conclude(races->recording, status, error);
}

tg_status tg_races_find(const struct tg_recording *recording, const struct tg_races_config *config,
                        tg_race_fn tell, void *context, struct tg_races_summary *summary,
                        struct tg_error *error)
{
    static const struct tg_races_config defaults;
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, summary);
    struct tg_races races = {.recording = recording,
                             .config = config ? config : &defaults,
                             .tell = tell,
                             .context = context,
                             .summary = summary};
    *summary = (struct tg_races_summary){.result = "not known", .exit_code = OPEN};
    tg_status status = tg_tasks_open(recording, &races.tasks, error);
    if (status == TG_OK)
        status = open_and_search(&races, error);
    tg_race_search_free(races.search);
    tg_sources_close(&races.sources);
    tg_tasks_close(&races.tasks);
    tg_names_free(&races.names);
    tg_peer_args_free(&races.peer);
    free(races.chosen);
    return status;
}
