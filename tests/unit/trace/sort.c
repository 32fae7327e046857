/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting more records than fit in memory. */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "trace/sort.h"

static struct tg_error error;

static uint64_t state = 1;
static uint64_t any(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Each record holds its number among all, as often as its size allows. */
static void add_any(struct tg_sort *sort, uint64_t number, uint64_t keys, uint64_t most)
{
    uint64_t words[64], size = any(most + 1);
    for (uint64_t i = 0; i < 64; i++)
        words[i] = number;
    tg_sort_add(sort, any(keys), any(4), words, size * 8);
}

static void check_order(struct tg_sort *sort, uint64_t count)
{
    struct tg_sort_record record;
    uint64_t n = 0, key = 0, minor = 0, last = 0;
    tg_sort_start(sort);
    while (tg_sort_next(sort, &record)) {
        uint64_t number = last;
        CHECK(record.key > key || (record.key == key && record.minor >= minor) || n == 0);
        for (size_t i = 0; i < record.size / 8; i++) {
            memcpy(&number, record.bytes + 8 * i, 8);
            CHECK(number < count);
        }
        if (n > 0 && record.key == key && record.minor == minor && record.size > 0)
            CHECK(number >= last);
        last = record.key == key && record.minor == minor && n > 0 ? number : 0;
        if (record.size > 0)
            last = number;
        key = record.key;
        minor = record.minor;
        n++;
    }
    CHECK_EQ_U(n, count);
    CHECK(tg_sort_check(sort, &error) == TG_OK);
    tg_sort_destroy(sort);
}

static uint64_t sorted(size_t memory, uint64_t count, uint64_t keys, uint64_t most)
{
    struct tg_sort *sort = tg_sort_create("/tmp", memory);
    REQUIRE(sort);
    for (uint64_t i = 0; i < count; i++)
        add_any(sort, i, keys, most);
    uint64_t runs = tg_sort_runs(sort);
    check_order(sort, count);
    return runs;
}

TEST(what_fits_in_memory_is_not_written)
{
    CHECK_EQ_U(sorted(1 << 20, 1000, 50, 8), 0);
    CHECK_EQ_U(sorted(1 << 20, 0, 50, 8), 0);
    CHECK_EQ_U(sorted(1 << 20, 1, 50, 0), 0);
}

TEST(records_with_the_same_key_keep_their_order_across_runs)
{
    CHECK(sorted(1 << 14, 20000, 7, 8) > 10);
    CHECK(sorted(1 << 14, 20000, 1, 0) > 10);
}

TEST(more_runs_than_one_merge_takes_are_merged_twice)
{
    CHECK(sorted(1 << 12, 60000, 1 << 20, 8) > 600);
}

TEST(a_record_larger_than_the_memory_comes_through)
{
    enum { SIZE = 100000 };
    struct tg_sort *sort = tg_sort_create("/tmp", 1 << 12);
    struct tg_sort_record record;
    unsigned char *large = malloc(SIZE);
    REQUIRE(sort && large);
    memset(large, 'x', SIZE);
    for (uint64_t i = 0; i < 300; i++)
        tg_sort_add(sort, 300 - i, 0, &i, 8);
    tg_sort_add(sort, 150, 1, large, SIZE);
    for (uint64_t i = 0; i < 300; i++)
        tg_sort_add(sort, i, 2, &i, 8);
    tg_sort_start(sort);
    bool found = false;
    while (tg_sort_next(sort, &record))
        if (record.size == SIZE)
            found = record.key == 150 && memcmp(record.bytes, large, SIZE) == 0;
    CHECK(found && tg_sort_check(sort, &error) == TG_OK);
    tg_sort_destroy(sort);
    free(large);
}

/* A limit of the file's size stands for a full disk. */
TEST(a_full_disk_is_one_error_that_names_the_folder)
{
    struct rlimit old, small;
    struct tg_sort_record record;
    struct tg_sort *sort = tg_sort_create("/tmp", 1 << 14);
    REQUIRE(sort && getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = (struct rlimit){1 << 16, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    for (uint64_t i = 0; i < 20000; i++)
        add_any(sort, i, 100, 8);
    tg_sort_start(sort);
    CHECK(!tg_sort_next(sort, &record));
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(tg_sort_check(sort, &error) == TG_IO_ERROR);
    CHECK_HAS(error.text, "/tmp");
    tg_sort_destroy(sort);
}

TEST_MAIN()
