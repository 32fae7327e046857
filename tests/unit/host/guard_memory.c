/* SPDX-License-Identifier: Apache-2.0 */
#include "host/guard_memory.h"
#include "test.h"
#include <string.h>
#include <taskglass/tensor.h>

enum { PAGE = TG_GUARD_PAGE };

static char image[4096];

static struct tg_guard_patterns patterns;

/* A task of tensors that lie at these addresses of a block of 4 KiB. */
static struct tg_recorded_task task_of(uint32_t n, const struct tg_tensor *tensor,
                                       const uint32_t *role)
{
    struct tg_recorded_task task = {.n_tensors = n, .n_blocks = 1};
    task.block[0] = (struct tg_recorded_block){0x10000, sizeof image, image};
    for (uint32_t i = 0; i < n; i++) {
        task.tensor[i].tensor = tensor[i];
        task.tensor[i].role = role[i];
        task.tensor[i].offset = tensor[i].addr - 0x10000;
    }
    return task;
}

static struct tg_tensor line(uint64_t address, unsigned dtype, int64_t n)
{
    return tg_tensor_make(address, dtype, 1, &n);
}

static uint64_t slack(const struct tg_guard_memory *m, enum tg_guard_side side, uint32_t block)
{
    struct tg_guard_place place[TG_MAX_TENSORS];
    uint64_t bytes;
    const struct tg_guard_plan plan = {.side = side, .has_pages = true};
    (void)tg_guard_place_blocks(m, &plan, 0, place, &bytes);
    return place[block].region + place[block].region_size - place[block].data -
           m->block[block].size;
}

TEST(tensors_that_share_bytes_share_a_block_and_neighbours_do_not)
{
    struct tg_tensor tensor[] = {line(0x10000, TG_FLOAT32, 8), line(0x10020, TG_FLOAT32, 8),
                                 line(0x1003c, TG_FLOAT32, 4), line(0x10100, TG_FLOAT32, 0)};
    uint32_t role[] = {TG_IN, TG_IN, TG_OUT, TG_OUT};
    struct tg_recorded_task task = task_of(4, tensor, role);
    struct tg_guard_memory m = {0};
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK_EQ_U(m.n_blocks, 3);
    CHECK(m.block_of[1] == m.block_of[2]);
    CHECK(m.block_of[0] != m.block_of[1]);
    const struct tg_guard_block *shared = &m.block[m.block_of[1]];
    CHECK_EQ_U(shared->address, 0x10020);
    CHECK_EQ_U(shared->size, 44);
    CHECK_EQ_U(m.offset_of[2], 28);
    /* What both have is known, and may be written; the rest of the output holds a pattern. */
    CHECK_EQ_U(shared->known[28], 0xff);
    CHECK_EQ_U(shared->written[28], 0xff);
    CHECK_EQ_U(shared->known[32], 0);
    CHECK(!shared->is_input && !shared->is_output && shared->has_outputs && !shared->has_gaps);
    CHECK_EQ_U(m.block[m.block_of[3]].size, 0);
    tg_guard_memory_free(&m);
}

TEST(tensors_without_elements_have_blocks_without_bytes)
{
    struct tg_tensor tensor[] = {line(0x10000, TG_FLOAT32, 0), line(0x10000, TG_FLOAT32, 0),
                                 line(0x10000, TG_FLOAT32, 8), line(0x10010, TG_FLOAT32, 0)};
    uint32_t role[] = {TG_IN, TG_OUT, TG_OUT, TG_INOUT};
    struct tg_recorded_task task = task_of(4, tensor, role);
    struct tg_guard_memory m = {0};
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK_EQ_U(m.n_blocks, 3);
    for (uint32_t i = 0; i < 4; i++) {
        const struct tg_guard_block *block = &m.block[m.block_of[i]];
        CHECK_EQ_U(block->size, tensor[i].storage_bytes);
        CHECK(block->align > 0 && block->element > 0);
    }
    tg_guard_memory_free(&m);
}

