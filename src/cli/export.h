/* SPDX-License-Identifier: Apache-2.0 */
/* What `taskglass export` and `taskglass view --to` share. */
#ifndef TG_CLI_EXPORT_H
#define TG_CLI_EXPORT_H

#include <taskglass/export.h>
#include <taskglass/query.h>

struct cli_export {
    const struct tg_recording *recording;
    const struct tg_query *query;
    const char *format;
    const char *path; /* "-": standard output */
    uint64_t limit;   /* 0: no limit */
    bool force;       /* overwrite files, and write what is oversize */
    bool json;        /* print the result as JSON */
};

/* Exports, shows progress on a terminal, and prints notes on what the format cannot hold. Returns the
 * exit code. */
int cli_export(const struct cli_export *export);

/* Writes one trace of all ranks of the run in `dir`; `output` NULL: RUN.trace.json. Returns the exit code. */
int cli_export_ranks(const char *dir, const char *output, bool force, bool json);

#endif
