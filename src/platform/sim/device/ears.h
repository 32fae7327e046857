/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that hear from the host which calls of communication are done (device/comm.h), and the way of a call
 * to the host; both go through rings (platform/process/call_rings.h). There are two ears, and one of them
 * listens. What it hears of makes tasks ready, and it runs them itself on lanes whose threads sleep, so that a
 * message wakes one thread and not two. While it runs a kernel the other one listens. If that one is busy too,
 * kernels are for cores.
 *
 * They start with the first run that has calls, and live as long as the process.
 *
 * Named edge:
 *   L2  runs   the last thread that leaves a run closes the ears, and the main thread does before it changes the
 *              engine for the next one, and opens them after that; all of that and every use of the engine by
 *              an ear hold the lock
 */
#ifndef TG_SIM_DEVICE_EARS_H
#define TG_SIM_DEVICE_EARS_H

#include "device/comm.h"
#include "platform/process/call_rings.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tg_ears {
    struct tg_engine *engine;
    bool started;
    uint32_t run; /* the one whose calls they take; 0: none. Under the lock */
    pthread_rwlock_t lock;
    pthread_t thread[TG_COMM_EARS];
};

/* Where the rings are: zeros. */
void tg_ears_set_up(struct tg_call_rings *memory);
/* Before the engine changes: no ear uses it when this returns. */
void tg_ears_close(struct tg_ears *ears);
/* After that. Starts the threads if the run has calls. False: they cannot be started. */
bool tg_ears_open(struct tg_ears *ears, struct tg_engine *engine, uint32_t run);
/* Asks the threads where they are, as tg_fault_locate does. */
void tg_ears_locate(const struct tg_ears *ears);

#endif
