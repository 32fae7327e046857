/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdicts on all tasks mean together. */
#include "host/replay.h"
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/replay.h>

void tg_reference_count(struct tg_reference_counts *counts, const struct tg_reference_task *task)
{
    if (counts == NULL || task == NULL)
        return;
    counts->tasks++;
    switch (task->is) {
    case TG_REFERENCE_AGREES:
        counts->good++;
        break;
    case TG_REFERENCE_DIFFERS:
        counts->wrong++;
        break;
    case TG_REFERENCE_NONE:
        counts->without++;
        return;
    case TG_REFERENCE_INCOMPLETE:
        counts->incomplete++;
        return;
    case TG_REFERENCE_FAILED:
        counts->failed++;
        return;
    case TG_REFERENCE_EMPTY:
        counts->empty++;
        return;
    }
    if (task->max_ulp > counts->max_ulp)
        counts->max_ulp = task->max_ulp;
    if (task->max_error > counts->max_error)
        counts->max_error = task->max_error;
    if (task->max_relative > counts->max_relative)
        counts->max_relative = task->max_relative;
}

static void explain(const struct tg_reference_counts *all, char *reason, size_t room)
{
    if (all->failed > 0)
        snprintf(reason, room, "%" PRIu64 " of %" PRIu64 " tasks have a reference that failed",
                 all->failed, all->tasks);
    else if (all->incomplete == 0 && all->empty > 0)
        snprintf(reason, room,
                 "no task has a reference and an output with elements: the outputs of %" PRIu64
                 " are empty, %" PRIu64 " have no reference",
                 all->empty, all->without);
    else if (all->incomplete == 0)
        snprintf(reason, room, "no kernel of the %" PRIu64 " recorded tasks has a reference",
                 all->tasks);
    else
        snprintf(reason, room,
                 "no task was recorded in full together with a reference: %" PRIu64
                 " were not recorded in full or are damaged, %" PRIu64
                 " have no reference; record the run with --dump-tensor=full",
                 all->incomplete, all->without);
}

const char *tg_reference_result(const struct tg_recording *recording,
                                const struct tg_reference_counts *counts,
                                struct tg_reference_reason *reason)
{
    struct tg_reference_reason unread;
    reason = reason ? reason : &unread;
    reason->text[0] = '\0';
    if (recording == NULL || counts == NULL)
        return "not known";
    if (counts->tasks == 0)
        return tg_replay_had_no_tasks(recording, reason->text, sizeof reason->text) ? "good"
                                                                                    : "not known";
    if (counts->wrong > 0)
        return "wrong";
    if (counts->good > 0 && counts->failed == 0)
        return "good";
    explain(counts, reason->text, sizeof reason->text);
    return "not known";
}
