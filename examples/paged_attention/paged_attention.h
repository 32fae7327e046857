/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef PAGED_ATTENTION_H
#define PAGED_ATTENTION_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { PAGED_START, PAGED_QK, PAGED_SOFTMAX, PAGED_PV, PAGED_UPDATE, PAGED_FINISH, PAGED_KERNELS };

TG_KERNEL(paged_start);
TG_KERNEL(paged_qk);
TG_KERNEL(paged_softmax);
TG_KERNEL(paged_pv);
TG_KERNEL(paged_update);
TG_KERNEL(paged_finish);
TG_ORCHESTRATION(paged_attention);

#endif
