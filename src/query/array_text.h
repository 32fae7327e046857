/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as text: one value as short as it can be, and arrays laid out as NumPy prints them.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_QUERY_ARRAY_TEXT_H
#define TG_QUERY_ARRAY_TEXT_H

#include <stdio.h>

#include "query/array.h"

struct tg_value_text {
    char text[40];
};

/* The fewest digits that give the same element again: "0.1", "1e+20", "nan", "-inf", "-3",
 * "true". Gives text->text. */
TG_API const char *tg_value_format(struct tg_value_text *text, unsigned dtype, uint64_t bits);

struct tg_array_layout {
    int width;    /* columns of a line */
    int64_t most; /* elements; of an array with more only the edges are shown */
    int edge;     /* how many at each end of a dimension */
};

/* As NumPy's str(), with a newline at the end: common format and width for all elements, at most 8
 * digits behind the point. Errors are the file's. */
TG_API void tg_array_print(FILE *file, const struct tg_array *array,
                           const struct tg_array_layout *layout);

#endif
