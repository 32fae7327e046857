/* SPDX-License-Identifier: Apache-2.0 */
/* Two independent chains, submitted in another order: nothing is wrong. */
#define LINK_IS_WRONG 0
#include "reordered.h"
