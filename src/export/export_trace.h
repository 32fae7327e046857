/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as a trace: what export_trace.c and its helpers share. */
#ifndef TG_EXPORT_EXPORT_TRACE_H
#define TG_EXPORT_EXPORT_TRACE_H

#include "base/names.h"
#include "export/export_job.h"
#include "export/export_tasks.h"
#include "trace/steps.h"
#include "trace/trace.h"

/* Texts with numbers: each text once, numbered from 0 as they come. A list starts as zeros. */
struct tg_text_list {
    const char **at;
    size_t count, room;
    uint32_t *slot; /* number + 1; open addressing, at most half full */
    size_t n_slots;
    struct tg_names names;
};
/* The number of a text; false if memory ran out. */
bool tg_text_list_add(struct tg_text_list *list, const char *text, uint32_t *number);
void tg_text_list_free(struct tg_text_list *list);

/* What run.json beside the recording says of the run, as facts of the trace. */
enum { TG_EXPORT_FACTS = 16 };
struct tg_export_facts {
    struct tg_trace_fact fact[TG_EXPORT_FACTS];
    uint32_t count;
    uint64_t cores; /* of the device; 0 if it is not known */
    char text[TG_EXPORT_FACTS][TG_NAME_MAX + 1];
};
void tg_export_facts_read(const struct tg_export_job *job, struct tg_export_facts *facts);

/* A trace in the making. */
struct tg_export_trace {
    struct tg_export_job *job;
    struct tg_export_tasks tasks; /* is_written: it is shown */
    uint64_t *ready;              /* of each task, TG_SPOOL_NO_TIME if it is not known */
    uint64_t *submitted;          /* the same */
    uint64_t *seen;               /* of each task, a bit for each argument that is shown */
    uint64_t shown;
    uint64_t begin, end; /* of the shown tasks */
    struct tg_spool *spool;
    struct tg_text_list kernels, sites;
    struct tg_trace_core *core; /* by number */
    size_t n_cores;
    struct tg_export_facts facts;
    struct tg_trace_run run;
};

/* Adds edges and submissions from deps.json, and sets `ready`. */
tg_status tg_export_trace_edges(struct tg_export_trace *trace);
/* Adds scopes and the use of rings from the scope stats, if the run has any. */
tg_status tg_export_trace_scopes(struct tg_export_trace *trace);
/* Adds the arguments of tasks, and what the recorder had written when. */
tg_status tg_export_trace_records(struct tg_export_trace *trace);

/* Writes the trace of a whole recording to a file of the caller's; `folder` has room for what does not fit
 * in memory. `goes_on` is asked now and then. Errors are those of tg_recording_export; an IO_ERROR of the file
 * has the cause alone. */
tg_status tg_export_trace_to(const struct tg_recording *recording, FILE *file, const char *folder,
                             enum tg_trace_format format, tg_export_progress_fn progress,
                             void *context, struct tg_error *error);

#endif
