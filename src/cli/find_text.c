/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `taskglass find` as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/comm.h>

#include "cli/find.h"
#include "cli/format.h"
#include "cli/print.h"

/* --- one finding ------------------------------------------------------------------------------ */

static const char *noun(enum tg_find_kind find_kind)
{
    static const char *const nouns[] = {
        [TG_FIND_NAN] = "NaN",
        [TG_FIND_INF] = "Inf",
        [TG_FIND_OVERFLOW] = "at the limit of the type",
        [TG_FIND_CONSTANT] = "equal elements",
    };
    return find_kind <= TG_FIND_CONSTANT ? nouns[find_kind] : "";
}

static int64_t elements_of(const struct tg_record *record)
{
    int64_t elements = 1;
    for (int i = 0; i < record->ndim && i < TG_MAX_DIMS; i++)
        elements *= record->shape[i]; /* the reader has checked that this does not overflow */
    return elements;
}

static void put_what(const struct cli_find *find, const struct tg_find_finding *finding,
                     const struct tg_record *record)
{
    struct cli_words where;
    struct cli_text count;
    if (find->find_kind == TG_FIND_UNWRITTEN) {
        cli_print("%s", tg_sign_text(finding->sign));
        if (finding->before != TG_NONE)
            cli_print(" (record %" PRIu64 ")", finding->before);
        if (finding->count < (uint64_t)elements_of(record) && finding->first != TG_NONE)
            cli_print(": %s, the first at %s", cli_format_count(&count, finding->count, "element"),
                      cli_element_at(&where, record, finding->first));
    } else if (find->find_kind != TG_FIND_STOMP) {
        cli_print("%" PRIu64 " %s", finding->count, noun(find->find_kind));
        if (find->find_kind != TG_FIND_CONSTANT && record->kind == TG_KIND_TENSOR)
            cli_print(", the first at %s", cli_element_at(&where, record, finding->first));
    } else if (finding->first == TG_NONE) {
        cli_print("changed");
    } else {
        cli_print("%s changed, the first at %s",
                  cli_format_count(&count, finding->count, "element"),
                  cli_element_at(&where, record, finding->first));
    }
}

static void put_record(const struct cli_find *find, const char *label, uint64_t record)
{
    struct tg_entry entry;
    struct cli_words task, argument;
    if (!tg_recording_get(find->recording, record, &entry))
        return;
    cli_print("    %-12srecord %" PRIu64 ", %s, %s", label, record, cli_task_words(&task, &entry),
              cli_argument_words(&argument, &entry.record));
}

/* The inputs of the task, and the task that wrote each of them. */
static void put_feeds(const struct cli_find *find, uint64_t number)
{
    struct tg_find_feed feed;
    struct tg_entry entry, from;
    struct cli_words words;
    for (uint64_t i = 0; tg_find_get_feed(find->find, number, i, &feed); i++) {
        if (!tg_recording_get(find->recording, feed.record, &entry))
            continue;
        cli_print("    %-12srecord %" PRIu64 ", %s: ", i == 0 ? "fed by" : "", feed.record,
                  cli_argument_words(&words, &entry.record));
        if (!feed.is_known)
            cli_print("not stored");
        else if (feed.count > 0)
            cli_print("%" PRIu64 " %s", feed.count, noun(find->find_kind));
        else
            cli_print("clean");
        if (feed.from != TG_NONE && tg_recording_get(find->recording, feed.from, &from))
            cli_print("; from %s, record %" PRIu64, cli_task_words(&words, &from), feed.from);
        else if (entry.record.kind == TG_KIND_TENSOR && entry.record.data_ptr != 0)
            cli_print("; from outside");
        cli_print("\n");
    }
}

/* The inputs that a call has on other ranks. A tg_send leaves nothing. */
static void put_other_ranks(const struct tg_entry *entry)
{
    if (entry->record.stage != TG_AFTER_COMPLETION)
        return;
    for (uint32_t kind = 0; kind < TG_COMM_KINDS; kind++)
        for (int part = 0; part < TG_PARTS; part++)
            if (entry->kernel[part] && strcmp(entry->kernel[part], tg_comm_kind_name(kind)) == 0)
                cli_print("    %-12swhat other ranks gave to it, which is in their recordings\n",
                          "and by");
}

static void put_stomp(const struct cli_find *find, uint64_t number,
                      const struct tg_find_finding *finding)
{
    put_record(find, "was", finding->before);
    cli_print("\n");
    if (finding->writer != TG_NONE && finding->writer != finding->before) {
        put_record(find, "written by", finding->writer);
        cli_print("\n");
    }
    cli_find_print_suspects(find, number);
}

static const char *trace_words(const struct cli_find *find, enum tg_trace trace)
{
    static const char *const words[] = {
        [TG_TRACE_ORIGIN] = "began here",
        [TG_TRACE_GIVEN] = "came in here",
        [TG_TRACE_UNCLEAR] = "unknown origin",
        [TG_TRACE_INHERITED] = "inherited",
    };
    if (find->find_kind == TG_FIND_STOMP)
        return tg_find_kind_name(find->find_kind);
    return words[trace];
}

