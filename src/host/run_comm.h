/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication of one run: the port through which the room `comm` reaches the run's device, and
 * what the device is told about ranks.
 *
 *   set_up      the launch's tg_comm_setup, in device memory
 *   start       just before the launch: calls are taken from here on
 *   stop        when the device has ended: others learn how
 *   destroy     frees the memory
 */
#ifndef TG_HOST_RUN_COMM_H
#define TG_HOST_RUN_COMM_H

#include "comm/comm.h"
#include "host/graph.h"
#include "host/site_names.h"

struct tg_run_comm {
    struct tg_comm *comm;   /* NULL: the run has none */
    struct tg_graph *graph; /* whose device it is about */
    bool started;
    uint64_t address;           /* of the setup; 0: none */
    struct tg_site_names names; /* of a graph that the device builds; the progress thread's */
    uint32_t failed;            /* atomic: the run cannot succeed, and `error` says why */
    struct tg_error error;
    void (*on_failure)(void *context); /* called once, from the progress thread */
    void *context;
    uint64_t progress;                   /* of all ranks, at the last look */
    char why[500];                       /* who waits for whom, after tg_run_comm_ask */
    bool (*is_cancelled)(void *context); /* called from the progress thread */
    bool (*is_stopped)(void *context);   /* called from tg_run_comm_stop, while that waits */
};

/* `schedule`: the run has one, which a graph with calls cannot have. */
tg_status tg_run_comm_set_up(struct tg_run_comm *c, struct tg_graph *graph, bool schedule,
                             struct tg_error *error);
tg_status tg_run_comm_start(struct tg_run_comm *c, const char *log, struct tg_error *error);
/* Tells the other ranks how the run ended; gives what the communication came to. */
void tg_run_comm_stop(struct tg_run_comm *c, tg_status status, const char *text,
                      struct tg_comm_result *result);
void tg_run_comm_destroy(struct tg_run_comm *c);
/* Tells the other ranks of a run that ended before tg_run_comm_start: they may wait for it already. */
void tg_run_comm_refuse(struct tg_device *device, tg_status status, const char *text);

/* True, with its error, once communication has failed. */
bool tg_run_comm_failed(const struct tg_run_comm *c, struct tg_error *error);
/* True if anything moved on any rank since the last call. `finished`: tasks of this one. */
bool tg_run_comm_moves(struct tg_run_comm *c, uint64_t finished);
/* The same before a run is called a hang: asks all ranks, because what is known of them may be older than
 * a short limit. Also true if communication has failed meanwhile. Else `why` says who waits for whom. */
bool tg_run_comm_ask(struct tg_run_comm *c, uint64_t finished);

#endif
