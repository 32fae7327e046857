/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "host/text.h"
#include "test.h"

TEST(parts_of_a_line_are_separated)
{
    char line[40] = "";
    tg_text_add(line, sizeof line, "one");
    tg_text_add(line, sizeof line, "two");
    CHECK_EQ_S(line, "one; two");
}

TEST(a_part_that_is_too_long_keeps_its_begin_and_its_end)
{
    char line[20] = "";
    tg_text_add(line, sizeof line, "cannot write '/a/long/path': full");
    CHECK_EQ_S(line, "cannot wr…': full");
}

TEST(the_older_text_makes_room_for_the_newer)
{
    char line[40] = "";
    tg_text_add(line, sizeof line, "cannot write '/a/path/x.bin': No space");
    tg_text_add(line, sizeof line, "run.json missing");
    CHECK_HAS(line, "cannot wri");
    CHECK_HAS(line, "No space; run.json missing");
    CHECK(strlen(line) < sizeof line);
}

TEST(a_character_is_never_cut)
{
    char line[12];
    for (size_t room = 8; room <= sizeof line; room++) {
        line[0] = '\0';
        tg_text_add(line, room, "ääääääääääääääää");
        CHECK(strlen(line) < room);
        for (const char *at = line; *at;) {
            bool is_whole = strncmp(at, "ä", 2) == 0 || strncmp(at, "…", 3) == 0;
            CHECK(is_whole);
            at += strncmp(at, "ä", 2) == 0 ? 2 : 3;
        }
    }
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
    CHECK_EQ_S(shell_word("-x"), "'-x'");
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
}

TEST_MAIN()
