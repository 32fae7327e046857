/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/orchestrator.h"
#include "orchestrate/calls.h"
#include "orchestrate/feed.h"
#include "orchestrate/flow.h"
#include "orchestrate/trace_log.h"
#include "orchestrate/waits.h"
#include "device/core.h"
#include "device/recorder.h"
#include "device/target.h"
#include "common/stream_word.h"
#include "device/worker.h"

/* ── texts and errors ──────────────────────────────────────────────────────────────────── */

TG_FN void tg_copy_text(char *to, uint32_t size, const char *from)
{
    uint32_t i = 0;
    for (; from && from[i] && i + 1 < size; i++)
        to[i] = from[i];
    to[i] = '\0';
}

TG_FN void tg_copy_site(char *to, uint32_t size, const char *from)
{
    uint32_t length = 0;
    while (from && from[length])
        length++;
    if (length < size) {
        tg_copy_text(to, size, from);
        return;
    }
    tg_copy_text(to, size, "...");
    tg_copy_text(to + 3, size - 3, from + length - (size - 4));
}

/* Slots at first, and how many times as many each time that half of them are full. */
enum { FIRST_SITE_SLOTS = 256, MORE_SITE_SLOTS = 4 };

/* The slot of the site, or the empty slot where it belongs. */
TG_FN static uint16_t *site_slot(struct tg_orchestrator *self, const char *site)
{
    uint64_t key = (uint64_t)(uintptr_t)site * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(key >> 40) & self->site_mask;
    while (self->site_slot[at] != 0 && self->known_site[self->site_slot[at] - 1] != site)
        at = (at + 1) & self->site_mask;
    return &self->site_slot[at];
}

/* Enters the first `known` sites into that many slots. */
TG_FN static void use_site_slots(struct tg_orchestrator *self, uint32_t slots, uint32_t known)
{
    self->site_mask = slots - 1;
    for (uint32_t i = 0; i < slots; i++)
        self->site_slot[i] = 0;
    for (uint32_t i = 0; i < known; i++)
        *site_slot(self, self->known_site[i]) = (uint16_t)(i + 1);
}

TG_FN uint32_t tg_orchestrator_site(struct tg_orchestrator *self, const char *site)
{
    uint32_t cached = (uint32_t)((uintptr_t)site / 8 % TG_SITE_CACHE);
    struct tg_site *sites = TG_DEVICE_PTR(struct tg_site, self->o->sites);
    uint32_t n = self->report->n_sites;
    uint16_t *slot;
    if (self->site_cache[cached].text == site)
        return self->site_cache[cached].site;
    slot = site_slot(self, site);
    if (*slot == 0) {
        if (n == TG_NUMBERED_SITES) {
            self->report->more_sites = 1;
            return TG_NUMBERED_SITES;
        }
        self->known_site[n] = site;
        *slot = (uint16_t)(n + 1);
        if (2 * (n + 1) > self->site_mask && self->site_mask + 1 < TG_SITE_SLOTS) {
            use_site_slots(self, (self->site_mask + 1) * MORE_SITE_SLOTS, n + 1);
            slot = site_slot(self, site);
        }
        if (n < TG_MAX_SITES)
            tg_copy_site(sites[n].text, sizeof sites[n].text, site);
        self->report->n_sites = n + 1;
        tg_store_release_host(&self->report->sites_word, tg_word_seal(n + 1)); /* N1 */
    }
    self->site_cache[cached].text = site;
    self->site_cache[cached].site = *slot - 1u;
    return *slot - 1u;
}

/* An orchestration that a program wrote can have thousands of submits. The second half of the list is for
 * scopes, so that these lines never take a scope's name away. */
TG_FN uint32_t tg_orchestrator_line(struct tg_orchestrator *self, const char *site)
{
    if (!(self->logs & TG_LOGGED_GRAPH) ||
        (self->report->n_sites >= TG_MAX_SITES / 2 && *site_slot(self, site) == 0))
        return 0;
    return tg_orchestrator_site(self, site) + 1;
}

TG_FN void tg_orchestrator_stop(struct tg_orchestrator *self)
{
    if (tg_feeds(self->e))
        tg_feed_flush(self->e);
    tg_engine_stop(self->e);
    if (tg_feeds(self->e))
        tg_feed_stop(self->e->feed);
}

TG_FN bool tg_orchestrator_fail(struct tg_orchestrator *self, tg_status status,
                                enum tg_orchestration_fault fault, const char *site)
{
    struct tg_orchestrator_report *report = self->report;
    if (self->mode != TG_MODE_RUNS)
        return false;
    self->mode = TG_MODE_ENDED;
    tg_orchestrator_end_samples(self);
    report->fault = fault;
    tg_copy_site(report->site, sizeof report->site, site);
    report->status = (int32_t)status;
    tg_store_release(&report->state, (uint32_t)TG_ORCHESTRATOR_FAILED);
    tg_orchestrator_stop(self);
    return false;
}

TG_FN void tg_orchestrator_announce(struct tg_orchestrator *self)
{
    uint32_t classes = self->offered;
    self->offered = 0;
    if (classes)
        tg_worker_announce(self->e, self->self, classes);
}

TG_FN static void fail(struct tg_rt *rt, const char *text, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    if (self->mode == TG_MODE_RUNS)
        tg_copy_text(self->report->text, sizeof self->report->text, text);
    tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OWN, site);
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

TG_DATA static const struct tg_rt_ops ops = {
    tg_call_submit,    tg_call_depend, tg_call_alloc,  tg_call_scope_begin,
    tg_call_scope_end, fail,           tg_call_output, tg_call_read,
    tg_call_table,     tg_call_rank,   tg_call_ranks,  tg_call_communicate};

