/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass path`. */
#ifndef TG_CLI_PATH_H
#define TG_CLI_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/timing.h>

#include "cli/options.h"
#include "cli/recording.h"

/* How a number comes about: no run of these tasks can be shorter; or the run again with a change. */
enum path_basis { PATH_BOUND, PATH_ESTIMATE };

/* How long the run would take with something changed. */
struct path_gain {
    const char *word; /* for programs: "no_latency"; NULL: it is about a kernel */
    const char *text; /* for people */
    enum path_basis basis;
    uint64_t span;    /* TG_NONE: not known */
    uint64_t kernel;  /* number; TG_NONE: none */
    uint32_t percent; /* of the kernel's run time that is left */
};

/* What the command line asks for, and what was computed. */
struct path {
    const char *dir; /* NULL: the newest recording */
    bool json;
    struct cli_count limit;
    struct tg_timing *timing;
    struct tg_timing_info info;
    struct path_gain *gain;
    uint64_t n_gains;
};

/* What to know about these times, in a sentence each. Note `number`, from 0; NULL past the last. */
const char *path_note(struct cli_words *words, const struct tg_timing_info *info, unsigned number);

/* These print on stdout. */
void path_print_text(const struct path *path);
void path_print_json(const struct path *path);

#endif
