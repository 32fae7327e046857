/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "test.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <taskglass/json.h>

static struct tg_json json;
static char *text;
static size_t size;

static void start(void)
{
    free(text);
    text = NULL;
    tg_json_start(&json, open_memstream(&text, &size));
}

/* Finishes, and leaves the written text in `text`. */
static tg_status finish(void)
{
    FILE *file = json.file;
    tg_status status = tg_json_finish(&json);
    fclose(file);
    return status;
}

static void check_text(const char *want)
{
    CHECK_EQ_I(finish(), TG_OK);
    CHECK_EQ_S(text, want);
    free(text);
    text = NULL;
}

/* Checks that the calls so far are refused, because they give no valid JSON. */
static void check_refused(void)
{
    CHECK_EQ_I(finish(), TG_BAD_ARGUMENT);
    free(text);
    text = NULL;
}

TEST(a_document_is_indented_by_two)
{
    start();
    tg_json_begin_object(&json);
    tg_json_key(&json, "a");
    tg_json_int(&json, -1);
    tg_json_key(&json, "b");
    tg_json_begin_array(&json);
    tg_json_uint(&json, 2);
    tg_json_bool(&json, true);
    tg_json_null(&json);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    check_text("{\n  \"a\": -1,\n  \"b\": [\n    2,\n    true,\n    null\n  ]\n}\n");
}

TEST(a_line_container_and_all_it_holds_stay_on_one_line)
{
    start();
    tg_json_begin_array(&json);
    tg_json_begin_line_object(&json);
    tg_json_key(&json, "shape");
    tg_json_begin_array(&json);
    tg_json_int(&json, 1);
    tg_json_int(&json, 2);
    tg_json_end_array(&json);
    tg_json_key(&json, "none");
    tg_json_begin_line_array(&json);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    tg_json_begin_object(&json);
    tg_json_key(&json, "k");
    tg_json_bool(&json, false);
    tg_json_end_object(&json);
    tg_json_end_array(&json);
    check_text("[\n  {\"shape\": [1, 2], \"none\": []},\n  {\n    \"k\": false\n  }\n]\n");
}

TEST(empty_containers_take_no_line)
{
    start();
    tg_json_begin_array(&json);
    tg_json_begin_object(&json);
    tg_json_end_object(&json);
    tg_json_begin_array(&json);
    tg_json_end_array(&json);
    tg_json_end_array(&json);
    check_text("[\n  {},\n  []\n]\n");
}

TEST(a_document_may_be_one_value)
{
    start();
    tg_json_string(&json, "alone");
    check_text("\"alone\"\n");
}

TEST(documents_one_after_the_other_make_json_lines)
{
    start();
    for (int i = 0; i < 2; i++) {
        tg_json_begin_line_object(&json);
        tg_json_key(&json, "i");
        tg_json_int(&json, i);
        tg_json_end_object(&json);
        if (i == 0)
            CHECK_EQ_I(tg_json_finish(&json), TG_OK);
    }
    check_text("{\"i\": 0}\n{\"i\": 1}\n");
}

static void check_string(const char *value, const char *want)
{
    start();
    tg_json_string(&json, value);
    check_text(want);
}

