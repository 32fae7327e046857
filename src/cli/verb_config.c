/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass config: shows the settings, their current values and where these come from. */
#include <stdio.h>
#include <string.h>
#include <taskglass/json.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/table.h"

struct request {
    bool json;
};

static const struct cli_option options[] = {
    CLI_JSON(struct request, json, "print the table for programs"),
};

static const char *const sources[] = {
    [TG_FROM_DEFAULT] = "default",
    [TG_FROM_ENVIRONMENT] = "environment",
    [TG_FROM_CALLER] = "command line",
};

static const char *const types[] = {
    [TG_SETTING_TEXT] = "text",   [TG_SETTING_COUNT] = "count",
    [TG_SETTING_BYTES] = "bytes", [TG_SETTING_SECONDS] = "seconds",
    [TG_SETTING_FLAG] = "flag",   [TG_SETTING_CHOICE] = "choice",
    [TG_SETTING_LIST] = "list",   [TG_SETTING_COUNTS] = "counts",
    [TG_SETTING_SIZES] = "sizes",
};

static void print_json(const struct tg_settings *settings)
{
    struct tg_setting_info info;
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_key(&json, "settings");
    tg_json_begin_array(&json);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++) {
        tg_json_begin_object(&json);
        tg_json_put_string(&json, "name", info.name);
        tg_json_put_string(&json, "type", types[info.type]);
        tg_json_put_string(&json, "value", info.value);
        tg_json_put_string(&json, "source",
                           info.source == TG_FROM_CALLER ? "caller" : sources[info.source]);
        tg_json_put_string(&json, "default", info.fallback);
        tg_json_put_string(&json, "environment", info.environment);
        tg_json_put_string(&json, "help", info.help);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

/* Shows "-" for an empty value. The value may come from the environment. */
static const char *shown(struct cli_shown *buffer, const char *value)
{
    return cli_show(buffer, *value ? value : "-");
}

enum { SETTING, VALUE, FROM, ENVIRONMENT, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [SETTING] = {.head = "setting"},
    [VALUE] = {"value", .least = 12, .cut = CLI_CUT_MIDDLE},
    [FROM] = {"from", .rank = 1},
    [ENVIRONMENT] = {"environment", .rank = 2},
};

/* Each setting has a row with its current value, and a line below that says what it means. */
static void print_table(const struct tg_settings *settings)
{
    struct tg_setting_info info;
    struct cli_shown given;
    struct cli_table table;
    cli_table_begin(&table, stdout, columns, COLUMNS, 0);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++) {
        cli_table_cell(&table, SETTING, "%s", info.name);
        cli_table_cell(&table, VALUE, "%s", shown(&given, info.value));
        cli_table_cell(&table, FROM, "%s", sources[info.source]);
        cli_table_cell(&table, ENVIRONMENT, "%s", info.environment);
        cli_table_note(&table, "%s (default: %s)", info.help, shown(&given, info.fallback));
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
}

static int refuse_operand(const struct cli_verb *verb, void *request, const char *word)
{
    (void)verb;
    (void)request;
    return cli_error("config takes no operand; remove '%s', or write settings as --name value",
                     word);
}

static int config(struct cli *cli, void *context)
{
    const struct request *request = context;
    if (request->json)
        print_json(cli->settings);
    else
        print_table(cli->settings);
    return CLI_OK;
}

static const struct cli_example examples[] = {
    {"", "Show the settings that a run would use here."},
    {"--cores 8 --json", "Show them for a program, with one of them changed."},
    {0},
};

const struct cli_verb cli_verb_config = {
    .name = "config",
    .rank = 130,
    .usage = "[--json]",
    .summary = "Show every setting, its current value and where it comes from.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = CLI_ALL_SETTINGS,
    .request_size = sizeof(struct request),
    .operand = refuse_operand,
    .run = config,
    .examples = examples,
};
