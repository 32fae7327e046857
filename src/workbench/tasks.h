/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of a run, when they ran, and their records: the index that `timeline`, `edges` and `task` share. It is
 * made once, in one pass over the records, and small: a run of a million tasks with three records each takes 50 MB.
 *
 * The tasks are those of the recording's records, and those of the times that another implementation writes
 * (chip_swimlane_records.json). deps.json may have more of them; they are not here.
 */
#ifndef TG_WORKBENCH_TASKS_H
#define TG_WORKBENCH_TASKS_H

#include "trace/timeline.h"
#include "workbench/answer.h"
#include "workbench/bench.h"

/* A time in a column of 32 bits that is not known. */
#define TG_BENCH_NO_TIME UINT32_MAX
/* An index that is not known. */
#define TG_BENCH_NONE UINT32_MAX

enum { TG_BENCH_OTHERS = 4096, TG_BENCH_KERNEL = 16 };

struct tg_bench_tasks {
    struct tg_columns columns; /* the answer to `timeline`; id … end are in it */
    uint32_t count;
    uint64_t *id; /* by task; they rise */
    /* The parts of task t are [first_part[t], first_part[t + 1]). */
    uint32_t *first_part;
    uint32_t n_parts;
    uint16_t *core, *kernel; /* by part: indices into `names`; UINT16_MAX: not known */
    uint8_t *flags;          /* by part: enum tg_timeline_flag */
    bool is_wide;            /* the times are f64; else u32 */
    void *begin, *end;       /* by part: nanoseconds since `start` */
    uint64_t start, span;
    /* The records of task t are record[first_record[t]] … record[first_record[t + 1] - 1], in the order of the file. */
    uint32_t *first_record, *record;
    uint32_t *
        other; /* records of no task, the first TG_BENCH_OTHERS of them: arguments of the orchestration */
    uint32_t n_others;
    struct tg_timeline names; /* cores and kernels; it has no parts and tasks */
    const char *source;       /* "recording", "swimlane" */
    char note[2][500];        /* what is missing; "" */
};

/* The index of an open run. It lives as long as the run. Any thread may ask; the first one makes it. UNSUPPORTED: the
 * recording is too large for it; IO_ERROR, NO_MEMORY. */
tg_status tg_bench_tasks_of(struct tg_bench_run *run, const struct tg_bench_tasks **tasks,
                            struct tg_error *error);
void tg_bench_tasks_free(struct tg_bench_tasks *tasks);

/* The task of that id; TG_BENCH_NONE if there is none. */
uint32_t tg_bench_task_find(const struct tg_bench_tasks *tasks, uint64_t id);
/* The name of a kernel of the timeline. One without a name is "#3", in `room`; "": it has no number either. */
const char *tg_bench_kernel_name(const struct tg_bench_tasks *tasks, size_t kernel,
                                 char room[TG_BENCH_KERNEL]);
/* A time of a part, NaN if it is not known. `times` is `begin` or `end`. */
double tg_bench_time_at(const struct tg_bench_tasks *tasks, const void *times, uint32_t part);

#endif
