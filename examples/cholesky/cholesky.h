/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* Named as LAPACK and BLAS name these operations. */
enum { CHOLESKY_POTRF, CHOLESKY_TRSM, CHOLESKY_SYRK, CHOLESKY_GEMM, CHOLESKY_KERNELS };

/* Tiles along a side: the orchestration keeps a task id for each tile of the matrix. */
enum { CHOLESKY_MAX_TILES = 24 };

TG_KERNEL(cholesky_potrf);
TG_KERNEL(cholesky_trsm);
TG_KERNEL(cholesky_syrk);
TG_KERNEL(cholesky_gemm);
TG_ORCHESTRATION(cholesky);

#endif
