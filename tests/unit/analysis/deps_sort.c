/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analysis/deps_sort.h"

#include <stdbool.h>

enum { COUNT = 5000 };

static struct tg_sorted item[COUNT], room[COUNT];

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 7;
}

/* Keys in order, and items with equal keys in the order of their indices. */
static void check_order(size_t count)
{
    for (size_t i = 1; i < count; i++)
        CHECK(item[i - 1].key < item[i].key ||
              (item[i - 1].key == item[i].key && item[i - 1].index < item[i].index));
}

TEST(keys_of_any_range_are_sorted_and_equal_ones_keep_their_order)
{
    static const uint64_t least[] = {0, 12345, UINT64_MAX - 4000, UINT64_C(1) << 63};
    static const uint64_t range[] = {1, 2, 10, 3000, UINT64_C(1) << 33};
    uint64_t state = 1;
    for (size_t l = 0; l < sizeof least / sizeof least[0]; l++)
        for (size_t r = 0; r < sizeof range / sizeof range[0]; r++) {
            uint64_t sum = 0, after = 0;
            for (uint32_t i = 0; i < COUNT; i++) {
                item[i] = (struct tg_sorted){least[l] + next_random(&state) % range[r], i};
                sum += item[i].key;
            }
            tg_sort_by_key(item, room, COUNT);
            for (uint32_t i = 0; i < COUNT; i++)
                after += item[i].key;
            CHECK_EQ_U(after, sum);
            if (least[l] + range[r] > least[l])
                check_order(COUNT);
        }
}

TEST(the_largest_and_the_smallest_key_are_sorted)
{
    item[0] = (struct tg_sorted){UINT64_MAX, 0};
    item[1] = (struct tg_sorted){0, 1};
    item[2] = (struct tg_sorted){UINT64_C(1) << 63, 2};
    tg_sort_by_key(item, room, 3);
    check_order(3);
    CHECK_EQ_U(item[0].index, 1);
    CHECK_EQ_U(item[2].index, 0);
}

TEST(nothing_and_one_item_are_sorted)
{
    tg_sort_by_key(item, room, 0);
    item[0] = (struct tg_sorted){7, 3};
    tg_sort_by_key(item, room, 1);
    CHECK_EQ_U(item[0].index, 3);
}

TEST_MAIN()
