/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs and runs with several ranks. A verb that reads the directory of a run needs no code for a
 * directory of ranks: it has the option --rank, and says in a struct cli_ranks_way where its request has
 * what. With --rank R it runs on that rank's folder. Without, it runs once for each rank, in a process of
 * its own, and its answers stand below headings; with --json they are the elements of one list:
 *
 *     rank 0                                 { "ranks": [ { "rank": 0, … }, { "rank": 1, … } ] }
 *     … the answer for rank 0 …
 *
 *     rank 1
 *     …
 *
 * The exit code is the worst one. A rank whose folder is not here is "not known".
 */
#ifndef TG_CLI_RANKS_H
#define TG_CLI_RANKS_H

#include <taskglass/json.h>
#include <taskglass/ranks.h>

#include "cli/options.h"

/* The option --rank. The member is a struct cli_count. */
#define CLI_RANK(type, to)                                                          \
    CLI_COUNT(type, to, "rank", "R", "of a run with several ranks: this one alone", \
              .fallback = "all of them")

/* Whether a rank has an answer: it does; it should, and what it would be is not known; it has none of its
 * own, and what is said about all ranks together is all there is. */
enum cli_rank_answer { CLI_RANK_ANSWERS, CLI_RANK_IS_UNKNOWN, CLI_RANK_IS_SILENT };

/* Says in `why` why a rank does not answer. */
typedef enum cli_rank_answer (*cli_ranks_lacks_fn)(const void *context,
                                                   const struct tg_ranks_rank *rank,
                                                   struct tg_error *why);

/* How a verb takes the directory of a run with several ranks. */
struct cli_ranks_way {
    size_t rank; /* offset of the struct cli_count of --rank in the request */
    /* Offsets of paths of files that the verb writes, const char *; 0: none. Each rank gets its own:
     * run.npz becomes run.rank0.npz. */
    size_t outputs[2];
    /* The run that is meant if no directory is named; NULL: one must be named. The caller frees *path. */
    tg_status (*newest)(char **path, struct tg_error *error);
    /* Why the verb cannot answer for all ranks at once; NULL: it can. May be NULL itself. */
    const char *(*refuse)(const void *request);
    /* Answers for all ranks at once where that is another question. Returns false if it is not, and the
     * ranks answer one by one. May be NULL. */
    bool (*whole)(struct cli *cli, void *request, const struct tg_ranks *ranks, int *code);
    /* Says something about all ranks together, before (is_first) or after the ranks; with --json as one
     * object, the member `key` of the document (`json` is NULL without it). Returns an exit code. May be
     * NULL. */
    int (*together)(struct cli *cli, void *request, const struct tg_ranks *ranks,
                    struct tg_json *json);
    const char *key;
    bool is_first;
    cli_ranks_lacks_fn lacks; /* `context` is the ranks; NULL: cli_ranks_lacks_folder */
};

/* What cli_ranks_start put into the request; cli_ranks_end frees it. */
struct cli_ranks_use {
    char *dir;
    char *output[2];
};

/* Called when the command line was read. Returns true if the verb is to run now: on the directory in its
 * request, which may be a rank's by now. Returns false if everything was done: *code is the exit code. */
bool cli_ranks_start(const struct cli_verb *verb, struct cli *cli, void *request,
                     struct cli_ranks_use *use, int *code);
void cli_ranks_end(struct cli_ranks_use *use);

/* ── the pieces, for verbs that take several directories ───────────────────────────────── */

/* Opens the directory if it is one of ranks; else *ranks is NULL. */
tg_status cli_ranks_look(const char *dir, struct tg_ranks **ranks, struct tg_error *error);

/* Finds rank `number`. NOT_FOUND: there is no such rank, or its folder is not here. */
tg_status cli_ranks_find(const struct tg_ranks *ranks, uint64_t number, struct tg_ranks_rank *rank,
                         struct tg_error *error);

/* UNKNOWN if the rank's folder is missing. */
enum cli_rank_answer cli_ranks_lacks_folder(const void *context, const struct tg_ranks_rank *rank,
                                            struct tg_error *why);

/*
 * Lets each rank answer, in a process of its own. Returns true in such a process, which answers for
 * `*rank` and ends; false in the caller when all have answered, with the worst exit code. Prints the
 * headings, or with `json` the value of the key "ranks".
 */
bool cli_ranks_each(const struct tg_ranks *ranks, bool json, cli_ranks_lacks_fn lacks,
                    const void *context, struct tg_ranks_rank *rank, int *code);

/* Begins the document of --json; ends it with one more member if `key` is not NULL, whose value is the text
 * of an object. */
void cli_ranks_json_begin(void);
void cli_ranks_json_end(const char *key, const char *text);

#endif