TEST(half_of_the_last_byte_of_an_odd_number_of_nibbles_is_a_gap)
{
    struct tg_tensor tensor = line(0x10000, TG_INT4, 5);
    uint32_t role = TG_OUT;
    struct tg_recorded_task task = task_of(1, &tensor, &role);
    struct tg_guard_memory m = {0};
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK_EQ_U(m.block[0].written[1], 0xff);
    CHECK_EQ_U(m.block[0].written[2], 0x0f);
    CHECK(m.block[0].has_gaps);
    tg_guard_memory_free(&m);
}

TEST(a_block_keeps_the_alignment_that_its_kernel_may_rely_on)
{
    struct tg_tensor tensor[] = {line(0x10000, TG_FLOAT32, 25), line(0x10190, TG_FLOAT32, 25),
                                 line(0x10204, TG_FLOAT32, 25), line(0x10301, TG_INT8, 3)};
    uint32_t role[] = {TG_IN, TG_IN, TG_IN, TG_OUT};
    static const uint64_t align[] = {256, 16, 4, 1};
    struct tg_recorded_task task = task_of(4, tensor, role);
    struct tg_guard_memory m = {0};
    struct tg_guard_place place[TG_MAX_TENSORS];
    uint64_t bytes;
    REQUIRE(tg_guard_memory_of(&task, &m));
    for (int side = TG_GUARD_LOOSE; side <= TG_GUARD_BEGIN; side++) {
        const struct tg_guard_plan plan = {.side = (enum tg_guard_side)side, .has_pages = true};
        (void)tg_guard_place_blocks(&m, &plan, 0, place, &bytes);
        for (uint32_t i = 0; i < 4; i++) {
            const struct tg_guard_place *at = &place[m.block_of[i]];
            CHECK_EQ_U(at->region % PAGE, 0);
            CHECK_EQ_U(at->region_size % PAGE, 0);
            CHECK(at->data >= at->region &&
                  at->data + m.block[i].size <= at->region + at->region_size);
            if (side != TG_GUARD_TIGHT)
                CHECK_EQ_U(at->data % align[i], 0);
        }
    }
    tg_guard_memory_free(&m);
}

TEST(tensors_that_share_memory_keep_the_alignment_of_each)
{
    struct tg_tensor tensor[] = {line(0x10008, TG_FLOAT32, 25), line(0x10010, TG_FLOAT32, 25)};
    uint32_t role[] = {TG_IN, TG_OUT};
    struct tg_recorded_task task = task_of(2, tensor, role);
    struct tg_guard_memory m = {0};
    struct tg_guard_place place[TG_MAX_TENSORS];
    uint64_t bytes;
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK_EQ_U(m.n_blocks, 1);
    static const enum tg_guard_side side[] = {TG_GUARD_LOOSE, TG_GUARD_END, TG_GUARD_BEGIN};
    for (uint32_t i = 0; i < 3; i++) {
        const struct tg_guard_plan plan = {.side = side[i], .has_pages = true};
        (void)tg_guard_place_blocks(&m, &plan, 0, place, &bytes);
        CHECK_EQ_U((place[0].data + m.offset_of[1]) % 16, 0);
        CHECK(place[0].data + m.block[0].size <= place[0].region + place[0].region_size);
    }
    tg_guard_memory_free(&m);
}

TEST(the_last_byte_lies_against_the_guard_as_far_as_alignment_allows)
{
    struct tg_tensor tensor[] = {line(0x10000, TG_FLOAT32, 64), line(0x10200, TG_FLOAT32, 25)};
    uint32_t role[] = {TG_IN, TG_OUT};
    struct tg_recorded_task task = task_of(2, tensor, role);
    struct tg_guard_memory m = {0};
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK_EQ_U(slack(&m, TG_GUARD_END, 0), 0);
    CHECK_EQ_U(slack(&m, TG_GUARD_END, 1), 156);
    CHECK(tg_guard_is_tighter(&m));
    CHECK_EQ_U(slack(&m, TG_GUARD_TIGHT, 1), 0);
    task.n_tensors = 1;
    REQUIRE(tg_guard_memory_of(&task, &m));
    CHECK(!tg_guard_is_tighter(&m));
    tg_guard_memory_free(&m);
}

