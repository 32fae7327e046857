/* SPDX-License-Identifier: Apache-2.0 */
/* Included first when src/device is compiled as if there were neither a recorder nor a trace. It includes
 * the real headers, whose guards then keep later includes empty, and replaces the hooks by nothing. */
#include "device/recorder.h"
#include "device/trace.h"
#define tg_is_watched(e) false
#define tg_trace_is_on(e) false
#define tg_record_is_on(e) false
#define tg_record(e, lane, task, stage) ((void)(e), (void)(lane), (void)(task))
