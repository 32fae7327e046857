/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/find.h"

#include <stdlib.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "recording/reader.h"

#define WORD(constant, word, meaning) word,
#define MEANING(constant, word, meaning) meaning,

const char *tg_quarry_name(unsigned quarry)
{
    static const char *const words[] = {TG_QUARRY_MAP(WORD)};
    return quarry < TG_QUARRIES ? words[quarry] : "?";
}

const char *tg_quarry_text(unsigned quarry)
{
    static const char *const meanings[] = {TG_QUARRY_MAP(MEANING)};
    return quarry < TG_QUARRIES ? meanings[quarry] : "?";
}

const char *tg_trace_name(unsigned trace)
{
    static const char *const words[] = {TG_TRACE_MAP(WORD)};
    return trace < TG_TRACES ? words[trace] : "?";
}

const char *tg_trace_text(unsigned trace)
{
    static const char *const meanings[] = {TG_TRACE_MAP(MEANING)};
    return trace < TG_TRACES ? meanings[trace] : "?";
}

const char *tg_sign_name(unsigned sign)
{
    static const char *const words[] = {TG_SIGN_MAP(WORD)};
    return sign < TG_SIGNS ? words[sign] : "?";
}

const char *tg_sign_text(unsigned sign)
{
    static const char *const meanings[] = {TG_SIGN_MAP(MEANING)};
    return sign < TG_SIGNS ? meanings[sign] : "?";
}

/* --- what the parts share --------------------------------------------------------------------- */

bool tg_hunt_add(struct tg_hunt *hunt, const struct tg_hunt_finding *finding)
{
    if (hunt->n_findings == hunt->room) {
        uint64_t room = hunt->room ? 2 * hunt->room : 64;
        struct tg_hunt_finding *larger = realloc(hunt->finding, (size_t)room * sizeof *larger);
        if (!larger)
            return false;
        hunt->finding = larger;
        hunt->room = room;
    }
    hunt->finding[hunt->n_findings++] = *finding;
    hunt->origins += finding->trace == TG_TRACE_ORIGIN;
    return true;
}

enum { LET_GO_AT = 64 << 20 };

void tg_hunt_account(struct tg_hunt *hunt, uint64_t bytes)
{
    hunt->done += bytes;
    hunt->resident += bytes;
    if (hunt->progress)
        hunt->progress(hunt->context, hunt->done, hunt->total);
    if (hunt->resident >= LET_GO_AT) {
        tg_map_let_go(&hunt->recording->payload, hunt->recording->payload.size);
        hunt->resident = 0;
    }
}

bool tg_hunt_hash(struct tg_hunt *hunt, const struct tg_entry *entry, uint64_t *hash)
{
    const struct tg_record *record = &entry->record;
    const void *bytes = tg_recording_payload(hunt->recording, entry);
    if (record->flags & TG_RECORD_HASHED) {
        *hash = record->hash;
        return true;
    }
    if (!bytes || record->stored < record->bytes)
        return false;
    *hash = tg_content_hash(bytes, (size_t)record->stored);
    tg_hunt_account(hunt, record->stored);
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* What there is to look at. */
struct contents {
    bool payloads, hashes, addresses, tensors;
};

static void look_over(struct tg_hunt *hunt, struct contents *contents)
{
    struct tg_entry entry;
    *contents = (struct contents){0};
    for (uint64_t i = 0; i < hunt->tasks.info.records; i++) {
        const struct tg_record *record = &entry.record;
        if (!tg_recording_get(hunt->recording, i, &entry) || record->kind != TG_KIND_TENSOR ||
            record->stage == TG_STAGE_ORCHESTRATION || record->bytes == 0)
            continue;
        contents->tensors = true;
        contents->payloads = contents->payloads || record->stored > 0;
        contents->hashes = contents->hashes || record->flags & TG_RECORD_HASHED;
        contents->addresses = contents->addresses || record->data_ptr != 0;
        hunt->total += record->stored;
    }
}

/* A recording that could not show it is not one without it. */
static tg_status check(const struct tg_hunt *hunt, const struct contents *contents,
                       struct tg_error *error)
{
    const char *name = tg_quarry_name(hunt->quarry), *dir = hunt->tasks.info.dir;
    bool by_memory = hunt->quarry == TG_QUARRY_UNWRITTEN || hunt->quarry == TG_QUARRY_STOMP;
    if (!contents->tensors)
        return TG_OK;
    if (by_memory && !contents->payloads && !contents->hashes)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' has neither payloads nor hashes, which %s needs; record with "
                            "--dump-tensor=hash or full",
                            dir, name);
    if (by_memory && !contents->addresses)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' has no addresses, which %s needs: its writer leaves them out",
                            dir, name);
    if (!by_memory && !contents->payloads)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' has no payloads, which %s needs; record with --dump-tensor=full",
                            dir, name);
    return TG_OK;
}

static tg_status go_hunting(struct tg_hunt *hunt, struct tg_error *error)
{
    tg_status status = tg_flow_make(&hunt->tasks, &hunt->flow, error);
    bool good;
    if (status != TG_OK)
        return status;
    if (hunt->quarry == TG_QUARRY_UNWRITTEN)
        good = tg_hunt_unwritten(hunt);
    else if (hunt->quarry == TG_QUARRY_STOMP)
        good = tg_hunt_stomps(hunt);
    else
        good = tg_hunt_probe_all(hunt) && tg_hunt_trace(hunt);
    return good ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "no memory to look for it");
}

