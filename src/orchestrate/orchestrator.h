/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The orchestrator: a thread of the device that runs the workload's orchestration function and
 * turns its calls into tasks while other threads run them. All runtimes that build graphs on the
 * device share this code. They differ in struct tg_orchestration: how many rings there are, whether
 * there is a tensor map, and whether scopes keep the slots of their tasks.
 *
 *   submit ─► check ─► a slot (flow.h waits for one) ─► edges: named, then found ─► ready? ─► offer
 *
 * Where all threads share one CPU, an orchestrator that waits runs ready tasks itself (tg_core_help), on
 * lanes whose threads sleep, and wakes none of them before it has run what it can: they could run only
 * while it does not. With two CPUs or more it does not, because a kernel that takes long would keep it
 * from making tasks for the other cores.
 *
 * Named edges (see also device/growing_edges.h, device/engine.h):
 *   F1  the orchestrator says which slot it waits for (`awaited`) and that it sleeps, then checks
 *       whether that task has completed; a worker that completes a task closes its list, then
 *       checks whether it is the one waited for. All _seq: one of the two sees the other.
 *   N1  the orchestrator writes the text of a new site, then stores the number of sites with
 *       release (tg_orchestrator_site); the host loads that number with acquire, then copies the
 *       texts below it (host/site_names.c). A text that is still being written is never below it.
 */
#ifndef TG_ORCHESTRATE_ORCHESTRATOR_H
#define TG_ORCHESTRATE_ORCHESTRATOR_H

#include "common/given.h"
#include "device/orchestrator_hook.h"
#include "device/trace.h"
#include "orchestrate/edge_log.h"
#include "orchestrate/rings.h"
#include "orchestrate/scope_log.h"
#include "orchestrate/tensormap.h"
#include <taskglass/orchestration.h>
#include <taskglass/status.h>

enum { TG_MAX_DEPTH = 64, TG_DEPS_AT_ONCE = 32, TG_SITE_CACHE = 64, TG_SITE_SLOTS = 32768 };

enum tg_orchestrator_mode {
    TG_MODE_RUNS = 0,
    TG_MODE_COUNTS = 1, /* a ring can never drain: counts how large it would have to be */
    TG_MODE_ENDED = 2   /* all calls do nothing */
};

struct tg_open_scope {
    uint32_t serial;
    uint32_t site;
    const char *line; /* the text of the site, in the orchestration's own memory */
    uint32_t ring;
    uint32_t kind;       /* enum tg_scope_kind */
    uint64_t first_task; /* of its own on its ring; TG_NO_PIN: none yet */
    uint64_t first_byte;
    uint64_t n_tasks;    /* its own */
    uint32_t first_held; /* tasks it holds back: slot + 2; 0: none */
    uint32_t last_held;
    uint64_t began;              /* for the trace only */
    struct tg_scope_peaks peaks; /* for scope stats only */
};

/* What a run may want to know of its orchestrator. */
enum tg_logged {
    TG_LOGGED_GRAPH = 1, /* edge_log.h */
    TG_LOGGED_SCOPES = 2,
    TG_LOGGED_TRACE = 4 /* trace_log.h */
};

/* The predecessors of the task that is being submitted. */
struct tg_deps {
    uint32_t n;        /* in `slot`, each once, none known to have completed */
    uint32_t n_linked; /* edges made already, while the task is guarded */
    bool guarded;
    uint32_t slot[TG_DEPS_AT_ONCE];
};

