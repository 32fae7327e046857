/* SPDX-License-Identifier: Apache-2.0 */
#include "host/collector.h"
#include "base/error.h"
#include "common/select.h"
#include "common/stream_word.h"
#include "host/content.h"
#include "host/partial.h"
#include "host/pump.h"
#include "host/record_result.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tg_collector {
    struct tg_graph *graph;
    struct tg_record_area area;
    struct tg_dump_writer *writer;
    struct tg_drain *drains;
    struct tg_drain_room *room;
    struct tg_pump pump;
    uint64_t own_records; /* made by the host; they count as attempted too */
    uint64_t own_matched[TG_MAX_FILTERS];
};

/* ── creating a collector ──────────────────────────────────────────────────────────────── */

static tg_status name_kernels(struct tg_collector *c)
{
    tg_status status = TG_OK;
    for (struct tg_module *m = c->area.device->modules; m != NULL; m = m->next)
        for (uint32_t k = 0; k < m->n_kernels && status == TG_OK; k++)
            status = tg_dump_add_kernel(c->writer, m->first + k, m->kernels[k].core,
                                        tg_module_kernel_name(m, k));
    return status;
}

/* Records an argument of the orchestration: its description, and from level hash on the hash of what a
 * tensor holds before the run. Of an output that is whatever lay there. */
static void add_argument(struct tg_collector *c, const struct tg_subject *a,
                         const struct tg_args *args)
{
    enum tg_want want = tg_wanted(&c->area.setup, c->area.kernel_filters, a, c->own_matched);
    struct tg_record record;
    if (want == TG_WANT_NOTHING)
        return;
    tg_record_describe(&record, a);
    record.sequence = a->index;
    record.stream = UINT16_MAX; /* no stream: the host makes this record */
    if (a->index < args->n_tensors) {
        tg_record_describe_tensor(&record, &args->tensor[a->index]);
        if (want >= TG_WANT_HASH)
            tg_content_take(c->area.device, &args->tensor[a->index], NULL, &record);
    } else {
        tg_record_describe_scalar(&record, &args->scalar[a->index - args->n_tensors]);
    }
    tg_dump_append(c->writer, &record);
    c->own_records++;
}

static void add_orchestration(struct tg_collector *c, const struct tg_args *args)
{
    struct tg_task_desc none = {.id = TG_TASK_NONE,
                                .kernel = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL}};
    struct tg_subject subject = {.desc = &none, .stage = TG_STAGE_ORCHESTRATION};
    for (uint32_t i = 0; i < (uint32_t)args->n_tensors + args->n_scalars; i++) {
        subject.index = i;
        subject.role = i < args->n_tensors ? args->role[i] : 0;
        add_argument(c, &subject, args);
    }
}

static tg_status make_drains(struct tg_collector *c, struct tg_error *error)
{
    uint32_t n = c->area.setup.n_streams;
    c->drains = calloc(n, sizeof *c->drains);
    c->room = malloc(sizeof *c->room);
    if (c->drains == NULL || c->room == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < n; i++)
        tg_drain_init(&c->drains[i], &c->area, i, c->writer, c->room);
    return TG_OK;
}

/* One for each lane, and one for the values that an orchestration on the device reads. */
static uint32_t count_streams(const struct tg_graph *graph)
{
    return graph->module->device->head.n_lanes + (graph->layout != NULL);
}

