/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass runs --remove`: shows the runs, asks, and removes what runs wrote. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/ask.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/voice.h"

enum { SHOWN = 20 };

/* What the removals did together. */
struct outcome {
    size_t removed, failed;
    uint64_t bytes, others;
};

static bool confirm(const struct runs *runs)
{
    struct cli_text count, bytes;
    runs_print_table(runs, SHOWN);
    cli_interrupt_catch();
    cli_print_to(stderr, "remove %s, %s? [y/N] ", cli_format_count(&count, runs->count, "run"),
                 cli_format_bytes(&bytes, runs->bytes));
    return cli_ask_yes();
}

static void put_removed(struct tg_json *json, const struct tg_runs_entry *run, tg_status status,
                        const struct tg_runs_removed *removed, const struct tg_error *error)
{
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "path", run->path);
    tg_json_put_bool(json, "removed", status == TG_OK);
    tg_json_put_uint(json, "files", removed->files);
    tg_json_put_uint(json, "bytes", removed->bytes);
    tg_json_put_uint(json, "other_files", removed->others);
    tg_json_put_string(json, "error", status == TG_OK ? NULL : error->text);
    tg_json_end_object(json);
}

static void remove_one(const struct tg_runs_entry *run, struct tg_json *json,
                       struct outcome *outcome)
{
    struct tg_runs_removed removed;
    struct tg_error error;
    struct cli_shown shown;
    tg_status status = tg_runs_remove(run->path, &removed, &error);
    outcome->removed += status == TG_OK;
    outcome->failed += status != TG_OK;
    outcome->bytes += removed.bytes;
    if (json)
        put_removed(json, run, status, &removed, &error);
    if (status != TG_OK)
        (void)cli_fail(&error);
    else if (removed.others > 0 && !json)
        cli_print("  %s stays: it also has '%s', which no run writes\n",
                  cli_show(&shown, run->path), removed.other);
}

static void remove_all(const struct runs *runs, struct tg_json *json, struct outcome *outcome)
{
    for (size_t i = 0; i < runs->count && !cli_interrupt_caught(); i++)
        remove_one(&runs->run[i], json, outcome);
}

static void remove_with_json(const struct runs *runs, struct outcome *outcome)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_key(&json, "removed");
    tg_json_begin_array(&json);
    remove_all(runs, &json, outcome);
    tg_json_end_array(&json);
    tg_json_put_uint(&json, "runs", outcome->removed);
    tg_json_put_uint(&json, "bytes", outcome->bytes);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static int remove_and_tell(const struct runs *runs)
{
    struct outcome outcome = {0};
    struct cli_text count, bytes;
    cli_interrupt_catch();
    if (runs->json)
        remove_with_json(runs, &outcome);
    else
        remove_all(runs, NULL, &outcome);
    if (!runs->json)
        cli_print("removed %s, %s\n", cli_format_count(&count, outcome.removed, "run"),
                  cli_format_bytes(&bytes, outcome.bytes));
    cli_interrupt_pass_on();
    return outcome.failed > 0 ? CLI_USAGE : CLI_OK;
}

int runs_remove(const struct runs *runs)
{
    if (runs->count == 0 && !runs->json) {
        cli_print("No run to remove.\n");
        return CLI_OK;
    }
    if (!runs->yes && cli_is_quiet())
        return cli_error("--remove shows what it would remove before it asks, which --quiet hides; "
                         "leave --quiet out, or add --yes to remove without a question");
    if (!runs->yes && (runs->json || !cli_ask_can()))
        return cli_error("--remove asks before it removes, and nobody can answer here; add --yes "
                         "to remove without a question");
    if (!runs->yes && !confirm(runs)) {
        cli_interrupt_pass_on();
        cli_print("Nothing was removed.\n");
        return CLI_OK;
    }
    return remove_and_tell(runs);
}
