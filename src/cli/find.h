/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass find`. */
#ifndef TG_CLI_FIND_H
#define TG_CLI_FIND_H

#include <stdbool.h>
#include <taskglass/answers.h>
#include <taskglass/json.h>

#include "cli/diff_words.h"
#include "cli/options.h"

struct cli_find {
    const char *what, *dir; /* dir NULL: the newest run */
    struct cli_count rank;
    const char *module; /* NULL: the one in run.json */
    enum tg_find_kind find_kind;
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit;
    bool all, json, no_replay;
    bool is_guarded;                            /* cli_guard_start was called */
    char not_replayed[sizeof(struct tg_error)]; /* why no suspect was replayed; or "" */
    struct tg_error *trouble; /* why suspects could not be ranked; set while they are printed */
    const struct tg_settings *settings;
    struct tg_recording *recording;
    struct tg_find *find;
    struct tg_find_answer *answer;
    struct tg_find_info info;
    struct tg_find_answer_info is;
};

/* These print on stdout. */
void cli_find_print(const struct cli_find *find);
void cli_find_print_json(const struct cli_find *find);

/* --- stomp ------------------------------------------------------------------------------------ */

/* Replays the suspects, if the module may be loaded. CANCELLED and NO_MEMORY; any other failure only means that
 * replays say nothing. */
tg_status cli_find_replay(struct cli_find *find, struct tg_error *error);
/* True if it is known who did it. */
bool cli_find_is_solved(const struct cli_find *find, uint64_t number);
void cli_find_print_suspects(const struct cli_find *find, uint64_t number);
void cli_find_json_suspects(const struct cli_find *find, struct tg_json *json, uint64_t number);

/* --- race ------------------------------------------------------------------------------------- */

/* `find race`, of an open recording. Returns the exit code. */
int cli_find_races(struct cli_find *find);

#endif
