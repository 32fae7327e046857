/* SPDX-License-Identifier: Apache-2.0 */
/* Records the outputs of a task that was still running when its run ended. */
#ifndef TG_HOST_PARTIAL_H
#define TG_HOST_PARTIAL_H

#include "recording/writer.h"
#include "host/graph.h"
#include "host/record_setup.h"

/* Reads the task's outputs from the memory of a device that has stopped and records them, marked as
 * partial. Takes only the outputs that the recording's level and filters select. Returns the number
 * of records made. */
uint64_t tg_partial_record(struct tg_record_area *area, struct tg_dump_writer *writer,
                           const struct tg_task_desc *desc, const struct tg_tensor *tensors);

#endif
