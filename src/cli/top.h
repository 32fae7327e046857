/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `top`. */
#ifndef TG_CLI_TOP_H
#define TG_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/live.h>

/* What a core was seen to run, and since when. */
struct cli_top_core {
    uint64_t task;
    bool busy;
    double since; /* seconds of the run */
};

/* What the last answers said, for rates. */
struct cli_top_past {
    bool has_rates; /* there were two answers while tasks ran */
    double at;      /* seconds of the run, of the last answer; 0: none */
    uint64_t finished, records, bytes;
    double task_rate, record_rate, byte_rate; /* a second */
    struct cli_top_core core[TG_LIVE_MAX_CORES];
};

/* Takes an answer into account, before it is printed. */
void cli_top_note(struct cli_top_past *past, const struct tg_live_status *status);

/* Prints an answer on stdout, in at most `height` lines (0: as many as it takes). Returns how many. */
int cli_top_print(const struct cli_top_past *past, const struct tg_live_status *status, int height);

/* top_find.c: the directory of the run that the user means: `dir`, or that of the newest run under outputs/
 * that answers, or else of the newest one. The caller frees *path. NOT_FOUND. */
tg_status cli_top_newest(char **path, struct tg_error *error);
tg_status cli_top_find(const char *dir, char **path, struct tg_error *error);

#endif
