/* SPDX-License-Identifier: Apache-2.0 */
#include "race/race.h"
