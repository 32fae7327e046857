/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass diff: which tensors of two recordings differ, and which task began it. */
#include "cli/diff.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/diff_words.h"
#include "cli/filters.h"
#include "cli/options.h"

enum { PAGE = 10, DIFFERS = 1 };

/* The first ones are those of a selection, by their names. */
enum {
    OPTION_ATOL = 7,
    OPTION_RTOL,
    OPTION_EQUAL_NAN,
    OPTION_BLAME,
    OPTION_FAIL_FAST,
    OPTION_LIMIT,
    OPTION_ALL,
    OPTION_JSON
};
static const struct cli_option options[] = {
    {"task", "IDS", "these tasks of A: 12, 0x10000000c, 1:12, 1:0-1:99, or several with commas"},
    {"kernel", "NAMES", "tasks with these kernels; * stands for any characters"},
    {"stage", "STAGES", "before, after, orchestration"},
    {"role", "ROLES", "in, out, inout, scalar"},
    {"kind", "KINDS", "tensor, scalar"},
    {"arg", "NUMBERS", "these arguments: 0, 0-2, 0,3"},
    {"index", "NUMBERS", "these records of A"},
    [OPTION_ATOL] = {"atol", "TOLERANCE", "absolute tolerance: 1e-6, or kernel=add,arg=2:1e-6"},
    [OPTION_RTOL] = {"rtol", "TOLERANCE", "relative tolerance, in the same ways"},
    [OPTION_EQUAL_NAN] = {"equal-nan", NULL, "NaN equals NaN, whatever its bits"},
    [OPTION_BLAME] = {"blame", NULL, "show who began it, all of it, and not the differences"},
    [OPTION_FAIL_FAST] = {"fail-fast", NULL, "stop at the first difference"},
    [OPTION_LIMIT] = {"limit", "N", "show N differences at most; default: 10, with --json all"},
    [OPTION_ALL] = {"all", NULL, "show all, also what is incomplete; with --json what is equal"},
    [OPTION_JSON] = {"json", NULL, "the result for programs"},
};

static int take_rule(struct cli_diff *diff, const char *text, bool relative)
{
    struct tg_error error;
    struct tg_tolerance_rule *rule = realloc(diff->rule, (diff->n_rules + 1) * sizeof *diff->rule);
    if (!rule)
        return cli_error("out of memory");
    diff->rule = rule;
    if (tg_tolerance_rule_parse(text, relative, &rule[diff->n_rules], &error) != TG_OK)
        return cli_error("%s", error.text);
    diff->n_rules++;
    return CLI_OK;
}

static int take_option(struct cli_diff *diff, const struct cli_parser *parser)
{
    switch (parser->option) {
    case OPTION_ATOL:
    case OPTION_RTOL:
        return take_rule(diff, parser->value, parser->option == OPTION_RTOL);
    case OPTION_EQUAL_NAN:
        diff->equal_nan = true;
        return CLI_OK;
    case OPTION_BLAME:
        diff->blame_only = true;
        return CLI_OK;
    case OPTION_FAIL_FAST:
        diff->fail_fast = true;
        return CLI_OK;
    case OPTION_LIMIT:
        diff->limited = true;
        return cli_take_limit(parser->value, &diff->limit) ? CLI_OK : CLI_USAGE;
    case OPTION_ALL:
        diff->all = true;
        return CLI_OK;
    case OPTION_JSON:
        diff->json = true;
        return CLI_OK;
    default:
        return cli_take_filter(&diff->query, parser);
    }
}

static int take_operand(struct cli_diff *diff, const char *value)
{
    if (diff->n_dirs == 2)
        return cli_error("diff takes two recordings; '%s' is one too many", value);
    diff->dir[diff->n_dirs++] = value;
    return CLI_OK;
}

static int check(struct cli_diff *diff)
{
    if (diff->n_dirs < 2)
        return cli_error("diff takes two recordings: taskglass diff A B");
    if (diff->all && diff->limited)
        return cli_error("--all and --limit contradict each other");
    if (diff->blame_only && diff->fail_fast)
        return cli_error("--blame needs all differences, and --fail-fast stops at the first");
    if (diff->all || (diff->json && !diff->limited))
        diff->limit = UINT64_MAX;
    return CLI_OK;
}

/* *help: the help was wanted, and printed. */
static int read_options(struct cli *cli, struct cli_diff *diff, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    cli_parser_init(&parser, cli, &cli_verb_diff);
    while (code == CLI_OK && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            return cli_error("%s", parser.error);
        if (token == CLI_HELP) {
            *help = true;
            return cli_help_verb(&cli_verb_diff, cli->settings);
        }
        code = token == CLI_OPTION ? take_option(diff, &parser) : take_operand(diff, parser.value);
    }
    return code == CLI_OK ? check(diff) : code;
}

/* --- the pairs -------------------------------------------------------------------------------- */

static void get_pair(const struct cli_diff *diff, uint64_t number, struct cli_pair *pair)
{
    tg_diff_get_pair(diff->diff, number, &pair->pair);
    tg_diff_get_task(diff->diff, pair->pair.task, &pair->task);
    pair->has_a = pair->pair.record_a != TG_NONE &&
                  tg_recording_get(diff->recording[0], pair->pair.record_a, &pair->a);
    pair->has_b = pair->pair.record_b != TG_NONE &&
                  tg_recording_get(diff->recording[1], pair->pair.record_b, &pair->b);
}

/* By what A has; of what only B has, as if it were in A's task. */
static bool is_selected(const struct cli_diff *diff, const struct cli_pair *pair)
{
    struct tg_entry entry = pair->has_a ? pair->a : pair->b;
    if (!pair->has_a)
        entry.record.task_id = pair->task.id_a;
    return tg_query_matches(diff->query, pair->pair.record_a, &entry);
}

