/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass diff: shows which tensors of two recordings differ, and which task caused that. */
#include "cli/diff.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/wire/stream.h>

#include "cli/cli.h"
#include "cli/diff_words.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/voice.h"

enum { PAGE = 10, DIFFERS = 1 };

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

static int take_atol(void *request, const struct cli_option *option, const char *text)
{
    (void)option;
    return take_rule(request, text, false);
}

static int take_rtol(void *request, const struct cli_option *option, const char *text)
{
    (void)option;
    return take_rule(request, text, true);
}

static int take_noise(void *request, const struct cli_option *option, const char *value)
{
    struct cli_diff *diff = request;
    const char **noise = realloc(diff->noise, (diff->n_noise + 1) * sizeof *noise);
    (void)option;
    if (!noise)
        return cli_error("out of memory");
    diff->noise = noise;
    noise[diff->n_noise++] = value;
    return CLI_OK;
}

static const char *across_word(unsigned number)
{
    return number == 0 ? "ranks" : NULL;
}

static int take_across(void *request, const struct cli_option *option, const char *value)
{
    if (strcmp(value, across_word(0)) != 0)
        return cli_error("--%s: '%s' is not known; it takes %s", option->name, value,
                         across_word(0));
    ((struct cli_diff *)request)->across = value;
    return CLI_OK;
}

static int take_shard(void *request, const struct cli_option *option, const char *text)
{
    struct cli_diff *diff = request;
    struct tg_error error;
    struct tg_shard *shard = realloc(diff->shard, (diff->n_shards + 1) * sizeof *shard);
    (void)option;
    if (!shard)
        return cli_error("out of memory");
    diff->shard = shard;
    if (tg_shard_parse(text, &shard[diff->n_shards], &error) != TG_OK)
        return cli_error("%s", error.text);
    diff->n_shards++;
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_FILTER(struct cli_diff, query, "task", "IDS",
               "these tasks of A: 12, 1:12 (ring:index), 0x10000000c, 1:0-1:99, or several with "
               "commas"),
    CLI_FILTERS_BUT_TASK(struct cli_diff, query),
    CLI_FILTER(struct cli_diff, query, "index", "NUMBERS", "these records of A"),
    CLI_CALL("atol", "TOLERANCE", take_atol, "absolute tolerance: 1e-6, or kernel=add,arg=2:1e-6",
             .range = "from 0 to 1.7e308"),
    CLI_CALL("rtol", "TOLERANCE", take_rtol, "relative tolerance, written the same way",
             .range = "from 0 to 1.7e308"),
    CLI_CALL("noise", "C [D...]", take_noise,
             "other runs that are known to be good: report only what exceeds their differences",
             .expects = CLI_RUN),
    CLI_FLAG(struct cli_diff, equal_nan, "equal-nan", "NaN equals NaN, whatever its bits"),
    CLI_FLAG(struct cli_diff, blame_only, "blame",
             "instead of the differences, show all tasks that caused one"),
    CLI_FLAG(struct cli_diff, fail_fast, "fail-fast", "stop at the first difference"),
    CLI_COUNT(struct cli_diff, limit, "limit", "N", "show N differences at most",
              .fallback = "10, with --json all"),
    CLI_FLAG(struct cli_diff, all, "all",
             "show all differences and incomplete arguments; with --json also equal ones"),
    CLI_COUNT(struct cli_diff, rank, "rank", "R", "of runs with several ranks: this one alone",
              .fallback = "all of them"),
    CLI_CHOICE("across", "WHAT", across_word, take_across,
               "of one run with several ranks: whether results of tg_all_reduce, tg_broadcast and "
               "tg_all_gather, or records that the filters select, are the same on all ranks"),
    CLI_CALL("shard", "SPEC", take_shard,
             "of one device and a run with several ranks: how the parts of a tensor lie on the "
             "ranks, such as mlp.2=b h(rank), mlp.2=partial(sum) or mlp.2=replicated"),
    CLI_JSON(struct cli_diff, json, "print the result for programs"),
};

static int take_operand(const struct cli_verb *verb, void *request, const char *value)
{
    struct cli_diff *diff = request;
    (void)verb;
    if (diff->n_dirs == 2 && diff->n_noise > 0) /* --noise C D E */
        return take_noise(diff, NULL, value);
    if (diff->n_dirs == 2)
        return cli_error("diff takes two recordings; '%s' is one too many (other good runs come "
                         "after --noise)",
                         value);
    diff->dir[diff->n_dirs++] = value;
    return CLI_OK;
}

