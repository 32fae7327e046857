/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wrap.h"

#include <stdlib.h>

#include "test.h"

static char *printed;

static const char *wrap(const char *text, int at, int indent, int width)
{
    size_t size;
    free(printed);
    FILE *stream = open_memstream(&printed, &size);
    REQUIRE(stream != NULL);
    cli_wrap(stream, text, at, indent, width);
    fclose(stream);
    return printed;
}

TEST(a_text_that_fits_stays_on_its_line)
{
    CHECK_EQ_S(wrap("one two", 0, 4, 7), "one two\n");
    CHECK_EQ_S(wrap("", 0, 4, 7), "\n");
}

TEST(a_line_breaks_between_words_and_goes_on_indented)
{
    CHECK_EQ_S(wrap("one two three", 0, 2, 8), "one two\n  three\n");
    CHECK_EQ_S(wrap("one two three", 4, 4, 8), "one\n    two\n    three\n");
}

TEST(what_stands_on_the_first_line_already_counts)
{
    CHECK_EQ_S(wrap("one two", 6, 2, 9), "one\n  two\n");
    CHECK_EQ_S(wrap("one two", 8, 2, 9), "\n  one two\n");
}

TEST(a_word_longer_than_a_line_stays_whole)
{
    CHECK_EQ_S(wrap("a /long/path/name b", 0, 2, 8), "a\n  /long/path/name\n  b\n");
    CHECK_EQ_S(wrap("/long/path/name", 2, 2, 8), "/long/path/name\n");
}

TEST(a_line_break_in_the_text_begins_a_line)
{
    CHECK_EQ_S(wrap("one\ntwo", 0, 2, 80), "one\n  two\n");
    CHECK_EQ_S(wrap("one\n\ntwo", 0, 2, 80), "one\n\n  two\n");
}

TEST(spaces_between_words_stay_except_at_the_end_of_a_line)
{
    CHECK_EQ_S(wrap("one   two", 0, 0, 80), "one   two\n");
    CHECK_EQ_S(wrap("one   two", 0, 0, 8), "one\ntwo\n");
    CHECK_EQ_S(wrap("one ", 0, 0, 80), "one\n");
}

TEST(glued_words_stay_together)
{
    CHECK_EQ_S(wrap("one two\x1fthree", 0, 0, 9), "one\ntwo three\n");
}

TEST(a_character_of_several_bytes_is_one_column)
{
    CHECK_EQ_S(wrap("µµµ µµµ µ", 0, 0, 7), "µµµ µµµ\nµ\n");
}

TEST_MAIN()
