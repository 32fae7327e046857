/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of steps, and at its end a join of the first row with the last:
 *
 *     x ──step 0──► row 0 ──step 1──► row 1 ── … ──► last row ──join──► y
 *                     └─────────────────────────────────────────►┘
 *
 * One step makes a mistake. The number of that step is no argument of a task, because then
 * recordings would differ in it: it is stored after each row, where a recorded view does not reach,
 * and copied from row to row.
 */
#ifndef MISTAKES_H
#define MISTAKES_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { MISTAKES_STEP, MISTAKES_JOIN, MISTAKES_KERNELS };

enum mistake {
    MISTAKE_NONE,
    MISTAKE_WRONG,     /* one element is off by one */
    MISTAKE_NAN,       /* one element is NaN */
    MISTAKE_OVERFLOW,  /* one element overflows */
    MISTAKE_CONSTANT,  /* all elements are the same */
    MISTAKE_UNWRITTEN, /* nothing is written */
    MISTAKE_STOMP,     /* one element of the first row is overwritten */
    MISTAKES
};

/* After the n elements of a row: the mistake, and the step that makes it. */
enum { HIDDEN = 2 };

TG_KERNEL(mistakes_step);
TG_KERNEL(mistakes_join);
TG_ORCHESTRATION(mistakes);

#endif
