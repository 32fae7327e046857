/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share while they shake one case. One thread uses it. */
#ifndef TG_SHAKE_SESSION_H
#define TG_SHAKE_SESSION_H

#include <taskglass/schedule.h>
#include <taskglass/shake.h>

#include "shake/orders.h"
#include "shake/outcome.h"
#include "shake/reduce.h"

enum {
    TG_SHAKE_RUNS = 200, /* defaults of the config */
    TG_SHAKE_REDUCE_RUNS = 300,
    TG_SHAKE_TELLING = 64,
    TG_SHAKE_SUSPECTS = 4096, /* racing pairs that are kept */
    TG_SHAKE_CHECKS = 5,      /* runs of the reduced schedule at the end */
    TG_SHAKE_CHECK_HANGS = 2  /* the same if each of them takes the whole no-progress limit */
};

/* The answer. It owns its texts. */
struct tg_shake {
    struct tg_shake_info info;
    char *case_name;
    char *schedule, *reduced, *inside_schedule;
    char reason[400];
    struct tg_shake_constraint *constraint;
    char *dir[3]; /* kept recordings: baseline, failing, reduced */
};

struct tg_shake_session {
    const struct tg_workload_file *workload;
    struct tg_shake_config config; /* with the defaults filled in */
    struct tg_settings *settings;  /* a copy of the caller's, with what shaking changes */
    char *folder;                  /* the runs' directories are in it */
    bool keeps;                    /* the folder is the user's */
    struct tg_shake *shake;
    struct tg_outcome baseline;
    uint32_t threshold; /* a change from here on breaks the case */
    struct tg_order_graph graph;
    uint64_t *graph_start;
    /* racing pairs, as places in the order of submission */
    struct tg_order *suspect;
    uint32_t n_suspects;
    bool knows_races; /* all of them are in `suspect` */
    /* the next order to make: choose.c */
    uint32_t next_suspect, next_kind, next_starved;
    bool inverted_all;
    /* single constraints that changed bytes in between and broke nothing */
    struct tg_order telling[TG_SHAKE_TELLING];
    uint32_t n_telling, n_combined;
    struct tg_order last; /* the constraint that is tried now, if it is a single one */
    bool has_last;
    /* progress */
    enum tg_shake_phase phase;
    uint64_t done, total;
};

/* trial.c: makes the copy of the settings and the folder; removes what is not kept. */
tg_status tg_session_begin(struct tg_shake_session *session, const struct tg_settings *settings,
                           struct tg_error *error);
void tg_session_end(struct tg_shake_session *session);

/* One run with that schedule. Its directory is removed unless `keep` names it, "failing", and the user wants
 * the recordings. OK: `outcome` is filled, however the run ended; the caller clears it. CANCELLED, and what
 * is no fault of the workload: IO_ERROR, NO_MEMORY … */
tg_status tg_session_run(struct tg_shake_session *session, const struct tg_schedule *schedule,
                         const char *keep, struct tg_outcome *outcome, struct tg_error *error);
/* The same, compared with the baseline; `outcome` may be NULL. */
tg_status tg_session_try(struct tg_shake_session *session, const struct tg_schedule *schedule,
                         const char *keep, struct tg_outcome *outcome,
                         struct tg_shake_difference *difference, struct tg_error *error);

/* suspects.c: looks for races in the recording of the baseline; what it cannot judge is no error. */
tg_status tg_session_suspect(struct tg_shake_session *session, struct tg_error *error);
/* Whether the two race: 1, 0, or 2 if that is not known. */
uint32_t tg_session_races(const struct tg_shake_session *session, uint32_t a, uint32_t b);

/* choose.c: schedule `number`, from 2; `pairs` has room for as many as there are tasks. */
tg_status tg_session_choose(struct tg_shake_session *session, uint32_t number,
                            struct tg_schedule_pair *pairs, struct tg_schedule *schedule,
                            struct tg_error *error);
/* The schedule that was chosen last changed bytes in between, but broke nothing. */
void tg_session_changed_inside(struct tg_shake_session *session);
/* Constraints as pairs of ids. */
void tg_session_pairs(const struct tg_shake_session *session, const struct tg_order *constraint,
                      uint32_t n, struct tg_schedule_pair *pairs);

/* explain.c: repeats and reduces the schedule that broke the case, and fills in the answer. */
tg_status tg_session_explain(struct tg_shake_session *session, const struct tg_schedule *schedule,
                             const struct tg_outcome *failed, struct tg_error *error);

/* The schedule as text, on the heap; NULL if memory ran out. */
char *tg_session_text(const struct tg_schedule *schedule);

#endif
