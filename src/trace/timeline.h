/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of a run in memory, for analysis: which task ran when, on which core, and what it waited for.
 * Readers of several files fill it:
 *
 *     trace FILE (Perfetto, Chrome JSON)   tg_timeline_read_file       src/trace
 *     a recording and its deps.json        tg_timeline_of_recording    src/analysis
 *     chip_swimlane_records.json           tg_timeline_of_swimlane     src/analysis
 *
 * A reader adds cores, kernels, tasks, parts, edges and waits in any order, as it meets them, and then calls
 * tg_timeline_finish, which sorts tasks by id and turns ids into indices. Files are not trusted: the reader
 * may add whatever it has read, and tg_timeline_finish counts what does not fit together instead of
 * failing. No member is larger than what was added to it.
 *
 * Times are nanoseconds on the device's clock, which begins anywhere; all of one timeline are of one clock.
 */
#ifndef TG_TRACE_TIMELINE_H
#define TG_TRACE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/wire/task.h>

#include "base/names.h"

/* A time that the file does not have. */
#define TG_TIME_UNKNOWN UINT64_MAX
/* An index or a number that the file does not have. */
#define TG_TIMELINE_NONE UINT32_MAX

struct tg_timeline_core {
    const char *name; /* "core 7 (AIV0)"; "" if the file has none */
    uint32_t number;  /* of it on the device */
    uint32_t kind;    /* TG_AIC or TG_AIV; TG_CORE_KINDS if that is not known */
};

struct tg_timeline_kernel {
    const char *name; /* "" if the file has none */
    uint32_t number;  /* its func_id; TG_TIMELINE_NONE if the file has none */
    uint32_t
        kind; /* which cores may run it: enum tg_core_kind; TG_CORE_KINDS if that is not known */
};

enum tg_timeline_flag {
    /* The part had not ended when the device died: `end` is when that was seen, or unknown. */
    TG_TIMELINE_PARTIAL = 1 << 0,
    /* It began at `begin` or before, and it ended at `end` or later: a recording has no record from before
     * a kernel that only writes, and none from after one that only reads. */
    TG_TIMELINE_NO_BEGIN = 1 << 1,
    TG_TIMELINE_NO_END = 1 << 2
};

/* One kernel that ran on one core: a task, or a part of a mix. */
struct tg_timeline_part {
    uint64_t task;       /* the task's id; after tg_timeline_finish its index */
    uint64_t begin, end; /* or TG_TIME_UNKNOWN */
    uint64_t dispatch;   /* when a scheduler gave it to the core; or TG_TIME_UNKNOWN */
    uint64_t done;       /* when a scheduler saw its end; or TG_TIME_UNKNOWN */
    uint32_t core;       /* index, from tg_timeline_add_core; or TG_TIMELINE_NONE */
    uint32_t kernel;     /* index, from tg_timeline_add_kernel; or TG_TIMELINE_NONE */
    uint8_t part;        /* enum tg_part */
    uint8_t flags;       /* enum tg_timeline_flag */
};

/* A task, also one that has not run. A reader sets the first six; a task that only a part names exists
 * too, with unknown times. */
struct tg_timeline_task {
    uint64_t id;
    uint64_t submit_begin, submit; /* begin and end of its submission; or TG_TIME_UNKNOWN */
    uint64_t ready;    /* when it became ready, as the device says; or TG_TIME_UNKNOWN */
    const char *scope; /* the site of its scope, "file.c:12", from tg_timeline_name; "" */
    bool is_listed;    /* deps.json has it; counts if facts.has_list */
    /* tg_timeline_finish sets these. */
    uint32_t first_part, n_parts; /* in `part` */
    uint64_t first_edge, n_edges; /* the tasks that it waited for: in `before` */
};

/* One task waits for another. */
struct tg_timeline_edge {
    uint64_t before, after; /* ids */
};

/* The orchestrator waited: for slots, heap, dependency entries, map entries, or for a value that it
 * reads. */
struct tg_timeline_wait {
    uint64_t begin, end;
    uint64_t task; /* the id of the task whose end it waited for, TG_TASK_NONE if that is not known;
                          after tg_timeline_finish its index, UINT64_MAX for none */
    const char *cause; /* a word, from tg_timeline_name; "" */
};

/* A task that is a call of communication. A core has it twice, for a moment each: to post it, and when the
 * host has done it. Its part is the second of the two. */
struct tg_timeline_call {
    uint32_t task;         /* index */
    uint32_t kind;         /* enum tg_comm_kind */
    int32_t peer;          /* of a send or receive, or a root; or TG_COMM_NONE */
    uint64_t posted, done; /* or TG_TIME_UNKNOWN */
};

