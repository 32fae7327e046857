/* SPDX-License-Identifier: Apache-2.0 */
/* Takes planes, tiles and blocks from requests. */
#include "workbench/plane.h"

#include <string.h>

#include "base/error.h"

/* --- planes --------------------------------------------------------------------------------- */

/* The plane has elements. */
static void count_levels(struct tg_plane *plane)
{
    const uint64_t longer = plane->height > plane->width ? plane->height : plane->width;
    plane->levels = 1;
    while ((longer - 1) >> (plane->levels - 1) >= TG_TILE_CELLS)
        plane->levels++;
}

/* Sets sizes, steps and levels from the two dimensions. `at` has an index for each dimension. */
static void lay_out(const struct tg_shown *shown, const uint64_t *at, struct tg_plane *plane)
{
    uint64_t step = 1;
    plane->height = plane->rows < 0 ? 1 : (uint64_t)shown->shape[plane->rows];
    plane->width = (uint64_t)shown->shape[plane->cols];
    plane->levels = 1;
    plane->first = plane->row_step = plane->col_step = 0;
    if (shown->array.elements == 0) { /* the steps could overflow, and nobody needs them */
        plane->height = plane->width = 0;
        return;
    }
    for (int i = shown->ndim - 1; i >= 0; i--) {
        if (i == plane->rows)
            plane->row_step = step;
        else if (i == plane->cols)
            plane->col_step = step;
        else
            plane->first += at[i] * step;
        step *= (uint64_t)shown->shape[i];
    }
    count_levels(plane);
}

void tg_plane_default(const struct tg_shown *shown, struct tg_plane *plane)
{
    static const uint64_t zeros[TG_MAX_DIMS];
    plane->rows = shown->ndim - 2; /* -1 for one dimension */
    plane->cols = shown->ndim - 1;
    lay_out(shown, zeros, plane);
}

static tg_status take_dimension(const struct tg_shown *shown, struct tg_ask *ask, const char *name,
                                int fallback, int *dimension, struct tg_error *error)
{
    uint64_t number;
    tg_status status =
        tg_ask_uint(ask, name, 0, (uint64_t)shown->ndim - 1, (uint64_t)fallback, &number, error);
    *dimension = (int)number;
    return status;
}

static bool is_without_rows(const struct tg_shown *shown, struct tg_ask *ask)
{
    const char *rows = tg_ask_text(ask, "rows");
    return rows ? strcmp(rows, "-1") == 0 : shown->ndim == 1;
}

static tg_status take_dimensions(const struct tg_shown *shown, struct tg_ask *ask,
                                 struct tg_plane *plane, struct tg_error *error)
{
    tg_status status = TG_OK;
    plane->rows = -1;
    if (!is_without_rows(shown, ask))
        status = take_dimension(shown, ask, "rows", shown->ndim > 1 ? shown->ndim - 2 : 0,
                                &plane->rows, error);
    if (status == TG_OK)
        status = take_dimension(shown, ask, "cols", shown->ndim - 1, &plane->cols, error);
    if (status == TG_OK && plane->rows == plane->cols)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'rows' and 'cols' are both dimension %d; rows=-1 shows one row",
                            plane->rows);
    return status;
}

/* One number of a list; NULL: there is none. Sets *value to UINT64_MAX if it is too large. */
static const char *take_number(const char *text, uint64_t *value)
{
    const char *begin = text;
    *value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        *value =
            *value > (UINT64_MAX - 9) / 10 ? UINT64_MAX : 10 * *value + (uint64_t)(*text - '0');
    return text == begin ? NULL : text;
}

static tg_status bad_list(const struct tg_shown *shown, const char *text, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "parameter 'at' is %d numbers with commas between them, not '%s'",
                        shown->ndim, text);
}

static tg_status take_at(const struct tg_shown *shown, struct tg_ask *ask,
                         const struct tg_plane *plane, uint64_t *at, struct tg_error *error)
{
    const char *text = tg_ask_text(ask, "at"), *next = text;
    memset(at, 0, TG_MAX_DIMS * sizeof *at);
    for (int i = 0; text && i < shown->ndim; i++) {
        next = take_number(next, &at[i]);
        if (!next || *next != (i + 1 < shown->ndim ? ',' : '\0'))
            return bad_list(shown, text, error);
        next++; /* behind the last number: behind the text, and not read */
        if (i == plane->rows || i == plane->cols)
            at[i] = 0;
        else if (at[i] >= (uint64_t)shown->shape[i] && shown->array.elements > 0)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "parameter 'at': dimension %d has the indices 0 to %lld", i,
                                (long long)shown->shape[i] - 1);
    }
    return TG_OK;
}

