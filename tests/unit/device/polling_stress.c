/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, and many runs on one engine, where cores poll. */
#include "polling.h"
#include "engine_stress.c"
