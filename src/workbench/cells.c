/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the cells of a tile. */
#include "workbench/cells.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/sample.h"

/* --- adding --------------------------------------------------------------------------------- */

static void add_special(struct tg_cell *cell, double value)
{
    cell->has_nonzero = true;
    if (isnan(value))
        cell->kinds |= TG_CELL_NAN;
    else
        cell->kinds |= value < 0 ? TG_CELL_INFINITE | TG_CELL_NEGATIVE_INFINITE : TG_CELL_INFINITE;
}

/* The sum of float64 values may be too large for a double. */
static long double sum_of(const double *value, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += value[i];
    if (isfinite(sum))
        return (long double)sum;
    long double wide = 0;
    for (int i = 0; i < count; i++)
        wide += (long double)value[i];
    return wide;
}

static void add_finite(struct tg_cell *cell, const double *value, int count, double normal)
{
    double least = cell->finite > 0 ? cell->least : value[0];
    double most = cell->finite > 0 ? cell->most : value[0];
    int zeros = 0, small = 0;
    for (int i = 0; i < count; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
        zeros += value[i] == 0;
        small += fabs(value[i]) < normal;
    }
    cell->least = least;
    cell->most = most;
    cell->sum += sum_of(value, count);
    cell->finite += (uint64_t)count;
    cell->has_nonzero |= zeros < count;
    if (zeros > 0)
        cell->kinds |= TG_CELL_ZERO;
    if (normal > 0 && small > zeros)
        cell->kinds |= TG_CELL_DENORMAL;
}

