/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/run_ranks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/job.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/text.h>

#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/term.h"

/* At most this many ranks that failed are printed; ranks.json has all of them. */
enum { MOST_ROWS = 16 };

/* ── starting them ─────────────────────────────────────────────────────────────────────── */

bool cli_ranks_wanted(const struct tg_settings *settings)
{
    return tg_settings_count(settings, "ranks") > 0 && !tg_job_is_rank(settings);
}

static int caught(void *unused)
{
    (void)unused;
    return cli_interrupt_caught();
}

static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "?";
}

/* What only the launcher knows: which process was killed by what. The ranks that are left have said the rest. */
static void tell_killed(const struct tg_job_result *result)
{
    const struct tg_job_exit *first = &result->first;
    struct cli_shown shown;
    if (result->killed > 0)
        (void)cli_error("rank %" PRIu32 " (pid %" PRId64 ") was ended by signal %d, SIG%s%s",
                        first->rank, first->pid, first->signal, signal_name(first->signal),
                        result->killed > 1 ? "; others too" : "");
    if (result->stopped > 0)
        (void)cli_error("%" PRIu32 " of the other ranks did not end by themselves and were killed",
                        result->stopped);
    if ((result->killed > 0 || result->stopped > 0) && *result->output_dir)
        cli_print_to(stderr, "  %-9s%s\n", "files", cli_show(&shown, result->output_dir));
}

bool cli_ranks_has_stdout(void)
{
    const char *text = secure_getenv("TASKGLASS_LOCAL_RANK"); /* 1:RANK:… */
    return !text || strncmp(text, "1:", 2) != 0 || strtoul(text + 2, NULL, 10) == 0;
}

bool cli_ranks_is_another(void)
{
    const char *text = secure_getenv("TASKGLASS_LOCAL_RANK"); /* 1:RANK:RANKS:MEMORY:… */
    char *end;
    if (!text || cli_ranks_has_stdout())
        return false;
    (void)strtoul(text + 2, &end, 10);
    if (*end == ':')
        (void)strtoul(end + 1, &end, 10);
    return *end == ':' && fcntl((int)strtoul(end + 1, NULL, 10), F_GETFD) >= 0;
}

/* A rank that the user stopped has printed its report before it ended by that signal. */
static bool is_mute(int number)
{
    return number != 0 && number != SIGINT && number != SIGTERM && number != SIGHUP;
}

/* From ranks.json, which tg_job_launch has completed. */
static void print_for_ranks(const struct tg_job_result *result, struct tg_error *unsaid)
{
    struct tg_execution_ranks job = {.rank = UINT32_MAX};
    struct tg_ranks_rank *all = NULL;
    struct tg_ranks *ranks = NULL;
    struct tg_error error;
    if (*result->output_dir && tg_ranks_open(result->output_dir, &ranks, &error) == TG_OK) {
        tg_ranks_get_info(ranks, &job.info);
        all = calloc(job.info.ranks, sizeof *all);
    }
    if (all) {
        for (uint32_t r = 0; r < job.info.ranks; r++)
            (void)tg_ranks_get(ranks, r, &all[r]);
        job.ranks = job.info.ranks;
        job.status = job.info.status;
        job.all = all;
        cli_ranks_print_json(&job, "");
    } else {
        *unsaid = (struct tg_error){.status = TG_RANK_LOST};
        snprintf(unsaid->text, sizeof unsaid->text, "rank 0 was ended by signal %d, SIG%s",
                 result->rank0_signal, signal_name(result->rank0_signal));
    }
    free(all);
    tg_ranks_close(ranks);
}

int cli_ranks_launch(const struct cli *cli, bool json, struct tg_error *unsaid)
{
    *unsaid = (struct tg_error){TG_OK, ""};
    struct tg_job_result *result = calloc(1, sizeof *result);
    struct tg_error error = {TG_NO_MEMORY, "out of host memory for the ranks"};
    struct tg_job_config launch = {
        .ranks = (uint32_t)tg_settings_count(cli->settings, "ranks"),
        .argv = (const char *const *)cli->argv,
        .signal = caught,
    };
    tg_status status = TG_NO_MEMORY;
    if (result && (status = tg_settings_check(cli->settings, &error)) == TG_OK) {
        cli_interrupt_catch_patiently();
        status = tg_job_launch(&launch, result, &error);
    }
    if (status != TG_OK) {
        free(result);
        *unsaid = error;
        return cli_fail(&error);
    }
    int code = result->code;
    if (json && is_mute(result->rank0_signal))
        print_for_ranks(result, unsaid);
    fflush(stdout);
    tell_killed(result);
    free(result);
    return code;
}

/* ── rows of the report ────────────────────────────────────────────────────────────────── */

static uint32_t count_failed(const struct tg_execution_ranks *ranks)
{
    uint32_t failed = 0;
    for (uint32_t r = 0; r < ranks->ranks; r++)
        failed += ranks->all[r].status != TG_OK;
    return failed;
}

static void put_failed(FILE *to, const struct tg_ranks_rank *rank)
{
    struct cli_shown text, host;
    char label[32];
    snprintf(label, sizeof label, "rank %" PRIu32, rank->rank);
    cli_print_to(to, "  %-9s%s: %s", label, tg_status_name(rank->status),
                 cli_show(&text, rank->error));
    if (rank->pid != 0)
        cli_print_to(to, " (pid %" PRIu64 " on %s)", rank->pid, cli_show(&host, rank->host));
    cli_print_to(to, "\n");
}

