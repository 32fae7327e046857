/* SPDX-License-Identifier: Apache-2.0 */
#include "host/record_setup.h"
#include "base/error.h"
#include "common/stream_word.h"
#include "query/filter.h"
#include "host/module.h"
#include "host/pulse.h"
#include "host/seconds.h"
#include "host/task_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ARENA (UINT64_C(4) << 20)
#define SMALLEST_ARENA (UINT64_C(4) << 10)
#define LARGEST_ARENA (UINT64_C(64) << 30)
#define DEFAULT_WAIT 5.0
enum { DEFAULT_BUFFERS = 16, MAX_BUFFERS = 65536 };

static uint64_t align(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* ── what the caller asks for ──────────────────────────────────────────────────────────── */

tg_status tg_record_config_check(const struct tg_record_config *config, struct tg_error *error)
{
    if (config->level >= TG_LEVELS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no record level %u: 0 to %u",
                            config->level, TG_LEVELS - 1);
    if (config->policy >= TG_POLICIES)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no record policy %u: 0 to %u",
                            config->policy, TG_POLICIES - 1);
    if (config->transport >= TG_TRANSPORTS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no transport %u: 0 to %u",
                            config->transport, TG_TRANSPORTS - 1);
    tg_status status =
        tg_seconds_check("wait_limit of tg_record_config", config->wait_limit, error);
    if (status != TG_OK || config->level == TG_LEVEL_OFF)
        return status;
    if (config->output_dir == NULL || config->output_dir[0] == '\0')
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a recording needs a folder: set output_dir of tg_record_config");
    return config->orchestration ? tg_orchestration_args_explain(config->orchestration, error)
                                 : TG_OK;
}

/* ── layout ────────────────────────────────────────────────────────────────────────────── */

/* Where streams lie in memory that has to be locked, a run gets what it needs, unless the caller says how
 * much, or losses depend on it. */
static void fit_streams(struct tg_record_area *area, const struct tg_record_config *config,
                        struct tg_graph *graph, struct tg_stream_room *room)
{
    bool locked = area->device->ops->alloc_shared != NULL && !area->copied;
    struct tg_record_need need;
    if (!locked || graph == NULL || config->policy != TG_POLICY_BLOCK ||
        (config->arena != 0 && config->buffers != 0))
        return;
    need = tg_record_need_of(graph, &area->setup, area->kernel_filters);
    tg_record_fit(room, &need, area->setup.n_streams, area->device->stream_room);
    area->learns = need.records == 0;
}

static tg_status plan_stream(struct tg_record_area *area, const struct tg_record_config *config,
                             struct tg_graph *graph, struct tg_error *error)
{
    struct tg_stream_head *head = &area->stream;
    struct tg_stream_room room = {DEFAULT_ARENA, DEFAULT_BUFFERS};
    fit_streams(area, config, graph, &room);
    uint64_t arena = config->arena ? config->arena : room.arena;
    uint32_t buffers = config->buffers ? config->buffers : room.buffers;
    if (arena < SMALLEST_ARENA || arena > LARGEST_ARENA)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--dump-arena %llu: must be from 4K to 64G",
                            (unsigned long long)arena);
    if (buffers < 2 || buffers > MAX_BUFFERS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--dump-buffers %u: must be from 2 to %d",
                            buffers, MAX_BUFFERS);
    arena = arena / 1024 * 1024;
    *head = (struct tg_stream_head){
        .magic = TG_STREAM_MAGIC,
        .version = TG_STREAM_VERSION,
        .head_size = sizeof *head,
        .n_buffers = buffers,
        .per_buffer = TG_PER_BUFFER,
        .record_size = sizeof(struct tg_record),
        .arena_size = arena,
        .piece_limit = arena / 4, /* the device fills one while the host writes another */
        .current = tg_word_seal(tg_current_value(TG_NO_BUFFER, 0)),
        .ready_tail = tg_word_seal(0),
        .written = tg_word_seal(0),
        .freed = tg_word_seal(0),
    };
    head->free_queue = align(sizeof *head);
    head->ready_queue = align(head->free_queue + buffers * sizeof(uint32_t));
    head->buffers = align(head->ready_queue + buffers * sizeof(uint32_t));
    head->arena =
        align(head->buffers + (uint64_t)buffers * TG_PER_BUFFER * sizeof(struct tg_record));
    area->setup.stream_size = align(head->arena + arena);
    return TG_OK;
}