TG_FN static void clear_report(struct tg_orchestrator_report *report)
{
    char *bytes = (char *)report;
    for (uint32_t i = 0; i < sizeof *report; i++)
        bytes[i] = 0;
}

TG_FN uint64_t tg_orchestrator_size(void)
{
    return sizeof(struct tg_orchestrator);
}

TG_FN void tg_orchestrator_prepare(struct tg_orchestrator *self, struct tg_engine *e,
                                   struct tg_orchestration *o, tg_orchestrate_fn orchestrate,
                                   const char *root_site)
{
    self->rt.ops = &ops;
    self->user.found = tg_submit_found;
    self->user.desc = e->desc;
    self->user.done_words = e->done_words;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        self->user.done[r] = &o->cursors[r].done;
    self->user.wait = tg_submit_wait_for_entries;
    self->user.forgot = tg_submit_forgot;
    self->logs = (uint8_t)(o->logs >> TG_LOG_EDGES & 1 ? TG_LOGGED_GRAPH : 0);
    self->samples = o->logs >> TG_LOG_SCOPES & 1;
    self->watches = self->samples ? TG_LOGGED_SCOPES : 0;
    if (tg_trace_is_on(e)) {
        self->logs |= TG_LOGGED_TRACE;
        self->watches |= TG_LOGGED_TRACE;
    }
    self->user.keep_done = self->logs != 0;
    self->e = e;
    self->self = &e->worker[e->n_lanes + e->n_schedulers];
    self->o = o;
    self->report = &o->report;
    self->orchestrate = orchestrate;
    self->root_site = root_site;
    self->note = TG_DEVICE_PTR(struct tg_slot_note, o->notes);
    self->kernel = TG_DEVICE_PTR(const struct tg_kernel_desc, o->kernels);
    self->payload = (char *)e->payload;
    self->finds_edges = o->map_regions != 0;
    self->scopes_own_slots = (o->flags & TG_SCOPES_OWN_SLOTS) != 0;
    self->n_rings = o->n_rings;
    self->eager = e->patience.spin > 0 || tg_feeds(e);
    self->alone = e->n_cpus == 1 && e->n_schedulers == 0 && !e->bag;
    self->mode = TG_MODE_RUNS;
    self->serial = self->n_held = self->offered = 0;
    self->submitted = self->order = self->asked_map = 0;
    self->want_ring = 0;
    self->line = root_site;
    self->depth = 0;
    self->reading = self->calls = false;
    tg_comm_counts_clear(e);
    self->reads.head = 0;
    tg_given_init(&self->given, TG_DEVICE_PTR(const struct tg_args, o->args));
    for (uint32_t r = 0; r < TG_RINGS; r++) {
        tg_ring_init(&self->ring[r], o, r);
        self->ring[r].args.memory = self->payload;
        self->ring[r].keeps_slots = tg_record_is_on(e);
        self->ring[r].keeps_args = tg_record_is_on(e) || !self->scopes_own_slots;
    }
    for (uint32_t i = 0; i < TG_SITE_CACHE; i++)
        self->site_cache[i].text = 0;
    use_site_slots(self, FIRST_SITE_SLOTS, 0);
    clear_report(self->report);
    tg_waits_clear(self);
    if (self->finds_edges)
        tg_map_init(&self->map, o);
    tg_edge_log_open(&self->log, e, tg_trace_is_on(e) ? tg_tracer_of(e, self->self) : 0);
    if (self->logs & TG_LOGGED_GRAPH)
        tg_edge_log_stream(&self->log, self->self,
                           TG_DEVICE_PTR(const struct tg_record_setup, o->log));
    if (self->samples)
        tg_scope_log_open(&self->scopes, e, self->self,
                          TG_DEVICE_PTR(const struct tg_record_setup, o->log));
}

/* Called when the orchestration has returned: finishes the run, or reports its error. */
TG_FN static void finish(struct tg_orchestrator *self)
{
    if (self->mode == TG_MODE_RUNS && self->depth > 1)
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_SCOPE_LEFT,
                             tg_current_scope(self)->line);
    tg_count_end(self, true);
    if (self->mode != TG_MODE_RUNS)
        return;
    tg_end_scope(self);
    tg_orchestrator_end_samples(self);
    if (!self->alone)
        tg_orchestrator_announce(self);
    self->mode = TG_MODE_ENDED;
    if (tg_feeds(self->e)) {
        tg_feed_end(self->e, self->submitted);
        tg_feed_flush(self->e);
        tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_RETURNED);
        return;
    }
    tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_RETURNED);
    tg_store_seq(&self->e->n_tasks, self->submitted);
    if (self->alone)
        tg_core_help(self->e, self->self, &self->e->phase, TG_OVER);
    tg_orchestrator_announce(self);
    if (self->e->bag)
        tg_bag_orchestrated(self->e);
    tg_engine_check_over(self->e, self->self);
}

TG_FN void tg_orchestrator_run(struct tg_orchestrator *self)
{
    self->report->began_ns = tg_target_now();
    tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_RUNS);
    if (self->logs & TG_LOGGED_TRACE)
        tg_trace_log_open(self);
    tg_begin_scope(self, TG_SCOPE_OPEN, self->root_site);
    self->orchestrate(&self->rt, TG_DEVICE_PTR(const struct tg_args, self->o->args));
    self->report->ended_ns = tg_target_now();
    finish(self);
}
