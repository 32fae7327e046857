/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass check`. */
#ifndef TG_CLI_CHECK_H
#define TG_CLI_CHECK_H

#include <stdbool.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>

#include "cli/cli.h"

struct check_request {
    const char *dir; /* NULL: the newest run */
    const char *module;
    const char *against;    /* NULL: compare with the workload's references */
    struct tg_query *query; /* NULL: every record */
    bool has_atol, has_rtol;
    double atol, rtol;
    bool all, json;
};

/* Returns the exit code. */
int check_against(const struct check_request *request, const struct tg_recording *recording);

#endif
