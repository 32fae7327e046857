/* SPDX-License-Identifier: Apache-2.0 */
#include "host/schedule_area.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "host/device.h"
#include "host/graph.h"

/* Starts are 8 bytes each: with more than this, the size would not fit any device. */
#define MOST_STARTS (UINT64_C(1) << 40)

static tg_status check(const struct tg_schedule *schedule, struct tg_error *error)
{
    if (schedule->policy >= TG_SCHEDULE_POLICIES)
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: there is no policy %u",
                            schedule->policy);
    if (schedule->n_pairs > 0 && schedule->policy != TG_SCHEDULE_ORDER)
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: only `order` takes pairs");
    if (schedule->n_pairs > TG_MAX_SCHEDULE_PAIRS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: more than %d pairs",
                            (int)TG_MAX_SCHEDULE_PAIRS);
    if (schedule->n_pairs > 0 && schedule->pairs == NULL)
        return tg_error_null(error, __func__, "pairs");
    for (uint32_t i = 0; i < schedule->n_pairs; i++)
        if (schedule->pairs[i].before == schedule->pairs[i].after)
            return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: a task waits for itself");
    if (schedule->keep_starts > MOST_STARTS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: keep_starts is more than 2^40");
    return TG_OK;
}

static int by_after(const void *a, const void *b)
{
    const struct tg_order_pair *x = a, *y = b;
    if (x->after != y->after)
        return x->after < y->after ? -1 : 1;
    return (x->before > y->before) - (x->before < y->before);
}

/* Sorts the pairs, and leaves out those that come again. */
static void list_pairs(const struct tg_schedule *schedule, struct tg_schedule_area *area)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->n_pairs; i++)
        area->pairs[i] = (struct tg_order_pair){.before = schedule->pairs[i].before,
                                                .after = schedule->pairs[i].after};
    qsort(area->pairs, schedule->n_pairs, sizeof *area->pairs, by_after);
    for (uint32_t i = 0; i < schedule->n_pairs; i++)
        if (n == 0 || by_after(&area->pairs[n - 1], &area->pairs[i]) != 0)
            area->pairs[n++] = area->pairs[i];
    area->setup.n_pairs = n;
}

struct numbered {
    uint64_t before;
    uint32_t number;
};

