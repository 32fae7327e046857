/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: their texts are decoded and bounded, whoever sends them. */
#include "test.h"

#include "workbench/ask.h"

static struct tg_ask ask;
static struct tg_error error;

TEST(a_request_has_a_name_and_parameters)
{
    CHECK_EQ_I(tg_ask_parse("tensor?run=a%20b+c&record=5", &ask, &error), TG_OK);
    CHECK_EQ_S(ask.name, "tensor");
    CHECK_EQ_S(tg_ask_text(&ask, "run"), "a b c");
    CHECK_EQ_S(tg_ask_text(&ask, "record"), "5");
    CHECK(!tg_ask_text(&ask, "other"));
}

TEST(a_request_without_parameters_is_its_name)
{
    CHECK_EQ_I(tg_ask_parse("runs", &ask, &error), TG_OK);
    CHECK_EQ_S(ask.name, "runs");
    CHECK_EQ_U(ask.n_parameters, 0);
    CHECK_EQ_I(tg_ask_parse("runs?", &ask, &error), TG_OK);
    CHECK_EQ_U(ask.n_parameters, 0);
}

TEST(what_is_no_request_is_refused)
{
    static const char *const wrong[] = {"a?b",     "a?b=%",        "a?b=%2",  "a?b=%zz",
                                        "a?b=%00", "a?b=%ff",      "a?%c3=1", "a?b=1&b=2",
                                        "a?&",     "a?b=%ed%a0%80"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (!CHECK_EQ_I(tg_ask_parse(wrong[i], &ask, &error), TG_BAD_ARGUMENT))
            fprintf(stderr, "%s\n", wrong[i]);
}

TEST(a_request_is_bounded_in_length_and_parameters)
{
    static char text[TG_ASK_TEXT + 8];
    memset(text, 'x', TG_ASK_TEXT);
    CHECK_EQ_I(tg_ask_parse(text, &ask, &error), TG_OK);
    text[TG_ASK_TEXT] = 'x';
    CHECK_EQ_I(tg_ask_parse(text, &ask, &error), TG_BAD_ARGUMENT);
    int used = snprintf(text, sizeof text, "x?");
    for (int i = 0; i <= TG_ASK_PARAMETERS; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "p%d=1&", i);
    CHECK_EQ_I(tg_ask_parse(text, &ask, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "at most 32 parameters");
}

TEST(a_number_is_decimal_and_in_its_range)
{
    uint64_t value;
    static const char *const wrong[] = {
        "", "-1", "0x5", "5 ", " 5", "4", "11", "1e1", "99999999999999999999999"};
    CHECK_EQ_I(tg_ask_parse("x?n=7", &ask, &error), TG_OK);
    CHECK_EQ_I(tg_ask_uint(&ask, "n", 5, 10, 6, &value, &error), TG_OK);
    CHECK_EQ_U(value, 7);
    CHECK_EQ_I(tg_ask_uint(&ask, "m", 5, 10, 6, &value, &error), TG_OK);
    CHECK_EQ_U(value, 6);
    CHECK_EQ_I(tg_ask_uint(&ask, "m", 5, 10, UINT64_MAX, &value, &error), TG_BAD_ARGUMENT);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ask.parameter[0].value = wrong[i];
        CHECK_EQ_I(tg_ask_uint(&ask, "n", 5, 10, 6, &value, &error), TG_BAD_ARGUMENT);
    }
}

TEST(a_parameter_that_nobody_knows_is_noticed)
{
    CHECK_EQ_I(tg_ask_parse("x?a=1&b=2", &ask, &error), TG_OK);
    (void)tg_ask_text(&ask, "a");
    CHECK_EQ_I(tg_ask_check_all_used(&ask, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "request 'x' has no parameter 'b'");
    (void)tg_ask_text(&ask, "b");
    CHECK_EQ_I(tg_ask_check_all_used(&ask, &error), TG_OK);
}

TEST_MAIN()
