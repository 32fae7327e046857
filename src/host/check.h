/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an output with its golden values bit by bit. taskglass/check.h compares within a tolerance. */
#ifndef TG_HOST_CHECK_H
#define TG_HOST_CHECK_H

#include <taskglass/check.h>

/* Accepts only the same bits, element by element. Fills all of *check except its name. Bytes are
 * packed as in tensors: 4-bit types have two elements per byte, and the unused half of an odd last
 * byte is ignored. */
void tg_check_exact(int dtype, const void *got, const void *expected, uint64_t elements,
                    struct tg_output_check *check);

#endif
