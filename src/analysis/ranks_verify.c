/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the messages of a run with several ranks fit: both ends of each, and results that all share. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks_sides.h"
#include "base/error.h"
#include "base/files.h"
#include "recording/ranks.h"
#include "recording/reader.h"

/* A rank's part in a call of all ranks. */
struct part {
    uint64_t number; /* of the call */
    uint64_t index;  /* for tg_calls_get */
    uint32_t rank;
};

struct verifying {
    struct tg_rank_sides sides;
    struct tg_ranks_messages *is;
    bool *is_whole; /* of each rank: see is_whole() */
    uint64_t n_whole;
    struct part *part;
    uint64_t n_parts;
};

const char *tg_ranks_fit_name(unsigned result)
{
    static const char *const names[TG_FITS] = {"good", "not all compared", "not known", "bad"};
    return result < TG_FITS ? names[result] : "unknown";
}

/* Whether a call that the rank's file lacks was not made, and never would have been: the file has its end, and
 * the rank had reached the end of its graph. A rank that failed may have failed before the call. */
static bool is_whole(const struct tg_rank_side *side)
{
    struct tg_calls_info info;
    if (!side->calls || side->rank.is_running || !side->rank.has_status ||
        side->rank.status != TG_OK)
        return false;
    tg_calls_get_info(side->calls, &info);
    return info.is_complete;
}

__attribute__((format(printf, 5, 6))) static void
report(struct verifying *v, uint32_t rank, uint32_t other, uint64_t task, const char *format, ...)
{
    struct tg_ranks_messages *is = v->is;
    va_list values;
    if (is->problems++ >= TG_RANKS_FINDINGS)
        return;
    struct tg_ranks_misfit *misfit = &is->misfit[is->n_misfits++];
    *misfit = (struct tg_ranks_misfit){.rank = rank, .other = other, .task = task};
    va_start(values, format);
    (void)vsnprintf(misfit->text, sizeof misfit->text, format, values);
    va_end(values);
}

/* ── contents ──────────────────────────────────────────────────────────────────────────── */

/* The hash of a record; false if there is none. */
static bool hash_of(const struct tg_rank_side *side, uint64_t record, uint64_t *hash)
{
    struct tg_entry entry;
    if (record == TG_NONE || !tg_recording_get(side->recording, record, &entry))
        return false;
    *hash = entry.record.hash;
    return (entry.record.flags & (TG_RECORD_HASHED | TG_RECORD_PARTIAL)) == TG_RECORD_HASHED;
}

static bool sent_hash(const struct tg_rank_side *side, uint64_t task, uint64_t *hash)
{
    uint64_t index;
    return side->call && tg_calls_index(side->calls, task, &index) &&
           hash_of(side, side->call[index].in, hash);
}

static bool left_hash(const struct tg_rank_side *side, uint64_t task, uint64_t *hash)
{
    uint64_t index;
    return side->call && tg_calls_index(side->calls, task, &index) &&
           hash_of(side, side->call[index].out, hash);
}

/* ── messages ──────────────────────────────────────────────────────────────────────────── */

static bool is_alike(const struct tg_call *a, const struct tg_call *b)
{
    return a->elements == b->elements && a->bytes == b->bytes && a->dtype == b->dtype;
}

static void compare_message(struct verifying *v, uint32_t from, const struct tg_call *send,
                            const struct tg_call *recv)
{
    const struct tg_rank_side *to = &v->sides.side[send->peer];
    char a[TG_CALL_WORDS], b[TG_CALL_WORDS];
    uint64_t sent, received;
    v->is->messages++;
    if (!is_alike(send, recv)) {
        report(v, from, (uint32_t)send->peer, send->task, "rank %u calls %s, but rank %u calls %s",
               from, tg_call_describe(send, a), to->rank.rank, tg_call_describe(recv, b));
    } else if (recv->state != TG_CALL_DONE) {
        v->is->unknown++;
    } else if (!sent_hash(&v->sides.side[from], send->task, &sent) ||
               !left_hash(to, recv->task, &received)) {
        v->is->unhashed++;
    } else {
        v->is->compared++;
        if (sent != received)
            report(v, from, to->rank.rank, send->task,
                   "rank %u received other bytes than rank %u sent: %s there, %s", to->rank.rank,
                   from, tg_call_describe(recv, a), tg_call_describe(send, b));
    }
}

/* A call that ended although the other rank never made its part. It is no misfit that a rank waits for one that
 * has failed. */
static void report_lone(struct verifying *v, uint32_t rank, const struct tg_call *call)
{
    char words[TG_CALL_WORDS];
    if (!v->is_whole[call->peer] || call->state != TG_CALL_DONE)
        v->is->unknown++;
    else
        report(v, rank, (uint32_t)call->peer, call->task,
               "rank %u calls %s, and rank %d has no such %s", rank, tg_call_describe(call, words),
               call->peer, call->kind == TG_COMM_SEND ? "tg_recv" : "tg_send");
}

