/* SPDX-License-Identifier: Apache-2.0 */
/* A stranger's document in an answer: the same values, inert, and never half of it. */
#define _GNU_SOURCE 1
#include "test.h"

#include <stdlib.h>

#include "workbench/json_copy.h"

/* The copy as the member "it" of an object, without line ends. */
static char *copy_of(const char *text)
{
    char *copy = NULL;
    size_t size;
    struct tg_json json;
    FILE *file = open_memstream(&copy, &size);
    tg_json_start(&json, file);
    tg_json_begin_line_object(&json);
    tg_json_key(&json, "it");
    CHECK(tg_json_copy(&json, text, strlen(text)));
    tg_json_end_object(&json);
    CHECK_EQ_I(tg_json_finish(&json), TG_OK);
    fclose(file);
    copy[strlen(copy) - 1] = '\0';
    return copy;
}

static void check(const char *text, const char *want)
{
    char *copy = copy_of(text);
    CHECK_EQ_S(copy, want);
    free(copy);
}

TEST(values_stay_what_they_are)
{
    check("{\"a\": [1, -2, 1.5, true, false, null, \"x\\ny\"], \"b\": {}}",
          "{\"it\": {\"a\": [1, -2, 1.5, true, false, null, \"x\\ny\"], \"b\": {}}}");
}

TEST(integers_that_readers_would_round_are_texts)
{
    check("{\"a\": 18446744073709551615, \"b\": -9223372036854775808, \"c\": 9007199254740992}",
          "{\"it\": {\"a\": \"18446744073709551615\", \"b\": \"-9223372036854775808\", "
          "\"c\": 9007199254740992}}");
}

TEST(what_is_no_object_becomes_null)
{
    static const char *const wrong[] = {"", "[1]", "1", "{\"a\": 1", "{\"a\": 1} 2", "{a: 1}"};
    char deep[200] = "{\"a\": ";
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check(wrong[i], "{\"it\": null}");
    memset(deep + 6, '[', 60);
    memset(deep + 66, ']', 60);
    deep[126] = '}';
    check(deep, "{\"it\": null}");
}

TEST_MAIN()
