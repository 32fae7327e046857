/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a tg_error at the place that detects an error. */
#ifndef TG_BASE_ERROR_H
#define TG_BASE_ERROR_H

#include <taskglass/status.h>

/*
 * Writes one line into *error (nothing if it is NULL) and returns `status`, so that
 * `return tg_error_set(error, TG_NOT_FOUND, "%s: …", path)` is one statement.
 *
 * The text stays one line whatever the arguments hold: control characters of ASCII become spaces,
 * other characters that are not inert (base/utf8.h) become '?', and what does not fit is cut between
 * characters and ends in "…". The arguments may point into error->text itself, so that a caller can
 * put words before a callee's message.
 */
tg_status tg_error_set(struct tg_error *error, tg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* BAD_ARGUMENT: a function of the C interface was given NULL where it needs something. */
tg_status tg_error_null(struct tg_error *error, const char *function, const char *argument);

/* For the first lines of such a function; the second form gives the name that the header has. */
#define TG_REFUSE_NULL(error, pointer) TG_REFUSE_NULL_AS(error, pointer, #pointer)
#define TG_REFUSE_NULL_AS(error, pointer, name)            \
    do {                                                   \
        if ((pointer) == NULL)                             \
            return tg_error_null((error), __func__, name); \
    } while (0)

#endif
