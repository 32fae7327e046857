/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as files that others read: NumPy's .npy (format 1.0), several of them in an .npz (a zip
 * archive, not compressed), and text.
 *
 * Types that NumPy does not have are stored as unsigned integers of the same width, bit for bit:
 * bfloat16 as uint16, the float8 types as uint8, and the 4-bit types as uint8, one to an element.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_EXPORT_EXPORT_H
#define TG_EXPORT_EXPORT_H

#include <stdio.h>
#include <taskglass/array.h>

/* "float32" for float32, "uint16" for bfloat16. */
TG_API const char *tg_export_type(unsigned dtype);

/* Writes an .npy file. IO_ERROR has the cause and nothing else, here and below: only the caller
 * knows the file's name. */
TG_API tg_status tg_export_npy(FILE *file, const struct tg_array *array, struct tg_error *error);

/* What the record is, on lines that begin with '#', and all its values as NumPy prints them. */
TG_API tg_status tg_export_txt(FILE *file, uint64_t index, const struct tg_entry *entry,
                               const struct tg_array *array, struct tg_error *error);

/* The array's bytes as they stand in an .npy file, head first, in as many pieces as it takes.
 * `take` gives false to end it, and so does this. */
typedef bool (*tg_export_piece_fn)(void *context, const void *bytes, size_t size);
bool tg_export_npy_pieces(const struct tg_array *array, tg_export_piece_fn take, void *context);
uint64_t tg_export_npy_size(const struct tg_array *array);

/*
 * An .npz. The file is the caller's and may be a pipe: nothing in it is written twice.
 *     tg_export_npz_begin(file, &npz, error)  tg_export_npz_add(npz, name, …) …
 *     tg_export_npz_end(npz, error)           without it the archive cannot be read
 *     tg_export_npz_free(npz)
 */
struct tg_npz;
TG_API tg_status tg_export_npz_begin(FILE *file, struct tg_npz **npz, struct tg_error *error);
/* `name` is without ".npy". */
TG_API tg_status tg_export_npz_add(struct tg_npz *npz, const char *name,
                                   const struct tg_array *array, struct tg_error *error);
TG_API tg_status tg_export_npz_end(struct tg_npz *npz, struct tg_error *error);
TG_API void tg_export_npz_free(struct tg_npz *npz);

/* Names for records: "task_1_12_before_arg0" (ring 1, index 12), "orchestration_arg0". A second
 * record of the same name has its index behind it: "task_1_12_before_arg0_record9". */
struct tg_export_names; /* remembers those that were given */
struct tg_export_name {
    char text[100];
};
TG_API struct tg_export_names *tg_export_names_create(void);
TG_API void tg_export_names_destroy(struct tg_export_names *names);
/* False where memory ran out. */
TG_API bool tg_export_names_make(struct tg_export_names *names, uint64_t index,
                                 const struct tg_entry *entry, struct tg_export_name *name);

#endif
