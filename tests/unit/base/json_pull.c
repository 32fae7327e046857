/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/json_pull.h"

#include <stdlib.h>

/* Heap memory of exactly that size, so that a sanitizer reports every access beyond it. */
static char *copy;
static struct tg_pull pull;

static void start_bytes(const char *text, size_t size)
{
    free(copy);
    copy = malloc(size + (size == 0));
    memcpy(copy, text, size);
    tg_pull_start(&pull, copy, size);
}

static void start(const char *text)
{
    start_bytes(text, strlen(text));
}

/* The tokens as one letter each. */
static const char *tokens(const char *text)
{
    static char letters[200];
    size_t n = 0;
    start(text);
    enum tg_pull_token token;
    while ((token = tg_pull_next(&pull)) > TG_PULL_END && n < sizeof letters - 2)
        letters[n++] = "!.{}[]ksntf0"[token];
    letters[n++] = token == TG_PULL_END ? '.' : '!';
    letters[n] = '\0';
    return letters;
}

TEST(values_come_one_after_the_other)
{
    CHECK_EQ_S(tokens("{}"), "{}.");
    CHECK_EQ_S(tokens(" [ ] "), "[].");
    CHECK_EQ_S(tokens("[1, \"a\", true, false, null, {}, []]"), "[nstf0{}[]].");
    CHECK_EQ_S(tokens("{\"a\": 1, \"b\": {\"c\": [2]}}"), "{knk{k[n]}}.");
    CHECK_EQ_S(tokens("\t\r\n-0.5e+3\n"), "n.");
    CHECK_EQ_S(tokens("\"\""), "s.");
}

TEST(what_is_no_json_is_refused)
{
    static const char *const broken[] = {
        "",
        "[",
        "]",
        "{",
        "}",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "{a:1}",
        "[1}",
        "{\"a\":1]",
        "tru",
        "nul",
        "True",
        "NaN",
        "Infinity",
        "+1",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "--1",
        "0x10",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\",
        "\"\n\"",
        "1 2",
        "{} {}",
        "[] x",
        "'a'",
        "// c\n1",
        "[1,,2]",
        "{\"a\" 1}",
        "\"a\" \"b\"",
        "truefalse",
        "[true false]",
        "{\"a\":1 \"b\":2}",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *got = tokens(broken[i]);
        if (!CHECK(got[strlen(got) - 1] == '!'))
            fprintf(stderr, "  for %s\n", broken[i]);
        CHECK(pull.problem);
        CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_ERROR);
    }
    start_bytes("[\0]", 3);
    tg_pull_next(&pull);
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_ERROR);
}

TEST(every_prefix_of_a_document_is_refused)
{
    static const char text[] = "{\"a\\u00e9\": [1.5e-3, true, {\"b\": null}], \"c\": \"x\\ny\"}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        start_bytes(text, size);
        enum tg_pull_token token;
        while ((token = tg_pull_next(&pull)) > TG_PULL_END)
            ;
        CHECK_EQ_I(token, TG_PULL_ERROR);
    }
}

TEST(nesting_is_limited)
{
    char text[2 * TG_PULL_MAX_DEPTH + 3] = "";
    memset(text, '[', TG_PULL_MAX_DEPTH);
    memset(text + TG_PULL_MAX_DEPTH, ']', TG_PULL_MAX_DEPTH);
    start(text);
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_BEGIN_ARRAY);
    CHECK(tg_pull_skip(&pull));
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_END);
    memset(text, '[', TG_PULL_MAX_DEPTH + 1);
    start(text);
    tg_pull_next(&pull);
    CHECK(!tg_pull_skip(&pull));
    CHECK_EQ_S(pull.problem, "nested too deep");
    char *deep = malloc(1 << 20);
    memset(deep, '{', 1 << 20);
    start_bytes(deep, 1 << 20);
    tg_pull_next(&pull);
    CHECK(!tg_pull_skip(&pull));
    free(deep);
}

