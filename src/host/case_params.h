/* SPDX-License-Identifier: Apache-2.0 */
/* A case's parameters, "n=1024 scale=0.5", and changing them from the command line. */
#ifndef TG_HOST_CASE_PARAMS_H
#define TG_HOST_CASE_PARAMS_H

#include "host/case.h"

struct tg_case_params {
    struct tg_case_param *item;
    uint32_t count;
    size_t room;
};

/* `text` may be NULL: no parameters. BAD_ARGUMENT where it is not words of key=value. */
tg_status tg_case_params_parse(struct tg_case_params *params, const char *text,
                               struct tg_error *error);
void tg_case_params_free(struct tg_case_params *params);

/* "key=value". The key must be there already: BAD_ARGUMENT names those that are. */
tg_status tg_case_params_set(struct tg_case_params *params, const char *text,
                             struct tg_error *error);

/* NULL where there is no such key. */
const char *tg_case_params_get(const struct tg_case_params *params, const char *key);

#endif
