/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a tg_error at the place that detects what went wrong. */
#ifndef TG_BASE_ERROR_H
#define TG_BASE_ERROR_H

#include <taskglass/status.h>

/*
 * Writes one line into *error (NULL: nobody wants to know) and returns `status`, so that
 * `return tg_error_set(error, TG_NOT_FOUND, "%s: …", path)` is one statement.
 *
 * The text stays one line whatever the arguments hold: control characters become spaces, and
 * what does not fit is cut between characters and ends in "…". The arguments may point into
 * error->text itself, to put something in front of what a callee said.
 */
tg_status tg_error_set(struct tg_error *error, tg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