/* What is known about the run. Texts come from tg_timeline_name; "" if they are not known. */
struct tg_timeline_facts {
    const char *source;   /* what the times are of: "trace", "recording", "swimlane" */
    const char *workload; /* the file or name of the workload */
    const char *case_name, *platform, *runtime, *version;
    const char *result;  /* how the run ended, in the word of run.json ("ok", "hang" …) */
    uint64_t start, end; /* of the run on the device's clock; or TG_TIME_UNKNOWN */
    uint64_t lost;       /* events or records that the run reports as lost */
    uint64_t clock_step; /* ns that the device's clock moves by at least; 0: not known */
    bool has_edges;      /* the file says which task waited for which (maybe for none) */
    bool
        has_list; /* the edges are those of deps.json: of a task that it lacks they are not known */
    uint64_t lost_list; /* tasks and edges that deps.json reports as lost */
    bool
        host_built; /* the host built the graph before the run: all tasks were submitted at `start` */
};

struct tg_timeline {
    struct tg_timeline_facts facts;
    struct tg_timeline_core *core;
    struct tg_timeline_kernel *kernel;
    struct tg_timeline_part *part; /* after tg_timeline_finish by task, then by part */
    struct tg_timeline_task *task; /* after tg_timeline_finish by id, each once */
    struct tg_timeline_edge *edge; /* only until tg_timeline_finish */
    struct tg_timeline_wait *wait; /* after tg_timeline_finish by end */
    uint32_t *before;              /* tg_timeline_finish makes it: indices of tasks */
    struct tg_timeline_call *call; /* by task; only of a timeline whose reader has set it */
    size_t n_calls;
    size_t n_cores, n_kernels, n_parts, n_tasks, n_edges, n_waits;
    /* What tg_timeline_finish met and left out: edges that name a task which nothing else names, edges
     * from a task to itself, parts and tasks that came twice, parts that end before they begin. */
    uint64_t unknown_edges, twins, backward;
    struct tg_names names;
    /* Private: what tg_grow needs, and tables that find cores and kernels. */
    size_t core_room, kernel_room, part_room, task_room, edge_room, wait_room;
    uint32_t *core_slot, *kernel_slot;
    size_t n_core_slots, n_kernel_slots;
};

/* All members unknown; frees nothing. */
void tg_timeline_start(struct tg_timeline *timeline);
void tg_timeline_free(struct tg_timeline *timeline);

/* Keeps a text for as long as the timeline, cleaned for terminals. NULL if memory ran out. */
const char *tg_timeline_name(struct tg_timeline *timeline, const char *text, size_t length);

/* The core with that number: the same index for the same number. The first kind that is known and the
 * first name that is not "" count. TG_TIMELINE_NONE if memory ran out. */
uint32_t tg_timeline_add_core(struct tg_timeline *timeline, uint32_t number, uint32_t kind,
                              const char *name);
/* The kernel with that number and name (NULL: ""): the same index for the same. TG_TIMELINE_NONE if memory
 * ran out. */
uint32_t tg_timeline_add_kernel(struct tg_timeline *timeline, uint32_t number, uint32_t kind,
                                const char *name);
/* These copy what they are given; false if memory ran out. */
bool tg_timeline_add_task(struct tg_timeline *timeline, const struct tg_timeline_task *task);
bool tg_timeline_add_part(struct tg_timeline *timeline, const struct tg_timeline_part *part);
bool tg_timeline_add_edge(struct tg_timeline *timeline, uint64_t before, uint64_t after);
bool tg_timeline_add_wait(struct tg_timeline *timeline, const struct tg_timeline_wait *wait);

/* A task and a part with nothing known but the id. */
struct tg_timeline_task tg_timeline_task_of(uint64_t id);
struct tg_timeline_part tg_timeline_part_of(uint64_t id);

/* Sorts, joins and resolves. NO_MEMORY; BAD_ARGUMENT for more than 2^32 - 2 tasks or parts. */
tg_status tg_timeline_finish(struct tg_timeline *timeline, struct tg_error *error);

/* Reads a trace FILE that Taskglass wrote: a Perfetto trace or Chrome JSON, whichever it is. On success
 * the caller frees *timeline; it is finished. BAD_ARGUMENT names the file: another program wrote it, or it
 * is damaged (says where); UNSUPPORTED: it is that of several ranks; NOT_FOUND; IO_ERROR; NO_MEMORY. */
tg_status tg_timeline_read_file(const char *path, struct tg_timeline *timeline,
                                struct tg_error *error);

#endif
