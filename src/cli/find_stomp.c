/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass find stomp`: who did it, as text and as JSON, and the replay that may prove it. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/find.h"
#include "cli/format.h"
#include "cli/guard.h"
#include "cli/interrupt.h"
#include "cli/module_output.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/trust.h"

enum { SUSPECTS = 8, SUSPECTS_OF_JSON = 64 };

/* --- the replay ------------------------------------------------------------------------------- */

static int on_progress(void *progress, uint64_t done, uint64_t tasks)
{
    cli_progress_show(progress, done, tasks);
    return cli_interrupt_caught();
}

static tg_status replay(struct cli_find *find, struct tg_error *error)
{
    struct cli_progress progress;
    const struct tg_find_replay_config config = {.module = find->module,
                                                 .progress = on_progress,
                                                 .progress_context = &progress,
                                                 .ask = cli_trust_ask(),
                                                 .guard = cli_guard_call};
    cli_progress_init(&progress, "replay", "task");
    cli_interrupt_catch();
    cli_module_output_away();
    tg_status status = tg_find_answer_replay(find->answer, find->settings, &config, error);
    cli_module_output_back();
    cli_interrupt_pass_on();
    cli_progress_erase(&progress);
    return status;
}

/* A replay that is not possible leaves the suspects as they are. */
tg_status cli_find_replay(struct cli_find *find, struct tg_error *error)
{
    if (find->find_kind != TG_FIND_STOMP || find->is.found == 0)
        return TG_OK;
    if (find->no_replay) {
        snprintf(find->not_replayed, sizeof find->not_replayed, "--no-replay was given");
        return TG_OK;
    }
    tg_status status = cli_guard_start(cli_guard_limit(find->settings), error);
    find->is_guarded = true;
    if (status == TG_OK)
        status = replay(find, error);
    if (status == TG_OK || status == TG_CANCELLED || status == TG_NO_MEMORY)
        return status;
    snprintf(find->not_replayed, sizeof find->not_replayed, "%s", error->text);
    return TG_OK;
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put_task(const struct tg_find_suspect *suspect)
{
    struct cli_words task;
    const char *comma = " ";
    cli_print("task %s", cli_record_task(&task, suspect->task_id));
    for (int part = 0; part < TG_PARTS; part++)
        if (suspect->kernel[part] && *suspect->kernel[part]) {
            struct cli_shown name;
            cli_print("%s%s", comma, cli_show(&name, suspect->kernel[part]));
            comma = "+";
        }
}

/* Says nothing about an output that is far away: its distance means nothing. */
static void put_place(const struct tg_find_suspect *suspect)
{
    enum { FAR = 1 << 20 };
    struct cli_text bytes;
    const char *distance = cli_format_count(&bytes, suspect->distance, "byte");
    if (suspect->distance > FAR)
        return;
    if (suspect->place == TG_FIND_PLACE_GAP)
        cli_print("; the change is in a gap of its argument %" PRIu32, suspect->argument);
    else if (suspect->place == TG_FIND_PLACE_BEHIND && suspect->distance == 0)
        cli_print("; the change is right behind its argument %" PRIu32, suspect->argument);
    else if (suspect->place == TG_FIND_PLACE_BEFORE && suspect->distance == 0)
        cli_print("; the change is right before its argument %" PRIu32, suspect->argument);
    else if (suspect->place == TG_FIND_PLACE_BEHIND || suspect->place == TG_FIND_PLACE_BEFORE)
        cli_print("; the change is %s %s its argument %" PRIu32, distance,
                  tg_find_place_name(suspect->place), suspect->argument);
}

static void put_replay(const struct tg_find_suspect *suspect)
{
    struct cli_shown said;
    if (suspect->replayed == TG_FIND_REPLAYED_CONVICTS)
        cli_print("; replayed, it writes these bytes: %s", cli_show(&said, suspect->misuse));
    else if (suspect->replayed == TG_FIND_REPLAYED_STRAYS)
        cli_print("; replayed, it leaves its arguments elsewhere: %s",
                  cli_show(&said, suspect->misuse));
    else if (suspect->replayed == TG_FIND_REPLAYED_CLEARS)
        cli_print("; replayed, no stray write was seen");
    else if (suspect->replayed == TG_FIND_REPLAYED_FAILED)
        cli_print("; its replay says nothing: %s", cli_show(&said, suspect->misuse));
}

static void put_suspect(const struct tg_find_suspect *suspect)
{
    put_task(suspect);
    if (suspect->record == TG_NONE)
        cli_print(", which was not recorded");
    if (suspect->writes)
        cli_print(", which writes that memory");
    if (suspect->races)
        cli_print(" with no order to its reader");
    if (suspect->is_given)
        cli_print("; it was given bytes that changed");
    if (suspect->has_place)
        put_place(suspect);
    put_replay(suspect);
    if (suspect->is_late)
        cli_print("; it began while the change was being recorded");
}

bool cli_find_is_solved(const struct cli_find *find, uint64_t number)
{
    return tg_find_answer_rank(find->answer, number, find->trouble) == TG_OK &&
           tg_find_answer_evidence(find->answer, number) != TG_FIND_EVIDENCE_NONE;
}

void cli_find_print_suspects(const struct cli_find *find, uint64_t number)
{
    struct tg_find_suspect suspect;
    uint64_t i = 0;
    if (tg_find_answer_rank(find->answer, number, find->trouble) != TG_OK) {
        cli_print("    %-12snot known\n", "between");
        return;
    }
    enum tg_find_evidence evidence = tg_find_answer_evidence(find->answer, number);
    if (evidence != TG_FIND_EVIDENCE_NONE &&
        tg_find_answer_suspect(find->answer, number, 0, &suspect)) {
        cli_print("    %-12s%s", "by", cli_color(stdout, CLI_RED));
        put_task(&suspect);
        cli_print("%s: %s\n", cli_color(stdout, CLI_PLAIN), tg_find_evidence_text(evidence));
    }
    for (; tg_find_answer_suspect(find->answer, number, i, &suspect); i++) {
        if (i >= SUSPECTS && !find->all)
            continue;
        cli_print("    %-12s", i == 0 ? "between" : "");
        put_suspect(&suspect);
        cli_print("\n");
    }
    if (i == 0)
        cli_print("    %-12sno task that is known\n", "between");
    if (i > SUSPECTS && !find->all)
        cli_print("    %-12sand %" PRIu64 " more\n", "", i - SUSPECTS);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static void put_kernels(struct tg_json *json, const struct tg_find_suspect *suspect)
{
    tg_json_key(json, "kernel");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (suspect->kernel[part])
            tg_json_string(json, suspect->kernel[part]);
    tg_json_end_array(json);
}

static void put_word(struct tg_json *json, const char *key, const char *word)
{
    tg_json_put_string(json, key, *word ? word : NULL);
}

static void put_suspect_json(struct tg_json *json, const struct tg_find_suspect *suspect)
{
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", suspect->task_id);
    put_kernels(json, suspect);
    tg_json_put_bool(json, "recorded", suspect->record != TG_NONE);
    tg_json_put_bool(json, "writes", suspect->writes);
    tg_json_put_bool(json, "races", suspect->races);
    tg_json_put_bool(json, "given", suspect->is_given);
    tg_json_put_bool(json, "late", suspect->is_late);
    cli_json_index(json, "arg_index", suspect->has_place ? suspect->argument : TG_NONE);
    put_word(json, "place", tg_find_place_name(suspect->place));
    cli_json_index(json, "distance", suspect->has_place ? suspect->distance : TG_NONE);
    put_word(json, "replay", tg_find_replayed_name(suspect->replayed));
    put_word(json, "misuse", suspect->misuse);
    tg_json_end_object(json);
}

static void put_culprit(struct tg_json *json, const struct tg_find_suspect *suspect,
                        enum tg_find_evidence evidence)
{
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", suspect->task_id);
    put_kernels(json, suspect);
    tg_json_put_string(json, "evidence", tg_find_evidence_name(evidence));
    tg_json_end_object(json);
}

void cli_find_json_suspects(const struct cli_find *find, struct tg_json *json, uint64_t number)
{
    struct tg_find_suspect suspect;
    uint64_t i = 0;
    bool is_known = tg_find_answer_rank(find->answer, number, find->trouble) == TG_OK;
    tg_json_key(json, "culprit");
    if (is_known && cli_find_is_solved(find, number) &&
        tg_find_answer_suspect(find->answer, number, 0, &suspect))
        put_culprit(json, &suspect, tg_find_answer_evidence(find->answer, number));
    else
        tg_json_null(json);
    tg_json_key(json, "suspects");
    if (!is_known) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_array(json);
    for (; tg_find_answer_suspect(find->answer, number, i, &suspect); i++)
        if (i < SUSPECTS_OF_JSON)
            put_suspect_json(json, &suspect);
    tg_json_end_array(json);
    tg_json_put_uint(json, "suspects_left_out", i > SUSPECTS_OF_JSON ? i - SUSPECTS_OF_JSON : 0);
}
