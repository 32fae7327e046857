/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `taskglass shake` share. */
#ifndef TG_CLI_SHAKE_H
#define TG_CLI_SHAKE_H

#include <taskglass/shake.h>

#include "cli/cli.h"
#include "cli/workload.h"

/* What the command line asks for. */
struct cli_shake {
    const char *workload;
    const char *case_name;
    const char *output;
    struct cli_sets sets;
    uint32_t runs, reduce_runs; /* 0: the default */
    uint64_t seed;
    bool strict, json;
};

/* The command line that runs the case with a schedule on one core; the caller frees it. NULL: memory ran
 * out. */
char *cli_shake_command(const struct cli *cli, const struct cli_shake *request,
                        const struct tg_shake_info *info, const char *schedule);

/* The answer on stdout. `command` may be "". */
void cli_shake_text(const struct cli *cli, const struct cli_shake *request,
                    const struct tg_shake_info *info, const char *command);
void cli_shake_json(const struct cli *cli, const struct cli_shake *request,
                    const struct tg_shake *shake, const char *command);

#endif