static tg_status plan_filters(struct tg_record_area *area, const char *text, struct tg_error *error)
{
    struct tg_filter_spec specs[TG_MAX_FILTERS];
    uint32_t count = 0;
    tg_status status;
    text = text ? text : "";
    status = tg_filter_parse(text, specs, &count, error);
    if (status != TG_OK)
        return status;
    area->setup.n_filters = count;
    area->kernel_filters = calloc(area->device->n_kernels + 1u, 1);
    if (area->kernel_filters == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t f = 0; f < count; f++) {
        area->setup.filter[f] = specs[f].filter;
        area->setup.filter[f].any_kernel = specs[f].kernel[0] == '\0';
        for (struct tg_module *m = area->device->modules; m != NULL; m = m->next)
            for (uint32_t k = 0; k < m->n_kernels; k++)
                if (tg_filter_kernel_matches(&specs[f], tg_module_kernel_name(m, k)))
                    area->kernel_filters[m->first + k] |= (uint8_t)(1u << f);
    }
    for (uint32_t f = 0; f < count; f++) { /* keep the text, for a warning that quotes it */
        size_t length = strcspn(text, ";");
        snprintf(area->filter[f], sizeof area->filter[f], "%.*s", (int)length, text);
        text += length + (text[length] == ';');
    }
    return TG_OK;
}

/* ── on the device ─────────────────────────────────────────────────────────────────────── */

static tg_status write_stream(struct tg_record_area *area, uint32_t index, const uint32_t *free,
                              struct tg_error *error)
{
    struct tg_stream_head head = area->stream;
    uint64_t address = tg_record_area_stream(area, index);
    tg_status status;
    head.index = index;
    head.free_tail = tg_word_seal(head.n_buffers);
    status = tg_device_copy_in(area->device, address, &head, sizeof head, error);
    if (status == TG_OK)
        status = tg_device_copy_in(area->device, address + head.free_queue, free,
                                   head.n_buffers * sizeof *free, error);
    return status;
}

static tg_status write_streams(struct tg_record_area *area, struct tg_error *error)
{
    uint32_t n = area->stream.n_buffers;
    uint32_t *free_queue = malloc(n * sizeof *free_queue);
    tg_status status = TG_OK;
    if (free_queue == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < n; i++)
        free_queue[i] = i;
    for (uint32_t i = 0; i < area->setup.n_streams && status == TG_OK; i++)
        status = write_stream(area, i, free_queue, error);
    free(free_queue);
    return status;
}

static tg_status no_room(const struct tg_record_area *area, uint64_t size, struct tg_error *error)
{
    struct tg_device_info info;
    tg_device_get_info(area->device, &info);
    return tg_error_set(error, TG_NO_MEMORY,
                        "recording needs %llu bytes of device memory (%u streams of %llu), "
                        "but %llu are free; lower --dump-arena or raise --device-memory",
                        (unsigned long long)size, area->setup.n_streams,
                        (unsigned long long)area->setup.stream_size,
                        (unsigned long long)(info.memory - info.memory_used));
}

/* Allocates [setup][kernel filters] in device memory, and [streams] in memory that the host can
 * read in place, unless streams are copied. Writes their first contents. */
