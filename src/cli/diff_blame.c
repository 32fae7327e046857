/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report that names the tasks that caused the differences. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

#include "cli/diff.h"
#include "cli/diff_words.h"
#include "cli/format.h"
#include "cli/print.h"

enum { SUSPECTS = 5, NAMES = 20, INDENT = 7 };

static const char *graph_words(const char *graph)
{
    static const struct {
        const char *graph, *words;
    } known[] = {
        {"deps_a", "edges from the deps.json of A"},
        {"deps_b", "edges from the deps.json of B"},
        {"memory_a", "no deps.json; edges from the memory that tasks of A wrote and read"},
        {"memory_b", "no deps.json; edges from the memory that tasks of B wrote and read"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(graph, known[i].graph) == 0)
            return known[i].words;
    return "neither deps.json nor addresses: no edges, each task judged by its own arguments";
}

static bool is_task(const struct cli_diff *diff, uint64_t number)
{
    struct tg_diff_task task;
    tg_diff_get_task(diff->diff, number, &task);
    return (task.in_a ? task.id_a : task.id_b) != TG_TASK_NONE;
}

/* "3 step", "3 step (B: 4)"; "B: 4 step" for a task that only B has; "the orchestration". */
static void name_task(const struct cli_diff *diff, uint64_t number, struct cli_words *words)
{
    enum { NAME = 200 }; /* bytes of a kernel's name */
    struct tg_diff_task task;
    struct cli_words a, b;
    tg_diff_get_task(diff->diff, number, &task);
    const char *space = *task.kernel ? " " : "";
    if (!is_task(diff, number))
        snprintf(words->text, sizeof words->text, "the orchestration");
    else if (!task.in_a)
        snprintf(words->text, sizeof words->text, "B: %.60s%s%.*s", cli_record_task(&b, task.id_b),
                 space, cli_format_fit(task.kernel, NAME), task.kernel);
    else if (task.in_b && task.id_a != task.id_b)
        snprintf(words->text, sizeof words->text, "%.60s%s%.*s (B: %.60s)",
                 cli_record_task(&a, task.id_a), space, cli_format_fit(task.kernel, NAME),
                 task.kernel, cli_record_task(&b, task.id_b));
    else
        snprintf(words->text, sizeof words->text, "%.60s%s%.*s", cli_record_task(&a, task.id_a),
                 space, cli_format_fit(task.kernel, NAME), task.kernel);
}

/* --- a line that is broken at the width of the terminal --------------------------------------- */

struct line {
    int used, width;
    bool is_first;
};

static struct line begin_line(const char *words)
{
    struct line line = {.width = cli_term_width(), .is_first = true};
    cli_print("%*s%s", INDENT, "", words);
    line.used = INDENT + cli_format_width(words);
    return line;
}

static void put_item(struct line *line, const char *before, const char *item)
{
    int length = cli_format_width(before) + cli_format_width(item);
    if (!line->is_first && line->used + length > line->width) {
        cli_print("%s\n%*s", *before == ',' ? "," : "", INDENT + 2, "");
        line->used = INDENT + 2;
        before += *before == ',' ? 2 : 1; /* ", " ends a line, " > " begins one */
    }
    cli_print("%s%s", line->is_first ? "" : before, item);
    line->used += length;
    line->is_first = false;
}

/* --- the path --------------------------------------------------------------------------------- */

static void put_size(struct cli_words *words, const struct tg_suspect_step *step)
{
    size_t used = strlen(words->text);
    if (isnan(step->error))
        return;
    if (step->ulp > 0)
        snprintf(words->text + used, sizeof words->text - used, " (%" PRIu64 " ulp)", step->ulp);
    else
        snprintf(words->text + used, sizeof words->text - used, " (%.2g)", step->error);
}

/* The step that multiplied the error most. */
static size_t largest_growth(const struct tg_suspect *suspect)
{
    size_t at = 0;
    double most = 0;
    for (size_t i = 1; i < suspect->n_path; i++) {
        double growth = suspect->step[i].error / suspect->step[i - 1].error;
        if (growth > most) {
            most = growth;
            at = i;
        }
    }
    return at;
}

/* A long path is shown by its ends and by the steps where something happens: where the difference
 * leaves the tolerance, and where it grows most. */
static bool is_shown(const struct tg_suspect *suspect, size_t step, size_t growth)
{
    enum { WHOLE = 8 };
    bool leaves = suspect->step[step].beyond && !suspect->step[step - 1].beyond;
    return suspect->n_path <= WHOLE || step == 1 || step + 1 == suspect->n_path || leaves ||
           step == growth;
}

static void put_path(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    bool grows = suspect->n_path > 0 && !suspect->step[0].beyond && suspect->step[0].error > 0;
    size_t growth = largest_growth(suspect), hidden = 0;
    struct cli_words words;
    if (suspect->n_path < 2)
        return;
    struct line line = begin_line("then ");
    for (size_t i = 1; i < suspect->n_path; i++) {
        if (!is_shown(suspect, i, growth)) {
            hidden++;
            continue;
        }
        if (hidden > 0) {
            struct cli_text count;
            snprintf(words.text, sizeof words.text, "… %s …",
                     cli_format_count(&count, hidden, "task"));
            put_item(&line, " > ", words.text);
            hidden = 0;
        }
        name_task(diff, suspect->step[i].task, &words);
        if (grows)
            put_size(&words, &suspect->step[i]);
        put_item(&line, " > ", words.text);
    }
    cli_print("\n");
}

/* --- the evidence ----------------------------------------------------------------------------- */

static bool get_records(const struct cli_diff *diff, uint64_t number, struct tg_entry entry[2],
                        struct tg_diff_pair *pair)
{
    return tg_diff_get_pair(diff->diff, number, pair) && pair->record_a != TG_NONE &&
           tg_recording_get(diff->recording[0], pair->record_a, &entry[0]) &&
           (pair->record_b == TG_NONE ||
            tg_recording_get(diff->recording[1], pair->record_b, &entry[1]));
}

static void put_error(const struct cli_diff *diff, uint64_t pair, double error, uint64_t ulp)
{
    enum tg_verdict verdict;
    enum tg_reason reason = tg_diff_reason(diff->diff, pair, &verdict);
    if (reason != TG_REASON_VALUES && reason != TG_REASON_TOLERANCE) {
        cli_print("%s\n", tg_reason_text(reason));
        return;
    }
    if (isfinite(error))
        cli_print("relative error %.3g", error);
    else
        cli_print("relative error not finite: NaN, Inf, or only zeros in B");
    if (ulp > 0)
        cli_print(", %" PRIu64 " ulp", ulp);
    cli_print("%s\n", verdict == TG_VERDICT_CLOSE ? ", within the tolerance" : "");
}

/* Where an argument was, if it is not the same on both sides. */
static void put_layout(const struct tg_record *record)
{
    struct cli_words shape;
    cli_print(", shape %s", cli_record_shape(&shape, record));
    cli_print(", strides (");
    for (int i = 0; i < record->ndim; i++)
        cli_print("%s%" PRId64, i > 0 ? ", " : "", record->strides[i]);
    cli_print("%s)", record->ndim == 1 ? "," : "");
}

static void put_part(const struct cli_diff *diff, const struct tg_suspect_part *part,
                     const struct tg_record *record, int side, bool with_layout)
{
    struct tg_entry writer;
    struct cli_words task;
    cli_print("%*s%s: ", INDENT + 2, "", side == 0 ? "A" : "B");
    if (part->task != TG_NONE && tg_recording_get(diff->recording[side], part->record, &writer)) {
        name_task(diff, part->task, &task);
        cli_print("%soutput %u of task %s", record->stage == TG_AFTER_COMPLETION ? "over " : "",
                  writer.record.arg_index, task.text);
        if (*part->name)
            cli_print(", in tensor '%s'", part->name);
    } else if (*part->name) {
        cli_print("tensor '%s'", part->name);
    } else {
        cli_print("%s", record->stage == TG_BEFORE_DISPATCH ? "memory that no recorded task wrote"
                                                            : "a tensor of the orchestration");
    }
    cli_print(", elements %" PRId64 " to %" PRId64, part->first, part->last);
    if (with_layout)
        put_layout(record);
    cli_print("\n");
}

static bool has_same_layout(const struct tg_record *a, const struct tg_record *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, a->ndim * sizeof a->shape[0]) == 0 &&
           memcmp(a->strides, b->strides, a->ndim * sizeof a->strides[0]) == 0;
}

