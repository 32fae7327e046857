/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass view`. */
#ifndef TG_CLI_VIEW_H
#define TG_CLI_VIEW_H

#include <stdbool.h>
#include <taskglass/query.h>

#include "cli/options.h"
#include "cli/recording.h"

/* What the command line asks for. */
struct view {
    const char *dir;        /* NULL: the newest */
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit; /* records to show */
    bool all, json, summary;
    const char *export; /* "txt", "npy", "npz"; NULL: none */
    const char *out;    /* NULL: the default */
    const struct tg_recording *recording;
    struct tg_recording_info info;
};

/* What there is, or of what is selected: from the recording's own summary where it has one and
 * everything is meant, else counted. */
struct view_counts {
    struct tg_record_summary summary;
    uint64_t damaged; /* records whose check is wrong, as far as they were looked at */
};
void view_count(const struct view *view, struct view_counts *counts);

/* On stdout. */
void view_print_summary(const struct view *view);
void view_print_table(const struct view *view);
void view_print_records(const struct view *view);
void view_print_json(const struct view *view);

/* Gives the exit code. */
int view_export(const struct view *view);

#endif
