/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the heap against a simple model with one byte per unit of memory. */
#include "platform/process/heap.h"
#include "test.h"
#include <stdlib.h>

enum { UNITS = 512, OFFSET = 4096 };

/* The allocation that each unit belongs to; 0: free. */
struct model {
    int owner[UNITS];
    int next;
};

static uint64_t units_of(uint64_t size)
{
    return size == 0 ? 1 : (size + TG_HEAP_ALIGN - 1) / TG_HEAP_ALIGN;
}

/* First fit: the position that the model chooses, or -1. */
static int model_take(struct model *model, uint64_t size)
{
    int wanted = (int)units_of(size), run = 0;
    for (int i = 0; i < UNITS; i++) {
        run = model->owner[i] == 0 ? run + 1 : 0;
        if (run == wanted) {
            model->next++;
            for (int k = i - wanted + 1; k <= i; k++)
                model->owner[k] = model->next;
            return i - wanted + 1;
        }
    }
    return -1;
}

static uint64_t model_give(struct model *model, int at)
{
    int who = model->owner[at];
    uint64_t units = 0;
    for (int i = at; i < UNITS && model->owner[i] == who; i++, units++)
        model->owner[i] = 0;
    return units * TG_HEAP_ALIGN;
}

static void model_agrees(const struct model *model, const struct tg_heap *heap)
{
    uint64_t free = 0, largest = 0, run = 0;
    for (int i = 0; i < UNITS; i++) {
        free += model->owner[i] == 0;
        run = model->owner[i] == 0 ? run + 1 : 0;
        largest = run > largest ? run : largest;
    }
    CHECK_EQ_U(heap->bytes_free, free * TG_HEAP_ALIGN);
    CHECK_EQ_U(tg_heap_largest(heap), largest * TG_HEAP_ALIGN);
    for (size_t i = 1; i < heap->free.count; i++) /* sorted, and no two are adjacent */
        CHECK(heap->free.at[i - 1].offset + heap->free.at[i - 1].size < heap->free.at[i].offset);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

TEST(random_takes_and_gives_are_as_a_naive_heap_does_them)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct tg_heap heap;
        static struct model model;
        uint64_t random = seed, given[UNITS];
        int n = 0;
        memset(&model, 0, sizeof model);
        REQUIRE(tg_heap_init(&heap, OFFSET, UNITS * TG_HEAP_ALIGN));
        for (int step = 0; step < 2000; step++) {
            uint64_t offset = 0;
            if (next(&random) % 100 < 55) {
                uint64_t size = next(&random) % (seed % 2 ? 600 : 12000);
                int at = model_take(&model, size);
                CHECK_EQ_I(tg_heap_take(&heap, size, &offset), at >= 0);
                if (at >= 0) {
                    CHECK_EQ_U(offset, OFFSET + (uint64_t)at * TG_HEAP_ALIGN);
                    given[n++] = offset;
                }
            } else if (n > 0) {
                int which = (int)(next(&random) % (uint64_t)n);
                offset = given[which];
                given[which] = given[--n];
                uint64_t size = model_give(&model, (int)((offset - OFFSET) / TG_HEAP_ALIGN));
                CHECK_EQ_U(tg_heap_give(&heap, offset), size);
                CHECK_EQ_U(tg_heap_give(&heap, offset), 0); /* freeing twice does nothing */
            }
            model_agrees(&model, &heap);
        }
        while (n > 0)
            CHECK(tg_heap_give(&heap, given[--n]) > 0);
        CHECK_EQ_U(heap.free.count, 1);
        CHECK_EQ_U(heap.bytes_free, UNITS * TG_HEAP_ALIGN);
        tg_heap_destroy(&heap);
    }
}

