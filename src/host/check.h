/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing an output with its golden values. Both fill everything of *check but its name. Bytes
 * are packed as tensors are: of 4-bit types two to a byte, a last odd nibble's twin not looked at.
 * tg_check_close is exported for the command line, and no part of the public interface.
 */
#ifndef TG_HOST_CHECK_H
#define TG_HOST_CHECK_H

#include <taskglass/execute.h>

/*
 * |got - expected| <= atol + rtol * |expected|. NaN matches NaN, an infinity itself and nothing
 * else. A difference that is no number (NaN against a value) counts as infinite.
 */
TG_API void tg_check_close(int dtype, const void *got, const double *expected, uint64_t elements,
                           double atol, double rtol, struct tg_output_check *check);

/* The same bits, element by element. */
void tg_check_exact(int dtype, const void *got, const void *expected, uint64_t elements,
                    struct tg_output_check *check);

#endif
