/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has another name, and computes one element wrong. */
#define MIDDLE_IS_WRONG 1
#include "renamed.h"
