/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `taskglass replay --all` for people: the result first, then what was found by groups. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/replay.h"
#include "cli/table.h"

enum { MOST_SHOWN = 50, MOST_REASONS = 10 };

enum column { TASKS, FIRST, KERNEL, ARGUMENT, WHAT, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [TASKS] = {.head = "tasks", .right = true},
    [FIRST] = {.head = "first", .right = true},
    [KERNEL] = {.head = "kernel", .least = 12, .cut = CLI_CUT_MIDDLE, .fills = true},
    [ARGUMENT] = {.head = "argument", .right = true, .may_lack = true},
    [WHAT] = {.head = "what", .least = 12, .cut = CLI_CUT_END},
};

/* ── the result ────────────────────────────────────────────────────────────────────────── */

static uint64_t accused(const struct tg_replay_summary *s)
{
    return s->tasks - s->count[TG_REPLAY_SAME] - s->count[TG_REPLAY_NOT_KNOWN];
}

static void print_good(const struct tg_replay_summary *s)
{
    struct cli_text tasks;
    uint64_t left = s->count[TG_REPLAY_NOT_KNOWN], same = s->count[TG_REPLAY_SAME];
    cli_print("%s%s %s%s on %s%s", cli_color(stdout, CLI_GREEN),
              cli_format_count(&tasks, same, "task"), same == 1 ? "reproduces" : "reproduce",
              cli_color(stdout, CLI_PLAIN), s->platform,
              s->guarded ? ", and the guards saw no misuse of memory" : "");
    if (left > 0)
        cli_print("; %" PRIu64 " of %" PRIu64 " could not be judged", left, s->tasks);
    cli_print("\n");
}

/* ", 2 differ" */
static void print_part(const struct tg_replay_summary *s, uint32_t is, const char *one,
                       const char *many, const char **between)
{
    uint64_t n = s->count[is];
    if (n == 0)
        return;
    cli_print("%s%" PRIu64 " %s", *between, n, n == 1 ? one : many);
    *between = ", ";
}

static void print_bad(const struct tg_replay_summary *s)
{
    uint64_t bad = accused(s), misuse = s->count[TG_REPLAY_MISUSE];
    const char *between = ": ", *one = "does not reproduce", *many = "do not reproduce";
    if (misuse == bad) {
        one = "misuses memory";
        many = "misuse memory";
    } else if (misuse > 0) {
        one = many = "misuse memory or do not reproduce";
    }
    cli_print("%s%" PRIu64 " of %" PRIu64 " tasks %s%s on %s", cli_color(stdout, CLI_RED), bad,
              s->tasks, bad == 1 ? one : many, cli_color(stdout, CLI_PLAIN), s->platform);
    if (misuse != bad) {
        print_part(s, TG_REPLAY_MISUSE, "misuses memory", "misuse memory", &between);
        print_part(s, TG_REPLAY_DIFFERS, "differs", "differ", &between);
        print_part(s, TG_REPLAY_VARIES, "is not deterministic", "are not deterministic", &between);
        print_part(s, TG_REPLAY_FAULTS, "faults", "fault", &between);
        print_part(s, TG_REPLAY_HANGS, "does not return", "do not return", &between);
    }
    if (s->count[TG_REPLAY_NOT_KNOWN] > 0)
        cli_print("; %" PRIu64 " could not be judged", s->count[TG_REPLAY_NOT_KNOWN]);
    cli_print("\n");
}

/* ── what was found ────────────────────────────────────────────────────────────────────── */

static const char *what_of(const struct replay_group *group)
{
    return group->is == TG_REPLAY_MISUSE ? tg_guard_kind_name(group->kind)
                                         : tg_replay_is_name(group->is);
}

static void print_groups(const struct replay_tally *tally)
{
    struct cli_table table;
    struct cli_words id;
    if (tally->n_groups == 0)
        return;
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (size_t i = 0; i < tally->n_groups && i < MOST_SHOWN; i++) {
        const struct replay_group *group = &tally->group[i];
        cli_table_cell(&table, TASKS, "%" PRIu64, group->tasks);
        cli_table_cell(&table, FIRST, "%s", cli_record_task(&id, group->first));
        cli_table_cell(&table, KERNEL, "%s", group->kernel);
        if (group->argument != UINT32_MAX)
            cli_table_cell(&table, ARGUMENT, "%" PRIu32, group->argument);
        cli_table_cell(&table, WHAT, "%s", what_of(group));
        cli_table_color(&table, WHAT, CLI_RED);
        if (group->text && *group->text)
            cli_table_note(&table, "task %s: %s", cli_record_task(&id, group->first), group->text);
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    if (tally->n_groups > MOST_SHOWN)
        cli_print("  and %zu more rows; --json has every task\n", tally->n_groups - MOST_SHOWN);
}

static void print_left(const struct replay_tally *tally)
{
    struct cli_words id;
    struct cli_text tasks;
    uint64_t shown = 0, left = tally->summary.count[TG_REPLAY_NOT_KNOWN];
    for (size_t i = 0; i < tally->n_left && i < MOST_REASONS; i++) {
        const struct replay_group *group = &tally->left[i];
        cli_print("  not judged  %s, the first is %s, kernel %s: %s\n",
                  cli_format_count(&tasks, group->tasks, "task"),
                  cli_record_task(&id, group->first), *group->kernel ? group->kernel : "unknown",
                  group->text);
        shown += group->tasks;
    }
    if (shown < left)
        cli_print("  not judged  %" PRIu64 " more, for other reasons; --json has every task\n",
                  left - shown);
}

static void print_limits(const struct tg_replay_summary *s)
{
    const char *text;
    if (*s->recorded_on && strcmp(s->recorded_on, s->platform) != 0)
        cli_print(
            "  note: recorded on %s, replayed on %s: floating-point results may differ between "
            "platforms\n",
            s->recorded_on, s->platform);
    for (uint32_t i = 0; s->guarded && (text = tg_guard_unseen(s->has_pages, i)) != NULL; i++)
        cli_print("  %s  %s\n", i == 0 ? "not seen" : "        ", text);
}

void replay_text_print(const struct replay_tally *tally)
{
    const struct tg_replay_summary *s = &tally->summary;
    struct tg_recording_info info;
    if (accused(s) > 0)
        print_bad(s);
    else if (s->count[TG_REPLAY_SAME] > 0)
        print_good(s);
    print_groups(tally);
    print_left(tally);
    if (s->communication > 0)
        cli_print("  %" PRIu64 " %s communication: not replayed\n", s->communication,
                  s->communication == 1 ? "task is" : "tasks are");
    print_limits(s);
    tg_recording_get_info(tally->recording, &info);
    cli_recording_print_notes(&info);
    fflush(stdout); /* keeps it before what follows on stderr if both go to the same place */
}
