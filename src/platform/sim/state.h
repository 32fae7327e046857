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
    int pidfd;                 /* -1 where the kernel has none */
    pid_t pid;                 /* 0 once it has been waited for */
    int wait_status;           /* as of waitpid; valid once pid is 0 */
    bool was_reaped_elsewhere; /* the host's program waited for it: the status is unknown */
    bool killed_by_us;
    uint64_t base; /* device address of its memory */
    uint64_t size;
    char *map;      /* the host's mapping, or NULL */
    void *reserved; /* nothing of the host's lies where the device has its memory */
    struct tg_heap heap;
};

/* process.c: starts the device's process and waits for its hello; memory_fd is open. */
tg_status tg_sim_start(struct tg_sim *sim, const struct tg_platform_config *config,
                       struct tg_error *error);
/* Waits for a message: 1, 0 where none came in time, -1 where the process ended without one. */
int tg_sim_hear(struct tg_sim *sim, struct tg_sim_message *message, int milliseconds);
/* Waits for the process to end, killing it if it takes longer than that. */
void tg_sim_reap(struct tg_sim *sim, int milliseconds);

/* memory.c: is [address, address + size) device memory? */
bool tg_sim_in_memory(const struct tg_sim *sim, uint64_t address, uint64_t size);

#endif
