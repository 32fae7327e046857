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

TEST_MAIN()
