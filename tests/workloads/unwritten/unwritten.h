/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that write all of their output, some of it, or none. */
#ifndef UNWRITTEN_H
#define UNWRITTEN_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { N = 100, FORGOTTEN = 12 };

/* The order is that of `kernels` in cases.c. */
enum { DOUBLED, ZEROS, RAMP, TAIL, NOTHING, COPY, RIGHT_ZEROS, FORGETFUL, UNWRITTEN_KERNELS };

/* The order is that of `cases` in cases.c; the first scalar of the orchestration. */
enum {
    ON_PURPOSE,
    NEW_TAIL,
    NEW_NOTHING,
    TWICE,
    REUSED,
    REUSED_TAIL,
    PASSED_ON,
    TYPES,
    REFERENCES,
    NO_ELEMENTS
};

TG_KERNEL(doubled);
TG_KERNEL(zeros);
TG_KERNEL(ramp);
TG_KERNEL(tail);
TG_KERNEL(nothing);
TG_KERNEL(copy);
TG_ORCHESTRATION(unwritten);

#endif
