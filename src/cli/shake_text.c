/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `taskglass shake` for people. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>

#include "cli/format.h"
#include "cli/option_table.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/shake.h"
#include "cli/term.h"

/* At most this many constraints are printed; --json has all of them. */
enum { MOST_CONSTRAINTS = 10 };

/* --- the command -------------------------------------------------------------------------------- */

static void put_word(FILE *out, const char *text)
{
    size_t room = 5 * strlen(text) + 8;
    char *word = malloc(room);
    fprintf(out, " %s", word && tg_text_shell_word(text, word, room) ? word : "?");
    free(word);
}

static void put_option(FILE *out, const char *name, const char *value)
{
    fprintf(out, " --%s", name);
    put_word(out, value);
}

/* With the settings of the environment, because another shell lacks them. */
char *cli_shake_command(const struct cli *cli, const struct cli_shake *request,
                        const struct tg_shake_info *info, const char *schedule)
{
    char *text = NULL;
    size_t size = 0;
    struct tg_setting_info setting;
    const struct cli_verb *verb = cli_verb_named("shake");
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("taskglass run", out);
    put_word(out, request->workload);
    put_option(out, "case", info->case_name);
    for (uint32_t i = 0; i < request->sets.count; i++)
        put_option(out, "set", request->sets.text[i]);
    for (uint32_t i = 0; tg_settings_get(cli->settings, i, &setting); i++)
        if (setting.source != TG_FROM_DEFAULT && cli_setting_applies(verb, setting.name))
            put_option(out, setting.name, setting.value);
    fputs(" --cores 1", out);
    put_option(out, "schedule", schedule);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* --- pieces ------------------------------------------------------------------------------------- */

/* "task 22 (tile_product)". */
static void put_task(const struct tg_shake_task *task)
{
    struct cli_words words;
    struct cli_shown kernel;
    cli_print("task %s", cli_record_task(&words, task->id));
    if (*task->kernel)
        cli_print(" (%s)", cli_show(&kernel, task->kernel));
}

static void put_place(const char *label, const struct tg_shake_task *task)
{
    struct cli_shown line;
    cli_print("  %-10s ", label);
    put_task(task);
    cli_print(", %s\n", *task->line ? cli_show(&line, task->line) : "its line is not known");
}

static void put_change(const struct tg_shake_difference *difference)
{
    struct cli_shown shown;
    switch (difference->change) {
    case TG_CHANGE_DEVICE:
        cli_print("%s: %s", tg_status_name(difference->status), cli_show(&shown, difference->text));
        break;
    case TG_CHANGE_GOLDEN:
        cli_print("output %s is not golden", cli_show(&shown, difference->output));
        break;
    case TG_CHANGE_OUTPUT:
        cli_print(
            "output %s has other bytes, within the tolerance of its golden values if it has any",
            cli_show(&shown, difference->output));
        break;
    case TG_CHANGE_TASKS:
        cli_print("the orchestration submits other tasks, the first is ");
        put_task(&difference->task);
        break;
    default:
        cli_print("%s", tg_shake_change_text(difference->change));
    }
}

/* Where the difference begins. */
static void put_first(const struct tg_shake_difference *difference)
{
    if (!difference->has_task || difference->change == TG_CHANGE_TASKS)
        return;
    cli_print("  begins     ");
    put_task(&difference->task);
    cli_print(difference->reads ? " reads other bytes through argument %" PRIu32 "\n"
                                : " writes other bytes through argument %" PRIu32 "\n",
              difference->argument);
}

static void put_tried(const struct tg_shake_info *info)
{
    struct cli_text schedules, runs, tasks, time;
    cli_print("  tried      %s of %s, %s in %s\n",
              cli_format_count(&schedules, info->schedules, "schedule"),
              cli_format_count(&tasks, info->tasks, "task"),
              cli_format_count(&runs, info->runs, "run"), cli_format_seconds(&time, info->wall));
}

static void put_inside(const struct tg_shake_info *info)
{
    struct cli_shown shown;
    struct cli_text count;
    if (info->inside == 0 || info->result != TG_SHAKE_SAME)
        return;
    cli_print("  note       all outputs are the same, but under %s a task left other bytes in "
              "between",
              cli_format_count(&count, info->inside, "schedule"));
    if (info->unstable_inside)
        cli_print("; it does so under one schedule too");
    else
        cli_print("; the first is %s", cli_show(&shown, info->inside_schedule));
    if (info->inside_difference.has_task) {
        cli_print(", ");
        put_task(&info->inside_difference.task);
    }
    cli_print("; --strict counts that as a failure\n");
}

/* --- the results -------------------------------------------------------------------------------- */

static void put_constraint(const struct tg_shake_constraint *c, bool is_first, bool is_last)
{
    struct cli_words first, second;
    cli_print("  %-10s task %s before task %s%s\n", is_first ? "found" : "and",
              cli_record_task(&first, c->first.id), cli_record_task(&second, c->second.id),
              is_last ? " breaks it" : "");
    put_place("", &c->first);
    put_place("", &c->second);
    if (c->race == 1)
        cli_print("             both touch common bytes and have no order; `taskglass find race` "
                  "names the edge\n");
    else if (c->race == 0)
        cli_print(
            "             their arguments share no byte, so one of them touches memory that it "
            "does not declare\n");
}

static void put_order(const struct tg_shake_info *info)
{
    struct cli_text count;
    uint32_t shown =
        info->n_constraints < MOST_CONSTRAINTS ? info->n_constraints : MOST_CONSTRAINTS;
    for (uint32_t i = 0; i < shown; i++)
        put_constraint(&info->constraint[i], i == 0, i + 1 == info->n_constraints);
    if (shown < info->n_constraints)
        cli_print("  and        %s more; --json has all\n",
                  cli_format_count(&count, info->n_constraints - shown, "constraint"));
    cli_print("  result     ");
    put_change(&info->difference);
    cli_print("\n");
    put_first(&info->difference);
    cli_print("  confirmed  in %" PRIu32 " of %" PRIu32 " runs on one core%s\n", info->confirmed,
              info->confirmed,
              info->fewest ? ""
                           : "; there may be fewer constraints, a larger --reduce-runs looks on");
}

static void put_schedule(const struct tg_shake_info *info)
{
    struct cli_shown shown;
    cli_print("  found      schedule %s breaks it: ", cli_show(&shown, info->schedule));
    put_change(&info->difference);
    cli_print("\n");
    put_first(&info->difference);
    cli_print("  reduced    no: %s\n", info->reason);
}

static void put_unstable(const struct tg_shake_info *info)
{
    cli_print(
        "  found      not deterministic by itself: one schedule, run twice, gave two results\n"
        "  result     ");
    put_change(&info->difference);
    cli_print("\n");
    if (info->difference.has_task && info->difference.change != TG_CHANGE_TASKS) {
        cli_print("  begins     ");
        put_task(&info->difference.task);
        cli_print(" wrote other bytes through argument %" PRIu32 " although it read the same\n",
                  info->difference.argument);
    }
    cli_print(
        "             so no order is accused; `taskglass replay --task ID --repeat 100` runs a "
        "task alone\n");
}

static void put_dirs(const struct tg_shake_info *info)
{
    const char *dir[] = {info->baseline_dir, info->failing_dir, info->reduced_dir};
    struct cli_shown shown;
    for (int i = 0; i < 3; i++)
        if (*dir[i])
            cli_print("  %-10s %s\n", i == 0 ? "files" : "", cli_show(&shown, dir[i]));
}

void cli_shake_text(const struct cli *cli, const struct cli_shake *request,
                    const struct tg_shake_info *info, const char *command)
{
    struct cli_shown workload;
    cli_print("%s%s%s, case %s, on %s with 1 core, by %s\n", cli_color(stdout, CLI_BOLD),
              cli_show(&workload, request->workload), cli_color(stdout, CLI_PLAIN), info->case_name,
              tg_settings_text(cli->settings, "platform"),
              tg_settings_text(cli->settings, "runtime"));
    put_tried(info);
    if (info->result == TG_SHAKE_SAME)
        cli_print("  found      nothing: all of them gave the same results\n");
    else if (info->result == TG_SHAKE_ORDER)
        put_order(info);
    else if (info->result == TG_SHAKE_SCHEDULE)
        put_schedule(info);
    else if (info->result == TG_SHAKE_UNSTABLE)
        put_unstable(info);
    else if (info->result == TG_SHAKE_BASELINE) {
        cli_print(
            "  found      the case fails also in the order in which its tasks are submitted: ");
        put_change(&info->difference);
        cli_print("\n");
    } else {
        cli_print("  found      not known: %s\n", info->reason);
    }
    put_inside(info);
    if (*command)
        cli_print("  again      %s\n", command);
    put_dirs(info);
}
