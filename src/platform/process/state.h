/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the host's end of a device process. */
#ifndef TG_PROCESS_STATE_H
#define TG_PROCESS_STATE_H

#include "platform/process/call_rings.h"
#include "platform/process/heap.h"
#include "platform/process/protocol.h"
#include "platform/process/process.h"
#include <sys/types.h>

struct tg_process {
    int memory_fd;
    int socket;
    int calls;                        /* the socket for calls of communication */
    struct tg_call_rings *rings;      /* … and the rings beside it; NULL: the device has none */
    uint64_t calls_taken, calls_done; /* places of the rings that the host has read, and filled */
    uint64_t *calls_late;             /* answers that have found no room yet */
    size_t n_calls_late, calls_late_room;
    bool calls_untold;         /* an ear sleeps that has to be told of answers */
    uint32_t calls_received;   /* messages of that socket */
    bool calls_slept;          /* since it was seen empty, the host's thread has waited for it */
    uint64_t rings_at;         /* in device memory; 0: it has none */
    uint32_t launches;         /* runs started so far; the thread of calls reads it */
    int mover;                 /* the third socket, or -1 */
    int pidfd;                 /* -1 if the kernel has no pidfds */
    pid_t pid;                 /* 0 once the process has been reaped */
    int wait_status;           /* as from waitpid; valid once pid is 0 */
    bool was_reaped_elsewhere; /* the host's program reaped it: the status is unknown */
    uint32_t reaped;           /* set after the three above, for other threads (E1) */
    bool killed_by_us;
    int refusal; /* 0, or why no message can be exchanged with the device: the system refused it */
    uint64_t base; /* device address of its memory */
    uint64_t size;
    uint64_t hidden;                  /* bytes of memory that the host cannot see; 0: none */
    uint64_t hidden_at;               /* its address */
    uint64_t taken;                   /* of `size`, kept by the device for itself */
    double load_seconds;              /* how long loading a module may take */
    struct tg_watch watch;            /* asks whether to give up waiting */
    struct tg_sandbox_report sandbox; /* in force in the process */
    struct tg_platform_gpu gpu;       /* that it took */
    struct tg_platform_begun begun;   /* the last run that has ended */
    double eager_seconds;             /* after a launch, `poll` does not sleep for so long */
    double launched_at;
    char *map;      /* the host's mapping, or NULL */
    void *reserved; /* keeps the device's addresses unused in the host */
    struct tg_heap heap;
};

/* process.c: opens a device. The struct is zero except for `size`, `hidden` and the descriptors,
 * which are -1. After a failure, too, the caller calls tg_process_tear_down. */
tg_status tg_process_set_up(struct tg_process *process, const struct tg_platform_config *config,
                            bool mapped, struct tg_error *error);
void tg_process_tear_down(struct tg_process *process);
/* Remembers why a message could not be exchanged, if that was want of memory. */
void tg_process_note_refusal(struct tg_process *process, int cause);
/* "was killed by signal 9 (SIGKILL)" */
void tg_process_say_signal(int number, char *text, size_t size);
/* DEVICE_LOST for a device that ended unexpectedly; the message says how it ended. */
tg_status tg_process_gone(struct tg_process *process, struct tg_error *error);

/* start.c: starts the device's process and waits for HELLO; memory_fd must be open. */
tg_status tg_process_start(struct tg_process *process, const struct tg_platform_config *config,
                           struct tg_error *error);
/* Waits until the socket has a message or the process has ended. False: neither within that time, which
 * counts as base/limit.h says, here and below. */
bool tg_process_await(const struct tg_process *process, int socket, double seconds);
/* Waits for a message: 1, 0 if none came in time, -1 if the process ended without one, TG_HEARD_STOP if
 * the watch asked to give up; the caller ends the process then. */
enum { TG_HEARD_STOP = -2 };
int tg_process_hear(struct tg_process *process, struct tg_process_message *message, double seconds);
/* Waits for the process to end; kills it after that time. */
void tg_process_reap(struct tg_process *process, double seconds);
/* The signal by which somebody else has ended the process; 0: it has not ended within that time, or ended
 * in another way, or nobody knows how. Any thread may ask: it leaves the process to be reaped by the one
 * that polls. */
int tg_process_signal(const struct tg_process *process, double seconds);

/* memory.c: sets the error for a heap of `size` bytes that has no free piece of `bytes`. */
tg_status tg_heap_full(const struct tg_heap *heap, uint64_t bytes, uint64_t size,
                       struct tg_error *error);
/* True if [address, address + size) is device memory. */
bool tg_process_in_memory(const struct tg_process *process, uint64_t address, uint64_t size);

#endif
