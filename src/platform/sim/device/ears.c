/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/sim/device/ears.h"
#include "common/atomic.h"
#include "device/target.h"
#include "platform/process/protocol.h"
#include "platform/process/device/fault.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* An ear looks for so long before it sleeps: about as long as an answer of another rank takes that comes at once. */
enum { LOOK_NS = 50000 };

/* ── to the host ───────────────────────────────────────────────────────────────────────── */

static struct tg_call_rings *rings;

/* Waits while the socket to the host is full: the host's thread always reads it. */
static void send_message(const void *message, size_t size)
{
    ssize_t sent;
    int tries = 0;
    (void)tg_add_relaxed(&rings->messages, 1u);
    do
        sent = send(TG_PROCESS_CALLS_FD, message, size, MSG_NOSIGNAL);
    while (sent < 0 && tg_process_try_again(errno, &tries));
    if (sent != (ssize_t)size)
        _exit(TG_PROCESS_EXIT_BYE); /* the host is gone */
}

static void wake_host(void)
{
    static const char look = 0;
    if (tg_ring_wakes(&rings->host))
        send_message(&look, sizeof look);
}

void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    (void)e;
    if (!tg_ring_put_post(rings, post))
        send_message(post, sizeof *post);
    else
        wake_host();
}

/* ── ears ──────────────────────────────────────────────────────────────────────────────── */

struct start {
    struct tg_ears *ears;
    uint32_t ear;
};

static struct tg_process_call call_of(uint64_t done)
{
    return (struct tg_process_call){.run = (uint32_t)(done >> 32), .slot = (uint32_t)done};
}

/* What the message says is in the ring. */
static void wait_for_message(void)
{
    struct tg_process_call ignored;
    ssize_t got;
    do
        got = recv(TG_PROCESS_CALLS_FD, &ignored, sizeof ignored, 0);
    while (got < 0 && (errno == EINTR || errno == ENOMEM || errno == ENOBUFS));
    if (got <= 0)
        for (;;)
            pause(); /* the host is gone, and the main thread ends the process */
}

/* The host clears `sleeps` before it sends a message, so that there is one for each time. */
static void sleep_unless_needed(void)
{
    tg_store_seq(&rings->device.sleeps, 1u);                                        /* R5 */
    if (tg_ring_has_done(rings) && tg_exchange_seq(&rings->device.sleeps, 0u) != 0) /* R5 */
        return;
    wait_for_message();
}

/* The next call that is done. Only the ear that listens is here. It looks again and again for a while if it
 * expects one soon. */
static struct tg_process_call hear(bool expects)
{
    uint64_t since = expects ? tg_target_now() : 0, done;
    while (!tg_ring_take_done(rings, &done))
        if (expects && tg_target_now() - since < LOOK_NS)
            tg_target_yield(); /* the thread that this one waits for may need its CPU */
        else
            sleep_unless_needed();
    if (tg_ring_is_half_read(rings))
        wake_host();
    return call_of(done);
}

static void *ear_main(void *argument)
{
    struct start start = *(struct start *)argument;
    struct tg_ears *ears = start.ears;
    struct tg_worker *own = tg_comm_ear(ears->engine, start.ear);
    bool expects = false;
    free(argument);
    pthread_setname_np(pthread_self(), "tg-ear");
    if (tg_fault_watch_thread(ears->engine, ears->engine->n_workers + start.ear) != 0)
        abort();
    for (;;) {
        tg_comm_listen(ears->engine, own);
        struct tg_process_call call = hear(expects);
        pthread_rwlock_rdlock(&ears->lock); /* L2 */
        if (call.run == ears->run)
            expects = tg_comm_arrive(ears->engine, own, call.slot, true);
        pthread_rwlock_unlock(&ears->lock);
    }
    return NULL;
}

static bool start_ear(struct tg_ears *ears, uint32_t ear)
{
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return false;
    *start = (struct start){ears, ear};
    if (pthread_create(&ears->thread[ear], NULL, ear_main, start) != 0) {
        free(start);
        return false;
    }
    pthread_detach(ears->thread[ear]);
    return true;
}

void tg_ears_close(struct tg_ears *ears)
{
    if (!ears->started)
        return;
    pthread_rwlock_wrlock(&ears->lock); /* L2 */
    ears->run = 0;
    pthread_rwlock_unlock(&ears->lock);
}

void tg_ears_set_up(struct tg_call_rings *memory)
{
    rings = memory;
}

bool tg_ears_open(struct tg_ears *ears, struct tg_engine *engine, uint32_t run)
{
    if (!tg_comm_is_on(engine))
        return true;
    if (!ears->started) {
        ears->engine = engine;
        if (pthread_rwlock_init(&ears->lock, NULL) != 0)
            return false;
        for (uint32_t ear = 0; ear < TG_COMM_EARS; ear++)
            if (!start_ear(ears, ear))
                return false;
        ears->started = true;
    }
    pthread_rwlock_wrlock(&ears->lock); /* L2 */
    ears->run = run;
    pthread_rwlock_unlock(&ears->lock);
    return true;
}

void tg_ears_locate(const struct tg_ears *ears)
{
    for (uint32_t ear = 0; ears->started && ear < TG_COMM_EARS; ear++)
        tg_fault_locate(ears->thread[ear]);
}
