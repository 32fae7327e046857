/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON text, found without reading the rest into memory: the server passes on what others wrote, and must only
 * be certain that it is JSON. */
#ifndef TG_SERVE_SLICES_H
#define TG_SERVE_SLICES_H

#include <stdbool.h>
#include <stddef.h>

struct serve_slice {
    const char *at;
    size_t size;
};

/* True if the text is one JSON value, with spaces around it or not, of at most 64 levels. */
bool serve_slice_is_json(struct serve_slice text);

/* The value of a member of an object; the first of that name. The text must be JSON. False: it is no object, or it has
 * no such member. `name` is compared with the text between the quotes. */
bool serve_slice_member(struct serve_slice object, const char *name, struct serve_slice *value);

/* The next element of an array: *rest is the array at first, and then what is left of it. False: there is none. */
bool serve_slice_next(struct serve_slice *rest, struct serve_slice *element);

/* True if the value is written exactly so. */
bool serve_slice_is(struct serve_slice value, const char *text);

#endif
