/* SPDX-License-Identifier: Apache-2.0 */
/* A request: its name and its parameters, decoded from the text of an address. Nothing in it is trusted. */
#ifndef TG_WORKBENCH_ASK_H
#define TG_WORKBENCH_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>

enum {
    TG_ASK_TEXT = 8192, /* the longest request, in bytes */
    TG_ASK_PARAMETERS = 32
};

struct tg_ask_parameter {
    const char *name, *value; /* in `text`, decoded */
    bool is_used;
};

struct tg_ask {
    const char *name; /* "tensor" */
    struct tg_ask_parameter parameter[TG_ASK_PARAMETERS];
    unsigned n_parameters;
    char text[TG_ASK_TEXT + 1];
};

/* BAD_ARGUMENT: too long, too many parameters, a parameter that comes twice, a broken escape, a zero byte or bytes that
 * are not UTF-8. */
tg_status tg_ask_parse(const char *request, struct tg_ask *ask, struct tg_error *error);

/* The value of a parameter; NULL if the request does not have it. */
const char *tg_ask_text(struct tg_ask *ask, const char *name);
/* The same, but the parameter must be there: BAD_ARGUMENT. */
tg_status tg_ask_need(struct tg_ask *ask, const char *name, const char **value,
                      struct tg_error *error);
/* A number in decimal digits from `least` to `most`; `fallback` if the request does not have it (UINT64_MAX: it must). */
tg_status tg_ask_uint(struct tg_ask *ask, const char *name, uint64_t least, uint64_t most,
                      uint64_t fallback, uint64_t *value, struct tg_error *error);
/* BAD_ARGUMENT if the request has a parameter that nobody has asked for: a client's mistake must not pass unnoticed. */
tg_status tg_ask_check_all_used(const struct tg_ask *ask, struct tg_error *error);

#endif
