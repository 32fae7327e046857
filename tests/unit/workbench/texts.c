/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "workbench/texts.h"

TEST(each_text_has_one_number_in_the_order_of_coming)
{
    struct tg_texts texts = {0};
    uint32_t number;
    char text[16];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "text %u", i);
            CHECK(tg_texts_add(&texts, text, &number));
            CHECK_EQ_U(number, i);
        }
    CHECK_EQ_U(texts.count, 1000);
    CHECK_EQ_S(texts.text[999], "text 999");
    CHECK(tg_texts_add(&texts, "", &number));
    CHECK_EQ_U(number, 1000);
    tg_texts_free(&texts);
}

TEST_MAIN()