TEST(strings_are_escaped)
{
    check_string("", "\"\"\n");
    check_string("say \"hi\" \\ /", "\"say \\\"hi\\\" \\\\ /\"\n");
    check_string("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"\n");
    check_string("\x01\x1b[0m\x7f", "\"\\u0001\\u001b[0m\\u007f\"\n");
    check_string(NULL, "null\n");
}

TEST(utf_8_stays_as_it_is)
{
    check_string("é€😀߿ࠀ퟿\uffff\U00010000\U0010ffff",
                 "\"é€😀߿ࠀ퟿\uffff\U00010000\U0010ffff\"\n");
}

#define BAD "\xef\xbf\xbd"

TEST(bytes_that_are_not_utf_8_are_replaced)
{
    check_string("a\377b", "\"a" BAD "b\"\n");
    check_string("\x80", "\"" BAD "\"\n");
    check_string("\xc3", "\"" BAD "\"\n"); /* ends too early */
    check_string("\xe2\x82", "\"" BAD BAD "\"\n");
    check_string("\xf0\x9f\x98!", "\"" BAD BAD BAD "!\"\n");
    check_string("\xc0\xaf", "\"" BAD BAD "\"\n"); /* overlong */
    check_string("\xe0\x80\xaf", "\"" BAD BAD BAD "\"\n");
    check_string("\xed\xa0\x80", "\"" BAD BAD BAD "\"\n");         /* a surrogate */
    check_string("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"\n"); /* past the last character */
}

TEST(keys_are_escaped_too)
{
    start();
    tg_json_begin_line_object(&json);
    tg_json_key(&json, "a\"b\n");
    tg_json_null(&json);
    tg_json_end_object(&json);
    check_text("{\"a\\\"b\\n\": null}\n");
}

TEST(integers_are_written_in_full)
{
    start();
    tg_json_begin_line_array(&json);
    tg_json_int(&json, INT64_MIN);
    tg_json_uint(&json, UINT64_MAX);
    tg_json_hex(&json, 0x12ab);
    tg_json_hex(&json, UINT64_MAX);
    tg_json_end_array(&json);
    check_text("[-9223372036854775808, 18446744073709551615, \"0x00000000000012ab\", "
               "\"0xffffffffffffffff\"]\n");
}

static void check_real(double value, const char *want)
{
    start();
    tg_json_real(&json, value);
    check_text(want);
}

TEST(reals_have_as_few_digits_as_they_need)
{
    check_real(0, "0.0\n");
    check_real(-0.0, "-0.0\n");
    check_real(10, "10.0\n");
    check_real(0.1, "0.1\n");
    check_real(-2.5e-7, "-2.5e-07\n");
    check_real(1e30, "1e+30\n");
    check_real(1.0 / 3, "0.3333333333333333\n");
    check_real(0.1 + 0.2, "0.30000000000000004\n");
    check_real(1.7976931348623157e308, "1.7976931348623157e+308\n");
}

TEST(reals_that_json_has_no_number_for_are_strings)
{
    check_real(NAN, "\"NaN\"\n");
    check_real(-NAN, "\"NaN\"\n");
    check_real(INFINITY, "\"Infinity\"\n");
    check_real(-INFINITY, "\"-Infinity\"\n");
}

TEST(every_real_reads_back_as_itself)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        double value;
        state = state * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        start();
        tg_json_real(&json, value);
        CHECK_EQ_I(finish(), TG_OK);
        CHECK(strtod(text, NULL) == value);
    }
    free(text);
    text = NULL;
}

TEST(the_decimal_point_is_a_point_in_every_locale)
{
    const char *locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool found = false;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && !found; i++)
        found = setlocale(LC_NUMERIC, locales[i]) != NULL;
    if (!found)
        SKIP("no locale with a decimal comma here");
    check_real(0.1, "0.1\n");
    check_real(10, "10.0\n");
    check_real(-1.5e-9, "-1.5e-09\n");
    setlocale(LC_NUMERIC, "C");
}

TEST(a_value_without_a_key_is_refused_in_an_object)
{
    start();
    tg_json_begin_object(&json);
    tg_json_int(&json, 1);
    tg_json_end_object(&json);
    check_refused();
}

TEST(a_key_is_refused_outside_an_object)
{
    start();
    tg_json_begin_array(&json);
    tg_json_key(&json, "a");
    tg_json_int(&json, 1);
    tg_json_end_array(&json);
    check_refused();
}

TEST(a_key_without_a_value_is_refused)
{
    start();
    tg_json_begin_object(&json);
    tg_json_key(&json, "a");
    tg_json_end_object(&json);
    check_refused();
    start();
    tg_json_begin_object(&json);
    tg_json_key(&json, "a");
    tg_json_key(&json, "b");
    tg_json_int(&json, 1);
    tg_json_end_object(&json);
    check_refused();
}

TEST(an_end_must_match_its_begin)
{
    start();
    tg_json_begin_object(&json);
    tg_json_end_array(&json);
    check_refused();
    start();
    tg_json_int(&json, 1);
    tg_json_end_object(&json);
    check_refused();
    start();
    tg_json_begin_object(&json);
    check_refused();
}

TEST(nothing_and_two_values_are_no_document)
{
    start();
    check_refused();
    start();
    tg_json_int(&json, 1);
    tg_json_int(&json, 2);
    check_refused();
}

TEST(nesting_has_a_limit)
{
    start();
    for (int i = 0; i < TG_JSON_MAX_DEPTH; i++)
        tg_json_begin_line_array(&json);
    for (int i = 0; i < TG_JSON_MAX_DEPTH; i++)
        tg_json_end_array(&json);
    CHECK_EQ_I(finish(), TG_OK);
    start();
    for (int i = 0; i <= TG_JSON_MAX_DEPTH; i++)
        tg_json_begin_line_array(&json);
    check_refused();
}

