/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements of a tile are looked at, with limits that small tensors exceed. */
#include "test.h"

#include <stdlib.h>

#include "workbench/elements.h"
#include "workbench/sample.h"

enum { FLOAT_BITS = 32 };

/* How often each element was visited, and what the pieces cost. */
struct seen {
    const struct tg_sample *sample;
    unsigned char *times;
    uint64_t elements, total, pages;
    uint64_t *cell;
};

static void see(void *context, const struct tg_sample_piece *piece)
{
    struct seen *seen = context;
    const struct tg_sample *sample = seen->sample;
    uint64_t last_page = UINT64_MAX;
    for (uint64_t i = 0; i < piece->count; i++) {
        uint64_t element = piece->element + i * sample->along.step;
        uint64_t page = element * sample->bits / 8 / TG_ELEMENTS_PAGE;
        REQUIRE(element < seen->elements);
        seen->times[element]++;
        seen->total++;
        seen->pages += page != last_page;
        last_page = page;
        seen->cell[tg_sample_cell(sample, piece->across, (piece->begin + i) >> sample->level)]++;
    }
}

/* Walks over one tile of a plane, and checks what must always hold. */
static struct seen walk(const struct tg_plane *plane, uint64_t elements, const struct tg_tile *tile,
                        const struct tg_sample_limits *limits, struct tg_sample *sample)
{
    struct seen seen = {.sample = sample, .elements = elements};
    tg_sample_choose(plane, tile, FLOAT_BITS, limits, sample);
    seen.times = calloc(1, (size_t)elements);
    seen.cell = calloc((size_t)(tile->height * tile->width), sizeof *seen.cell);
    tg_sample_walk(sample, see, &seen);
    for (uint64_t i = 0; i < elements; i++)
        if (!CHECK(seen.times[i] <= 1))
            break;
    for (uint64_t i = 0; i < tile->height * tile->width; i++)
        if (!CHECK(seen.cell[i] > 0))
            break;
    free(seen.times);
    free(seen.cell);
    return seen;
}

static struct tg_plane plane_of(uint64_t height, uint64_t width, uint64_t row_step,
                                uint64_t col_step)
{
    return (struct tg_plane){.cols = 1,
                             .height = height,
                             .width = width,
                             .row_step = row_step,
                             .col_step = col_step,
                             .levels = 40};
}

static struct tg_tile tile_of(const struct tg_plane *plane, unsigned level)
{
    const uint64_t cell = UINT64_C(1) << level;
    return (struct tg_tile){.level = level,
                            .height = (plane->height + cell - 1) / cell,
                            .width = (plane->width + cell - 1) / cell,
                            .area = {0, 0, plane->height, plane->width},
                            .tiles = 1};
}

TEST(a_tile_within_the_limits_is_looked_at_completely)
{
    struct tg_plane plane = plane_of(1000, 700, 700, 1);
    struct tg_tile tile = tile_of(&plane, 3);
    struct tg_sample sample;
    CHECK_EQ_U(walk(&plane, 700000, &tile, &tg_sample_usual, &sample).total, 700000);
}

TEST(a_large_tile_looks_at_whole_lines_within_the_limits)
{
    const struct tg_sample_limits limits = {40, 600 * 4096, 200000};
    struct tg_plane plane = plane_of(1000, 700, 700, 1);
    struct tg_tile tile = tile_of(&plane, 3);
    struct tg_sample sample;
    struct seen seen = walk(&plane, 700000, &tile, &limits, &sample);
    CHECK_EQ_U(sample.run, 8);
    CHECK_EQ_U(seen.total, sample.lines * 125 * 700);
    CHECK(sample.lines >= 1 && sample.lines < 8);
    CHECK(seen.total <= limits.elements && seen.pages * TG_ELEMENTS_PAGE <= limits.bytes);
}

TEST(lines_go_where_elements_are_neighbours)
{
    const struct tg_sample_limits limits = {40, 600 * 4096, 200000};
    struct tg_plane plane = plane_of(700, 1000, 1, 700); /* transposed */
    struct tg_tile tile = tile_of(&plane, 3);
    struct tg_sample sample;
    struct seen seen = walk(&plane, 700000, &tile, &limits, &sample);
    CHECK(sample.is_upright);
    CHECK(seen.total <= limits.elements && seen.pages * TG_ELEMENTS_PAGE <= limits.bytes);
}

TEST(one_line_that_is_too_long_is_looked_at_in_runs)
{
    const struct tg_sample_limits limits = {40, 300 * 4096, 100000};
    struct tg_plane plane = plane_of(1, 1 << 20, 1 << 20, 1);
    struct tg_tile tile = tile_of(&plane, 13);
    struct tg_sample sample;
    plane.rows = -1;
    struct seen seen = walk(&plane, 1 << 20, &tile, &limits, &sample);
    CHECK(sample.run > 100 && sample.run < 8192);
    CHECK(seen.total <= limits.elements &&
          seen.pages * TG_ELEMENTS_PAGE <= limits.bytes + 128 * TG_ELEMENTS_PAGE);
}

TEST(a_screen_shares_its_limits_among_its_tiles)
{
    const struct tg_sample_limits limits = {40, 6000 * 4096, 700000};
    struct tg_plane plane = plane_of(1000, 700, 700, 1);
    struct tg_tile tile = tile_of(&plane, 3);
    struct tg_sample sample;
    CHECK_EQ_U(walk(&plane, 700000, &tile, &limits, &sample).total, 700000);
    tile.tiles = 1000;
    CHECK(walk(&plane, 700000, &tile, &limits, &sample).total < 700000);
}

TEST(limits_that_allow_nothing_leave_one_element_of_each_cell)
{
    const struct tg_sample_limits limits = {1, 1, 1};
    for (unsigned level = 2; level < 9; level++) {
        struct tg_plane plane = plane_of(203, 101, 101 * 1100, 1100); /* no two on a page */
        struct tg_tile tile = tile_of(&plane, level);
        struct tg_sample sample;
        CHECK_EQ_U(walk(&plane, 203 * 101 * 1100, &tile, &limits, &sample).total,
                   tile.height * tile.width);
    }
}

TEST(single_elements_are_always_all_looked_at)
{
    const struct tg_sample_limits limits = {1, 1, 1};
    struct tg_plane plane = plane_of(128, 128, 128 * 2000, 2000);
    struct tg_tile tile = tile_of(&plane, 0);
    struct tg_sample sample;
    CHECK_EQ_U(walk(&plane, UINT64_C(128) * 128 * 2000, &tile, &limits, &sample).total, 128 * 128);
}

TEST(lines_do_not_repeat_a_pattern)
{
    const struct tg_sample_limits limits = {40, 300 * 4096, 100000};
    struct tg_plane plane = plane_of(1024, 700, 700, 1);
    struct tg_tile tile = tile_of(&plane, 3);
    struct tg_sample sample;
    struct seen seen = {.sample = &sample, .elements = 1024 * 700};
    bool has[8] = {false};
    int different = 0;
    tg_sample_choose(&plane, &tile, FLOAT_BITS, &limits, &sample);
    seen.times = calloc(1, 1024 * 700);
    seen.cell = calloc(128 * 128, sizeof *seen.cell);
    tg_sample_walk(&sample, see, &seen);
    for (uint64_t row = 0; row < 1024; row++)
        has[row % 8] |= seen.times[row * 700];
    for (int i = 0; i < 8; i++)
        different += has[i];
    CHECK(different > 4);
    free(seen.times);
    free(seen.cell);
}

TEST_MAIN()
