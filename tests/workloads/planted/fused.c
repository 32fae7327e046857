/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two: nothing is wrong. */
#define FUSED_IS_WRONG 0
#define LATER_IS_WRONG 0
#include "fused.h"
