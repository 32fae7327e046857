/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

static const struct cli_verb *const verbs[] = {
    &cli_verb_run,    &cli_verb_list,    &cli_verb_view,   &cli_verb_diff,  &cli_verb_check,
    &cli_verb_find,   &cli_verb_stats,   &cli_verb_replay, &cli_verb_scope, &cli_verb_export,
    &cli_verb_verify, &cli_verb_recover, &cli_verb_config,
};

const struct cli_verb *cli_verb_at(size_t number)
{
    return number < sizeof verbs / sizeof verbs[0] ? verbs[number] : NULL;
}

const struct cli_verb *cli_verb_named(const char *name)
{
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

int cli_verb_start(const struct cli_verb *verb, struct cli *cli)
{
    void *request = calloc(1, verb->request_size + 1); /* a verb may ask for nothing */
    bool help;
    if (!request)
        return cli_error("out of memory");
    int code = cli_options_read(cli, verb, request, &help);
    if (code == CLI_OK)
        code = help ? cli_help_verb(verb, cli->settings) : verb->run(cli, request);
    if (verb->end)
        verb->end(request);
    free(request);
    return code;
}
