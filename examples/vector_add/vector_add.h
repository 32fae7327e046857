/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the three files of this workload share. TG_KERNEL and TG_ORCHESTRATION declare
 * here what they define in the sources, so that every compiler, nvcc included, agrees on what is
 * device code.
 */
#ifndef VECTOR_ADD_H
#define VECTOR_ADD_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* A task names its kernel by its place in the workload's table (cases.c). */
enum { VECTOR_ADD_TILE, VECTOR_ADD_KERNELS };

TG_KERNEL(vector_add_tile);
TG_ORCHESTRATION(vector_add);

#endif
