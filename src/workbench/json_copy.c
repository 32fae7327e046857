/* SPDX-License-Identifier: Apache-2.0 */
#include "workbench/json_copy.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/json_pull.h"

/* What the answer has around the document. */
enum { AROUND = 4 };
#define EXACT (INT64_C(1) << 53)

struct copy {
    struct tg_json *json;
    struct tg_pull pull;
    char *text; /* of one string */
    size_t room;
};

static bool is_object(const char *text, size_t size)
{
    struct tg_pull pull;
    tg_pull_start(&pull, text, size);
    if (size == 0 || tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) > TG_PULL_END)
        if (pull.depth > TG_JSON_MAX_DEPTH - AROUND)
            return false;
    return pull.token == TG_PULL_END;
}

static bool take_text(struct copy *copy)
{
    if (!tg_grow(&copy->text, &copy->room, copy->pull.length + 1, 1))
        return false;
    (void)tg_pull_text(&copy->pull, copy->text, copy->room);
    return true;
}

static void put_number(struct copy *copy)
{
    int64_t number;
    uint64_t large;
    double real = 0;
    if (tg_pull_i64(&copy->pull, &number) && number <= EXACT && number >= -EXACT)
        tg_json_int(copy->json, number);
    else if (tg_pull_i64(&copy->pull, &number))
        tg_json_quoted_int(copy->json, number);
    else if (tg_pull_u64(&copy->pull, &large))
        tg_json_quoted_uint(copy->json, large);
    else if (tg_pull_double(&copy->pull, &real))
        tg_json_real(copy->json, real);
    else
        tg_json_null(copy->json);
}

static bool put_token(struct copy *copy)
{
    struct tg_json *json = copy->json;
    switch (copy->pull.token) {
    case TG_PULL_BEGIN_OBJECT:
        tg_json_begin_object(json);
        return true;
    case TG_PULL_END_OBJECT:
        tg_json_end_object(json);
        return true;
    case TG_PULL_BEGIN_ARRAY:
        tg_json_begin_line_array(json);
        return true;
    case TG_PULL_END_ARRAY:
        tg_json_end_array(json);
        return true;
    case TG_PULL_KEY:
        if (!take_text(copy))
            return false;
        tg_json_key(json, copy->text);
        return true;
    case TG_PULL_STRING:
        if (!take_text(copy))
            return false;
        tg_json_string(json, copy->text);
        return true;
    case TG_PULL_NUMBER:
        put_number(copy);
        return true;
    case TG_PULL_TRUE:
    case TG_PULL_FALSE:
        tg_json_bool(json, copy->pull.token == TG_PULL_TRUE);
        return true;
    default:
        tg_json_null(json);
        return true;
    }
}

bool tg_json_copy(struct tg_json *json, const char *text, size_t size)
{
    struct copy copy = {.json = json};
    bool good = true;
    if (!is_object(text, size)) {
        tg_json_null(json);
        return true;
    }
    tg_pull_start(&copy.pull, text, size);
    while (good && tg_pull_next(&copy.pull) > TG_PULL_END)
        good = put_token(&copy);
    free(copy.text);
    return good;
}
