/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/find.h"

#include <pthread.h>
#include <stdlib.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "base/grow.h"
#include "recording/reader.h"

#define WORD(constant, word, meaning) word,
#define MEANING(constant, word, meaning) meaning,

const char *tg_find_kind_name(unsigned find_kind)
{
    static const char *const words[] = {TG_FIND_KIND_MAP(WORD)};
    return find_kind < TG_FIND_KINDS ? words[find_kind] : "?";
}

const char *tg_find_kind_text(unsigned find_kind)
{
    static const char *const meanings[] = {TG_FIND_KIND_MAP(MEANING)};
    return find_kind < TG_FIND_KINDS ? meanings[find_kind] : "?";
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

enum { WATCH_BYTES = 1 << 20 };

/* --- what the parts share --------------------------------------------------------------------- */

bool tg_find_add(struct tg_find *find, const struct tg_find_finding *finding)
{
    if (!tg_grow(&find->finding, &find->room, (size_t)find->n_findings + 1, sizeof *find->finding))
        return false;
    find->finding[find->n_findings++] = *finding;
    find->origins += finding->trace == TG_TRACE_ORIGIN;
    find->proved += finding->is_proved;
    return true;
}

void tg_find_account(struct tg_find *find, uint64_t bytes)
{
    find->done += bytes;
    if (find->progress)
        find->progress(find->context, find->done, find->total);
    /* A watch may be slow, for example in Python, and records may be small. */
    if (find->watch && !find->is_cancelled && (bytes > WATCH_BYTES || find->accounts++ % 64 == 0))
        find->is_cancelled = find->watch(find->context, find->done, find->total) != 0;
}

bool tg_find_hash(struct tg_find *find, const struct tg_entry *entry, uint64_t *hash)
{
    const struct tg_record *record = &entry->record;
    const void *bytes = tg_recording_payload(find->recording, entry);
    if (record->flags & TG_RECORD_HASHED) {
        *hash = record->hash;
        return true;
    }
    if (!bytes || record->stored < record->bytes)
        return false;
    *hash = tg_content_hash(bytes, (size_t)record->stored);
    tg_find_account(find, record->stored);
    return true;
}

bool tg_find_misses_argument(struct tg_find *find, const struct tg_task_row *row)
{
    struct tg_find_task *task = &find->task[row - find->tasks.row];
    uint64_t seen = 0;
    if (task->knows_arguments)
        return task->misses_argument;
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        seen |= UINT64_C(1) << (find->tasks.ref[i].place & 0x3f);
    task->knows_arguments = true;
    task->misses_argument = find->is_selective || (seen & (seen + 1)) != 0;
    return task->misses_argument;
}

static bool leaves_out_arguments(const struct tg_find *find)
{
    const struct tg_recording_info *info = &find->tasks.info;
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        lost += info->summary.lost[cause];
    return info->level == TG_LEVEL_MARKED || lost > 0 || find->tasks.damaged > 0 ||
           info->damaged > 0 || tg_recording_was_filtered(find->recording);
}

/* --- opening ---------------------------------------------------------------------------------- */

static tg_status refuse_empty(const struct tg_find *find, struct tg_error *error)
{
    const struct tg_deps *deps = find->tasks.deps;
    const char *why = tg_recording_why_empty(find->recording);
    if (!why || (deps && deps->n_tasks == 0 && deps->lost == 0))
        return TG_OK;
    return tg_error_set(error, TG_UNSUPPORTED, "'%s' has no tensor of a task: %s",
                        find->tasks.info.dir, why);
}

/* Refuses a recording that cannot show what is looked for, instead of finding nothing in it. */
static tg_status check(const struct tg_find *find, struct tg_error *error)
{
    const struct tg_flow_contents *contents = &find->flow.contents;
    const char *name = tg_find_kind_name(find->find_kind), *dir = find->tasks.info.dir;
    bool by_memory = find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP;
    if (find->n_findings > 0)
        return TG_OK;
    if (contents->tensors == 0)
        return refuse_empty(find, error);
    if (by_memory && contents->payloads == 0 && contents->hashes == 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' has neither payloads nor hashes, which %s needs; record with "
                            "--dump-tensor=hash or full",
                            dir, name);
    if (by_memory && contents->addresses == 0)
        return tg_error_set(
            error, TG_UNSUPPORTED,
            "'%s' has no addresses, which %s needs: the program that wrote it leaves them out", dir,
            name);
    if (!by_memory && contents->payloads == 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "'%s' has no payloads, which %s needs; record with --dump-tensor=full",
                            dir, name);
    return TG_OK;
}

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to search a recording");
}

