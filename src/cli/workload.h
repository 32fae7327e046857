/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads on the command line. */
#ifndef TG_CLI_WORKLOAD_H
#define TG_CLI_WORKLOAD_H

#include <taskglass/execute.h>

#include "cli/options.h"

/* The values of --set, which may be repeated. The verb frees `text` at its end. */
struct cli_sets {
    const char **text; /* "key=value" */
    uint32_t count;
};
int cli_take_set(void *request, const struct cli_option *option, const char *text);
/* The option itself; the member is a struct cli_sets. */
#define CLI_SET(type, to)                                                                         \
    CLI_CALL("set", "KEY=VALUE", cli_take_set, "change a parameter of the case; may be repeated", \
             .expects = CLI_PARAMETER, .member = offsetof(type, to))

/* tg_workload_open in the guard (cli/guard.h), which must have been started, because loading a module runs
 * its constructors. */
tg_status cli_workload_open(const struct cli *cli, const char *name, struct tg_workload_file **file,
                            struct tg_error *error);

#endif