tg_status tg_hunt_open(const struct tg_recording *recording, enum tg_quarry quarry,
                       tg_analysis_progress_fn progress, void *context, struct tg_hunt **hunt,
                       struct tg_error *error)
{
    struct contents contents;
    struct tg_hunt *h = calloc(1, sizeof *h);
    *hunt = NULL;
    if (!h)
        return tg_error_set(error, TG_NO_MEMORY, "no memory to look for it");
    *h = (struct tg_hunt){.quarry = quarry,
                          .recording = recording,
                          .progress = progress,
                          .context = context,
                          .neighbours_of = TG_NONE};
    tg_status status = tg_tasks_open(recording, &h->tasks, error);
    if (status == TG_OK) {
        look_over(h, &contents);
        status = check(h, &contents, error);
    }
    if (status == TG_OK)
        status = go_hunting(h, error);
    if (status == TG_OK)
        *hunt = h;
    else
        tg_hunt_close(h);
    return status;
}

void tg_hunt_close(struct tg_hunt *hunt)
{
    if (!hunt)
        return;
    tg_flow_free(&hunt->flow);
    tg_tasks_close(&hunt->tasks);
    free(hunt->probe);
    free(hunt->finding);
    free(hunt->neighbour);
    free(hunt);
}

/* --- asking ----------------------------------------------------------------------------------- */

void tg_hunt_get_info(const struct tg_hunt *hunt, struct tg_hunt_info *info)
{
    *info = (struct tg_hunt_info){.order = hunt->flow.order,
                                  .findings = hunt->n_findings,
                                  .origins = hunt->origins,
                                  .looked_at = hunt->looked_at,
                                  .not_stored = hunt->not_stored,
                                  .deps_error = hunt->tasks.deps_error.text};
}

bool tg_hunt_get_finding(const struct tg_hunt *hunt, uint64_t number,
                         struct tg_hunt_finding *finding)
{
    if (number >= hunt->n_findings)
        return false;
    *finding = hunt->finding[number];
    return true;
}

static const struct tg_task_row *row_of(const struct tg_hunt *hunt, uint64_t finding)
{
    struct tg_entry entry;
    if (finding >= hunt->n_findings ||
        !tg_recording_get(hunt->recording, hunt->finding[finding].record, &entry))
        return NULL;
    uint32_t row = tg_tasks_find(&hunt->tasks, entry.record.task_id);
    return row == TG_NO_ROW ? NULL : &hunt->tasks.row[row];
}

bool tg_hunt_get_feed(const struct tg_hunt *hunt, uint64_t finding, uint64_t number,
                      struct tg_hunt_feed *feed)
{
    const struct tg_task_row *row = row_of(hunt, finding);
    /* Sorted by stage: what came before dispatch comes first. */
    if (!row || number >= row->count ||
        tg_record_ref_stage(&hunt->tasks.ref[row->first + number]) != TG_BEFORE_DISPATCH)
        return false;
    uint64_t record = hunt->tasks.ref[row->first + number].index;
    uint32_t at = hunt->flow.of_record[record];
    *feed = (struct tg_hunt_feed){.record = record, .from = TG_NONE, .is_outside = true};
    if (hunt->probe) {
        feed->is_known = hunt->probe[record].is_known;
        feed->count = hunt->probe[record].count;
    }
    if (at != TG_NO_EVENT) {
        const struct tg_flow_event *event = &hunt->flow.event[at];
        feed->is_outside = event->is_outside;
        if (event->n_writers > 0)
            feed->from =
                hunt->flow.event[hunt->flow.writer[event->first_writer + event->n_writers - 1]]
                    .record;
    }
    return true;
}

/* Found when it is asked for: it takes a look at every task. */
static void find_neighbours(struct tg_hunt *hunt, uint64_t finding)
{
    const struct tg_hunt_finding *of = &hunt->finding[finding];
    free(hunt->neighbour);
    hunt->neighbour = tg_stomp_between(hunt, hunt->flow.of_record[of->before],
                                       hunt->flow.of_record[of->record], &hunt->n_neighbours);
    hunt->neighbours_of = finding;
}

bool tg_hunt_get_between(struct tg_hunt *hunt, uint64_t finding, uint64_t number,
                         struct tg_hunt_between *between)
{
    if (finding >= hunt->n_findings || hunt->quarry != TG_QUARRY_STOMP)
        return false;
    if (hunt->neighbours_of != finding)
        find_neighbours(hunt, finding);
    if (number >= hunt->n_neighbours)
        return false;
    const struct tg_hunt_neighbour *neighbour = &hunt->neighbour[number];
    const struct tg_task_row *row = &hunt->tasks.row[neighbour->row];
    *between = (struct tg_hunt_between){
        .task_id = row->id,
        .record = hunt->flow.event[neighbour->begin].record,
        .writes = tg_stomp_writes(hunt, neighbour->row, hunt->finding[finding].record)};
    return true;
}
