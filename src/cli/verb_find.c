/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass find: shows which task caused NaN, infinities, overflow, stray writes and the like. */
#include "cli/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/wire/stream.h>

#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "cli/wrap.h"

enum { PAGE = 10, FOUND = 1, ONLY_POSSIBLE = 2 };

static const struct cli_option options[] = {
    CLI_FILTERS(struct cli_find, query),
    CLI_FILTER(struct cli_find, query, "index", "NUMBERS", "these records"),
    CLI_COUNT(struct cli_find, limit, "limit", "N", "show N findings at most",
              .fallback = "10, with --json all"),
    CLI_FLAG(struct cli_find, all, "all", "show all findings"),
    CLI_TEXT(struct cli_find, module, "module", "FILE",
             "unwritten: the workload's module, for its references",
             .fallback = "the one in run.json", .expects = CLI_FILE),
    CLI_JSON(struct cli_find, json, "print the findings for programs"),
};

static const char *kind_name(unsigned number)
{
    return number < TG_FIND_KINDS ? tg_find_kind_name(number) : NULL;
}

static int unknown_find_kind(const char *what)
{
    struct cli_choices choices;
    struct cli_suggestion near;
    cli_suggest_start(&near, what);
    for (unsigned i = 0; kind_name(i); i++)
        cli_suggest_consider(&near, kind_name(i));
    if (near.best)
        return cli_error("find: unknown kind '%s'; did you mean '%s'?", what, near.best);
    return cli_error("find: unknown kind '%s'; kinds are %s", what,
                     cli_choices_format(kind_name, "and", &choices));
}

/* The first operand is the kind, the second one the directory. */
static int take_operand(const struct cli_verb *verb, void *request, const char *value)
{
    struct cli_find *find = request;
    if (find->what)
        return cli_take_one(verb, request, value);
    find->what = value;
    for (unsigned i = 0; kind_name(i); i++)
        if (strcmp(value, kind_name(i)) == 0) {
            find->find_kind = i;
            return CLI_OK;
        }
    return unknown_find_kind(value);
}

static int check(struct cli_find *find)
{
    struct cli_choices choices;
    if (!find->what)
        return cli_error("find needs a kind: %s", cli_choices_format(kind_name, "or", &choices));
    if (find->all && find->limit.given)
        return cli_error("--all and --limit contradict each other; leave one out");
    if (!find->limit.given)
        find->limit.number = find->all || find->json ? UINT64_MAX : PAGE;
    return CLI_OK;
}

/* Takes over what the reference of the kernel said. Returns false if it cleared the task. */
static bool apply_verdict(const struct cli_find_verdict *verdict, struct tg_find_finding *finding)
{
    if (verdict->is == CLI_FIND_ACCUSED) {
        finding->sign = TG_SIGN_REFERENCE;
        finding->is_proved = true;
        finding->count = verdict->count;
        finding->first = verdict->first;
    }
    return verdict->is != CLI_FIND_CLEARED;
}

bool cli_find_next(const struct cli_find *find, uint64_t *number, struct tg_find_finding *finding,
                   struct tg_entry *entry)
{
    for (; tg_find_get_finding(find->find, *number, finding); ++*number)
        if ((!find->verdict || apply_verdict(&find->verdict[*number], finding)) &&
            tg_recording_get(find->recording, finding->record, entry) &&
            tg_query_matches(find->query, finding->record, entry))
            return true;
    return false;
}

static void count_findings(struct cli_find *find)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; cli_find_next(find, &i, &finding, &entry); i++) {
        find->found++;
        find->proved += finding.is_proved;
        find->passed_on += finding.trace == TG_TRACE_INHERITED;
    }
    find->possible = find->found - find->proved - find->passed_on;
}

/* --- the answer ------------------------------------------------------------------------------- */

bool cli_find_is_whole(const struct cli_find *find)
{
    struct tg_recording_info info;
    struct cli_words words;
    tg_recording_get_info(find->recording, &info);
    return !cli_find_note(find, 0, &words) && !cli_recording_note(&words, &info, 0);
}

int cli_find_exit_code(const struct cli_find *find)
{
    if (*find->unknown)
        return CLI_USAGE;
    if (find->found == 0 || find->find_kind == TG_FIND_CONSTANT)
        return CLI_OK;
    return find->find_kind != TG_FIND_UNWRITTEN || find->proved > 0 ? FOUND : ONLY_POSSIBLE;
}

