/* SPDX-License-Identifier: Apache-2.0 */
/* The names and facts of a traced run, as the writer of its file wants them. */
#ifndef TG_HOST_TRACE_FILE_H
#define TG_HOST_TRACE_FILE_H

#include "host/trace_collector.h"
#include "trace/trace.h"

enum { TG_TRACE_FACTS = 20 };

struct tg_trace_names {
    struct tg_trace_core *core;
    const char **kernel;
    char **site; /* each its own; the host's graph's are copied too */
    uint32_t n_sites;
    struct tg_trace_fact fact[TG_TRACE_FACTS];
    struct tg_trace_run run; /* points to the others */
};

/* What is about the events. */
struct tg_trace_numbers {
    uint32_t n_cores; /* cores to show: lanes from 0 */
    uint64_t begin, end;
    uint64_t lost, clock_ns;
};

/* NO_MEMORY. Free it in any case. */
tg_status tg_trace_names_make(struct tg_trace_names *names, struct tg_graph *graph,
                              const struct tg_trace_about *about,
                              const struct tg_trace_numbers *numbers);
void tg_trace_names_free(struct tg_trace_names *names);

#endif