/* From the sender's end; a receive is looked at only if it has no sender. */
static void verify_message(struct verifying *v, uint32_t rank, const struct tg_call *call)
{
    struct tg_call other;
    if ((uint32_t)call->peer >= v->sides.n) {
        v->is->unknown++; /* the files disagree on how many ranks there are */
        return;
    }
    bool is_there = tg_calls_other_side(v->sides.side[call->peer].calls, rank, call, &other);
    if (!is_there)
        report_lone(v, rank, call);
    else if (call->kind == TG_COMM_SEND)
        compare_message(v, rank, call, &other);
}

/* ── calls of all ranks ────────────────────────────────────────────────────────────────── */

static bool is_same_collective(const struct tg_call *a, const struct tg_call *b)
{
    return a->kind == b->kind && a->peer == b->peer && a->operation == b->operation &&
           a->dtype == b->dtype && a->elements == b->elements;
}

/* What every rank has in the end; of a broadcast also what the root had before. */
static bool result_of(const struct tg_rank_side *side, const struct tg_call *call, uint64_t *hash)
{
    if (left_hash(side, call->task, hash))
        return call->state == TG_CALL_DONE;
    return call->kind == TG_COMM_BROADCAST && (uint32_t)call->peer == side->rank.rank &&
           sent_hash(side, call->task, hash);
}

static bool shares_result(uint32_t kind)
{
    return kind == TG_COMM_ALL_REDUCE || kind == TG_COMM_ALL_GATHER || kind == TG_COMM_BROADCAST;
}

/* Names the ranks that should have a part, and have none, until the list of misfits is full. */
static void name_lacking(struct verifying *v, const struct part *part, uint64_t n,
                         const struct part *done)
{
    char words[TG_CALL_WORDS];
    struct tg_call call;
    uint64_t at = 0;
    if (!tg_calls_get(v->sides.side[done->rank].calls, done->index, &call))
        return;
    for (uint32_t r = 0; r < v->sides.n && v->is->n_misfits < TG_RANKS_FINDINGS; r++) {
        while (at < n && part[at].rank < r)
            at++;
        if (v->is_whole[r] && !(at < n && part[at].rank == r))
            report(v, done->rank, r, call.task,
                   "rank %u calls %s, and rank %u has no call %" PRIu64 " of the ranks", done->rank,
                   tg_call_describe(&call, words), r, call.number);
    }
}

/* Ranks that have no part in a call. `done` is a part that ended, which needs those of all ranks; NULL: none did.
 * They are counted without a look at each: there may be thousands, in a million calls. */
static void count_lacking(struct verifying *v, const struct part *part, uint64_t n,
                          const struct part *done)
{
    uint64_t lacking = v->n_whole, before = v->is->problems;
    for (uint64_t i = 0; i < n; i++)
        lacking -= v->is_whole[part[i].rank];
    lacking = done ? lacking : 0;
    v->is->unknown += v->sides.n - n - lacking;
    if (lacking > 0)
        name_lacking(v, part, n, done);
    v->is->problems = before + lacking;
}

/* The results of all parts that are like the first, with that of the first one that has a hash. Whatever has none
 * was not compared; neither was a hash that is the only one. */
static void compare_results(struct verifying *v, const struct part *part, uint64_t n,
                            const struct tg_call *first)
{
    char words[TG_CALL_WORDS];
    struct tg_call call;
    const struct part *with = NULL;
    uint64_t hash = 0, other, unhashed = 0, compared = 0;
    for (uint64_t i = 0; i < n; i++) {
        const struct tg_rank_side *side = &v->sides.side[part[i].rank];
        if (!tg_calls_get(side->calls, part[i].index, &call) || !is_same_collective(first, &call))
            continue;
        if (!result_of(side, &call, &other)) {
            v->is->unknown += call.state != TG_CALL_DONE;
            unhashed += call.state == TG_CALL_DONE;
        } else if (!with) {
            with = &part[i];
            hash = other;
        } else {
            compared++;
            if (hash != other)
                report(v, with->rank, side->rank.rank, call.task,
                       "rank %u has another result than rank %u of call %" PRIu64 ": %s",
                       side->rank.rank, with->rank, call.number, tg_call_describe(&call, words));
        }
    }
    v->is->compared += compared;
    v->is->unhashed += unhashed + (with && compared == 0 && n > 1);
}

