/* SPDX-License-Identifier: Apache-2.0 */
/* `difference`: a tile of how far two tensors are apart, element by element, as taskglass/analysis.h defines it. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare.h"
#include "base/error.h"
#include "workbench/cells.h"
#include "workbench/requests.h"

enum mode { ABSOLUTE, RELATIVE, STEPS };

/* Two arrays of one type and shape, and a block of each. */
struct pair {
    enum mode mode;
    struct tg_elements a, b;
    const void *packed_a, *packed_b;
    double x[TG_BLOCK], y[TG_BLOCK];
    int32_t key_x[TG_BLOCK], key_y[TG_BLOCK];
};

/* --- a block -------------------------------------------------------------------------------- */

static bool is_long_integer(unsigned dtype)
{
    return dtype == TG_INT64 || dtype == TG_UINT64;
}

/* |a - b|. A finite difference stays finite: infinity says something else. */
static void put_errors(const struct pair *pair, int count, double *value)
{
    const unsigned dtype = pair->a.decoder.dtype;
    for (int i = 0; i < count; i++)
        value[i] = fmin(fabs(pair->x[i] - pair->y[i]), DBL_MAX);
    for (int i = 0; is_long_integer(dtype) && i < count; i++)
        value[i] = (double)tg_integer_distance(dtype, tg_load_bits(dtype, pair->packed_a, i),
                                               tg_load_bits(dtype, pair->packed_b, i));
}

/* |a - b| / |b|: infinite if only b is 0. True if one is. */
static bool put_ratios(const struct pair *pair, int count, double *value)
{
    bool is_infinite = false;
    put_errors(pair, count, value);
    for (int i = 0; i < count; i++) {
        const double size = fabs(pair->y[i]);
        if (value[i] > 0)
            value[i] = size > 0 ? fmin(value[i] / size, DBL_MAX) : (double)INFINITY;
        is_infinite |= isinf(value[i]) != 0;
    }
    return is_infinite;
}

/* Steps from one value of the type to the next; of integers a step is 1. */
static void put_steps(struct pair *pair, int count, double *value)
{
    const struct tg_decoder *decoder = &pair->a.decoder;
    if (!decoder->is_float) {
        put_errors(pair, count, value);
        return;
    }
    if (decoder->is_wide) {
        for (int i = 0; i < count; i++)
            value[i] = (double)tg_ulp_distance(decoder->dtype,
                                               tg_load_bits(decoder->dtype, pair->packed_a, i),
                                               tg_load_bits(decoder->dtype, pair->packed_b, i));
        return;
    }
    tg_decode_keys(decoder, pair->packed_a, count, pair->key_x);
    tg_decode_keys(decoder, pair->packed_b, count, pair->key_y);
    for (int i = 0; i < count; i++)
        value[i] = fabs((double)pair->key_x[i] - (double)pair->key_y[i]);
}

/* Where one of the two is not finite: 0 if they agree, else NaN. */
static void put_specials(const struct pair *pair, int count, double *value)
{
    const struct tg_tolerance none = {0, 0};
    const unsigned dtype = pair->a.decoder.dtype;
    for (int i = 0; i < count; i++) {
        if (isfinite(pair->x[i]) && isfinite(pair->y[i]))
            continue;
        bool is_same = tg_elements_agree(dtype, tg_load_bits(dtype, pair->packed_a, i),
                                         tg_load_bits(dtype, pair->packed_b, i), &none, false);
        value[i] = is_same ? 0 : (double)NAN;
    }
}

static bool read_difference(void *context, uint64_t first, uint64_t step, int count, double *value)
{
    struct pair *pair = context;
    bool is_special = tg_elements_read(&pair->a, first, step, count, pair->x);
    is_special = tg_elements_read(&pair->b, first, step, count, pair->y) || is_special;
    pair->packed_a = tg_elements_packed(&pair->a, first, step, count);
    pair->packed_b = tg_elements_packed(&pair->b, first, step, count);
    bool is_infinite = false;
    if (pair->mode == ABSOLUTE)
        put_errors(pair, count, value);
    else if (pair->mode == RELATIVE)
        is_infinite = put_ratios(pair, count, value);
    else
        put_steps(pair, count, value);
    if (is_special)
        put_specials(pair, count, value);
    return is_special || is_infinite;
}

