/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_HOST_EXECUTE_TRACE_H
#define TG_HOST_EXECUTE_TRACE_H

#include <taskglass/status.h>

/* Refuses a trace that cannot be written, or that would replace another file of the run. `trace` may be
 * NULL; `output` is the run's directory, which need not exist, or "". */
tg_status tg_execute_check_trace(const char *trace, const char *output, struct tg_error *error);

#endif
