/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the programs of this benchmark share: command line, processes, timing, the check of what ran,
 * the search for METG(50 %), and the JSON line.
 *
 * A program describes its systems and hands them to tb_main(). Every measurement happens in a process of
 * its own, which the program forks before it has started any thread, so that each first run is the first
 * run of its process:
 *
 *   open -> first (timed) -> fetch, check -> { again (timed) -> fetch, check } ... -> close
 *
 * METG(50 %) is the minimum effective task granularity (Slaughter et al., SC'20): the wall time of a run,
 * times CPUs, divided by tasks, at which half of the CPUs' time is work. The search halves or doubles the
 * work of a task until it has a run above and one below, and interpolates. Work is counted in
 * floating-point operations, and the rate that counts as all of it is that of plain loops on as many
 * threads, taken by the same program just before.
 */
#ifndef BENCH_TASKBENCH_HARNESS_H
#define BENCH_TASKBENCH_HARNESS_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tb_case {
    struct tb_grid grid;
    unsigned workers; /* threads, or cores of a device */
    struct tb_cell
        *cells; /* steps rows of width cells, zero; a system that has its own fills them in fetch */
};

struct tb_system {
    const char *name;
    void *(*open)(struct tb_case *c); /* untimed: the device, the threads */
    void (*first)(struct tb_case *c, void *opened);
    void (*again)(struct tb_case *c, void *opened); /* the same graph once more */
    void (*fetch)(struct tb_case *c, void *opened); /* untimed; optional */
    void (*close)(void *opened);
};

/* The whole program: 0 if all is good, 1 if a task ran wrongly or not at all, 2 for a wrong command
 * line. */
int tb_main(const struct tb_system *systems, int count, int argc, char **argv);

/* calloc that ends the program instead of failing. */
void *tb_alloc(uint64_t count, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
