/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_HOST_JOB_GONE_H
#define TG_HOST_JOB_GONE_H

#include "host/job.h"

/* True if the process is not there any more, or has ended and is only not collected yet. */
bool tg_process_is_gone(uint64_t pid);

/* For a rank that was told to stop and could not ask the others: notes which ranks of this machine have
 * gone, and that of the rest nothing is known but that they were stopped. `status` and `text` are the
 * own ones. */
void tg_job_find_gone(struct tg_job *job, tg_status status, const char *text);

#endif
