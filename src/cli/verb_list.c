/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass list: shows the workloads with their cases, the platforms and the runtimes. */
#include <stdio.h>
#include <string.h>
#include <taskglass/execute.h>
#include <taskglass/json.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/inspect.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/table.h"
#include "cli/term.h"

struct request {
    bool json;
};

static const struct cli_option options[] = {
    CLI_JSON(struct request, json, "print the list for programs"),
};

static int wider(int width, const char *word)
{
    int length = cli_format_width(word);
    return length > width ? length : width;
}

static void heading(const char *word)
{
    cli_print("%s%s%s\n", cli_color(stdout, CLI_BOLD), word, cli_color(stdout, CLI_PLAIN));
}

enum { NAME, PARAMS, SUMMARY, COLUMNS };

static const struct cli_column case_columns[COLUMNS] = {
    [NAME] = {"case", .least = 12, .cut = CLI_CUT_MIDDLE},
    [PARAMS] = {"parameters", .least = 12, .cut = CLI_CUT_WORDS},
    [SUMMARY] = {"summary", .least = 16, .cut = CLI_CUT_WORDS},
};

static void print_cases(const struct cli_module *module)
{
    struct cli_shown shown;
    struct cli_table table;
    cli_table_begin(&table, stdout, case_columns, COLUMNS, 6);
    table.has_no_heads = true;
    for (uint32_t i = 0; i < module->n_cases; i++) {
        const struct cli_module_case *c = &module->cases[i];
        cli_table_cell(&table, NAME, "%s", cli_show(&shown, c->name));
        cli_table_cell(&table, PARAMS, "%s", cli_show(&shown, c->params));
        cli_table_cell(&table, SUMMARY, "%s", cli_show(&shown, c->summary));
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
}

static void print_workload(const char *name, const struct cli_module *module)
{
    struct cli_shown shown, summary;
    cli_print("  %s%s%s  %s\n", cli_color(stdout, CLI_BOLD), cli_show(&shown, name),
              cli_color(stdout, CLI_PLAIN),
              cli_show(&summary, module->is_good ? module->summary : module->error.text));
    print_cases(module);
}

/* Opens a device of the platform only to get the message that says what is missing. */
static const char *why_not(const char *platform, struct tg_error *error)
{
    struct tg_device_config config = {.platform = platform};
    struct tg_device *device;
    const char *reason;
    if (tg_device_open(&config, &device, error) == TG_OK) {
        tg_device_close(device);
        return "it was missing a moment ago and is there now";
    }
    reason = strncmp(error->text, "platform ", strlen("platform ")) == 0 ? strstr(error->text, ": ")
                                                                         : NULL;
    return reason ? reason + 2 : error->text; /* leave out the name, which the line has already */
}

static void print_platforms(void)
{
    struct tg_platform_info info;
    struct tg_error error;
    int name = 0;
    for (uint32_t i = 0; tg_platform_get(i, &info); i++)
        name = wider(name, info.name);
    for (uint32_t i = 0; tg_platform_get(i, &info); i++) {
        cli_print("  %-*s  ", name, info.name);
        if (info.available)
            cli_print("%s; up to %u cores, %u schedulers\n", info.summary,
                      info.max_blocks * TG_PARTS, info.max_schedulers);
        else
            cli_print("%s; not available: %s\n", info.summary, why_not(info.name, &error));
    }
}

static void print_runtimes(void)
{
    struct tg_runtime_info info;
    int name = 0;
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++)
        name = wider(name, info.name);
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++)
        cli_print("  %-*s  %s%s\n", name, info.name, info.summary,
                  info.available ? "" : "; not in this version");
}

