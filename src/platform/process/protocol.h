/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host and a device's process say over their socket pair (SOCK_SEQPACKET: a message is a
 * packet). Bulk data goes through device memory; this is the doorbell.
 *
 *   host                        device
 *   INIT  ────────────────────►        memory and counts
 *         ◄──────────────────── HELLO  where its memory is mapped, or why it cannot
 *   LOAD  ────────────────────►        a module's path
 *         ◄──────────────────── LOADED or why not
 *   LAUNCH ───────────────────►        a tg_launch's address
 *   STOP  ────────────────────►        (any time) start no more tasks
 *         ◄──────────────────── DONE   all tasks finished, or stopped
 *   BYE, or the end of the socket, or of the host: the device exits at once
 *
 * A device that has memory which the host does not see has a second socket, for moving bytes while
 * it runs; there every message is answered before the next.
 *
 *   PIN, UNPIN ───────────────►        a range of shared memory is (no longer) used by the device
 *   COPY_IN, COPY_OUT ────────►        between its memory and a place in shared memory
 *         ◄──────────────────── MOVED  or why not
 */
#ifndef TG_PROCESS_PROTOCOL_H
#define TG_PROCESS_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define TG_PROCESS_PROTOCOL 2u

/* File descriptors the device program starts with. */
enum { TG_PROCESS_SOCKET_FD = 3, TG_PROCESS_MEMORY_FD = 4, TG_PROCESS_MOVER_FD = 5 };

/* How the device program exits: its own status for each way, for the host's report. */
enum { TG_PROCESS_EXIT_BYE = 0, TG_PROCESS_EXIT_USAGE = 2, TG_PROCESS_EXIT_FAULT = 70 };

enum tg_process_type {
    TG_PROCESS_INIT = 1,
    TG_PROCESS_HELLO,
    TG_PROCESS_LOAD,
    TG_PROCESS_LOADED,
    TG_PROCESS_LAUNCH,
    TG_PROCESS_STOP,
    TG_PROCESS_DONE,
    TG_PROCESS_BYE,
    TG_PROCESS_PIN,
    TG_PROCESS_UNPIN,
    TG_PROCESS_COPY_IN,
    TG_PROCESS_COPY_OUT,
    TG_PROCESS_MOVED
};

struct tg_process_message {
    uint32_t type;       /* enum tg_process_type */
    uint32_t protocol;   /* INIT, HELLO: TG_PROCESS_PROTOCOL */
    int32_t status;      /* HELLO, LOADED: tg_status; DONE: 1 where it was stopped */
    uint32_t cores;      /* INIT */
    uint32_t schedulers; /* INIT */
    uint32_t first;      /* LOAD: number of the first kernel */
    uint32_t count;      /* LOAD: how many it must have */
    int32_t host_pid;    /* INIT */
    uint64_t address;    /* INIT: wanted base; HELLO: base; LAUNCH: the launch; others: the range */
    uint64_t size;       /* INIT: bytes of memory; PIN, UNPIN, COPY_*: of the range */
    uint64_t memory;     /* INIT: bytes of memory that the host does not see, if there is such */
    uint64_t free;   /* HELLO: bytes of shared memory that are taken; then it can be given out */
    uint64_t place;  /* COPY_*: where in shared memory */
    char text[4096]; /* LOAD: path; HELLO, LOADED: error; ends in a zero byte */
};

#define TG_PROCESS_MESSAGE_HEAD offsetof(struct tg_process_message, text)

/* Sends a message with just the text it has; 0, or -1 with errno. Never raises SIGPIPE. */
int tg_process_send(int fd, const struct tg_process_message *message);
/* Receives one: 1, 0 at the end of the socket, -1 with errno. The text always ends in a zero. */
int tg_process_receive(int fd, struct tg_process_message *message, int flags);

#endif
