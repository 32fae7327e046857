/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include "test.h"

static const char breaks[] = " \t\n\"'><=;|&(:";

static struct cli_line split(const char *text)
{
    struct cli_line line;
    REQUIRE(cli_line_split(text, breaks, &line));
    return line;
}

static void check_words(const char *text, int n, const char *last)
{
    struct cli_line line = split(text);
    CHECK_EQ_I(line.n_words, n);
    CHECK_EQ_S(line.words[line.n_words - 1], last);
    cli_line_free(&line);
}

TEST(a_line_is_split_at_spaces)
{
    check_words("", 1, "");
    check_words("  a", 1, "a");
    check_words("a b", 2, "b");
    check_words("a \t b ", 3, "");
}

TEST(quotes_and_backslashes_keep_spaces_and_go)
{
    check_words("a b\\ c", 2, "b c");
    check_words("a 'b c", 2, "b c");
    check_words("a 'b c'd", 2, "b cd");
    check_words("a \"b c\\\"d", 2, "b c\"d");
    check_words("a \"b\\x", 2, "b\\x");
    check_words("a 'b\\x", 2, "b\\x");
    check_words("a b\\", 2, "b\\");
}

static void check_kept(const char *text, size_t kept, char quote)
{
    struct cli_line line = split(text);
    CHECK_EQ_U(line.kept, kept);
    CHECK_EQ_I(line.quote, quote);
    cli_line_free(&line);
}

TEST(readline_replaces_what_comes_after_a_break)
{
    check_kept("a bcd", 0, 0);
    check_kept("a --case=sm", 7, 0);
    check_kept("a b:c", 2, 0);
    check_kept("a b\\:c", 0, 0);
    check_kept("a 'b c", 0, '\'');
    check_kept("a --output=\"b c", 9, '"');
}

TEST(what_must_be_expanded_or_redirected_is_left_to_the_shell)
{
    static const char *const open[] = {"a $b", "a \"$b", "a `b", "a > b", "a >b", "a 2> b"};
    static const char *const closed[] = {"a '$b", "a \\$b", "a > b c", "$a b", "a '>b"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        struct cli_line line = split(open[i]);
        CHECK(line.is_open);
        cli_line_free(&line);
    }
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        struct cli_line line = split(closed[i]);
        CHECK(!line.is_open);
        cli_line_free(&line);
    }
}

static const char *quote(const char *text, const char *candidate)
{
    static char quoted[100];
    struct cli_line line = split(text);
    bool good = cli_line_quote(&line, candidate, quoted, sizeof quoted);
    cli_line_free(&line);
    return good ? quoted : NULL;
}

TEST(a_candidate_is_quoted_as_the_user_began)
{
    CHECK_EQ_S(quote("a ", "b c"), "b\\ c");
    CHECK_EQ_S(quote("a 'b", "b c$d"), "b c$d");
    CHECK_EQ_S(quote("a \"b", "b c$d"), "b c\\$d");
    CHECK_EQ_S(quote("a --x=b", "--x=b;c"), "b\\;c");
    CHECK_EQ_S(quote("a ~/", "~/b"), "~/b");
    CHECK_EQ_S(quote("a ", "~b"), "\\~b");
}

TEST(a_candidate_that_the_open_quotes_cannot_hold_is_left_out)
{
    CHECK(quote("a 'b", "b'c") == NULL);
    CHECK(quote("a \"b", "b!c") == NULL);
}

TEST(a_candidate_that_does_not_fit_is_left_out)
{
    char candidate[200];
    memset(candidate, 'x', sizeof candidate);
    candidate[sizeof candidate - 1] = '\0';
    CHECK(quote("a ", candidate) == NULL);
}

TEST_MAIN()
