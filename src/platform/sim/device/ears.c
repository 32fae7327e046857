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

/* Waits while the socket to the host is full: the host's thread always reads it. */
void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    ssize_t sent;
    int tries = 0;
    (void)e;
    do
        sent = send(TG_PROCESS_CALLS_FD, post, sizeof *post, MSG_NOSIGNAL);
    while (sent < 0 && tg_process_try_again(errno, &tries));
    if (sent != (ssize_t)sizeof *post)
        _exit(TG_PROCESS_EXIT_BYE); /* the host is gone */
}

struct start {
    struct tg_ears *ears;
    uint32_t ear;
};

/* The next call that is done, and whether another ear listens from now on. */
static struct tg_process_call hear(struct tg_ears *ears, bool *another)
{
    struct tg_process_call call = {0};
    ssize_t got;
    tg_add_acq_rel(&ears->waiting, 1u);
    pthread_mutex_lock(&ears->listening);
    tg_sub_acq_rel(&ears->waiting, 1u);
    do
        got = recv(TG_PROCESS_CALLS_FD, &call, sizeof call, 0);
    while (got < 0 && (errno == EINTR || errno == ENOMEM || errno == ENOBUFS));
    if (got <= 0)
        for (;;)
            pause(); /* the host is gone, and the main thread ends the process */
    *another = tg_load_acquire(&ears->waiting) > 0;
    pthread_mutex_unlock(&ears->listening);
    return call;
}

static void *ear_main(void *argument)
{
    struct start start = *(struct start *)argument;
    struct tg_ears *ears = start.ears;
    free(argument);
    pthread_setname_np(pthread_self(), "tg-ear");
    if (tg_fault_watch_thread(ears->engine, ears->engine->n_workers + start.ear) != 0)
        abort();
    for (;;) {
        bool another;
        struct tg_process_call call = hear(ears, &another);
        pthread_rwlock_rdlock(&ears->lock); /* L2 */
        if (call.run == ears->run)
            tg_comm_arrive(ears->engine, tg_comm_ear(ears->engine, start.ear), call.slot, another);
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

bool tg_ears_open(struct tg_ears *ears, struct tg_engine *engine, uint32_t run)
{
    if (!tg_comm_is_on(engine))
        return true;
    if (!ears->started) {
        ears->engine = engine;
        if (pthread_rwlock_init(&ears->lock, NULL) != 0 ||
            pthread_mutex_init(&ears->listening, NULL) != 0)
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