static int by_before(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static tg_status send_by_before(struct tg_schedule_area *area, struct tg_error *error)
{
    uint32_t n = area->setup.n_pairs;
    struct numbered *list = malloc(n * sizeof *list);
    uint32_t *numbers = malloc(n * sizeof *numbers);
    tg_status status;
    if (list != NULL && numbers != NULL) {
        for (uint32_t i = 0; i < n; i++)
            list[i] = (struct numbered){area->pairs[i].before, i};
        qsort(list, n, sizeof *list, by_before);
        for (uint32_t i = 0; i < n; i++)
            numbers[i] = list[i].number;
        status = tg_device_copy_in(area->device, area->setup.by_before, numbers,
                                   n * sizeof *numbers, error);
    } else {
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for a schedule");
    }
    free(list);
    free(numbers);
    return status;
}

static uint64_t take(uint64_t *at, uint64_t bytes)
{
    uint64_t offset = *at;
    *at += (bytes + 63) / 64 * 64;
    return offset;
}

/* One allocation: setup, pairs, by_before, held, starts. */
static tg_status send(struct tg_schedule_area *area, struct tg_error *error)
{
    struct tg_schedule_setup *setup = &area->setup;
    uint64_t size = 0, n = setup->n_pairs;
    (void)take(&size, sizeof *setup);
    setup->pairs = take(&size, n * sizeof *area->pairs);
    setup->by_before = take(&size, n * sizeof(uint32_t));
    setup->held = take(&size, n * sizeof(uint32_t));
    setup->starts = take(&size, setup->n_starts * sizeof *area->starts);
    tg_status status = tg_device_alloc_own(area->device, size, &area->address, error);
    if (status != TG_OK)
        return status;
    setup->pairs += area->address;
    setup->by_before += area->address;
    setup->held += area->address;
    setup->starts += area->address;
    if (n > 0)
        status = tg_device_copy_in(area->device, setup->pairs, area->pairs, n * sizeof *area->pairs,
                                   error);
    if (status == TG_OK && n > 0)
        status = send_by_before(area, error);
    if (status == TG_OK)
        status = tg_device_copy_in(area->device, area->address, setup, sizeof *setup, error);
    return status;
}

tg_status tg_schedule_area_create(struct tg_device *device, const struct tg_schedule *schedule,
                                  struct tg_schedule_area *area, struct tg_error *error)
{
    *area = (struct tg_schedule_area){.device = device};
    if (schedule == NULL)
        return TG_OK;
    tg_status status = check(schedule, error);
    if (status != TG_OK || schedule->policy == TG_SCHEDULE_NONE)
        return status;
    area->setup = (struct tg_schedule_setup){.magic = TG_SCHEDULE_MAGIC,
                                             .policy = schedule->policy,
                                             .seed = schedule->seed,
                                             .n_starts = schedule->keep_starts};
    area->pairs = malloc(schedule->n_pairs > 0 ? schedule->n_pairs * sizeof *area->pairs : 1);
    if (area->pairs == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a schedule");
    list_pairs(schedule, area);
    status = send(area, error);
    if (status != TG_OK)
        tg_schedule_area_destroy(area);
    return status;
}

void tg_schedule_area_destroy(struct tg_schedule_area *area)
{
    if (area->address != 0)
        tg_device_free(area->device, area->address, NULL);
    free(area->pairs);
    free(area->starts);
    *area = (struct tg_schedule_area){.device = area->device};
}

/* ── after the run ─────────────────────────────────────────────────────────────────────── */

static bool exists(const struct tg_graph *graph, const struct tg_run_result *result, uint64_t task)
{
    const struct tg_orchestration_result *o = &result->orchestration;
    if (graph->layout == NULL)
        return task < result->tasks;
    return task >> 32 < o->n_rings && (uint32_t)task < o->ring[task >> 32].tasks;
}

static void read_starts(struct tg_schedule_area *area, uint64_t choices,
                        struct tg_schedule_result *result)
{
    uint64_t n = choices < area->setup.n_starts ? choices : area->setup.n_starts;
    free(area->starts);
    area->starts = n > 0 ? malloc(n * sizeof *area->starts) : NULL;
    if (area->starts == NULL || tg_device_copy_out(area->device, area->starts, area->setup.starts,
                                                   n * sizeof *area->starts, NULL) != TG_OK)
        return;
    result->starts = area->starts;
    result->n_starts = n;
}

static void count_unknown(const struct tg_schedule_area *area, const struct tg_graph *graph,
                          struct tg_run_result *result)
{
    struct tg_schedule_result *schedule = &result->schedule;
    const struct tg_order_pair *first = NULL;
    for (uint32_t i = 0; i < area->setup.n_pairs; i++) {
        const struct tg_order_pair *pair = &area->pairs[i];
        if (exists(graph, result, pair->before) && exists(graph, result, pair->after))
            continue;
        first = first ? first : pair;
        schedule->unknown++;
    }
    if (first != NULL)
        snprintf(schedule->text, sizeof schedule->text,
                 "schedule: %llu of %llu pairs name a task that the graph does not have; the "
                 "first is 0x%llx-0x%llx",
                 (unsigned long long)schedule->unknown, (unsigned long long)schedule->pairs,
                 (unsigned long long)first->before, (unsigned long long)first->after);
}

void tg_schedule_area_read(struct tg_schedule_area *area, const struct tg_graph *graph,
                           struct tg_run_result *result)
{
    struct tg_schedule_result *schedule = &result->schedule;
    struct tg_schedule_setup now;
    if (area->address == 0)
        return;
    *schedule = (struct tg_schedule_result){.on = true, .pairs = area->setup.n_pairs};
    schedule->known =
        tg_device_copy_out(area->device, &now, area->address, sizeof now, NULL) == TG_OK;
    if (schedule->known) {
        schedule->serial = now.serial == 1;
        schedule->choices = now.choices;
        schedule->broken = now.broken < schedule->pairs ? now.broken : schedule->pairs;
        read_starts(area, now.choices, schedule);
    }
    if (schedule->broken > 0)
        snprintf(schedule->text, sizeof schedule->text,
                 "schedule: %llu of %llu pairs could not be kept: nothing but the second task of "
                 "the pair could go on",
                 (unsigned long long)schedule->broken, (unsigned long long)schedule->pairs);
    if (result->status == TG_OK)
        count_unknown(area, graph, result);
}
