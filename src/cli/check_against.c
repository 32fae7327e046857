/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass check --against: compares recorded tensors with values that NumPy saved.
 *
 *   .npy   the one tensor that the filters select
 *   .npz   each array with the record of its name: task_RING_INDEX_before|after_argN, as
 *          `taskglass view --to npz` names them
 */
#include "cli/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>
#include <taskglass/check.h>
#include <taskglass/dtype.h>
#include <taskglass/export.h>
#include <taskglass/npy.h>

#include "cli/print.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

struct pair {
    uint64_t index;
    struct tg_entry entry;
};

static bool same_shape(const struct tg_array *recorded, const struct tg_npy *golden)
{
    return recorded->ndim == golden->ndim &&
           memcmp(recorded->shape, golden->shape,
                  (size_t)recorded->ndim * sizeof recorded->shape[0]) == 0;
}

static struct tg_tolerance tolerance_of(const struct check_request *request, unsigned dtype)
{
    struct tg_tolerance tolerance = tg_tolerance_default((int)dtype);
    if (request->has_atol)
        tolerance.absolute = request->atol;
    if (request->has_rtol)
        tolerance.relative = request->rtol;
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

static int compare_values(const struct check_request *request, const struct tg_array *recorded,
                          const struct tg_npy *golden, struct tg_output_check *check)
{
    struct tg_tolerance tolerance = tolerance_of(request, recorded->dtype);
    unsigned bits = tg_dtype_bits((int)recorded->dtype);
    double *expected = malloc(PIECE * sizeof *expected);
    if (expected == NULL)
        return cli_error("out of host memory for %d values", PIECE);
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
    return CLI_OK;
}

static void print_pair(const struct pair *pair, const struct tg_output_check *check)
{
    struct cli_words task, kernels;
    cli_print("  %s%s%s  task %s  %s  %s argument %u",
              cli_color(stdout, check->mismatches ? CLI_RED : CLI_GREEN),
              check->mismatches ? "wrong" : "good ", cli_color(stdout, CLI_PLAIN),
              cli_record_task(&task, pair->entry.record.task_id),
              cli_record_kernels(&kernels, &pair->entry),
              cli_record_stage(pair->entry.record.stage), pair->entry.record.arg_index);
    if (check->mismatches > 0)
        cli_print(": %" PRIu64 " of %" PRIu64 " elements, first at %" PRIu64 ": %.9g, golden %.9g",
                  check->mismatches, check->elements, check->first, check->first_got,
                  check->first_expected);
    cli_print("; max error %.3g\n", check->max_error);
}

/* Files that lost bytes explain whatever else is wrong. */
static int check_files(const struct tg_recording *recording, const struct tg_npy_file *file)
{
    struct tg_error error;
    if (tg_recording_check_files(recording, &error) == TG_OK &&
        tg_npy_check_file(file, &error) == TG_OK)
        return CLI_OK;
    return cli_fail(&error);
}

static int compare_pair(const struct check_request *request, const struct tg_recording *recording,
                        const struct tg_npy_file *file, const struct pair *pair,
                        const struct tg_npy *golden)
{
    struct tg_array recorded;
    struct tg_output_check check = {0};
    int code = check_files(recording, file);
    if (code != CLI_OK)
        return code;
    if (!tg_array_of(recording, &pair->entry, &recorded) || recorded.cut)
        return cli_error("record %" PRIu64 " is not stored in full; record the run with "
                         "--dump-tensor=full",
                         pair->index);
    if (!same_shape(&recorded, golden))
        return cli_error("record %" PRIu64 " and %s%s%s have different shapes", pair->index,
                         request->against, *golden->name ? " " : "", golden->name);
    code = compare_values(request, &recorded, golden, &check);
    if (code == CLI_OK)
        code = check_files(recording, file);
    if (code != CLI_OK)
        return code;
    print_pair(pair, &check);
    return check.mismatches > 0 ? DIFFERS : CLI_OK;
}

/* Succeeds if the filters select exactly one tensor. */
static int find_selected(const struct check_request *request, const struct tg_recording *recording,
                         struct pair *pair)
{
    uint64_t found = 0, at = 0;
    struct tg_entry entry;
    for (; tg_query_next(request->query, recording, &at, &entry); at++) {
        if (entry.record.kind != TG_KIND_TENSOR)
            continue;
        *pair = (struct pair){at, entry};
        found++;
    }
    if (found == 1)
        return CLI_OK;
    return cli_error("--against FILE.npy compares one tensor, but the filters select %" PRIu64
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

static int compare_named(const struct check_request *request, const struct tg_recording *recording,
                         const struct tg_npy_file *file, const struct named *named, uint32_t count)
{
    struct pair pair = {0};
    int worst = CLI_OK;
    for (uint32_t i = 0; i < count; i++) {
        int code = check_files(recording, file);
        if (code != CLI_OK)
            return code;
        pair.index = named[i].index;
        if (!named[i].is_found || !tg_recording_get(recording, pair.index, &pair.entry))
            return cli_error("%s: no record is named %s; names look like task_0_12_after_arg2",
                             request->against, named[i].name);
        code = compare_pair(request, recording, file, &pair, tg_npy_get(file, i));
        if (code == CLI_USAGE)
            return code;
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int compare_archive(const struct check_request *request,
                           const struct tg_recording *recording, const struct tg_npy_file *file)
{
    const struct tg_npy *golden;
    uint32_t count = 0;
    while (tg_npy_get(file, count))
        count++;
    struct named *named = calloc(count, sizeof *named);
    for (uint32_t i = 0; named && (golden = tg_npy_get(file, i)) != NULL; i++)
        named[i] = (struct named){.name = golden->name, .number = i};
    int code = named && find_records(recording, named, count)
                   ? compare_named(request, recording, file, named, count)
                   : cli_error("out of host memory for the names of %" PRIu32 " arrays", count);
    free(named);
    return code;
}

static int compare_all(const struct check_request *request, const struct tg_recording *recording,
                       const struct tg_npy_file *file)
{
    const struct tg_npy *golden = tg_npy_get(file, 0);
    struct pair pair = {0};
    if (*golden->name != '\0')
        return compare_archive(request, recording, file);
    int code = find_selected(request, recording, &pair);
    return code == CLI_OK ? compare_pair(request, recording, file, &pair, golden) : code;
}

int check_against(const struct check_request *request, const struct tg_recording *recording)
{
    struct tg_npy_file *file;
    struct tg_error error;
    int code;
    if (tg_npy_open(request->against, &file, &error) != TG_OK)
        return cli_fail(&error);
    code = compare_all(request, recording, file);
    tg_npy_close(file);
    return code;
}
