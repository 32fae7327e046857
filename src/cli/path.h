/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass path`. */
#ifndef TG_CLI_PATH_H
#define TG_CLI_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/timing.h>

#include "cli/options.h"
#include "cli/recording.h"

/* What the command line asks for, and what was computed. */
struct path {
    const char *dir; /* NULL: the newest recording */
    struct cli_count rank;
    bool json;
    struct cli_count limit;
    struct tg_timing *timing;
    struct tg_timing_info info;
    struct tg_timing_gain *gain;
    uint64_t n_gains;
};

/* These print on stdout. */
void path_print_text(const struct path *path);
void path_print_json(const struct path *path);

#endif
