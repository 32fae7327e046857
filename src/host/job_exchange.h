/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_HOST_JOB_EXCHANGE_H
#define TG_HOST_JOB_EXCHANGE_H

#include "host/job.h"

/* Seconds that an exchange still has when the user wants to stop. mpirun kills a second after it has asked
 * ranks to end, and by then the report must be written. */
#define TG_JOB_LAST_WORD 0.3

/* tg_comm_exchange, which also ends soon after job->goes_on says so: CANCELLED, `all` is as it was, and
 * job->is_stuck: the comm must not be used again. Notes in job->lost who is gone. */
tg_status tg_job_exchange(struct tg_job *job, const void *mine, uint32_t size, void *all,
                          double seconds, struct tg_error *error);

#endif
