/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `taskglass diff` as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "cli/diff.h"
#include "cli/diff_words.h"

/* --- a pair ----------------------------------------------------------------------------------- */

void cli_json_task_id(struct tg_json *json, const char *key, bool is_there, uint64_t id)
{
    tg_json_key(json, key);
    if (is_there)
        tg_json_hex(json, id);
    else
        tg_json_null(json);
}

static void put_place(struct tg_json *json, const struct tg_record *record,
                      const struct tg_mismatch *at)
{
    cli_json_at(json, "at", record, at->element);
    tg_json_key(json, "a");
    tg_json_value(json, record->dtype, at->a);
    tg_json_key(json, "b");
    tg_json_value(json, record->dtype, at->b);
}

/* Writes null and returns false if no element differs. */
static bool begin_extreme(struct tg_json *json, const char *key, const struct tg_mismatch *at)
{
    tg_json_key(json, key);
    if (at->element == TG_NONE) {
        tg_json_null(json);
        return false;
    }
    tg_json_begin_line_object(json);
    return true;
}

static void put_extreme(struct tg_json *json, const char *key, const struct tg_record *record,
                        double value, const struct tg_mismatch *at)
{
    if (!begin_extreme(json, key, at))
        return;
    cli_json_real(json, "value", value);
    put_place(json, record, at);
    tg_json_end_object(json);
}

/* Writes distances of float64 as strings, because they may exceed 2^53. */
static void put_ulp(struct tg_json *json, const struct tg_record *record,
                    const struct tg_comparison *values)
{
    struct tg_value_text text;
    if (!begin_extreme(json, "max_ulp", &values->max_ulp_at))
        return;
    if (record->dtype == TG_FLOAT64)
        tg_json_put_string(json, "value", tg_value_format(TG_UINT64, values->max_ulp, &text));
    else
        tg_json_put_uint(json, "value", values->max_ulp);
    put_place(json, record, &values->max_ulp_at);
    tg_json_end_object(json);
}

static void put_two(struct tg_json *json, const char *key, uint64_t a, uint64_t b)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    tg_json_uint(json, a);
    tg_json_uint(json, b);
    tg_json_end_array(json);
}

