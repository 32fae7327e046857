/* SPDX-License-Identifier: Apache-2.0 */
/* Two independent chains, submitted in another order, and the second task of the second chain
 * computes one element wrong. */
#define LINK_IS_WRONG 1
#include "reordered.h"
