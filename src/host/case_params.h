/* SPDX-License-Identifier: Apache-2.0 */
/* A case's parameters, such as "n=1024 scale=0.5"; --set changes them. */
#ifndef TG_HOST_CASE_PARAMS_H
#define TG_HOST_CASE_PARAMS_H

#include "host/case.h"

struct tg_case_params {
    struct tg_case_param *item;
    uint32_t count;
    size_t room;
};

/* `text` may be NULL: no parameters. BAD_ARGUMENT if a word is not key=value. */
tg_status tg_case_params_parse(struct tg_case_params *params, const char *text,
                               struct tg_error *error);
void tg_case_params_free(struct tg_case_params *params);

/* `text` is "key=value". BAD_ARGUMENT if the case has no such key; the message lists its keys. */
tg_status tg_case_params_set(struct tg_case_params *params, const char *text,
                             struct tg_error *error);

/* NULL if there is no such key. */
const char *tg_case_params_get(const struct tg_case_params *params, const char *key);

#endif
