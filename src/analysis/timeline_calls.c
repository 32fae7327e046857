/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/timeline_calls.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/ranks.h>

#include "base/files.h"

bool tg_is_call_name(const char *kernel, uint32_t *kind)
{
    if (strncmp(kernel, "tg_", 3) != 0)
        return false;
    for (uint32_t i = 0; i < TG_COMM_KINDS; i++)
        if (strcmp(kernel, tg_comm_kind_name(i)) == 0) {
            *kind = i;
            return true;
        }
    return false;
}

/* Which kernels of the timeline are calls: kind + 1, or 0. NULL if memory ran out. */
static uint32_t *find_kernels(const struct tg_timeline *timeline, bool *is_any)
{
    uint32_t *kind = calloc(timeline->n_kernels + 1, sizeof *kind);
    for (size_t i = 0; kind && i < timeline->n_kernels; i++)
        if (tg_is_call_name(timeline->kernel[i].name, &kind[i])) {
            kind[i]++;
            *is_any = true;
        }
    return kind;
}

static bool list_calls(struct tg_timeline *timeline, const uint32_t *kind)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (uint32_t i = 0; i < timeline->n_tasks; i++) {
            const struct tg_timeline_task *task = &timeline->task[i];
            uint32_t kernel =
                task->n_parts == 1 ? timeline->part[task->first_part].kernel : TG_TIMELINE_NONE;
            if (kernel == TG_TIMELINE_NONE || kind[kernel] == 0)
                continue;
            if (pass == 1)
                timeline->call[count] = (struct tg_timeline_call){.task = i,
                                                                  .kind = kind[kernel] - 1,
                                                                  .peer = TG_COMM_NONE,
                                                                  .posted = TG_TIME_UNKNOWN,
                                                                  .done = TG_TIME_UNKNOWN};
            count++;
        }
        if (pass == 0 && !(timeline->call = malloc((count + 1) * sizeof *timeline->call)))
            return false;
    }
    timeline->n_calls = count;
    return true;
}

/* --- what comm.jsonl says ---------------------------------------------------------------------- */

static void take_call(const struct tg_timeline *timeline, struct tg_timeline_call *call,
                      const struct tg_calls *calls)
{
    struct tg_call from;
    if (!tg_calls_of_task(calls, timeline->task[call->task].id, &from) || from.kind != call->kind)
        return;
    call->peer = from.peer;
    if (from.posted_ns >= 0)
        call->posted = (uint64_t)from.posted_ns;
    if (from.done_ns >= from.posted_ns && from.done_ns >= 0)
        call->done = (uint64_t)from.done_ns;
}

/* A device with a clock of its own has times that are far from the host's: a call is done before its part
 * begins, and not long before, as far as the run goes. */
static bool is_same_clock(const struct tg_timeline *timeline)
{
    uint64_t first = TG_TIME_UNKNOWN, last = 0;
    for (size_t i = 0; i < timeline->n_parts; i++) {
        const struct tg_timeline_part *part = &timeline->part[i];
        uint64_t end = part->end != TG_TIME_UNKNOWN ? part->end : part->begin;
        first = part->begin < first ? part->begin : first;
        last = end != TG_TIME_UNKNOWN && end > last ? end : last;
    }
    if (first > last)
        return false;
    uint64_t slack = (last - first) + UINT64_C(1000000000); /* a run may wait for long before it */
    for (size_t i = 0; i < timeline->n_calls; i++) {
        uint64_t posted = timeline->call[i].posted;
        if (posted != TG_TIME_UNKNOWN &&
            (posted > last + slack || (posted < first && first - posted > slack)))
            return false;
    }
    return true;
}

static void forget_times(struct tg_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_calls; i++)
        timeline->call[i].posted = timeline->call[i].done = TG_TIME_UNKNOWN;
}

/* A send has no record from after it, and a receive none from before: the part is a moment then. */
static void mend_part(struct tg_timeline *timeline, const struct tg_timeline_call *call)
{
    struct tg_timeline_part *part = &timeline->part[timeline->task[call->task].first_part];
    if (part->flags & TG_TIMELINE_NO_END && call->done != TG_TIME_UNKNOWN) {
        part->begin = part->end = call->done > part->begin ? call->done : part->begin;
        part->flags &= (uint8_t)~TG_TIMELINE_NO_END;
    }
    if (part->flags & TG_TIMELINE_NO_BEGIN && call->posted != TG_TIME_UNKNOWN) {
        part->begin = part->end;
        part->flags &= (uint8_t)~TG_TIMELINE_NO_BEGIN;
    }
}

tg_status tg_timeline_take_calls(struct tg_timeline *timeline, const char *folder,
                                 struct tg_error *error)
{
    bool is_any = false;
    struct tg_calls *calls;
    uint32_t *kind = find_kernels(timeline, &is_any);
    bool good = kind && (!is_any || list_calls(timeline, kind));
    free(kind);
    if (!good)
        return tg_file_no_memory(error);
    if (timeline->n_calls == 0)
        return TG_OK;
    tg_status status = tg_calls_open(folder, &calls, error);
    if (status == TG_NOT_FOUND || status == TG_BAD_ARGUMENT)
        return TG_OK; /* then only their kernels say that they are calls */
    if (status != TG_OK)
        return status;
    for (size_t i = 0; i < timeline->n_calls; i++)
        take_call(timeline, &timeline->call[i], calls);
    tg_calls_close(calls);
    if (!is_same_clock(timeline))
        forget_times(timeline);
    for (size_t i = 0; i < timeline->n_calls; i++)
        mend_part(timeline, &timeline->call[i]);
    return TG_OK;
}
