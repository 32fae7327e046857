/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_HOST_JOB_LAUNCH_H
#define TG_HOST_JOB_LAUNCH_H

/* The descriptor by which rank 0 tells the launcher where the files are. */
#define TG_LAUNCHER_VARIABLE "TASKGLASS_LAUNCHER"

/* Does nothing if tg_job_launch did not start this process. */
void tg_job_tell_launcher(const char *dir);

#endif
