/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/error.h"

static struct tg_error error;

/* A text of `length` letters, then `tail`. */
static const char *long_text(size_t length, const char *tail)
{
    static char text[2000];
    memset(text, 'x', length);
    strcpy(text + length, tail);
    return text;
}

static size_t room(void)
{
    return sizeof error.text - 1;
}

TEST(the_status_comes_back_and_the_text_is_formatted)
{
    CHECK_EQ_I(tg_error_set(&error, TG_NOT_FOUND, "%s: no task %d", "graph", 7), TG_NOT_FOUND);
    CHECK_EQ_I(error.status, TG_NOT_FOUND);
    CHECK_EQ_S(error.text, "graph: no task 7");
}

TEST(the_text_is_optional)
{
    CHECK_EQ_I(tg_error_set(NULL, TG_BUSY, "%s", "unread"), TG_BUSY);
}

TEST(the_text_stays_on_one_line)
{
    tg_error_set(&error, TG_BAD_ARGUMENT, "%s", "a\nb\tc\r\x1b[31md\x7f");
    CHECK_EQ_S(error.text, "a b c  [31md ");
}

TEST(letters_beyond_ascii_stay_as_they_are)
{
    tg_error_set(&error, TG_IO_ERROR, "%s", "größe…");
    CHECK_EQ_S(error.text, "größe…");
}

TEST(a_text_that_just_fits_is_whole)
{
    tg_error_set(&error, TG_IO_ERROR, "%s", long_text(room(), ""));
    CHECK_EQ_U(strlen(error.text), room());
    CHECK_EQ_I(error.text[room() - 1], 'x');
}

TEST(a_text_that_does_not_fit_ends_in_an_ellipsis)
{
    tg_error_set(&error, TG_IO_ERROR, "%s", long_text(room() + 1, ""));
    CHECK_EQ_U(strlen(error.text), room());
    CHECK_EQ_S(error.text + room() - strlen("x…"), "x…");
}

TEST(no_character_is_cut_in_half)
{
    /* The cut falls at three different places within the euro sign's bytes. */
    for (size_t before = 1; before <= 3; before++) {
        tg_error_set(&error, TG_IO_ERROR, "%s", long_text(room() - 3 - before, "€ and more"));
        if (before == 3)
            CHECK_EQ_S(error.text + room() - strlen("x€…"), "x€…");
        else
            CHECK_EQ_S(error.text + strlen(error.text) - strlen("x…"), "x…");
    }
}

TEST(a_caller_can_put_something_in_front_of_the_text)
{
    tg_error_set(&error, TG_NOT_FOUND, "no such file");
    tg_error_set(&error, error.status, "module: %s", error.text);
    CHECK_EQ_S(error.text, "module: no such file");
}

TEST_MAIN()
