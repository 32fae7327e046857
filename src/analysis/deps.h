/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.json in memory: the tasks of a run in the order in which they were submitted, and whom each
 * waited for. Ids that no task has are counted and left out, and edges may point anywhere, also in
 * circles.
 */
#ifndef TG_ANALYSIS_DEPS_H
#define TG_ANALYSIS_DEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/recording.h>

#include "base/names.h"

struct tg_deps_task {
    uint64_t id;
    uint32_t func[TG_PARTS];      /* in the order of the file; TG_NO_KERNEL behind the last */
    const char *kernel[TG_PARTS]; /* names, "" where there is none; NULL behind the last */
    const char *scope;            /* "" where there is none */
    uint64_t first_edge, n_edges;
};

struct tg_deps {
    struct tg_deps_task *task;
    uint32_t n_tasks;
    uint32_t *before; /* edges: the tasks that were waited for, by their place in `task` */
    uint64_t n_edges;
    uint64_t unknown; /* edges to ids that no task has */
    uint64_t lost;    /* tasks and edges that the run could not write down, as it says */
    struct tg_names names;
    uint64_t *edge_id; /* while it is read */
};

/* What lies beside a recording. *deps is NULL, with TG_OK, where there is none. BAD_ARGUMENT: what is
 * there is not one; the text has its name. */
tg_status tg_deps_find(const struct tg_recording *recording, struct tg_deps **deps,
                       struct tg_error *error);
/* `name` for messages. Nothing of the text is kept. */
tg_status tg_deps_parse(const char *text, size_t size, const char *name, struct tg_deps **deps,
                        struct tg_error *error);
void tg_deps_free(struct tg_deps *deps);

#endif
