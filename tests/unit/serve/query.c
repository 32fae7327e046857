/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/query.h"
#include "test.h"

static struct serve_query query;
static struct tg_error error;

static tg_status read_query(const char *text)
{
    return serve_query_read(text, &query, &error);
}

TEST(parameters_are_decoded)
{
    REQUIRE(read_query("run=a%2Fb%20c&what=&k%65y=%c3%A9%26") == TG_OK);
    CHECK_EQ_U(query.n, 3);
    CHECK_EQ_S(serve_query_get(&query, "run"), "a/b c");
    CHECK_EQ_S(serve_query_get(&query, "what"), "");
    CHECK_EQ_S(serve_query_get(&query, "key"), "\xc3\xa9&");
    CHECK(serve_query_get(&query, "other") == NULL);
}

TEST(no_parameter_is_no_error)
{
    CHECK_EQ_I(read_query(""), TG_OK);
    CHECK_EQ_U(query.n, 0);
}

TEST(what_is_not_of_its_form_is_refused)
{
    static const char *const wrong[] = {"run",      "=x",      "run=%",       "run=%2",
                                        "run=%zz",  "run=%00", "run=a%0Ab",   "r%7fn=x",
                                        "a=1&&b=2", "&",       "run=1&run=2", "run=1&r%75n=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ_S(read_query(wrong[i]) != TG_BAD_ARGUMENT ? wrong[i] : "none", "none");
}

TEST(there_is_a_longest_request_and_a_largest_number_of_parameters)
{
    static char text[SERVE_MOST_ADDRESS + 2];
    size_t used = 0;
    for (unsigned i = 0; i <= SERVE_MOST_PARAMETERS; i++)
        used += (size_t)sprintf(text + used, "%sp%u=1", i ? "&" : "", i);
    CHECK_EQ_I(read_query(text), TG_BAD_ARGUMENT);
    *strrchr(text, '&') = '\0';
    CHECK_EQ_I(read_query(text), TG_OK);
    memset(text, 'a', sizeof text - 1);
    text[1] = '=';
    CHECK_EQ_I(read_query(text), TG_BAD_ARGUMENT);
    text[SERVE_MOST_ADDRESS] = '\0';
    CHECK_EQ_I(read_query(text), TG_OK);
}

TEST_MAIN()
