/* SPDX-License-Identifier: Apache-2.0 */
/* Four tasks do the work of one, each on a part of the tensor: nothing is wrong. */
#define GOOD_TILES 1
#define BAD_TILES 4
#define TILE_IS_WRONG 0
#include "retiled.h"
