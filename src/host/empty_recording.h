/* SPDX-License-Identifier: Apache-2.0 */
/* The recording of a run that ended before it began: complete, without a record, and with the reason. */
#ifndef TG_HOST_EMPTY_RECORDING_H
#define TG_HOST_EMPTY_RECORDING_H

#include <taskglass/run.h>

/* Writes it into the run's folder, which the caller has locked, and fills *result. If it cannot be
 * written, *result stays as it is: the run has a failure to report already. */
void tg_empty_recording_write(const char *dir, const struct tg_record_config *config, bool shared,
                              uint32_t poison, tg_status ended, struct tg_record_result *result);

#endif
