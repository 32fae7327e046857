/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of communication in a timeline. */
#ifndef TG_ANALYSIS_TIMELINE_CALLS_H
#define TG_ANALYSIS_TIMELINE_CALLS_H

#include "trace/timeline.h"

/* True for the kernel of a call: "tg_send" … */
bool tg_is_call_name(const char *kernel, uint32_t *kind);

/*
 * Sets the calls of a finished timeline: tasks with such a kernel, and what comm.jsonl in the run's folder says
 * of them, if there is one. Where the file says more than records do, parts get their times from it. Its times
 * are of the host; where the device has a clock of its own they are not used. NO_MEMORY, IO_ERROR.
 */
tg_status tg_timeline_take_calls(struct tg_timeline *timeline, const char *folder,
                                 struct tg_error *error);

#endif