/* `value` loses those that are not finite. */
static void add(struct tg_cell *cell, double *value, int count, bool is_special, double normal)
{
    int kept = 0;
    cell->looked_at += (uint64_t)count;
    for (int i = 0; is_special && i < count; i++) {
        if (isfinite(value[i]))
            value[kept++] = value[i];
        else
            add_special(cell, value[i]);
    }
    if (!is_special)
        kept = count;
    if (kept > 0)
        add_finite(cell, value, kept, normal);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Elements [first, end) that the system has not been told of. */
struct span {
    uint64_t first, end;
};

/* A tile while it is filled. */
struct fill {
    const struct tg_cell_source *source;
    struct tg_sample sample;
    struct tg_cell *cell;
    struct span span;
};

typedef void (*tell_fn)(const struct tg_elements *elements, uint64_t first, uint64_t step,
                        uint64_t count);

static void tell_all(const struct fill *fill, tell_fn tell, uint64_t first, uint64_t step,
                     uint64_t count)
{
    for (int i = 0; i < 2; i++)
        if (fill->source->array[i])
            tell(fill->source->array[i], first, step, count);
}

static void end_span(struct fill *fill, tell_fn tell)
{
    tell_all(fill, tell, fill->span.first, 1, fill->span.end - fill->span.first);
    fill->span = (struct span){0, 0};
}

/* Tells the system of a piece. Pieces that follow each other closely, as short lines do, are told together. */
static void tell_piece(struct fill *fill, const struct tg_sample_piece *piece, tell_fn tell)
{
    const uint64_t page = TG_ELEMENTS_PAGE * 8 / fill->source->array[0]->bits;
    const uint64_t step = fill->sample.along.step;
    struct span *span = &fill->span;
    if (step >= page) {
        tell_all(fill, tell, piece->element, step, piece->count);
        return;
    }
    const bool follows = span->end > 0 && piece->element >= span->first &&
                         piece->element < span->end + page &&
                         span->end - span->first < TG_READ_PIECE / TG_ELEMENTS_PAGE * page;
    if (!follows) {
        end_span(fill, tell);
        span->first = piece->element;
    }
    const uint64_t end = piece->element + (piece->count - 1) * step + 1;
    span->end = !follows || end > span->end ? end : span->end;
}

static void want_piece(void *context, const struct tg_sample_piece *piece)
{
    tell_piece(context, piece, tg_elements_want);
}

/* Adds numbers, the first of which is in place `at` of a line, to their cells. */
static void add_block(const struct fill *fill, uint64_t across, uint64_t at, double *value,
                      int count, bool is_special)
{
    const uint64_t cell = UINT64_C(1) << fill->sample.level;
    for (int done = 0; done < count;) {
        const uint64_t place = at + (uint64_t)done, left = cell - place % cell;
        const int part = left < (uint64_t)(count - done) ? (int)left : count - done;
        const uint64_t along = place >> fill->sample.level;
        add(&fill->cell[tg_sample_cell(&fill->sample, across, along)], value + done, part,
            is_special, fill->source->normal);
        done += part;
    }
}

static void read_piece(void *context, const struct tg_sample_piece *piece)
{
    struct fill *fill = context;
    const struct tg_cell_source *source = fill->source;
    const uint64_t step = fill->sample.along.step;
    double value[TG_BLOCK];
    for (uint64_t done = 0; done < piece->count; done += TG_BLOCK) {
        const uint64_t left = piece->count - done, first = piece->element + done * step;
        const int count = left < TG_BLOCK ? (int)left : TG_BLOCK;
        bool is_special = source->read(source->context, first, step, count, value);
        add_block(fill, piece->across, piece->begin + done, value, count, is_special);
    }
    tell_piece(fill, piece, tg_elements_were_read);
}

static void fill_cells(const struct tg_plane *plane, const struct tg_tile *tile, struct fill *fill)
{
    tg_sample_choose(plane, tile, fill->source->array[0]->bits, &tg_sample_usual, &fill->sample);
    tg_sample_walk(&fill->sample, want_piece, fill);
    end_span(fill, tg_elements_want);
    tg_sample_walk(&fill->sample, read_piece, fill);
    end_span(fill, tg_elements_were_read);
}

/* --- the answer ----------------------------------------------------------------------------- */

/* A finite number stays finite, although a float64 may be too large for a float32. */
static float narrow(double value)
{
    const double most = (double)FLT_MAX;
    return (float)(value > most ? most : value < -most ? -most : value);
}

static double mean_of(const struct tg_cell *cell)
{
    const double mean = (double)(cell->sum / (long double)cell->finite);
    return mean < cell->least ? cell->least : mean > cell->most ? cell->most : mean;
}

static double least_in(const struct tg_cell *cell)
{
    return cell->least;
}

static double most_in(const struct tg_cell *cell)
{
    return cell->most;
}

static bool put_numbers(struct tg_answer *answer, const char *name, const struct tg_cell *cell,
                        uint64_t count, double (*number_of)(const struct tg_cell *cell),
                        struct tg_error *error)
{
    float *to = tg_answer_column(answer, name, TG_COLUMN_F32, count, error);
    for (uint64_t i = 0; to && i < count; i++)
        to[i] = cell[i].finite > 0 ? narrow(number_of(&cell[i])) : NAN;
    return to != NULL;
}

static bool put_kinds(struct tg_answer *answer, const struct tg_cell *cell, uint64_t count,
                      struct tg_error *error)
{
    uint8_t *to = tg_answer_column(answer, "kinds", TG_COLUMN_U8, count, error);
    for (uint64_t i = 0; to && i < count; i++)
        to[i] = cell[i].kinds;
    return to != NULL;
}

static bool put_all_zero(struct tg_answer *answer, const struct tg_cell *cell, uint64_t count,
                         struct tg_error *error)
{
    uint8_t *to = tg_answer_column(answer, "all_zero", TG_COLUMN_U8, count, error);
    for (uint64_t i = 0; to && i < count; i++)
        to[i] = !cell[i].has_nonzero;
    return to != NULL;
}

static tg_status put_columns(struct tg_answer *answer, unsigned level, const struct tg_cell *cell,
                             uint64_t count, struct tg_error *error)
{
    bool is_put = level == 0 || (put_numbers(answer, "least", cell, count, least_in, error) &&
                                 put_numbers(answer, "most", cell, count, most_in, error) &&
                                 put_all_zero(answer, cell, count, error));
    is_put = is_put && put_numbers(answer, "mean", cell, count, mean_of, error) &&
             put_kinds(answer, cell, count, error);
    return is_put ? TG_OK : TG_NO_MEMORY;
}

static void put_header(struct tg_json *json, const struct tg_plane *plane,
                       const struct tg_tile *tile, uint64_t looked_at)
{
    const uint64_t elements = tile->area.height * tile->area.width;
    tg_json_put_uint(json, "height", tile->height);
    tg_json_put_uint(json, "width", tile->width);
    tg_json_put_uint(json, "level", tile->level);
    tg_json_put_uint(json, "levels", plane->levels);
    tg_put_numbers(json, "plane", (int64_t[]){(int64_t)plane->height, (int64_t)plane->width}, 2);
    tg_json_put_bool(json, "sampled", looked_at < elements);
    tg_json_put_uint(json, "looked_at", looked_at);
    tg_json_put_uint(json, "elements", elements);
}

tg_status tg_cells_answer(struct tg_answer *answer, const struct tg_plane *plane,
                          const struct tg_tile *tile, const struct tg_cell_source *source,
                          struct tg_error *error)
{
    const uint64_t count = tile->height * tile->width;
    struct fill fill = {.source = source, .cell = calloc((size_t)count + 1, sizeof *fill.cell)};
    uint64_t looked_at = 0;
    if (!fill.cell)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    if (count > 0)
        fill_cells(plane, tile, &fill);
    for (uint64_t i = 0; i < count; i++)
        looked_at += fill.cell[i].looked_at;
    tg_status status = tg_answer_json(answer, error);
    if (status == TG_OK) {
        put_header(&answer->json, plane, tile, looked_at);
        status = put_columns(answer, tile->level, fill.cell, count, error);
    }
    free(fill.cell);
    return status;
}
