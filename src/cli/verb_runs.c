/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass runs: lists what is under outputs/, and removes it. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/runs.h"
#include "cli/voice.h"

enum { PAGE = 20 };

/* --- the command line ------------------------------------------------------------------------- */

static const char *result_word(unsigned number)
{
    return number < TG_RECORDING_STATES ? tg_recording_state_name(number) : NULL;
}

static int take_result(void *request, const struct cli_option *option, const char *word)
{
    struct tg_error error;
    if (tg_runs_check_result(word, &error) != TG_OK)
        return cli_error("--%s: %s", option->name, error.text);
    ((struct runs *)request)->filter.result = word;
    return CLI_OK;
}

static int take_age(void *request, const struct cli_option *option, const char *text)
{
    struct tg_runs_filter *filter = &((struct runs *)request)->filter;
    struct tg_error error;
    if (tg_runs_parse_age(text, &filter->older_than, &error) != TG_OK)
        return cli_error("--%s: %s", option->name, error.text);
    filter->has_age = true;
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_COUNT(struct runs, limit, "limit", "N", "list at most N runs", .fallback = "20"),
    CLI_FLAG(struct runs, all, "all", "list all runs; with --remove: remove all"),
    CLI_TEXT(struct runs, filter.workload, "workload", "NAME", "only runs of this workload",
             .expects = CLI_WORKLOAD),
    CLI_CHOICE("result", "WORD", result_word, take_result,
               "only runs that ended so, or with a status such as MISMATCH or HANG"),
    CLI_CALL("older-than", "AGE", take_age,
             "only runs that began so long ago: 90s, 30m, 12h, 7d or 2w"),
    CLI_COUNT(struct runs, keep, "keep", "N", "all but the newest N of them"),
    CLI_FLAG(struct runs, remove, "remove", "remove the runs named or selected, after a question"),
    CLI_FLAG(struct runs, yes, "yes", "remove without a question", .letter = 'y'),
    CLI_JSON(struct runs, json, "print the list for programs"),
};

static int take_operand(const struct cli_verb *verb, void *request, const char *word)
{
    struct runs *runs = request;
    const char **operand = realloc(runs->operand, (runs->operands + 1) * sizeof *operand);
    (void)verb;
    if (!operand)
        return cli_error("out of memory");
    runs->operand = operand;
    operand[runs->operands++] = word;
    return CLI_OK;
}

static bool has_filter(const struct runs *runs)
{
    return runs->filter.workload || runs->filter.result || runs->filter.has_age || runs->keep.given;
}

/* --- selecting -------------------------------------------------------------------------------- */

static int add(struct runs *runs, const struct tg_runs_entry *run)
{
    struct tg_runs_entry *larger = realloc(runs->run, (runs->count + 1) * sizeof *larger);
    char *path = larger ? strdup(run->path) : NULL;
    runs->run = larger ? larger : runs->run;
    if (!path)
        return cli_error("out of memory");
    larger[runs->count] = *run;
    larger[runs->count++].path = path;
    runs->bytes += run->bytes;
    return CLI_OK;
}

static void tell_unread(uint64_t count, const char *path)
{
    (void)cli_error("'%s'%s cannot be read: Permission denied; whether it is a run is not known",
                    path, count > 1 ? " and others" : "");
}

/* Adds the runs under a directory that the filters select. A run at work is never removed. */
static int add_from(struct runs *runs, const char *dir)
{
    struct tg_runs *list;
    struct tg_runs_entry run;
    struct tg_error error;
    const char *path;
    int code = CLI_OK;
    runs->filter.keep = runs->keep.number;
    runs->filter.ended = runs->remove;
    cli_detail("looks for runs in '%s'", dir ? dir : "outputs");
    tg_status status = tg_runs_open(dir, &list, &error);
    if (status == TG_NOT_FOUND && !dir)
        return CLI_OK; /* nothing was run here */
    if (status == TG_OK)
        status = tg_runs_select(list, &runs->filter, &error);
    if (status != TG_OK) {
        tg_runs_close(list);
        return cli_recording_fail(NULL, runs->json, &error);
    }
    for (uint64_t i = 0; code == CLI_OK && tg_runs_get(list, i, &run); i++)
        code = add(runs, &run);
    runs->unread = tg_runs_unread(list, &path);
    if (runs->unread > 0 && code == CLI_OK)
        tell_unread(runs->unread, path);
    tg_runs_close(list);
    return code;
}

