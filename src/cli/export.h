/* SPDX-License-Identifier: Apache-2.0 */
/* What `taskglass export` and `taskglass view --export` share. */
#ifndef TG_CLI_EXPORT_H
#define TG_CLI_EXPORT_H

#include <taskglass/export.h>
#include <taskglass/query.h>

struct cli_export {
    const struct tg_recording *recording;
    const struct tg_query *query;
    const char *format;
    const char *path; /* "-": standard output */
    uint64_t limit;   /* 0: none */
    bool overwrite;
    bool json; /* what came of it, for programs */
};

/* Where an export goes unless somebody says: here, by the name of the run. */
void cli_export_path(const struct tg_recording_info *info, const char *format, char *path,
                     size_t room);

/* Exports, with progress on a terminal and notes on what the format could not hold. Gives the exit
 * code. */
int cli_export(const struct cli_export *export);

#endif