/* Rows of `wrap` elements each; what does not fill a row is left out. */
static tg_status take_wrapped(const struct tg_shown *shown, struct tg_ask *ask,
                              struct tg_plane *plane, struct tg_error *error)
{
    uint64_t width;
    tg_status status = tg_ask_uint(ask, "wrap", 1, TG_PLANE_WRAP, UINT64_MAX, &width, error);
    if (status != TG_OK)
        return status;
    if (shown->ndim != 1)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'wrap' is for tensors of one dimension, and this one has %d",
                            shown->ndim);
    const uint64_t height = (uint64_t)shown->array.elements / width;
    *plane = (struct tg_plane){.height = height,
                               .width = height > 0 ? width : 0,
                               .row_step = width,
                               .col_step = 1,
                               .levels = 1};
    if (height > 0)
        count_levels(plane);
    return TG_OK;
}

tg_status tg_plane_take(const struct tg_shown *shown, struct tg_ask *ask, struct tg_plane *plane,
                        struct tg_error *error)
{
    uint64_t at[TG_MAX_DIMS];
    if (tg_ask_text(ask, "wrap"))
        return take_wrapped(shown, ask, plane, error);
    tg_status status = take_dimensions(shown, ask, plane, error);
    if (status == TG_OK)
        status = take_at(shown, ask, plane, at, error);
    if (status == TG_OK)
        lay_out(shown, at, plane);
    return status;
}

/* --- tiles and blocks ----------------------------------------------------------------------- */

/* How many pieces of `size` elements it takes; at least 1. */
static uint64_t pieces_of(uint64_t elements, uint64_t size)
{
    return elements == 0 ? 1 : (elements - 1) / size + 1;
}

/* Takes `row` and `col`, numbers of pieces with `side` × `side` elements. */
static tg_status take_area(const struct tg_plane *plane, struct tg_ask *ask, uint64_t side,
                           struct tg_area *area, struct tg_error *error)
{
    uint64_t row, col;
    tg_status status =
        tg_ask_uint(ask, "row", 0, pieces_of(plane->height, side) - 1, 0, &row, error);
    if (status == TG_OK)
        status = tg_ask_uint(ask, "col", 0, pieces_of(plane->width, side) - 1, 0, &col, error);
    if (status != TG_OK)
        return status;
    area->top = row * side;
    area->left = col * side;
    area->height = plane->height - area->top < side ? plane->height - area->top : side;
    area->width = plane->width - area->left < side ? plane->width - area->left : side;
    return TG_OK;
}

tg_status tg_tile_take(const struct tg_plane *plane, struct tg_ask *ask, struct tg_tile *tile,
                       struct tg_error *error)
{
    uint64_t level;
    tg_status status = tg_ask_uint(ask, "level", 0, plane->levels - 1, 0, &level, error);
    if (status != TG_OK)
        return status;
    const uint64_t cell = UINT64_C(1) << level, side = TG_TILE_CELLS * cell;
    status = take_area(plane, ask, side, &tile->area, error);
    if (status != TG_OK)
        return status;
    tile->level = (unsigned)level;
    tile->height = tile->area.height == 0 ? 0 : pieces_of(tile->area.height, cell);
    tile->width = tile->area.width == 0 ? 0 : pieces_of(tile->area.width, cell);
    tile->tiles = pieces_of(plane->height, side) * pieces_of(plane->width, side);
    return TG_OK;
}

tg_status tg_block_take(const struct tg_plane *plane, struct tg_ask *ask, struct tg_area *block,
                        struct tg_error *error)
{
    return take_area(plane, ask, TG_BLOCK_SIDE, block, error);
}

void tg_put_numbers(struct tg_json *json, const char *key, const int64_t *number, int count)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int i = 0; i < count; i++)
        tg_json_int(json, number[i]);
    tg_json_end_array(json);
}