static void show_pair(struct cli_diff *diff, struct tg_json *json, const struct cli_pair *pair)
{
    if (!cli_diff_shows(diff, &pair->result) || diff->blame_only)
        return;
    if (diff->shown++ >= diff->limit)
        return;
    cli_progress_erase(&diff->ticker.progress);
    if (diff->json)
        cli_diff_json_pair(diff, json, pair);
    else
        cli_diff_print_pair(diff, pair);
}

static void compare_pairs(struct cli_diff *diff, struct tg_json *json)
{
    struct cli_pair pair;
    for (uint64_t i = 0; i < diff->info.pairs && !diff->stopped; i++) {
        get_pair(diff, i, &pair);
        if (!is_selected(diff, &pair))
            continue;
        tg_diff_compare(diff->diff, i, &pair.result);
        diff->selected++;
        diff->by_reason[pair.result.reason]++;
        show_pair(diff, json, &pair);
        diff->stopped = diff->fail_fast && pair.result.verdict == TG_VERDICT_DIFFERS;
    }
    cli_progress_erase(&diff->ticker.progress);
}

/* --- in all ----------------------------------------------------------------------------------- */

static const char *const gaps[] = {"incomplete_a", "incomplete_b", "lost_a",  "lost_b",
                                   "damaged_a",    "damaged_b",    "tasks_a", "tasks_b"};

const char *cli_diff_gap(unsigned number)
{
    return number < sizeof gaps / sizeof gaps[0] ? gaps[number] : NULL;
}

const char *cli_diff_word(const struct tg_diff_summary *summary)
{
    if (summary->verdict == TG_VERDICT_UNKNOWN)
        return "incomplete";
    return summary->verdict == TG_VERDICT_DIFFERS ? "differs" : "equal";
}

/* Blame is for what is known to be wrong, also by hashes alone. */
static int find_blame(struct cli_diff *diff)
{
    struct tg_error error;
    bool is_wrong = diff->by_reason[TG_REASON_VALUES] + diff->by_reason[TG_REASON_DTYPE] +
                    diff->by_reason[TG_REASON_SHAPE] + diff->by_reason[TG_REASON_KIND] +
                    diff->by_reason[TG_REASON_INTEGER_HASH] + diff->by_reason[TG_REASON_OTHER_HASH];
    if (!is_wrong || diff->stopped)
        return CLI_OK;
    return tg_blame_open(diff->diff, &diff->blame, &error) == TG_OK ? CLI_OK : cli_fail(&error);
}

static int compare(struct cli_diff *diff)
{
    struct tg_json json;
    struct tg_diff_summary summary;
    if (diff->json) {
        tg_json_start(&json, stdout);
        cli_diff_json_begin(diff, &json);
    } else {
        cli_diff_print_head(diff);
    }
    compare_pairs(diff, &json);
    int code = find_blame(diff);
    if (code != CLI_OK)
        return code;
    tg_diff_summarize(diff->diff, &summary);
    if (diff->json)
        cli_diff_json_end(diff, &json, &summary);
    else
        cli_diff_print_end(diff, &summary);
    return summary.verdict == TG_VERDICT_SAME || summary.verdict == TG_VERDICT_CLOSE ? CLI_OK
                                                                                     : DIFFERS;
}

/* A filter with a slip in it must not end as "equal". */
static int check_selection(const struct cli_diff *diff)
{
    struct cli_pair pair;
    for (uint64_t i = 0; i < diff->info.pairs; i++) {
        get_pair(diff, i, &pair);
        if (is_selected(diff, &pair))
            return CLI_OK;
    }
    if (diff->info.pairs > 0)
        return cli_error("nothing to compare: no record matches");
    if (diff->info.only_a + diff->info.only_b > 0)
        return CLI_OK; /* tasks that only one side has are an answer */
    return cli_error("nothing to compare: the recordings have no records in common");
}

static int open_and_compare(struct cli_diff *diff)
{
    struct tg_diff_options wanted = {.rules = diff->rule,
                                     .n_rules = diff->n_rules,
                                     .equal_nan = diff->equal_nan,
                                     .progress = cli_ticker_show,
                                     .context = &diff->ticker};
    struct tg_error error;
    cli_ticker_start(&diff->ticker, "diff");
    for (int i = 0; i < 2; i++)
        if (tg_recording_open(diff->dir[i], &diff->recording[i], &error) != TG_OK)
            return cli_fail(&error);
    if (tg_diff_open(diff->recording[0], diff->recording[1], &wanted, &diff->diff, &error) != TG_OK)
        return cli_fail(&error);
    tg_diff_get_info(diff->diff, &diff->info);
    int code = check_selection(diff);
    return code == CLI_OK ? compare(diff) : code;
}

static int diff_verb(struct cli *cli)
{
    struct cli_diff diff = {.limit = PAGE};
    bool help = false;
    int code = read_options(cli, &diff, &help);
    if (code == CLI_OK && !help)
        code = open_and_compare(&diff);
    tg_blame_close(diff.blame);
    tg_diff_close(diff.diff);
    tg_recording_close(diff.recording[0]);
    tg_recording_close(diff.recording[1]);
    tg_query_destroy(diff.query);
    free(diff.rule);
    return code;
}

const struct cli_verb cli_verb_diff = {
    .name = "diff",
    .usage = "A B [FILTERS] [--atol T] [--rtol T] [--blame] [--json]",
    .summary = "Compare two recordings task by task; say which task began it.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = diff_verb,
};
