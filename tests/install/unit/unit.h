/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_H
#define UNIT_H

/* Found by target_include_directories, and SCALE_UNIT by target_compile_definitions. */
static const float scale_unit = SCALE_UNIT;

#endif
