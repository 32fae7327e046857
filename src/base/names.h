/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names out of a file, each kept once, however often it occurs, for as long as the recording is
 * open. They end up on terminals and in JSON, so they are cleaned on the way in.
 */
#ifndef TG_BASE_NAMES_H
#define TG_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct tg_names {
    char **slot; /* open addressing; each name has a malloc of its own */
    size_t n_slots, count;
};

/* Longer ones are cut. */
enum { TG_NAME_MAX = 255 };

/* UTF-8 without control characters: what is neither becomes '?'. Ends at a zero byte or at
 * `length`, and is cut to `room` with its zero. `clean` may be `text`. */
void tg_name_clean(const char *text, size_t length, char *clean, size_t room);

/* The same pointer for the same name; NULL where memory ran out. */
const char *tg_names_add(struct tg_names *names, const char *text, size_t length);
void tg_names_free(struct tg_names *names);

#endif
