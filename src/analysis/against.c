/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares recorded tensors with values that NumPy saved.
 *
 *   .npy   the one tensor that the filters select
 *   .npz   each array with the record of its name: task_RING_INDEX_before|after_argN, as
 *          `taskglass view --to npz` names them
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/answers.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/export.h>
#include <taskglass/npy.h>

#include "base/error.h"

/* One comparison. */
struct against {
    const struct tg_recording *recording;
    const struct tg_against_config *config;
    const struct tg_npy_file *file;
    tg_against_fn tell;
    void *context;
};

static bool same_shape(const struct tg_array *recorded, const struct tg_npy *golden)
{
    return recorded->ndim == golden->ndim &&
           memcmp(recorded->shape, golden->shape,
                  (size_t)recorded->ndim * sizeof recorded->shape[0]) == 0;
}

static struct tg_tolerance tolerance_of(const struct tg_against_config *config, unsigned dtype)
{
    struct tg_tolerance tolerance = tg_tolerance_default((int)dtype);
    if (config->has_atol)
        tolerance.absolute = config->atol;
    if (config->has_rtol)
        tolerance.relative = config->rtol;
    return tolerance;
}

/* The elements of a piece: an even number, so that a piece of a 4-bit type begins with a whole byte. Both
 * arrays may be larger than the memory. */
enum { PIECE = 1 << 20 };

/* The elements of one index of the first dimension. */
static int64_t row_of(const struct tg_npy *golden)
{
    return golden->ndim > 0 && golden->shape[0] > 0 ? golden->elements / golden->shape[0] : 1;
}

/* In Fortran's order, the elements of a row lie far apart, and those of a column side by side: a piece has
 * whole rows, where they are not too long, and is read by columns. */
static int64_t piece_of(const struct tg_npy *golden)
{
    int64_t row = row_of(golden);
    return golden->fortran && row <= PIECE / 2 ? PIECE / row / 2 * 2 * row : PIECE;
}

static void load_piece(const struct tg_npy *golden, int64_t at, int64_t count, double *expected)
{
    int64_t row = golden->fortran ? row_of(golden) : 1;
    row = count % row == 0 ? row : 1;
    for (int64_t column = 0; column < row; column++)
        for (int64_t i = column; i < count; i += row)
            expected[i] = tg_npy_value(golden, at + i);
}

static tg_status compare_values(const struct tg_against_config *config,
                                const struct tg_array *recorded, const struct tg_npy *golden,
                                struct tg_output_check *check, struct tg_error *error)
{
    struct tg_tolerance tolerance = tolerance_of(config, recorded->dtype);
    unsigned bits = tg_dtype_bits((int)recorded->dtype);
    double *expected = malloc(PIECE * sizeof *expected);
    if (expected == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for %d values", PIECE);
    const int64_t most = piece_of(golden);
    for (int64_t at = 0; at < golden->elements; at += most) {
        int64_t left = golden->elements - at, count = left < most ? left : most;
        const unsigned char *got = (const unsigned char *)recorded->bytes + at * bits / 8;
        struct tg_output_check piece;
        load_piece(golden, at, count, expected);
        tg_check_close((int)recorded->dtype, got, expected, (uint64_t)count, tolerance.absolute,
                       tolerance.relative, &piece);
        tg_check_add(check, (uint64_t)at, &piece);
    }
    free(expected);
    return TG_OK;
}

/* Files that lost bytes explain whatever else is wrong. */
static tg_status check_files(const struct against *a, struct tg_error *error)
{
    tg_status status = tg_recording_check_files(a->recording, error);
    return status == TG_OK ? tg_npy_check_file(a->file, error) : status;
}

static tg_status compare_pair(const struct against *a, struct tg_against_pair *pair,
                              const struct tg_npy *golden, struct tg_error *error)
{
    struct tg_array recorded;
    tg_status status = check_files(a, error);
    if (status != TG_OK)
        return status;
    pair->name = golden->name;
    pair->check = (struct tg_output_check){0};
    if (!tg_array_of(a->recording, &pair->entry, &recorded) || recorded.cut)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "record %" PRIu64 " is not stored in full; record the run with "
                            "--dump-tensor=full",
                            pair->index);
    if (!same_shape(&recorded, golden))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "record %" PRIu64 " and %s%s%s have different shapes", pair->index,
                            a->config->file, *golden->name ? " " : "", golden->name);
    status = compare_values(a->config, &recorded, golden, &pair->check, error);
    if (status == TG_OK)
        status = check_files(a, error);
    if (status == TG_OK && a->tell && a->tell(a->context, pair) != 0)
        status = tg_error_set(error, TG_CANCELLED, "the check was cancelled");
    return status;
}

