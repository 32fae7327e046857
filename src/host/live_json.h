/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a run, as JSON. */
#ifndef TG_HOST_LIVE_JSON_H
#define TG_HOST_LIVE_JSON_H

#include "host/live.h"
#include "host/run.h"

/* What an answer is made of. */
struct tg_live_facts {
    const struct tg_live_about *about;
    uint32_t phase; /* enum tg_live_phase */
    time_t started;
    double elapsed;
    double idle, limit; /* of the no-progress limit; limit 0: not known yet */
    uint32_t sections;
    const struct tg_run *view;        /* NULL: the run has no view now, and `last` counts */
    const struct tg_run_result *last; /* of a run that has ended; NULL: there was none */
    const struct tg_collector_counts *recorder; /* NULL: not known, or not recorded */
    struct tg_explanation *explanation;         /* NULL: it was not asked for, or no tasks run */
    bool places_late; /* the cores were asked where they are, and the next answer may have it */
};

/* One line, which the caller frees; NULL if memory ran out. */
char *tg_live_json_status(const struct tg_live_facts *facts, size_t *size);
char *tg_live_json_error(const char *problem, size_t *size);

#endif
