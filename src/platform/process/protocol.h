/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the host and a device's process, over a socket pair (SOCK_SEQPACKET: one
 * message is one packet). Bulk data goes through device memory.
 *
 *   host                        device
 *   INIT  ────────────────────►        memory and counts
 *         ◄──────────────────── HELLO  where its memory is mapped, or an error
 *   LOAD  ────────────────────►        a module's path
 *         ◄──────────────────── LOADED or an error
 *   LAUNCH ───────────────────►        a tg_launch's address, and what the process needs of it
 *   STOP  ────────────────────►        (any time) start no more tasks
 *         ◄──────────────────── DONE   all tasks finished, or stopped
 *   LOCATE ───────────────────►        (during a run) the workers write into their status where they are
 *   PROTECT ──────────────────►        (between runs) a list of struct tg_protection in device memory
 *         ◄──────────────────── PROTECTED  or an error
 *   BYE: the device exits at once; also when the socket closes or the host dies
 *
 * Over a second socket go the calls of communication of the run (wire/comm.h): the device sends a struct
 * tg_comm_post for each, and the host a struct tg_process_call for each that is done. A thread of the
 * host that does nothing else reads them, so that the device never waits long to send one. A simulated device
 * has rings beside it (call_rings.h), which take both while neither end sleeps.
 *
 * A device whose memory the host cannot see has a third socket, over which the host moves bytes
 * while a graph runs. There the device answers each message before the host sends the next.
 *
 *   PIN, UNPIN ───────────────►        the device may (no longer) use a range of shared memory
 *   COPY_IN, COPY_OUT ────────►        between its memory and a place in shared memory
 *         ◄──────────────────── MOVED  or an error
 */
#ifndef TG_PROCESS_PROTOCOL_H
#define TG_PROCESS_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_PROCESS_PROTOCOL 10u

/* The file descriptors that the device program starts with. */
enum {
    TG_PROCESS_SOCKET_FD = 3,
    TG_PROCESS_MEMORY_FD = 4,
    TG_PROCESS_CALLS_FD = 5,
    TG_PROCESS_MOVER_FD = 6
};

/* Exit codes of the device program; the host's report depends on them. */
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
    TG_PROCESS_MOVED,
    TG_PROCESS_LOCATE,
    TG_PROCESS_PROTECT,
    TG_PROCESS_PROTECTED
};

/* What is in force in the device's process. */
enum tg_process_sandbox { TG_PROCESS_NO_NEW_PRIVS = 1, TG_PROCESS_SECCOMP = 2 };

struct tg_process_message {
    uint32_t type;       /* enum tg_process_type */
    uint32_t protocol;   /* INIT, HELLO: TG_PROCESS_PROTOCOL */
    int32_t status;      /* HELLO, LOADED: tg_status; DONE: 1 if it was stopped */
    uint32_t cores;      /* INIT */
    uint32_t schedulers; /* INIT */
    uint32_t first;      /* LOAD, LAUNCH: number of the module's first kernel */
    uint32_t count;    /* LOAD: the number of kernels it must have; LAUNCH: number of the run; DONE:
                            1 if the run found a kernel that waited for it */
    int32_t host_pid;  /* INIT */
    uint32_t sandbox;  /* INIT: enum tg_sandbox; HELLO: bits of enum tg_process_sandbox */
    uint32_t landlock; /* HELLO: version of Landlock in force */
    uint32_t gpu;      /* INIT: the wanted one, of any number; HELLO: the one that it took */
    uint32_t gpus;     /* HELLO: how many GPUs it sees; 0: the platform has none */
    uint64_t gpu_id;   /* HELLO: struct tg_platform_gpu */
    uint64_t address;  /* INIT: wanted base; HELLO: base; LAUNCH: the launch; DONE: when the run
                            began (CLOCK_MONOTONIC, ns; 0: not known); others: the range */
    uint64_t size;     /* INIT: bytes of memory; PIN, UNPIN, COPY_*, PROTECT: of the range */
    uint64_t memory;   /* INIT: bytes of memory that the host cannot see; HELLO: its address */
    uint64_t free;     /* HELLO: bytes of shared memory that the device keeps; the rest is free */
    uint64_t place; /* COPY_*: offset in shared memory; HELLO: of its struct tg_call_rings, or 0 */
    uint64_t linger_ns; /* INIT: how long a GPU's kernel stays after a run */
    uint64_t comm;      /* LAUNCH: struct tg_comm_setup, or 0 */
    uint32_t kernels;   /* LAUNCH: how many the module has */
    uint32_t is_built;  /* LAUNCH: 1 if a thread of the device builds the graph */
    uint32_t is_beside; /* LAUNCH: 1 if an orchestrator beside the device builds it */
    uint32_t reserved;
    char text[4096]; /* LOAD: path; HELLO, LOADED: error; HELLO, if good: the GPU's name */
};

/* A call of communication is done. A device that has rings (call_rings.h) finds it there, and the message, like
 * a single byte from the device, only says so. */
struct tg_process_call {
    uint32_t run;  /* as LAUNCH said: an answer that comes after the run's end is for no task */
    uint32_t slot; /* as in the post */
};

#define TG_PROCESS_MESSAGE_HEAD offsetof(struct tg_process_message, text)

/* True if the system may do in a moment what it refused with this errno: a signal came, or memory was
 * short. Waits that moment, and gives up after a twentieth of a second. *tries begins at 0. */
bool tg_process_try_again(int cause, int *tries);

/* Sends a message, with its text up to the zero byte; 0, or -1 with errno. Raises no SIGPIPE. */
int tg_process_send(int fd, const struct tg_process_message *message);
/* Receives a message: 1, 0 if the socket is closed, -1 with errno. The text ends in a zero byte. */
int tg_process_receive(int fd, struct tg_process_message *message, int flags);

#endif
