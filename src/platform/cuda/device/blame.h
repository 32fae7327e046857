/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which multiprocessor an exception came from. An error code of the driver does not say; a GPU core
 * dump does, so the driver is told to write a small one, into memory, when a kernel traps. Cores have
 * told where they run (tg_worker_status.place), so that a multiprocessor names a core and its task.
 */
#ifndef TG_CUDA_BLAME_H
#define TG_CUDA_BLAME_H

#include <stdbool.h>
#include <stdint.h>

/* Before the driver is initialised. A dump takes seconds, in which nothing moves: `*busy` becomes 1 as
 * soon as one is begun. */
void tg_blame_prepare(uint32_t *busy);
/* After an exception: reads what was dumped. */
void tg_blame_read(void);
/* Had multiprocessor `number` one? False also where nothing is known. */
bool tg_blame_has(uint32_t number);

#endif
