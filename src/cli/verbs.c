/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/voice.h"

static bool comes_before(const struct cli_verb *a, const struct cli_verb *b)
{
    return a->rank < b->rank || (a->rank == b->rank && strcmp(a->name, b->name) < 0);
}

/* How many verbs come before this one. */
static size_t place_of(const struct cli_verb *verb)
{
    size_t place = 0;
    for (size_t i = 0; cli_verbs[i]; i++)
        place += comes_before(cli_verbs[i], verb);
    return place;
}

const struct cli_verb *cli_verb_at(size_t number)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (place_of(cli_verbs[i]) == number)
            return cli_verbs[i];
    return NULL;
}

const struct cli_verb *cli_verb_named(const char *name)
{
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

static int run(const struct cli_verb *verb, struct cli *cli, void *request)
{
    struct cli_ranks_use use = {0};
    int code = CLI_USAGE;
    if (!cli_voice_start(verb, cli, request))
        return CLI_USAGE;
    if (cli_ranks_start(verb, cli, request, &use, &code))
        code = verb->run(cli, request);
    cli_ranks_end(&use);
    return code;
}

int cli_verb_start(const struct cli_verb *verb, struct cli *cli)
{
    void *request = calloc(1, verb->request_size + 1); /* + 1, because the size may be 0 */
    bool help;
    if (!request)
        return cli_error("out of memory");
    int code = cli_options_read(cli, verb, request, &help);
    if (code == CLI_OK && help)
        code = cli_help_verb(verb, cli->settings);
    else if (code == CLI_OK)
        code = run(verb, cli, request);
    if (verb->end)
        verb->end(request);
    free(request);
    return code;
}