/* --- a buffer ---------------------------------------------------------------------------------- */

static void put_list(int from, int to)
{
    tg_json_begin_line_array(&json);
    for (int i = from; i < to; i++)
        tg_json_int(&json, i);
    tg_json_end_array(&json);
}

TEST(a_buffer_without_a_file_keeps_the_text)
{
    char buffer[64];
    tg_json_start_buffer(&json, buffer, sizeof buffer, -1, 0);
    tg_json_begin_line_object(&json);
    TG_JSON_KEY(&json, "a");
    tg_json_quoted_uint(&json, UINT64_MAX);
    tg_json_key(&json, "b");
    tg_json_quoted_int(&json, INT64_MIN);
    tg_json_end_object(&json);
    CHECK_EQ_I(tg_json_finish(&json), TG_OK);
    buffer[json.used] = '\0';
    CHECK_EQ_S(buffer, "{\"a\": \"18446744073709551615\", \"b\": \"-9223372036854775808\"}\n");
}

TEST(text_that_does_not_fit_memory_is_no_memory)
{
    char buffer[16];
    tg_json_start_buffer(&json, buffer, sizeof buffer, -1, 0);
    put_list(0, 20);
    CHECK(json.used <= sizeof buffer);
    CHECK_EQ_I(tg_json_finish(&json), TG_NO_MEMORY);
}

TEST(a_buffer_of_any_size_gives_the_same_file)
{
    static const char want[] = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n\"words of some length\"\n";
    for (size_t room = 1; room < 40; room++) {
        char buffer[40], got[sizeof want + 8] = "";
        FILE *file = tmpfile();
        REQUIRE(file);
        REQUIRE(fwrite("head ", 1, 5, file) == 5 && fflush(file) == 0);
        tg_json_start_buffer(&json, buffer, room, fileno(file), 5);
        put_list(0, 12);
        tg_json_end_line(&json);
        tg_json_string(&json, "words of some length");
        tg_json_end_line(&json);
        CHECK_EQ_I(tg_json_finish(&json), TG_OK);
        rewind(file);
        CHECK(fread(got, 1, sizeof got - 1, file) == 5 + sizeof want - 1);
        CHECK_EQ_S(got + 5, want);
        fclose(file);
    }
}

TEST(a_buffer_with_a_full_disk_is_reported_at_the_end)
{
    char buffer[64];
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        SKIP("no /dev/full here");
    tg_json_start_buffer(&json, buffer, sizeof buffer, fileno(full), 0);
    for (int i = 0; i < 100; i++) {
        put_list(0, 100);
        tg_json_end_line(&json);
    }
    errno = 0;
    CHECK_EQ_I(tg_json_finish(&json), TG_IO_ERROR);
    CHECK_EQ_I(errno, ENOSPC);
    fclose(full);
}

TEST(a_float_has_as_few_digits_as_give_it_again)
{
    start();
    tg_json_begin_line_array(&json);
    tg_json_float(&json, 0.1f);
    tg_json_float(&json, 3.0f);
    tg_json_float(&json, -0.0f);
    tg_json_float(&json, 1e30f);
    tg_json_float(&json, 16777216.0f);
    tg_json_end_array(&json);
    check_text("[0.1, 3.0, -0.0, 1e+30, 16777216.0]\n");
}

TEST(a_full_disk_is_reported_at_the_end)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        SKIP("no /dev/full here");
    tg_json_start(&json, full);
    tg_json_begin_array(&json);
    for (int i = 0; i < 100000; i++)
        tg_json_int(&json, i);
    tg_json_end_array(&json);
    errno = 0;
    CHECK_EQ_I(tg_json_finish(&json), TG_IO_ERROR);
    CHECK_EQ_I(errno, ENOSPC);
    fclose(full);
}

TEST(characters_that_act_on_a_terminal_are_escaped)
{
    struct tg_json json;
    char text[200];
    tg_json_start_buffer(&json, text, sizeof text, -1, 0);
    tg_json_string(&json, "\x1b\x7f\xc2\x9b\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81\xff é");
    CHECK(tg_json_finish(&json) == TG_OK);
    text[json.used] = '\0';
    CHECK_EQ_S(text, "\"\\u001b\\u007f\\u009b\\u202e\\ufeff\\udb40\\udc41\xef\xbf\xbd é\"\n");
}

TEST_MAIN()
