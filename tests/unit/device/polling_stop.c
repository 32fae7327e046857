/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are stopped, where cores poll. */
#include "polling.h"
#include "engine_stop.c"