/* Why a part of the search returned false. */
static tg_status broken_off(const struct tg_find *find, struct tg_error *error)
{
    return find->is_cancelled ? tg_error_set(error, TG_CANCELLED, "the search was cancelled")
                              : no_memory(error);
}

/* The replay of reads and writes, which needs no payload, on a thread of its own. */
struct replay {
    struct tg_find *find;
    bool is_needless; /* set when the search has ended and found nothing to trace */
    struct tg_error error;
    tg_status status;
};

static void *replay(void *context)
{
    struct replay *job = context;
    job->status =
        tg_flow_make_until(&job->find->tasks, &job->is_needless, &job->find->flow, &job->error);
    return NULL;
}

static bool has_found(const struct tg_find *find)
{
    for (uint64_t i = 0; i < find->tasks.info.records; i++)
        if (find->probe[i].count > 0)
            return true;
    return false;
}

/* Searches the payloads on this thread, which progress is reported on, meanwhile. */
static tg_status replay_and_probe(struct tg_find *find, struct tg_error *error)
{
    struct replay job = {.find = find, .error = {TG_OK, ""}};
    pthread_t thread;
    bool is_apart = pthread_create(&thread, NULL, replay, &job) == 0;
    bool good = tg_find_probe_all(find);
    __atomic_store_n(&job.is_needless, find->is_cancelled || (good && !has_found(find)),
                     __ATOMIC_RELAXED);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    else
        (void)replay(&job);
    if (job.status != TG_OK)
        return tg_error_set(error, job.status, "%s", job.error.text);
    return good ? TG_OK : broken_off(find, error);
}

static tg_status find_all(struct tg_find *find, struct tg_error *error)
{
    bool by_memory = find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP;
    tg_status status =
        by_memory ? tg_flow_make(&find->tasks, &find->flow, error) : replay_and_probe(find, error);
    bool good;
    if (status != TG_OK)
        return status;
    if (find->find_kind == TG_FIND_UNWRITTEN)
        good = tg_find_unwritten(find);
    else if (find->find_kind == TG_FIND_STOMP)
        good = tg_find_stomps(find);
    else
        good = tg_find_trace(find);
    return good && !find->is_cancelled ? TG_OK : broken_off(find, error);
}

static tg_status open_find(const struct tg_recording *recording, enum tg_find_kind find_kind,
                           const struct tg_find *told, struct tg_find **find,
                           struct tg_error *error)
{
    if ((unsigned)find_kind >= TG_FIND_KINDS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "tg_find_open: %u is nothing to look for",
                            (unsigned)find_kind);
    if (find_kind == TG_FIND_RACE)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_find_open: races are no records; tg_races_find finds them");
    struct tg_find *h = calloc(1, sizeof *h);
    *find = NULL;
    if (!h)
        return no_memory(error);
    *h = (struct tg_find){.find_kind = find_kind,
                          .recording = recording,
                          .progress = told->progress,
                          .watch = told->watch,
                          .context = told->context,
                          .neighbours_of = TG_NONE};
    tg_status status = tg_tasks_open(recording, &h->tasks, error);
    h->total = h->tasks.info.payload_bytes;
    h->is_selective = status == TG_OK && leaves_out_arguments(h);
    if (status == TG_OK)
        status = find_all(h, error);
    if (status == TG_OK)
        status = check(h, error);
    status = tg_recording_conclude(recording, status, error);
    if (status == TG_OK)
        *find = h;
    else
        tg_find_close(h);
    return status;
}

tg_status tg_find_open(const struct tg_recording *recording, enum tg_find_kind find_kind,
                       tg_analysis_progress_fn progress, void *context, struct tg_find **find,
                       struct tg_error *error)
{
    const struct tg_find told = {.progress = progress, .context = context};
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, find);
    return open_find(recording, find_kind, &told, find, error);
}

tg_status tg_find_open_watched(const struct tg_recording *recording, enum tg_find_kind find_kind,
                               tg_analysis_watch_fn watch, void *context, struct tg_find **find,
                               struct tg_error *error)
{
    const struct tg_find told = {.watch = watch, .context = context};
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, find);
    return open_find(recording, find_kind, &told, find, error);
}

