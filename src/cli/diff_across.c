/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass diff --across ranks` and `--shard`: one tensor on all ranks, or one device against many. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/format.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

/* What both reports share. */
struct report {
    struct cli_diff *diff;
    struct tg_json json;
    uint64_t shown, held_back;
};

/* ── words ─────────────────────────────────────────────────────────────────────────────── */

static void put_coordinates(struct tg_json *json, const char *key, const int64_t *at, int n)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (int d = 0; d < n; d++)
        tg_json_int(json, at[d]);
    tg_json_end_array(json);
}

static const char *coordinates(const int64_t *at, int n, struct cli_words *words)
{
    size_t used = 0;
    words->text[0] = '\0';
    for (int d = 0; d < n && used < sizeof words->text; d++)
        used += (size_t)snprintf(words->text + used, sizeof words->text - used, "%s%" PRId64,
                                 d ? ", " : "", at[d]);
    return words->text;
}

static void place_of(uint64_t element, int ndim, const int64_t *shape, int64_t *at)
{
    for (int d = ndim - 1; d >= 0; d--) {
        uint64_t extent = shape[d] > 0 ? (uint64_t)shape[d] : 1;
        at[d] = (int64_t)(element % extent);
        element /= extent;
    }
}

static void put_value(struct tg_json *json, const char *key, unsigned dtype, uint64_t bits)
{
    tg_json_key(json, key);
    tg_json_value(json, dtype, bits);
}

static const char *result_word(enum tg_verdict verdict)
{
    static const char *const words[] = {"equal", "close", "differs", "not known"};
    return (unsigned)verdict < TG_VERDICTS ? words[verdict] : "?";
}

/* True if this tensor has a line: what is equal only with --all. */
static bool is_shown(struct report *report, enum tg_verdict verdict)
{
    const struct cli_diff *diff = report->diff;
    bool is_odd = verdict == TG_VERDICT_DIFFERS || verdict == TG_VERDICT_UNKNOWN;
    if (!is_odd && !diff->all)
        return false;
    if (report->shown < diff->limit.number) {
        report->shown++;
        return true;
    }
    report->held_back++;
    return false;
}

static void print_label(enum tg_verdict verdict)
{
    bool is_odd = verdict == TG_VERDICT_DIFFERS || verdict == TG_VERDICT_UNKNOWN;
    cli_print("%s%-9s%s  ", cli_color(stdout, is_odd ? CLI_RED : CLI_GREEN), result_word(verdict),
              cli_color(stdout, CLI_PLAIN));
}

/* The largest error of the elements that are finite on both sides. Where something differs it is 0 only if none that
 * differ are: a NaN is not off by 0. Neither is what was not compared. */
static void print_error(double max_abs)
{
    if (max_abs > 0)
        cli_print("; max error %.3g", max_abs);
}

static void put_error(struct tg_json *json, bool differs, double max_abs)
{
    tg_json_key(json, "max_abs");
    if (differs && !(max_abs > 0))
        tg_json_null(json);
    else
        tg_json_real(json, max_abs);
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

static void begin(struct report *report)
{
    if (!report->diff->json)
        return;
    tg_json_start(&report->json, stdout);
    tg_json_begin_object(&report->json);
    tg_json_key(&report->json, "tensors");
    tg_json_begin_array(&report->json);
}

static void put_end(struct tg_json *json, const struct tg_ranks_sameness *sum, const char *reason)
{
    tg_json_end_array(json);
    tg_json_put_uint(json, "compared", sum->tensors);
    tg_json_put_uint(json, "equal", sum->same);
    tg_json_put_uint(json, "close", sum->close);
    tg_json_put_uint(json, "differ", sum->differ);
    tg_json_put_uint(json, "not_known", sum->unknown);
    tg_json_put_string(json, "result",
                       reason         ? "not known"
                       : sum->differ  ? "differs"
                       : sum->unknown ? "not known"
                                      : "equal");
    if (reason)
        tg_json_put_string(json, "reason", reason);
    tg_json_end_object(json);
    (void)tg_json_finish(json); /* main reports errors of stdout */
}

static int finish(struct report *report, tg_status status, const struct tg_ranks_sameness *sum,
                  const struct tg_error *error)
{
    struct cli_text tensors;
    if (report->diff->json)
        put_end(&report->json, sum, status == TG_OK ? NULL : error->text);
    if (status == TG_NOT_FOUND)
        return report->diff->json ? CLI_USAGE : cli_error("nothing to compare: %s", error->text);
    if (status != TG_OK)
        return cli_fail(error);
    if (!report->diff->json) {
        if (report->held_back > 0)
            cli_print("and %" PRIu64 " more; --all shows them\n", report->held_back);
        cli_print("%s: %" PRIu64 " equal, %" PRIu64 " within the tolerance, %" PRIu64
                  " differ, %" PRIu64 " not known\n",
                  cli_format_count(&tensors, sum->tensors, "tensor"), sum->same, sum->close,
                  sum->differ, sum->unknown);
    }
    if (sum->differ > 0)
        return DIFFERS;
    return sum->unknown > 0 ? CLI_USAGE : CLI_OK;
}

/* ── the same on all ranks ─────────────────────────────────────────────────────────────── */

static void print_same(const struct tg_ranks_same *same)
{
    struct tg_value_text a, b;
    struct cli_words at;
    int64_t place[TG_MAX_DIMS];
    print_label(same->verdict);
    cli_print("%s: %s\n", same->name, same->text);
    if (!same->has_values || same->values.n_first == 0)
        return;
    const struct tg_mismatch *first = &same->values.first[0];
    place_of(first->element, same->ndim, same->shape, place);
    cli_print("           %" PRIu64 " of %" PRIu64
              " elements, first at (%s): %s on rank %u, %s on rank %u",
              same->values.mismatches, same->values.elements, coordinates(place, same->ndim, &at),
              tg_value_format(same->dtype, first->a, &a), same->odd,
              tg_value_format(same->dtype, first->b, &b), same->usual);
    print_error(same->values.max_abs);
    cli_print("\n");
}

static void put_rank(struct tg_json *json, const char *key, bool is_known, uint32_t rank)
{
    tg_json_key(json, key);
    if (is_known)
        tg_json_uint(json, rank);
    else
        tg_json_null(json);
}

static void put_same(struct tg_json *json, const struct tg_ranks_same *same)
{
    int64_t place[TG_MAX_DIMS];
    tg_json_begin_object(json);
    tg_json_put_string(json, "name", same->name);
    tg_json_put_string(json, "result", result_word(same->verdict));
    tg_json_put_string(json, "dtype", tg_dtype_name((int)same->dtype));
    put_coordinates(json, "shape", same->shape, same->ndim);
    tg_json_put_uint(json, "known_ranks", same->known);
    put_rank(json, "odd_rank", same->has_odd && same->verdict == TG_VERDICT_DIFFERS, same->odd);
    tg_json_put_uint(json, "odd_ranks", same->verdict == TG_VERDICT_DIFFERS ? same->n_odd : 0);
    tg_json_put_string(json, "text", same->text);
    if (same->has_values && same->values.n_first > 0) {
        const struct tg_mismatch *first = &same->values.first[0];
        place_of(first->element, same->ndim, same->shape, place);
        tg_json_put_uint(json, "mismatches", same->values.mismatches);
        put_coordinates(json, "first", place, same->ndim);
        put_rank(json, "rank_a", true, same->odd);
        put_value(json, "value_a", same->dtype, first->a);
        put_rank(json, "rank_b", true, same->usual);
        put_value(json, "value_b", same->dtype, first->b);
        put_error(json, true, same->values.max_abs);
    }
    tg_json_end_object(json);
}

static int tell_same(void *context, const struct tg_ranks_same *same)
{
    struct report *report = context;
    if (is_shown(report, same->verdict)) {
        if (report->diff->json)
            put_same(&report->json, same);
        else
            print_same(same);
    }
    return report->diff->fail_fast && same->verdict == TG_VERDICT_DIFFERS;
}

int cli_diff_across(struct cli_diff *diff, const struct tg_ranks *ranks)
{
    struct report report = {.diff = diff};
    struct tg_diff_options options;
    struct tg_ranks_sameness sum = {0};
    struct tg_error error;
    cli_diff_get_options(diff, &options);
    begin(&report);
    tg_status status =
        tg_ranks_across(ranks, diff->query, &options, tell_same, &report, &sum, &error);
    return finish(&report, status, &sum, &error);
}

/* ── one device against many ───────────────────────────────────────────────────────────── */

static void print_shard(const struct tg_shard_result *result)
{
    struct tg_value_text one, many;
    struct cli_words at, task;
    print_label(result->verdict);
    cli_print("%s", result->shard->text);
    if (result->task_one != TG_TASK_NONE)
        cli_print("  task %s", cli_record_task(&task, result->task_one));
    if (result->verdict == TG_VERDICT_UNKNOWN)
        cli_print(": %s", result->text);
    if (result->has_first) {
        cli_print(": %" PRIu64 " elements, first at (%s): %s on one device, %s ",
                  result->mismatches, coordinates(result->first, result->ndim, &at),
                  tg_value_format(result->dtype, result->one, &one),
                  tg_value_format(result->dtype, result->many, &many));
        if (!result->has_rank)
            cli_print("from all ranks together");
        else if (result->task_rank == TG_TASK_NONE)
            cli_print("on rank %u", result->rank);
        else
            cli_print("on rank %u (task %s)", result->rank,
                      cli_record_task(&task, result->task_rank));
        print_error(result->max_abs);
    }
    if (result->verdict == TG_VERDICT_DIFFERS && result->text[0])
        cli_print("; not compared: %s", result->text);
    cli_print("\n");
}

static void put_shard(struct tg_json *json, const struct tg_shard_result *result)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "shard", result->shard->text);
    tg_json_put_uint(json, "number", result->number);
    cli_json_task_id(json, "task_id", result->task_one != TG_TASK_NONE, result->task_one);
    tg_json_put_string(json, "result", result_word(result->verdict));
    if (result->text[0])
        tg_json_put_string(json, "reason", result->text);
    tg_json_put_string(json, "dtype", tg_dtype_name((int)result->dtype));
    put_coordinates(json, "shape", result->shape, result->ndim);
    tg_json_put_uint(json, "mismatches", result->mismatches);
    put_error(json, result->mismatches > 0 || result->verdict == TG_VERDICT_UNKNOWN,
              result->max_abs);
    if (result->has_first) {
        put_coordinates(json, "first", result->first, result->ndim);
        put_rank(json, "rank", result->has_rank, result->rank);
        cli_json_task_id(json, "rank_task_id",
                         result->has_rank && result->task_rank != TG_TASK_NONE, result->task_rank);
        put_value(json, "one", result->dtype, result->one);
        put_value(json, "many", result->dtype, result->many);
    }
    tg_json_end_object(json);
}

static int tell_shard(void *context, const struct tg_shard_result *result)
{
    struct report *report = context;
    if (is_shown(report, result->verdict)) {
        if (report->diff->json)
            put_shard(&report->json, result);
        else
            print_shard(result);
    }
    return report->diff->fail_fast && result->verdict == TG_VERDICT_DIFFERS;
}

int cli_diff_shards(struct cli_diff *diff, const struct tg_ranks *many)
{
    struct report report = {.diff = diff};
    struct tg_diff_options options;
    struct tg_ranks_sameness sum = {0};
    struct tg_recording *one;
    struct tg_error error;
    if (!tg_query_is_empty(diff->query))
        return cli_error("--shard selects the tensors itself; leave the filters out");
    if (cli_recording_open(diff->dir[0], &one, &error) != TG_OK)
        return cli_recording_fail(NULL, diff->json, &error);
    cli_diff_get_options(diff, &options);
    begin(&report);
    tg_status status = tg_ranks_compare(one, many, diff->shard, diff->n_shards, &options,
                                        tell_shard, &report, &sum, &error);
    tg_recording_close(one);
    return finish(&report, status, &sum, &error);
}
