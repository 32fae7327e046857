/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/term.h"
#include "cli/view.h"

static void add(struct tg_record_summary *summary, const struct tg_record *record)
{
    uint64_t *stage[] = {&summary->before_dispatch, &summary->after_completion,
                         &summary->orchestration};
    uint64_t *role[] = {&summary->inputs, &summary->inputs, &summary->outputs, &summary->inouts};
    summary->recorded++;
    ++*stage[record->stage < 3 ? record->stage : 2];
    if (record->kind == TG_KIND_SCALAR)
        summary->scalars++;
    else
        ++*role[record->role < 4 ? record->role : 0];
    summary->truncated += (record->flags & TG_RECORD_TRUNCATED) != 0;
    summary->overwritten += (record->flags & TG_RECORD_OVERWRITTEN) != 0;
    summary->payload_bytes += record->stored;
}

/* Trusts the recording's summary, because reading a million records takes too long for a summary;
 * `taskglass verify` checks the summary. */
void view_count(const struct view *view, struct view_counts *counts)
{
    struct tg_entry entry;
    *counts = (struct view_counts){.summary = view->info.summary,
                                   .cut_off = tg_recording_cut_off(view->recording)};
    bool everything = tg_query_is_empty(view->query);
    if (everything && view->info.complete && view->info.from_journal &&
        view->info.summary.recorded == view->info.records) {
        counts->damaged = view->info.damaged;
        counts->summary.payload_bytes = tg_recording_stored(view->recording);
        return;
    }
    struct tg_record_summary *summary = &counts->summary;
    *summary = (struct tg_record_summary){0};
    memcpy(summary->lost, view->info.summary.lost, sizeof summary->lost);
    summary->attempted = view->info.summary.attempted;
    for (uint64_t i = 0; tg_query_next(view->query, view->recording, &i, &entry); i++)
        add(summary, &entry.record);
    if (everything)
        counts->damaged = view->info.damaged;
    if (summary->payload_bytes > view->info.payload_bytes)
        summary->payload_bytes = view->info.payload_bytes; /* records that share bytes */
}

static void put_label(const char *label)
{
    cli_print("  %-9s", label);
}

static void put_state(const struct view *view)
{
    const char *state = tg_recording_state_name(view->info.state);
    put_label("state");
    if (view->info.state == TG_RECORDING_FINISHED)
        cli_print("%s, ", state);
    else if (view->info.state != TG_RECORDING_UNKNOWN)
        cli_print("%s%s%s, ", cli_color(stdout, CLI_RED), state, cli_color(stdout, CLI_PLAIN));
    if (view->info.complete)
        cli_print("complete");
    else
        cli_print("%sINCOMPLETE%s: these are the records written so far",
                  cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN));
    if (view->info.level != 0)
        cli_print(", level %s", tg_level_name(view->info.level));
    if (view->info.foreign)
        cli_print(", written by another implementation: no hashes");
    cli_print("\n");
    if (view->info.from_journal && !*view->info.manifest &&
        view->info.state != TG_RECORDING_RUNNING) {
        struct cli_shown dir;
        put_label("");
        cli_print("there is no manifest; to write it, type: taskglass recover %s\n",
                  cli_show_word(&dir, view->info.dir));
    }
}

static void put_records(const struct view *view, const struct tg_record_summary *summary)
{
    put_label("records");
    cli_print("%" PRIu64, summary->recorded);
    if (!tg_query_is_empty(view->query))
        cli_print(" of %" PRIu64 " selected", view->info.records);
    cli_print(": %" PRIu64 " before dispatch, %" PRIu64 " after completion",
              summary->before_dispatch, summary->after_completion);
    if (summary->orchestration > 0)
        cli_print(", %" PRIu64 " given to or read by the orchestration", summary->orchestration);
    cli_print("\n");
    put_label("tensors");
    cli_print("%" PRIu64 " in, %" PRIu64 " out, %" PRIu64 " inout; %" PRIu64 " scalar%s\n",
              summary->inputs, summary->outputs, summary->inouts, summary->scalars,
              summary->scalars == 1 ? "" : "s");
}

