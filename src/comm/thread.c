/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress thread. It sleeps in poll() on the transport, the port of the run and an eventfd by which
 * other threads ask for something. A transport without a descriptor has to be asked: the thread looks
 * again and again for a short while after something happened, and then naps, for longer and longer.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/engine.h"

enum { EVENTS_AT_ONCE = 256, EAGER_LOOKS = 16 };
/* Longer than an answer of another rank takes that has to wake two threads for it. */
#define SPIN_SECONDS 200e-6
#define SOON_SECONDS 20e-6
/* While it is eager, requests and timers may wait for so long. */
#define REST_SECONDS 20e-6
#define FIRST_NAP 20e-6
#define LONGEST_NAP 1e-3
#define PING_SECONDS 0.25
#define PINGS_AT_ONCE 4
#define PROGRESS_SECONDS 1.0
/* A host that waits for its run shows it more often. */
#define HOST_SECONDS 2.0
/* Between two questions whether the caller still wants to wait. */
#define ASK_NS 50000000L
#define LONGEST_SLEEP 1.0

int64_t tg_comm_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double tg_comm_now(void)
{
    return (double)tg_comm_now_ns() * 1e-9;
}

/* --- requests of other threads -------------------------------------------------------------- */

static void wake(struct tg_comm *comm)
{
    const uint64_t one = 1;
    ssize_t written = write(comm->wake, &one, sizeof one);
    (void)written; /* it fails only if the counter is full, and then the thread wakes up anyway */
}

/* Waits a moment for the answer. The caller holds the lock, which is free while `stops` is asked. */
static void wait_or_stop(struct tg_comm *comm, struct tg_request *request)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ASK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&comm->answered, &comm->lock, &until) == 0)
        return;
    pthread_mutex_unlock(&comm->lock);
    const bool is_stopped = request->stops(request->context);
    pthread_mutex_lock(&comm->lock);
    if (is_stopped && !request->is_stopped)
        wake(comm);
    request->is_stopped |= is_stopped;
}

bool tg_comm_is_stopped(struct tg_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    const bool is_stopped = comm->current && comm->current->is_stopped;
    pthread_mutex_unlock(&comm->lock);
    return is_stopped;
}

tg_status tg_comm_ask(struct tg_comm *comm, struct tg_request *request)
{
    pthread_mutex_lock(&comm->turn);
    pthread_mutex_lock(&comm->lock);
    request->is_answered = false;
    comm->request = request;
    wake(comm);
    while (!request->is_answered)
        if (request->stops)
            wait_or_stop(comm, request);
        else
            pthread_cond_wait(&comm->answered, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
    pthread_mutex_unlock(&comm->turn);
    return request->status;
}

void tg_comm_answer(struct tg_comm *comm, tg_status status)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->current) {
        comm->current->status = status;
        comm->current->is_answered = true;
        comm->request = comm->current = NULL;
        pthread_cond_broadcast(&comm->answered);
    }
    pthread_mutex_unlock(&comm->lock);
}

static void check_join(struct tg_comm *comm, const struct tg_request *request, double now)
{
    char name[120];
    for (uint32_t i = 0; i < comm->ranks; i++) {
        const struct tg_rank *peer = &comm->peer[i];
        if (peer->has_come && !peer->lost)
            continue;
        if (!peer->lost && now < request->deadline)
            return;
        tg_comm_answer(comm, tg_error_set(request->error, TG_RANK_LOST, "%s did not join: %s",
                                          tg_rank_name(comm, i, name),
                                          peer->lost ? peer->why : "it did not come in time"));
        return;
    }
    tg_comm_answer(comm, TG_OK);
}

static void begin_request(struct tg_comm *comm, struct tg_request *request)
{
    switch (request->kind) {
    case REQUEST_BEGIN:
        tg_run_begin(comm, request);
        break;
    case REQUEST_END:
        tg_run_end(comm, request);
        break;
    case REQUEST_EXPLAIN:
        tg_explain_begin(comm, request);
        break;
    case REQUEST_EXCHANGE:
        tg_exchange_begin(comm, request);
        break;
    case REQUEST_CLOSE:
        comm->closing = true;
        break;
    default:
        break;
    }
}

