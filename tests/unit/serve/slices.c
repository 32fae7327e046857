/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/slices.h"
#include "test.h"

static struct serve_slice slice(const char *text)
{
    return (struct serve_slice){text, strlen(text)};
}

TEST(json_is_json)
{
    static const char *const right[] = {"{}",
                                        " [ ] \n",
                                        "null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0.5e+10",
                                        "1E5",
                                        "\"\"",
                                        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
                                        "{\"a\": [1, {\"b\": null}], \"c\": \"x\"}"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        CHECK_EQ_S(serve_slice_is_json(slice(right[i])) ? right[i] : "refused", right[i]);
}

TEST(what_is_not_json_is_refused_at_every_length)
{
    static const char *const wrong[] = {
        "",      " ",          "{",   "}",   "[1,]",        "{\"a\"}", "{a: 1}",  "01",  "1.",
        "+1",    ".5",         "1e",  "nul", "\"\n\"",      "\"\\x\"", "\"\\u12", "NaN", "[1 2]",
        "{} {}", "{\"a\":1,}", "'a'", "-",   "\"\\u00g0\"", "[1],",    "true1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ_S(serve_slice_is_json(slice(wrong[i])) ? wrong[i] : "none", "none");
    const char *whole = "{\"a\": [1.5, \"x\\u0041\", {\"b\": null}]}";
    for (size_t size = 0; size < strlen(whole); size++)
        CHECK(!serve_slice_is_json((struct serve_slice){whole, size}));
}

TEST(depth_has_a_limit)
{
    char text[200];
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    CHECK(serve_slice_is_json((struct serve_slice){text, 128}));
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    CHECK(!serve_slice_is_json((struct serve_slice){text, 130}));
}

TEST(a_member_is_found_by_its_name_at_the_top_alone)
{
    struct serve_slice value,
        object = slice("{\"x\": {\"live\": 1}, \"text\": \"live\", \"live\": true}");
    REQUIRE(serve_slice_member(object, "live", &value));
    CHECK(serve_slice_is(value, "true"));
    CHECK(!serve_slice_member(object, "liv", &value));
    CHECK(!serve_slice_member(slice("[1]"), "live", &value));
    CHECK(!serve_slice_member(slice("{}"), "live", &value));
    CHECK(!serve_slice_member(slice("null"), "live", &value));
}

TEST(elements_come_one_after_the_other)
{
    struct serve_slice rest = slice(" [1, {\"a\": 2} ,\"x\"]"), element;
    REQUIRE(serve_slice_next(&rest, &element));
    CHECK(serve_slice_is(element, "1"));
    REQUIRE(serve_slice_next(&rest, &element));
    CHECK(serve_slice_is(element, "{\"a\": 2}"));
    REQUIRE(serve_slice_next(&rest, &element));
    CHECK(serve_slice_is(element, "\"x\""));
    CHECK(!serve_slice_next(&rest, &element));
    rest = slice("[]");
    CHECK(!serve_slice_next(&rest, &element));
}

TEST_MAIN()