void cli_ranks_summarize(FILE *to, const struct tg_execution_ranks *ranks)
{
    uint32_t failed = count_failed(ranks), causes = 0;
    struct cli_shown about;
    cli_print_to(to, "  %-9s%" PRIu32 ", ", "ranks", ranks->ranks);
    if (failed == 0)
        cli_print_to(to, "all ok");
    else
        cli_print_to(to, "%" PRIu32 " %s", failed,
                     ranks->status == TG_CANCELLED ? "cancelled" : "failed");
    cli_print_to(to, "; by %s\n", cli_show(&about, ranks->info.about));
    if (ranks->gpus < ranks->on_gpus)
        cli_print_to(to, "  %-9s%" PRIu32 " ranks share %" PRIu32 " GPU%s\n", "note",
                     ranks->on_gpus, ranks->gpus, ranks->gpus == 1 ? "" : "s");
    if (ranks->status == TG_CANCELLED) /* the user knows why */
        return;
    for (uint32_t r = 0; r < ranks->ranks; r++) {
        const struct tg_ranks_rank *rank = &ranks->all[r];
        /* The others failed because of these. */
        bool is_cause = rank->status != TG_RANK_LOST || r == ranks->worst;
        if (rank->status == TG_OK || !is_cause)
            continue;
        if (causes++ < MOST_ROWS)
            put_failed(to, rank);
    }
    if (causes > MOST_ROWS)
        cli_print_to(to, "  %-9sand %" PRIu32 " more; ranks.json has all of them\n", "",
                     causes - MOST_ROWS);
    if (failed > causes)
        cli_print_to(to, "  %-9sended because of %s\n", "others",
                     causes == 1 ? "this one" : "these");
}

/* ── JSON ──────────────────────────────────────────────────────────────────────────────── */

static void put_status(struct tg_json *json, tg_status status)
{
    tg_json_key(json, "result");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "status", tg_status_name(status));
    tg_json_key(json, "exit_code");
    tg_json_int(json, tg_status_exit_code(status));
    tg_json_end_object(json);
}

static void put_job(struct tg_json *json, const struct tg_execution_ranks *ranks)
{
    const struct tg_ranks_info *info = &ranks->info;
    tg_json_put_string(json, "version", tg_version());
    tg_json_put_string(json, "workload", info->workload);
    tg_json_put_string(json, "case", info->case_name);
    tg_json_put_string(json, "directory", info->dir);
    tg_json_put_uint(json, "ranks", ranks->ranks);
    tg_json_put_string(json, "transport", info->transport);
    tg_json_put_string(json, "about", info->about);
    put_status(json, ranks->status);
}

static void put_rank(struct tg_json *json, const struct tg_ranks_rank *rank)
{
    tg_json_put_uint(json, "rank", rank->rank);
    tg_json_put_string(json, "folder", rank->folder);
    tg_json_put_string(json, "host", rank->host);
    tg_json_put_uint(json, "pid", rank->pid);
    tg_json_put_uint(json, "local_rank", rank->local_rank);
    put_status(json, rank->status);
    tg_json_put_string(json, "error", rank->error);
}

/* An object without its end, for a member that is text already. */
static void print_open(const struct tg_execution_ranks *ranks, const struct tg_ranks_rank *rank)
{
    char *text = NULL;
    size_t size = 0;
    struct tg_json json;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    tg_json_start(&json, memory);
    tg_json_begin_object(&json);
    if (rank)
        put_rank(&json, rank);
    else
        put_job(&json, ranks);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json);
    if (fclose(memory) == 0 && text) {
        char *end = strrchr(text, '}');
        while (end && end > text && (end[-1] == '\n' || end[-1] == ' '))
            end--;
        fwrite(text, 1, end ? (size_t)(end - text) : size, stdout);
    }
    free(text);
}

static void print_run(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == '\n')
        size--;
    fwrite(text, 1, size, stdout);
}

/* A rank's run.json lies beside this rank's, unless the ranks have different disks. */
static void print_file(const char *dir, const char *folder)
{
    char *path = NULL, *text = NULL;
    size_t room = 0;
    FILE *file = asprintf(&path, "%s/%s/run.json", dir, folder) < 0 ? NULL : fopen(path, "re");
    ssize_t length = file ? getdelim(&text, &room, '\0', file) : -1;
    if (length > 0)
        print_run(text, (size_t)length);
    else
        fputs("null", stdout);
    if (file)
        fclose(file);
    free(text);
    free(path);
}

void cli_ranks_print_json(const struct tg_execution_ranks *ranks, const char *own)
{
    print_open(ranks, NULL);
    fputs(",\n  \"rank\": [\n", stdout);
    for (uint32_t r = 0; r < ranks->ranks; r++) {
        print_open(ranks, &ranks->all[r]);
        fputs(",\n  \"run\": ", stdout);
        if (r == ranks->rank && *own)
            print_run(own, strlen(own));
        else
            print_file(ranks->info.dir, ranks->all[r].folder);
        fputs(r + 1 < ranks->ranks ? "\n},\n" : "\n}\n", stdout);
    }
    fputs("  ]\n}\n", stdout);
}

/* ── the trace ─────────────────────────────────────────────────────────────────────────── */

bool cli_ranks_merge_trace(const struct tg_execution_ranks *ranks, const char *trace)
{
    struct tg_ranks_trace_config config = {
        .dir = ranks->info.dir, .path = trace, .overwrite = true};
    struct tg_ranks_trace_result result;
    struct tg_error error;
    struct cli_shown shown;
    if (tg_ranks_trace_write(&config, &result, &error) == TG_OK)
        return true;
    cli_print_to(stderr, "taskglass: warning: trace: %s\n", cli_show(&shown, error.text));
    return false;
}
