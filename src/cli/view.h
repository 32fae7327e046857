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
    const char *dir; /* NULL: the newest run */
    struct cli_count rank;
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit; /* records to show */
    bool all, json, summary;
    bool force;         /* --to and --html overwrite existing files */
    const char *html;   /* the page to write; NULL: none */
    const char *export; /* "txt", "npy", "npz"; NULL: no export */
    const char *out;    /* NULL: the default */
    /* The options as the user typed them: "to" and "output", or older names. */
    const char *export_option, *out_option;
    const struct tg_recording *recording;
    struct tg_recording_info info;
};

/* Counts of the records that the filters select. Without filters the counts come from the recording's
 * own summary, if it has one. */
struct view_counts {
    struct tg_record_summary summary;
    uint64_t damaged; /* records that are left out because they are damaged */
    uint64_t cut_off; /* payloads that the payload file of the recording is too short for */
};
void view_count(const struct view *view, struct view_counts *counts);

/* These print on stdout. */
void view_print_summary(const struct view *view);
void view_print_table(const struct view *view);
void view_print_records(const struct view *view);
int view_print_json(const struct view *view);

/* Return the exit code. */
int view_export(const struct view *view);
int view_page(const struct view *view);

#endif
