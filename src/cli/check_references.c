/* SPDX-License-Identifier: Apache-2.0 */
/* Compares recorded tasks with the references of their kernels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/replay.h>

#include "cli/check.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/trust.h"

/* More failures than this are counted, but not listed. */
enum { DIFFERS = 1, MOST_ROWS = 20, MOST_LEFT = 3, MOST_FAILURES = 10000 };

/* ── counting ──────────────────────────────────────────────────────────────────────────── */

/* Makes room for one more element of a growing array. */
static bool grow(struct check_tally *tally, void **array, size_t count, size_t *room, size_t size)
{
    void *larger;
    if (count < *room)
        return true;
    larger = realloc(*array, (*room ? 2 * *room : 16) * size);
    if (!larger) {
        tally->out_of_memory = true;
        return false;
    }
    *array = larger;
    *room = *room ? 2 * *room : 16;
    return true;
}

/* Neighbouring tasks often have the same kernel. SIZE_MAX: out of memory. */
static size_t kernel_of(struct check_tally *tally, const char *name)
{
    if (tally->n_kernels > 0 && strcmp(tally->kernel[tally->last].name, name) == 0)
        return tally->last;
    for (size_t i = 0; i < tally->n_kernels; i++)
        if (strcmp(tally->kernel[i].name, name) == 0)
            return tally->last = i;
    if (!grow(tally, (void **)&tally->kernel, tally->n_kernels, &tally->room_kernels,
              sizeof *tally->kernel))
        return SIZE_MAX;
    tally->last = tally->n_kernels++;
    memset(&tally->kernel[tally->last], 0, sizeof *tally->kernel);
    snprintf(tally->kernel[tally->last].name, sizeof tally->kernel->name, "%s", name);
    return tally->last;
}

static void keep_failure(struct check_tally *tally, struct check_failures *failures, size_t kernel,
                         const struct tg_reference_task *task)
{
    struct check_failure *failure;
    if (failures->count == MOST_FAILURES || !grow(tally, (void **)&failures->list, failures->count,
                                                  &failures->room, sizeof *failures->list))
        return;
    failure = &failures->list[failures->count];
    *failure = (struct check_failure){task->task, kernel, strdup(task->why ? task->why : "failed")};
    if (failure->why)
        failures->count++;
    else
        tally->out_of_memory = true;
}

static void free_failures(struct check_failures *failures)
{
    for (size_t i = 0; i < failures->count; i++)
        free(failures->list[i].why);
    free(failures->list);
}

/* ── wrong tasks ───────────────────────────────────────────────────────────────────────── */

static void print_wrong(const struct tg_reference_task *task)
{
    const struct tg_output_check *check = &task->check;
    struct cli_words id;
    cli_print("  %swrong%s  task %s  %s  argument %" PRIu32 ": %" PRIu64 " of %" PRIu64
              " elements, first at %" PRIu64 ": %.9g, reference %.9g; max error %.3g\n",
              cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN),
              cli_record_task(&id, task->task), task->kernel, task->argument, check->mismatches,
              check->elements, check->first, check->first_got, check->first_expected,
              check->max_error);
}

static void put_wrong(struct tg_json *json, const struct tg_reference_task *task)
{
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", task->task);
    tg_json_put_string(json, "kernel", task->kernel);
    tg_json_put_uint(json, "arg_index", task->argument);
    tg_json_put_uint(json, "mismatches", task->check.mismatches);
    tg_json_put_uint(json, "elements", task->check.elements);
    tg_json_put_real(json, "max_error", task->check.max_error);
    tg_json_put_uint(json, "first", task->check.first);
    tg_json_put_real(json, "got", task->check.first_got);
    tg_json_put_real(json, "reference", task->check.first_expected);
    tg_json_end_object(json);
}

/* How many wrong tasks are shown. */
static uint64_t most_rows(const struct check_tally *tally)
{
    if (tally->request->all)
        return UINT64_MAX;
    return tally->request->limit.given ? tally->request->limit.number : MOST_ROWS;
}

