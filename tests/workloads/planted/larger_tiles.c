/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks do the work of four: nothing is wrong. */
#define GOOD_TILES 4
#define BAD_TILES 2
#define TILE_IS_WRONG 0
#include "retiled.h"
