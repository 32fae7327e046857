/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's names for element types. */
#ifndef TG_QUERY_NPY_TYPE_H
#define TG_QUERY_NPY_TYPE_H

/* "<f4" */
struct tg_npy_descr {
    char text[8];
};

/* The type itself if NumPy has it, otherwise the unsigned integer that holds its bits: uint16 for
 * bfloat16, uint8 for types of at most 8 bits. */
unsigned tg_npy_held_as(unsigned dtype);
/* Writes the name that an .npy file uses for tg_npy_held_as(dtype), and returns descr->text. */
const char *tg_npy_descr_of(unsigned dtype, struct tg_npy_descr *descr);

#endif