TEST(the_size_of_what_was_taken_is_known)
{
    struct tg_heap heap;
    uint64_t first, second;
    REQUIRE(tg_heap_init(&heap, OFFSET, 4 * TG_HEAP_ALIGN));
    REQUIRE(tg_heap_take(&heap, 1, &first) && tg_heap_take(&heap, TG_HEAP_ALIGN + 1, &second));
    CHECK_EQ_U(tg_heap_size(&heap, first), TG_HEAP_ALIGN);
    CHECK_EQ_U(tg_heap_size(&heap, second), 2 * TG_HEAP_ALIGN);
    CHECK_EQ_U(tg_heap_size(&heap, second + TG_HEAP_ALIGN), 0);
    tg_heap_give(&heap, first);
    CHECK_EQ_U(tg_heap_size(&heap, first), 0);
    tg_heap_destroy(&heap);
}

TEST(memory_that_was_not_allocated_cannot_be_freed)
{
    struct tg_heap heap;
    uint64_t offset;
    REQUIRE(tg_heap_init(&heap, OFFSET, UNITS * TG_HEAP_ALIGN));
    CHECK_EQ_U(tg_heap_give(&heap, OFFSET), 0);
    REQUIRE(tg_heap_take(&heap, 1000, &offset));
    CHECK_EQ_U(tg_heap_give(&heap, offset + TG_HEAP_ALIGN), 0);
    CHECK_EQ_U(tg_heap_give(&heap, offset + 1), 0);
    CHECK_EQ_U(tg_heap_give(&heap, 0), 0);
    CHECK_EQ_U(tg_heap_give(&heap, UINT64_MAX), 0);
    CHECK_EQ_U(heap.bytes_free, UNITS * TG_HEAP_ALIGN - 1024);
    tg_heap_destroy(&heap);
}

TEST(sizes_that_would_overflow_are_refused)
{
    struct tg_heap heap;
    uint64_t offset = 7;
    REQUIRE(tg_heap_init(&heap, OFFSET, UNITS * TG_HEAP_ALIGN));
    for (uint64_t less = 0; less < 2 * TG_HEAP_ALIGN; less++)
        CHECK(!tg_heap_take(&heap, UINT64_MAX - less, &offset));
    CHECK_EQ_U(offset, 7);
    CHECK_EQ_U(heap.bytes_free, UNITS * TG_HEAP_ALIGN);
    tg_heap_destroy(&heap);
}

TEST(everything_can_be_taken_at_once)
{
    struct tg_heap heap;
    uint64_t offset;
    REQUIRE(tg_heap_init(&heap, OFFSET, UNITS * TG_HEAP_ALIGN));
    REQUIRE(tg_heap_take(&heap, UNITS * TG_HEAP_ALIGN, &offset));
    CHECK_EQ_U(offset, OFFSET);
    CHECK_EQ_U(heap.bytes_free, 0);
    CHECK_EQ_U(tg_heap_largest(&heap), 0);
    CHECK(!tg_heap_take(&heap, 0, &offset));
    CHECK_EQ_U(tg_heap_give(&heap, OFFSET), UNITS * TG_HEAP_ALIGN);
    tg_heap_destroy(&heap);
}

TEST(a_heap_of_nothing_gives_nothing)
{
    struct tg_heap heap;
    uint64_t offset;
    REQUIRE(tg_heap_init(&heap, OFFSET, 0));
    CHECK(!tg_heap_take(&heap, 0, &offset));
    CHECK(!tg_heap_take(&heap, 1, &offset));
    tg_heap_destroy(&heap);
}

TEST(many_allocations_are_kept_apart)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const uint64_t n = 10000;
#else
    const uint64_t n = 100000;
#endif
    struct tg_heap heap;
    uint64_t *offset = calloc(n, sizeof *offset);
    REQUIRE(tg_heap_init(&heap, 0, n * TG_HEAP_ALIGN));
    for (uint64_t i = 0; i < n; i++) {
        REQUIRE(tg_heap_take(&heap, 1, &offset[i]));
        REQUIRE(offset[i] == i * TG_HEAP_ALIGN);
    }
    for (uint64_t i = n; i-- > 0;)
        REQUIRE(tg_heap_give(&heap, offset[i]) == TG_HEAP_ALIGN);
    CHECK_EQ_U(heap.free.count, 1);
    tg_heap_destroy(&heap);
    free(offset);
}

TEST_MAIN()
