/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes records as files for other programs: NumPy's .npy (query/npy_write.h), several of them in an .npz
 * (a zip archive, not compressed), and text.
 */
#ifndef TG_EXPORT_EXPORT_H
#define TG_EXPORT_EXPORT_H

#include <stdio.h>
#include <taskglass/array.h>
#include <taskglass/export.h>

struct tg_export_job;
/* Writes an .npy file. Here and below: `job` is asked now and then whether to go on, and may be NULL; an
 * IO_ERROR contains only the cause: the caller adds the file's name. */
tg_status tg_export_npy(FILE *file, const struct tg_array *array, struct tg_export_job *job,
                        struct tg_error *error);

/* Writes a description of the job's current record on lines that begin with '#', then all its values as
 * NumPy prints them. Asks the caller of the export now and then whether to go on. */
tg_status tg_export_txt(FILE *file, struct tg_export_job *job, const struct tg_entry *entry,
                        const struct tg_array *array);

/*
 * Writes an .npz. The file is the caller's and may be a pipe: the writer never seeks.
 *     tg_export_npz_begin(file, job, &npz, error)  tg_export_npz_add(npz, name, …) …
 *     tg_export_npz_end(npz, error)                without it the archive cannot be read
 *     tg_export_npz_free(npz)
 */
struct tg_npz;
tg_status tg_export_npz_begin(FILE *file, struct tg_export_job *job, struct tg_npz **npz,
                              struct tg_error *error);
/* `name` is without ".npy". */
tg_status tg_export_npz_add(struct tg_npz *npz, const char *name, const struct tg_array *array,
                            struct tg_error *error);
tg_status tg_export_npz_end(struct tg_npz *npz, struct tg_error *error);
void tg_export_npz_free(struct tg_npz *npz);

#endif
