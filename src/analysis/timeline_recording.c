/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a recording. A task runs from its first record before dispatch to its last record after
 * completion, so its time has the time that recording took. A mix is recorded once, by one of its lanes:
 * all of its parts get the same times. Kernels that only write have no record before dispatch, and those
 * that only read none after completion; then one of the two times is not known.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "analysis/deps.h"
#include "analysis/timeline_load.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "recording/reader.h"

enum { FIRST_SLOTS = 1024 };

/* A task of which records were seen. */
struct seen {
    uint64_t id, begin, end; /* times: TG_TIME_UNKNOWN if there is none */
    uint32_t core, kernel[TG_PARTS];
    bool is_partial;
};

struct load {
    const struct tg_recording *recording;
    struct tg_timeline *timeline;
    struct seen *seen;
    size_t count, room;
    uint32_t *slot; /* number + 1 by id; open addressing, at most half full */
    size_t n_slots;
    uint32_t *kernel; /* index in the timeline + 1, by number */
    size_t n_kernels, kernel_room;
    bool has_times;
};

/* --- records ----------------------------------------------------------------------------------- */

static size_t place_of(const struct load *load, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (load->n_slots - 1);
    while (load->slot[at] && load->seen[load->slot[at] - 1].id != id)
        at = (at + 1) & (load->n_slots - 1);
    return at;
}

static bool grow_slots(struct load *load)
{
    if (2 * (load->count + 1) <= load->n_slots)
        return true;
    size_t n_slots = load->n_slots > 0 ? 2 * load->n_slots : FIRST_SLOTS;
    uint32_t *slot = load->count < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(load->slot);
    load->slot = slot;
    load->n_slots = n_slots;
    for (size_t i = 0; i < load->count; i++)
        slot[place_of(load, load->seen[i].id)] = (uint32_t)i + 1;
    return true;
}

/* The timeline's kernel; its number is not trusted, so the table is no larger than the recording. */
static bool find_kernel(struct load *load, const struct tg_entry *entry, int part, uint32_t *index)
{
    uint32_t number = entry->record.kernel[part];
    *index = TG_TIMELINE_NONE;
    if (!entry->kernel[part])
        return true;
    if (number < load->n_kernels && load->kernel[number] > 0) {
        *index = load->kernel[number] - 1;
        return true;
    }
    *index = tg_timeline_add_kernel(load->timeline, number,
                                    tg_journal_kernel_core(load->recording, number),
                                    entry->kernel[part]);
    if (*index == TG_TIMELINE_NONE)
        return false;
    if (number >= TG_GROW_FIRST * 64)
        return true;
    if (!tg_grow(&load->kernel, &load->kernel_room, (size_t)number + 1, sizeof *load->kernel))
        return false;
    for (; load->n_kernels <= number; load->n_kernels++)
        load->kernel[load->n_kernels] = 0;
    load->kernel[number] = *index + 1;
    return true;
}

static struct seen *see(struct load *load, const struct tg_entry *entry)
{
    uint64_t id = entry->record.task_id;
    if (!grow_slots(load))
        return NULL;
    size_t at = place_of(load, id);
    if (load->slot[at])
        return &load->seen[load->slot[at] - 1];
    if (!tg_grow(&load->seen, &load->room, load->count + 1, sizeof *load->seen))
        return NULL;
    struct seen *seen = &load->seen[load->count];
    *seen = (struct seen){.id = id, .begin = TG_TIME_UNKNOWN, .end = TG_TIME_UNKNOWN};
    for (int part = 0; part < TG_PARTS; part++)
        if (!find_kernel(load, entry, part, &seen->kernel[part]))
            return NULL;
    load->slot[at] = (uint32_t)++load->count;
    return seen;
}

/* A time of 0 means that the file has no times. */
static void take_time(struct load *load, struct seen *seen, const struct tg_record *record)
{
    if (record->time == 0 || record->time == TG_TIME_UNKNOWN)
        return;
    load->has_times = true;
    seen->core = record->core;
    if (record->stage == TG_BEFORE_DISPATCH) {
        if (record->time < seen->begin)
            seen->begin = record->time;
    } else if (record->flags & TG_RECORD_PARTIAL) {
        seen->is_partial = true;
    } else if (seen->end == TG_TIME_UNKNOWN || record->time > seen->end) {
        seen->end = record->time;
    }
}

static tg_status read_records(struct load *load, struct tg_error *error)
{
    struct tg_entry entry;
    for (uint64_t i = 0; tg_recording_get(load->recording, i, &entry); i++) {
        if (entry.record.stage == TG_STAGE_ORCHESTRATION || entry.record.task_id == TG_TASK_NONE)
            continue;
        struct seen *seen = see(load, &entry);
        if (!seen)
            return tg_file_no_memory(error);
        take_time(load, seen, &entry.record);
    }
    return TG_OK;
}

