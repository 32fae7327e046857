/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names read from a file. Each is kept once, however often it occurs, for as long as the recording
 * is open. They are shown on terminals and written into JSON, so they are cleaned when they are
 * added.
 */
#ifndef TG_BASE_NAMES_H
#define TG_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_names {
    char **slot; /* each name is allocated separately */
    size_t n_slots, count;
    bool no_memory; /* a name could not be added */
};

/* Longer names are cut. */
enum { TG_NAME_MAX = 255 };

/* Copies the text as inert UTF-8 (base/utf8.h): every other byte becomes '?'. Stops at a zero byte or
 * after `length` bytes; cuts to `room` bytes including the zero. `clean` may be `text`. */
void tg_name_clean(const char *text, size_t length, char *clean, size_t room);

/* Returns the same pointer for the same name; NULL if memory ran out. */
const char *tg_names_add(struct tg_names *names, const char *text, size_t length);
void tg_names_free(struct tg_names *names);

#endif