void tg_find_close(struct tg_find *find)
{
    if (!find)
        return;
    tg_flow_free(&find->flow);
    tg_tasks_close(&find->tasks);
    free(find->probe);
    free(find->task);
    free(find->finding);
    free(find->neighbour);
    free(find);
}

/* --- asking ----------------------------------------------------------------------------------- */

static uint64_t count_unrecorded(const struct tg_tasks *tasks)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < tasks->n_rows; i++)
        count += tasks->row[i].count == 0;
    return count;
}

void tg_find_get_info(const struct tg_find *find, struct tg_find_info *info)
{
    if (find == NULL || info == NULL)
        return;
    *info = (struct tg_find_info){.order = find->flow.order,
                                  .findings = find->n_findings,
                                  .origins = find->origins,
                                  .looked_at = find->looked_at,
                                  .proved = find->proved,
                                  .not_stored = find->not_stored,
                                  .only_hashed = find->only_hashed,
                                  .unfinished = find->unfinished,
                                  .tasks = find->tasks.deps ? find->tasks.deps->n_tasks : 0,
                                  .unrecorded = count_unrecorded(&find->tasks),
                                  .deps_error = find->tasks.deps_error.text};
}

bool tg_find_get_finding(const struct tg_find *find, uint64_t number,
                         struct tg_find_finding *finding)
{
    if (find == NULL || finding == NULL)
        return false;
    if (number >= find->n_findings)
        return false;
    *finding = find->finding[number];
    return true;
}

static const struct tg_task_row *row_of(const struct tg_find *find, uint64_t finding)
{
    struct tg_entry entry;
    if (finding >= find->n_findings ||
        !tg_recording_get(find->recording, find->finding[finding].record, &entry))
        return NULL;
    uint32_t row = tg_tasks_find(&find->tasks, entry.record.task_id);
    return row == TG_NO_ROW ? NULL : &find->tasks.row[row];
}

bool tg_find_get_feed(const struct tg_find *find, uint64_t finding, uint64_t number,
                      struct tg_find_feed *feed)
{
    if (find == NULL || feed == NULL)
        return false;
    const struct tg_task_row *row = row_of(find, finding);
    /* The records are sorted by stage, so those before dispatch come first. */
    if (!row || number >= row->count ||
        tg_record_ref_stage(&find->tasks.ref[row->first + number]) != TG_BEFORE_DISPATCH)
        return false;
    uint64_t record = find->tasks.ref[row->first + number].index;
    uint32_t at = find->flow.of_record[record];
    *feed = (struct tg_find_feed){.record = record, .from = TG_NONE, .is_outside = true};
    if (find->probe) {
        feed->is_known = find->probe[record].is_known;
        feed->count = find->probe[record].count;
    }
    if (at != TG_NO_EVENT) {
        const struct tg_flow_event *event = &find->flow.event[at];
        feed->is_outside = event->is_outside;
        if (event->n_writers > 0)
            feed->from =
                find->flow.event[find->flow.writer[event->first_writer + event->n_writers - 1]]
                    .record;
    }
    return true;
}

bool tg_find_neighbours(struct tg_find *find, uint64_t finding)
{
    const struct tg_find_finding *of = &find->finding[finding];
    if (find->neighbours_of == finding)
        return true;
    free(find->neighbour);
    find->neighbour = tg_stomp_between(find, find->flow.of_record[of->before],
                                       find->flow.of_record[of->record], &find->n_neighbours);
    find->neighbours_of = find->neighbour ? finding : TG_NONE;
    return find->neighbour != NULL;
}

bool tg_find_get_between(struct tg_find *find, uint64_t finding, uint64_t number,
                         struct tg_find_between *between)
{
    if (find == NULL || between == NULL)
        return false;
    if (finding >= find->n_findings || find->find_kind != TG_FIND_STOMP)
        return false;
    if (!tg_find_neighbours(find, finding) || number >= find->n_neighbours)
        return false;
    const struct tg_find_neighbour *neighbour = &find->neighbour[number];
    const struct tg_task_row *row = &find->tasks.row[neighbour->row];
    *between = (struct tg_find_between){
        .task_id = row->id,
        .record = find->flow.event[neighbour->begin].record,
        .writes = tg_stomp_writes(find, neighbour->row, find->finding[finding].record)};
    return true;
}
