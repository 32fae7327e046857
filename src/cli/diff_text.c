/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `taskglass diff` as text: the recordings, each difference, and a summary. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/wire/stream.h>

#include "cli/diff.h"
#include "cli/diff_words.h"
#include "cli/format.h"
#include "cli/print.h"

enum { LABEL = 12, NAMED_TASKS = 5 };

static void put_label(const char *label)
{
    cli_print("  %-*s", LABEL, label);
}

/* --- the recordings --------------------------------------------------------------------------- */

static void put_recording(const char *letter, const struct tg_recording *recording)
{
    struct tg_recording_info info;
    struct cli_text records;
    struct cli_shown dir;
    char name[256];
    tg_recording_get_info(recording, &info);
    cli_recording_name(&info, name, sizeof name);
    cli_print("%s%s%s  %s  %s: %s%s%s%s\n", cli_color(stdout, CLI_BOLD), letter,
              cli_color(stdout, CLI_PLAIN), name, cli_show(&dir, info.dir),
              cli_format_count(&records, info.records, "record"), info.level ? ", level " : "",
              info.level ? tg_level_name(info.level) : "",
              info.foreign ? ", written by another implementation" : "");
    cli_recording_print_notes(&info);
}

static void put_only(const char *letter, uint64_t count)
{
    struct cli_text tasks;
    if (count > 0)
        cli_print(", %s%s%s only in %s", cli_color(stdout, CLI_RED),
                  cli_format_count(&tasks, count, "task"), cli_color(stdout, CLI_PLAIN), letter);
}

static void put_fused(const char *letter, const char *other, uint64_t parts)
{
    struct cli_text tasks;
    if (parts > 0)
        cli_print("%s of %s %s part of a task that does more in %s\n",
                  cli_format_count(&tasks, parts, "task"), letter, parts == 1 ? "is" : "are",
                  other);
}

static const char *match_words(const char *matched_by)
{
    if (strcmp(matched_by, "id") == 0)
        return "by their ids";
    if (strcmp(matched_by, "dataflow") == 0)
        return "by what they read and write";
    if (strcmp(matched_by, "position") == 0)
        return "by kernel and position";
    return "by aligning the two orders of kernels";
}

/* Memory that no task wrote then differs, and so does what is computed from it. */
static void put_poison(const struct cli_diff *diff)
{
    struct tg_recording_info a, b;
    tg_recording_get_info(diff->recording[0], &a);
    tg_recording_get_info(diff->recording[1], &b);
    if (a.poison != b.poison)
        cli_print("note: %s was run with --poison, %s was not: what no task wrote differs\n",
                  a.poison ? "A" : "B", a.poison ? "B" : "A");
}

void cli_diff_print_head(const struct cli_diff *diff)
{
    struct cli_text tasks;
    put_recording("A", diff->recording[0]);
    put_recording("B", diff->recording[1]);
    cli_print("%s matched %s", cli_format_count(&tasks, diff->info.matched, "task"),
              match_words(diff->info.matched_by));
    if (diff->info.renamed > 0)
        cli_print(", %" PRIu64 " of them under another kernel's name", diff->info.renamed);
    put_only("A", diff->info.only_a);
    put_only("B", diff->info.only_b);
    cli_print("\n");
    put_fused("A", "B", diff->info.parts_a);
    put_fused("B", "A", diff->info.parts_b);
    if (diff->info.noise_runs > 0)
        cli_print("noise measured with B and %s\n",
                  cli_format_count(&tasks, diff->info.noise_runs, "other good run"));
    if (*diff->info.deps_error)
        cli_print("note: %s\n", diff->info.deps_error);
    put_poison(diff);
}

/* --- a difference ----------------------------------------------------------------------------- */

static void put_who(const struct cli_pair *pair)
{
    const struct tg_entry *entry = pair->has_a ? &pair->a : &pair->b;
    struct cli_words task, argument;
    cli_print("\n%s%s%s", cli_color(stdout, CLI_BOLD), cli_task_words(&task, entry),
              cli_color(stdout, CLI_PLAIN));
    if (pair->task.in_a && pair->task.in_b && pair->task.id_a != pair->task.id_b)
        cli_print(" (B: %s)", cli_record_task(&task, pair->task.id_b));
    cli_print("  %s", cli_argument_words(&argument, &entry->record));
    if (pair->has_a && pair->has_b)
        cli_print("  records %" PRIu64 " and %" PRIu64, pair->pair.record_a, pair->pair.record_b);
    else
        cli_print("  record %" PRIu64, pair->has_a ? pair->pair.record_a : pair->pair.record_b);
    cli_print("\n");
}

