/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two and leaves one result of the first: nothing is wrong. */
#define FUSED_IS_WRONG 0
#include "half_fused.h"
