/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass replay --all: every recorded task again, alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/guard.h"
#include "cli/interrupt.h"
#include "cli/module_output.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/replay.h"
#include "cli/trust.h"

/* Verdicts of more kinds than this are counted, but not grouped. */
enum { DIFFERS = 1, MOST_GROUPS = 1000 };

/* ── groups ────────────────────────────────────────────────────────────────────────────── */

void replay_describe(const struct tg_replay_verdict *verdict, char *text, size_t size)
{
    const struct tg_replay_output *output = &verdict->output;
    const struct tg_output_check *check = &output->check;
    char at[200];
    text[0] = '\0';
    if (verdict->is == TG_REPLAY_DIFFERS) {
        replay_coordinates(output, check->first, at, sizeof at);
        snprintf(text, size,
                 "%" PRIu64 " of %" PRIu64 " elements differ, first at (%s): %.9g, recorded %.9g; "
                 "max error %.3g",
                 check->mismatches, check->elements, at, check->first_got, check->first_expected,
                 check->max_error);
    } else if (verdict->is == TG_REPLAY_VARIES && output->varied > 0) {
        snprintf(text, size,
                 "not deterministic: %" PRIu64 " of %" PRIu32
                 " runs gave a result other than that of the first",
                 output->varied, verdict->runs);
    } else if (verdict->why) {
        snprintf(text, size, "%s", verdict->why);
    }
}

/* The argument and, of misuse, the kind that a group is about. */
static void key_of(const struct tg_replay_verdict *verdict, uint32_t finding,
                   struct replay_group *key)
{
    key->is = verdict->is;
    key->argument = UINT32_MAX;
    key->kind = 0;
    if (verdict->is == TG_REPLAY_DIFFERS || verdict->output.varied > 0)
        key->argument = verdict->output.argument;
    if (verdict->is == TG_REPLAY_MISUSE && finding < verdict->n_findings) {
        key->argument = verdict->finding[finding].argument;
        key->kind = verdict->finding[finding].kind;
    }
}

/* True if two texts differ at most in their hexadecimal numbers, which are addresses. */
static bool is_alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789abcdef";
    while (*a && *a == *b) {
        bool is_number = strncmp(a, "0x", 2) == 0 && strncmp(b, "0x", 2) == 0;
        a += is_number ? 2 + strspn(a + 2, digits) : 1;
        b += is_number ? 2 + strspn(b + 2, digits) : 1;
    }
    return *a == *b;
}

/* Tasks that fault or could not be judged are alike if the reason is. */
static bool is_same(const struct replay_group *group, const struct replay_group *key)
{
    if (group->is != key->is || group->argument != key->argument || group->kind != key->kind ||
        strcmp(group->kernel, key->kernel) != 0)
        return false;
    return (key->is != TG_REPLAY_NOT_KNOWN && key->is != TG_REPLAY_FAULTS) ||
           is_alike(group->text, key->text);
}

/* Adds a task to its group. A task with several findings of one kind counts once. */
static void add(struct replay_tally *tally, struct replay_group **list, size_t *count, size_t *room,
                const struct replay_group *key, uint64_t task)
{
    struct replay_group *larger;
    for (size_t i = 0; i < *count; i++) {
        struct replay_group *group = &(*list)[i];
        if (!is_same(group, key))
            continue;
        group->tasks += group->last != task;
        group->last = task;
        return;
    }
    if (*count == MOST_GROUPS) {
        tally->ungrouped++;
        return;
    }
    if (*count == *room) {
        larger = realloc(*list, (*room ? 2 * *room : 16) * sizeof **list);
        if (!larger) {
            tally->out_of_memory = true;
            return;
        }
        *list = larger;
        *room = *room ? 2 * *room : 16;
    }
    struct replay_group *group = &(*list)[*count];
    *group = *key;
    group->tasks = 1;
    group->first = group->last = task;
    group->kernel = strdup(key->kernel);
    group->text = strdup(key->text);
    ++*count;
    tally->out_of_memory |= !group->kernel || !group->text;
}

