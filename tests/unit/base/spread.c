/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that somebody chose so that they meet in a hash table. */
#include <stdio.h>

#include "base/spread.h"
#include "test.h"

enum { KEYS = 4096, PLACES = 2 * KEYS };

/* How many places the keys have. Those of chance have some 3200. */
static unsigned count_used(const unsigned char *used)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PLACES; i++)
        count += used[i];
    return count;
}

TEST(keys_that_a_multiplication_puts_in_one_place_are_spread)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    unsigned char used[PLACES] = {0};
    uint64_t inverse = golden; /* each step doubles the bits that are right, from 3 on */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - golden * inverse;
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t key = (i << 44) * inverse;
        CHECK_EQ_U((key * golden >> 20) % PLACES, 0);
        used[tg_spread(key) % PLACES] = 1;
    }
    CHECK(count_used(used) > KEYS / 2);
}

TEST(numbers_that_follow_each_other_are_spread)
{
    unsigned char used[PLACES] = {0};
    for (uint64_t i = 0; i < KEYS; i++)
        used[tg_spread(i) % PLACES] = 1;
    CHECK(count_used(used) > KEYS / 2);
}

TEST(texts_are_spread_by_every_byte)
{
    unsigned char used[PLACES] = {0};
    char text[64];
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf(text, sizeof text, "orchestrate.c:%u:the rest is the same", i);
        used[tg_spread_text(text) % PLACES] = 1;
    }
    CHECK(count_used(used) > KEYS / 2);
    CHECK(tg_spread_text("a") != tg_spread_text("b"));
    CHECK(tg_spread_text("") == tg_spread_text(""));
}

TEST_MAIN()
