/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <taskglass/text.h>

#include "base/files.h"

static void check_file(const char *text, const char *want)
{
    char file[256];
    CHECK_EQ_S(tg_name_to_file(text, file, sizeof file), want);
}

TEST(a_clean_text_is_one_line_and_says_where_it_was_cut)
{
    char clean[12];
    CHECK_EQ_S(tg_text_clean("a\nb\tc\x1b", clean, sizeof clean), "a?b?c?");
    CHECK_EQ_S(tg_text_clean("12345678901", clean, sizeof clean), "12345678901");
    CHECK_EQ_S(tg_text_clean("123456789012", clean, sizeof clean), "12345678…");
    CHECK_EQ_S(tg_text_clean("1234567éééé", clean, sizeof clean), "1234567…");
    CHECK_EQ_S(tg_text_clean(NULL, clean, sizeof clean), "");
    CHECK_EQ_S(tg_text_clean("abc", clean, 0), "");
}

TEST(a_plain_name_stays_as_it_is)
{
    check_file("matmul_case_20260101_120000", "matmul_case_20260101_120000");
    check_file("é + ö", "é + ö");
    check_file("v1.2-rc.npz", "v1.2-rc.npz");
}

TEST(a_path_gives_its_last_part)
{
    check_file("../../x", "x");
    check_file("/etc/passwd", "passwd");
    check_file("outputs/run/", "run");
    check_file("..\\..\\x", "_.._x");
    check_file("C:\\x", "C__x");
}

TEST(a_name_is_never_empty_nor_hidden_nor_an_option)
{
    static const char *const nothing[] = {"",    "/",   ".",  "..",  "../..",
                                          "...", "- -", "./", "---", " "};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        check_file(nothing[i], "unnamed");
    check_file(NULL, "unnamed");
    check_file(".bashrc", "bashrc");
    check_file("-rf", "rf");
    check_file("--force", "force");
    check_file("x. . ", "x");
}

TEST(what_is_not_inert_becomes_an_underscore)
{
    check_file("a\nb\x1b[0m", "a_b_[0m");
    check_file("a\xe2\x80\xae"
               "b\xff",
               "a___b_");
    check_file("a*b?c", "a_b_c");
}

TEST(names_of_devices_on_windows_get_an_underscore)
{
    check_file("NUL", "_NUL");
    check_file("com1.npz", "_com1.npz");
    check_file("console", "console");
    check_file("com10", "com10");
}

TEST(a_long_name_is_cut_between_characters)
{
    char text[1001], file[256], small[8];
    for (size_t i = 0; i < 1000; i += 2) {
        text[i] = '\xc3';
        text[i + 1] = '\xa9';
    }
    text[1000] = '\0';
    CHECK_EQ_U(strlen(tg_name_to_file(text, file, sizeof file)), TG_FILE_NAME_MAX);
    CHECK(tg_path_is_plain(file));
    text[0] = text[1] = 'x';
    CHECK_EQ_S(tg_name_to_file(text, small, sizeof small), "xxéé");
}

static const char *shell_word(const char *text)
{
    static char word[64];
    CHECK(tg_text_shell_word(text, word, sizeof word));
    return word;
}

TEST(a_word_for_a_shell_is_quoted_only_if_it_must_be)
{
    CHECK_EQ_S(shell_word("/home/me/a-b_c.so"), "/home/me/a-b_c.so");
    CHECK_EQ_S(shell_word("/home/my files/a.so"), "'/home/my files/a.so'");
    CHECK_EQ_S(shell_word("it's"), "'it'\\''s'");
    CHECK_EQ_S(shell_word("$(reboot);"), "'$(reboot);'");
    CHECK_EQ_S(shell_word("ä.so"), "'ä.so'");
    CHECK_EQ_S(shell_word("--cores=4"), "--cores=4");
    CHECK_EQ_S(shell_word("=ls"), "'=ls'");
    CHECK_EQ_S(shell_word(""), "''");
}

TEST(characters_that_a_terminal_must_not_get_are_escaped)
{
    CHECK_EQ_S(shell_word("a\nb'\\c"), "$'a\\012b\\047\\134c'");
    CHECK_EQ_S(shell_word("\xe2\x80\xae.so"), "$'\\342\\200\\256.so'");
    CHECK_EQ_S(shell_word("\033[31m9"), "$'\\033[31m9'");
}

TEST(a_word_that_does_not_fit_is_not_cut)
{
    char word[6];
    CHECK(tg_text_shell_word("12345", word, sizeof word));
    CHECK(!tg_text_shell_word("123456", word, sizeof word));
    CHECK_EQ_S(word, "");
    CHECK(!tg_text_shell_word("1 45", word, sizeof word));
    CHECK(!tg_text_shell_word("1", word, 0));
    CHECK(tg_text_shell_word(NULL, word, sizeof word));
    CHECK_EQ_S(word, "''");
}

TEST_MAIN()