/* Compares the call of each rank with that of the lowest rank that has one. */
static void verify_collective(struct verifying *v, const struct part *part, uint64_t n)
{
    char a[TG_CALL_WORDS], b[TG_CALL_WORDS];
    struct tg_call first, other;
    uint32_t rank = part->rank;
    bool any_done = false, any_waits = false;
    uint64_t done_index = 0;
    if (!tg_calls_get(v->sides.side[rank].calls, part->index, &first))
        return;
    v->is->collectives++;
    for (uint64_t i = 0; i < n; i++) {
        if (!tg_calls_get(v->sides.side[part[i].rank].calls, part[i].index, &other))
            continue;
        if (!any_done && other.state == TG_CALL_DONE)
            done_index = i;
        any_done |= other.state == TG_CALL_DONE;
        any_waits |= other.state != TG_CALL_DONE;
        if (!is_same_collective(&first, &other))
            report(v, rank, part[i].rank, first.task,
                   "call %" PRIu64 " of the ranks differs: rank %u calls %s, rank %u calls %s",
                   first.number, rank, tg_call_describe(&first, a), part[i].rank,
                   tg_call_describe(&other, b));
    }
    if (n < v->sides.n)
        count_lacking(v, part, n, any_done ? &part[done_index] : NULL);
    if (shares_result(first.kind))
        compare_results(v, part, n, &first);
    else if (any_waits)
        v->is->unknown++;
    else
        v->is->unshared++;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* All calls of all ranks, those with the same number beside each other: each rank's file may have other numbers
 * than the next one's, so that looking for every number in every file could take for ever. */
static tg_status gather_parts(struct verifying *v, struct tg_error *error)
{
    struct tg_call call;
    uint64_t n = 0;
    for (uint32_t r = 0; r < v->sides.n; r++)
        n += v->sides.side[r].n_calls;
    v->part = malloc((n + 1) * sizeof *v->part);
    if (!v->part)
        return tg_file_no_memory(error);
    for (uint32_t r = 0; r < v->sides.n; r++)
        for (uint64_t i = 0; tg_calls_get(v->sides.side[r].calls, i, &call); i++)
            if (!tg_call_is_message(call.kind))
                v->part[v->n_parts++] = (struct part){call.number, i, r};
    if (v->n_parts > 0)
        qsort(v->part, v->n_parts, sizeof *v->part, compare_parts);
    return TG_OK;
}

static void verify_collectives(struct verifying *v)
{
    for (uint64_t i = 0, end; i < v->n_parts; i = end) {
        for (end = i + 1; end < v->n_parts && v->part[end].number == v->part[i].number;)
            end++;
        verify_collective(v, &v->part[i], end - i);
    }
}

/* ── what is missing ───────────────────────────────────────────────────────────────────── */

static void count_gaps(struct verifying *v)
{
    struct tg_calls_info info;
    for (uint32_t r = 0; r < v->sides.n; r++) {
        const struct tg_rank_side *side = &v->sides.side[r];
        v->is->damaged += side->damaged;
        if (side->calls) {
            tg_calls_get_info(side->calls, &info);
            v->is->incomplete += !info.is_complete;
        } else {
            v->is->absent += !tg_rank_made_no_calls(side);
        }
    }
}

static enum tg_ranks_fit judge(const struct tg_ranks_messages *is)
{
    if (is->problems > 0)
        return TG_FIT_BAD;
    if (is->unknown > 0 || is->damaged > 0 || is->incomplete > 0 || is->absent > 0)
        return TG_FIT_UNKNOWN;
    if (is->unhashed > 0 || (is->unshared > 0 && is->compared == 0))
        return TG_FIT_PART;
    return TG_FIT_GOOD;
}

/* ── all of it ─────────────────────────────────────────────────────────────────────────── */

static tg_status verify(struct verifying *v, struct tg_error *error)
{
    struct tg_call call;
    v->is_whole = calloc(v->sides.n + 1, sizeof *v->is_whole);
    if (!v->is_whole)
        return tg_file_no_memory(error);
    tg_status status = gather_parts(v, error);
    if (status != TG_OK)
        return status;
    for (uint32_t r = 0; r < v->sides.n; r++)
        v->n_whole += v->is_whole[r] = is_whole(&v->sides.side[r]);
    for (uint32_t r = 0; r < v->sides.n; r++)
        for (uint64_t i = 0; tg_calls_get(v->sides.side[r].calls, i, &call); i++)
            if (tg_call_is_message(call.kind))
                verify_message(v, r, &call);
    verify_collectives(v);
    count_gaps(v);
    v->is->result = judge(v->is);
    return tg_rank_sides_check(&v->sides, error);
}

tg_status tg_ranks_verify(const struct tg_ranks *ranks, struct tg_ranks_messages *messages,
                          struct tg_error *error)
{
    TG_REFUSE_NULL(error, ranks);
    TG_REFUSE_NULL(error, messages);
    struct verifying v = {.is = messages};
    memset(messages, 0, sizeof *messages);
    messages->result = TG_FIT_UNKNOWN;
    tg_status status = tg_rank_sides_open(ranks, true, &v.sides, error);
    if (status == TG_OK)
        status = verify(&v, error);
    tg_rank_sides_close(&v.sides);
    free(v.is_whole);
    free(v.part);
    return status;
}
