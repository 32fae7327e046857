/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulators' host end share. */
#ifndef TG_SIM_STATE_H
#define TG_SIM_STATE_H

#include "platform/sim/heap.h"
#include "platform/sim/protocol.h"
#include "platform/sim/sim.h"
#include <sys/types.h>

struct tg_sim {
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

/* sim.c: from a struct that is zero but for its size and what it wants, with descriptors -1; and back,
 * whatever came of it. */
tg_status tg_sim_set_up(struct tg_sim *sim, const struct tg_platform_config *config, bool mapped,
                        struct tg_error *error);
void tg_sim_tear_down(struct tg_sim *sim);
/* The device has ended when it should not: says how. */
tg_status tg_sim_gone(struct tg_sim *sim, struct tg_error *error);

/* process.c: starts the device's process and waits for its hello; memory_fd is open. */
tg_status tg_sim_start(struct tg_sim *sim, const struct tg_platform_config *config,
                       struct tg_error *error);
/* Waits for a message: 1, 0 where none came in time, -1 where the process ended without one. */
int tg_sim_hear(struct tg_sim *sim, struct tg_sim_message *message, int milliseconds);
/* Waits for the process to end, killing it if it takes longer than that. */
void tg_sim_reap(struct tg_sim *sim, int milliseconds);

/* memory.c: the error of a heap, of `size` bytes in all, that has no such piece. */
tg_status tg_heap_full(const struct tg_heap *heap, uint64_t bytes, uint64_t size,
                       struct tg_error *error);
/* Is [address, address + size) device memory? */
bool tg_sim_in_memory(const struct tg_sim *sim, uint64_t address, uint64_t size);

#endif
