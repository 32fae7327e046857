/* SPDX-License-Identifier: Apache-2.0 */
/* Joins a job and leaves it, and the functions by which other threads ask the progress thread. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "comm/engine.h"
#include "comm/local.h"
#include "comm/plugin.h"

#define JOIN_SECONDS 60.0
enum { FIRST_PINGS = 48 };

/* --- open and close ------------------------------------------------------------------------- */

static void free_later(struct tg_comm *comm)
{
    while (comm->later) {
        struct tg_early *next = comm->later->next;
        free(comm->later);
        comm->later = next;
    }
}

/* After the transport, which may still use buffers of pending messages. */
static void free_comm(struct tg_comm *comm)
{
    for (size_t i = 0; i < comm->n_pending; i++)
        free(comm->pending[i].buffer);
    free(comm->pending);
    for (int i = 0; i < TG_SPARES; i++)
        free(comm->spare[i].bytes);
    tg_call_free_abandoned(comm);
    tg_exchange_free(comm);
    tg_explain_free(comm);
    free_later(comm);
    free(comm->told);
    free(comm->peer);
    if (comm->wake >= 0)
        close(comm->wake);
    pthread_mutex_destroy(&comm->turn);
    pthread_mutex_destroy(&comm->lock);
    pthread_mutex_destroy(&comm->clock_lock);
    pthread_cond_destroy(&comm->answered);
    free(comm);
}

/* Takes the open transport, also if it fails. */
static tg_status make_comm(const struct tg_comm_ops *ops, void *state, void *library,
                           struct tg_comm **made, struct tg_error *error)
{
    struct tg_comm *comm = calloc(1, sizeof *comm);
    const uint32_t ranks = ops ? ops->ranks(state) : 1, rank = ops ? ops->rank(state) : 0;
    *made = NULL;
    if (comm) {
        comm->peer = calloc(ranks, sizeof *comm->peer);
        comm->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    if (!comm || !comm->peer || comm->wake < 0 || rank >= ranks || ranks > TG_COMM_MAX_RANKS) {
        if (ops)
            ops->close(state, true);
        if (comm && comm->wake >= 0)
            close(comm->wake);
        if (comm)
            free(comm->peer);
        free(comm);
        return tg_error_set(error, TG_NO_MEMORY, "cannot join a job of %u ranks: no memory", ranks);
    }
    pthread_mutex_init(&comm->turn, NULL);
    pthread_mutex_init(&comm->lock, NULL);
    pthread_mutex_init(&comm->clock_lock, NULL);
    pthread_cond_init(&comm->answered, NULL);
    comm->ops = ops;
    comm->state = state;
    comm->library = library;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->local_ranks = 1;
    if (ops)
        ops->local(state, &comm->local_rank, &comm->local_ranks);
    comm->later_end = &comm->later;
    comm->first_free = UINT32_MAX;
    *made = comm;
    return TG_OK;
}

static void say_hello(struct tg_comm *comm)
{
    struct tg_message hello = tg_message_make(TG_MESSAGE_HELLO, 0);
    struct tg_rank *own = &comm->peer[comm->rank];
    own->has_come = true;
    own->pid = getpid();
    if (gethostname(own->host, sizeof own->host - 1) != 0)
        strcpy(own->host, "?");
    hello.value[0] = own->pid;
    hello.value[1] = comm->ranks;
    tg_message_set_text(&hello, own->host, strlen(own->host));
    tg_comm_send_all(comm, &hello);
    comm->pings_left = FIRST_PINGS;
    tg_comm_ping(comm);
}

/* The thread takes no signals: those of the program are for its own threads. */
static int start_thread(struct tg_comm *comm)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int cause = pthread_create(&comm->thread, NULL, tg_comm_thread, comm);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    comm->has_thread = cause == 0;
    return cause;
}

static tg_status start(struct tg_comm *comm, struct tg_error *error)
{
    say_hello(comm);
    const int cause = start_thread(comm);
    return cause == 0
               ? TG_OK
               : tg_error_set(error, TG_NO_MEMORY, "cannot start the thread of communication: %s",
                              strerror(cause));
}

static tg_status join(struct tg_comm *comm, double seconds, struct tg_error *error)
{
    struct tg_request request = {.kind = REQUEST_JOIN, .error = error};
    request.deadline = tg_comm_now() + (seconds > 0 ? seconds : JOIN_SECONDS);
    return tg_comm_ask(comm, &request);
}

tg_status tg_comm_open(const struct tg_comm_config *config, struct tg_comm **comm,
                       struct tg_error *error)
{
    const struct tg_comm_ops *ops;
    void *library, *state = NULL;
    TG_REFUSE_NULL(error, comm);
    *comm = NULL;
    tg_status status = tg_plugin_find(config ? config->transport : NULL, &ops, &library, error);
    if (status == TG_OK && ops)
        status = ops->open(&state, error);
    if (status == TG_OK)
        status = make_comm(ops, state, library, comm, error);
    if (status == TG_OK)
        status = start(*comm, error);
    if (status == TG_OK)
        status = join(*comm, config ? config->timeout : 0, error);
    if (status != TG_OK && *comm) {
        (*comm)->has_failed = true;
        tg_comm_close(*comm);
        *comm = NULL;
    }
    return status;
}

static tg_status make_local(uint32_t ranks, struct tg_comm **comms, struct tg_error *error)
{
    struct tg_local_end ends[TG_LOCAL_MAX_RANKS];
    tg_status status = tg_local_make(ranks, ends, error);
    if (status != TG_OK)
        return status;
    for (uint32_t r = 0; r < ranks; r++) {
        void *state = NULL;
        if (status == TG_OK)
            status = tg_local_open(&ends[r], &state, error);
        else
            tg_local_unmake(1, &ends[r]);
        if (status == TG_OK)
            status = make_comm(&tg_comm_local, state, NULL, &comms[r], error);
    }
    return status;
}