/* Succeeds if the filters select exactly one tensor. */
static tg_status find_selected(const struct against *a, struct tg_against_pair *pair,
                               struct tg_error *error)
{
    uint64_t found = 0, at = 0;
    struct tg_entry entry;
    for (; tg_query_next(a->config->query, a->recording, &at, &entry); at++) {
        if (entry.record.kind != TG_KIND_TENSOR)
            continue;
        *pair = (struct tg_against_pair){.index = at, .entry = entry};
        found++;
    }
    if (found == 1)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "--against FILE.npy compares one tensor, but the filters select %" PRIu64
                        "; select one with --task, --arg, --stage or --index",
                        found);
}

/* --- an archive: each array with the record of its name ------------------------------------------- */

/* An array, and the record from which `taskglass view --to npz` would make its name. */
struct named {
    const char *name;
    uint32_t number; /* of the array, in the order of the file */
    bool is_found;
    uint64_t index; /* of the record */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* An archive may have the same name several times. */
static void take_record(struct named *named, uint32_t count, const char *name, uint64_t index)
{
    const struct named key = {.name = name};
    struct named *at = bsearch(&key, named, count, sizeof *named, by_name);
    if (!at)
        return;
    while (at > named && strcmp(at[-1].name, name) == 0)
        at--;
    for (; at < named + count && strcmp(at->name, name) == 0 && !at->is_found; at++) {
        at->is_found = true;
        at->index = index;
    }
}

/* Walks through the records once: archives with a name for each of 100,000 records are usual. */
static bool find_records(const struct tg_recording *recording, struct named *named, uint32_t count)
{
    struct tg_export_names *names = tg_export_names_create();
    struct tg_recording_info info;
    struct tg_export_name own;
    struct tg_entry entry;
    bool good = names != NULL;
    tg_recording_get_info(recording, &info);
    qsort(named, count, sizeof *named, by_name);
    for (uint64_t i = 0; good && i < info.records; i++) {
        if (!tg_recording_get(recording, i, &entry))
            continue;
        good = tg_export_names_make(names, i, &entry, &own);
        if (good)
            take_record(named, count, own.text, i);
    }
    qsort(named, count, sizeof *named, by_number);
    tg_export_names_destroy(names);
    return good;
}

static tg_status compare_named(const struct against *a, const struct named *named, uint32_t count,
                               struct tg_error *error)
{
    struct tg_against_pair pair = {0};
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < count && status == TG_OK; i++) {
        status = check_files(a, error);
        if (status != TG_OK)
            return status;
        pair.index = named[i].index;
        if (!named[i].is_found || !tg_recording_get(a->recording, pair.index, &pair.entry))
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "%s: no record is named %s; names look like task_0_12_after_arg2",
                                a->config->file, named[i].name);
        status = compare_pair(a, &pair, tg_npy_get(a->file, i), error);
    }
    return status;
}

static tg_status compare_archive(const struct against *a, struct tg_error *error)
{
    const struct tg_npy *golden;
    uint32_t count = 0;
    while (tg_npy_get(a->file, count))
        count++;
    struct named *named = calloc(count, sizeof *named);
    for (uint32_t i = 0; named && (golden = tg_npy_get(a->file, i)) != NULL; i++)
        named[i] = (struct named){.name = golden->name, .number = i};
    tg_status status =
        named && find_records(a->recording, named, count)
            ? compare_named(a, named, count, error)
            : tg_error_set(error, TG_NO_MEMORY,
                           "out of host memory for the names of %" PRIu32 " arrays", count);
    free(named);
    return status;
}

static bool is_tolerance(double value)
{
    return isfinite(value) && value >= 0;
}

tg_status tg_check_against(const struct tg_recording *recording,
                           const struct tg_against_config *config, tg_against_fn tell,
                           void *context, struct tg_error *error)
{
    struct against a = {.recording = recording, .config = config, .tell = tell, .context = context};
    struct tg_against_pair pair = {0};
    struct tg_npy_file *file;
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, config);
    TG_REFUSE_NULL_AS(error, config->file, "file");
    if ((config->has_atol && !is_tolerance(config->atol)) ||
        (config->has_rtol && !is_tolerance(config->rtol)))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: '%g' is not a number from 0 to 1.7e308, such as 0.001 or 1e-3",
                            config->has_atol && !is_tolerance(config->atol) ? "atol" : "rtol",
                            config->has_atol && !is_tolerance(config->atol) ? config->atol
                                                                            : config->rtol);
    tg_status status = tg_npy_open(config->file, &file, error);
    if (status != TG_OK)
        return status;
    a.file = file;
    const struct tg_npy *golden = tg_npy_get(file, 0);
    if (*golden->name != '\0')
        status = compare_archive(&a, error);
    else if ((status = find_selected(&a, &pair, error)) == TG_OK)
        status = compare_pair(&a, &pair, golden, error);
    tg_npy_close(file);
    return status;
}