/* Tensors of several ranks are compared by themselves: no tasks are matched whose differences could be traced. */
static int check_ranks(const struct cli_diff *diff)
{
    const char *way = diff->across ? "--across" : "--shard";
    if (diff->across && (diff->n_dirs != 1 || diff->n_shards > 0 || diff->rank.given))
        return cli_error("--across takes one run, and neither --shard nor --rank: taskglass diff "
                         "--across ranks DIR");
    if (diff->n_shards > 0 && diff->rank.given)
        return cli_error("--shard takes all ranks and --rank one of them; leave one out");
    if ((diff->across || diff->n_shards > 0) && (diff->blame_only || diff->n_noise > 0))
        return cli_error("%s does not know %s; leave one out", way,
                         diff->blame_only ? "--blame" : "--noise");
    return CLI_OK;
}

static int check(struct cli_diff *diff)
{
    int code = check_ranks(diff);
    if (code != CLI_OK)
        return code;
    if (diff->n_dirs < 2 && !diff->across)
        return cli_error("diff takes two recordings: taskglass diff A B");
    if (diff->all && diff->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    if (diff->blame_only && diff->fail_fast)
        return cli_error(
            "--blame needs all differences, but --fail-fast stops at the first; leave one out");
    if (!diff->limit.given)
        diff->limit.number = diff->all || diff->json ? UINT64_MAX : PAGE;
    return CLI_OK;
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

/* Applies the filters to A's record; a record that only B has counts as one of A's task. */
static bool is_selected(const struct cli_diff *diff, const struct cli_pair *pair)
{
    struct tg_entry entry = pair->has_a ? pair->a : pair->b;
    if (!pair->has_a)
        entry.record.task_id = pair->task.id_a;
    return tg_query_matches(diff->query, pair->pair.record_a, &entry);
}

static void show_pair(struct cli_diff *diff, struct tg_json *json, const struct cli_pair *pair)
{
    if (diff->blame_only)
        return;
    if (diff->shown++ >= diff->limit.number)
        return;
    cli_progress_erase(&diff->progress);
    if (diff->json)
        cli_diff_json_pair(diff, json, pair);
    else
        cli_diff_print_pair(diff, pair);
}

static void compare_pairs(struct cli_diff *diff, struct tg_json *json)
{
    struct cli_pair pair;
    bool is_filtered = !tg_query_is_empty(diff->query);
    for (uint64_t i = 0; i < diff->info.pairs && !diff->stopped; i++) {
        if (is_filtered)
            get_pair(diff, i, &pair);
        if (is_filtered && !is_selected(diff, &pair))
            continue;
        tg_diff_compare(diff->diff, i, &pair.result);
        diff->selected++;
        diff->by_reason[pair.result.reason]++;
        if (cli_diff_shows(diff, &pair.result)) {
            get_pair(diff, i, &pair);
            show_pair(diff, json, &pair);
        }
        diff->stopped = diff->fail_fast && pair.result.verdict == TG_VERDICT_DIFFERS;
    }
    cli_progress_erase(&diff->progress);
}

/* --- summary ---------------------------------------------------------------------------------- */

static const char *const gaps[] = {"incomplete_a", "incomplete_b", "lost_a",  "lost_b",
                                   "damaged_a",    "damaged_b",    "tasks_a", "tasks_b",
                                   "ended_a",      "ended_b"};

const char *cli_diff_gap(unsigned number)
{
    return number < sizeof gaps / sizeof gaps[0] ? gaps[number] : NULL;
}

bool cli_diff_is_unknown(const struct tg_diff_summary *summary)
{
    return summary->verdict == TG_VERDICT_UNKNOWN && summary->nothing;
}

const char *cli_diff_reason(const struct cli_diff *diff)
{
    struct tg_recording_info a, b;
    tg_recording_get_info(diff->recording[0], &a);
    tg_recording_get_info(diff->recording[1], &b);
    if (a.level == TG_LEVEL_META || b.level == TG_LEVEL_META)
        return "a recording of level meta has neither hashes nor values of tensors; record both runs "
               "with --dump-tensor, or with --dump-tensor=hash";
    for (int side = 0; side < 2; side++) {
        const char *why = tg_recording_why_empty(diff->recording[side]);
        if (why && (side == 0 ? &a : &b)->level == TG_LEVEL_MARKED)
            return why;
    }
    if (a.excess > 0 || b.excess > 0)
        return "of no tensor of a task do both recordings have a hash, or values that were read";
    return "of no tensor of a task do both recordings have a hash or values";
}

const char *cli_diff_word(const struct tg_diff_summary *summary)
{
    if (cli_diff_is_unknown(summary))
        return "not known";
    if (summary->verdict == TG_VERDICT_UNKNOWN)
        return "incomplete";
    return summary->verdict == TG_VERDICT_DIFFERS ? "differs" : "equal";
}

/* Blames tasks only if something is known to differ; a difference of hashes is enough. */
static tg_status find_blame(struct cli_diff *diff, const struct tg_diff_summary *summary,
                            struct tg_error *error)
{
    bool is_wrong =
        summary->verdict == TG_VERDICT_DIFFERS || diff->by_reason[TG_REASON_OTHER_HASH] > 0;
    return is_wrong && !diff->stopped ? tg_blame_open(diff->diff, &diff->blame, error) : TG_OK;
}

static tg_status compare_edges(struct cli_diff *diff, struct tg_error *error)
{
    diff->edges_reason = "the comparison stopped at the first difference";
    return diff->stopped ? TG_OK : tg_diff_compare_edges(diff->diff, &diff->edges_reason, error);
}

/* Whatever was read of the files up to now was theirs. */
static tg_status check_files(const struct cli_diff *diff, struct tg_error *error)
{
    tg_status status = tg_recording_check_files(diff->recording[0], error);
    return status == TG_OK ? tg_recording_check_files(diff->recording[1], error) : status;
}

static int compare(struct cli_diff *diff)
{
    struct tg_json json;
    struct tg_diff_summary summary;
    struct tg_error error;
    if (diff->json) {
        tg_json_start(&json, stdout);
        cli_diff_json_begin(diff, &json);
    } else {
        cli_diff_print_head(diff);
    }
    compare_pairs(diff, &json);
    tg_diff_summarize(diff->diff, &summary);
    tg_status status = find_blame(diff, &summary, &error);
    if (status == TG_OK)
        status = compare_edges(diff, &error);
    if (status == TG_OK)
        status = check_files(diff, &error);
    if (status != TG_OK) {
        if (diff->json)
            cli_diff_json_give_up(&json, error.text);
        return cli_fail(&error);
    }
    if (diff->json)
        cli_diff_json_end(diff, &json, &summary);
    else
        cli_diff_print_end(diff, &summary);
    if (cli_diff_is_unknown(&summary))
        return CLI_USAGE;
    return summary.verdict == TG_VERDICT_SAME || summary.verdict == TG_VERDICT_CLOSE ? CLI_OK
                                                                                     : DIFFERS;
}

/* --- nothing to compare ----------------------------------------------------------------------- */

static bool is_selecting(const struct cli_diff *diff)
{
    struct cli_pair pair;
    if (tg_query_is_empty(diff->query))
        return diff->info.pairs > 0;
    for (uint64_t i = 0; i < diff->info.pairs; i++) {
        get_pair(diff, i, &pair);
        if (is_selected(diff, &pair))
            return true;
    }
    return false;
}

/* True for a recording of a run without tasks: it has everything, and that is nothing. */
static bool is_whole_and_empty(const struct tg_recording *recording)
{
    struct tg_recording_info info;
    tg_recording_get_info(recording, &info);
    return info.records == 0 && info.damaged == 0 && info.complete &&
           cli_recording_lost(&info.summary) == 0 && info.level != TG_LEVEL_MARKED &&
           (info.state == TG_RECORDING_FINISHED || info.state == TG_RECORDING_UNKNOWN);
}

/* Why nothing can be compared: a mistyped filter must not end as "equal". NULL if something can. */
static const char *why_nothing(const struct cli_diff *diff)
{
    struct tg_recording_info a, b;
    if (diff->info.pairs > 0)
        return is_selecting(diff) ? NULL : "no record matches";
    if (diff->info.only_a + diff->info.only_b > 0)
        return NULL; /* tasks that only one side has are an answer */
    if (diff->info.matched == 0 && is_whole_and_empty(diff->recording[0]) &&
        is_whole_and_empty(diff->recording[1]))
        return NULL; /* two runs without tasks are equal */
    tg_recording_get_info(diff->recording[0], &a);
    tg_recording_get_info(diff->recording[1], &b);
    if (a.level == TG_LEVEL_MARKED || b.level == TG_LEVEL_MARKED)
        return "level marked, and the run marked nothing";
    return "the recordings have no records in common";
}

static int say_nothing(const struct cli_diff *diff, const char *reason)
{
    struct tg_json json;
    if (!diff->json)
        return cli_error("nothing to compare: %s", reason);
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    cli_json_recording(&json, "a", diff->recording[0]);
    cli_json_recording(&json, "b", diff->recording[1]);
    tg_json_put_string(&json, "result", "not known");
    tg_json_put_string(&json, "reason", reason);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
    return CLI_USAGE;
}

/* Opens one good run at a time: only what it differs by is kept. */
static int measure_noise(struct cli_diff *diff)
{
    for (size_t i = 0; i < diff->n_noise; i++) {
        struct tg_recording *good;
        struct tg_error error;
        cli_detail("reads the recording in '%s', for the noise", diff->noise[i]);
        if (tg_recording_open(diff->noise[i], &good, &error) != TG_OK)
            return cli_recording_fail(NULL, diff->json, &error);
        tg_status status = tg_diff_add_noise(diff->diff, good, &error);
        tg_recording_close(good);
        if (status != TG_OK)
            return cli_recording_fail(NULL, diff->json, &error);
    }
    return CLI_OK;
}

struct opening {
    const char *dir;
    struct tg_recording *recording;
    tg_status status;
    struct tg_error error;
};

static void *open_one(void *context)
{
    struct opening *opening = context;
    cli_detail("reads the recording in '%s'", opening->dir);
    opening->status = tg_recording_open(opening->dir, &opening->recording, &opening->error);
    return NULL;
}

/* Opens both recordings at the same time, because opening checks every record. */
static int open_both(struct cli_diff *diff)
{
    struct opening a = {.dir = diff->dir[0]}, b = {.dir = diff->dir[1]};
    pthread_t thread;
    bool is_apart = pthread_create(&thread, NULL, open_one, &b) == 0;
    (void)open_one(&a);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    else
        (void)open_one(&b);
    diff->recording[0] = a.recording;
    diff->recording[1] = b.recording;
    if (a.status != TG_OK)
        return cli_recording_fail(NULL, diff->json, &a.error);
    return b.status == TG_OK ? CLI_OK : cli_recording_fail(NULL, diff->json, &b.error);
}

void cli_diff_get_options(struct cli_diff *diff, struct tg_diff_options *options)
{
    *options = (struct tg_diff_options){.rules = diff->rule,
                                        .n_rules = diff->n_rules,
                                        .equal_nan = diff->equal_nan,
                                        .progress = cli_progress_show,
                                        .context = &diff->progress};
}

int cli_diff_run(struct cli_diff *diff)
{
    struct tg_diff_options wanted;
    struct tg_error error;
    cli_diff_get_options(diff, &wanted);
    cli_progress_init(&diff->progress, "diff", NULL);
    int code = open_both(diff);
    if (code != CLI_OK)
        return code;
    if (tg_diff_open(diff->recording[0], diff->recording[1], &wanted, &diff->diff, &error) != TG_OK)
        return cli_recording_fail(NULL, diff->json, &error);
    code = measure_noise(diff);
    tg_diff_get_info(diff->diff, &diff->info);
    if (code != CLI_OK)
        return code;
    const char *reason = why_nothing(diff);
    if (check_files(diff, &error) != TG_OK)
        return cli_recording_fail(NULL, diff->json, &error);
    return reason ? say_nothing(diff, reason) : compare(diff);
}

static int diff_verb(struct cli *cli, void *request)
{
    int code = check(request);
    return code == CLI_OK ? cli_diff_ranks(cli, request) : code;
}

static void end(void *request)
{
    struct cli_diff *diff = request;
    tg_blame_close(diff->blame);
    tg_diff_close(diff->diff);
    tg_recording_close(diff->recording[0]);
    tg_recording_close(diff->recording[1]);
    tg_query_destroy(diff->query);
    free(diff->rule);
    free((void *)diff->noise);
    free(diff->shard);
    for (size_t i = 0; i < diff->n_own; i++)
        free(diff->own[i]);
    free(diff->own);
}

static const struct cli_example examples[] = {
    {"outputs/GOOD outputs/BAD", "Show where two runs differ, and the task that began it."},
    {"outputs/GOOD outputs/BAD --blame", "Show every task that caused a difference."},
    {"A B --rtol 1e-5 --noise C", "Ignore what is within a tolerance, or differs anyway."},
    {"--across ranks outputs/RUN", "See whether all ranks got the same results."},
    {"outputs/ONE outputs/MANY --shard 'mlp.2=b h(rank)'",
     "Compare a tensor of one device with its parts on many."},
    {0},
};

const struct cli_verb cli_verb_diff = {
    .name = "diff",
    .rank = 40,
    .section = CLI_ANSWER,
    .usage = "A B | --across ranks DIR [FILTERS] [--atol T] [--rtol T] [--noise C...] [--shard "
             "SPEC...] [--blame] [--json]",
    .summary = "Compare two recordings task by task; find the task that caused a difference.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct cli_diff),
    .operand = take_operand,
    .expects = CLI_RUN,
    .run = diff_verb,
    .end = end,
    .examples = examples,
};
