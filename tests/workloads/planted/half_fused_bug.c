/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two, and what it computes last is wrong. */
#define FUSED_IS_WRONG 1
#include "half_fused.h"
