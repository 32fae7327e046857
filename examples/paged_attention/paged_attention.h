/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef PAGED_ATTENTION_H
#define PAGED_ATTENTION_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { PAGED_START, PAGED_QK, PAGED_SOFTMAX, PAGED_PV, PAGED_UPDATE, PAGED_FINISH, PAGED_KERNELS };

/* Tokens in the context of a sequence: the first sequence has the longest context, each further one
 * has `shorter` tokens less, and each has at least one token. The orchestration uses it to know the
 * number of blocks; the kernels read the tensor of lengths. */
TG_INLINE int64_t context_length(int64_t longest, int64_t shorter, int64_t sequence)
{
    int64_t length = longest - sequence * shorter;
    return length > 1 ? length : 1;
}

TG_KERNEL(paged_start);
TG_KERNEL(paged_qk);
TG_KERNEL(paged_softmax);
TG_KERNEL(paged_pv);
TG_KERNEL(paged_update);
TG_KERNEL(paged_finish);
TG_ORCHESTRATION(paged_attention);

#endif
