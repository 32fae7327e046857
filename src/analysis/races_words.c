/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/races.h"
#include "analysis/view_name.h"

enum { TEXT = 300 };

/* --- the region ------------------------------------------------------------------------------- */

/* Memory that the case does not name. */
static void put_addresses(const struct tg_races *races, const struct tg_tensor *view, char *text,
                          size_t room)
{
    int64_t lo = 0, hi = 0;
    if (!tg_view_hull(view, &lo, &hi))
        snprintf(text, room, "a view at 0x%" PRIx64, view->addr);
    else
        snprintf(text, room, "0x%" PRIx64 " to 0x%" PRIx64 "%s", view->addr + (uint64_t)lo,
                 view->addr + (uint64_t)hi, races->peer.is_peer ? "" : ", memory of the runtime");
}

static void put_region(const struct tg_races *races, const struct tg_tensor *view, char *text,
                       size_t room)
{
    if (races->peer.is_peer || !tg_view_name(races->recording, &races->sources, view, text, room))
        put_addresses(races, view, text, room);
}

/* --- one side --------------------------------------------------------------------------------- */

/* The view of an argument, as the recording or the other implementation's deps.json has it. */
static void find_view(const struct tg_races *races, const struct tg_race_end *end,
                      struct tg_tensor *view)
{
    const struct tg_task_row *row = &races->tasks.row[races->tasks.of_deps[end->task]];
    struct tg_entry entry;
    tg_tensor_clear(view);
    size_t low = 0, high = races->peer.n_args;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (races->peer.arg[middle].task < end->task)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < races->peer.n_args && races->peer.arg[low].task == end->task; low++)
        if (races->peer.arg[low].argument == end->argument) {
            *view = races->peer.arg[low].tensor;
            return;
        }
    for (uint64_t i = 0; !races->peer.is_peer && i < row->count; i++)
        if (tg_recording_get(races->recording, races->tasks.ref[row->first + i].index, &entry) &&
            entry.record.arg_index == end->argument && entry.record.kind == TG_KIND_TENSOR) {
            tg_races_view(&entry.record, view);
            return;
        }
}

static void fill_side(const struct tg_races *races, const struct tg_race_end *end,
                      struct tg_race_side *side, char *region, size_t room)
{
    const struct tg_deps_task *task = &races->tasks.deps->task[end->task];
    const char *kernel = races->tasks.row[races->tasks.of_deps[end->task]].kernel;
    *side = (struct tg_race_side){.task_id = task->id,
                                  .position = end->task,
                                  .kernels = kernel ? kernel : "",
                                  .line = task->line ? task->line : "",
                                  .scope = races->peer.is_peer ? "" : task->scope,
                                  .argument = end->argument,
                                  .reads = end->reads,
                                  .writes = end->writes,
                                  .region = region};
    find_view(races, end, &side->tensor);
    put_region(races, &side->tensor, region, room);
}

/* "12", or "1:12" in other rings than 0, as the command line takes it. */
static void put_task(uint64_t id, const char *between, char *text, size_t room)
{
    if (id >> 32 == 0)
        snprintf(text, room, "%" PRIu64, id);
    else
        snprintf(text, room, "%" PRIu64 "%s%" PRIu64, id >> 32, between, id & UINT32_MAX);
}

static void put_fix(const struct tg_race *race, char *text, size_t room)
{
    char first[48], second[48], name[48];
    put_task(race->first.task_id, ":", first, sizeof first);
    put_task(race->second.task_id, ":", second, sizeof second);
    put_task(race->first.task_id, "_", name, sizeof name);
    snprintf(
        text, room,
        "tg_args_after(&args, task_%s); /* in task %s%s%.100s: task_%s is what the submit of task "
        "%s%s%.100s returned */",
        name, second, *race->second.line ? " at " : "", race->second.line, name, first,
        *race->first.line ? " at " : "", race->first.line);
}

int tg_races_tell(void *context, const struct tg_race_group *group)
{
    struct tg_races *races = context;
    char first[TEXT], second[TEXT], fix[2 * TEXT];
    struct tg_race race = {.pairs = group->pairs,
                           .bytes = group->bytes == UINT64_MAX ? TG_NONE : group->bytes,
                           .fix = fix};
    races->summary->groups++;
    if (!races->tell)
        return 0;
    fill_side(races, &group->first, &race.first, first, sizeof first);
    fill_side(races, &group->second, &race.second, second, sizeof second);
    put_fix(&race, fix, sizeof fix);
    races->was_cancelled = races->tell(races->context, &race) != 0;
    return races->was_cancelled;
}