/* A request stays the caller's until it is answered, and is not there any more afterwards. */
static void look_at_request(struct tg_comm *comm)
{
    if (!comm->current) {
        pthread_mutex_lock(&comm->lock);
        comm->current = comm->request;
        pthread_mutex_unlock(&comm->lock);
        if (comm->current)
            begin_request(comm, comm->current);
    }
    const double now = tg_comm_now();
    if (!comm->current)
        return;
    if (comm->current->kind == REQUEST_EXCHANGE)
        tg_exchange_check(comm, now);
    else if (comm->current->kind == REQUEST_EXPLAIN)
        tg_explain_check(comm, now);
    else if (comm->current->kind == REQUEST_END)
        tg_run_check_end(comm);
    else if (comm->current->kind == REQUEST_JOIN)
        check_join(comm, comm->current, now);
}

/* --- timers --------------------------------------------------------------------------------- */

uint64_t tg_comm_own_progress(const struct tg_comm *comm)
{
    return comm->own_progress + __atomic_load_n(&comm->noted, __ATOMIC_RELAXED);
}

void tg_comm_update_progress(struct tg_comm *comm)
{
    uint64_t sum = comm->own_progress;
    for (uint32_t i = 0; i < comm->ranks; i++)
        sum += i == comm->rank ? 0 : comm->peer[i].progress;
    __atomic_store_n(&comm->progress, sum, __ATOMIC_RELAXED);
}

/* True if the host waits for the run of this rank, which goes on. */
static bool host_waits(const struct tg_comm *comm, double now)
{
    const int64_t noted = __atomic_load_n(&comm->noted_ns, __ATOMIC_RELAXED);
    return comm->run.phase == RUN_GOES && now - (double)noted * 1e-9 < HOST_SECONDS;
}

static void do_timers(struct tg_comm *comm, double now)
{
    const uint64_t own = tg_comm_own_progress(comm);
    const bool waits = host_waits(comm, now);
    if (comm->run.phase == RUN_NONE)
        return;
    tg_log_flush(comm, now);
    if (waits != comm->told_waits || (now >= comm->told_progress_at + PROGRESS_SECONDS &&
                                      (own != comm->told_progress || comm->run.n_waiting > 0))) {
        struct tg_message message = tg_message_make(TG_MESSAGE_PROGRESS, comm->epoch);
        message.value[0] = (int64_t)own;
        message.value[1] = waits;
        tg_comm_send_all(comm, &message);
        comm->told_progress = own;
        comm->told_waits = waits;
        comm->told_progress_at = now;
    }
    if (now >= comm->next_ping) {
        comm->next_ping = now + PING_SECONDS;
        comm->pings_left = PINGS_AT_ONCE - 1;
        tg_comm_ping(comm);
    }
}

/* Nobody may wait for a run that was cancelled, and the others would take its silence for a hang. A timer
 * wakes this thread often enough. */
static void look_whether_cancelled(struct tg_comm *comm)
{
    const struct tg_comm_run *run = &comm->run;
    if (comm->ranks > 1 && run->phase == RUN_GOES && !run->failed && run->port.is_cancelled &&
        run->port.is_cancelled(run->port.context))
        tg_run_fail(comm, true, TG_CANCELLED, "its run was cancelled");
}

/* Seconds until something has to be looked at that no descriptor tells. */
static double next_look(const struct tg_comm *comm, double now)
{
    double wait = LONGEST_SLEEP;
    if (comm->current && comm->current->deadline > 0 && comm->current->deadline - now < wait)
        wait = comm->current->deadline - now;
    if (comm->run.phase != RUN_NONE && comm->ranks > 1) {
        const double told = comm->told_progress_at + PROGRESS_SECONDS - now;
        wait = comm->next_ping - now < wait ? comm->next_ping - now : wait;
        wait = told > 0 && told < wait ? told : wait;
    }
    wait = tg_log_wait(comm, now, wait);
    if (comm->run.phase > RUN_GOES && wait > 0.1)
        wait = 0.1;
    return wait > 0 ? wait : 0;
}

/* --- sleep ---------------------------------------------------------------------------------- */

static bool takes_calls(const struct tg_comm *comm)
{
    return comm->run.phase == RUN_GOES && comm->run.port.sleeps;
}

/* A device that has heard of all calls that are done waits for this thread, not for its CPU. */
static bool is_unheard(const struct tg_comm *comm)
{
    return takes_calls(comm) && comm->run.port.unheard(comm->run.port.context);
}

