/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#include "test.h"

#include "base/grow.h"

TEST(an_array_starts_as_nothing_and_doubles)
{
    uint32_t *item = NULL;
    size_t room = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        REQUIRE(tg_grow(&item, &room, i + 1, sizeof *item));
        item[i] = i;
    }
    CHECK_EQ_U(room, 1024);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_EQ_U(item[i], i);
    free(item);
}

TEST(room_that_is_there_is_kept)
{
    char *item = NULL;
    size_t room = 0;
    REQUIRE(tg_grow(&item, &room, 65, 1));
    char *before = item;
    REQUIRE(tg_grow(&item, &room, 128, 1));
    CHECK(item == before);
    CHECK_EQ_U(room, 128);
    free(item);
}

TEST(a_size_that_cannot_be_counted_is_refused_and_nothing_changes)
{
    uint64_t *item = NULL;
    size_t room = 0;
    REQUIRE(tg_grow(&item, &room, 1, sizeof *item));
    uint64_t *before = item;
    CHECK(!tg_grow(&item, &room, SIZE_MAX, sizeof *item));
    CHECK(!tg_grow(&item, &room, SIZE_MAX / sizeof *item, sizeof *item));
    CHECK(!tg_grow(&item, &room, SIZE_MAX / sizeof *item + 2, sizeof *item));
    CHECK(item == before);
    CHECK_EQ_U(room, 64);
    free(item);
}

TEST_MAIN()