/* --- the request ---------------------------------------------------------------------------- */

static tg_status take_mode(struct tg_ask *ask, enum mode *mode, struct tg_error *error)
{
    static const char *const words[] = {"abs", "rel", "ulp"};
    const char *text = tg_ask_text(ask, "mode");
    for (int i = 0; i < 3; i++)
        if (!text || strcmp(text, words[i]) == 0) {
            *mode = (enum mode)i;
            return TG_OK;
        }
    return tg_error_set(error, TG_BAD_ARGUMENT, "parameter 'mode' is abs, rel or ulp, not '%s'",
                        text);
}

static tg_status check_alike(const struct tg_shown *a, const struct tg_shown *b,
                             struct tg_error *error)
{
    const struct tg_record *one = &a->entry.record, *other = &b->entry.record;
    if (a->array.dtype != b->array.dtype)
        return tg_error_set(error, TG_UNSUPPORTED, "the types differ: %s and %s",
                            tg_dtype_name((int)a->array.dtype), tg_dtype_name((int)b->array.dtype));
    bool is_same = one->ndim == other->ndim &&
                   memcmp(one->shape, other->shape, one->ndim * sizeof one->shape[0]) == 0;
    if (!is_same)
        return tg_error_set(error, TG_UNSUPPORTED, "the shapes differ");
    if (a->array.elements != b->array.elements)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "one of them is cut: %lld and %lld elements are stored",
                            (long long)a->array.elements, (long long)b->array.elements);
    return TG_OK;
}

/* The records of both sides, which must be alike. */
static tg_status take_both(struct tg_request_context *context, struct tg_bench_run *other,
                           struct tg_shown *a, struct tg_shown *b, struct tg_error *error)
{
    tg_status status = tg_shown_take(context->run, context->ask, "record", a, error);
    if (status == TG_OK)
        status = tg_shown_take(other, context->ask, "other_record", b, error);
    if (status == TG_OK)
        status = tg_shown_need(a, error);
    if (status == TG_OK)
        status = tg_shown_need(b, error);
    return status == TG_OK ? check_alike(a, b, error) : status;
}

static tg_status answer_with(struct tg_request_context *context, struct tg_bench_run *other,
                             struct tg_error *error)
{
    struct tg_shown a, b;
    struct tg_plane plane;
    struct tg_tile tile;
    struct pair pair;
    tg_status status = take_both(context, other, &a, &b, error);
    if (status == TG_OK)
        status = take_mode(context->ask, &pair.mode, error);
    if (status == TG_OK)
        status = tg_plane_take(&a, context->ask, &plane, error);
    if (status == TG_OK)
        status = tg_tile_take(&plane, context->ask, &tile, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status != TG_OK)
        return status;
    tg_elements_init(&pair.a, &a.array);
    tg_elements_init(&pair.b, &b.array);
    const struct tg_cell_source source = {
        .read = read_difference, .array = {&pair.a, &pair.b}, .context = &pair};
    return tg_cells_answer(context->answer, &plane, &tile, &source, error);
}

tg_status tg_request_difference(struct tg_request_context *context, struct tg_error *error)
{
    const char *key;
    struct tg_bench_run *other;
    tg_status status = tg_ask_need(context->ask, "other", &key, error);
    if (status == TG_OK)
        status = tg_bench_take(context->bench, key, &other, error);
    if (status != TG_OK)
        return status;
    status = answer_with(context, other, error);
    if (status == TG_OK) /* the caller asks this of the first run */
        status = tg_recording_check_files(other->recording, error);
    tg_bench_give_back(other);
    return status;
}
