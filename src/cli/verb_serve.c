/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass serve: shows runs in a browser. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/serve.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/voice.h"

#define LOOK_SECONDS 0.5
enum { MOST_OPERANDS = 2 };

struct request {
    const char *shown[MOST_OPERANDS]; /* what to show; NULL: outputs/ */
    unsigned n_shown;
    const char *host;
    uint16_t port;
    bool has_browser, json;
};

/* ── the command line ──────────────────────────────────────────────────────────────────── */

static int take_port(void *request, const struct cli_option *option, const char *value)
{
    uint64_t number;
    if (!cli_parse_count(value, &number) || number > UINT16_MAX)
        return cli_error("--%s %s: must be a whole number from 0 to 65535", option->name, value);
    ((struct request *)request)->port = (uint16_t)number;
    return CLI_OK;
}

static int take_shown(const struct cli_verb *verb, void *request, const char *word)
{
    struct request *r = request;
    struct cli_shown shown;
    (void)verb;
    if (r->n_shown == MOST_OPERANDS)
        return cli_error("'%s' is one too many: serve takes a directory, or two runs to compare",
                         cli_show(&shown, word));
    r->shown[r->n_shown++] = word;
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_CALL("port", "N", take_port, "listen on this port", .range = "from 0 to 65535",
             .fallback = "0: one that is free"),
    CLI_TEXT(struct request, host, "host", "ADDRESS",
             "listen on this address of the machine, where others can reach it",
             .fallback = "loopback only"),
    CLI_FLAG(struct request, has_browser, "open",
             "open the page in a browser: $BROWSER, or xdg-open"),
    CLI_JSON(struct request, json, "print the address for programs"),
};

/* The address is what a program that starts this command wants. */
static bool prints_data(const void *request)
{
    (void)request;
    return true;
}

/* ── what it prints ────────────────────────────────────────────────────────────────────── */

static void print_json(const struct tg_server *server, const char *reason)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    if (server != NULL) {
        tg_json_put_string(&json, "address", tg_server_address(server));
        tg_json_put_uint(&json, "port", tg_server_port(server));
        tg_json_put_uint(&json, "pid", (uint64_t)tg_server_pid(server));
    } else {
        tg_json_put_string(&json, "result", "not known");
        tg_json_put_string(&json, "reason", reason);
    }
    tg_json_end_object(&json);
    (void)tg_json_finish(&json);
}

static void print_address(const struct request *r, const struct tg_server *server)
{
    printf("%s\n", tg_server_address(server));
    if (isatty(STDOUT_FILENO) && !cli_is_quiet()) {
        cli_print("Whoever has this address can read the runs. Ctrl-C ends the server.\n");
        if (r->host == NULL)
            cli_print("From another machine, first: ssh -L %u:127.0.0.1:%u THIS-MACHINE\n",
                      tg_server_port(server), tg_server_port(server));
    }
    cli_print_flush();
}

static void warn_of_host(const struct request *r)
{
    struct cli_shown shown;
    if (r->host != NULL)
        cli_print_to(
            stderr,
            "taskglass: warning: --host %s: everybody who can reach this address and learns "
            "the token reads the runs, and nothing is encrypted; ssh -L is safer\n",
            cli_show(&shown, r->host));
}

/* ── the server ────────────────────────────────────────────────────────────────────────── */

/* Until the user ends it. Returns the exit code. */
static int wait_for_end(struct tg_server *server)
{
    struct tg_error error;
    tg_status status = TG_TIMED_OUT;
    while (!cli_interrupt_caught() && status == TG_TIMED_OUT)
        status = tg_server_wait(server, LOOK_SECONDS, &error);
    return status == TG_TIMED_OUT ? CLI_OK : cli_fail(&error);
}

static int serve(struct cli *cli, void *request)
{
    struct request *r = request;
    struct tg_server_config config = {
        .path = r->shown[0], .other = r->shown[1], .host = r->host, .port = r->port};
    struct tg_server *server;
    struct tg_error error;
    char *self = realpath("/proc/self/exe", NULL);
    (void)cli;
    config.program = self;
    cli_interrupt_catch();
    tg_status status = tg_server_start(&config, &server, &error);
    free(self);
    if (status != TG_OK) {
        if (r->json)
            print_json(NULL, error.text);
        return cli_fail(&error);
    }
    warn_of_host(r);
    if (r->json)
        print_json(server, NULL);
    else
        print_address(r, server);
    if (r->has_browser && tg_server_open(server, &error) != TG_OK)
        cli_print_to(stderr, "taskglass: warning: %s\n", error.text);
    cli_print_flush();
    /* An address that nobody could read needs no server; the caller of this function says why. */
    int code = ferror(stdout) ? CLI_OK : wait_for_end(server);
    tg_server_stop(server);
    return code;
}

static const struct cli_example examples[] = {
    {"", "Show the runs under outputs/, and print the address for a browser."},
    {"outputs/RUN --open", "Show one run, and open the page."},
    {"outputs/BAD outputs/GOOD", "Show where a run differs from a good one."},
    {"--port 8080", "Listen on a port that ssh -L can be told before."},
    {0},
};

const struct cli_verb cli_verb_serve = {
    .name = "serve",
    .rank = 22,
    .section = CLI_LOOK,
    .usage = "[DIR | A B] [--port N] [--host ADDRESS] [--open] [--json]",
    .summary = "Show runs in a browser: timeline, graph, tensors, differences.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = take_shown,
    .expects = CLI_RUN,
    .run = serve,
    .prints_data = prints_data,
    .examples = examples,
};
