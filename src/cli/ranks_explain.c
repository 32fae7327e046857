/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass explain` of a run with several ranks: who waits for whom, and who failed first. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/ranks_answers.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/ranks_answers.h"
#include "cli/recording.h"

/* At most this many ranks and waits are printed, so that all fits on one screen; --json has more. */
enum { FAILED = 1, MOST_LINES = 16, MOST_WAITS = 12 };

/* ── for people ────────────────────────────────────────────────────────────────────────── */

/* The last of the ranks from `r` on that ended in the same way. */
static uint32_t last_alike(const struct tg_ranks_explanation *e, uint32_t r)
{
    while (r + 1 < e->ranks && strcmp(e->end[r].status, e->end[r + 1].status) == 0 &&
           strcmp(e->end[r].error, e->end[r + 1].error) == 0)
        r++;
    return r;
}

/* Ranks that ended well need no line, and an error that the first line has is not said again. */
static void print_ends(const struct tg_ranks_explanation *e)
{
    uint32_t shown = 0, more = 0;
    for (uint32_t r = 0, last; r < e->ranks; r = last + 1) {
        const struct tg_ranks_end *end = &e->end[r];
        bool is_said = !*end->error || strstr(e->root, end->error);
        last = last_alike(e, r);
        if (strcmp(end->status, "OK") == 0)
            continue;
        if (shown == MOST_LINES) {
            more += last - r + 1;
            continue;
        }
        cli_print("  %-9srank%s %" PRIu32, shown++ == 0 ? "ended" : "", last > r ? "s" : "", r);
        if (last > r)
            cli_print("%s%" PRIu32, last == r + 1 ? " and " : " to ", last);
        cli_print(": %s%s%s\n", *end->status ? end->status : "nothing says how it ended",
                  is_said ? "" : ": ", is_said ? "" : end->error);
    }
    if (more > 0)
        cli_print("  %-9sand %" PRIu32 " more ranks that did not end well\n", "", more);
}

static void print_explanation(const struct tg_ranks_explanation *e)
{
    uint32_t waits = e->n_waits < MOST_WAITS ? e->n_waits : MOST_WAITS;
    uint32_t more = e->n_waits - waits + e->more_waits;
    cli_print("%s\n", e->root);
    if (*e->order && strcmp(e->order, e->root) != 0)
        cli_print("  %-9s%s\n", "first", e->order);
    print_ends(e);
    for (uint32_t i = 0; i < waits; i++)
        cli_print("  %-9s%s\n", i == 0 ? "waits" : "", e->wait[i].text);
    if (more > 0)
        cli_print("  %-9sand %" PRIu32 " more calls that had not completed\n", "", more);
    for (uint32_t i = 0; i < e->n_unknown; i++)
        cli_print("  %-9s%s\n", i == 0 ? "unknown" : "", e->unknown[i]);
}

/* ── for programs ──────────────────────────────────────────────────────────────────────── */

static void put_number(struct tg_json *json, const char *key, bool is_known, int64_t number)
{
    tg_json_key(json, key);
    if (is_known)
        tg_json_int(json, number);
    else
        tg_json_null(json);
}

static void put_time(struct tg_json *json, const char *key, bool is_known, int64_t time)
{
    tg_json_key(json, key);
    if (is_known)
        tg_json_quoted_int(json, time);
    else
        tg_json_null(json);
}

static void put_wait(struct tg_json *json, const struct tg_ranks_wait *wait)
{
    const struct tg_call *call = &wait->call;
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "rank", wait->rank);
    tg_json_put_hex(json, "task_id", call->task);
    tg_json_put_string(json, "call", tg_comm_kind_name(call->kind));
    put_number(json, "peer", call->peer != TG_COMM_NONE, call->peer);
    put_number(json, "tag", call->tag != TG_COMM_NONE, call->tag);
    tg_json_put_uint(json, "number", call->number);
    tg_json_put_string(json, "site", *call->site ? call->site : NULL);
    tg_json_put_string(json, "state", tg_call_state_name(call->state));
    put_number(json, "waits_for", wait->has_for, wait->waits_for);
    tg_json_put_uint(json, "missing_ranks", wait->n_for);
    tg_json_put_bool(json, "mismatch", wait->is_mismatch);
    tg_json_put_string(json, "text", wait->text);
    tg_json_end_object(json);
}

static void put_end(struct tg_json *json, const struct tg_ranks_end *end)
{
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "rank", end->rank);
    tg_json_put_string(json, "status", *end->status ? end->status : NULL);
    tg_json_put_string(json, "error", *end->error ? end->error : NULL);
    tg_json_put_bool(json, "by_itself", end->is_own);
    put_time(json, "ended_ns", end->has_time, end->time_ns);
    put_number(json, "error_ns", end->has_time, end->error_ns);
    tg_json_end_object(json);
}

static void put_explanation(struct tg_json *json, const struct tg_ranks_explanation *e)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "state",
                       e->is_well      ? "ended well"
                       : e->is_running ? "goes on"
                                       : "failed");
    tg_json_put_string(json, "root", e->root);
    put_number(json, "first", e->has_first, e->first);
    tg_json_put_string(json, "order", *e->order ? e->order : NULL);
    tg_json_key(json, "ends");
    tg_json_begin_array(json);
    for (uint32_t r = 0; r < e->ranks; r++)
        put_end(json, &e->end[r]);
    tg_json_end_array(json);
    tg_json_key(json, "waits");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_waits; i++)
        put_wait(json, &e->wait[i]);
    tg_json_end_array(json);
    tg_json_put_uint(json, "more_waits", e->more_waits);
    tg_json_key(json, "unknown");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_unknown; i++)
        tg_json_string(json, e->unknown[i]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

int cli_ranks_explain(struct cli *cli, void *request, const struct tg_ranks *ranks,
                      struct tg_json *json)
{
    struct tg_ranks_explanation *e;
    struct tg_error error;
    (void)cli;
    (void)request;
    if (tg_ranks_explain(ranks, &e, &error) != TG_OK) {
        if (json) {
            tg_json_begin_object(json);
            tg_json_put_string(json, "root", NULL);
            tg_json_put_string(json, "reason", error.text);
            tg_json_end_object(json);
        }
        return cli_fail(&error);
    }
    if (json)
        put_explanation(json, e);
    else
        print_explanation(e);
    int code = e->is_well || e->is_running ? CLI_OK : FAILED;
    tg_ranks_explanation_free(e);
    return code;
}

/* A rank that was killed could not say more than ranks.json does, and that is in the answer for all. */
enum cli_rank_answer cli_ranks_explain_lacks(const void *context, const struct tg_ranks_rank *rank,
                                             struct tg_error *why)
{
    enum cli_rank_answer answer = cli_ranks_lacks_folder(context, rank, why);
    char *path = NULL;
    if (!rank->has_status || rank->status == TG_OK)
        return answer;
    if (answer == CLI_RANK_IS_UNKNOWN)
        return CLI_RANK_IS_SILENT;
    if (asprintf(&path, "%s/run.json", rank->dir) < 0)
        return answer;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        snprintf(why->text, sizeof why->text, "it ended before it could say more");
        answer = CLI_RANK_IS_SILENT;
    }
    free(path);
    return answer;
}
