/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request `calls`: the communication of all ranks of a run, as columns, on rank 0's clock. At most MOST calls are
 * given, those that are not done first; the header says how many there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/requests.h"
#include "workbench/texts.h"

enum { MOST = 1 << 18, NONE_U8 = 255, NONE_U16 = 65535 };
#define NONE_U32 UINT32_MAX

struct rank {
    struct tg_ranks_rank info;
    struct tg_calls *calls; /* NULL: not known */
    uint64_t n_calls;
    bool is_sure; /* its clock is known */
    int64_t
        shift; /* of one whose clock is not known; 0 also where rank 0 has no call to begin with */
};

struct work {
    struct tg_bench_run *run;
    struct rank *rank;
    uint32_t n_ranks;
    uint64_t total, count; /* calls there are, and those that are given */
    uint64_t done_room;    /* calls that are done and may still be given */
    int64_t start;         /* the first time; TG_CALL_NEVER: there is none */
    struct tg_texts sites;
    struct columns {
        uint16_t *rank, *peer;
        uint64_t *task;
        uint8_t *kind, *operation, *dtype, *state;
        uint32_t *tag, *site;
        double *number, *elements, *bytes, *posted, *matched, *done;
    } to;
};

/* --- reading -------------------------------------------------------------------------------- */

static int64_t aligned(const struct rank *rank, int64_t own)
{
    int64_t time = tg_ranks_time(&rank->info.clock, own);
    return time < INT64_MAX / 2 && time > INT64_MIN / 2 ? time + rank->shift : time;
}

static int64_t first_of(const struct rank *rank)
{
    struct tg_call call;
    int64_t first = TG_CALL_NEVER;
    for (uint64_t i = 0; rank->calls && tg_calls_get(rank->calls, i, &call); i++)
        if (call.posted_ns >= 0 && (first == TG_CALL_NEVER || call.posted_ns < first))
            first = call.posted_ns;
    return first;
}

/* As in a trace of all ranks (trace/merge.h): a rank whose clock is not known is shown as if it had begun with
 * rank 0, unless it is on the same machine. */
static void set_shift(struct work *work, uint32_t number)
{
    struct rank *rank = &work->rank[number];
    const struct rank *zero = &work->rank[0];
    bool is_same = *rank->info.host && strcmp(rank->info.host, zero->info.host) == 0;
    rank->is_sure = rank->info.clock.is_known || number == 0 || is_same;
    if (rank->is_sure)
        return;
    int64_t own = first_of(rank), other = first_of(zero);
    if (own != TG_CALL_NEVER && other != TG_CALL_NEVER)
        rank->shift = other - own; /* both are at least 0 */
}

static tg_status open_ranks(struct work *work, struct tg_error *error)
{
    struct tg_ranks_info info;
    struct tg_calls_info about;
    tg_ranks_get_info(work->run->ranks, &info);
    work->n_ranks = info.ranks;
    work->rank = calloc((size_t)info.ranks + 1, sizeof *work->rank);
    if (!work->rank)
        return tg_file_no_memory(error);
    for (uint32_t i = 0; i < info.ranks; i++) {
        struct rank *rank = &work->rank[i];
        if (!tg_ranks_get(work->run->ranks, i, &rank->info) ||
            tg_ranks_check_folder(work->run->ranks, i, NULL) != TG_OK)
            continue;
        tg_status status = tg_calls_open(rank->info.dir, &rank->calls, error);
        if (status == TG_IO_ERROR || status == TG_NO_MEMORY)
            return status;
        if (status != TG_OK) {
            rank->calls = NULL;
            continue;
        }
        tg_calls_get_info(rank->calls, &about);
        rank->n_calls = about.calls;
        work->total += about.calls;
    }
    for (uint32_t i = 0; i < info.ranks; i++)
        set_shift(work, i);
    return TG_OK;
}