tg_status tg_collector_create(struct tg_graph *graph, const struct tg_record_config *config,
                              struct tg_collector **out, struct tg_error *error)
{
    struct tg_collector *c = calloc(1, sizeof *c);
    tg_status status;
    if (c == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    c->graph = graph;
    status = tg_record_area_create(graph->module->device, config, graph, count_streams(graph),
                                   &c->area, error);
    if (status == TG_OK)
        status = tg_dump_create(config->output_dir, config->level, config->policy,
                                graph->module->device->poison, &c->writer, error);
    if (status == TG_OK && (status = name_kernels(c)) != TG_OK)
        tg_error_set(error, status, "%s: cannot write the recording", config->output_dir);
    if (status == TG_OK)
        status = make_drains(c, error);
    if (status != TG_OK) {
        if (c->writer != NULL) { /* what was begun is completed, so that no reader waits for more */
            tg_dump_set_result(c->writer, status);
            (void)tg_dump_finish(c->writer, NULL);
        }
        tg_collector_destroy(c);
        return status;
    }
    if (config->orchestration != NULL)
        add_orchestration(c, config->orchestration);
    else if (graph->given != NULL)
        add_orchestration(c, graph->given);
    *out = c;
    return TG_OK;
}

uint64_t tg_collector_setup(const struct tg_collector *c)
{
    return c->area.address;
}

uint64_t tg_collector_pulse(const struct tg_collector *c)
{
    return tg_record_area_pulse(&c->area);
}

/* ── draining ──────────────────────────────────────────────────────────────────────────── */

/* Called whenever the streams are empty, so that a killed host loses only the latest records. */
static void flush(void *context)
{
    tg_dump_flush(context);
}

/* Where copies take turns, several threads would only hand the turn to each other. */
static uint32_t count_threads(const struct tg_collector *c)
{
    if (c->area.copied && c->area.device->ops->copies_in_turn)
        return 1;
    return tg_pump_threads(c->area.setup.n_streams);
}

tg_status tg_collector_start(struct tg_collector *c, struct tg_error *error)
{
    c->pump = (struct tg_pump){.drains = c->drains,
                               .n = c->area.setup.n_streams,
                               .threads = count_threads(c),
                               .room = c->room,
                               .idle = flush,
                               .context = c->writer};
    return tg_pump_start(&c->pump, error);
}

uint64_t tg_collector_progress(const struct tg_collector *c)
{
    return tg_pump_progress(&c->pump);
}

/* Copies what the device writes of a head; the rest of it is the drain's, which may be writing it. */
static bool read_counters(const struct tg_collector *c, uint32_t stream,
                          struct tg_stream_head *head)
{
    const size_t begin = offsetof(struct tg_stream_head, current);
    const size_t end = offsetof(struct tg_stream_head, freed);
    return tg_device_copy_out(c->area.device, (char *)head + begin,
                              tg_record_area_stream(&c->area, stream) + begin, end - begin,
                              NULL) == TG_OK;
}

void tg_collector_count(const struct tg_collector *c, struct tg_collector_counts *counts)
{
    *counts = (struct tg_collector_counts){
        .level = c->area.setup.level,
        .policy = c->area.setup.policy,
        .records = tg_pump_progress(&c->pump),
        .bytes_written = tg_pump_freed(&c->pump),
        .arena = c->area.setup.n_streams * c->area.stream.arena_size,
    };
    for (uint32_t i = 0; i < c->area.setup.n_streams; i++) {
        struct tg_stream_head head;
        uint64_t units;
        if (!read_counters(c, i, &head))
            continue;
        counts->attempted += head.attempted;
        counts->recorded += head.recorded;
        counts->lost_full += head.lost_full;
        counts->lost_gave_up += head.lost_gave_up;
        counts->truncated += head.truncated;
        counts->record_ns += head.record_ns;
        counts->wait_ns += head.wait_ns;
        if (tg_word_open(head.written, &units))
            counts->bytes_recorded += units * TG_CURSOR_UNIT;
    }
    if (counts->bytes_recorded < counts->bytes_written)
        counts->bytes_recorded = counts->bytes_written; /* it was drained, so it was recorded */
}

bool tg_collector_is_recording(const struct tg_collector *c, uint32_t lane)
{
    struct tg_stream_head head;
    return c->area.setup.policy == TG_POLICY_BLOCK && lane < c->area.setup.n_streams &&
           read_counters(c, lane, &head) &&
           head.attempted > head.recorded + head.lost_full + head.lost_gave_up;
}

void tg_collector_stop(struct tg_collector *c)
{
    tg_pump_stop(&c->pump);
}

/* ── finishing the recording ───────────────────────────────────────────────────────────── */

void tg_collector_add_partial(struct tg_collector *c, const struct tg_task_desc *task,
                              const struct tg_tensor *tensors)
{
    c->own_records += tg_partial_record(&c->area, c->writer, task, tensors);
}

/* Adds up the device's counters and corrects those that contradict what the host has drained.
 * Returns the number of streams whose memory was lost with the device; records that were still in
 * them are not counted. */
static uint32_t account(struct tg_collector *c, uint64_t matched[TG_MAX_FILTERS])
{
    struct tg_dump_account sum = {.attempted = c->own_records};
    uint32_t gone = 0;
    for (uint32_t i = 0; i < c->area.setup.n_streams; i++) {
        struct tg_stream_head head;
        const struct tg_drain *drain = &c->drains[i];
        uint64_t seen;
        if (tg_device_copy_out(c->area.device, &head, drain->address, sizeof head, NULL) != TG_OK) {
            head = (struct tg_stream_head){.attempted = drain->sequence};
            gone++;
        }
        seen = drain->sequence + head.lost_full + head.lost_gave_up;
        sum.attempted += head.attempted > seen ? head.attempted : seen;
        sum.lost[TG_LOSS_FULL] += head.lost_full;
        sum.lost[TG_LOSS_GAVE_UP] += head.lost_gave_up;
        sum.lost[TG_LOSS_CORRUPT] += drain->corrupt;
        sum.lost[TG_LOSS_UNFINISHED] += head.attempted > seen ? head.attempted - seen : 0;
        sum.record_ns += head.record_ns;
        sum.wait_ns += head.wait_ns;
        for (uint32_t f = 0; f < TG_MAX_FILTERS; f++)
            matched[f] += head.matched[f];
    }
    tg_record_area_learn(&c->area, sum.wait_ns > 0);
    tg_dump_account(c->writer, &sum);
    return gone;
}

static void warn_of_filters(const struct tg_collector *c, const uint64_t matched[TG_MAX_FILTERS],
                            struct tg_record_result *result)
{
    char text[sizeof result->text];
    for (uint32_t f = 0; f < c->area.setup.n_filters; f++) {
        if (matched[f] > 0)
            continue;
        snprintf(text, sizeof text, "the filter '%s' matched nothing", c->area.filter[f]);
        tg_record_result_say(result, text);
    }
}

void tg_collector_finish(struct tg_collector *c, tg_status run_ended,
                         struct tg_record_result *result)
{
    uint64_t matched[TG_MAX_FILTERS];
    struct timespec began, ended;
    struct tg_error error = {TG_OK, ""};
    clock_gettime(CLOCK_MONOTONIC, &began);
    memcpy(matched, c->own_matched, sizeof matched);
    uint32_t gone = account(c, matched);
    result->on = true;
    result->text[0] = '\0';
    if (gone > 0)
        snprintf(result->text, sizeof result->text,
                 "the last records of %u streams were lost with the device's memory; use "
                 "--dump-transport mapped to keep them",
                 gone);
    else
        warn_of_filters(c, matched, result);
    tg_dump_set_result(c->writer, run_ended);
    result->status = tg_dump_finish(c->writer, &error);
    if (result->status != TG_OK)
        tg_record_result_say(result, error.text);
    result->summary = *tg_dump_summary(c->writer);
    result->stored_bytes = tg_dump_stored(c->writer);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    result->finish_seconds =
        (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) * 1e-9;
}

void tg_collector_destroy(struct tg_collector *c)
{
    if (c == NULL)
        return;
    tg_collector_stop(c);
    tg_dump_destroy(c->writer);
    tg_record_area_destroy(&c->area);
    free(c->drains);
    free(c->room);
    free(c);
}
