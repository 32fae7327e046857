/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass replay`. */
#ifndef TG_CLI_REPLAY_H
#define TG_CLI_REPLAY_H

#include <stdbool.h>
#include <stdio.h>
#include <taskglass/json.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>
#include <taskglass/replay.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/progress.h"

struct replay_request { /* what the command line asks for */
    const char *dir;    /* NULL: the newest run */
    struct cli_count rank;
    const char *task_text;
    const char *bundle;
    struct tg_replay_config config;
    struct tg_query *query; /* of --all; NULL: every task */
    uint32_t workers;       /* 0: the default */
    uint64_t task;          /* without --all */
    bool all, guard, json;
};

/* Tasks of one kernel with the same verdict on the same argument. */
struct replay_group {
    char *kernel;
    uint32_t is;       /* enum tg_replay_is */
    uint32_t argument; /* UINT32_MAX: none */
    uint32_t kind;     /* MISUSE: enum tg_guard_kind */
    uint64_t tasks;
    uint64_t first, last; /* of the tasks */
    char *text;           /* what the first one did */
};

/* What is kept while the verdicts come in. */
struct replay_tally {
    const struct replay_request *request;
    const struct tg_recording *recording;
    struct cli_progress progress;
    struct tg_replay_summary summary;
    struct replay_group *group; /* in the order of their first tasks */
    size_t n_groups, room_groups;
    struct replay_group *left; /* tasks that were not judged, by reason */
    size_t n_left, room_left;
    uint64_t ungrouped; /* verdicts for which there was no group any more */
    struct tg_json json;
    FILE *document; /* that it goes to, until the modules are closed; NULL without --json */
    char *bytes;
    size_t size;
    uint64_t listed;
    bool out_of_memory;
};

/* "(0, 3)": element `index` of the output. */
void replay_coordinates(const struct tg_replay_output *output, uint64_t index, char *text,
                        size_t size);
/* The members that tell how an output differs. */
void replay_put_output(struct tg_json *json, const struct tg_replay_output *output);

/* replay_all.c; each returns the exit code. */
int replay_all(const struct cli *cli, const struct tg_recording *recording,
               const struct replay_request *request);
/* How an output differs, or what the task did. */
void replay_describe(const struct tg_replay_verdict *verdict, char *text, size_t size);

/* replay_text.c: the answer for people. */
void replay_text_print(const struct replay_tally *tally);

/* replay_json.c: the answer for programs. */
bool replay_json_begin(struct replay_tally *tally);
void replay_json_tell(struct replay_tally *tally, const struct tg_replay_verdict *verdict);
/* Prints the document. */
void replay_json_end(struct replay_tally *tally, const char *result, const char *reason);

#endif