TEST(inputs_are_filled_with_their_contents_and_all_else_with_patterns)
{
    int64_t shape = 4;
    struct tg_tensor tensor[] = {
        tg_tensor_slice(tg_tensor_make(0x10000, TG_FLOAT32, 1, (int64_t[]){8}), 0, 0, 8, 2),
        tg_tensor_make(0x10100, TG_FLOAT32, 1, &shape)};
    uint32_t role[] = {TG_INOUT, TG_OUT};
    tensor[0].storage_bytes = 28; /* as the reader of recordings sets it: to the last element */
    struct tg_recorded_task task = task_of(2, tensor, role);
    struct tg_guard_fill fill = {.output = 0, .gap = 1, .zone = 2, .other_block = -1};
    struct tg_guard_memory m = {0};
    struct tg_guard_place place[TG_MAX_TENSORS];
    static uint8_t region[1 << 17];
    uint64_t bytes;
    for (uint32_t i = 0; i < sizeof image; i++)
        image[i] = (char)i;
    tg_guard_patterns_make(&patterns);
    REQUIRE(tg_guard_memory_of(&task, &m));
    const struct tg_guard_plan plan = {.side = TG_GUARD_LOOSE, .has_pages = true};
    (void)tg_guard_place_blocks(&m, &plan, 0, place, &bytes);
    REQUIRE(bytes <= sizeof region);
    tg_guard_fill_block(&m, 0, &place[0], &fill, &patterns, region);
    uint64_t data = place[0].data - place[0].region;
    CHECK_EQ_MEM(region + data, image, 4);
    CHECK_EQ_MEM(region + data + 8, image + 8, 4);
    CHECK_EQ_U(region[data + 5], patterns.byte[1][(place[0].data + 5) % TG_GUARD_PERIOD]);
    CHECK_EQ_U(region[data - 1], patterns.byte[2][(place[0].data - 1) % TG_GUARD_PERIOD]);
    CHECK_EQ_U(region[data + 28], patterns.byte[2][(place[0].data + 28) % TG_GUARD_PERIOD]);
    tg_guard_fill_block(&m, 1, &place[1], &fill, &patterns, region);
    data = place[1].data - place[1].region;
    CHECK_EQ_U(region[data], patterns.byte[0][place[1].data % TG_GUARD_PERIOD]);
    tg_guard_memory_free(&m);
}

TEST(only_what_an_output_has_may_change)
{
    struct tg_tensor tensor =
        tg_tensor_slice(tg_tensor_make(0x10000, TG_FLOAT32, 1, (int64_t[]){8}), 0, 0, 8, 2);
    uint32_t role = TG_OUT;
    tensor.storage_bytes = 28;
    struct tg_recorded_task task = task_of(1, &tensor, &role);
    struct tg_guard_memory m = {0};
    struct tg_guard_place place[TG_MAX_TENSORS];
    static uint8_t before[1 << 16], after[1 << 16];
    uint64_t bytes;
    REQUIRE(tg_guard_memory_of(&task, &m));
    const struct tg_guard_plan plan = {.side = TG_GUARD_END, .has_pages = true};
    (void)tg_guard_place_blocks(&m, &plan, 0, place, &bytes);
    uint64_t data = place[0].data - place[0].region;
    after[data] = 1;
    CHECK(tg_guard_is_clean(&m.block[0], &place[0], before, after));
    CHECK(!tg_guard_is_same(&m.block[0], before + data, after + data));
    after[data + 4] = 1;
    CHECK(!tg_guard_is_clean(&m.block[0], &place[0], before, after));
    after[data + 4] = 0;
    after[data - 1] = 1;
    CHECK(!tg_guard_is_clean(&m.block[0], &place[0], before, after));
    tg_guard_memory_free(&m);
}

TEST_MAIN()
