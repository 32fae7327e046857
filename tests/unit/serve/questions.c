/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/questions.h"
#include "serve/slices.h"
#include "test.h"

#include <stdlib.h>

static struct serve_query query;
static struct serve_command command;
static struct tg_error error;

static const char *path_of(void *context, const char *key)
{
    (void)context;
    if (strcmp(key, "good") == 0)
        return "outputs/good";
    if (strcmp(key, "odd") == 0)
        return "-out puts/it's $(touch x)";
    return NULL;
}

static tg_status make(const char *text)
{
    tg_status status = serve_query_read(text, &query, &error);
    return status == TG_OK ? serve_question_make(&query, path_of, NULL, &command, &error) : status;
}

static bool has_word(const char *word)
{
    for (unsigned i = 0; i < command.n; i++)
        if (strcmp(command.argv[i], word) == 0)
            return true;
    return false;
}

TEST(a_question_becomes_a_command_that_a_user_can_paste)
{
    REQUIRE(make("verb=find&what=nan&run=good&kernel=add*") == TG_OK);
    CHECK_EQ_S(command.text, "taskglass find nan outputs/good --kernel 'add*'");
    CHECK_EQ_S(command.argv[0], "taskglass");
    CHECK_EQ_S(command.argv[1], "find");
    CHECK_EQ_S(command.argv[2], "nan");
    CHECK_EQ_S(command.argv[3], "outputs/good");
    CHECK_EQ_S(command.argv[4], "--kernel=add*");
    CHECK(has_word("--json"));
    CHECK(command.argv[command.n] == NULL);
}

TEST(two_runs_are_named_in_their_order)
{
    REQUIRE(make("b=odd&verb=diff&blame=1&run=good") == TG_OK);
    CHECK_EQ_S(command.argv[2], "outputs/good");
    CHECK_EQ_S(command.argv[3], "./-out puts/it's $(touch x)");
    CHECK(has_word("--blame"));
}

TEST(a_path_that_looks_like_an_option_or_a_command_stays_a_path)
{
    REQUIRE(make("verb=verify&run=odd") == TG_OK);
    CHECK_EQ_S(command.argv[2], "./-out puts/it's $(touch x)");
    CHECK_HAS(command.text, "'./-out puts/it'");
}

TEST(options_that_load_or_run_something_do_not_exist)
{
    static const char *const names[] = {
        "module", "device-program", "platform", "against", "sandbox",
        "output", "json",           "limit",    "help",    "b"};
    char text[100];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, "verb=check&run=good&%s=x", names[i]);
        CHECK_EQ_S(make(text) != TG_BAD_ARGUMENT ? text : "none", "none");
    }
}

TEST(verbs_that_are_no_question_do_not_exist)
{
    static const char *const wrong[] = {"verb=run&run=good",
                                        "verb=replay&run=good",
                                        "verb=export&run=good",
                                        "verb=recover&run=good",
                                        "verb=find&run=good",
                                        "verb=find&what=x&run=good",
                                        "verb=&run=good",
                                        "run=good",
                                        "verb=check&what=nan&run=good",
                                        "verb=--help&run=good",
                                        "verb=verify",
                                        "verb=diff&run=good",
                                        "verb=diff&run=good&b="};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ_S(make(wrong[i]) == TG_OK ? wrong[i] : "none", "none");
}

TEST(a_value_is_never_an_option)
{
    CHECK_EQ_I(make("verb=stats&run=good&task=--module=x.so"), TG_BAD_ARGUMENT);
    CHECK_EQ_I(make("verb=stats&run=good&task=-1"), TG_BAD_ARGUMENT);
    CHECK_EQ_I(make("verb=stats&run=good&task="), TG_BAD_ARGUMENT);
    CHECK_EQ_I(make("verb=diff&run=good&b=good&blame=x"), TG_BAD_ARGUMENT);
    REQUIRE(make("verb=stats&run=good&task=1%20--module=x.so") == TG_OK);
    CHECK_EQ_S(command.argv[3], "--task=1 --module=x.so");
}

TEST(an_unknown_run_is_not_found)
{
    CHECK_EQ_I(make("verb=stats&run=nowhere"), TG_NOT_FOUND);
    CHECK_EQ_I(make("verb=diff&run=good&b=nowhere"), TG_NOT_FOUND);
}

TEST(the_list_of_questions_is_json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    REQUIRE(file != NULL);
    CHECK_EQ_I(serve_questions_write(file), TG_OK);
    fclose(file);
    CHECK(serve_slice_is_json((struct serve_slice){text, size}));
    free(text);
}

TEST_MAIN()
