/* SPDX-License-Identifier: Apache-2.0 */
/* Walks with one lane, where cores wait at tasks. */
#include "polling.h"
#include "walk.c"
