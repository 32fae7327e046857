/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of communication (wire/comm.h) between a simulated device and the host, in the device's control area:
 *
 *   device                                                 host
 *   every core ──► post[posted % POSTS] ─────────────────► progress thread
 *   an ear     ◄── done[heard % DONES] ◄────────────────── says which calls are done
 *
 * While both ends are awake no call costs a system call. An end that sleeps waits for the socket of calls
 * (protocol.h), and has said so: then the other end sends a message too. Posts that find no room go over the
 * socket as they are, and whoever posts waits there. The host's thread never waits for the device, because
 * an ear may wait for it: answers that find no room stay in its own memory for a while. Order does not
 * matter: a call has a number, and an answer a slot.
 *
 * The host trusts nothing here. It keeps its own counters, copies a post before it looks at it, and loses at most
 * messages of a device whose kernel has overwritten this.
 *
 * Named edges:
 *   R1  post[].number  the thread that has filled the place, and whatever it knows of, pairs with the host
 *   R2  taken          the host, after it has copied a post, pairs with the thread that fills the place again
 *   R3  n_done         the host, which has moved the call's bytes, pairs with the ear
 *   R4  heard          the ear, after it has read a place, pairs with the host, which fills it again. A host that has
 *                      answers left sleeps only while less than half of the ring is free, and the ear that has
 *                      read so many tells it, as in R5
 *   R5  sleeps         an end that is about to sleep says so and then looks at its ring once more; the other end fills
 *                      the ring and then looks at `sleeps`. All four are sequentially consistent, so that one of
 *                      the two notices
 */
#ifndef TG_PROCESS_CALL_RINGS_H
#define TG_PROCESS_CALL_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/comm.h>

#include "common/atomic.h"

enum { TG_RING_POSTS = 64, TG_RING_DONES = 256 };

struct tg_ring_post {
    uint64_t number; /* R1: 1 + how many came before */
    struct tg_comm_post post;
};

/* One end's words, on a line of their own. */
struct tg_ring_end {
    uint64_t filled;  /* posted, n_done: places of the ring that this end has filled, or begun to */
    uint64_t emptied; /* heard, taken: places of the other ring that it has read */
    uint32_t sleeps;  /* R5 */
    uint32_t reserved[11];
};

struct tg_call_rings {
    struct tg_ring_end device, host;
    uint32_t messages; /* that the device has sent over the socket, or is about to */
    uint32_t reserved[15];
    uint64_t done[TG_RING_DONES]; /* run << 32 | slot */
    struct tg_ring_post post[TG_RING_POSTS];
};

/* After something was put into a ring: true if the other end must be told over the socket. */
static inline bool tg_ring_wakes(struct tg_ring_end *other)
{
    return tg_load_seq(&other->sleeps) != 0 && tg_exchange_seq(&other->sleeps, 0u) != 0; /* R5 */
}

/* --- the device's end ----------------------------------------------------------------------- */

/* Any thread. False: the ring is full. */
static inline bool tg_ring_put_post(struct tg_call_rings *r, const struct tg_comm_post *post)
{
    uint64_t number = tg_load_relaxed(&r->device.filled);
    struct tg_ring_post *place;
    do
        if ((int64_t)(number - tg_load_acquire(&r->host.emptied)) >= TG_RING_POSTS) /* R2 */
            return false;
    while (!tg_cas_relaxed(&r->device.filled, &number, number + 1));
    place = &r->post[number % TG_RING_POSTS];
    place->post = *post;
    tg_store_seq(&place->number, number + 1); /* R1, R5 */
    return true;
}

static inline bool tg_ring_has_done(const struct tg_call_rings *r)
{
    return tg_load_seq(&r->host.filled) != tg_load_relaxed(&r->device.emptied); /* R3, R5 */
}

/* One thread at a time. */
static inline bool tg_ring_take_done(struct tg_call_rings *r, uint64_t *done)
{
    const uint64_t at = tg_load_relaxed(&r->device.emptied);
    if (!tg_ring_has_done(r))
        return false;
    *done = r->done[at % TG_RING_DONES];
    tg_store_seq(&r->device.emptied, at + 1); /* R4 */
    return true;
}

/* After tg_ring_take_done: true if a host that waits for room has half of the ring now. */
static inline bool tg_ring_is_half_read(const struct tg_call_rings *r)
{
    return tg_load_seq(&r->host.filled) - tg_load_relaxed(&r->device.emptied) ==
           TG_RING_DONES / 2; /* R4 */
}

/* --- the host's end, of one thread ------------------------------------------------------------- */

static inline bool tg_ring_has_post(const struct tg_call_rings *r, uint64_t taken)
{
    return tg_load_seq(&r->post[taken % TG_RING_POSTS].number) == taken + 1; /* R1, R5 */
}

static inline bool tg_ring_take_post(struct tg_call_rings *r, uint64_t *taken,
                                     struct tg_comm_post *post)
{
    if (!tg_ring_has_post(r, *taken))
        return false;
    *post = r->post[*taken % TG_RING_POSTS].post;
    tg_store_release(&r->host.emptied, ++*taken); /* R2 */
    return true;
}

/* True if half of the ring is free. */
static inline bool tg_ring_has_half(const struct tg_call_rings *r, uint64_t n_done)
{
    return n_done - tg_load_seq(&r->device.emptied) <= TG_RING_DONES / 2; /* R4 */
}

static inline bool tg_ring_put_done(struct tg_call_rings *r, uint64_t *n_done, uint64_t done)
{
    if (*n_done - tg_load_acquire(&r->device.emptied) >= TG_RING_DONES) /* R4 */
        return false;
    r->done[*n_done % TG_RING_DONES] = done;
    tg_store_seq(&r->host.filled, ++*n_done); /* R3, R5 */
    return true;
}

#endif
