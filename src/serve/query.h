/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a request to the server itself, decoded. Nothing in them is trusted. */
#ifndef TG_SERVE_QUERY_H
#define TG_SERVE_QUERY_H

#include "serve/judge.h"
#include <taskglass/status.h>

enum { SERVE_MOST_PARAMETERS = 32 };

struct serve_parameter {
    const char *name, *value; /* in `text` */
};

struct serve_query {
    struct serve_parameter parameter[SERVE_MOST_PARAMETERS];
    unsigned n;
    char text[SERVE_MOST_ADDRESS + 1];
};

/* Reads "run=x&what=nan", percent-encoded. BAD_ARGUMENT: too long, too many, one that comes twice or has no name, a broken
 * escape, or a control character. */
tg_status serve_query_read(const char *text, struct serve_query *query, struct tg_error *error);

/* NULL: the request does not have it. */
const char *serve_query_get(const struct serve_query *query, const char *name);

/* Fills an error; for all of this program. */
__attribute__((format(printf, 3, 4))) tg_status serve_fail(struct tg_error *error, tg_status status,
                                                           const char *format, ...);

#endif
