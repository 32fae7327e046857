/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef DTYPES_H
#define DTYPES_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { DTYPES_CAST, DTYPES_TWICE, DTYPES_SCALARS, DTYPES_KERNELS };

/* The orchestration's tensors: these, then one of each type of the case. */
enum { ARG_NUMBERS, ARG_VALUES, ARG_BACK, ARG_SCALAR_BITS, ARG_SCALAR_VALUES, ARG_FIRST_TYPED };

TG_KERNEL(dtypes_cast);
TG_KERNEL(dtypes_twice);
TG_KERNEL(dtypes_scalars);
TG_ORCHESTRATION(dtypes);

#endif
