/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array as the bytes of NumPy's .npy (format 1.0):
 *
 *   "\x93NUMPY" 1 0 │ u16 length │ {'descr': '<f4', …} filled up with spaces, "\n" │ elements
 *   └──────────────────── a multiple of 64 bytes ────────────────────────────────┘
 *
 * Types that NumPy does not have are stored as unsigned integers of the same width, bit for bit (npy_type.h);
 * 4-bit types as uint8, one element in each.
 */
#ifndef TG_QUERY_NPY_WRITE_H
#define TG_QUERY_NPY_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/array.h>

/* Python's tuple: "()", "(3,)", "(3, 4)". */
struct tg_npy_shape {
    char text[TG_MAX_DIMS * 22 + 4];
};
const char *tg_npy_shape_of(const struct tg_array *array, struct tg_npy_shape *shape);

/* What comes before the elements. */
struct tg_npy_head {
    char bytes[384];
    size_t size;
};
void tg_npy_head_make(const struct tg_array *array, struct tg_npy_head *head);

/* True if the elements of the file are not the bytes of the array: those of a 4-bit type. */
bool tg_npy_unpacks(unsigned dtype);
/* Bytes of the whole file. */
uint64_t tg_npy_size(const struct tg_array *array);

/* Gives `take` the bytes of the file, head first, in pieces. If `take` returns false, it stops and returns false
 * too. */
typedef bool (*tg_npy_piece_fn)(void *context, const void *bytes, size_t size);
bool tg_npy_pieces(const struct tg_array *array, tg_npy_piece_fn take, void *context);

#endif
