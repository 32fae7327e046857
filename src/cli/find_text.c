/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `taskglass find` as text. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/find.h"
#include "cli/format.h"

enum { NEIGHBOURS = 8 };

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

static void put_what(const struct cli_find *find, const struct tg_find_finding *finding,
                     const struct tg_record *record)
{
    struct cli_words where;
    struct cli_text count;
    if (find->find_kind == TG_FIND_UNWRITTEN) {
        printf("%s", tg_sign_text(finding->sign));
        if (finding->before != TG_NONE)
            printf(" (record %" PRIu64 ")", finding->before);
    } else if (find->find_kind != TG_FIND_STOMP) {
        printf("%" PRIu64 " %s", finding->count, noun(find->find_kind));
        if (find->find_kind != TG_FIND_CONSTANT && record->kind == TG_KIND_TENSOR)
            printf(", the first at %s", cli_element_at(&where, record, finding->first));
    } else if (finding->first == TG_NONE) {
        printf("changed");
    } else {
        printf("%s changed, the first at %s", cli_format_count(&count, finding->count, "element"),
               cli_element_at(&where, record, finding->first));
    }
}

static void put_record(const struct cli_find *find, const char *label, uint64_t record)
{
    struct tg_entry entry;
    struct cli_words task, argument;
    if (!tg_recording_get(find->recording, record, &entry))
        return;
    printf("    %-12srecord %" PRIu64 ", %s, %s", label, record, cli_task_words(&task, &entry),
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
        printf("    %-12srecord %" PRIu64 ", %s: ", i == 0 ? "fed by" : "", feed.record,
               cli_argument_words(&words, &entry.record));
        if (!feed.is_known)
            printf("not stored");
        else if (feed.count > 0)
            printf("%" PRIu64 " %s", feed.count, noun(find->find_kind));
        else
            printf("clean");
        if (feed.from != TG_NONE && tg_recording_get(find->recording, feed.from, &from))
            printf("; from %s, record %" PRIu64, cli_task_words(&words, &from), feed.from);
        else if (entry.record.kind == TG_KIND_TENSOR && entry.record.data_ptr != 0)
            printf("; from outside");
        putchar('\n');
    }
}

static void put_stomp(const struct cli_find *find, uint64_t number,
                      const struct tg_find_finding *finding)
{
    struct tg_find_between between;
    struct tg_entry entry;
    struct cli_words words;
    uint64_t i = 0;
    put_record(find, "was", finding->before);
    putchar('\n');
    if (finding->writer != TG_NONE && finding->writer != finding->before) {
        put_record(find, "written by", finding->writer);
        putchar('\n');
    }
    for (; tg_find_get_between(find->find, number, i, &between); i++) {
        if (i >= NEIGHBOURS && !find->all)
            continue;
        if (tg_recording_get(find->recording, between.record, &entry))
            printf("    %-12s%s%s\n", i == 0 ? "between" : "", cli_task_words(&words, &entry),
                   between.writes ? ", which writes that memory" : "");
    }
    if (i == 0)
        printf("    %-12sno recorded task\n", "between");
    if (i > NEIGHBOURS && !find->all)
        printf("    %-12sand %" PRIu64 " more\n", "", i - NEIGHBOURS);
}

static const char *trace_words(const struct cli_find *find, enum tg_trace trace)
{
    static const char *const words[] = {
        [TG_TRACE_ORIGIN] = "began here",
        [TG_TRACE_GIVEN] = "came in here",
        [TG_TRACE_UNCLEAR] = "unknown origin",
        [TG_TRACE_INHERITED] = "inherited",
    };
    bool is_local = find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP;
    return is_local ? tg_find_kind_name(find->find_kind) : words[trace];
}

static void put_finding(const struct cli_find *find, uint64_t number,
                        const struct tg_find_finding *finding, const struct tg_entry *entry)
{
    struct cli_words task, argument;
    bool is_loud = finding->trace != TG_TRACE_INHERITED;
    printf("  %s%s%s: %s, record %" PRIu64 ", %s: ", is_loud ? cli_color(stdout, CLI_RED) : "",
           trace_words(find, finding->trace), is_loud ? cli_color(stdout, CLI_PLAIN) : "",
           cli_task_words(&task, entry), finding->record,
           cli_argument_words(&argument, &entry->record));
    put_what(find, finding, &entry->record);
    putchar('\n');
    if (find->find_kind == TG_FIND_STOMP)
        put_stomp(find, number, finding);
    else if (finding->trace == TG_TRACE_ORIGIN || finding->trace == TG_TRACE_UNCLEAR)
        if (find->find_kind != TG_FIND_UNWRITTEN)
            put_feeds(find, number);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void put_notes(const struct cli_find *find)
{
    struct cli_text records;
    if (find->info.not_stored > 0)
        printf("  note: %s could not be searched: %s\n",
               cli_format_count(&records, find->info.not_stored, "record"),
               find->find_kind == TG_FIND_UNWRITTEN || find->find_kind == TG_FIND_STOMP
                   ? "neither stored whole nor hashed"
                   : "not stored whole");
    if (*find->info.deps_error)
        printf("  note: %s\n", find->info.deps_error);
}

static void put_head(const struct cli_find *find)
{
    struct tg_recording_info info;
    struct cli_text looked, found;
    tg_recording_get_info(find->recording, &info);
    printf("%s%s%s  %s: %s searched, ", cli_color(stdout, find->found ? CLI_RED : CLI_GREEN),
           tg_find_kind_name(find->find_kind), cli_color(stdout, CLI_PLAIN), info.dir,
           cli_format_count(&looked, find->info.looked_at, "record"));
    if (find->found == 0)
        printf("nothing found\n");
    else
        printf("%s, in the order of %s\n", cli_format_count(&found, find->found, "finding"),
               find->info.order);
}

/* Prints the findings that show an origin first, then those that inherited from another task. */
void cli_find_print(const struct cli_find *find)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    uint64_t shown = 0;
    put_head(find);
    for (int inherited = 0; inherited < 2; inherited++)
        for (uint64_t i = 0; cli_find_next(find, &i, &finding, &entry); i++)
            if ((finding.trace == TG_TRACE_INHERITED) == inherited && shown++ < find->limit.number)
                put_finding(find, i, &finding, &entry);
    if (shown > find->limit.number)
        printf("  and %" PRIu64 " more; --all shows them\n", shown - find->limit.number);
    put_notes(find);
}
