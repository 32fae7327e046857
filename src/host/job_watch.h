/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_HOST_JOB_WATCH_H
#define TG_HOST_JOB_WATCH_H

#include "host/job.h"

/* On the first rank of each machine of a job under MPI: starts the process that completes the directory if all
 * ranks are killed. The ranks have met, and the directory exists; ranks.json may not be there yet. Without that
 * process the job is as good as with it. */
void tg_job_start_watching(const struct tg_job *job);

#endif