static void add_verdict(struct replay_tally *tally, const struct tg_replay_verdict *verdict)
{
    char kernel[sizeof verdict->kernel], text[1000];
    struct replay_group key = {.kernel = kernel, .text = text};
    uint32_t n = verdict->n_findings ? verdict->n_findings : 1;
    snprintf(kernel, sizeof kernel, "%s", verdict->kernel);
    for (uint32_t i = 0; i < n && !tally->out_of_memory; i++) {
        key_of(verdict, i, &key);
        replay_describe(verdict, text, sizeof text);
        if (i < verdict->n_findings)
            snprintf(text, sizeof text, "%s", verdict->finding[i].text);
        if (verdict->is == TG_REPLAY_NOT_KNOWN)
            add(tally, &tally->left, &tally->n_left, &tally->room_left, &key, verdict->task);
        else
            add(tally, &tally->group, &tally->n_groups, &tally->room_groups, &key, verdict->task);
    }
}

static void free_groups(struct replay_group *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(group[i].kernel);
        free(group[i].text);
    }
    free(group);
}

/* ── the replay ────────────────────────────────────────────────────────────────────────── */

static int tell(void *context, const struct tg_replay_verdict *verdict)
{
    struct replay_tally *tally = context;
    if (verdict->is == TG_REPLAY_SAME)
        return 0;
    add_verdict(tally, verdict);
    if (tally->document)
        replay_json_tell(tally, verdict);
    return tally->out_of_memory;
}

static int show(void *context, uint64_t done, uint64_t tasks)
{
    struct replay_tally *tally = context;
    cli_progress_show(&tally->progress, done, tasks);
    return cli_interrupt_caught();
}

static int report(struct replay_tally *tally)
{
    struct tg_replay_reason reason;
    const char *result = tg_replay_all_word(tally->recording, &tally->summary, &reason);
    if (tally->document)
        replay_json_end(tally, result, reason.text);
    else if (tally->summary.tasks > 0)
        replay_text_print(tally);
    else if (!*reason.text)
        cli_print("nothing recorded, nothing to replay\n");
    if (*reason.text)
        return tally->document ? CLI_USAGE : cli_error("not known: %s", reason.text);
    return strcmp(result, "same") == 0 ? CLI_OK : DIFFERS;
}

static int run(struct replay_tally *tally, const struct tg_settings *settings,
               const struct tg_replay_all_config *config)
{
    struct tg_error error = {TG_NO_MEMORY, "out of host memory"};
    tg_status status;
    if (tally->request->json && !replay_json_begin(tally))
        return cli_fail(&error);
    if (tally->request->json)
        cli_module_output_away();
    status =
        tg_replay_all(settings, tally->recording, config, tell, tally, &tally->summary, &error);
    cli_module_output_back();
    cli_progress_erase(&tally->progress);
    if (status == TG_OK && !tally->out_of_memory)
        return report(tally);
    if (status == TG_OK)
        error = (struct tg_error){TG_NO_MEMORY, "out of host memory"};
    if (tally->document)
        replay_json_end(tally, "not known", error.text);
    return cli_fail(&error);
}

int replay_all(const struct cli *cli, const struct tg_recording *recording,
               const struct replay_request *request)
{
    struct replay_tally tally = {.request = request, .recording = recording};
    struct tg_replay_all_config config = {.module = request->config.module,
                                          .query = request->query,
                                          .guarded = request->guard,
                                          .repeat = request->config.repeat,
                                          .workers = request->workers,
                                          .progress = show,
                                          .progress_context = &tally,
                                          .ask = cli_trust_ask(),
                                          .guard = cli_guard_call};
    int code;
    cli_progress_init(&tally.progress, "replay", "task");
    cli_interrupt_catch();
    code = run(&tally, cli->settings, &config);
    free_groups(tally.group, tally.n_groups);
    free_groups(tally.left, tally.n_left);
    free(tally.bytes);
    return code;
}