static void put_workload(struct tg_json *json, const char *name, const struct cli_module *module)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "name", name);
    tg_json_put_string(json, "module", module->is_good ? module->path : NULL);
    tg_json_put_string(json, "error", module->is_good ? NULL : module->error.text);
    tg_json_put_string(json, "summary", module->is_good ? module->summary : NULL);
    tg_json_key(json, "cases");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < module->n_cases; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "name", module->cases[i].name);
        tg_json_put_string(json, "params", module->cases[i].params);
        tg_json_put_string(json, "summary", module->cases[i].summary);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void put_platforms(struct tg_json *json)
{
    struct tg_platform_info info;
    struct tg_error error;
    tg_json_key(json, "platforms");
    tg_json_begin_array(json);
    for (uint32_t i = 0; tg_platform_get(i, &info); i++) {
        tg_json_begin_object(json);
        tg_json_put_string(json, "name", info.name);
        tg_json_put_string(json, "summary", info.summary);
        tg_json_put_bool(json, "available", info.available);
        tg_json_put_uint(json, "max_cores", (uint64_t)info.max_blocks * TG_PARTS);
        tg_json_put_uint(json, "max_schedulers", info.max_schedulers);
        tg_json_put_bool(json, "host_sees_memory", info.host_sees_memory);
        tg_json_put_string(json, "why", info.available ? NULL : why_not(info.name, &error));
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_runtimes(struct tg_json *json)
{
    struct tg_runtime_info info;
    tg_json_key(json, "runtimes");
    tg_json_begin_array(json);
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++) {
        tg_json_begin_object(json);
        tg_json_put_string(json, "name", info.name);
        tg_json_put_string(json, "summary", info.summary);
        tg_json_put_bool(json, "available", info.available);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* Looks into one module at a time. Lists a module that cannot be opened too, with the reason, because a
 * user who misses it looks here. */
static void each_workload(const struct tg_settings *settings, char **names, uint32_t count,
                          struct tg_json *json)
{
    for (uint32_t i = 0; i < count; i++) {
        struct cli_module module;
        cli_module_inspect(settings, names[i], tg_settings_seconds(settings, "timeout"), &module);
        if (!module.is_good &&
            (module.error.status == TG_IO_ERROR || module.error.status == TG_NO_MEMORY))
            cli_fault_of(&module.error); /* nothing is known of the module */
        if (json)
            put_workload(json, names[i], &module);
        else
            print_workload(names[i], &module);
        cli_module_free(&module);
    }
}

static void print_json(const struct tg_settings *settings, char **names, uint32_t count)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "version", tg_version());
    tg_json_key(&json, "workloads");
    tg_json_begin_array(&json);
    each_workload(settings, names, count, &json);
    tg_json_end_array(&json);
    put_platforms(&json);
    put_runtimes(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static void print_lists(const struct tg_settings *settings, char **names, uint32_t count)
{
    heading("workloads with their cases");
    each_workload(settings, names, count, NULL);
    if (count == 0)
        cli_print("  none are installed; give run the path of a module, or set --workload-path\n");
    heading("platforms");
    print_platforms();
    heading("runtimes");
    print_runtimes();
}

static int list_all(const struct tg_settings *settings, bool json)
{
    struct tg_error error;
    char **names;
    uint32_t count;
    if (tg_workload_names(settings, &names, &count, &error) != TG_OK)
        return cli_recording_fail(NULL, json, &error);
    if (json)
        print_json(settings, names, count);
    else
        print_lists(settings, names, count);
    tg_workload_names_free(names, count);
    return CLI_OK;
}

static int refuse_operand(const struct cli_verb *verb, void *request, const char *word)
{
    (void)verb;
    (void)request;
    return cli_error("list takes no operand and lists everything; remove '%s'", word);
}

static int list(struct cli *cli, void *context)
{
    const struct request *request = context;
    return list_all(cli->settings, request->json);
}

static const struct cli_example examples[] = {
    {"", "Show what can be run, and on what."},
    {"--workload-path build", "Also show the workloads in a folder of your own."},
    {0},
};

const struct cli_verb cli_verb_list = {
    .name = "list",
    .rank = 20,
    .section = CLI_DO,
    .usage = "[--json]",
    .summary = "List workloads with their cases, platforms and runtimes.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "timeout workload-path",
    .request_size = sizeof(struct request),
    .operand = refuse_operand,
    .run = list,
    .examples = examples,
};
