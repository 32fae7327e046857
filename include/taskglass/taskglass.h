/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a host program needs. Kernels include kernel.h, workloads workload.h. */
#ifndef TASKGLASS_TASKGLASS_H
#define TASKGLASS_TASKGLASS_H

#include <taskglass/args.h>
#include <taskglass/device.h>
#include <taskglass/dtype.h>
#include <taskglass/execute.h>
#include <taskglass/graph.h>
#include <taskglass/run.h>
#include <taskglass/settings.h>
#include <taskglass/status.h>
#include <taskglass/tensor.h>
#include <taskglass/version.h>

#endif
