/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.jsonl: the communication of one rank, a line for each call. A rank that was killed may have left
 * half of a line, and a stranger any line at all, so a line that is not a call of this rank, or that is the
 * second of the same call, is left out and counted.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/json_pull.h"
#include "recording/ranks.h"

static const char *const states[TG_CALL_STATES] = {"done", "waits", "failed"};

const char *tg_call_state_name(unsigned state)
{
    return state < TG_CALL_STATES ? states[state] : "unknown";
}

static const char *state_word(uint32_t state)
{
    return states[state];
}

/* Returns `n` if the last token is none of the words from 0 to n. */
static uint32_t word_of(const struct tg_pull *pull, const char *(*word)(uint32_t), uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !(pull->token == TG_PULL_STRING && tg_pull_is(pull, word(i))))
        i++;
    return i;
}

/* ── one line ──────────────────────────────────────────────────────────────────────────── */

/* "0000000000000005", as tasks are written: hexadecimal digits and nothing before them. */
static bool take_task(const struct tg_pull *pull, uint64_t *task)
{
    if (pull->token != TG_PULL_STRING || pull->length == 0 || pull->length > 16)
        return false;
    *task = 0;
    for (size_t i = 0; i < pull->length; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = pull->value[i] ? strchr(digits, pull->value[i] | 0x20) : NULL;
        if (!digit)
            return false;
        *task = *task << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

/* A peer or a tag: null, or a number from 0. */
static bool take_number(const struct tg_pull *pull, int32_t *number)
{
    int64_t value;
    *number = TG_COMM_NONE;
    if (pull->token == TG_PULL_NULL)
        return true;
    if (!tg_pull_i64(pull, &value) || value < 0 || value > INT32_MAX)
        return false;
    *number = (int32_t)value;
    return true;
}

static bool take_time(const struct tg_pull *pull, int64_t *time)
{
    *time = TG_CALL_NEVER;
    return pull->token == TG_PULL_NULL || tg_pull_i64(pull, time);
}

static bool take_site(const struct tg_pull *pull, struct tg_calls *calls, struct tg_call *call)
{
    char text[512];
    if (pull->token != TG_PULL_STRING)
        return pull->token == TG_PULL_NULL;
    size_t length = tg_pull_text(pull, text, sizeof text);
    call->site = tg_names_add(&calls->sites, text, length);
    return call->site != NULL;
}

static bool take_words(const struct tg_pull *pull, const char *key, struct tg_call *call)
{
    char name[32];
    if (strcmp(key, "call") == 0) {
        call->kind = word_of(pull, tg_comm_kind_name, TG_COMM_KINDS);
        return call->kind < TG_COMM_KINDS;
    }
    if (strcmp(key, "state") == 0) {
        call->state = word_of(pull, state_word, TG_CALL_STATES);
        return call->state < TG_CALL_STATES;
    }
    if (strcmp(key, "operation") == 0 && pull->token != TG_PULL_NULL) {
        uint32_t operation = word_of(pull, tg_reduction_name, TG_REDUCTIONS);
        call->operation = (int32_t)operation;
        return operation < TG_REDUCTIONS;
    }
    if (strcmp(key, "dtype") == 0 && pull->token == TG_PULL_STRING) {
        tg_pull_text(pull, name, sizeof name);
        call->dtype = tg_dtype_from_name(name);
    }
    return true;
}

static bool take_member(const struct tg_pull *pull, const char *key, struct tg_calls *calls,
                        struct tg_call *call)
{
    if (strcmp(key, "task") == 0)
        return take_task(pull, &call->task);
    if (strcmp(key, "peer") == 0)
        return take_number(pull, &call->peer);
    if (strcmp(key, "tag") == 0)
        return take_number(pull, &call->tag);
    if (strcmp(key, "number") == 0)
        return tg_pull_u64(pull, &call->number);
    if (strcmp(key, "elements") == 0)
        return tg_pull_u64(pull, &call->elements);
    if (strcmp(key, "bytes") == 0)
        return tg_pull_u64(pull, &call->bytes);
    if (strcmp(key, "posted_ns") == 0)
        return take_time(pull, &call->posted_ns);
    if (strcmp(key, "matched_ns") == 0)
        return take_time(pull, &call->matched_ns);
    if (strcmp(key, "done_ns") == 0)
        return take_time(pull, &call->done_ns);
    if (strcmp(key, "site") == 0)
        return take_site(pull, calls, call);
    return take_words(pull, key, call);
}

/* Whether a rank of this run can have made the call. */
static bool is_possible(const struct tg_calls_info *info, const struct tg_call *call)
{
    bool is_message = tg_call_is_message(call->kind);
    bool has_peer = is_message || call->kind == TG_COMM_BROADCAST;
    bool reduces = call->kind == TG_COMM_ALL_REDUCE || call->kind == TG_COMM_REDUCE_SCATTER;
    if (has_peer ? call->peer < 0 || (uint32_t)call->peer >= info->ranks
                 : call->peer != TG_COMM_NONE)
        return false;
    return is_message == (call->tag != TG_COMM_NONE) &&
           reduces == (call->operation != TG_COMM_NONE);
}

static bool read_call(struct tg_calls *calls, const char *line, size_t size, struct tg_call *call)
{
    struct tg_pull pull;
    bool has_task = false, has_call = false, has_number = false, has_state = false;
    *call = (struct tg_call){.peer = TG_COMM_NONE,
                             .tag = TG_COMM_NONE,
                             .operation = TG_COMM_NONE,
                             .posted_ns = TG_CALL_NEVER,
                             .matched_ns = TG_CALL_NEVER,
                             .done_ns = TG_CALL_NEVER,
                             .site = ""};
    tg_pull_start(&pull, line, size);
    if (size > TG_CALLS_LINE_MOST || tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(&pull, key, sizeof key);
        tg_pull_next(&pull);
        if (!take_member(&pull, key, calls, call) || !tg_pull_skip(&pull))
            return false;
        has_task |= strcmp(key, "task") == 0;
        has_call |= strcmp(key, "call") == 0;
        has_number |= strcmp(key, "number") == 0;
        has_state |= strcmp(key, "state") == 0;
    }
    return pull.token == TG_PULL_END_OBJECT && tg_pull_next(&pull) == TG_PULL_END && has_task &&
           has_call && has_number && has_state && is_possible(&calls->info, call);
}

/* {"end": true, "calls": N}: after it there are no more. */
static bool read_end(const char *line, size_t size, uint64_t *calls)
{
    struct tg_pull pull;
    bool is_end = false, has_calls = false;
    tg_pull_start(&pull, line, size);
    if (size > TG_CALLS_LINE_MOST || tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(&pull, key, sizeof key);
        tg_pull_next(&pull);
        if (strcmp(key, "end") == 0)
            is_end = pull.token == TG_PULL_TRUE;
        else if (strcmp(key, "calls") == 0)
            has_calls = tg_pull_u64(&pull, calls);
        if (!tg_pull_skip(&pull))
            return false;
    }
    return pull.token == TG_PULL_END_OBJECT && tg_pull_next(&pull) == TG_PULL_END && is_end &&
           has_calls;
}

static bool read_head(const char *line, size_t size, struct tg_calls_info *info)
{
    struct tg_pull pull;
    uint64_t version = 0, rank = UINT64_MAX, ranks = 0;
    tg_pull_start(&pull, line, size);
    if (size > TG_CALLS_LINE_MOST || tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        char key[16];
        tg_pull_text(&pull, key, sizeof key);
        tg_pull_next(&pull);
        if (strcmp(key, "version") == 0)
            (void)tg_pull_u64(&pull, &version);
        else if (strcmp(key, "rank") == 0)
            (void)tg_pull_u64(&pull, &rank);
        else if (strcmp(key, "ranks") == 0)
            (void)tg_pull_u64(&pull, &ranks);
        if (!tg_pull_skip(&pull))
            return false;
    }
    info->rank = (uint32_t)rank;
    info->ranks = (uint32_t)ranks;
    return pull.token == TG_PULL_END_OBJECT && tg_pull_next(&pull) == TG_PULL_END && version == 1 &&
           ranks >= 1 && ranks <= TG_COMM_MAX_RANKS && rank < ranks;
}

/* ── finding calls ─────────────────────────────────────────────────────────────────────── */

/* Collective calls of all kinds are counted together. */
static uint32_t group_of(uint32_t kind)
{
    return tg_call_is_message(kind) ? kind : TG_COMM_KINDS;
}

static int compare_key(const struct tg_call *a, const struct tg_call *b)
{
    uint32_t x = group_of(a->kind), y = group_of(b->kind);
    if (x != y)
        return x < y ? -1 : 1;
    if (x != TG_COMM_KINDS && a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (x != TG_COMM_KINDS && a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->number == b->number ? 0 : a->number < b->number ? -1 : 1;
}

static int compare_task(const struct tg_call *a, const struct tg_call *b)
{
    return a->task == b->task ? 0 : a->task < b->task ? -1 : 1;
}

typedef int (*compare_fn)(const struct tg_call *a, const struct tg_call *b);

struct sorting {
    const struct tg_call *call;
    compare_fn compare;
};

/* Of equal calls, which only a damaged file has, the first in the file comes first. */
static int compare_entries(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    int order = sorting->compare(&sorting->call[x], &sorting->call[y]);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static uint64_t *sort(const struct tg_calls *calls, compare_fn compare)
{
    struct sorting sorting = {calls->call, compare};
    uint64_t n = calls->info.calls, *order = malloc((n + 1) * sizeof *order);
    for (uint64_t i = 0; order && i < n; i++)
        order[i] = i;
    if (order && n > 0)
        qsort_r(order, n, sizeof *order, compare_entries, &sorting);
    return order;
}

/* Two tasks never make the same call, nor one task two. Of equal lines the first in the file stays. */
static bool drop_repeated(struct tg_calls *calls, compare_fn compare)
{
    uint64_t n = calls->info.calls, kept = 0, *order = sort(calls, compare);
    bool *is_repeated = calloc(n + 1, sizeof *is_repeated);
    for (uint64_t i = 1; order && is_repeated && i < n; i++)
        is_repeated[order[i]] = compare(&calls->call[order[i - 1]], &calls->call[order[i]]) == 0;
    for (uint64_t i = 0; order && is_repeated && i < n; i++)
        if (!is_repeated[i])
            calls->call[kept++] = calls->call[i];
    bool is_done = order && is_repeated;
    if (is_done) {
        calls->info.calls = kept;
        calls->info.damaged += n - kept;
    }
    free(order);
    free(is_repeated);
    return is_done;
}

static bool search(const struct tg_calls *calls, const uint64_t *order, compare_fn compare,
                   const struct tg_call *wanted, uint64_t *index)
{
    uint64_t low = 0, high = calls->info.calls;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (compare(&calls->call[order[middle]], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == calls->info.calls || compare(&calls->call[order[low]], wanted) != 0)
        return false;
    *index = order[low];
    return true;
}

bool tg_calls_index(const struct tg_calls *calls, uint64_t task, uint64_t *index)
{
    struct tg_call wanted = {.task = task};
    return calls && search(calls, calls->by_task, compare_task, &wanted, index);
}

bool tg_calls_of_task(const struct tg_calls *calls, uint64_t task, struct tg_call *call)
{
    uint64_t index;
    if (!tg_calls_index(calls, task, &index))
        return false;
    if (call)
        *call = calls->call[index];
    return true;
}

bool tg_calls_find(const struct tg_calls *calls, uint32_t kind, int32_t peer, int32_t tag,
                   uint64_t number, struct tg_call *call)
{
    struct tg_call wanted = {.kind = kind, .peer = peer, .tag = tag, .number = number};
    uint64_t index;
    if (!calls || !search(calls, calls->by_key, compare_key, &wanted, &index))
        return false;
    if (call)
        *call = calls->call[index];
    return true;
}

bool tg_calls_collective(const struct tg_calls *calls, uint64_t number, struct tg_call *call)
{
    return tg_calls_find(calls, TG_COMM_ALL_REDUCE, TG_COMM_NONE, TG_COMM_NONE, number, call);
}

bool tg_calls_other_side(const struct tg_calls *peers, uint32_t rank, const struct tg_call *call,
                         struct tg_call *other)
{
    if (call == NULL)
        return false;
    uint32_t kind = call->kind == TG_COMM_SEND ? TG_COMM_RECV : TG_COMM_SEND;
    return tg_call_is_message(call->kind) &&
           tg_calls_find(peers, kind, (int32_t)rank, call->tag, call->number, other);
}

/* ── the file ──────────────────────────────────────────────────────────────────────────── */

static bool add_line(struct tg_calls *calls, const char *line, size_t size)
{
    struct tg_call call;
    if (calls->has_end || !read_call(calls, line, size, &call)) {
        bool is_end = !calls->has_end && read_end(line, size, &calls->calls_at_end);
        calls->has_end |= is_end;
        calls->info.damaged += !is_end;
        return !calls->sites.no_memory;
    }
    if (!tg_grow(&calls->call, &calls->room, calls->info.calls + 1, sizeof *calls->call))
        return false;
    calls->call[calls->info.calls++] = call;
    return true;
}

/* False if memory ran out. */
static bool read_lines(struct tg_calls *calls, const char *text, const char *end)
{
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (stop > text && !add_line(calls, text, (size_t)(stop - text)))
            return false;
        text = newline ? newline + 1 : end;
    }
    if (!drop_repeated(calls, compare_task) || !drop_repeated(calls, compare_key))
        return false;
    calls->info.is_complete =
        calls->has_end && calls->info.damaged == 0 && calls->info.calls == calls->calls_at_end;
    calls->by_task = sort(calls, compare_task);
    calls->by_key = sort(calls, compare_key);
    return calls->by_task && calls->by_key;
}

tg_status tg_calls_read(const char *name, const char *text, size_t size, struct tg_calls **calls,
                        struct tg_error *error)
{
    *calls = calloc(1, sizeof **calls);
    if (!*calls)
        return tg_file_no_memory(error);
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t first = newline ? (size_t)(newline - text) : size;
    tg_status status = TG_OK;
    if (size == 0 || !read_head(text, first, &(*calls)->info))
        status = tg_error_set(error, TG_BAD_ARGUMENT,
                              "'%s', line 1: it is not {\"version\":1,\"rank\":R,\"ranks\":N}; "
                              "this is not the " TG_CALLS_FILE " of a rank",
                              name);
    else if (!read_lines(*calls, text + first, text + size))
        status = tg_file_no_memory(error);
    if (status != TG_OK) {
        tg_calls_close(*calls);
        *calls = NULL;
    }
    return status;
}

static tg_status load(const char *path, struct tg_calls **calls, struct tg_error *error)
{
    struct tg_map map;
    int cause = tg_map_text(path, &map);
    if (cause == ENOENT || cause == ENOTDIR)
        return tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path);
    if (cause != 0)
        return tg_cause_is_fault(cause)
                   ? tg_file_error(error, "read", path, cause)
                   : tg_error_set(error, TG_BAD_ARGUMENT, "cannot read '%s': %s", path,
                                  tg_cause_text(cause));
    tg_status status = tg_calls_read(path, (const char *)map.bytes, map.size, calls, error);
    if (status == TG_OK && (status = tg_map_report(&map, path, error)) != TG_OK) {
        tg_calls_close(*calls);
        *calls = NULL;
    }
    tg_map_close(&map);
    return status;
}

tg_status tg_calls_open(const char *dir, struct tg_calls **calls, struct tg_error *error)
{
    TG_REFUSE_NULL(error, dir);
    TG_REFUSE_NULL(error, calls);
    *calls = NULL;
    char *path = tg_path_join(dir, TG_CALLS_FILE);
    tg_status status = path ? load(path, calls, error) : tg_file_no_memory(error);
    free(path);
    return status;
}

void tg_calls_close(struct tg_calls *calls)
{
    if (!calls)
        return;
    tg_names_free(&calls->sites);
    free(calls->call);
    free(calls->by_task);
    free(calls->by_key);
    free(calls);
}

void tg_calls_get_info(const struct tg_calls *calls, struct tg_calls_info *info)
{
    if (calls == NULL || info == NULL)
        return;
    *info = calls->info;
}

bool tg_calls_get(const struct tg_calls *calls, uint64_t index, struct tg_call *call)
{
    if (!calls || index >= calls->info.calls)
        return false;
    *call = calls->call[index];
    return true;
}
