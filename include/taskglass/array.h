/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record's values as an array, and values as text: one value with as few digits as possible, and
 * arrays printed as NumPy does.
 *
 *     struct tg_array_layout layout = {.width = 80, .most = 1000, .edge = 3};
 *     if (tg_array_of(recording, &entry, &array))
 *         tg_array_print(stdout, &array, &layout);
 *
 * Nothing here keeps state: several threads may call these functions at the same time.
 */
#ifndef TASKGLASS_ARRAY_H
#define TASKGLASS_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/api.h>
#include <taskglass/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The elements of a record in row-major order, as far as they are stored. Element `i` is
 * tg_load_bits(dtype, bytes, i) or tg_load(dtype, bytes, i) of numeric.h. */
struct tg_array {
    unsigned dtype; /* enum tg_dtype, valid */
    int ndim;
    int64_t shape[TG_MAX_DIMS]; /* its product is `elements` */
    int64_t elements;
    const void *bytes; /* packed; in the mapped recording, or in the entry for a scalar */
    uint64_t size;     /* of the bytes */
    bool cut;          /* only the first elements are stored, and given in one dimension */
};

/* Returns false if nothing of the record is stored. The array points into the recording and, for
 * scalars, into the entry; both must outlive it. */
TG_API bool tg_array_of(const struct tg_recording *recording, const struct tg_entry *entry,
                        struct tg_array *array);

/* ── as text ───────────────────────────────────────────────────────────────────────────────── */

/* Room for one element as text. */
struct tg_value_text {
    char text[40];
};

/* Writes the fewest digits that identify the element: "0.1", "1e+20", "nan", "-inf", "-3", "true";
 * "" if `dtype` is not a type. Few digits identify a float8: 448 becomes "4.5e+02". tg_json_value writes
 * exact values. `bits` are those of one element, as tg_load_bits returns them. Returns text->text. */
TG_API const char *tg_value_format(unsigned dtype, uint64_t bits, struct tg_value_text *text);

/* The value of a scalar: as tg_value_format, but of a float shorter than float32 the digits of the
 * float32 that has exactly its value; its 64 bits, "0x…", if the recording has no type for it;
 * "unknown" if the recording does not have its value. Returns text->text. */
TG_API const char *tg_scalar_format(const struct tg_record *record, struct tg_value_text *text);

/* How an array is printed. */
struct tg_array_layout {
    int width;    /* columns of a line */
    int64_t most; /* an array with more elements than this shows only its edges */
    int edge;     /* how many at each end of a dimension */
};

/* Prints like NumPy's str(), with a newline at the end: one format and width for all elements, at
 * most 8 digits after the point. Write errors stay in the file: call ferror(). */
TG_API void tg_array_print(FILE *file, const struct tg_array *array,
                           const struct tg_array_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
