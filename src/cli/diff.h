/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass diff`. */
#ifndef TG_CLI_DIFF_H
#define TG_CLI_DIFF_H

#include <stdbool.h>
#include <taskglass/analysis.h>
#include <taskglass/json.h>
#include <taskglass/query.h>
#include <taskglass/ranks_answers.h>

#include "cli/diff_words.h"
#include "cli/progress.h"
#include "cli/options.h"

/* Two different contents that the report has described already. */
struct cli_told {
    uint64_t hash_a, hash_b;
    unsigned dtype;
    uint64_t record_a, record_b;
};
enum { CLI_TOLD = 64 };

/* What the command line asks for, and the state of the comparison. */
struct cli_diff {
    const char *dir[2];
    int n_dirs;
    struct tg_query *query; /* NULL: every record */
    struct tg_tolerance_rule *rule;
    size_t n_rules;
    struct cli_count limit;
    bool all, json, equal_nan, fail_fast, blame_only;
    const char **noise; /* directories of other good runs */
    size_t n_noise;
    struct cli_count rank;
    const char *across; /* "ranks"; NULL: two runs */
    struct tg_shard *shard;
    size_t n_shards;
    char **own; /* folders of ranks that stand in place of what was typed */
    size_t n_own;
    struct tg_recording *recording[2];
    struct tg_diff *diff;
    struct tg_diff_info info;
    const char *edges_reason; /* why the edges were not compared; "" if they were */
    struct tg_blame *blame;   /* NULL: no task to blame */
    struct cli_progress progress;
    uint64_t selected, shown;
    uint64_t by_reason[TG_REASONS];
    bool stopped;                   /* by --fail-fast */
    struct cli_told told[CLI_TOLD]; /* the last CLI_TOLD pairs of contents */
    uint64_t n_told;
};

/* A pair of records and the result of comparing them. */
struct cli_pair {
    struct tg_diff_pair pair;
    struct tg_diff_task task;
    struct tg_entry a, b;
    bool has_a, has_b;
    struct tg_diff_result result;
};

/* True if the report shows a pair with this result. */
static inline bool cli_diff_shows(const struct cli_diff *diff, const struct tg_diff_result *result)
{
    bool is_odd = result->verdict == TG_VERDICT_DIFFERS ||
                  (result->verdict == TG_VERDICT_UNKNOWN && (diff->json || diff->all));
    return is_odd || (diff->all && diff->json);
}

/* Compares the two recordings. Returns the exit code. */
int cli_diff_run(struct cli_diff *diff);
/* The same for runs with several ranks: all of them, or one; --across and --shard. Compares two recordings if
 * none has several ranks. */
int cli_diff_ranks(struct cli *cli, struct cli_diff *diff);
int cli_diff_across(struct cli_diff *diff, const struct tg_ranks *ranks);
int cli_diff_shards(struct cli_diff *diff, const struct tg_ranks *many);
/* What the command line says about comparing. */
void cli_diff_get_options(struct cli_diff *diff, struct tg_diff_options *options);

/* The report as text. */
void cli_diff_print_head(const struct cli_diff *diff);
void cli_diff_print_pair(struct cli_diff *diff, const struct cli_pair *pair);
void cli_diff_print_end(const struct cli_diff *diff, const struct tg_diff_summary *summary);
void cli_diff_print_blame(const struct cli_diff *diff);

/* The report as JSON: first the beginning, then each pair, then the end. */
void cli_diff_json_begin(const struct cli_diff *diff, struct tg_json *json);
void cli_diff_json_pair(const struct cli_diff *diff, struct tg_json *json,
                        const struct cli_pair *pair);
void cli_diff_json_end(const struct cli_diff *diff, struct tg_json *json,
                       const struct tg_diff_summary *summary);
/* Ends the document without a result. */
void cli_diff_json_give_up(struct tg_json *json, const char *reason);

/* Edges that only one side has. */
void cli_diff_print_edges(const struct cli_diff *diff);
void cli_diff_json_edges(const struct cli_diff *diff, struct tg_json *json);
void cli_diff_json_blame(const struct cli_diff *diff, struct tg_json *json);
/* Writes null if the task is not there. */
void cli_json_task_id(struct tg_json *json, const char *key, bool is_there, uint64_t id);

/* "equal", "differs", "incomplete", "not known". */
const char *cli_diff_word(const struct tg_diff_summary *summary);
/* True if nothing at all could be judged. */
bool cli_diff_is_unknown(const struct tg_diff_summary *summary);
/* Why nothing could be judged. */
const char *cli_diff_reason(const struct cli_diff *diff);
/* "lost_a" …; NULL past the last one. */
const char *cli_diff_gap(unsigned number);

#endif
