/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two, correctly. A later task computes one element wrong. */
#define FUSED_IS_WRONG 0
#define LATER_IS_WRONG 1
#include "fused.h"
