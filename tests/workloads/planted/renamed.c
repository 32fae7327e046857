/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has another name: nothing is wrong. */
#define MIDDLE_IS_WRONG 0
#include "renamed.h"