tg_status tg_comm_open_local(uint32_t ranks, struct tg_comm **comms, struct tg_error *error)
{
    TG_REFUSE_NULL(error, comms);
    for (uint32_t r = 0; r < ranks && ranks <= TG_LOCAL_MAX_RANKS; r++)
        comms[r] = NULL; /* those that are not made are closed too if one cannot be */
    tg_status status =
        ranks == 1 ? make_comm(NULL, NULL, NULL, comms, error) : make_local(ranks, comms, error);
    for (uint32_t r = 0; r < ranks && status == TG_OK && comms[r]; r++)
        status = start(comms[r], error);
    for (uint32_t r = 0; r < ranks && status == TG_OK; r++)
        status = join(comms[r], 0, error);
    for (uint32_t r = 0; r < ranks && ranks <= TG_LOCAL_MAX_RANKS && status != TG_OK; r++) {
        tg_comm_close(comms[r]);
        comms[r] = NULL;
    }
    return status;
}

void tg_comm_close(struct tg_comm *comm)
{
    if (!comm)
        return;
    if (comm->has_thread) {
        struct tg_request request = {.kind = REQUEST_CLOSE};
        pthread_mutex_lock(&comm->lock);
        comm->request = &request;
        pthread_mutex_unlock(&comm->lock);
        const uint64_t one = 1;
        ssize_t written = write(comm->wake, &one, sizeof one);
        (void)written;
        pthread_join(comm->thread, NULL);
        comm->request = NULL;
    }
    if (comm->run.phase != RUN_NONE) { /* the device was not closed before */
        comm->has_failed = true;
        tg_call_free_all(comm);
        tg_call_drop_early(comm);
        tg_log_close(comm);
    }
    const struct tg_message bye = tg_message_make(TG_MESSAGE_BYE, comm->epoch);
    tg_comm_send_all(comm, &bye);
    if (comm->ops)
        comm->ops->close(comm->state, comm->has_failed);
    /* A plug-in stays loaded: an MPI library cannot be started a second time, nor taken away. */
    free_comm(comm);
}

uint32_t tg_comm_rank(const struct tg_comm *comm)
{
    return comm ? comm->rank : 0;
}

uint32_t tg_comm_ranks(const struct tg_comm *comm)
{
    return comm ? comm->ranks : 1;
}

/* --- for the host --------------------------------------------------------------------------- */

tg_status tg_comm_begin(struct tg_comm *comm, const struct tg_comm_port *port,
                        const struct tg_comm_run_config *config, struct tg_error *error)
{
    struct tg_request request = {
        .kind = REQUEST_BEGIN, .port = port, .config = config, .error = error};
    const tg_status status = tg_comm_ask(comm, &request);
    if (status == TG_OK) {
        comm->stops = port->is_stopped;
        comm->stops_context = port->context;
    }
    return status;
}

void tg_comm_end(struct tg_comm *comm, tg_status status, const char *text,
                 struct tg_comm_result *result)
{
    struct tg_request request = {.kind = REQUEST_END,
                                 .status = status,
                                 .text = text,
                                 .result = result,
                                 .stops = comm->stops,
                                 .context = comm->stops_context};
    tg_comm_ask(comm, &request);
}

uint64_t tg_comm_progress(struct tg_comm *comm)
{
    return __atomic_load_n(&comm->progress, __ATOMIC_RELAXED) +
           __atomic_load_n(&comm->noted, __ATOMIC_RELAXED);
}

void tg_comm_note_progress(struct tg_comm *comm, uint64_t finished_tasks)
{
    __atomic_store_n(&comm->noted, finished_tasks, __ATOMIC_RELAXED);
    __atomic_store_n(&comm->noted_ns, tg_comm_now_ns(), __ATOMIC_RELAXED);
}

void tg_comm_explain(struct tg_comm *comm, char text[500])
{
    struct tg_request request = {.kind = REQUEST_EXPLAIN, .explanation = text};
    text[0] = '\0';
    request.deadline = tg_comm_now() + 1.0;
    tg_comm_ask(comm, &request);
}

tg_status tg_comm_exchange(struct tg_comm *comm, const void *mine, uint32_t size, void *all,
                           bool *lost, double seconds, struct tg_error *error)
{
    struct tg_request request = {.kind = REQUEST_EXCHANGE,
                                 .mine = mine,
                                 .size = size,
                                 .all = all,
                                 .lost = lost,
                                 .error = error};
    if (size > 64 << 10)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "ranks exchange at most 64 KiB at once, not %u bytes", size);
    request.deadline = tg_comm_now() + seconds;
    return tg_comm_ask(comm, &request);
}

void tg_comm_get_clock(struct tg_comm *comm, struct tg_comm_clock *clock)
{
    pthread_mutex_lock(&comm->clock_lock);
    *clock = tg_clock_read(&comm->clock);
    pthread_mutex_unlock(&comm->clock_lock);
    if (comm->rank == 0) /* it is the clock */
        *clock = (struct tg_comm_clock){.at_ns = tg_comm_now_ns(), .samples = 1};
}

void tg_comm_local_rank(const struct tg_comm *comm, uint32_t *rank, uint32_t *ranks)
{
    *rank = comm->local_rank;
    *ranks = comm->local_ranks;
}

const char *tg_comm_about(const struct tg_comm *comm)
{
    return comm->ops ? comm->ops->about(comm->state) : "one rank";
}

const char *tg_comm_transport(const struct tg_comm *comm)
{
    return comm->ops ? comm->ops->name : "none";
}
