/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport over shared memory, for ranks on one machine: processes of their own, or devices of one
 * process.
 *
 *   rank i                                                              rank j
 *     MESSAGE  head, small payload       ── socket pair ──►   ARRIVAL
 *     ◄─ ASK   for a larger payload, when its place is known  ──
 *     copies a chunk into a free slot of the ring i → j
 *     CHUNK    number of the slot, bytes ── socket pair ──►   copies it out
 *     ◄─ FREE  the slot may be used again ──
 *
 * The memory holds payload alone; all that decides anything comes through the socket and is checked:
 * a slot that is not in use, a message that was not asked for, or more bytes than it has make the peer
 * LOST. The end of a socket is the end of its peer's process, however that ended.
 *
 * Small payloads travel with their heads as long as the receiver has taken most of those that came
 * before (EAGER_CREDIT), so a rank that is late holds a bounded number of bytes.
 */
#ifndef TG_COMM_LOCAL_H
#define TG_COMM_LOCAL_H

#include <taskglass/comm.h>

enum { TG_LOCAL_MAX_RANKS = 64 };

/* The environment variable that names the descriptors of a rank's process. */
#define TG_LOCAL_VARIABLE "TASKGLASS_LOCAL_RANK"

extern const struct tg_comm_ops tg_comm_local;

/* What an end of rank `rank` is made of. It owns the descriptors from here on, also if it fails;
 * socket[rank] is -1. */
struct tg_local_end {
    uint32_t rank, ranks;
    int memory;
    int socket[TG_LOCAL_MAX_RANKS];
};
tg_status tg_local_open(const struct tg_local_end *end, void **state, struct tg_error *error);

/* Of the ring from one rank to another: `slots` chunks. More ranks have smaller chunks, so that the
 * memory of a job stays within some hundred MiB. */
struct tg_local_ring {
    uint32_t slots, chunk;
};
struct tg_local_ring tg_local_ring_of(uint32_t ranks);
/* Bytes of the memory of a job, and where the ring from one rank to another begins. */
uint64_t tg_local_memory(uint32_t ranks);
uint64_t tg_local_ring_at(uint32_t ranks, uint32_t from, uint32_t to);

/* Makes memory and sockets for all ranks of a job; ends[r] is that of rank r. */
tg_status tg_local_make(uint32_t ranks, struct tg_local_end *ends, struct tg_error *error);
void tg_local_unmake(uint32_t ranks, struct tg_local_end *ends);

/* The text of TASKGLASS_LOCAL_RANK, and back. BAD_ARGUMENT if it makes no sense. */
void tg_local_write_end(const struct tg_local_end *end, char text[4096]);
tg_status tg_local_read_end(const char *text, struct tg_local_end *end, struct tg_error *error);

#endif
