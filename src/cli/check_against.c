/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass check --against: compares recorded tensors with values that NumPy saved.
 *
 *   .npy   the one tensor that the filters select
 *   .npz   each array with the record of its name: task_RING_INDEX_before|after_argN, as
 *          `taskglass view --export npz` names them
 */
#include "cli/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>
#include <taskglass/check.h>
#include <taskglass/export.h>
#include <taskglass/npy.h>

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

static int compare_values(const struct check_request *request, const struct tg_array *recorded,
                          const struct tg_npy *golden, struct tg_output_check *check)
{
    struct tg_tolerance tolerance = tolerance_of(request, recorded->dtype);
    double *expected = malloc(((size_t)golden->elements + 1) * sizeof *expected);
    if (expected == NULL)
        return cli_error("out of host memory for %" PRId64 " values", golden->elements);
    for (int64_t i = 0; i < golden->elements; i++)
        expected[i] = tg_npy_value(golden, i);
    tg_check_close((int)recorded->dtype, recorded->bytes, expected, (uint64_t)golden->elements,
                   tolerance.absolute, tolerance.relative, check);
    free(expected);
    return CLI_OK;
}

static void print_pair(const struct pair *pair, const struct tg_output_check *check)
{
    struct cli_words task, kernels;
    printf("  %s%s%s  task %s  %s  %s argument %u",
           cli_color(stdout, check->mismatches ? CLI_RED : CLI_GREEN),
           check->mismatches ? "wrong" : "good ", cli_color(stdout, CLI_PLAIN),
           cli_record_task(&task, pair->entry.record.task_id),
           cli_record_kernels(&kernels, &pair->entry), cli_record_stage(pair->entry.record.stage),
           pair->entry.record.arg_index);
    if (check->mismatches > 0)
        printf(": %" PRIu64 " of %" PRIu64 " elements, first at %" PRIu64 ": %.9g, golden %.9g",
               check->mismatches, check->elements, check->first, check->first_got,
               check->first_expected);
    printf("; max error %.3g\n", check->max_error);
}

static int compare_pair(const struct check_request *request, const struct tg_recording *recording,
                        const struct tg_npy_file *file, const struct pair *pair,
                        const struct tg_npy *golden)
{
    struct tg_array recorded;
    struct tg_output_check check = {0};
    struct tg_error error;
    int code;
    if (!tg_array_of(recording, &pair->entry, &recorded) || recorded.cut)
        return cli_error("record %" PRIu64 " is not stored in full; record the run with "
                         "--dump-tensor=full",
                         pair->index);
    if (!same_shape(&recorded, golden))
        return cli_error("record %" PRIu64 " and %s%s%s have different shapes", pair->index,
                         request->against, *golden->name ? " " : "", golden->name);
    code = compare_values(request, &recorded, golden, &check);
    if (code != CLI_OK)
        return code;
    if (tg_recording_check_files(recording, &error) != TG_OK ||
        tg_npy_check_file(file, &error) != TG_OK)
        return cli_fail(&error);
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

/* Finds the record from which `taskglass view --export npz` would make this name. */
static bool find_named(const struct tg_recording *recording, const char *name, struct pair *pair)
{
    struct tg_export_names *names = tg_export_names_create();
    struct tg_recording_info info;
    struct tg_export_name own;
    bool found = false;
    tg_recording_get_info(recording, &info);
    for (uint64_t i = 0; names && i < info.records && !found; i++)
        if (tg_recording_get(recording, i, &pair->entry) &&
            tg_export_names_make(names, i, &pair->entry, &own) && strcmp(own.text, name) == 0) {
            pair->index = i;
            found = true;
        }
    tg_export_names_destroy(names);
    return found;
}

static int compare_all(const struct check_request *request, const struct tg_recording *recording,
                       const struct tg_npy_file *file)
{
    const struct tg_npy *golden = tg_npy_get(file, 0);
    struct pair pair = {0};
    int worst = CLI_OK;
    if (*golden->name == '\0') {
        worst = find_selected(request, recording, &pair);
        return worst == CLI_OK ? compare_pair(request, recording, file, &pair, golden) : worst;
    }
    for (uint32_t i = 0; (golden = tg_npy_get(file, i)) != NULL; i++) {
        int code;
        if (!find_named(recording, golden->name, &pair))
            return cli_error("%s: no record is named %s; names look like task_0_12_after_arg2",
                             request->against, golden->name);
        code = compare_pair(request, recording, file, &pair, golden);
        if (code == CLI_USAGE)
            return code;
        worst = code > worst ? code : worst;
    }
    return worst;
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
