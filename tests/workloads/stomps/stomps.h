/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that changes between two tasks that read it. tests/bugs/test_stomps.py says who did it in each scene,
 * and where nobody can know.
 *
 *     fill ──► look ──► what the scene does ──► look again
 *
 * The arena is [left][victim][right]; looks read the victim.
 */
#ifndef STOMPS_H
#define STOMPS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { N = 64 };

enum scene {
    CHAIN, /* one task after the other, the second of which writes behind its output */
    SNEAK, /* a task without tensors writes to an address that it was given; an innocent runs beside it */
    TWICE, /* two tasks write the same stray element */
    RACE,  /* a task that nobody waits for writes the victim, and is still running */
    ALONE, /* the task that reads the victim writes it too, and no other task runs */
    CROWD, /* many tasks at once, one of which writes far from its output */
    SCENES
};
/* Of CROWD. */
enum { CROWD_TASKS = 24, CROWD_GUILTY = 17 };

enum {
    FILL,
    LOOK,
    STEP,
    STRAY,
    STRAY_BEFORE,
    SNEAKS,
    INNOCENT,
    SLOW_WRITER,
    WAITS,
    STOMPS_KERNELS
};

TG_KERNEL(fill);
TG_KERNEL(look);
TG_KERNEL(step);
TG_KERNEL(stray);
TG_KERNEL(stray_before);
TG_KERNEL(sneaks);
TG_KERNEL(innocent);
TG_KERNEL(slow_writer);
TG_KERNEL(waits);
TG_ORCHESTRATION(stomps);

#endif
