/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that caused the differences, in the report of `taskglass diff` as JSON. */
#include <math.h>
#include <taskglass/dtype.h>

#include "cli/diff.h"
#include "cli/diff_words.h"

/* A path may pass every task of a run, and there may be many suspects: of a longer one only the first
 * and the last steps are written, and `path_length` says how many there are. */
enum { STEPS = 1000 };

static void put_task(const struct cli_diff *diff, struct tg_json *json, uint64_t number)
{
    struct tg_diff_task task;
    tg_diff_get_task(diff->diff, number, &task);
    /* The orchestration is no task: both are null. */
    cli_json_task_id(json, "task_a", task.in_a && task.id_a != TG_TASK_NONE, task.id_a);
    cli_json_task_id(json, "task_b", task.in_b && task.id_b != TG_TASK_NONE, task.id_b);
    tg_json_put_string(json, "kernel", task.kernel);
}

static void put_other(const struct cli_diff *diff, struct tg_json *json,
                      const struct tg_suspect *suspect)
{
    tg_json_key(json, "other");
    if (suspect->other == TG_NONE) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    put_task(diff, json, suspect->other);
    tg_json_put_bool(json, "ordered_in_a", suspect->ordered_a);
    tg_json_put_bool(json, "ordered_in_b", suspect->ordered_b);
    tg_json_end_object(json);
}

/* --- what was given --------------------------------------------------------------------------- */

static void put_numbers(struct tg_json *json, const char *key, const int64_t *number, int count)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int i = 0; i < count; i++)
        tg_json_int(json, number[i]);
    tg_json_end_array(json);
}

static void put_source(const struct cli_diff *diff, struct tg_json *json,
                       const struct tg_suspect_part *part, int side)
{
    struct tg_diff_task task;
    struct tg_entry entry;
    tg_json_put_string(json, "tensor", *part->name ? part->name : NULL);
    bool is_there = part->task != TG_NONE && tg_diff_get_task(diff->diff, part->task, &task) &&
                    tg_recording_get(diff->recording[side], part->record, &entry);
    cli_json_task_id(json, "written_by", is_there, is_there ? entry.record.task_id : 0);
    if (is_there)
        tg_json_put_uint(json, "written_as", entry.record.arg_index);
}

static void put_part(const struct cli_diff *diff, struct tg_json *json, const char *key,
                     uint64_t record, const struct tg_suspect_part *part, int side)
{
    struct tg_entry entry;
    tg_json_key(json, key);
    if (record == TG_NONE || !tg_recording_get(diff->recording[side], record, &entry)) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    if (entry.record.kind == TG_KIND_SCALAR) {
        tg_json_key(json, "value");
        tg_json_value(json, entry.record.dtype, entry.record.value);
    } else {
        const int64_t elements[2] = {part->first, part->last};
        put_source(diff, json, part, side);
        put_numbers(json, "elements", elements, 2);
        put_numbers(json, "shape", entry.record.shape, entry.record.ndim);
        put_numbers(json, "strides", entry.record.strides, entry.record.ndim);
    }
    tg_json_end_object(json);
}

/* --- the path --------------------------------------------------------------------------------- */

static void put_ulp(struct tg_json *json, uint64_t ulp, double error)
{
    tg_json_key(json, "max_ulp");
    if (isnan(error))
        tg_json_null(json);
    else
        tg_json_uint(json, ulp);
}

static void put_left(const struct cli_diff *diff, struct tg_json *json,
                     const struct tg_suspect *suspect)
{
    struct tg_diff_pair pair;
    struct tg_entry entry;
    tg_json_key(json, "left_tolerance");
    if (suspect->left == TG_NONE || !tg_diff_get_pair(diff->diff, suspect->left, &pair) ||
        !tg_recording_get(diff->recording[0], pair.record_a, &entry)) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    put_task(diff, json, pair.task);
    tg_json_put_string(json, "stage", tg_stage_name(entry.record.stage));
    tg_json_put_uint(json, "arg_index", entry.record.arg_index);
    cli_json_index(json, "record_a", pair.record_a);
    cli_json_index(json, "record_b", pair.record_b);
    tg_json_end_object(json);
}

static void put_path(const struct cli_diff *diff, struct tg_json *json,
                     const struct tg_suspect *suspect)
{
    tg_json_put_uint(json, "path_length", suspect->n_path);
    tg_json_key(json, "path");
    tg_json_begin_array(json);
    for (size_t i = 0; i < suspect->n_path; i++) {
        const struct tg_suspect_step *step = &suspect->step[i];
        if (suspect->n_path > STEPS && i >= STEPS / 2 && i < suspect->n_path - STEPS / 2)
            continue;
        tg_json_begin_line_object(json);
        put_task(diff, json, step->task);
        put_ulp(json, step->ulp, step->error);
        cli_json_real(json, "error", step->error);
        tg_json_put_bool(json, "beyond", step->beyond);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* --- suspects --------------------------------------------------------------------------------- */

static void put_suspect(const struct cli_diff *diff, struct tg_json *json,
                        const struct tg_suspect *suspect)
{
    struct tg_diff_pair pair = {.record_a = TG_NONE, .record_b = TG_NONE};
    struct tg_entry entry;
    tg_diff_get_pair(diff->diff, suspect->pair, &pair);
    tg_json_begin_object(json);
    tg_json_put_string(json, "guilt", tg_guilt_name(suspect->guilt));
    put_task(diff, json, suspect->task);
    put_other(diff, json, suspect);
    cli_json_index(json, "record_a", pair.record_a);
    cli_json_index(json, "record_b", pair.record_b);
    tg_json_key(json, "arg_index");
    if (pair.record_a != TG_NONE && tg_recording_get(diff->recording[0], pair.record_a, &entry))
        tg_json_uint(json, entry.record.arg_index);
    else
        tg_json_null(json);
    put_part(diff, json, "given_a", pair.record_a, &suspect->part_a, 0);
    put_part(diff, json, "given_b", pair.record_b, &suspect->part_b, 1);
    tg_json_put_uint(json, "depth", suspect->depth);
    cli_json_real(json, "error", suspect->error);
    put_ulp(json, suspect->ulp, suspect->error);
    put_left(diff, json, suspect);
    put_path(diff, json, suspect);
    tg_json_end_object(json);
}

void cli_diff_json_blame(const struct cli_diff *diff, struct tg_json *json)
{
    struct tg_blame_info info;
    struct tg_suspect suspect;
    tg_json_key(json, "blame");
    if (!diff->blame) {
        tg_json_null(json);
        return;
    }
    tg_blame_get_info(diff->blame, &info);
    tg_json_begin_object(json);
    tg_json_put_string(json, "graph", info.graph);
    tg_json_put_uint(json, "wrong", info.wrong);
    tg_json_put_uint(json, "inherited", info.inherited);
    tg_json_put_string(json, "unknown", *info.unknown ? info.unknown : NULL);
    tg_json_key(json, "suspects");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_blame_get_suspect(diff->blame, i, &suspect); i++)
        put_suspect(diff, json, &suspect);
    tg_json_end_array(json);
    tg_json_end_object(json);
}