static void put_metadata(const struct cli_pair *pair)
{
    struct cli_words words;
    put_label(tg_verdict_name(pair->result.verdict));
    cli_print("%s", tg_reason_text(pair->result.reason));
    if (pair->result.reason == TG_REASON_DTYPE || pair->result.reason == TG_REASON_SHAPE) {
        cli_print(": %s %s in A", tg_dtype_name(pair->a.record.dtype),
                  cli_record_shape(&words, &pair->a.record));
        cli_print(", %s %s in B", tg_dtype_name(pair->b.record.dtype),
                  cli_record_shape(&words, &pair->b.record));
    }
    cli_print("\n");
}

static void put_mismatches(const struct cli_pair *pair)
{
    const struct tg_comparison *values = &pair->result.values;
    const struct tg_tolerance *tolerance = &pair->result.tolerance;
    put_label("mismatch");
    cli_print("%" PRIu64 " of %" PRIu64, values->mismatches, values->elements);
    if (values->elements > 1)
        cli_print(" (%.3g %%)", 100.0 * (double)values->mismatches / (double)values->elements);
    if (isfinite(pair->result.floor))
        cli_print(", beyond the noise of good runs");
    else if (tolerance->absolute == 0 && tolerance->relative == 0)
        cli_print(", exact comparison");
    else
        cli_print(", beyond %g + %g |b|", tolerance->absolute, tolerance->relative);
    if (pair->result.cut)
        cli_print("; both recordings store only these elements");
    cli_print("\n");
}

/* The floor that the argument was held against. */
static void put_noise(const struct cli_diff *diff, const struct cli_pair *pair)
{
    struct cli_text runs;
    if (diff->info.noise_runs == 0)
        return;
    put_label("noise");
    if (isnan(pair->result.floor))
        cli_print("not measured: no good run has this argument\n");
    else if (isinf(pair->result.floor))
        cli_print(
            "good runs differ here in more than values, so the tolerance of the type counts\n");
    else if (pair->result.floor == 0)
        cli_print("none: this argument is the same, bit for bit, in B and %s\n",
                  cli_format_count(&runs, diff->info.noise_runs, "other good run"));
    else
        cli_print("%g is the largest difference between B and %s; held against %g\n",
                  pair->result.floor,
                  cli_format_count(&runs, diff->info.noise_runs, "other good run"),
                  pair->result.tolerance.absolute);
}

static void put_at(const struct cli_pair *pair, const struct tg_mismatch *at)
{
    const struct tg_record *record = &pair->a.record;
    struct cli_words a, b, where;
    if (record->kind == TG_KIND_TENSOR)
        cli_print("%s ", cli_element_at(&where, record, at->element));
    cli_print("%s, %s", cli_value_words(&a, record->dtype, at->a),
              cli_value_words(&b, record->dtype, at->b));
}

static void put_extreme(const struct cli_pair *pair, const char *label, double value,
                        const struct tg_mismatch *at)
{
    if (at->element == TG_NONE)
        return;
    put_label(label);
    cli_print("%.6g at ", value);
    put_at(pair, at);
    cli_print("\n");
}

static void put_extremes(const struct cli_pair *pair)
{
    const struct tg_comparison *values = &pair->result.values;
    put_extreme(pair, "max abs", values->max_abs, &values->max_abs_at);
    put_extreme(pair, "max rel", values->max_rel, &values->max_rel_at);
    if (values->max_ulp_at.element != TG_NONE) {
        put_label("max ulp");
        cli_print("%" PRIu64 " at ", values->max_ulp);
        put_at(pair, &values->max_ulp_at);
        cli_print("\n");
    }
}

