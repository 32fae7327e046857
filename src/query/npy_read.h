/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that NumPy saved: .npy, or a .npz of np.savez (not of np.savez_compressed). The file is taken
 * for hostile like any other.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_QUERY_NPY_READ_H
#define TG_QUERY_NPY_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/tensor.h>

struct tg_npy {
    char name[128]; /* of a member of an .npz, without ".npy"; "" of an .npy */
    unsigned dtype; /* enum tg_dtype */
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    int64_t elements;
    bool fortran; /* the first index varies fastest */
    const unsigned char *bytes;
};

struct tg_npy_file;

/* BAD_ARGUMENT says what is wrong with the file. */
TG_API tg_status tg_npy_open(const char *path, struct tg_npy_file **file, struct tg_error *error);
TG_API void tg_npy_close(struct tg_npy_file *file);
/* Array `number`; NULL past the last. */
TG_API const struct tg_npy *tg_npy_get(const struct tg_npy_file *file, uint32_t number);
/* Element `index` in row-major order, as a number. */
TG_API double tg_npy_value(const struct tg_npy *array, int64_t index);

#endif