/* How many calls are given: all that are not done, and of the others as many as there is room for. */
static void count_calls(struct work *work)
{
    struct tg_call call;
    uint64_t open = 0;
    work->start = TG_CALL_NEVER;
    for (uint32_t i = 0; i < work->n_ranks; i++) {
        const struct rank *rank = &work->rank[i];
        for (uint64_t k = 0; rank->calls && tg_calls_get(rank->calls, k, &call); k++) {
            int64_t time = call.posted_ns >= 0 ? aligned(rank, call.posted_ns) : TG_CALL_NEVER;
            open += call.state != TG_CALL_DONE;
            if (time != TG_CALL_NEVER && (work->start == TG_CALL_NEVER || time < work->start))
                work->start = time;
        }
    }
    work->count = work->total < MOST ? work->total : MOST;
    work->done_room = work->count > open ? work->count - open : 0;
}

/* --- columns -------------------------------------------------------------------------------- */

static tg_status add_columns(struct work *work, struct tg_answer *answer, struct tg_error *error)
{
    static const struct {
        const char *name;
        enum tg_column_type type;
    } columns[] = {
        {"rank", TG_COLUMN_U16},   {"peer", TG_COLUMN_U16},     {"task", TG_COLUMN_U64},
        {"kind", TG_COLUMN_U8},    {"operation", TG_COLUMN_U8}, {"dtype", TG_COLUMN_U8},
        {"state", TG_COLUMN_U8},   {"tag", TG_COLUMN_U32},      {"site", TG_COLUMN_U32},
        {"number", TG_COLUMN_F64}, {"elements", TG_COLUMN_F64}, {"bytes", TG_COLUMN_F64},
        {"posted", TG_COLUMN_F64}, {"matched", TG_COLUMN_F64},  {"done", TG_COLUMN_F64},
    };
    const unsigned n = sizeof columns / sizeof columns[0];
    for (unsigned i = 0; i < n; i++)
        if (!tg_answer_column(answer, columns[i].name, columns[i].type, work->count, error))
            return error->status != TG_OK ? error->status : tg_file_no_memory(error);
    void *at[sizeof columns / sizeof columns[0]];
    for (unsigned i = 0; i < n; i++) /* they may have moved */
        at[i] = tg_columns_at(&answer->columns, i);
    work->to = (struct columns){.rank = at[0],
                                .peer = at[1],
                                .task = at[2],
                                .kind = at[3],
                                .operation = at[4],
                                .dtype = at[5],
                                .state = at[6],
                                .tag = at[7],
                                .site = at[8],
                                .number = at[9],
                                .elements = at[10],
                                .bytes = at[11],
                                .posted = at[12],
                                .matched = at[13],
                                .done = at[14]};
    return TG_OK;
}

static double time_of(const struct work *work, const struct rank *rank, int64_t own)
{
    return own < 0 ? (double)NAN : (double)aligned(rank, own) - (double)work->start;
}

static bool fill_row(struct work *work, uint64_t row, uint32_t number, const struct tg_call *call)
{
    const struct rank *rank = &work->rank[number];
    struct columns *to = &work->to;
    to->rank[row] = (uint16_t)number;
    to->peer[row] = call->peer >= 0 && call->peer < NONE_U16 ? (uint16_t)call->peer : NONE_U16;
    to->task[row] = call->task;
    to->kind[row] = (uint8_t)call->kind;
    to->operation[row] =
        call->operation >= 0 && call->operation < NONE_U8 ? (uint8_t)call->operation : NONE_U8;
    to->dtype[row] = (uint8_t)(call->dtype < NONE_U8 ? call->dtype : TG_DTYPE_NONE);
    to->state[row] = (uint8_t)call->state;
    to->tag[row] = call->tag >= 0 ? (uint32_t)call->tag : NONE_U32;
    to->number[row] = (double)call->number;
    to->elements[row] = (double)call->elements;
    to->bytes[row] = (double)call->bytes;
    to->posted[row] = time_of(work, rank, call->posted_ns);
    to->matched[row] = time_of(work, rank, call->matched_ns);
    to->done[row] = time_of(work, rank, call->done_ns);
    return tg_texts_add(&work->sites, call->site, &to->site[row]);
}

