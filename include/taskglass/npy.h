/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads arrays that NumPy saved: .npy, or the .npz of np.savez (not of np.savez_compressed). The
 * reader does not trust the file: it checks sizes before it uses them. tg_recording_export of
 * export.h writes such files.
 *
 * A file is read-only; several threads may use one at the same time.
 */
#ifndef TASKGLASS_NPY_H
#define TASKGLASS_NPY_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One array of a file. */
struct tg_npy {
    char name[128]; /* of a member of an .npz, without ".npy"; "" for an .npy */
    unsigned dtype; /* enum tg_dtype */
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    int64_t elements;
    bool fortran; /* the first index varies fastest */
    const unsigned char *bytes;
};

struct tg_npy_file;

/* Maps the file; the caller closes it. IO_ERROR: the file cannot be read; BAD_ARGUMENT: the error
 * says what is wrong with the file. */
TG_API tg_status tg_npy_open(const char *path, struct tg_npy_file **file, struct tg_error *error);
/* NULL is fine. */
TG_API void tg_npy_close(struct tg_npy_file *file);
/* As tg_recording_check_files: IO_ERROR if the file became shorter while it was read. Ask it behind the
 * last look at an element. */
TG_API tg_status tg_npy_check_file(const struct tg_npy_file *file, struct tg_error *error);
/* Array `number`, which lives as long as the file is open; NULL past the last. A file has at least
 * one. */
TG_API const struct tg_npy *tg_npy_get(const struct tg_npy_file *file, uint32_t number);
/* Element `index` in row-major order, as a number. `index` must be within `elements`. */
TG_API double tg_npy_value(const struct tg_npy *array, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