struct tg_orchestrator {
    struct tg_rt rt;         /* first: the orchestration sees only this */
    struct tg_map_user user; /* second: the tensor map's view */
    struct tg_engine *e;
    struct tg_worker *self;
    struct tg_orchestration *o;
    struct tg_orchestrator_report *report;
    tg_orchestrate_fn orchestrate;
    const char *root_site;
    struct tg_slot_note *note;
    const struct tg_kernel_desc *kernel;
    char *payload;
    uint32_t n_rings; /* in use */
    bool finds_edges; /* there is a tensor map */
    uint8_t logs;     /* bits of enum tg_logged: who wants to know submits and edges */
    uint8_t watches;  /* bits of enum tg_logged: who wants to know scopes */
    bool samples;     /* scope stats are sampled */
    bool reading;     /* tg_read gathers writers: no task is being submitted */
    bool calls;       /* the task being submitted is a call of communication */
    bool scopes_own_slots;
    bool eager;       /* cores have CPUs of their own: announce every task at once */
    bool alone;       /* all threads share one CPU: run tasks while waiting */
    uint32_t mode;    /* enum tg_orchestrator_mode */
    uint32_t serial;  /* scopes; one that is open is never confused with another, but 2^32 scopes
                         later a tensor of an ended scope may look as if its scope were open */
    uint32_t n_held;  /* tasks held back, all scopes */
    uint32_t offered; /* classes of tasks that have not been announced to the cores */
    uint64_t submitted;
    /* Submits and searches of tg_read, from 1; `seen` is compared with it. It must not wrap, or the
     * task with the number of a fresh slot's `seen` loses its edges. */
    uint64_t order;
    uint64_t asked_map;  /* tensor-map entries that tasks asked for, taken or not */
    const char *line;    /* of the call that may have to wait */
    uint32_t want_ring;  /* the ring whose resource that call wants */
    uint32_t task;       /* slot of the task being submitted */
    uint32_t call_line;  /* of a call: as in struct tg_comm_note */
    uint32_t args_bytes; /* of the task being submitted */
    uint64_t task_ref;
    uint32_t depth; /* open scopes */
    struct tg_open_scope scope[TG_MAX_DEPTH];
    struct tg_deps deps;
    struct tg_given given; /* to the orchestration */
    struct tg_region region[TG_MAX_TENSORS];
    struct tg_ring ring[TG_RINGS];
    struct tg_tensormap map;
    struct tg_edge_log log;
    struct tg_scope_log scopes;
    struct tg_tracer *tracer;
    uint64_t traced_until; /* the end of its last event */
    struct tg_stream
        reads; /* of the recording: values that tg_read returned; opened by the first */
    /* for the dry run, after a ring was found too small */
    uint64_t count_looked, count_ns, count_calls; /* time spent on it */
    uint64_t count_head[TG_RINGS], count_heap[TG_RINGS], count_deps, count_map;
    uint32_t count_held; /* depth of the outermost scope that holds tasks back; 0: none does */
    const char *known_site[TG_NUMBERED_SITES];
    uint32_t site_mask; /* slots in use - 1: few at first, because each run clears them */
    uint16_t site_slot[TG_SITE_SLOTS]; /* open addressing: 1 + number; at most half full */
    struct {
        const char *text;
        uint32_t site;
    } site_cache[TG_SITE_CACHE];
};

TG_FN static inline struct tg_open_scope *tg_current_scope(struct tg_orchestrator *self)
{
    return &self->scope[self->depth - 1];
}

TG_FN static inline bool tg_task_ref_done(const struct tg_orchestrator *self, uint64_t ref)
{
    return tg_task_ref_index(ref) < self->ring[tg_task_ref_ring(ref)].at->done ||
           tg_slot_closed(self->e, tg_task_ref_slot(ref));
}

/* Announces to the cores the tasks offered since the last call. */
TG_FN void tg_orchestrator_announce(struct tg_orchestrator *self);
/* Keeps the first error; later calls do nothing. Returns false, for the caller to return. */
TG_FN bool tg_orchestrator_fail(struct tg_orchestrator *self, tg_status status,
                                enum tg_orchestration_fault fault, const char *site);
/* Starts no more tasks. */
TG_FN void tg_orchestrator_stop(struct tg_orchestrator *self);
/* For scope stats: ends the open scopes, because nothing more will be known about them. */
TG_FN void tg_orchestrator_end_samples(struct tg_orchestrator *self);
/* The number of a source line, which is added to the list of sites if it is new. Two lines have two
 * numbers, up to TG_NUMBERED_SITES of them; further ones have that number. */
TG_FN uint32_t tg_orchestrator_site(struct tg_orchestrator *self, const char *site);
/* 1 + the number of the source line of a submit, for the log; 0: the list has no room for it. */
TG_FN uint32_t tg_orchestrator_line(struct tg_orchestrator *self, const char *site);
TG_FN void tg_copy_text(char *to, uint32_t size, const char *from);
/* Copies "file:line". Of a text that is too long, copies the end, after "...". */
TG_FN void tg_copy_site(char *to, uint32_t size, const char *from);

#endif
