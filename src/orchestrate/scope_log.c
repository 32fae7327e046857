/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/scope_log.h"
#include "device/target.h"

TG_FN void tg_scope_log_open(struct tg_scope_log *log, struct tg_engine *e,
                             struct tg_worker *worker, const struct tg_record_setup *setup)
{
    log->e = e;
    tg_stream_open(&log->stream, setup, TG_LOG_SCOPES, worker);
    log->open = 0;
}

/* The record being filled, or a new one; 0 if the host has stopped collecting. */
TG_FN static struct tg_record_scopes *current(struct tg_scope_log *log)
{
    struct tg_record_scopes *r = log->open;
    if (r)
        return r;
    r = (struct tg_record_scopes *)tg_stream_slot(log->e, &log->stream);
    if (r) {
        r->type = TG_RECORD_SCOPES;
        r->n = 0;
        r->check = 0;
        r->sequence = log->stream.recorded;
    }
    log->open = r;
    return r;
}

TG_FN void tg_scope_log_flush(struct tg_scope_log *log)
{
    if (!log->open)
        return;
    log->open = 0;
    tg_stream_add(&log->stream, recorded, 1);
    tg_stream_publish(&log->stream);
}

/* Adds the entry that has been filled. The count comes last, because a tool that reads a dead device's
 * memory trusts as many entries as are counted. */
TG_FN static void add_entry(struct tg_scope_log *log, struct tg_record_scopes *r)
{
    tg_store_release(&r->n, (uint16_t)(r->n + 1));
    if (r->n == TG_SAMPLES_PER_RECORD)
        tg_scope_log_flush(log);
}

TG_FN void tg_scope_log_sample(struct tg_scope_log *log, const struct tg_ring *ring, uint32_t site,
                               uint32_t depth, uint32_t tensormap,
                               const struct tg_scope_peaks *peaks)
{
    struct tg_record_scopes *r = current(log);
    struct tg_scope_sample_wire *s;
    tg_stream_add(&log->stream, attempted, 1); /* counts samples, not records */
    if (!r) {
        tg_stream_add(&log->stream, lost_gave_up, 1);
        return;
    }
    s = &r->entry[r->n].sample;
    s->site = site;
    s->depth = (uint8_t)depth;
    s->ring = (uint8_t)ring->index;
    s->end = peaks ? TG_SCOPE_ENDS : TG_SCOPE_BEGINS;
    s->rings = peaks ? (uint8_t)peaks->rings : 0;
    s->task_window_start = ring->at->tail;
    s->task_window_end = ring->at->head;
    s->heap_start = ring->at->heap_tail;
    s->heap_end = ring->at->heap_head;
    s->dep_pool_start = ring->at->dep_tail;
    s->dep_pool_end = ring->at->dep_head;
    s->tensormap = tensormap;
    s->peak_tensormap = peaks ? peaks->tensormap : 0;
    s->peak_task_window = peaks ? peaks->task_window : 0;
    s->peak_dep_pool = peaks ? peaks->dep_pool : 0;
    s->peak_heap = peaks ? peaks->heap : 0;
    add_entry(log, r);
}

TG_FN void tg_scope_log_waits(struct tg_scope_log *log, uint32_t site, uint32_t depth,
                              const struct tg_ring *rings, uint64_t asked_map,
                              const struct tg_scope_peaks *peaks)
{
    struct tg_record_scopes *r = current(log);
    struct tg_scope_waits_wire *w;
    if (!r)
        return; /* the sample that follows counts the loss */
    w = &r->entry[r->n].waits;
    w->site = site;
    w->depth = (uint8_t)depth;
    w->ring = 0;
    w->end = TG_SCOPE_WAITED;
    w->reserved0 = 0;
    for (uint32_t i = 0; i < TG_WAITED_RESOURCES; i++)
        w->waits[i] = peaks->waits[i];
    w->wait_ns = peaks->wait_ns;
    for (uint32_t i = 0; i < TG_RINGS; i++)
        w->asked_deps[i] = rings[i].asked_deps;
    w->asked_map = asked_map;
    w->reserved1 = 0;
    add_entry(log, r);
}