/* tg_send, tg_all_reduce and so on: what such a task left came from other ranks too. */
static bool is_communication(const char *kernel)
{
    const char *call;
    for (uint32_t i = 0; (call = tg_comm_kind_name(i)); i++)
        if (strcmp(kernel, call) == 0)
            return true;
    return false;
}

static int tell(void *context, const struct tg_reference_task *task)
{
    struct check_tally *tally = context;
    if (task->is == TG_REFERENCE_NONE && is_communication(task->kernel)) {
        tally->communication++;
        return 0;
    }
    size_t kernel = kernel_of(tally, task->kernel);
    if (kernel == SIZE_MAX)
        return 1;
    tg_reference_count(&tally->all, task);
    tg_reference_count(&tally->kernel[kernel].is, task);
    if (task->is == TG_REFERENCE_FAILED)
        keep_failure(tally, &tally->failed, kernel, task);
    if (task->is == TG_REFERENCE_INCOMPLETE && tally->left.count < most_rows(tally))
        keep_failure(tally, &tally->left, kernel, task);
    if (task->is != TG_REFERENCE_DIFFERS)
        return tally->out_of_memory;
    if (tally->request->json) {
        if (!tally->request->limit.given || tally->all.wrong <= tally->request->limit.number)
            put_wrong(&tally->json, task);
    } else if (tally->all.wrong <= most_rows(tally)) {
        cli_progress_erase(&tally->progress);
        print_wrong(task);
    }
    return tally->out_of_memory;
}

