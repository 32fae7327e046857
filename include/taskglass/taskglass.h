/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything a host program needs. Kernels include kernel.h, workloads workload.h.
 *
 * In every public header: a function that returns a status answers NULL where it needs something, and
 * nonsense, with BAD_ARGUMENT; others do nothing, or return false, 0, NULL, "?" or a NaN. `error` may
 * always be NULL. What C cannot notice is left to the caller: a handle must not be used after it was
 * closed, and must be closed before what it was made from (a run before its graph, a graph before its
 * device, a device before the comm that it joined, a blame before its diff, a diff before its
 * recordings).
 */
#ifndef TASKGLASS_TASKGLASS_H
#define TASKGLASS_TASKGLASS_H

#include <taskglass/answers.h>
#include <taskglass/args.h>
#include <taskglass/comm.h>
#include <taskglass/device.h>
#include <taskglass/dtype.h>
#include <taskglass/execute.h>
#include <taskglass/export.h>
#include <taskglass/graph.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/recover.h>
#include <taskglass/run.h>
#include <taskglass/runs.h>
#include <taskglass/schedule.h>
#include <taskglass/scope_stats.h>
#include <taskglass/serve.h>
#include <taskglass/settings.h>
#include <taskglass/shake.h>
#include <taskglass/source.h>
#include <taskglass/status.h>
#include <taskglass/tensor.h>
#include <taskglass/timing.h>
#include <taskglass/verify.h>
#include <taskglass/version.h>
#include <taskglass/workbench.h>

#endif
