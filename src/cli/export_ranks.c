/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass export --to trace` of a run with several ranks: one trace of all of them. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/text.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/recording.h"

static int on_progress(void *context, uint64_t done, uint64_t total)
{
    cli_progress_show(context, done, total);
    return cli_interrupt_caught();
}

static void print_json(const char *path, const struct tg_ranks_trace_result *result)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "format", "trace");
    tg_json_put_string(&json, "path", path);
    tg_json_put_uint(&json, "ranks", result->ranks);
    tg_json_put_uint(&json, "shown_ranks", result->shown);
    tg_json_put_uint(&json, "ranks_without_clock", result->unsure);
    tg_json_put_uint(&json, "calls", result->calls);
    tg_json_put_uint(&json, "arrows", result->arrows);
    tg_json_put_uint(&json, "backward_arrows", result->backward);
    tg_json_put_uint(&json, "calls_left_out", result->left_out);
    tg_json_put_uint(&json, "clock_error_ns", result->clock_error_ns);
    tg_json_put_uint(&json, "bytes", result->bytes);
    tg_json_put_string(&json, "why", *result->why ? result->why : NULL);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

/* Notes go to stderr, because the trace may go to stdout. */
static void print_report(const char *path, const struct tg_ranks_trace_result *result)
{
    struct cli_text ranks, calls;
    struct cli_shown shown;
    if (result->shown < result->ranks)
        cli_print_to(stderr, "taskglass: %" PRIu32 " of %" PRIu32 " ranks are not shown: %s\n",
                     result->ranks - result->shown, result->ranks, result->why);
    else if (*result->why)
        cli_print_to(stderr, "taskglass: %s\n", result->why);
    if (result->unsure > 0)
        cli_print_to(stderr,
                     "taskglass: the clock of %s is not known: shown as if it had begun with "
                     "rank 0\n",
                     cli_format_count(&ranks, result->unsure, "rank"));
    if (result->backward + result->left_out > 0)
        cli_print_to(stderr,
                     "taskglass: left out %" PRIu64 " arrows that would go back in time, and "
                     "%" PRIu64 " calls\n",
                     result->backward, result->left_out);
    if (strcmp(path, "-") != 0)
        cli_print("%s, %s in %s\n", cli_format_count(&ranks, result->shown, "rank"),
                  cli_format_count(&calls, result->calls, "call"), cli_show(&shown, path));
}

/* The directory's name with the ending of the format. */
static void default_path(const char *dir, char *path, size_t room)
{
    char *real = realpath(dir, NULL);
    char name[TG_FILE_NAME_MAX + 1];
    tg_name_to_file(real ? real : dir, name, sizeof name);
    snprintf(path, room, "%s.trace.json", name);
    free(real);
}

int cli_export_ranks(const char *dir, const char *output, bool force, bool json)
{
    char path[TG_FILE_NAME_MAX + 32];
    struct tg_ranks_trace_result result;
    struct cli_progress progress;
    struct tg_error error;
    default_path(dir, path, sizeof path);
    const struct tg_ranks_trace_config config = {.dir = dir,
                                                 .path = output ? output : path,
                                                 .overwrite = force,
                                                 .progress = on_progress,
                                                 .progress_context = &progress};
    cli_progress_init(&progress, "export", "rank");
    cli_interrupt_catch_writing();
    tg_status status = tg_ranks_trace_write(&config, &result, &error);
    cli_progress_erase(&progress);
    cli_interrupt_pass_on(); /* a signal may also show as a write that failed */
    if (status == TG_BAD_ARGUMENT || (status == TG_NOT_FOUND && !json))
        return cli_error("%s", error.text);
    if (status != TG_OK)
        return cli_recording_fail(NULL, json, &error);
    if (json)
        print_json(config.path, &result);
    else
        print_report(config.path, &result);
    return CLI_OK;
}