static int show(void *context, uint64_t checked, uint64_t tasks)
{
    struct check_tally *tally = context;
    cli_progress_show(&tally->progress, checked, tasks);
    return cli_interrupt_caught();
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

static void print_failures(const struct check_tally *tally, const struct check_failures *failures,
                           const char *word, const char *whose, size_t most)
{
    struct cli_words id;
    for (size_t i = 0; i < failures->count && (tally->request->all || i < most); i++)
        cli_print("  %s%s%s task %s  %s  %s%s\n", cli_color(stdout, CLI_RED), word,
                  cli_color(stdout, CLI_PLAIN), cli_record_task(&id, failures->list[i].task),
                  tally->kernel[failures->list[i].kernel].name, whose, failures->list[i].why);
}

static void print_without_verdict(const struct check_tally *tally)
{
    print_failures(tally, &tally->failed, "failed", "its reference ", (size_t)most_rows(tally));
    if (tally->all.failed > most_rows(tally))
        cli_print("  and %" PRIu64 " more references that failed; --all lists them\n",
                  tally->all.failed - most_rows(tally));
    print_failures(tally, &tally->left, "not checked", "", MOST_LEFT);
    if (!tally->request->all && tally->all.incomplete > MOST_LEFT)
        cli_print("  and %" PRIu64 " more tasks that were not checked; --all lists them\n",
                  tally->all.incomplete - MOST_LEFT);
}

static void print_sum(const struct check_tally *tally)
{
    const struct tg_reference_counts *all = &tally->all;
    struct tg_recording_info info;
    struct cli_text tasks;
    if (all->wrong > most_rows(tally))
        cli_print("  and %" PRIu64 " more wrong tasks; --all lists them\n",
                  all->wrong - most_rows(tally));
    print_without_verdict(tally);
    check_kernels_print(tally);
    cli_print("%s: %" PRIu64 " agree with their reference, %" PRIu64 " wrong",
              cli_format_count(&tasks, all->tasks, "task"), all->good, all->wrong);
    if (all->without > 0)
        cli_print(", %" PRIu64 " not checked: their kernels have no reference", all->without);
    if (all->incomplete > 0)
        cli_print(", %" PRIu64 " not checked: not recorded in full, or damaged", all->incomplete);
    if (all->failed > 0)
        cli_print(", %" PRIu64 " not checked: their reference failed", all->failed);
    if (all->empty > 0)
        cli_print(", %" PRIu64 " not checked: their outputs are empty", all->empty);
    cli_print("\n");
    if (tally->communication > 0)
        cli_print("  %" PRIu64 " %s communication: not checked\n", tally->communication,
                  tally->communication == 1 ? "task is" : "tasks are");
    tg_recording_get_info(tally->recording, &info);
    cli_recording_print_notes(&info);
    fflush(stdout); /* keeps it before what follows on stderr if both go to the same place */
}

static void put_failures(struct check_tally *tally, const char *name,
                         const struct check_failures *failures)
{
    struct tg_json *json = &tally->json;
    tg_json_key(json, name);
    tg_json_begin_array(json);
    for (size_t i = 0; i < failures->count; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "task_id", failures->list[i].task);
        tg_json_put_string(json, "kernel", tally->kernel[failures->list[i].kernel].name);
        tg_json_put_string(json, "why", failures->list[i].why);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void begin_json(struct check_tally *tally)
{
    tg_json_start(&tally->json, stdout);
    tg_json_begin_object(&tally->json);
    tg_json_key(&tally->json, "wrong");
    tg_json_begin_array(&tally->json);
}

static void end_json(struct check_tally *tally, const char *result, const char *reason)
{
    struct tg_json *json = &tally->json;
    struct tg_recording_info info;
    tg_json_end_array(json);
    put_failures(tally, "failed", &tally->failed);
    put_failures(tally, "not_checked", &tally->left);
    tg_json_put_uint(json, "tasks", tally->all.tasks);
    tg_json_put_uint(json, "communication", tally->communication);
    tg_json_put_uint(json, "good", tally->all.good);
    tg_json_put_uint(json, "wrong_count", tally->all.wrong);
    tg_json_put_uint(json, "without_reference", tally->all.without);
    tg_json_put_uint(json, "incomplete", tally->all.incomplete);
    tg_json_put_uint(json, "failed_count", tally->all.failed);
    tg_json_put_uint(json, "empty", tally->all.empty);
    check_kernels_put(tally, json);
    tg_json_put_string(json, "result", result);
    if (*reason)
        tg_json_put_string(json, "reason", reason);
    tg_recording_get_info(tally->recording, &info);
    tg_json_key(json, "left_out");
    tg_json_begin_array(json);
    cli_json_notes(json, &info);
    tg_json_end_array(json);
    tg_json_end_object(json);
    (void)tg_json_finish(json); /* main reports errors of stdout */
}

static int report(struct check_tally *tally)
{
    struct tg_reference_reason reason;
    const char *result = tg_reference_result(tally->recording, &tally->all, &reason);
    if (tally->request->json)
        end_json(tally, result, reason.text);
    else if (tally->all.tasks > 0)
        print_sum(tally);
    else if (!*reason.text)
        cli_print("nothing recorded, nothing found\n");
    if (*reason.text)
        return cli_error("not known: %s", reason.text);
    return tally->all.wrong > 0 ? DIFFERS : CLI_OK;
}

static int run(struct check_tally *tally, const struct tg_reference_config *config)
{
    struct tg_error error = {TG_OK, ""};
    tg_status status;
    if (tally->request->json)
        begin_json(tally);
    status = tg_reference_run(tally->recording, config, tell, tally, &error);
    cli_progress_erase(&tally->progress);
    if (status == TG_OK && !tally->out_of_memory)
        return report(tally);
    if (status == TG_OK)
        error = (struct tg_error){TG_NO_MEMORY, "out of host memory"};
    if (tally->request->json)
        end_json(tally, "not known", error.text);
    return cli_fail(&error);
}

int check_references(const struct cli *cli, const struct check_request *request,
                     const struct tg_recording *recording)
{
    struct check_tally tally = {.request = request, .recording = recording};
    struct tg_reference_config config = {.module = request->module,
                                         .limit = tg_settings_seconds(cli->settings, "timeout"),
                                         .sandbox = tg_settings_choice(cli->settings, "sandbox"),
                                         .progress = show,
                                         .progress_context = &tally,
                                         .ask = cli_trust_ask()};
    int code;
    cli_progress_init(&tally.progress, "check", "task");
    cli_interrupt_catch();
    code = run(&tally, &config);
    free_failures(&tally.failed);
    free_failures(&tally.left);
    free(tally.kernel);
    return code;
}