/* "unwritten" accuses; everything else is a fact or a possibility. */
static const char *unwritten_words(const struct tg_find_finding *finding)
{
    if (finding->is_proved)
        return "unwritten";
    return finding->trace == TG_TRACE_INHERITED ? "passed on" : "possible";
}

static void put_finding(const struct cli_find *find, uint64_t number,
                        const struct tg_find_finding *finding, const struct tg_entry *entry)
{
    struct cli_words task, argument;
    bool is_loud = find->find_kind == TG_FIND_UNWRITTEN ? finding->is_proved
                                                        : finding->trace != TG_TRACE_INHERITED &&
                                                              find->find_kind != TG_FIND_CONSTANT;
    cli_print("  %s%s%s: %s, record %" PRIu64 ", %s: ", is_loud ? cli_color(stdout, CLI_RED) : "",
              find->find_kind == TG_FIND_UNWRITTEN ? unwritten_words(finding)
                                                   : trace_words(find, finding->trace),
              is_loud ? cli_color(stdout, CLI_PLAIN) : "", cli_task_words(&task, entry),
              finding->record, cli_argument_words(&argument, &entry->record));
    put_what(find, finding, &entry->record);
    cli_print("\n");
    if (find->find_kind == TG_FIND_STOMP) {
        put_stomp(find, number, finding);
    } else if (find->find_kind != TG_FIND_UNWRITTEN &&
               (finding->trace == TG_TRACE_ORIGIN || finding->trace == TG_TRACE_UNCLEAR)) {
        put_feeds(find, number);
        put_other_ranks(entry);
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

/* True if for each finding that is shown it is known who did it: a replay would add nothing. */
static bool is_solved(const struct cli_find *find)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    uint64_t shown = 0;
    for (uint64_t i = 0;
         shown < find->limit.number && tg_find_answer_next(find->answer, &i, &finding, &entry);
         i++, shown++)
        if (!cli_find_is_solved(find, i))
            return false;
    return true;
}

static void put_notes(const struct cli_find *find, const struct tg_recording_info *info)
{
    struct tg_note note;
    for (unsigned i = 0; tg_find_answer_note(find->answer, i, &note); i++)
        cli_print("  note: %s\n", note.text);
    if (*find->not_replayed && !find->no_replay && !is_solved(find))
        cli_print("  note: no suspect was replayed: %s\n", find->not_replayed);
    cli_recording_print_notes(info);
    if (*find->is.reason)
        cli_print("  %s\n", find->is.reason);
}

static void put_count_of_findings(const struct cli_find *find)
{
    struct cli_text found;
    const char *comma = "";
    if (find->find_kind == TG_FIND_UNWRITTEN && find->is.proved > 0) {
        cli_print("%" PRIu64 " proved", find->is.proved);
        comma = ", ";
    }
    if (find->find_kind == TG_FIND_UNWRITTEN && find->is.possible > 0) {
        cli_print("%s%" PRIu64 " possible", comma, find->is.possible);
        comma = ", ";
    }
    if (find->find_kind == TG_FIND_UNWRITTEN && find->is.passed_on > 0)
        cli_print("%s%" PRIu64 " passed on", comma, find->is.passed_on);
    if (find->find_kind != TG_FIND_UNWRITTEN)
        cli_print("%s", cli_format_count(&found, find->is.found,
                                         find->find_kind == TG_FIND_CONSTANT ? "constant output"
                                                                             : "finding"));
    cli_print(", in the order of %s\n", find->info.order);
}

/* "nothing found" alone says that everything was looked at. */
static void put_nothing(const struct cli_find *find, const struct tg_recording_info *info)
{
    if (find->is.looked_at == 0 && info->records == 0)
        cli_print("nothing recorded, ");
    cli_print("%s\n", find->is.result);
}

static void put_head(const struct cli_find *find, const struct tg_recording_info *info)
{
    struct cli_text looked;
    struct cli_shown dir;
    bool is_good = find->is.exit_code == 0;
    cli_print("%s%s%s  %s: %s searched, ", cli_color(stdout, is_good ? CLI_GREEN : CLI_RED),
              tg_find_kind_name(find->find_kind), cli_color(stdout, CLI_PLAIN),
              cli_show(&dir, info->dir), cli_format_count(&looked, find->is.looked_at, "record"));
    if (find->is.found == 0)
        put_nothing(find, info);
    else
        put_count_of_findings(find);
}

/* Prints the findings that show an origin first, then those that inherited from another task. */
void cli_find_print(const struct cli_find *find)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    struct tg_recording_info info;
    uint64_t shown = 0;
    tg_recording_get_info(find->recording, &info);
    put_head(find, &info);
    for (int inherited = 0; inherited < 2; inherited++)
        for (uint64_t i = 0; tg_find_answer_next(find->answer, &i, &finding, &entry); i++)
            if ((finding.trace == TG_TRACE_INHERITED) == inherited && shown++ < find->limit.number)
                put_finding(find, i, &finding, &entry);
    if (shown > find->limit.number)
        cli_print("  and %" PRIu64 " more; --all shows them\n", shown - find->limit.number);
    put_notes(find, &info);
}
