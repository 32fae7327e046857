/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings on the command line: which one is meant, and the words for what is in a record. */
#ifndef TG_CLI_RECORDING_H
#define TG_CLI_RECORDING_H

#include <stddef.h>
#include <stdint.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>

/* `dir` as it came; NULL: the newest directory under outputs/ that has a recording. The caller
 * frees *path. NOT_FOUND says where it looked. */
tg_status cli_recording_find(const char *dir, char **path, struct tg_error *error);
/* The same, opened; the caller closes it. */
tg_status cli_recording_open(const char *dir, struct tg_recording **recording,
                             struct tg_error *error);

/* The name of the run: of the directory that the recording's folder is in, "" for none. */
void cli_recording_name(const struct tg_recording_info *info, char *name, size_t room);

/* Says that there is no such record where --index names one beyond the end. Gives the exit code. */
int cli_recording_check_index(const struct tg_recording_info *info, const struct tg_query *query);

uint64_t cli_recording_lost(const struct tg_record_summary *summary);

struct cli_words {
    char text[400];
};

/* "12" for ring 0, "1:12" for the others, "-" for the orchestration's own: as --task takes it. */
const char *cli_record_task(struct cli_words *words, uint64_t task);
/* "add", "mat+add+add", "#3" where the name is not known. */
const char *cli_record_kernels(struct cli_words *words, const struct tg_entry *entry);
/* "(4, 3)"; a star behind it where it is a view with gaps. "scalar". */
const char *cli_record_shape(struct cli_words *words, const struct tg_record *record);
/* "before", "after", "orch"; "in", "out", "inout". */
const char *cli_record_stage(unsigned stage);
const char *cli_record_role(unsigned role);
/* "truncated", "overwritten", "partial"; "" for a record that is whole. */
const char *cli_record_mark(const struct tg_record *record);

#endif
