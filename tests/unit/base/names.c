/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/names.h"

static void check_clean(const char *text, const char *want)
{
    char clean[64];
    tg_name_clean(text, strlen(text), clean, sizeof clean);
    CHECK_EQ_S(clean, want);
}

TEST(control_characters_and_broken_utf8_become_question_marks)
{
    check_clean("add_f32", "add_f32");
    check_clean("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    check_clean("a\x1b[31mb\nc\x7f", "a?[31mb?c?");
    check_clean("\xc2\x9b", "??");           /* a C1 control character */
    check_clean("\xc0\xaf", "??");           /* overlong */
    check_clean("\xed\xa0\x80", "???");      /* a surrogate */
    check_clean("\xf4\x90\x80\x80", "????"); /* past the last character */
    check_clean("\xe2\x82", "??");           /* cut off */
    check_clean("\xff\xfe", "??");
    check_clean("a\xe2\x80\xae"
                "b",
                "a???b");                    /* U+202E turns the direction of text */
    check_clean("\xd8\x9c", "??");           /* U+061C */
    check_clean("\xe2\x80\x8b", "???");      /* U+200B has no width */
    check_clean("\xe2\x80\xa8", "???");      /* U+2028 ends a line */
    check_clean("\xef\xbb\xbf", "???");      /* U+FEFF */
    check_clean("\xf3\xa0\x81\x81", "????"); /* U+E0041, a tag */
    check_clean("\xe2\x80\x94\xef\xbf\xbd", "\xe2\x80\x94\xef\xbf\xbd");
}

TEST(a_name_is_cut_between_characters)
{
    char clean[4];
    tg_name_clean("ab\xe2\x82\xac", 5, clean, sizeof clean);
    CHECK_EQ_S(clean, "ab");
    tg_name_clean("abcdef", 6, clean, sizeof clean);
    CHECK_EQ_S(clean, "abc");
    tg_name_clean("a\0b", 3, clean, sizeof clean);
    CHECK_EQ_S(clean, "a");
}

TEST(each_name_is_kept_once)
{
    struct tg_names names = {0};
    const char *first[2000];
    char name[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2000; i++) {
            snprintf(name, sizeof name, "kernel_%d", i);
            const char *kept = tg_names_add(&names, name, strlen(name));
            REQUIRE(kept);
            CHECK_EQ_S(kept, name);
            if (round == 0)
                first[i] = kept;
            CHECK(kept == first[i]);
        }
    CHECK_EQ_U(names.count, 2000);
    CHECK(tg_names_add(&names, "kernel_7xyz", 8) == first[7]);
    tg_names_free(&names);
}

TEST_MAIN()
