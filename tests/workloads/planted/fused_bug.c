/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel does the work of two, and gets one element wrong. */
#define FUSED_IS_WRONG 1
#define LATER_IS_WRONG 0
#include "fused.h"
