/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace takes from the records, and from run.json beside them; and lists of texts. */
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "base/grow.h"
#include "base/json_pull.h"
#include "export/export_trace.h"
#include "recording/reader.h"

/* --- lists of texts -------------------------------------------------------------------------- */

/* tg_names_add gives the same pointer for the same text, so the pointer is what is looked for. */
static size_t place_of(const struct tg_text_list *list, const char *text)
{
    size_t at =
        (size_t)((uintptr_t)text * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (list->n_slots - 1);
    while (list->slot[at] && list->at[list->slot[at] - 1] != text)
        at = (at + 1) & (list->n_slots - 1);
    return at;
}

static bool make_slots(struct tg_text_list *list)
{
    enum { FIRST_SLOTS = 64 };
    if (2 * (list->count + 1) <= list->n_slots)
        return true;
    size_t n_slots = list->n_slots > 0 ? 2 * list->n_slots : FIRST_SLOTS;
    uint32_t *slot = list->count < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(list->slot);
    list->slot = slot;
    list->n_slots = n_slots;
    for (size_t i = 0; i < list->count; i++)
        slot[place_of(list, list->at[i])] = (uint32_t)i + 1;
    return true;
}

bool tg_text_list_add(struct tg_text_list *list, const char *text, uint32_t *number)
{
    const char *kept = tg_names_add(&list->names, text, strlen(text));
    if (!kept || !make_slots(list))
        return false;
    size_t place = place_of(list, kept);
    if (list->slot[place] == 0) {
        if (!tg_grow(&list->at, &list->room, list->count + 1, sizeof *list->at))
            return false;
        list->at[list->count++] = kept;
        list->slot[place] = (uint32_t)list->count;
    }
    *number = list->slot[place] - 1;
    return true;
}

void tg_text_list_free(struct tg_text_list *list)
{
    free(list->at);
    free(list->slot);
    tg_names_free(&list->names);
}

/* --- run.json -------------------------------------------------------------------------------- */

static void add_fact(struct tg_export_facts *facts, const char *key, const struct tg_pull *pull)
{
    uint64_t number;
    if (facts->count == TG_EXPORT_FACTS)
        return;
    struct tg_trace_fact *fact = &facts->fact[facts->count];
    char *text = facts->text[facts->count];
    if (pull->token == TG_PULL_STRING) {
        (void)tg_pull_text(pull, text, TG_NAME_MAX + 1);
        *fact = (struct tg_trace_fact){.key = key, .text = text};
    } else if (pull->token == TG_PULL_NUMBER && tg_pull_u64(pull, &number)) {
        *fact = (struct tg_trace_fact){.key = key, .number = number};
    } else {
        return;
    }
    facts->count++;
}

/* The facts, by their place in run.json. `in` is NULL for members of the document itself. */
static const struct place {
    const char *in, *key, *fact;
} places[] = {
    {NULL, "workload", "workload"}, {NULL, "case", "case"},          {NULL, "platform", "platform"},
    {NULL, "runtime", "runtime"},   {"result", "status", "result"},  {"error", "message", "error"},
    {"device", "cores", "cores"},   {"times", "started", "started"},
};

static const char *fact_at(const struct tg_pull *pull, const char *in)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if ((in == NULL) == (places[i].in == NULL) && (!in || strcmp(in, places[i].in) == 0) &&
            tg_pull_is(pull, places[i].key))
            return places[i].fact;
    return NULL;
}

static const char *object_at(const struct tg_pull *pull)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i].in && tg_pull_is(pull, places[i].in))
            return places[i].in;
    return NULL;
}

static void read_object(struct tg_export_facts *facts, struct tg_pull *pull, const char *in)
{
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        const char *fact = fact_at(pull, in), *inner = in ? NULL : object_at(pull);
        (void)tg_pull_next(pull);
        if (fact)
            add_fact(facts, fact, pull);
        if (fact && strcmp(fact, "cores") == 0 && pull->token == TG_PULL_NUMBER)
            (void)tg_pull_u64(pull, &facts->cores);
        if (inner && pull->token == TG_PULL_BEGIN_OBJECT)
            read_object(facts, pull, inner); /* once: `in` is then set */
        else if (!tg_pull_skip(pull))
            return;
    }
}

