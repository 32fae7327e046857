/* SPDX-License-Identifier: Apache-2.0 */
/* What a task had written when its run ended without it. */
#ifndef TG_HOST_PARTIAL_H
#define TG_HOST_PARTIAL_H

#include "recording/writer.h"
#include "host/graph.h"
#include "host/record_setup.h"

/* Reads the outputs the recording would have had of the task, from the memory of a device that no
 * longer runs, and records them as partial. How many records that made. */
uint64_t tg_partial_record(struct tg_record_area *area, struct tg_dump_writer *writer,
                           const struct tg_task_desc *desc, const struct tg_tensor *tensors);

#endif
