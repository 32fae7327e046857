/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the elements of a tile that are looked at. */
#include "workbench/sample.h"

#include "workbench/elements.h"

const struct tg_sample_limits tg_sample_usual = {
    .tiles = 40, /* 5 × 8 */
    .bytes = 64 << 20,
    .elements = 32 << 20,
};

/* A line of fewer elements takes as long as one with so many. */
enum { SHORT_LINE = 16 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- how many ------------------------------------------------------------------------------- */

static void choose_axes(const struct tg_plane *plane, const struct tg_tile *tile,
                        struct tg_sample *sample)
{
    const struct tg_area *area = &tile->area;
    const struct tg_sample_axis rows = {area->top, area->height, plane->row_step, tile->height};
    const struct tg_sample_axis cols = {area->left, area->width, plane->col_step, tile->width};
    sample->is_upright =
        plane->rows >= 0 && (plane->row_step < plane->col_step ||
                             (plane->row_step == plane->col_step && area->height > area->width));
    sample->along = sample->is_upright ? rows : cols;
    sample->across = sample->is_upright ? cols : rows;
}

static uint64_t bytes_of(const struct tg_sample *sample, uint64_t elements)
{
    return elements / 8 * sample->bits + elements % 8 * sample->bits / 8;
}

static bool is_scattered(const struct tg_sample *sample)
{
    return bytes_of(sample, sample->along.step) >= TG_ELEMENTS_PAGE;
}

/* What a line costs. Its first and last page have bytes of the neighbours too; most of these are on the screen. */
static uint64_t cost_of_line(const struct tg_sample *sample)
{
    const struct tg_sample_axis *along = &sample->along;
    return is_scattered(sample)
               ? along->extent * TG_ELEMENTS_PAGE
               : bytes_of(sample, along->extent * along->step) + TG_ELEMENTS_PAGE / 8;
}

/* What the whole tile costs: lines may lie close to each other. */
static uint64_t cost_of_tile(const struct tg_sample *sample)
{
    const struct tg_sample_axis *along = &sample->along, *across = &sample->across;
    const uint64_t span =
        (across->extent - 1) * across->step + (along->extent - 1) * along->step + 1;
    return least_of(across->extent * cost_of_line(sample), bytes_of(sample, span));
}

/* Elements of a run that costs so much. Less than a page saves nothing. */
static uint64_t run_of(const struct tg_sample *sample, uint64_t cost)
{
    const uint64_t step = bytes_of(sample, sample->along.step);
    cost = cost > TG_ELEMENTS_PAGE ? cost : TG_ELEMENTS_PAGE;
    return cost / (is_scattered(sample) ? TG_ELEMENTS_PAGE : step > 0 ? step : 1);
}

static void choose_amount(uint64_t cost, uint64_t elements, struct tg_sample *sample)
{
    const uint64_t all = UINT64_C(1) << sample->level, extent = sample->along.extent;
    const uint64_t cells = sample->across.cells * sample->along.cells;
    sample->lines = sample->run = all;
    if (cost_of_tile(sample) <= cost && sample->across.extent <= elements / extent)
        return;
    sample->lines = least_of(all, least_of(cost / cost_of_line(sample), elements / extent) /
                                      sample->across.cells);
    if (sample->lines > 0)
        return;
    sample->lines = 1;
    sample->run = least_of(run_of(sample, cost / cells), elements / cells);
    sample->run = least_of(all, sample->run > 0 ? sample->run : 1);
}

void tg_sample_choose(const struct tg_plane *plane, const struct tg_tile *tile, unsigned bits,
                      const struct tg_sample_limits *limits, struct tg_sample *sample)
{
    const uint64_t share = least_of(tile->tiles, limits->tiles);
    *sample = (struct tg_sample){.first = plane->first, .bits = bits, .level = tile->level};
    choose_axes(plane, tile, sample);
    choose_amount(limits->bytes / share, limits->elements / share, sample);
}

/* --- which ---------------------------------------------------------------------------------- */

/* A number that depends on the place alone, and looks like chance. */
static uint64_t scatter(uint64_t place, uint64_t number)
{
    uint64_t x = place * UINT64_C(0x9e3779b97f4a7c15) + number + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Divides `all` places into `parts`, and chooses one in part `number`. */
static uint64_t place_in(uint64_t all, uint64_t parts, uint64_t number, uint64_t where)
{
    const uint64_t part = all / parts;
    return number * part + (part > 1 ? scatter(where, number) % part : 0);
}

static void visit_piece(const struct tg_sample *sample, uint64_t line,
                        struct tg_sample_piece *piece, tg_sample_fn visit, void *context)
{
    const struct tg_sample_axis *along = &sample->along, *across = &sample->across;
    piece->element = sample->first + (across->begin + line) * across->step +
                     (along->begin + piece->begin) * along->step;
    visit(context, piece);
}

/* A line: all of it, or a run in each cell. */
static void walk_line(const struct tg_sample *sample, uint64_t across, uint64_t line,
                      tg_sample_fn visit, void *context)
{
    const uint64_t cell = UINT64_C(1) << sample->level, extent = sample->along.extent;
    struct tg_sample_piece piece = {.across = across, .count = extent};
    if (sample->run == cell) {
        visit_piece(sample, line, &piece, visit, context);
        return;
    }
    for (uint64_t begin = 0; begin < extent; begin += cell) {
        const uint64_t room = least_of(cell, extent - begin);
        const uint64_t where = sample->across.begin + line + sample->along.begin + begin;
        piece.count = least_of(sample->run, room);
        piece.begin = begin + place_in(room - piece.count + 1, 1, 0, where);
        visit_piece(sample, line, &piece, visit, context);
    }
}

void tg_sample_walk(const struct tg_sample *sample, tg_sample_fn visit, void *context)
{
    const uint64_t cell = UINT64_C(1) << sample->level;
    for (uint64_t across = 0; across < sample->across.cells; across++) {
        const uint64_t begin = across << sample->level;
        const uint64_t room = least_of(cell, sample->across.extent - begin);
        const uint64_t lines = least_of(sample->lines, room);
        for (uint64_t i = 0; i < lines; i++)
            walk_line(sample, across,
                      begin + place_in(room, lines, i, sample->across.begin + begin), visit,
                      context);
    }
}