void tg_export_facts_read(const struct tg_export_job *job, struct tg_export_facts *facts)
{
    const struct tg_map *map = &job->recording->run_json;
    struct tg_pull pull;
    uint64_t lost = 0;
    *facts = (struct tg_export_facts){.count = 0};
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        lost += job->info.summary.lost[cause];
    tg_pull_start(&pull, (const char *)map->bytes, map->size);
    if (map->size > 0 && tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT)
        read_object(facts, &pull, NULL);
    if (facts->count + 3 > TG_EXPORT_FACTS)
        return;
    facts->fact[facts->count++] = (struct tg_trace_fact){.key = "source", .text = "recording"};
    facts->fact[facts->count++] =
        (struct tg_trace_fact){.key = "state", .text = tg_recording_state_name(job->info.state)};
    facts->fact[facts->count++] = (struct tg_trace_fact){.key = "lost_records", .number = lost};
}

/* --- records --------------------------------------------------------------------------------- */

/* "in float32[16,16]", "int64 10". */
static void describe(const struct tg_record *record, char *text, size_t room)
{
    struct tg_value_text value;
    const char *dtype = tg_dtype_valid(record->dtype) ? tg_dtype_name(record->dtype) : "?";
    if (record->kind == TG_KIND_SCALAR) {
        (void)snprintf(text, room, "%s %s", dtype, tg_scalar_format(record, &value));
        return;
    }
    int at = snprintf(text, room, "%s %s[", tg_role_name(record->role), dtype);
    for (int i = 0; i < record->ndim && i < TG_MAX_DIMS && (size_t)at < room; i++)
        at += snprintf(text + at, room - (size_t)at, i > 0 ? ",%lld" : "%lld",
                       (long long)record->shape[i]);
    if ((size_t)at < room)
        (void)snprintf(text + at, room - (size_t)at, "]");
}

static void add_argument(struct tg_export_trace *trace, const struct tg_record *record)
{
    char key[16], text[256];
    const struct tg_export_task *task = tg_export_tasks_find(&trace->tasks, record->task_id);
    if (!task || !task->is_written || record->arg_index >= 64)
        return;
    uint64_t bit = UINT64_C(1) << record->arg_index, *seen = &trace->seen[task - trace->tasks.at];
    if (*seen & bit)
        return;
    *seen |= bit;
    (void)snprintf(key, sizeof key, "arg%u", record->arg_index);
    describe(record, text, sizeof text);
    tg_spool_add_text(trace->spool, task->id, key, text);
}

/* What was recorded before the first task that is shown counts there. */
static void add_bytes(const struct tg_export_trace *trace, const struct tg_record *record,
                      struct tg_steps *steps)
{
    uint64_t time = record->time < trace->begin ? trace->begin : record->time;
    if (record->stored > 0 && record->stored <= INT64_MAX >> 16 && record->time > 0)
        tg_steps_add(steps, time < trace->end ? time : trace->end, (int64_t)record->stored);
}

static void add_recorder(struct tg_export_trace *trace, struct tg_steps *steps)
{
    tg_steps_finish(steps);
    for (size_t i = 0; i < steps->count; i++)
        if (steps->step[i].change >= 0)
            tg_spool_add(trace->spool,
                         &(struct tg_spool_event){.type = TG_SPOOL_RECORDER,
                                                  .begin = steps->step[i].time,
                                                  .at = (uint64_t)steps->step[i].change});
}

tg_status tg_export_trace_records(struct tg_export_trace *trace)
{
    struct tg_export_job *job = trace->job;
    struct tg_steps steps;
    struct tg_entry entry;
    if (!tg_steps_start(&steps, trace->begin, trace->end, job->info.records))
        return tg_export_no_memory(job->error);
    for (uint64_t i = 0; tg_query_next(NULL, job->recording, &i, &entry); i++) {
        job->done++;
        if (i % 256 == 0 && !tg_export_tell(job))
            break;
        add_bytes(trace, &entry.record, &steps);
        if (entry.record.stage != TG_STAGE_ORCHESTRATION)
            add_argument(trace, &entry.record);
    }
    if (!job->is_cancelled)
        add_recorder(trace, &steps);
    tg_steps_free(&steps);
    return tg_export_end(job, TG_OK);
}
