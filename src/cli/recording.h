/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings on the command line: finding the one that the user means, and words for its records. */
#ifndef TG_CLI_RECORDING_H
#define TG_CLI_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/json.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>

/* The newest directory under outputs/ that has a recording, or has ranks that do. The caller frees *path. */
tg_status cli_recording_newest(char **path, struct tg_error *error);
/* *path is a copy of `dir`, or, if that is NULL, the newest directory under outputs/ that has a
 * recording. The caller frees *path. The message of NOT_FOUND says where the function searched. */
tg_status cli_recording_find(const char *dir, char **path, struct tg_error *error);
/* Finds the recording in the same way and opens it; the caller closes it. */
tg_status cli_recording_open(const char *dir, struct tg_recording **recording,
                             struct tg_error *error);

/* The name of the run; "" if that cannot be found out, which is a fault. */
void cli_recording_name(const struct tg_recording_info *info, char *name, size_t room);

/* Reports an error if --index names a record past the last one. Returns the exit code. */
int cli_recording_check_index(const struct tg_recording *recording, const struct tg_query *query);

uint64_t cli_recording_lost(const struct tg_record_summary *summary);

struct cli_words {
    char text[400];
};

/* What the recording itself says that it lacks (tg_recording_note), each as a line "  note: …" on
 * stdout. */
void cli_recording_print_notes(const struct tg_recording_info *info);
/* Writes the notes as strings into the array that was begun. */
void cli_json_notes(struct tg_json *json, const struct tg_recording_info *info);
/* Says that nothing could be judged: with `json` as a document with the recording, "result": "not
 * known" and "reason" on stdout, otherwise as one line on stderr. `recording` may be NULL. Returns the exit code, 2. */
int cli_not_known(const struct tg_recording *recording, bool json, const char *reason);

/* For a document that was printed while the files were read, before its end: if they lost bytes meanwhile,
 * adds "result": "not known" and "reason", and prints the line on stderr. Returns the exit code. */
int cli_json_loss(struct tg_json *json, const struct tg_recording *recording);
/* For an error of the library that leaves the question open: cli_fail, and with `json` also the document
 * of cli_not_known. */
int cli_recording_fail(const struct tg_recording *recording, bool json,
                       const struct tg_error *error);

/* "12" for ring 0, "1:12" for other rings, as --task takes it; "-" for arguments of the
 * orchestration. */
const char *cli_record_task(struct cli_words *words, uint64_t task);
/* "add", "mat+add+add"; "#3" if the name is not known. */
const char *cli_record_kernels(struct cli_words *words, const struct tg_entry *entry);
/* "(4, 3)", with a star after it if the view is not contiguous; "scalar". */
const char *cli_record_shape(struct cli_words *words, const struct tg_record *record);
/* Says what the signs mean that the functions above have written so far: "*", "+", "-". Call it once, after
 * the last of them was printed. */
void cli_legend_print(void);
/* "before", "after", "orch"; "in", "out", "inout". */
const char *cli_record_stage(unsigned stage);
const char *cli_record_role(unsigned role);
/* "truncated", "overwritten", "partial"; "" for a complete record. */
const char *cli_record_mark(const struct tg_record *record);

#endif