static void put_given(const struct cli_diff *diff, const struct tg_suspect *suspect,
                      const struct tg_entry entry[2])
{
    struct cli_words a, b;
    if (suspect->guilt == TG_GUILT_SCALAR) {
        cli_print("%*s  %s in A, %s in B\n", INDENT, "",
                  cli_value_words(&a, entry[0].record.dtype, entry[0].record.value),
                  cli_value_words(&b, entry[1].record.dtype, entry[1].record.value));
        return;
    }
    bool with_layout = !has_same_layout(&entry[0].record, &entry[1].record);
    put_part(diff, &suspect->part_a, &entry[0].record, 0, with_layout);
    put_part(diff, &suspect->part_b, &entry[1].record, 1, with_layout);
}

static void put_order(const struct tg_suspect *suspect)
{
    const char *has = "has one";
    cli_print("%*sno order of the two in the deps.json of %s", INDENT, "",
              !suspect->ordered_a && !suspect->ordered_b ? "A and B"
              : suspect->ordered_a                       ? "B"
                                                         : "A");
    if (suspect->ordered_a != suspect->ordered_b)
        cli_print("; that of %s %s", suspect->ordered_a ? "A" : "B", has);
    cli_print("\n");
}

static bool tells_parts(enum tg_guilt guilt)
{
    return guilt == TG_GUILT_SCALAR || guilt == TG_GUILT_VIEW || guilt == TG_GUILT_REWIRED ||
           guilt == TG_GUILT_GIVEN;
}

