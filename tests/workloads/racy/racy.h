/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that lack an edge. The order that the edge would make holds by luck in almost every run, because a
 * long chain of tasks comes between: `taskglass shake` must find the order in which it does not hold.
 *
 * Every case has x[N] as input and y[N], z[N] as outputs, and a chain of `length` tasks from x to y.
 */
#ifndef RACY_H
#define RACY_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { N = 16, MOST_LENGTH = 2000, SUMS = 8 };

enum racy_kernel { STEP, COPY, ADD, BOTH, STRAY, SPIN, CRASH, CLOCK, RACY_KERNELS };

enum racy_case {
    CLEAN,   /* all edges are there */
    WAR,     /* a task writes a buffer that another one still has to read */
    RAW,     /* a task reads a buffer that another one may not have written yet */
    TWO,     /* shows only if two such pairs are inverted */
    STRAYED, /* the write is behind the region that the task declares */
    BRANCH,  /* the orchestration reads the wrong value and submits another task */
    HANGS,   /* the wrong value makes a kernel spin */
    CRASHES, /* the wrong value makes a kernel crash */
    TIMED,   /* no edge is missing, but a kernel writes the time */
    WRONG,   /* no edge is missing, but the result is not golden */
    COMMUTE, /* tasks add to the same buffer in any order; the sum is the same */
    HELD,    /* no edge, but the orchestration waits before it lets the held reader go */
    LATE,    /* likewise, but it waits when the reader has been let go already */
    RACY_CASES
};

/* What one task of the chain does with an element. Unsigned, because the values of a long chain wrap. */
#define RACY_STEP(value, k) ((int64_t)((uint64_t)(value)*3 + (uint64_t)(k)))

TG_KERNEL(racy_step);
TG_KERNEL(racy_copy);
TG_KERNEL(racy_add);
TG_KERNEL(racy_both);
TG_KERNEL(racy_stray);
TG_KERNEL(racy_spin);
TG_KERNEL(racy_crash);
TG_KERNEL(racy_clock);
TG_ORCHESTRATION(racy);

#endif