static void put_payload(const struct view *view, const struct tg_record_summary *summary)
{
    struct cli_text bytes;
    put_label("payload");
    if (!*view->info.payload)
        cli_print("none\n");
    else
        cli_print("%s in %s\n", cli_format_bytes(&bytes, summary->payload_bytes),
                  view->info.payload);
    if (summary->record_ns > 0) {
        struct cli_text record, wait;
        put_label("recorder");
        cli_print("%s on the cores",
                  cli_format_seconds(&record, (double)summary->record_ns * 1e-9));
        cli_print(", %s of it waiting\n",
                  cli_format_seconds(&wait, (double)summary->wait_ns * 1e-9));
    }
}

static void put_causes(const struct tg_record_summary *summary)
{
    const char *separator = ": ";
    for (int i = 0; i < TG_LOSS_CAUSES; i++) {
        if (summary->lost[i] == 0)
            continue;
        cli_print("%s%" PRIu64 " %s", separator, summary->lost[i], tg_loss_name((unsigned)i));
        separator = ", ";
    }
}

static void put_loud(uint64_t count, const char *word, const char *noun)
{
    struct cli_text text;
    put_label("");
    cli_print("%s%s%s %s", cli_color(stdout, CLI_RED), word, cli_color(stdout, CLI_PLAIN),
              cli_format_count(&text, count, noun));
}

static void put_losses(const struct view *view, const struct view_counts *counts)
{
    const struct tg_record_summary *summary = &counts->summary;
    uint64_t lost = cli_recording_lost(summary);
    if (lost > 0) {
        put_loud(lost, "LOST", "record");
        put_causes(summary);
        cli_print("\n");
    }
    if (summary->truncated > 0) {
        put_loud(summary->truncated, "TRUNCATED", "payload");
        cli_print(": only the beginning is stored\n");
    }
    if (summary->overwritten > 0) {
        put_loud(summary->overwritten, "OVERWRITTEN", "payload");
        cli_print(": newer payloads replaced these before the host read them\n");
    }
    if (counts->cut_off > 0) {
        put_loud(counts->cut_off, "CUT OFF", "payload");
        cli_print(": the payload file is %s; 'taskglass verify' says where\n",
                  *view->info.payload ? "too short" : "missing");
    }
    if (counts->damaged > 0) {
        put_loud(counts->damaged, "DAMAGED", "record");
        cli_print(": not shown; 'taskglass verify' says where\n");
    }
}

/* How the run ended if not by itself, and why no task has a record. */
static void put_lack(const struct view *view, const struct tg_record_summary *summary)
{
    bool is_ended =
        view->info.state == TG_RECORDING_FINISHED || view->info.state == TG_RECORDING_UNKNOWN;
    struct tg_note note;
    const char *why = tg_recording_why_empty(view->recording);
    if (!is_ended) {
        put_label("");
        if (tg_recording_note(&view->info, 0, &note))
            cli_print("%s\n", note.text);
    }
    if (why && summary->before_dispatch + summary->after_completion == 0 &&
        tg_query_is_empty(view->query)) {
        put_label("");
        cli_print("no record of a task: %s\n", why);
    }
}

void view_print_summary(const struct view *view)
{
    struct view_counts counts;
    struct cli_shown dir;
    char name[256];
    view_count(view, &counts);
    cli_recording_name(&view->info, name, sizeof name);
    cli_print("%s%s%s  %s\n", cli_color(stdout, CLI_BOLD), name, cli_color(stdout, CLI_PLAIN),
              cli_show(&dir, view->info.dir));
    put_state(view);
    put_records(view, &counts.summary);
    put_payload(view, &counts.summary);
    put_losses(view, &counts);
    put_lack(view, &counts.summary);
}
