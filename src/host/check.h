/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing an output with its golden values bit by bit. The comparison within a tolerance is public. */
#ifndef TG_HOST_CHECK_H
#define TG_HOST_CHECK_H

#include <taskglass/check.h>

/* The same bits, element by element. Fills everything of *check but its name. Bytes are packed as
 * tensors are: of 4-bit types two to a byte, a last odd nibble's twin not looked at. */
void tg_check_exact(int dtype, const void *got, const void *expected, uint64_t elements,
                    struct tg_output_check *check);

#endif
