/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/case_params.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "host/text.h"

static struct tg_case_param *find(const struct tg_case_params *params, const char *key,
                                  size_t length)
{
    for (uint32_t i = 0; i < params->count; i++)
        if (strlen(params->item[i].key) == length && memcmp(params->item[i].key, key, length) == 0)
            return &params->item[i];
    return NULL;
}

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the case's parameters");
}

/* Adds one key=value word of the module's text. */
static tg_status add(struct tg_case_params *params, const char *word, size_t length,
                     struct tg_error *error)
{
    const char *equals = memchr(word, '=', length);
    if (!equals || equals == word)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "the case's parameters contain '%.*s', which is not key=value",
                            (int)(length < 80 ? length : 80), word);
    size_t key_length = (size_t)(equals - word);
    if (find(params, word, key_length))
        return tg_error_set(error, TG_BAD_ARGUMENT, "the case has parameter '%.*s' twice",
                            (int)(key_length < 80 ? key_length : 80), word);
    if (!tg_grow(&params->item, &params->room, (size_t)params->count + 1, sizeof *params->item))
        return no_memory(error);
    struct tg_case_param *item = &params->item[params->count++];
    item->key = strndup(word, key_length);
    item->value = strndup(equals + 1, length - key_length - 1);
    return item->key && item->value ? TG_OK : no_memory(error);
}

tg_status tg_case_params_parse(struct tg_case_params *params, const char *text,
                               struct tg_error *error)
{
    tg_status status = TG_OK;
    *params = (struct tg_case_params){0};
    while (text && *text && status == TG_OK) {
        size_t length = strcspn(text, " \t\n");
        if (length > 0)
            status = add(params, text, length, error);
        text += length + (text[length] != '\0');
    }
    return status;
}

void tg_case_params_free(struct tg_case_params *params)
{
    for (uint32_t i = 0; i < params->count; i++) {
        free(params->item[i].key);
        free(params->item[i].value);
    }
    free(params->item);
    *params = (struct tg_case_params){0};
}

/* The keys as "n, scale"; the caller frees the text. */
static char *keys(const struct tg_case_params *params)
{
    char *text = strdup(params->count ? params->item[0].key : "no parameters");
    for (uint32_t i = 1; i < params->count && text; i++) {
        char *longer = tg_text_format("%s, %s", text, params->item[i].key);
        free(text);
        text = longer;
    }
    return text;
}

static tg_status unknown_key(const struct tg_case_params *params, const char *text, size_t length,
                             struct tg_error *error)
{
    char *has = keys(params);
    tg_status status = tg_error_set(error, TG_BAD_ARGUMENT,
                                    "--set %s: the case has no parameter '%.*s'; it has %s", text,
                                    (int)length, text, has ? has : "?");
    free(has);
    return status;
}

tg_status tg_case_params_set(struct tg_case_params *params, const char *text,
                             struct tg_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--set %s: must be key=value", text);
    struct tg_case_param *param = find(params, text, (size_t)(equals - text));
    if (!param)
        return unknown_key(params, text, (size_t)(equals - text), error);
    char *value = strdup(equals + 1);
    if (!value)
        return no_memory(error);
    free(param->value);
    param->value = value;
    return TG_OK;
}

const char *tg_case_params_get(const struct tg_case_params *params, const char *key)
{
    struct tg_case_param *param = find(params, key, strlen(key));
    return param ? param->value : NULL;
}
