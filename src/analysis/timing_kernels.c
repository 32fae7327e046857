/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks by their kernels. A mix has several; tasks with the same ones are a group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timing.h"
#include "base/grow.h"

enum { FIRST_SLOTS = 64 };

/* Group + 1 by its kernels; open addressing, at most half full. */
struct table {
    uint32_t *slot;
    size_t n_slots, room;
};

static size_t place_of(const struct tg_timing *timing, const struct table *table,
                       const uint32_t *kernel, uint32_t parts)
{
    uint64_t key = kernel[0] ^ (uint64_t)parts << 32;
    for (int part = 1; part < TG_PARTS; part++)
        key = (key ^ kernel[part]) * UINT64_C(0x9E3779B97F4A7C15) + part;
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 24) & (table->n_slots - 1);
    for (uint32_t i; (i = table->slot[at]) && (timing->groups[i - 1].parts != parts ||
                                               memcmp(timing->groups[i - 1].kernel, kernel,
                                                      TG_PARTS * sizeof *kernel) != 0);)
        at = (at + 1) & (table->n_slots - 1);
    return at;
}

static bool grow_table(struct tg_timing *timing, struct table *table)
{
    uint64_t count = timing->info.kernels;
    if (!tg_grow(&timing->groups, &table->room, count + 1, sizeof *timing->groups))
        return false;
    if (2 * (count + 1) <= table->n_slots)
        return true;
    size_t larger = table->n_slots > 0 ? 2 * table->n_slots : FIRST_SLOTS;
    uint32_t *slot = calloc(larger, sizeof *slot);
    if (!slot)
        return false;
    free(table->slot);
    *table = (struct table){slot, larger, table->room};
    for (uint64_t i = 0; i < count; i++)
        slot[place_of(timing, table, timing->groups[i].kernel, timing->groups[i].parts)] =
            (uint32_t)i + 1;
    return true;
}

/* "mat+add"; "#3" for a kernel without a name, "?" for one without a number. */
static const char *name_of(struct tg_timing *timing, const uint32_t *kernel, uint32_t parts)
{
    char name[TG_PARTS * (TG_NAME_MAX + 2)] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const struct tg_timeline_kernel *one =
            kernel[i] == TG_TIMELINE_NONE ? NULL : &timing->line.kernel[kernel[i]];
        const char *plus = i > 0 ? "+" : "";
        if (one && *one->name)
            at += (size_t)snprintf(name + at, sizeof name - at, "%s%s", plus, one->name);
        else if (one && one->number != TG_TIMELINE_NONE)
            at += (size_t)snprintf(name + at, sizeof name - at, "%s#%u", plus, one->number);
        else
            at += (size_t)snprintf(name + at, sizeof name - at, "%s?", plus);
    }
    return tg_timeline_name(&timing->line, name, strlen(name));
}

static bool group_task(struct tg_timing *timing, struct table *table, uint32_t task)
{
    const struct tg_timeline_task *from = &timing->line.task[task];
    uint32_t kernel[TG_PARTS] = {TG_TIMELINE_NONE, TG_TIMELINE_NONE, TG_TIMELINE_NONE};
    timing->group[task] = TG_TIMELINE_NONE;
    if (from->n_parts == 0)
        return true;
    uint32_t parts = from->n_parts < TG_PARTS ? from->n_parts : TG_PARTS;
    for (uint32_t i = 0; i < parts; i++)
        kernel[i] = timing->line.part[from->first_part + i].kernel;
    if (!grow_table(timing, table))
        return false;
    size_t at = place_of(timing, table, kernel, parts);
    if (!table->slot[at]) {
        struct tg_timing_group *group = &timing->groups[timing->info.kernels++];
        *group = (struct tg_timing_group){.parts = parts,
                                          .sums = {.name = name_of(timing, kernel, parts)}};
        memcpy(group->kernel, kernel, sizeof kernel);
        table->slot[at] = (uint32_t)timing->info.kernels;
        if (!group->sums.name)
            return false;
    }
    timing->group[task] = table->slot[at] - 1;
    return true;
}

bool tg_timing_group_tasks(struct tg_timing *timing)
{
    struct table table = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < timing->line.n_tasks; i++)
        good = group_task(timing, &table, i);
    free(table.slot);
    return good;
}

/* --- sums -------------------------------------------------------------------------------------- */

static void add_task(struct tg_timing *timing, uint32_t task)
{
    struct tg_timing_kernel *sums = &timing->groups[timing->group[task]].sums;
    uint64_t run = tg_timing_run(timing, task), comm = tg_timing_comm(timing, task);
    bool is_waiting = timing->ready[task] != TG_NONE;
    sums->tasks++;
    sums->run += run;
    if (run > sums->most)
        sums->most = run;
    if (is_waiting)
        sums->wait += timing->begin[task] - timing->ready[task] + comm;
    if (timing->flags[task] & TG_TIMING_ON_PATH) {
        sums->path_tasks++;
        sums->path_run += run;
        sums->path_wait += is_waiting ? timing->begin[task] - timing->ready[task] + comm : 0;
    }
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

struct ranked {
    const struct tg_timing_kernel *sums;
    uint32_t group;
};

static int by_time(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    int order = compare(right->sums->path_run, left->sums->path_run);
    order = order ? order : compare(right->sums->run, left->sums->run);
    order = order ? order : strcmp(left->sums->name, right->sums->name);
    return order ? order : compare(left->group, right->group);
}

static bool rank_groups(struct tg_timing *timing)
{
    size_t n = timing->info.kernels;
    struct ranked *ranked = malloc((n + 1) * sizeof *ranked);
    timing->rank = malloc((n + 1) * sizeof *timing->rank);
    timing->rank_of = malloc((n + 1) * sizeof *timing->rank_of);
    bool good = ranked && timing->rank && timing->rank_of;
    for (size_t i = 0; good && i < n; i++)
        ranked[i] = (struct ranked){&timing->groups[i].sums, (uint32_t)i};
    if (good)
        qsort(ranked, n, sizeof *ranked, by_time);
    for (size_t i = 0; good && i < n; i++) {
        timing->rank[i] = ranked[i].group;
        timing->rank_of[ranked[i].group] = (uint32_t)i;
    }
    free(ranked);
    return good;
}

bool tg_timing_sum_kernels(struct tg_timing *timing)
{
    for (uint32_t i = 0; i < timing->n_nodes; i++)
        add_task(timing, timing->order[i]);
    if (*timing->info.wait_unknown)
        for (uint64_t i = 0; i < timing->info.kernels; i++)
            timing->groups[i].sums.wait = timing->groups[i].sums.path_wait = TG_NONE;
    return rank_groups(timing);
}