TEST(skipping_passes_over_a_whole_value)
{
    start("[[1, {\"a\": [2, 3]}], 4]");
    tg_pull_next(&pull);
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_BEGIN_ARRAY);
    CHECK(tg_pull_skip(&pull));
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_NUMBER);
    CHECK(tg_pull_skip(&pull)); /* nothing is left to skip */
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_END_ARRAY);
    CHECK_EQ_I(tg_pull_next(&pull), TG_PULL_END);
}

static void check_string(const char *json, const char *want)
{
    char text[64];
    start(json);
    REQUIRE(tg_pull_next(&pull) == TG_PULL_STRING);
    CHECK_EQ_U(tg_pull_text(&pull, text, sizeof text), strlen(want));
    CHECK_EQ_S(text, want);
}

TEST(escapes_become_utf8)
{
    check_string("\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\"", "a\"b\\c/\b\f\n\r\t");
    check_string("\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac");
    check_string("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80");
    check_string("\"\\ud83d\"", "\xef\xbf\xbd");
    check_string("\"\\ude00x\"", "\xef\xbf\xbdx");
    check_string("\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                                       "A");
    check_string("\"a\\u0000b\"", "a\xef\xbf\xbd"
                                  "b");
}

TEST(a_long_string_is_cut_between_characters)
{
    char text[5];
    start("\"abc\\u20acdef\"");
    tg_pull_next(&pull);
    CHECK_EQ_U(tg_pull_text(&pull, text, sizeof text), 3);
    CHECK_EQ_S(text, "abc");
    CHECK_EQ_U(tg_pull_text(&pull, text, 1), 0);
    CHECK_EQ_S(text, "");
}

static bool as_u64(const char *json, uint64_t *value)
{
    start(json);
    tg_pull_next(&pull);
    return tg_pull_u64(&pull, value);
}

static bool as_i64(const char *json, int64_t *value)
{
    start(json);
    tg_pull_next(&pull);
    return tg_pull_i64(&pull, value);
}

TEST(integers_are_exact_or_refused)
{
    uint64_t u;
    int64_t i;
    CHECK(as_u64("18446744073709551615", &u) && u == UINT64_MAX);
    CHECK(as_u64("\"18446744073709551615\"", &u) && u == UINT64_MAX);
    CHECK(as_u64("\"0xffffffffffffffff\"", &u) && u == UINT64_MAX);
    CHECK(as_u64("\"0X00aB\"", &u) && u == 0xab);
    CHECK(!as_u64("18446744073709551616", &u));
    CHECK(!as_u64("\"0x10000000000000000\"", &u));
    CHECK(!as_u64("99999999999999999999999999", &u));
    CHECK(!as_u64("-1", &u));
    CHECK(!as_u64("1.0", &u));
    CHECK(!as_u64("1e3", &u));
    CHECK(!as_u64("\"\"", &u));
    CHECK(!as_u64("\"0x\"", &u));
    CHECK(!as_u64("\"12 \"", &u));
    CHECK(!as_u64("true", &u));
    CHECK(as_i64("-9223372036854775808", &i) && i == INT64_MIN);
    CHECK(as_i64("\"9223372036854775807\"", &i) && i == INT64_MAX);
    CHECK(!as_i64("9223372036854775808", &i));
    CHECK(!as_i64("-9223372036854775809", &i));
    CHECK(!as_i64("\"-\"", &i));
    CHECK(!as_i64("null", &i));
}

TEST(reals_are_read_as_doubles)
{
    double value;
    start("-1.5e3");
    tg_pull_next(&pull);
    CHECK(tg_pull_double(&pull, &value) && value == -1500);
    start("1e999");
    tg_pull_next(&pull);
    CHECK(tg_pull_double(&pull, &value) && isinf(value));
    start("\"1.5\"");
    tg_pull_next(&pull);
    CHECK(!tg_pull_double(&pull, &value));
}

TEST(the_line_of_an_error_is_known)
{
    start("{\n\"a\": 1,\n\"b\": x\n}");
    while (tg_pull_next(&pull) > TG_PULL_END)
        ;
    CHECK_EQ_U(tg_pull_line(&pull), 3);
    free(copy);
    copy = NULL;
}

TEST_MAIN()
