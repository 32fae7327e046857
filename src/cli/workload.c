/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/workload.h"

#include <stdlib.h>

#include "cli/guard.h"

int cli_take_set(void *request, const struct cli_option *option, const char *text)
{
    struct cli_sets *sets = (struct cli_sets *)(void *)((char *)request + option->member);
    const char **more = realloc(sets->text, (sets->count + 1) * sizeof *more);
    if (!more)
        return cli_error("out of memory");
    sets->text = more;
    more[sets->count++] = text;
    return CLI_OK;
}

/* Loading a module runs its constructors. */
struct opening {
    const struct cli *cli;
    const char *name;
    struct tg_workload_file *file;
    tg_status status;
    struct tg_error error;
};

static void open_workload(void *argument)
{
    struct opening *opening = argument;
    opening->status =
        tg_workload_open(opening->cli->settings, opening->name, &opening->file, &opening->error);
}

tg_status cli_workload_open(const struct cli *cli, const char *name, struct tg_workload_file **file,
                            struct tg_error *error)
{
    struct opening opening = {.cli = cli, .name = name};
    struct tg_workload_call call = {
        .function = "a constructor", .workload = name, .call = open_workload, .argument = &opening};
    tg_status status = cli_guard_call(NULL, &call, error);
    if (status != TG_OK)
        return status;
    if (opening.status != TG_OK)
        *error = opening.error;
    *file = opening.file;
    return opening.status;
}