static void put_first(struct tg_json *json, const struct tg_record *record,
                      const struct tg_comparison *values)
{
    tg_json_key(json, "first");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < values->n_first; i++) {
        tg_json_begin_line_object(json);
        put_place(json, record, &values->first[i]);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_values(struct tg_json *json, const struct cli_pair *pair)
{
    const struct tg_comparison *values = &pair->result.values;
    const struct tg_record *record = &pair->a.record;
    tg_json_key(json, "values");
    tg_json_begin_object(json);
    tg_json_put_uint(json, "elements", values->elements);
    tg_json_put_bool(json, "cut", pair->result.cut);
    tg_json_put_uint(json, "mismatches", values->mismatches);
    cli_json_real(json, "share",
                  values->elements ? (double)values->mismatches / (double)values->elements : NAN);
    put_extreme(json, "max_abs", record, values->max_abs, &values->max_abs_at);
    put_extreme(json, "max_rel", record, values->max_rel, &values->max_rel_at);
    put_ulp(json, record, values);
    cli_json_real(json, "cosine", values->cosine);
    cli_json_real(json, "sqnr_db", values->sqnr);
    put_two(json, "nan", values->nan_a, values->nan_b);
    put_two(json, "inf", values->inf_a, values->inf_b);
    tg_json_put_uint(json, "special_mismatches", values->special);
    put_first(json, record, values);
    tg_json_end_object(json);
}

/* Kind, dtype and shape of B, if one of them differs from that of A. */
static void put_other(struct tg_json *json, const struct cli_pair *pair)
{
    const struct tg_record *b = &pair->b.record;
    if (pair->result.reason != TG_REASON_DTYPE && pair->result.reason != TG_REASON_SHAPE &&
        pair->result.reason != TG_REASON_KIND)
        return;
    tg_json_put_string(json, "kind_b", b->kind == TG_KIND_SCALAR ? "scalar" : "tensor");
    tg_json_put_string(json, "dtype_b", tg_dtype_name(b->dtype));
    tg_json_key(json, "shape_b");
    tg_json_begin_line_array(json);
    for (int i = 0; i < b->ndim; i++)
        tg_json_int(json, b->shape[i]);
    tg_json_end_array(json);
}

void cli_diff_json_pair(const struct cli_diff *diff, struct tg_json *json,
                        const struct cli_pair *pair)
{
    const struct tg_diff_result *result = &pair->result;
    if (result->has_values)
        tg_json_begin_object(json);
    else
        tg_json_begin_line_object(json);
    cli_json_task_id(json, "task_a", pair->task.in_a, pair->task.id_a);
    cli_json_task_id(json, "task_b", pair->task.in_b, pair->task.id_b);
    cli_json_index(json, "record_a", pair->pair.record_a);
    cli_json_index(json, "record_b", pair->pair.record_b);
    cli_json_argument(json, pair->has_a ? &pair->a : &pair->b);
    put_other(json, pair);
    tg_json_put_string(json, "verdict", tg_verdict_name(result->verdict));
    tg_json_put_string(json, "reason", tg_reason_name(result->reason));
    if (pair->has_a && pair->has_b) {
        tg_json_put_real(json, "atol", result->tolerance.absolute);
        tg_json_put_real(json, "rtol", result->tolerance.relative);
        if (diff->info.noise_runs > 0)
            cli_json_real(json, "noise_floor", result->floor);
    }
    if (result->has_values)
        put_values(json, pair);
    tg_json_end_object(json);
}

/* --- summary ---------------------------------------------------------------------------------- */

void cli_diff_json_begin(const struct cli_diff *diff, struct tg_json *json)
{
    tg_json_begin_object(json);
    cli_json_recording(json, "a", diff->recording[0]);
    cli_json_recording(json, "b", diff->recording[1]);
    tg_json_put_string(json, "matched_by", diff->info.matched_by);
    tg_json_put_uint(json, "noise_runs", diff->info.noise_runs);
    tg_json_key(json, "pairs");
    tg_json_begin_array(json);
}

static void put_missing(const struct cli_diff *diff, struct tg_json *json, const char *key,
                        bool of_b)
{
    struct tg_diff_task task;
    tg_json_key(json, key);
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_diff_get_task(diff->diff, i, &task); i++) {
        uint64_t id = of_b ? task.id_b : task.id_a;
        if ((of_b ? task.in_a : task.in_b) || id == TG_TASK_NONE || task.part_of != TG_NONE)
            continue;
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "task_id", id);
        tg_json_put_string(json, "kernel", task.kernel);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* Tasks that are called by another name in B. */
static void put_renamed(const struct cli_diff *diff, struct tg_json *json)
{
    struct tg_diff_task task;
    tg_json_key(json, "renamed");
    tg_json_begin_array(json);
    for (uint64_t i = 0; diff->info.renamed > 0 && tg_diff_get_task(diff->diff, i, &task); i++) {
        if (!task.in_a || !task.in_b || task.fused || strcmp(task.kernel, task.kernel_b) == 0)
            continue;
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "task_a", task.id_a);
        tg_json_put_hex(json, "task_b", task.id_b);
        tg_json_put_string(json, "kernel_a", task.kernel);
        tg_json_put_string(json, "kernel_b", task.kernel_b);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* Parts of fused tasks: each with the task that it is part of. */
static void put_parts(const struct cli_diff *diff, struct tg_json *json)
{
    struct tg_diff_task task, whole;
    bool has_parts = diff->info.parts_a + diff->info.parts_b > 0;
    tg_json_key(json, "fused");
    tg_json_begin_array(json);
    for (uint64_t i = 0; has_parts && tg_diff_get_task(diff->diff, i, &task); i++) {
        if (task.part_of == TG_NONE || !tg_diff_get_task(diff->diff, task.part_of, &whole))
            continue;
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "in", task.in_a ? "a" : "b");
        tg_json_put_hex(json, "part", task.in_a ? task.id_a : task.id_b);
        tg_json_put_string(json, "kernel", task.kernel);
        tg_json_put_hex(json, "task_a", whole.id_a);
        tg_json_put_hex(json, "task_b", whole.id_b);
        tg_json_put_string(json, "kernel_a", whole.kernel);
        tg_json_put_string(json, "kernel_b", whole.kernel_b);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_tasks(const struct cli_diff *diff, struct tg_json *json)
{
    tg_json_key(json, "tasks");
    tg_json_begin_object(json);
    tg_json_put_uint(json, "matched", diff->info.matched);
    put_missing(diff, json, "only_a", false);
    put_missing(diff, json, "only_b", true);
    put_renamed(diff, json);
    put_parts(diff, json);
    tg_json_end_object(json);
}

static void put_counts(const struct cli_diff *diff, struct tg_json *json,
                       const struct tg_diff_summary *summary)
{
    tg_json_key(json, "counts");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_VERDICTS; i++)
        tg_json_put_uint(json, tg_verdict_name(i),
                         summary->pairs[i] - (i == TG_VERDICT_UNKNOWN ? summary->not_compared : 0));
    tg_json_end_object(json);
    tg_json_key(json, "reads");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_VERDICTS; i++)
        tg_json_put_uint(json, tg_verdict_name(i), summary->reads[i]);
    tg_json_end_object(json);
    tg_json_key(json, "reasons");
    tg_json_begin_line_object(json);
    for (unsigned i = 0; i < TG_REASON_NOT_COMPARED; i++)
        if (diff->by_reason[i] > 0)
            tg_json_put_uint(json, tg_reason_name(i), diff->by_reason[i]);
    tg_json_end_object(json);
}

static void put_gaps(struct tg_json *json, const struct tg_diff_summary *summary)
{
    tg_json_key(json, "gaps");
    tg_json_begin_line_array(json);
    for (unsigned i = 0; cli_diff_gap(i); i++)
        if (summary->gaps >> i & 1)
            tg_json_string(json, cli_diff_gap(i));
    tg_json_end_array(json);
}

void cli_diff_json_end(const struct cli_diff *diff, struct tg_json *json,
                       const struct tg_diff_summary *summary)
{
    tg_json_end_array(json);
    put_tasks(diff, json);
    put_counts(diff, json, summary);
    put_gaps(json, summary);
    tg_json_put_bool(json, "stopped", diff->stopped);
    tg_json_put_string(json, "deps_error", *diff->info.deps_error ? diff->info.deps_error : NULL);
    cli_diff_json_edges(diff, json);
    cli_diff_json_blame(diff, json);
    tg_json_put_string(json, "result", cli_diff_word(summary));
    tg_json_put_string(json, "reason", cli_diff_is_unknown(summary) ? cli_diff_reason(diff) : NULL);
    tg_json_end_object(json);
    (void)tg_json_finish(json); /* main reports errors of stdout */
}

void cli_diff_json_give_up(struct tg_json *json, const char *reason)
{
    tg_json_end_array(json);
    tg_json_put_string(json, "result", "not known");
    tg_json_put_string(json, "reason", reason);
    tg_json_end_object(json);
    (void)tg_json_finish(json); /* main reports errors of stdout */
}
