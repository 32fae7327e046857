/* SPDX-License-Identifier: Apache-2.0 */
/* Replays suspects with guards, and takes each stray write to its place in the memory of the recorded run: a
 * task that writes the very bytes that changed is convicted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/guard.h>
#include <taskglass/tensor.h>

#include "analysis/find_answer.h"
#include "analysis/stomp.h"
#include "base/error.h"
#include "base/grow.h"

enum { MOST_TASKS = 256, MOST_OF_ONE = 64 };

/* --- the verdicts ----------------------------------------------------------------------------- */

static int by_task(const void *a, const void *b)
{
    const struct tg_stomp_verdict *left = a, *right = b;
    return (left->task > right->task) - (left->task < right->task);
}

static const struct tg_stomp_verdict *verdict_of(const struct tg_stomp *stomp, uint64_t task)
{
    struct tg_stomp_verdict wanted = {.task = task};
    return stomp->n_verdicts == 0
               ? NULL
               : bsearch(&wanted, stomp->verdict, stomp->n_verdicts, sizeof wanted, by_task);
}

/* Of several elements only the first is known for certain; the others count if they explain every byte that
 * changed. */
static bool hits(const struct tg_stomp_stray *stray, const struct tg_stomp_bytes *bytes)
{
    return tg_stomp_bytes_meet(bytes, stray->first.lo, stray->first.hi) ||
           (bytes->is_exact && bytes->count > 0 && bytes->range[0].lo >= stray->row.lo &&
            bytes->range[bytes->count - 1].hi <= stray->row.hi);
}

void tg_stomp_judge(const struct tg_stomp *stomp, const struct tg_stomp_bytes *bytes,
                    struct tg_find_suspect *suspect)
{
    const struct tg_stomp_verdict *verdict = verdict_of(stomp, suspect->task_id);
    if (!verdict)
        return;
    suspect->replayed = verdict->replayed;
    suspect->misuse = verdict->text;
    for (uint32_t i = 0; i < verdict->n_strays; i++)
        if (hits(&verdict->stray[i], bytes))
            suspect->replayed = TG_FIND_REPLAYED_CONVICTS;
}

/* --- where a stray write went ----------------------------------------------------------------- */

struct replay {
    struct tg_find_answer *answer;
    bool no_memory;
};

/* The view of an argument of a task. */
static bool view_of(const struct tg_find *find, uint64_t task, uint32_t argument,
                    struct tg_tensor *tensor)
{
    uint32_t at = tg_tasks_find(&find->tasks, task);
    const struct tg_task_row *row = at == TG_NO_ROW ? NULL : &find->tasks.row[at];
    struct tg_entry entry;
    for (uint64_t i = row ? row->first : 0; row && i < row->first + row->count; i++)
        if (tg_record_ref_stage(&find->tasks.ref[i]) != TG_STAGE_ORCHESTRATION &&
            tg_recording_get(find->recording, find->tasks.ref[i].index, &entry) &&
            entry.record.kind == TG_KIND_TENSOR && entry.record.arg_index == argument)
            return tg_stomp_tensor_of(&entry.record, tensor);
    return false;
}

/* `count` elements from one on, which is counted from the address of the tensor, as bytes. */
static struct tg_stomp_range bytes_at(const struct tg_tensor *tensor, int64_t offset, int64_t count)
{
    int64_t bits = tg_bits_of(tensor->dtype), begin = offset * bits, end = begin + count * bits;
    uint64_t lo = tensor->addr + (uint64_t)(begin >= 0 ? begin / 8 : -((7 - begin) / 8));
    uint64_t hi = tensor->addr + (uint64_t)(end >= 0 ? (end + 7) / 8 : -(-end / 8));
    return (struct tg_stomp_range){lo, hi};
}

static bool is_write(uint32_t kind)
{
    return kind == TG_GUARD_WROTE_BEFORE || kind == TG_GUARD_WROTE_BEHIND ||
           kind == TG_GUARD_WROTE_GAP || kind == TG_GUARD_WROTE_INPUT;
}

/* Also where it is not known whether a kernel read or wrote, or where. */
static bool may_be_write(uint32_t kind)
{
    return is_write(kind) || kind == TG_GUARD_USED_BEFORE || kind == TG_GUARD_USED_BEHIND ||
           kind == TG_GUARD_FAULT;
}

/* False if the place is not known. What was written before and behind a view is taken as elements in a row
 * from the nearest one on. */
static bool place_stray(const struct tg_find *find, uint64_t task,
                        const struct tg_guard_finding *finding, struct tg_stomp_stray *stray)
{
    struct tg_tensor tensor;
    const int64_t far = INT64_C(1) << 40;
    int64_t lowest, highest, row = finding->count > 1 ? (int64_t)finding->count : 1;
    if (!is_write(finding->kind) || !finding->has_element || finding->place > far ||
        finding->place < -far || finding->count > (uint64_t)far ||
        !view_of(find, task, finding->argument, &tensor) ||
        finding->element >= (uint64_t)tg_tensor_numel(&tensor) ||
        !tg_tensor_footprint(&tensor, &lowest, &highest))
        return false;
    int64_t offset = finding->kind == TG_GUARD_WROTE_INPUT
                         ? tg_tensor_offset(&tensor, (int64_t)finding->element)
                         : lowest + finding->place;
    stray->first = bytes_at(&tensor, offset, 1);
    stray->row = stray->first;
    if (finding->kind == TG_GUARD_WROTE_BEHIND)
        stray->row = bytes_at(&tensor, offset, row);
    else if (finding->kind == TG_GUARD_WROTE_BEFORE)
        stray->row = bytes_at(&tensor, offset - row + 1, row);
    return true;
}