static tg_status place(struct tg_record_area *area, struct tg_error *error)
{
    struct tg_record_setup *setup = &area->setup;
    uint64_t filters = align(sizeof *setup);
    uint64_t size = setup->n_streams * setup->stream_size;
    tg_status status =
        tg_device_alloc_own(area->device, filters + area->device->n_kernels, &area->address, error);
    if (status == TG_OK)
        status = area->copied ? tg_device_alloc_own(area->device, size, &setup->streams, error)
                              : tg_device_alloc_shared(area->device, size, &setup->streams, error);
    if (status == TG_NO_MEMORY)
        return no_room(area, size, error);
    if (status != TG_OK)
        return status;
    setup->kernel_filters = area->address + filters;
    status = tg_device_copy_in(area->device, area->address, setup, sizeof *setup, error);
    if (status == TG_OK)
        status = tg_device_copy_in(area->device, setup->kernel_filters, area->kernel_filters,
                                   area->device->n_kernels, error);
    return status == TG_OK ? write_streams(area, error) : status;
}

/* Decides whether the host reads streams in place or copies them. */
static tg_status choose_transport(struct tg_record_area *area,
                                  const struct tg_record_config *config, struct tg_error *error)
{
    bool sees = area->device->ops->map != NULL;
    if (config->transport == TG_TRANSPORT_MAPPED && !sees)
        return tg_error_set(
            error, TG_BAD_ARGUMENT,
            "--dump-transport mapped: the host does not see the memory of %s; use copied",
            area->device->ops->name);
    area->copied = !sees || config->transport == TG_TRANSPORT_COPIED;
    return TG_OK;
}

/* A limit too long for a word is as good as none. The conversion of a larger double would be
 * undefined, and gave 0. */
static uint64_t nanoseconds(double seconds)
{
    return seconds < (double)UINT64_MAX * 1e-9 ? (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

tg_status tg_record_area_create(struct tg_device *device, const struct tg_record_config *config,
                                struct tg_graph *graph, uint32_t n_streams,
                                struct tg_record_area *area, struct tg_error *error)
{
    tg_status status;
    memset(area, 0, sizeof *area);
    area->device = device;
    area->setup = (struct tg_record_setup){
        .magic = TG_SETUP_MAGIC,
        .version = TG_STREAM_VERSION,
        .setup_size = sizeof area->setup,
        .level = config->level,
        .policy = config->policy,
        .n_streams = n_streams,
        .wait_limit_ns = nanoseconds(config->wait_limit > 0 ? config->wait_limit : DEFAULT_WAIT),
        .pulse = tg_pulse_address(device),
    };
    area->setup.pulse_ns = tg_pulse_period(area->setup.wait_limit_ns);
    status = choose_transport(area, config, error);
    if (status == TG_OK)
        status = plan_filters(area, config->filter, error);
    if (status == TG_OK)
        status = plan_stream(area, config, graph, error);
    if (status == TG_OK)
        status = place(area, error);
    if (status != TG_OK)
        tg_record_area_destroy(area);
    return status;
}

void tg_record_area_learn(const struct tg_record_area *area, bool waited)
{
    struct tg_stream_room *room = &area->device->stream_room;
    uint32_t times = waited ? 2 : 1;
    if (area->learns)
        *room = (struct tg_stream_room){times * area->stream.arena_size,
                                        times * area->stream.n_buffers};
}

void tg_record_area_destroy(struct tg_record_area *area)
{
    if (area->address != 0)
        tg_device_free(area->device, area->address, NULL);
    if (area->setup.streams != 0)
        tg_device_free(area->device, area->setup.streams, NULL);
    area->address = area->setup.streams = 0;
    free(area->kernel_filters);
    area->kernel_filters = NULL;
}

uint64_t tg_record_area_pulse(const struct tg_record_area *area)
{
    return area->setup.policy == TG_POLICY_BLOCK ? area->setup.pulse_ns : 0;
}

uint64_t tg_record_area_stream(const struct tg_record_area *area, uint32_t index)
{
    return area->setup.streams + index * area->setup.stream_size;
}
