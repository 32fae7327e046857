/* SPDX-License-Identifier: Apache-2.0 */
/* The request `ranks`: the ranks of a run, how each ended, and what it still waits for. */
#include <string.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>

#include "base/error.h"
#include "workbench/requests.h"

/* Room for what the answer says of all ranks together is bounded by TG_COMM_MAX_RANKS. */

static void put_clock(struct tg_json *json, const struct tg_ranks_clock *clock)
{
    tg_json_key(json, "clock");
    if (!clock->is_known) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_key(json, "offset_ns");
    tg_json_quoted_int(json, clock->offset_ns);
    tg_json_put_real(json, "drift", clock->drift);
    tg_json_key(json, "at_ns");
    tg_json_quoted_int(json, clock->at_ns);
    tg_json_put_uint(json, "error_ns", clock->error_ns > 0 ? (uint64_t)clock->error_ns : 0);
    tg_json_end_object(json);
}

/* How many calls the rank made, and how many of them wait; null if it left no list. */
static void put_calls(struct tg_json *json, const struct tg_ranks_rank *rank, bool is_own,
                      const struct tg_error *other)
{
    struct tg_calls *calls = NULL;
    struct tg_calls_info info = {0};
    struct tg_call call;
    struct tg_error why = {0};
    uint64_t waiting = 0;
    bool has = is_own && tg_calls_open(rank->dir, &calls, &why) == TG_OK;
    if (has)
        tg_calls_get_info(calls, &info);
    for (uint64_t i = 0; has && tg_calls_get(calls, i, &call); i++)
        waiting += call.state != TG_CALL_DONE;
    tg_json_key(json, "calls");
    if (has)
        tg_json_uint(json, info.calls);
    else
        tg_json_null(json);
    tg_json_put_uint(json, "waiting", waiting);
    tg_json_put_uint(json, "damaged", info.damaged);
    tg_json_put_string(json, "why",
                       has               ? ""
                       : !rank->is_there ? "its folder is not here"
                       : !is_own         ? other->text
                                         : why.text);
    tg_calls_close(calls);
}

static void put_rank(struct tg_json *json, const struct tg_bench_run *run,
                     const struct tg_ranks_rank *rank)
{
    char key[TG_BENCH_KEY];
    struct tg_error other = {0};
    bool is_own = tg_ranks_check_folder(run->ranks, rank->rank, &other) == TG_OK;
    bool has_key = is_own && tg_bench_rank_key(run->key, rank->rank, key);
    tg_json_begin_object(json);
    tg_json_put_uint(json, "rank", rank->rank);
    tg_json_put_string(json, "key", has_key ? key : NULL);
    tg_json_put_string(json, "folder", rank->folder);
    tg_json_put_string(json, "host", rank->host);
    tg_json_put_uint(json, "pid", rank->pid);
    tg_json_put_bool(json, "running", rank->is_running);
    tg_json_put_string(json, "status", rank->has_status ? tg_status_name(rank->status) : NULL);
    tg_json_put_string(json, "error", rank->error);
    put_clock(json, &rank->clock);
    put_calls(json, rank, is_own, &other);
    tg_json_end_object(json);
}

static tg_status need_ranks(const struct tg_bench_run *run, struct tg_error *error)
{
    return run->ranks
               ? TG_OK
               : tg_error_set(error, TG_UNSUPPORTED,
                              "the run has no ranks: it has no " TG_RANKS_FILE " that can be read");
}

tg_status tg_request_ranks(struct tg_request_context *context, struct tg_error *error)
{
    const struct tg_bench_run *run = context->run;
    struct tg_json *json = &context->answer->json;
    struct tg_ranks_info info;
    struct tg_ranks_rank rank;
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = need_ranks(run, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    tg_ranks_get_info(run->ranks, &info);
    tg_json_put_string(json, "key", run->key);
    tg_json_put_string(json, "workload", info.workload);
    tg_json_put_string(json, "case", info.case_name);
    tg_json_put_string(json, "transport", info.transport);
    tg_json_put_string(json, "about", info.about);
    tg_json_put_bool(json, "running", info.is_running);
    tg_json_put_string(json, "status", info.has_status ? tg_status_name(info.status) : NULL);
    tg_json_put_uint(json, "generation", run->generation);
    tg_json_key(json, "ranks");
    tg_json_begin_array(json);
    for (uint32_t i = 0; tg_ranks_get(run->ranks, i, &rank); i++)
        put_rank(json, run, &rank);
    tg_json_end_array(json);
    return TG_OK;
}