static void take_findings(const struct tg_find *find, const struct tg_replay_verdict *said,
                          struct tg_stomp_verdict *verdict)
{
    verdict->replayed = TG_FIND_REPLAYED_CLEARS; /* other misuse does not change other tensors */
    for (uint32_t i = 0; i < said->n_findings; i++) {
        const struct tg_guard_finding *finding = &said->finding[i];
        if (!may_be_write(finding->kind))
            continue;
        if (verdict->replayed != TG_FIND_REPLAYED_STRAYS)
            snprintf(verdict->text, sizeof verdict->text, "%s", finding->text);
        verdict->replayed = TG_FIND_REPLAYED_STRAYS;
        if (verdict->n_strays < TG_STOMP_STRAYS &&
            place_stray(find, said->task, finding, &verdict->stray[verdict->n_strays]))
            verdict->n_strays++;
    }
}

static int take_verdict(void *context, const struct tg_replay_verdict *said)
{
    struct replay *replay = context;
    struct tg_stomp *stomp = replay->answer->stomp;
    if (!tg_grow(&stomp->verdict, &stomp->verdict_room, stomp->n_verdicts + 1,
                 sizeof *stomp->verdict)) {
        replay->no_memory = true;
        return 1;
    }
    struct tg_stomp_verdict *verdict = &stomp->verdict[stomp->n_verdicts++];
    *verdict = (struct tg_stomp_verdict){.task = said->task, .replayed = TG_FIND_REPLAYED_FAILED};
    if (said->is == TG_REPLAY_MISUSE)
        take_findings(replay->answer->find, said, verdict);
    else if (said->is == TG_REPLAY_SAME)
        verdict->replayed = TG_FIND_REPLAYED_CLEARS;
    else if (said->is == TG_REPLAY_FAULTS)
        verdict->replayed = TG_FIND_REPLAYED_STRAYS;
    if (said->is != TG_REPLAY_MISUSE && said->is != TG_REPLAY_SAME)
        snprintf(verdict->text, sizeof verdict->text, "%s",
                 said->why ? said->why : "its outputs are not those that were recorded");
    return 0;
}

/* --- which tasks ------------------------------------------------------------------------------ */

static tg_status add_task(struct tg_query *query, uint64_t task, struct tg_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, task);
    return tg_query_add(query, "task", text, error);
}

/* The first suspects of each finding, `most` at most. Sets *count. */
static tg_status choose(struct tg_find_answer *answer, uint64_t most, struct tg_query *query,
                        uint64_t *count, struct tg_error *error)
{
    struct tg_find_finding finding;
    struct tg_find_suspect suspect;
    struct tg_entry entry;
    tg_status status = TG_OK;
    *count = 0;
    for (uint64_t i = 0;
         status == TG_OK && *count < most && tg_find_answer_next(answer, &i, &finding, &entry);
         i++) {
        status = tg_find_answer_rank(answer, i, error);
        for (uint64_t k = 0; k < MOST_OF_ONE && *count < most && status == TG_OK &&
                             tg_find_answer_suspect(answer, i, k, &suspect);
             k++)
            if (suspect.record != TG_NONE) {
                status = add_task(query, suspect.task_id, error);
                ++*count; /* a suspect of two findings counts twice, which only makes fewer of them */
            }
    }
    return status;
}

static tg_status replay_all(struct tg_find_answer *answer, const struct tg_settings *settings,
                            const struct tg_find_replay_config *config,
                            const struct tg_query *query, struct tg_error *error)
{
    const struct tg_replay_all_config all = {.module = config->module,
                                             .query = query,
                                             .guarded = true,
                                             .workers = config->workers,
                                             .progress = config->progress,
                                             .progress_context = config->progress_context,
                                             .ask = config->ask,
                                             .ask_context = config->ask_context,
                                             .guard = config->guard,
                                             .guard_context = config->guard_context};
    struct tg_stomp *stomp = answer->stomp;
    struct replay replay = {.answer = answer};
    stomp->n_verdicts = 0;
    tg_status status =
        tg_replay_all(settings, answer->find->recording, &all, take_verdict, &replay, NULL, error);
    if (replay.no_memory)
        status = tg_error_set(error, TG_NO_MEMORY, "no memory to replay suspects");
    if (stomp->n_verdicts > 0)
        qsort(stomp->verdict, stomp->n_verdicts, sizeof *stomp->verdict, by_task);
    stomp->suspects_of = TG_NONE; /* they are ranked again when they are asked for */
    return status;
}

tg_status tg_find_answer_replay(struct tg_find_answer *answer, const struct tg_settings *settings,
                                const struct tg_find_replay_config *config, struct tg_error *error)
{
    static const struct tg_find_replay_config defaults;
    struct tg_query *query = NULL;
    uint64_t count = 0;
    TG_REFUSE_NULL(error, answer);
    TG_REFUSE_NULL(error, settings);
    if (answer->stomp == NULL)
        return TG_OK;
    if (answer->find->flow.contents.payloads == 0)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "the inputs of the tasks were not recorded; record with "
                            "--dump-tensor=full");
    config = config ? config : &defaults;
    tg_status status = tg_query_create(&query, error);
    if (status == TG_OK)
        status = choose(answer, config->most ? config->most : MOST_TASKS, query, &count, error);
    if (status == TG_OK && count > 0)
        status = replay_all(answer, settings, config, query, error);
    tg_query_destroy(query);
    return status;
}