static bool is_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A run that was named twice is removed once. */
static int add_named(struct runs *runs, const char *word)
{
    struct tg_runs *list;
    struct tg_runs_entry run;
    struct tg_error error;
    tg_status status = tg_runs_find(word, &list, &error);
    if (status == TG_NOT_FOUND || status == TG_BAD_ARGUMENT)
        return cli_error("%s", error.text);
    if (status != TG_OK)
        return cli_recording_fail(NULL, runs->json, &error);
    bool is_known = !tg_runs_get(list, 0, &run);
    for (size_t i = 0; i < runs->count && !is_known; i++)
        is_known = is_same(runs->run[i].path, run.path);
    int code = is_known ? CLI_OK : add(runs, &run);
    tg_runs_close(list);
    return code;
}

/* --- the verb --------------------------------------------------------------------------------- */

static void print_json(const struct runs *runs)
{
    struct tg_json json;
    size_t most = runs->limit.given ? (size_t)runs->limit.number : SIZE_MAX;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "dir", runs->dir);
    tg_json_key(&json, "runs");
    tg_json_begin_array(&json);
    for (size_t i = 0; i < runs->count && i < most; i++) {
        tg_json_begin_object(&json);
        runs_put_run(&json, &runs->run[i]);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    tg_json_put_uint(&json, "count", runs->count);
    tg_json_put_uint(&json, "bytes", runs->bytes);
    tg_json_put_uint(&json, "unread", runs->unread);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static void print_list(const struct runs *runs)
{
    struct cli_text count, bytes;
    struct cli_shown dir;
    size_t most = runs->all ? SIZE_MAX : runs->limit.given ? (size_t)runs->limit.number : PAGE;
    if (runs->count == 0) {
        cli_print("No run%s under %s.\n", has_filter(runs) ? " matches" : "",
                  cli_show(&dir, runs->dir));
        return;
    }
    runs_print_table(runs, most);
    cli_print("%s, %s in %s\n", cli_format_count(&count, runs->count, "run"),
              cli_format_bytes(&bytes, runs->bytes), cli_show(&dir, runs->dir));
}

static int list(struct runs *runs)
{
    if (runs->operands > 1)
        return cli_error("runs lists one directory; remove '%s'", runs->operand[1]);
    if (runs->yes)
        return cli_error("--yes needs --remove");
    runs->dir = runs->operands > 0 ? runs->operand[0] : "outputs";
    int code = add_from(runs, runs->operands > 0 ? runs->dir : NULL);
    if (code != CLI_OK)
        return code;
    if (runs->json)
        print_json(runs);
    else
        print_list(runs);
    return runs->unread > 0 ? CLI_USAGE : CLI_OK;
}

static int remove_runs(struct runs *runs)
{
    int code = CLI_OK;
    if (runs->operands == 0 && !has_filter(runs) && !runs->all)
        return cli_error("--remove needs the names of runs, or --older-than, --keep, --workload, "
                         "--result or --all");
    if (runs->operands > 0 && (has_filter(runs) || runs->all))
        return cli_error("--remove takes names of runs or selects them; remove '%s' or the options "
                         "that select",
                         runs->operand[0]);
    if (runs->limit.given)
        return cli_error("--limit cannot be combined with --remove; --keep N keeps the newest N");
    runs->dir = "outputs";
    for (size_t i = 0; code == CLI_OK && i < runs->operands; i++)
        code = add_named(runs, runs->operand[i]);
    if (code == CLI_OK && runs->operands == 0)
        code = add_from(runs, NULL);
    return code == CLI_OK ? runs_remove(runs) : code;
}

static int run(struct cli *cli, void *request)
{
    struct runs *runs = request;
    (void)cli;
    return runs->remove ? remove_runs(runs) : list(runs);
}

static void end(void *request)
{
    struct runs *runs = request;
    for (size_t i = 0; i < runs->count; i++)
        free((char *)(uintptr_t)runs->run[i].path);
    free(runs->run);
    free(runs->operand);
}

static const struct cli_example examples[] = {
    {"", "List the newest runs."},
    {"--result failed --all", "List every run that failed."},
    {"--remove --older-than 7d", "Remove the runs of more than a week ago, after a question."},
    {"--remove --keep 10 --yes", "Keep the ten newest, and do not ask."},
    {0},
};

const struct cli_verb cli_verb_runs = {
    .name = "runs",
    .rank = 105,
    .usage = "[DIR | --remove RUN...] [options]",
    .summary = "List the runs under outputs/, or remove some of them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct runs),
    .operand = take_operand,
    .noun = "directory",
    .expects = CLI_RUN,
    .run = run,
    .end = end,
    .examples = examples,
};
