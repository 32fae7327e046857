/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's end of such a device consists of. */
#ifndef TG_PROCESS_STATE_H
#define TG_PROCESS_STATE_H

#include "platform/process/heap.h"
#include "platform/process/protocol.h"
#include "platform/process/process.h"
#include <sys/types.h>

struct tg_process {
    int memory_fd;
    int socket;
    int mover;                 /* the second socket, or -1 */
    int pidfd;                 /* -1 where the kernel has none */
    pid_t pid;                 /* 0 once it has been waited for */
    int wait_status;           /* as of waitpid; valid once pid is 0 */
    bool was_reaped_elsewhere; /* the host's program waited for it: the status is unknown */
    bool killed_by_us;
    uint64_t base; /* device address of its memory */
    uint64_t size;
    uint64_t hidden;    /* memory that the host does not see: wanted, then had */
    uint64_t hidden_at; /* its address */
    uint64_t taken;     /* of `size`, by the device for itself */
    char *map;          /* the host's mapping, or NULL */
    void *reserved;     /* nothing of the host's lies where the device has its memory */
    struct tg_heap heap;
};

/* process.c: from a struct that is zero but for its size and what it wants, with descriptors -1; and back,
 * whatever came of it. */
tg_status tg_process_set_up(struct tg_process *process, const struct tg_platform_config *config,
                            bool mapped, struct tg_error *error);
void tg_process_tear_down(struct tg_process *process);
/* The device has ended when it should not: says how. */
tg_status tg_process_gone(struct tg_process *process, struct tg_error *error);

/* process.c: starts the device's process and waits for its hello; memory_fd is open. */
tg_status tg_process_start(struct tg_process *process, const struct tg_platform_config *config,
                           struct tg_error *error);
/* Waits for a message: 1, 0 where none came in time, -1 where the process ended without one. */
int tg_process_hear(struct tg_process *process, struct tg_process_message *message,
                    int milliseconds);
/* Waits for the process to end, killing it if it takes longer than that. */
void tg_process_reap(struct tg_process *process, int milliseconds);

/* memory.c: the error of a heap, of `size` bytes in all, that has no such piece. */
tg_status tg_heap_full(const struct tg_heap *heap, uint64_t bytes, uint64_t size,
                       struct tg_error *error);
/* Is [address, address + size) device memory? */
bool tg_process_in_memory(const struct tg_process *process, uint64_t address, uint64_t size);

#endif