static void put_overall(const struct cli_pair *pair)
{
    const struct tg_comparison *values = &pair->result.values;
    bool is_float = tg_dtype_is_float(pair->a.record.dtype);
    bool odd = values->nan_a + values->nan_b + values->inf_a + values->inf_b > 0;
    if (pair->a.record.kind == TG_KIND_SCALAR && !odd)
        return;
    put_label("overall");
    if (isnan(values->cosine))
        cli_print("no cosine");
    else
        cli_print("cosine %.9g", values->cosine);
    cli_print(", SQNR %.4g dB", values->sqnr);
    if (is_float)
        cli_print("; NaN %" PRIu64 " and %" PRIu64 ", Inf %" PRIu64 " and %" PRIu64, values->nan_a,
                  values->nan_b, values->inf_a, values->inf_b);
    if (odd)
        cli_print(", %s%" PRIu64 " of them differ%s", cli_color(stdout, CLI_RED), values->special,
                  cli_color(stdout, CLI_PLAIN));
    cli_print("\n");
}

/* Prints as many mismatches on a line as fit. */
static void put_first(const struct cli_pair *pair)
{
    const struct tg_comparison *values = &pair->result.values;
    const struct tg_record *record = &pair->a.record;
    int used = 0, line = cli_term_width();
    for (uint32_t i = 0; i < values->n_first; i++) {
        struct cli_words a, b, where;
        char text[500];
        int length = snprintf(text, sizeof text, "%.300s %.60s, %.60s",
                              cli_element_at(&where, record, values->first[i].element),
                              cli_value_words(&a, record->dtype, values->first[i].a),
                              cli_value_words(&b, record->dtype, values->first[i].b));
        if (i == 0 || used + 3 + length > line) {
            cli_print("%s", i > 0 ? "\n" : "");
            put_label(i == 0 ? "first" : "");
            used = LABEL + 2;
        } else {
            cli_print("   ");
            used += 3;
        }
        cli_print("%s", text);
        used += length;
    }
    cli_print("%s", values->n_first > 0 ? "\n" : "");
}

/* One task's output is another one's input, so the same two contents often occur several times. The
 * report describes them once and refers to that place later. */
static const struct cli_told *find_told(const struct cli_diff *diff, const struct cli_pair *pair)
{
    const struct tg_record *a = &pair->a.record, *b = &pair->b.record;
    if (!pair->has_a || !pair->has_b || !(a->flags & b->flags & TG_RECORD_HASHED))
        return NULL;
    for (uint64_t i = 0; i < diff->n_told && i < CLI_TOLD; i++)
        if (diff->told[i].hash_a == a->hash && diff->told[i].hash_b == b->hash &&
            diff->told[i].dtype == a->dtype)
            return &diff->told[i];
    return NULL;
}

static void remember(struct cli_diff *diff, const struct cli_pair *pair)
{
    if (pair->has_a && pair->has_b &&
        pair->a.record.flags & pair->b.record.flags & TG_RECORD_HASHED)
        diff->told[diff->n_told++ % CLI_TOLD] =
            (struct cli_told){pair->a.record.hash, pair->b.record.hash, pair->a.record.dtype,
                              pair->pair.record_a, pair->pair.record_b};
}

void cli_diff_print_pair(struct cli_diff *diff, const struct cli_pair *pair)
{
    const struct cli_told *told = find_told(diff, pair);
    put_who(pair);
    if (told && pair->result.verdict == TG_VERDICT_DIFFERS) {
        put_label("differs");
        cli_print("as records %" PRIu64 " and %" PRIu64 " do, bit for bit\n", told->record_a,
                  told->record_b);
        return;
    }
    remember(diff, pair);
    if (!pair->result.has_values) {
        put_metadata(pair);
        return;
    }
    if (pair->result.verdict != TG_VERDICT_DIFFERS)
        put_metadata(pair);
    put_mismatches(pair);
    put_noise(diff, pair);
    put_extremes(pair);
    put_overall(pair);
    if (pair->a.record.kind == TG_KIND_TENSOR)
        put_first(pair);
}

/* --- summary ---------------------------------------------------------------------------------- */

static void put_missing_tasks(const struct cli_diff *diff, bool of_b)
{
    uint64_t count = of_b ? diff->info.only_b : diff->info.only_a, named = 0;
    struct tg_diff_task task;
    struct cli_words words;
    if (count == 0)
        return;
    cli_print("  %-*sonly in %s: ", LABEL, "tasks", of_b ? "B" : "A");
    for (uint64_t i = 0; tg_diff_get_task(diff->diff, i, &task) && named < NAMED_TASKS; i++) {
        uint64_t id = of_b ? task.id_b : task.id_a;
        if ((of_b ? task.in_a : task.in_b) || id == TG_TASK_NONE || task.part_of != TG_NONE)
            continue;
        cli_print("%s%s %s", named > 0 ? ", " : "", cli_record_task(&words, id), task.kernel);
        named++;
    }
    if (count > named)
        cli_print(" and %" PRIu64 " more", count - named);
    cli_print("\n");
}