/* If the difference grows a lot in the task where it leaves the tolerance, that task may amplify it, or be
 * wrong itself; the recordings do not tell. */
static void put_jump(const struct tg_suspect *suspect, uint64_t task)
{
    enum { A_LOT = 1000 };
    for (size_t i = 1; i < suspect->n_path; i++) {
        uint64_t before = suspect->step[i - 1].ulp, after = suspect->step[i].ulp;
        if (suspect->path[i] == task && before > 0 && after / before >= A_LOT)
            cli_print("%*sthere it grows from %" PRIu64 " to %" PRIu64
                      " ulp in one step: that task may be wrong, too; 'taskglass check' tells\n",
                      INDENT, "", before, after);
    }
}

/* Where the difference leaves the tolerance, if that is not where it began. */
static void put_left(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    struct tg_entry entry[2];
    struct tg_diff_pair pair;
    struct cli_words task, argument;
    if (suspect->left == TG_NONE || suspect->left == suspect->pair ||
        !get_records(diff, suspect->left, entry, &pair))
        return;
    name_task(diff, pair.task, &task);
    cli_print("%*sbeyond the tolerance first in task %s: %s, record %" PRIu64 "\n", INDENT, "",
              task.text, cli_argument_words(&argument, &entry[0].record), pair.record_a);
    put_jump(suspect, pair.task);
}

static void put_evidence(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    struct tg_diff_pair pair;
    struct tg_entry entry[2];
    struct cli_words argument;
    if (suspect->guilt == TG_GUILT_UNORDERED)
        put_order(suspect);
    if (!get_records(diff, suspect->pair, entry, &pair))
        return;
    if (pair.task != suspect->task) {
        struct cli_words task;
        name_task(diff, pair.task, &task);
        cli_print("%*sseen in task %s: ", INDENT, "", task.text);
    } else {
        cli_print("%*s", INDENT, "");
    }
    cli_print("%s, record %" PRIu64 ": ", cli_argument_words(&argument, &entry[0].record),
              pair.record_a);
    put_error(diff, suspect->pair, suspect->error, suspect->ulp);
    if (tells_parts(suspect->guilt) && pair.record_b != TG_NONE)
        put_given(diff, suspect, entry);
    put_left(diff, suspect);
}

/* --- suspects --------------------------------------------------------------------------------- */

static const char *phrase(const struct cli_diff *diff, enum tg_guilt guilt)
{
    switch (guilt) {
    case TG_GUILT_INTRODUCED:
        return diff->info.noise_runs > 0
                   ? "introduced it: its inputs differ no more than good runs do, but its outputs do"
                   : "introduced it: its inputs agree bit for bit, but its outputs do not";
    case TG_GUILT_UNORDERED:
        return "did not wait for";
    case TG_GUILT_SCALAR:
        return "was given another scalar";
    case TG_GUILT_VIEW:
        return "was given another part of the same tensor";
    case TG_GUILT_REWIRED:
        return "was given another tensor";
    case TG_GUILT_GIVEN:
        return "received it from outside: a tensor that no task wrote has other content";
    case TG_GUILT_EXTRA:
        return "ran only in A, and what it wrote is part of the difference";
    case TG_GUILT_MISSING:
        return "ran only in B, and what it wrote is missing in A";
    case TG_GUILT_CHANGED:
        return "read memory that changed after every task that wrote it left it equal";
    default:
        return "may have introduced it: not all that it read and wrote is known";
    }
}

