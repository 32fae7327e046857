/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Calls of communication between the host and a device's process: see protocol.h. */
#include "base/error.h"
#include "base/grow.h"
#include "platform/process/state.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int tg_process_calls_fd(void *state)
{
    const struct tg_process *process = state;
    return process->calls;
}

/* ── rings ─────────────────────────────────────────────────────────────────────────────── */

static ssize_t send_call(const struct tg_process *process, const struct tg_process_call *call,
                         int flags)
{
    ssize_t sent;
    int tries = 0;
    do
        sent = send(process->calls, call, sizeof *call, MSG_NOSIGNAL | flags);
    while (sent < 0 && tg_process_try_again(errno, &tries));
    return sent;
}

/* Wakes an ear that sleeps. What the device does not hear because it is gone, nobody misses, and a socket that is
 * full has messages that wake it already. False: it has to be told later. */
static bool tell(struct tg_process *process)
{
    const struct tg_process_call look = {0};
    if (process->calls_untold)
        process->calls_untold = send_call(process, &look, MSG_DONTWAIT) < 0 && errno != EAGAIN &&
                                errno != EPIPE && errno != ECONNRESET;
    return !process->calls_untold;
}

/* False: the ring is full. */
static bool put(struct tg_process *process, uint64_t done)
{
    if (!tg_ring_put_done(process->rings, &process->calls_done, done))
        return false;
    process->calls_untold |= tg_ring_wakes(&process->rings->device);
    return true;
}

static void put_late(struct tg_process *process)
{
    while (process->n_calls_late > 0 &&
           put(process, process->calls_late[process->n_calls_late - 1]))
        process->n_calls_late--;
}

static tg_status cannot_tell(struct tg_error *error)
{
    return tg_error_set(error, TG_DEVICE_LOST, "the device cannot be told that a call is done: %s",
                        strerror(errno));
}

static tg_status put_now_or_later(struct tg_process *process, uint64_t done, struct tg_error *error)
{
    put_late(process);
    if (process->n_calls_late == 0 && put(process, done))
        return tell(process) ? TG_OK : cannot_tell(error);
    (void)tell(process);
    if (!tg_grow(&process->calls_late, &process->calls_late_room, process->n_calls_late + 1,
                 sizeof *process->calls_late))
        return tg_error_set(error, TG_NO_MEMORY, "memory for a call of communication ran out");
    process->calls_late[process->n_calls_late++] = done;
    return TG_OK;
}

bool tg_process_calls_sleep(void *state, bool sleeps)
{
    struct tg_process *process = state;
    struct tg_call_rings *rings = process->rings;
    if (rings == NULL)
        return true;
    process->calls_slept |= sleeps;
    tg_store_seq(&rings->host.sleeps, (uint32_t)sleeps); /* R5 */
    return !sleeps ||
           (!tg_ring_has_post(rings, process->calls_taken) &&
            (process->n_calls_late == 0 || !tg_ring_has_half(rings, process->calls_done)));
}

bool tg_process_calls_unheard(void *state)
{
    const struct tg_process *process = state;
    return process->rings != NULL &&
           (process->n_calls_late > 0 ||
            tg_load_relaxed(&process->rings->device.emptied) != process->calls_done);
}

/* ── the socket ────────────────────────────────────────────────────────────────────────── */

/* After a sleep it looks in any case: what woke it may be a message. */
static bool may_have_message(const struct tg_process *process)
{
    return process->rings == NULL || process->calls_slept ||
           tg_load_relaxed(&process->rings->messages) != process->calls_received;
}

/* The next message, which is a post, or only says that the ring has one. */
static enum tg_call_taken receive(struct tg_process *process, struct tg_comm_post *post,
                                  bool *is_post)
{
    ssize_t got;
    int tries = 0;
    do
        got = recv(process->calls, post, sizeof *post, MSG_DONTWAIT | MSG_TRUNC);
    while (got < 0 && tg_process_try_again(errno, &tries));
    *is_post = got == (ssize_t)sizeof *post;
    if (got <= 0) {
        process->calls_slept = false;
        return TG_CALL_NONE;
    }
    process->calls_received++;
    return *is_post || (process->rings && got == 1) ? TG_CALL_TAKEN : TG_CALL_BAD;
}

/* ── what the platforms have ───────────────────────────────────────────────────────────── */

enum tg_call_taken tg_process_take_call(void *state, struct tg_comm_post *post)
{
    struct tg_process *process = state;
    enum tg_call_taken taken = TG_CALL_TAKEN;
    bool is_post = false;
    if (process->rings) {
        put_late(process);
        (void)tell(process);
    }
    while (taken == TG_CALL_TAKEN && !is_post) {
        if (process->rings && tg_ring_take_post(process->rings, &process->calls_taken, post))
            return TG_CALL_TAKEN;
        taken = may_have_message(process) ? receive(process, post, &is_post) : TG_CALL_NONE;
    }
    return taken;
}

tg_status tg_process_call_done(void *state, uint32_t slot, struct tg_error *error)
{
    struct tg_process *process = state;
    const uint32_t run = __atomic_load_n(&process->launches, __ATOMIC_ACQUIRE);
    const struct tg_process_call call = {.run = run, .slot = slot};
    if (process->rings)
        return put_now_or_later(process, (uint64_t)run << 32 | slot, error);
    if (send_call(process, &call, 0) == (ssize_t)sizeof call)
        return TG_OK;
    return cannot_tell(error);
}