static tg_status fill(struct work *work, struct tg_error *error)
{
    struct tg_call call;
    uint64_t row = 0;
    for (uint32_t i = 0; i < work->n_ranks; i++) {
        const struct rank *rank = &work->rank[i];
        for (uint64_t k = 0; rank->calls && tg_calls_get(rank->calls, k, &call); k++) {
            bool is_done = call.state == TG_CALL_DONE;
            if (row == work->count || (is_done && work->done_room == 0))
                continue;
            work->done_room -= is_done;
            if (!fill_row(work, row++, i, &call))
                return tg_file_no_memory(error);
        }
    }
    return TG_OK;
}

/* --- the header ----------------------------------------------------------------------------- */

static void put_words(struct tg_json *json, const char *key, uint32_t count,
                      const char *(*name)(uint32_t number))
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (uint32_t i = 0; i < count; i++)
        tg_json_string(json, name(i) ? name(i) : "");
    tg_json_end_array(json);
}

static const char *dtype_name(uint32_t dtype)
{
    return dtype == TG_DTYPE_NONE ? "" : tg_dtype_name(dtype);
}

static const char *state_name(uint32_t state)
{
    return tg_call_state_name(state);
}

static void put_ranks(struct tg_json *json, const struct work *work)
{
    tg_json_key(json, "ranks");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < work->n_ranks; i++) {
        const struct rank *rank = &work->rank[i];
        const struct tg_ranks_clock *clock = &rank->info.clock;
        tg_json_begin_line_object(json);
        tg_json_key(json, "offset_ns");
        tg_json_quoted_int(json, clock->is_known ? clock->offset_ns : rank->shift);
        tg_json_put_real(json, "drift", clock->is_known ? clock->drift : 0);
        tg_json_key(json, "at_ns");
        tg_json_quoted_int(json, clock->is_known ? clock->at_ns : 0);
        tg_json_key(json, "error_ns");
        if (rank->is_sure)
            tg_json_int(json, clock->is_known ? clock->error_ns : 0);
        else
            tg_json_null(json);
        tg_json_put_uint(json, "calls", rank->n_calls);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_header(struct tg_json *json, const struct work *work)
{
    tg_json_key(json, "start_ns");
    tg_json_quoted_int(json, work->start == TG_CALL_NEVER ? 0 : work->start);
    tg_json_put_uint(json, "calls", work->total);
    tg_json_put_uint(json, "given", work->count);
    tg_json_put_uint(json, "generation", work->run->generation);
    put_words(json, "kinds", TG_COMM_KINDS, tg_comm_kind_name);
    put_words(json, "operations", TG_REDUCTIONS, tg_reduction_name);
    put_words(json, "dtypes", TG_DTYPE_END, dtype_name);
    put_words(json, "states", TG_CALL_STATES, state_name);
    tg_json_key(json, "sites");
    tg_json_begin_line_array(json);
    for (uint32_t i = 0; i < work->sites.count; i++)
        tg_json_string(json, work->sites.text[i]);
    tg_json_end_array(json);
    put_ranks(json, work);
}

static tg_status answer(struct work *work, struct tg_answer *answer, struct tg_error *error)
{
    tg_status status = open_ranks(work, error);
    if (status != TG_OK)
        return status;
    count_calls(work);
    status = add_columns(work, answer, error);
    if (status == TG_OK)
        status = fill(work, error);
    if (status == TG_OK)
        status = tg_answer_json(answer, error);
    if (status == TG_OK)
        put_header(&answer->json, work);
    return status;
}

tg_status tg_request_calls(struct tg_request_context *context, struct tg_error *error)
{
    struct work work = {.run = context->run};
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK && !context->run->ranks)
        status = tg_error_set(error, TG_UNSUPPORTED,
                              "the run has no ranks: it has no " TG_RANKS_FILE " that can be read");
    if (status == TG_OK)
        status = answer(&work, context->answer, error);
    for (uint32_t i = 0; work.rank && i < work.n_ranks; i++)
        tg_calls_close(work.rank[i].calls);
    free(work.rank);
    tg_texts_free(&work.sites);
    return status;
}