/* --- parts ------------------------------------------------------------------------------------- */

static uint32_t kind_of_lane(uint32_t lane)
{
    return lane % TG_PARTS == TG_PART_AIC ? TG_AIC : TG_AIV;
}

static uint32_t add_core(struct tg_timeline *timeline, uint32_t lane)
{
    static const char *const parts[TG_PARTS] = {"AIC", "AIV0", "AIV1"};
    char name[64];
    (void)snprintf(name, sizeof name, "core %u (%s)", lane, parts[lane % TG_PARTS]);
    return tg_timeline_add_core(timeline, lane, kind_of_lane(lane), name);
}

static bool has_ended(const struct tg_recording_info *info)
{
    return info->state == TG_RECORDING_FINISHED || info->state == TG_RECORDING_UNKNOWN;
}

static void set_times(const struct load *load, const struct seen *seen,
                      struct tg_timeline_part *part)
{
    part->begin = seen->begin;
    part->end = seen->end;
    if (seen->begin == TG_TIME_UNKNOWN) {
        part->begin = seen->end;
        part->flags |= TG_TIMELINE_NO_BEGIN;
    }
    if (seen->end != TG_TIME_UNKNOWN)
        return;
    /* A task of a run that ended well has ended, but left no record of it. */
    if (has_ended(&load->recording->info) && !seen->is_partial) {
        part->end = seen->begin;
        part->flags |= TG_TIMELINE_NO_END;
    } else {
        part->flags |= TG_TIMELINE_PARTIAL;
    }
}

static bool add_parts(struct load *load, const struct seen *seen)
{
    struct tg_timeline *timeline = load->timeline;
    uint32_t first = seen->core - seen->core % TG_PARTS;
    int count = 0;
    for (int part = 0; part < TG_PARTS; part++)
        count += seen->kernel[part] != TG_TIMELINE_NONE;
    if (seen->begin == TG_TIME_UNKNOWN && seen->end == TG_TIME_UNKNOWN) {
        struct tg_timeline_task task = tg_timeline_task_of(seen->id);
        return tg_timeline_add_task(timeline, &task);
    }
    for (int part = 0; part < TG_PARTS; part++) {
        if (seen->kernel[part] == TG_TIMELINE_NONE && !(count == 0 && part == 0))
            continue;
        struct tg_timeline_part made = tg_timeline_part_of(seen->id);
        uint32_t lane =
            count > 1 && first <= UINT32_MAX - TG_PARTS ? first + (uint32_t)part : seen->core;
        made.part = (uint8_t)part;
        made.kernel = seen->kernel[part];
        made.core = add_core(timeline, lane);
        set_times(load, seen, &made);
        if (made.core == TG_TIMELINE_NONE || !tg_timeline_add_part(timeline, &made))
            return false;
    }
    return true;
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

/* Cores that ran nothing were idle too. */
static bool read_facts(struct load *load)
{
    enum { MOST_CORES = 1 << 16 };
    const struct tg_recording *recording = load->recording;
    struct tg_timeline_facts *facts = &load->timeline->facts;
    uint64_t cores = 0;
    if (!read_run_json(load->timeline, &recording->run_json, &cores))
        return false;
    for (uint32_t i = 0; i < cores && cores <= MOST_CORES; i++)
        if (add_core(load->timeline, i) == TG_TIMELINE_NONE)
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
    if (load->has_times)
        return TG_OK;
    if (load->count > 0)
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

static tg_status read_all(struct load *load, struct tg_error *error)
{
    tg_status status = read_records(load, error);
    if (status == TG_OK)
        status = check_times(load, error);
    if (status == TG_OK && !read_facts(load))
        status = tg_file_no_memory(error);
    for (size_t i = 0; status == TG_OK && i < load->count; i++)
        if (!add_parts(load, &load->seen[i]))
            status = tg_file_no_memory(error);
    if (status == TG_OK)
        status = add_edges(load, error);
    if (status == TG_OK)
        status = tg_timeline_finish(load->timeline, error);
    return tg_recording_conclude(load->recording, status, error);
}

tg_status tg_timeline_of_recording(const struct tg_recording *recording,
                                   struct tg_timeline *timeline, struct tg_error *error)
{
    struct load load = {.recording = recording, .timeline = timeline};
    tg_timeline_start(timeline);
    tg_status status = read_all(&load, error);
    free(load.seen);
    free(load.slot);
    free(load.kernel);
    if (status != TG_OK)
        tg_timeline_free(timeline);
    return status;
}
