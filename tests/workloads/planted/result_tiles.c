/* SPDX-License-Identifier: Apache-2.0 */
/* Four tasks write a result that one wrote before: nothing is wrong. */
#define GOOD_TILES 1
#define BAD_TILES 4
#define TILE_IS_WRONG 0
#define IS_RESULT 1
#include "retiled.h"