static void put_unknown(const struct cli_diff *diff)
{
    const char *label = "incomplete";
    for (unsigned reason = 0; reason < TG_REASONS; reason++) {
        bool is_unknown = reason >= TG_REASON_OTHER_HASH && reason < TG_REASON_NOT_COMPARED;
        if (!is_unknown || diff->by_reason[reason] == 0)
            continue;
        put_label(label);
        cli_print("%" PRIu64 ": %s\n", diff->by_reason[reason], tg_reason_text(reason));
        label = "";
    }
}

static void put_gaps(const struct tg_diff_summary *summary)
{
    static const char *const texts[] = {
        "has no end: what is missing is unknown",
        "lost records",
        "has damaged records; 'taskglass verify' says where",
        "lacks tasks, which may have run or not",
        "did not end by itself: what would have come is unknown",
    };
    for (unsigned i = 0; cli_diff_gap(i); i++)
        if (summary->gaps >> i & 1) {
            put_label("incomplete");
            cli_print("%s %s\n", i % 2 ? "B" : "A", texts[i / 2]);
        }
}

/* Values that the orchestrations read back; silent if none differs. */
static void put_reads(const struct tg_diff_summary *summary)
{
    struct cli_text values;
    uint64_t all = 0;
    for (unsigned i = 0; i < TG_VERDICTS; i++)
        all += summary->reads[i];
    if (summary->reads[TG_VERDICT_DIFFERS] == 0)
        return;
    put_label("reads");
    cli_print("%s that the orchestration read back, %" PRIu64 " of them differ\n",
              cli_format_count(&values, all, "value"), summary->reads[TG_VERDICT_DIFFERS]);
}

static void put_verdict(const struct cli_diff *diff, const struct tg_diff_summary *summary)
{
    bool equal = summary->verdict == TG_VERDICT_SAME || summary->verdict == TG_VERDICT_CLOSE;
    const char *word = equal                                    ? "equal"
                       : summary->verdict == TG_VERDICT_DIFFERS ? "DIFFERS"
                       : cli_diff_is_unknown(summary)           ? "NOT KNOWN"
                                                                : "INCOMPLETE";
    struct cli_text pairs;
    cli_print("%s%s%s  %s: %" PRIu64 " the same, %" PRIu64 " within tolerance, %" PRIu64
              " differ, %" PRIu64 " incomplete\n",
              cli_color(stdout, equal ? CLI_GREEN : CLI_RED), word, cli_color(stdout, CLI_PLAIN),
              cli_format_count(&pairs, diff->selected, "pair"), summary->pairs[TG_VERDICT_SAME],
              summary->pairs[TG_VERDICT_CLOSE], summary->pairs[TG_VERDICT_DIFFERS],
              summary->pairs[TG_VERDICT_UNKNOWN] - summary->not_compared);
}

void cli_diff_print_end(const struct cli_diff *diff, const struct tg_diff_summary *summary)
{
    if (diff->shown > diff->limit.number)
        cli_print("\nand %" PRIu64 " more; --all shows them\n", diff->shown - diff->limit.number);
    cli_print("\n");
    if (diff->blame)
        cli_diff_print_blame(diff);
    put_verdict(diff, summary);
    if (cli_diff_is_unknown(summary))
        cli_print("  %-*s%s\n", LABEL, "because", cli_diff_reason(diff));
    if (diff->info.pairs == 0 && diff->info.matched == 0)
        cli_print("  %-*snothing was recorded, because no task ran\n", LABEL, "note");
    if (diff->stopped)
        cli_print("  %-*sstopped at the first difference\n", LABEL, "note");
    put_reads(summary);
    put_missing_tasks(diff, false);
    put_missing_tasks(diff, true);
    cli_diff_print_edges(diff);
    put_unknown(diff);
    put_gaps(summary);
    cli_legend_print();
}
