/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the server share. Each connection has a thread of its own (libmicrohttpd starts them), so a request
 * may wait for a file or for a run without holding up the others.
 *
 *   main.c          arguments, sockets, signals, the end
 *   connections.c   who is connected, and who has taken too long
 *   http.c          a request and its answer
 *   judge.c           whether it gets one
 *   asks.c          the requests about questions
 *   jobs.c          questions that were asked: processes of their own
 *   events.c        what a run that goes on tells
 *   ahead.c         reads what the page will ask for first
 */
#ifndef TG_SERVE_SERVE_H
#define TG_SERVE_SERVE_H

#include "serve/judge.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <taskglass/workbench.h>

struct serve_connections;
struct serve_jobs;

/* Answers take memory while they are made, and until their client has taken them. */
struct serve_budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned made;  /* requests whose answers are made now */
    uint64_t bytes; /* of answers that are not yet taken */
};

struct serve {
    struct serve_rules rules;
    struct tg_workbench *bench;
    struct serve_connections *connections;
    struct serve_jobs *jobs; /* NULL: there is no program to start */
    struct serve_budget budget;
    atomic_uint streams; /* of events */
    pthread_t reader;    /* of ahead.c, if is_reading */
    bool is_reading;
    atomic_bool ends; /* what waits must look at it several times a second */
};

/* Seconds of a clock that nobody sets. */
double serve_now(void);

#endif