/* A call of several ranks has what it left from another one, so that alone does not accuse it. */
static bool is_call(const struct cli_diff *diff, uint64_t number)
{
    struct tg_diff_task task;
    tg_diff_get_task(diff->diff, number, &task);
    for (uint32_t kind = 0; kind < TG_COMM_KINDS; kind++)
        if (strcmp(task.kernel, tg_comm_kind_name(kind)) == 0)
            return true;
    return false;
}

static const char *suspect_phrase(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    if (suspect->guilt == TG_GUILT_INTRODUCED && is_call(diff, suspect->task))
        return "brought it here: what this rank gave agrees, what it got from others does not";
    return phrase(diff, suspect->guilt);
}

static void put_suspect(const struct cli_diff *diff, uint64_t number)
{
    struct tg_suspect suspect;
    struct cli_words task, other;
    tg_blame_get_suspect(diff->blame, number, &suspect);
    name_task(diff, suspect.task, &task);
    cli_print("  %2" PRIu64 ". %s%s%s%s %s", number + 1, cli_color(stdout, CLI_BOLD),
              is_task(diff, suspect.task) ? "task " : "", task.text, cli_color(stdout, CLI_PLAIN),
              suspect_phrase(diff, &suspect));
    if (suspect.other != TG_NONE) {
        name_task(diff, suspect.other, &other);
        cli_print(" %stask %s%s, and both use the same bytes", cli_color(stdout, CLI_BOLD),
                  other.text, cli_color(stdout, CLI_PLAIN));
    }
    cli_print("\n");
    put_evidence(diff, &suspect);
    put_path(diff, &suspect);
}

/* Names the suspects that are not described, by what they did. */
static void put_rest(const struct cli_diff *diff, uint64_t from, uint64_t count)
{
    struct tg_suspect suspect;
    for (uint64_t i = from, end; i < count; i = end) {
        struct line line;
        struct cli_words words;
        tg_blame_get_suspect(diff->blame, i, &suspect);
        enum tg_guilt guilt = suspect.guilt;
        for (end = i; tg_blame_get_suspect(diff->blame, end, &suspect) && suspect.guilt == guilt;)
            end++;
        snprintf(words.text, sizeof words.text, "and %" PRIu64 " more %s (%s): ", end - i,
                 end - i == 1 ? "task" : "tasks", tg_guilt_name(guilt));
        line = begin_line(words.text);
        for (uint64_t k = i; k < end && k < i + NAMES; k++) {
            tg_blame_get_suspect(diff->blame, k, &suspect);
            name_task(diff, suspect.task, &words);
            put_item(&line, ", ", words.text);
        }
        cli_print(end - i > NAMES ? ", …; --blame shows them\n" : "\n");
    }
}

void cli_diff_print_blame(const struct cli_diff *diff)
{
    uint64_t most = diff->blame_only || diff->all ? UINT64_MAX : SUSPECTS;
    struct tg_blame_info info;
    struct cli_text wrong;
    tg_blame_get_info(diff->blame, &info);
    if (info.suspects == 0 && info.wrong == 0 && !*info.unknown)
        return;
    cli_print(
        "%sblame%s  %s with outputs beyond the tolerance, %" PRIu64 " of them inherited; %s\n",
        cli_color(stdout, CLI_BOLD), cli_color(stdout, CLI_PLAIN),
        cli_format_count(&wrong, info.wrong, "task"), info.inherited, graph_words(info.graph));
    for (uint64_t i = 0; i < info.suspects && i < most; i++)
        put_suspect(diff, i);
    if (info.suspects > most)
        put_rest(diff, most, info.suspects);
    if (info.suspects == 0)
        cli_print("%*snot known which task began it%s%s\n", INDENT, "", *info.unknown ? ": " : "",
                  info.unknown);
    cli_print("\n");
}
