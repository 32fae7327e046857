/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass run: one case of one workload, from end to end. */
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/execute.h>
#include <taskglass/workload.h>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/run_summary.h"
#include "cli/term.h"

enum { OPTION_CASE, OPTION_SET, OPTION_JSON };
static const struct cli_option options[] = {
    [OPTION_CASE] = {"case", "NAME", "the case to run; default: the workload's first"},
    [OPTION_SET] = {"set", "KEY=VALUE", "change a parameter of the case; may be repeated"},
    [OPTION_JSON] = {"json", NULL, "print run.json instead of the report"},
};

/* What the command line asks for. */
struct request {
    const char *workload;
    const char *case_name;
    const char **set; /* room for as many as there are arguments */
    uint32_t n_set;
    bool json;
};

static int take_option(struct request *request, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_CASE:
        request->case_name = parser->value;
        break;
    case OPTION_SET:
        request->set[request->n_set++] = parser->value;
        break;
    default:
        request->json = true;
    }
    return CLI_OK;
}

static int take_operand(struct request *request, const char *value)
{
    if (request->workload)
        return cli_error("run takes one workload; '%s' is one too many", value);
    request->workload = value;
    return CLI_OK;
}

/* CLI_OK with no workload where the help was wanted. */
static int read_request(struct cli *cli, struct request *request)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_run);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            request->workload = NULL;
            return cli_help_verb(&cli_verb_run, cli->settings);
        }
        code = token == CLI_OPTION ? take_option(request, &parser)
                                   : take_operand(request, parser.value);
    }
    if (code == CLI_OK && !request->workload)
        return cli_error("run wants a workload; 'taskglass list' shows those there are");
    return code;
}

static int on_progress(void *context, enum tg_phase phase, uint64_t finished, uint64_t total)
{
    static const char *const labels[] = {"prepare", "open the device", "build the graph", "run",
                                         "check"};
    cli_progress_draw(context, labels[phase], finished, total);
    return cli_interrupt_caught();
}

static void report(const struct tg_workload *workload, const struct tg_settings *settings,
                   const struct tg_execution *execution, const struct tg_error *error, bool json)
{
    struct tg_execution_info info;
    tg_execution_get(execution, &info);
    if (json)
        fputs(info.run_json, stdout);
    else if (info.status == TG_OK || info.status == TG_MISMATCH)
        cli_summarize_run(workload->name, tg_settings_text(settings, "runtime"), &info);
    fflush(stdout); /* the report first, where both go to one place */
    cli_warn_recording(&info.run.record);
    cli_warn_orchestration(&info.run.orchestration);
    cli_warn_scopes(&info.run.scopes);
    if (info.status == TG_OK)
        return;
    cli_fail(error);
    cli_report_failure(&info);
}

static int execute(struct cli *cli, const struct request *request,
                   const struct tg_workload_file *file)
{
    struct cli_progress progress;
    struct tg_execution *execution;
    struct tg_error error;
    struct tg_execute_config config = {
        .case_name = request->case_name,
        .set = request->set,
        .n_set = request->n_set,
        .progress = on_progress,
        .progress_context = &progress,
        .argc = cli->argc,
        .argv = (const char *const *)cli->argv,
    };
    cli_progress_init(&progress);
    cli_interrupt_catch();
    tg_status status = tg_execute(cli->settings, file, &config, &execution, &error);
    cli_progress_erase(&progress);
    if (execution)
        report(tg_workload_get(file), cli->settings, execution, &error, request->json);
    else
        cli_fail(&error);
    tg_execution_destroy(execution);
    return tg_status_exit_code(status);
}

static int open_and_execute(struct cli *cli, const struct request *request)
{
    struct tg_workload_file *file;
    struct tg_error error;
    if (tg_workload_open(cli->settings, request->workload, &file, &error) != TG_OK)
        return cli_fail(&error);
    int code = execute(cli, request, file);
    tg_workload_close(file);
    return code;
}

static int run(struct cli *cli)
{
    struct request request = {.set = calloc((size_t)cli->argc, sizeof *request.set)};
    if (!request.set)
        return cli_error("out of memory");
    int code = read_request(cli, &request);
    if (code == CLI_OK && request.workload)
        code = open_and_execute(cli, &request);
    free(request.set);
    if (code != CLI_OK)
        cli_interrupt_pass_on();
    return code;
}

const struct cli_verb cli_verb_run = {
    .name = "run",
    .usage = "WORKLOAD [--case NAME] [--set KEY=VALUE]... [--json]",
    .summary = "Run one case of a workload and check its outputs.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