static bool may_sleep(const struct tg_comm *comm)
{
    return !takes_calls(comm) || comm->run.port.sleeps(comm->run.port.context, true);
}

static void sleep_for(struct tg_comm *comm, int transport_fd, double seconds)
{
    struct pollfd fds[3] = {{.fd = comm->wake, .events = POLLIN}};
    nfds_t count = 1;
    struct timespec wait = {.tv_sec = (time_t)seconds};
    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    if (transport_fd >= 0 && !comm->broken)
        fds[count++] = (struct pollfd){.fd = transport_fd, .events = POLLIN};
    if (comm->run.phase == RUN_GOES && comm->run.port.fd >= 0)
        fds[count++] = (struct pollfd){.fd = comm->run.port.fd, .events = POLLIN};
    if (!may_sleep(comm))
        wait = (struct timespec){0};
    if (ppoll(fds, count, &wait, NULL) > 0 && fds[0].revents) {
        uint64_t ignored;
        ssize_t got = read(comm->wake, &ignored, sizeof ignored);
        (void)got;
    }
    if (takes_calls(comm))
        (void)comm->run.port.sleeps(comm->run.port.context, false);
}

/* Something of another rank may come any moment, and no descriptor will say so. */
static bool is_expecting(const struct tg_comm *comm)
{
    return comm->run.n_waiting > 0 || comm->run.phase > RUN_GOES || comm->exchanging ||
           comm->asked || comm->pings_left > 0 || comm->current;
}

/* Just after something happened it looks again and again: that is how long the device takes to post the call that
 * another one has made ready, and another rank to answer, which a transport without a descriptor does not tell. */
static bool is_eager(const struct tg_comm *comm, double idle)
{
    if (!comm->ops || comm->broken)
        return false;
    return idle < SOON_SECONDS ||
           (idle < SPIN_SECONDS && comm->ops->fd(comm->state) < 0 && is_expecting(comm));
}

static void rest(struct tg_comm *comm, double *nap)
{
    const int fd = comm->ops ? comm->ops->fd(comm->state) : -1;
    double length = next_look(comm, tg_comm_now());
    if (comm->ops && fd < 0 && !comm->broken) {
        *nap = *nap * 1.5 < LONGEST_NAP && is_expecting(comm) ? *nap * 1.5 : LONGEST_NAP;
        length = *nap < length ? *nap : length;
    }
    sleep_for(comm, fd, length);
}

static bool look_around(struct tg_comm *comm)
{
    bool busy = tg_call_take(comm); /* first, because a transport that has nothing may yield */
    for (int i = 0; i < EVENTS_AT_ONCE && tg_comm_poll_event(comm); i++)
        busy = true;
    busy |= tg_action_work(comm);
    return busy;
}

/* What may wait for some microseconds while messages come. */
static void look_at_rest(struct tg_comm *comm, double now)
{
    look_at_request(comm);
    look_whether_cancelled(comm);
    tg_comm_update_progress(comm);
    do_timers(comm, now);
}

void *tg_comm_thread(void *context)
{
    struct tg_comm *comm = context;
    double idle_since = tg_comm_now(), next_rest = 0, nap = FIRST_NAP;
    int looks = 0;
    (void)prctl(PR_SET_TIMERSLACK, 1); /* naps are shorter than the 50 us that the system adds */
    while (!comm->closing) {
        const bool busy = look_around(comm);
        const double now = tg_comm_now();
        if (busy) {
            idle_since = now;
            nap = FIRST_NAP;
        }
        const bool eager = is_eager(comm, now - idle_since);
        if (!eager || now >= next_rest) {
            next_rest = now + REST_SECONDS;
            look_at_rest(comm, now);
        }
        looks = busy ? 0 : looks + 1;
        if (eager && (looks >= EAGER_LOOKS || is_unheard(comm))) {
            looks = 0;
            sched_yield(); /* the thread that this one waits for may need its CPU */
        }
        if (eager || busy || comm->closing)
            continue;
        /* Requests and timers may have sent: what that made ready is not on the descriptor. */
        if (look_around(comm)) {
            idle_since = now;
            nap = FIRST_NAP;
        } else {
            rest(comm, &nap);
        }
    }
    return NULL;
}