const char *cli_find_result(const struct cli_find *find)
{
    if (*find->unknown)
        return "not known";
    if (find->found == 0)
        return cli_find_is_whole(find) ? "nothing found" : "nothing found in what was searched";
    if (find->find_kind == TG_FIND_CONSTANT)
        return "listed";
    return cli_find_exit_code(find) == FOUND ? "found" : "possible";
}

static bool has_sign(const struct cli_find *find, enum tg_sign sign)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; cli_find_next(find, &i, &finding, &entry); i++)
        if (!finding.is_proved && finding.sign == sign)
            return true;
    return false;
}

void cli_find_advice(const struct cli_find *find, char *text, size_t room)
{
    struct tg_recording_info info;
    char command[2000];
    tg_recording_get_info(find->recording, &info);
    if (find->possible == 0)
        snprintf(
            text, room,
            "the pattern came in with inputs, so the tasks may have copied it; no task is known "
            "that should have written these");
    else if (info.poison)
        snprintf(text, room, "%s",
                 has_sign(find, TG_SIGN_SAME)
                     ? "the pattern shows only what no task wrote at all; give the kernels "
                       "references to know more (taskglass-check(1))"
                     : "record every argument with --dump-tensor=full to know more");
    else if (tg_recording_command(find->recording, "--poison", command, sizeof command))
        snprintf(text, room, "record again to know: %s", command);
    else
        snprintf(text, room, "record again with taskglass run --dump-tensor --poison to know");
}

static const char *note_of(struct cli_words *words, uint64_t count, const char *noun,
                           const char *text)
{
    struct cli_text number;
    snprintf(words->text, sizeof words->text, "%s %s", cli_format_count(&number, count, noun),
             text);
    return words->text;
}

static const char *why_not_searched(const struct cli_find *find, bool by_memory)
{
    struct tg_recording_info info;
    tg_recording_get_info(find->recording, &info);
    if (info.excess > 0)
        return "could not be searched: not stored whole, or not read because other records have the "
               "same bytes or they are holes";
    return by_memory ? "could not be searched: neither stored whole nor hashed"
                     : "could not be searched: not stored whole";
}

const char *cli_find_note(const struct cli_find *find, unsigned number, struct cli_words *words)
{
    bool by_memory = find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP;
    const struct tg_find_info *info = &find->info;
    if (info->not_stored > 0 && number-- == 0)
        return note_of(words, info->not_stored, "record", why_not_searched(find, by_memory));
    if (by_memory && info->looked_at == 0 && info->not_stored == 0 && find->has_records &&
        number-- == 0)
        return find->find_kind == TG_FIND_STOMP
                   ? "no tensor was recorded twice, so that there was nothing to compare"
                   : "no task has an output that is not an input too";
    if (info->only_hashed > 0 && number-- == 0)
        return note_of(words, info->only_hashed, "output",
                       "judged as a whole: by a hash, parts that were not written do not show");
    if (info->unfinished > 0 && number-- == 0)
        return note_of(words, info->unfinished, "output", "left out: the task had not finished");
    if (info->unrecorded > 0 && number-- == 0)
        return note_of(words, info->unrecorded, "task", "without a record");
    return *info->deps_error && number == 0 ? info->deps_error : NULL;
}

/* --- the verb --------------------------------------------------------------------------------- */

static tg_status search(struct cli_find *find, struct tg_error *error)
{
    struct cli_progress progress;
    cli_progress_init(&progress, "find", NULL);
    tg_status status = tg_find_open(find->recording, find->find_kind, cli_progress_show, &progress,
                                    &find->find, error);
    cli_progress_erase(&progress);
    return status;
}

/* False if there are filters, and records, but none that they select: "nothing found" would say that
 * something was looked at. */
static bool selects_something(struct cli_find *find)
{
    struct tg_recording_info info;
    struct tg_entry entry;
    uint64_t first = 0;
    tg_recording_get_info(find->recording, &info);
    find->has_records = info.records > 0;
    return !find->has_records || tg_query_is_empty(find->query) ||
           tg_query_next(find->query, find->recording, &first, &entry);
}

/* True if the record has no content to search. What the orchestration was given is only listed. */
static bool has_no_content(const struct tg_record *record)
{
    return record->stage == TG_STAGE_ORCHESTRATION ||
           (record->kind == TG_KIND_TENSOR && record->bytes > 0 && record->stored == 0 &&
            !(record->flags & TG_RECORD_HASHED));
}

/* True if there are filters, and they select only such records; *count is then how many. */
static bool selects_no_content(const struct cli_find *find, uint64_t *count)
{
    struct tg_entry entry;
    *count = 0;
    if (tg_query_is_empty(find->query))
        return false;
    for (uint64_t i = 0; tg_query_next(find->query, find->recording, &i, &entry); i++, ++*count)
        if (!has_no_content(&entry.record))
            return false;
    return *count > 0;
}

