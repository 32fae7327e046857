/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the references of the kernels about outputs of `find unwritten` that are only possible. */
#include <stdlib.h>
#include <string.h>
#include <taskglass/replay.h>

#include "cli/cli.h"
#include "cli/find.h"
#include "cli/trust.h"

/* The findings that have no proof yet, by task, so that the reference of a task finds them at once. */
struct doubt {
    uint64_t task, number; /* of the finding */
    uint32_t argument;
};

struct doubts {
    struct cli_find *find;
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
    const struct cli_find *find = doubts->find;
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_find_get_finding(find->find, i, &finding); i++)
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
static void judge(struct cli_find *find, const struct doubt *doubt,
                  const struct tg_reference_task *task)
{
    struct cli_find_verdict *verdict = &find->verdict[doubt->number];
    struct tg_find_finding finding;
    if (!tg_find_get_finding(find->find, doubt->number, &finding))
        return;
    if (task->is == TG_REFERENCE_AGREES)
        verdict->is = CLI_FIND_CLEARED;
    if (task->is != TG_REFERENCE_DIFFERS || task->argument != doubt->argument)
        return;
    if (task->check.first >= finding.first && task->check.first - finding.first < finding.count)
        *verdict =
            (struct cli_find_verdict){CLI_FIND_ACCUSED, task->check.mismatches, task->check.first};
}

static int tell(void *context, const struct tg_reference_task *task)
{
    struct doubts *doubts = context;
    size_t first = first_of(doubts, task->task), i = first;
    for (; i < doubts->count && doubts->item[i].task == task->task; i++)
        judge(doubts->find, &doubts->item[i], task);
    doubts->open -= i > first;
    return doubts->open == 0;
}

bool cli_find_ask_references(struct cli_find *find)
{
    struct doubts doubts = {.find = find};
    uint64_t most = find->info.findings + 1;
    struct tg_reference_config config = {.module = find->module,
                                         .limit = tg_settings_seconds(find->settings, "timeout"),
                                         .sandbox = tg_settings_choice(find->settings, "sandbox"),
                                         .ask = cli_trust_ask()};
    struct tg_error error;
    find->verdict = calloc((size_t)most, sizeof *find->verdict);
    doubts.item = malloc((size_t)most * sizeof *doubts.item);
    bool good = find->verdict && doubts.item;
    if (good)
        collect(&doubts);
    /* Without a module, or without references in it, nothing is proved and nobody is cleared. */
    if (good && doubts.open > 0 &&
        tg_reference_run(find->recording, &config, tell, &doubts, &error) == TG_NOT_TRUSTED)
        (void)cli_error("no reference was asked: %s", error.text);
    free(doubts.item);
    return good;
}
