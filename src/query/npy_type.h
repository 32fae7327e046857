/* SPDX-License-Identifier: Apache-2.0 */
/* Element types as NumPy has them. */
#ifndef TG_QUERY_NPY_TYPE_H
#define TG_QUERY_NPY_TYPE_H

/* "<f4" */
struct tg_npy_descr {
    char text[8];
};

/* The type itself where NumPy has it, or the unsigned integer that holds its bits: uint16 for
 * bfloat16, uint8 for what has at most 8 bits. */
unsigned tg_npy_held_as(unsigned dtype);
/* How an .npy file names the type that holds it. Gives descr->text. */
const char *tg_npy_descr_of(unsigned dtype, struct tg_npy_descr *descr);

#endif