/* True if something that could have been searched was left out. */
static bool left_something_out(const struct cli_find *find)
{
    const struct tg_find_info *info = &find->info;
    struct tg_recording_info recording;
    struct cli_words words;
    tg_recording_get_info(find->recording, &recording);
    return info->not_stored > 0 || info->unfinished > 0 || info->unrecorded > 0 ||
           recording.level == TG_LEVEL_MARKED || cli_recording_note(&words, &recording, 0);
}

/* "Nothing found" would say that something was searched: sets `unknown` if nothing was. */
static void see_what_was_searched(struct cli_find *find)
{
    bool by_memory = find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP;
    struct tg_recording_info info;
    struct cli_text number;
    struct cli_words words;
    uint64_t count;
    if (find->found > 0)
        return;
    if (selects_no_content(find, &count)) {
        find->info.looked_at = 0;
        find->info.not_stored = count;
        snprintf(find->unknown, sizeof find->unknown,
                 "the filters select %s, of which none has content to search: arguments of the "
                 "orchestration, or tensors that were not stored",
                 cli_format_count(&number, count, "record"));
    } else if (find->has_records && find->info.looked_at == 0 &&
               (by_memory ? left_something_out(find) : find->info.not_stored > 0)) {
        tg_recording_get_info(find->recording, &info);
        snprintf(find->unknown, sizeof find->unknown, "nothing was searched: %s%s",
                 cli_find_note(find, 0, &words),
                 info.excess > 0 ? "" : "; record with --dump-tensor=full");
    }
}

static int print(const struct cli_find *find)
{
    if (find->json)
        cli_find_print_json(find);
    else if (*find->unknown)
        return cli_error("not known: %s", find->unknown);
    else
        cli_find_print(find);
    return cli_find_exit_code(find);
}

static int open_and_find(struct cli_find *find)
{
    struct tg_error error;
    if (cli_recording_open(find->dir, &find->recording, &error) != TG_OK)
        return cli_recording_fail(NULL, find->json, &error);
    tg_status status = search(find, &error);
    if (status == TG_UNSUPPORTED)
        return cli_not_known(find->recording, find->json, error.text);
    if (status != TG_OK)
        return cli_recording_fail(find->recording, find->json, &error);
    tg_find_get_info(find->find, &find->info);
    bool selects = selects_something(find);
    if (tg_recording_check_files(find->recording, &error) != TG_OK)
        return cli_recording_fail(find->recording, find->json, &error);
    if (!selects)
        return cli_not_known(find->recording, find->json, "no record matches the filters");
    if (find->find_kind == TG_FIND_UNWRITTEN && !cli_find_ask_references(find))
        return cli_error("out of memory");
    count_findings(find);
    see_what_was_searched(find);
    if (tg_recording_check_files(find->recording, &error) != TG_OK)
        return cli_recording_fail(find->recording, find->json, &error);
    return print(find);
}

static int find_verb(struct cli *cli, void *request)
{
    struct cli_find *find = request;
    find->settings = cli->settings;
    int code = check(request);
    return code == CLI_OK ? open_and_find(request) : code;
}

static void end(void *request)
{
    struct cli_find *find = request;
    tg_find_close(find->find);
    free(find->verdict);
    tg_recording_close(find->recording);
    tg_query_destroy(find->query);
}

static void print_kinds(void)
{
    puts("\nKinds:");
    for (unsigned i = 0; kind_name(i); i++)
        cli_wrap_out(tg_find_kind_text(i), printf("  %-14s", kind_name(i)), 16);
}

static const struct cli_example examples[] = {
    {"nan", "Find the first task of the newest recording that made a NaN."},
    {"stomp outputs/RUN --kernel 'add*'", "Find tensors of some kernels that changed unseen."},
    {"unwritten --json", "List outputs that their tasks did not write, for a program."},
    {0},
};

const struct cli_verb cli_verb_find = {
    .name = "find",
    .rank = 60,
    .section = CLI_ANSWER,
    .usage = "nan|inf|overflow|constant|unwritten|stomp [DIR] [FILTERS] [--json]",
    .summary = "Find NaN, overflow, stray writes, and the task that caused them.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .settings = "timeout sandbox",
    .request_size = sizeof(struct cli_find),
    .operand = take_operand,
    .noun = "directory",
    .member = offsetof(struct cli_find, dir),
    .expects = CLI_RUN,
    .choice = kind_name,
    .run = find_verb,
    .end = end,
    .more_help = print_kinds,
    .examples = examples,
};
