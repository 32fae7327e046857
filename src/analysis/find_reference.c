/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the references of the kernels about outputs of UNWRITTEN that are only possible. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/find_answer.h"
#include "base/error.h"

/* The findings that have no proof yet, by task, so that the reference of a task finds them at once. */
struct doubt {
    uint64_t task, number; /* of the finding */
    uint32_t argument;
};

struct doubts {
    struct tg_find_answer *answer;
    struct doubt *item;
    size_t count, open; /* `open`: tasks that the references have not come to */
};

static int by_task(const void *a, const void *b)
{
    const struct doubt *left = a, *right = b;
    if (left->task != right->task)
        return left->task < right->task ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static void collect(struct doubts *doubts)
{
    struct tg_find *find = doubts->answer->find;
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_find_get_finding(find, i, &finding); i++)
        if (!finding.is_proved && finding.trace == TG_TRACE_ORIGIN &&
            tg_recording_get(find->recording, finding.record, &entry))
            doubts->item[doubts->count++] =
                (struct doubt){entry.record.task_id, i, entry.record.arg_index};
    qsort(doubts->item, doubts->count, sizeof *doubts->item, by_task);
    for (size_t i = 0; i < doubts->count; i++)
        doubts->open += i == 0 || doubts->item[i].task != doubts->item[i - 1].task;
}

static size_t first_of(const struct doubts *doubts, uint64_t task)
{
    size_t low = 0, high = doubts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (doubts->item[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A reference that computes the same values clears the task: it does not matter who wrote them. One
 * that computes something else within the elements in question accuses it. */
static void judge(struct tg_find_answer *answer, const struct doubt *doubt,
                  const struct tg_reference_task *task)
{
    struct tg_find_verdict *verdict = &answer->verdict[doubt->number];
    struct tg_find_finding finding;
    if (!tg_find_get_finding(answer->find, doubt->number, &finding))
        return;
    if (task->is == TG_REFERENCE_AGREES)
        verdict->is = TG_FIND_CLEARED;
    if (task->is != TG_REFERENCE_DIFFERS || task->argument != doubt->argument)
        return;
    if (task->check.first >= finding.first && task->check.first - finding.first < finding.count)
        *verdict =
            (struct tg_find_verdict){TG_FIND_ACCUSED, task->check.mismatches, task->check.first};
}

static int tell(void *context, const struct tg_reference_task *task)
{
    struct doubts *doubts = context;
    size_t first = first_of(doubts, task->task), i = first;
    for (; i < doubts->count && doubts->item[i].task == task->task; i++)
        judge(doubts->answer, &doubts->item[i], task);
    doubts->open -= i > first;
    return doubts->open == 0;
}

tg_status tg_find_ask_references(struct tg_find_answer *answer,
                                 const struct tg_reference_config *config, struct tg_error *error)
{
    struct doubts doubts = {.answer = answer};
    size_t most = (size_t)answer->info.findings + 1;
    struct tg_error why = {TG_OK, ""};
    answer->verdict = calloc(most, sizeof *answer->verdict);
    doubts.item = calloc(most, sizeof *doubts.item);
    if (!answer->verdict || !doubts.item) {
        free(doubts.item);
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    }
    collect(&doubts);
    /* Without a module, or without references in it, nothing is proved and nobody is cleared. */
    tg_status status = doubts.open > 0
                           ? tg_reference_run(answer->find->recording, config, tell, &doubts, &why)
                           : TG_OK;
    free(doubts.item);
    if (status == TG_NOT_TRUSTED)
        snprintf(answer->no_reference, sizeof answer->no_reference, "%s", why.text);
    /* The last doubt that is settled ends the run of the references, which then is no cancelling. */
    return status == TG_CANCELLED && doubts.open > 0 ? tg_error_set(error, status, "%s", why.text)
                                                     : TG_OK;
}
