/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs with several ranks: where a difference began.
 *
 * Within a rank, blame names the tasks whose inputs agree and whose outputs do not. For a task that
 * computes, that is an answer. A call that received something else is only a victim if what another rank
 * put into it was different already: the send that belongs to a receive, the root's part of a broadcast,
 * any rank's part of the others. If all of that was equal, the call itself is to blame. Each element of
 * what a call left is made of certain elements that the ranks gave, and only these count: that a rank
 * gave something else to a third one is no reason for what this one got.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>

#include "analysis/ranks_sides.h"
#include "base/error.h"
#include "base/files.h"
#include "recording/ranks.h"

/* What is known of the values that a call was given. */
enum given { GIVEN_EQUAL, GIVEN_DIFFERS, GIVEN_UNKNOWN };

/* A call of A beside the same of B. */
struct taken {
    enum given given;     /* what it was given, as a whole */
    uint64_t in_b, out_b; /* the records of B that go with those of A; TG_NONE: none */
};

/* One rank: both recordings and what differs. */
struct pair {
    struct tg_diff *diff;
    struct tg_blame *blame;
    struct tg_diff_summary summary;
    struct taken *taken; /* of each call of A */
};

struct diffing {
    struct tg_rank_sides a, b;
    struct pair *pair; /* of each rank */
    struct tg_ranks_difference *is;
    uint32_t n_notes; /* also those that there is no room for */
};

__attribute__((format(printf, 2, 3))) static void note(struct diffing *d, const char *format, ...)
{
    va_list values;
    if (++d->n_notes > TG_RANKS_UNKNOWN) {
        snprintf(d->is->missing[TG_RANKS_UNKNOWN - 1], sizeof d->is->missing[0], "and %u more",
                 d->n_notes - TG_RANKS_UNKNOWN + 1);
        return;
    }
    va_start(values, format);
    (void)vsnprintf(d->is->missing[d->is->n_unknown++], sizeof d->is->missing[0], format, values);
    va_end(values);
}

/* ── one rank ──────────────────────────────────────────────────────────────────────────── */

/* Blame works on bits, so a value within the tolerance is a difference too. */
static enum given given_of(const struct tg_diff *diff, uint64_t pair)
{
    enum tg_verdict verdict;
    enum tg_reason reason = tg_diff_reason(diff, pair, &verdict);
    if (verdict == TG_VERDICT_SAME)
        return GIVEN_EQUAL;
    if (verdict == TG_VERDICT_UNKNOWN && reason != TG_REASON_OTHER_HASH)
        return GIVEN_UNKNOWN;
    return GIVEN_DIFFERS;
}

static void take_pair(const struct tg_rank_side *side, struct pair *pair, uint64_t number)
{
    struct tg_diff_pair records;
    struct tg_entry entry;
    uint64_t index;
    if (!tg_diff_get_pair(pair->diff, number, &records) || records.record_a == TG_NONE ||
        !tg_recording_get(side->recording, records.record_a, &entry) ||
        !tg_calls_index(side->calls, entry.record.task_id, &index))
        return;
    if (side->call[index].in == records.record_a) {
        pair->taken[index].given = given_of(pair->diff, number);
        pair->taken[index].in_b = records.record_b;
    }
    if (side->call[index].out == records.record_a)
        pair->taken[index].out_b = records.record_b;
}

/* Looks up what each call was given and left on this rank. */
static bool find_taken(const struct tg_rank_side *side, struct pair *pair)
{
    struct tg_diff_pair records;
    pair->taken = malloc((side->n_calls + 1) * sizeof *pair->taken);
    if (!pair->taken)
        return false;
    for (uint64_t i = 0; i < side->n_calls; i++)
        pair->taken[i] = (struct taken){GIVEN_UNKNOWN, TG_NONE, TG_NONE};
    for (uint64_t i = 0; side->calls && tg_diff_get_pair(pair->diff, i, &records); i++)
        take_pair(side, pair, i);
    return true;
}

static tg_status compare_rank(struct diffing *d, uint32_t r, const struct tg_diff_options *options,
                              struct tg_error *error)
{
    struct pair *pair = &d->pair[r];
    struct tg_diff_result result;
    const struct tg_recording *a = d->a.side[r].recording, *b = d->b.side[r].recording;
    tg_status status = tg_diff_open(a, b, options, &pair->diff, error);
    if (status != TG_OK)
        return status;
    for (uint64_t i = 0; tg_diff_compare(pair->diff, i, &result); i++)
        continue;
    tg_diff_summarize(pair->diff, &pair->summary);
    if (pair->summary.verdict != TG_VERDICT_SAME && pair->summary.verdict != TG_VERDICT_CLOSE)
        status = tg_blame_open(pair->diff, &pair->blame, error);
    if (status == TG_OK && !find_taken(&d->a.side[r], pair))
        status = tg_file_no_memory(error);
    return status;
}

static void count_rank(struct diffing *d, uint32_t r)
{
    const struct pair *pair = &d->pair[r];
    struct tg_ranks_difference *is = d->is;
    enum tg_verdict verdict = pair->diff ? pair->summary.verdict : TG_VERDICT_UNKNOWN;
    is->differ += verdict == TG_VERDICT_DIFFERS;
    is->unknown += verdict == TG_VERDICT_UNKNOWN;
    is->equal += verdict == TG_VERDICT_SAME || verdict == TG_VERDICT_CLOSE;
    if (verdict == TG_VERDICT_DIFFERS || is->verdict == TG_VERDICT_DIFFERS)
        is->verdict = TG_VERDICT_DIFFERS;
    else if (verdict == TG_VERDICT_UNKNOWN || is->verdict == TG_VERDICT_UNKNOWN)
        is->verdict = TG_VERDICT_UNKNOWN;
    else if (verdict == TG_VERDICT_CLOSE)
        is->verdict = TG_VERDICT_CLOSE;
}

/* ── where a call's values came from ───────────────────────────────────────────────────── */

/* Where what a call got came from. */
struct origin {
    bool has_from; /* this rank gave something else: */
    uint32_t from;
    bool is_call;     /* of some of it, all that the ranks gave is the same */
    bool has_unknown; /* of some of it, what this rank gave is not known: */
    uint32_t unknown;
};

/* The values of one record in both runs; `a` NULL: they are not known. */
struct values {
    const uint8_t *a, *b;
    uint64_t elements, width; /* width: bytes of an element */
};

static void find_values(const struct diffing *d, uint32_t r, uint64_t record_a, uint64_t record_b,
                        struct values *values)
{
    struct tg_entry entry_a, entry_b;
    struct tg_array a, b;
    *values = (struct values){0};
    if (record_a == TG_NONE || record_b == TG_NONE ||
        !tg_recording_get(d->a.side[r].recording, record_a, &entry_a) ||
        !tg_recording_get(d->b.side[r].recording, record_b, &entry_b) ||
        (entry_a.record.flags | entry_b.record.flags) & TG_RECORD_PARTIAL ||
        !tg_array_of(d->a.side[r].recording, &entry_a, &a) ||
        !tg_array_of(d->b.side[r].recording, &entry_b, &b) || a.cut || b.cut)
        return;
    if (a.dtype != b.dtype || a.elements != b.elements || a.size != b.size || a.elements <= 0 ||
        a.size % (uint64_t)a.elements != 0) /* such as two elements in a byte */
        return;
    *values =
        (struct values){a.bytes, b.bytes, (uint64_t)a.elements, a.size / (uint64_t)a.elements};
}

static bool differs_at(const struct values *values, uint64_t element)
{
    uint64_t at = element * values->width;
    return memcmp(values->a + at, values->b + at, values->width) != 0;
}

/* The call of rank `r` of that run that the call of `rank` got something from: its number on `r`. */
static bool find_other(const struct tg_rank_sides *sides, uint32_t rank, const struct tg_call *call,
                       uint32_t r, uint64_t *index)
{
    struct tg_call other;
    const struct tg_calls *calls = sides->side[r].calls;
    bool is_there =
        tg_call_is_message(call->kind)
            ? tg_calls_other_side(calls, rank, call, &other)
            : tg_calls_collective(calls, call->number, &other) && other.kind == call->kind;
    return is_there && tg_calls_index(calls, other.task, index);
}

/* A call of `rank` in both runs. */
struct both {
    struct tg_call a, b;
    bool has_b; /* the calls of B are known too */
};

/* The records of what rank `r` gave to the call. In B it may be another task than the one that is matched with A's: if
 * a rank left out a message, every later one of it arrives in the place of the one before. */
static bool find_given(const struct diffing *d, uint32_t rank, const struct both *call, uint32_t r,
                       uint64_t *in_a, uint64_t *in_b)
{
    const struct tg_rank_side *side_b = &d->b.side[r];
    uint64_t index, index_b;
    *in_b = TG_NONE;
    if (!d->pair[r].taken || !find_other(&d->a, rank, &call->a, r, &index))
        return false;
    *in_a = d->a.side[r].call[index].in;
    if (!call->has_b || !side_b->calls)
        *in_b = d->pair[r].taken[index].in_b;
    else if (side_b->call && find_other(&d->b, rank, &call->b, r, &index_b))
        *in_b = side_b->call[index_b].in;
    return true;
}

/* What is known of them as a whole. */
static enum given compare_given(const struct diffing *d, uint32_t rank, const struct both *call,
                                uint32_t r)
{
    uint64_t index, in_a, in_b;
    struct tg_entry a, b;
    const unsigned hashed = TG_RECORD_HASHED | TG_RECORD_PARTIAL;
    if (!find_given(d, rank, call, r, &in_a, &in_b))
        return GIVEN_UNKNOWN;
    if (find_other(&d->a, rank, &call->a, r, &index) && d->pair[r].taken[index].in_b == in_b)
        return d->pair[r].taken[index].given;
    if (!tg_recording_get(d->a.side[r].recording, in_a, &a) ||
        !tg_recording_get(d->b.side[r].recording, in_b, &b) ||
        (a.record.flags & hashed) != TG_RECORD_HASHED ||
        (b.record.flags & hashed) != TG_RECORD_HASHED)
        return GIVEN_UNKNOWN;
    return a.record.hash == b.record.hash ? GIVEN_EQUAL : GIVEN_DIFFERS;
}

/* Which ranks make the element `at` of what the call leaves, and which of their elements it is. `size` is what each of
 * them has to give, if the call leaves `elements`. */
struct source {
    uint32_t first, end;
    uint64_t at, size;
};

static bool find_source(const struct diffing *d, uint32_t rank, const struct tg_call *call,
                        uint64_t elements, uint64_t at, struct source *source)
{
    uint64_t n = d->a.n, piece = elements / n;
    *source = (struct source){0, d->a.n, at, elements};
    switch (call->kind) {
    case TG_COMM_RECV:
    case TG_COMM_BROADCAST:
        source->first = (uint32_t)call->peer;
        source->end = source->first + 1;
        return call->peer >= 0 && source->first < n;
    case TG_COMM_ALL_REDUCE:
        return true;
    case TG_COMM_REDUCE_SCATTER:
        source->at = rank * elements + at;
        source->size = n * elements;
        return true;
    case TG_COMM_ALL_GATHER:
    case TG_COMM_ALL_TO_ALL:
        if (piece == 0 || elements % n != 0)
            return false;
        source->first = (uint32_t)(at / piece);
        source->end = source->first + 1;
        source->at = at % piece + (call->kind == TG_COMM_ALL_TO_ALL ? rank * piece : 0);
        source->size = call->kind == TG_COMM_ALL_TO_ALL ? elements : piece;
        return true;
    default:
        return false;
    }
}

/* One element that differs. Another rank is a better answer than the rank itself. */
static void trace_element(uint32_t rank, const struct values *given, const struct values *left,
                          const struct source *source, struct origin *origin)
{
    bool is_known = true, is_found = false;
    for (uint32_t r = source->first; r < source->end; r++) {
        const struct values *values = &given[r];
        if (!values->a || values->elements != source->size || values->width != left->width) {
            is_known = false;
            origin->unknown = origin->has_unknown ? origin->unknown : r;
            continue;
        }
        if (!differs_at(values, source->at))
            continue;
        is_found = true;
        if (!origin->has_from || origin->from == rank)
            origin->from = r;
        origin->has_from = true;
        if (r != rank)
            return;
    }
    origin->is_call |= is_known && !is_found;
    origin->has_unknown |= !is_known && !is_found;
}

/* By the values of each element; false if what the call left is not known. */
static bool trace_values(const struct diffing *d, uint32_t rank, const struct both *both,
                         struct values *given, struct origin *origin)
{
    const struct tg_call *call = &both->a;
    uint64_t own, in_a, in_b;
    struct values left;
    struct source source;
    if (!d->pair[rank].taken || !tg_calls_index(d->a.side[rank].calls, call->task, &own))
        return false;
    find_values(d, rank, d->a.side[rank].call[own].out, d->pair[rank].taken[own].out_b, &left);
    if (!left.a || !find_source(d, rank, call, left.elements, 0, &source))
        return false;
    for (uint32_t r = 0; r < d->a.n; r++)
        if (find_given(d, rank, both, r, &in_a, &in_b))
            find_values(d, r, in_a, in_b, &given[r]);
    for (uint64_t i = 0; i < left.elements; i++)
        if (differs_at(&left, i) && find_source(d, rank, call, left.elements, i, &source))
            trace_element(rank, given, &left, &source, origin);
    return origin->has_from || origin->is_call || origin->has_unknown;
}

/* By hashes, which say only whether a rank gave something else, and not in which piece. */
static void trace_whole(const struct diffing *d, uint32_t rank, const struct both *both,
                        struct origin *origin)
{
    const struct tg_call *call = &both->a;
    struct source source;
    bool has_pieces = call->kind == TG_COMM_ALL_TO_ALL || call->kind == TG_COMM_REDUCE_SCATTER;
    bool is_one = call->kind == TG_COMM_RECV || call->kind == TG_COMM_BROADCAST;
    if (!find_source(d, rank, call, d->a.n, 0, &source)) {
        origin->has_unknown = true;
        origin->unknown = (uint32_t)call->peer;
        return;
    }
    for (uint32_t r = is_one ? source.first : 0; r < (is_one ? source.end : d->a.n); r++) {
        enum given given = compare_given(d, rank, both, r);
        bool is_from = given == GIVEN_DIFFERS && r != rank && !has_pieces;
        if (is_from && !origin->has_from)
            origin->from = r;
        origin->has_from |= is_from;
        if (given != GIVEN_EQUAL && !is_from && !origin->has_unknown) {
            origin->has_unknown = true;
            origin->unknown = r;
        }
    }
    origin->is_call = !origin->has_from && !origin->has_unknown;
}

static bool find_origin(const struct diffing *d, uint32_t rank, const struct both *call,
                        struct origin *origin)
{
    struct values *given = calloc(d->a.n, sizeof *given);
    *origin = (struct origin){0};
    if (given && !trace_values(d, rank, call, given, origin))
        trace_whole(d, rank, call, origin);
    free(given);
    return given != NULL;
}

/* ── causes ────────────────────────────────────────────────────────────────────────────── */

static void fill_cause(const struct diffing *d, uint32_t rank, const struct tg_suspect *suspect,
                       struct tg_ranks_cause *cause)
{
    struct tg_diff_task task;
    char id[48];
    tg_diff_get_task(d->pair[rank].diff, suspect->task, &task);
    *cause = (struct tg_ranks_cause){.rank = rank,
                                     .task_a = task.in_a ? task.id_a : TG_TASK_NONE,
                                     .task_b = task.in_b ? task.id_b : TG_TASK_NONE,
                                     .guilt = suspect->guilt,
                                     .depth = suspect->depth};
    uint64_t number = task.in_a ? task.id_a : task.id_b;
    snprintf(cause->kernel, sizeof cause->kernel, "%s", task.kernel);
    if (number == TG_TASK_NONE)
        snprintf(cause->text, sizeof cause->text, "rank %u, the orchestration: %s", rank,
                 tg_guilt_text(suspect->guilt));
    else
        snprintf(cause->text, sizeof cause->text, "rank %u, task %s (%.120s): %s", rank,
                 tg_task_words(number, id), task.kernel, tg_guilt_text(suspect->guilt));
}

/* The earliest in its rank's graph first; among equals the order of guilt, then of ranks. */
static bool comes_before(const struct tg_ranks_cause *a, const struct tg_ranks_cause *b)
{
    bool sure_a = a->guilt < TG_GUILT_CHANGED, sure_b = b->guilt < TG_GUILT_CHANGED;
    if (sure_a != sure_b)
        return sure_a;
    if (a->depth != b->depth)
        return a->depth < b->depth;
    return a->guilt != b->guilt ? a->guilt < b->guilt : a->rank < b->rank;
}

static void add_cause(struct tg_ranks_difference *is, const struct tg_ranks_cause *cause)
{
    uint32_t at = is->n_causes;
    while (at > 0 && comes_before(cause, &is->cause[at - 1]))
        at--;
    is->more_causes += is->n_causes == TG_RANKS_CAUSES;
    if (at == TG_RANKS_CAUSES)
        return;
    is->n_causes += is->n_causes < TG_RANKS_CAUSES;
    memmove(&is->cause[at + 1], &is->cause[at], (is->n_causes - at - 1) * sizeof *cause);
    is->cause[at] = *cause;
}

static void add_reached(struct tg_ranks_difference *is, struct tg_ranks_cause *cause, uint32_t from,
                        const struct tg_call *call)
{
    char words[TG_CALL_WORDS], id[48];
    cause->has_from = true;
    cause->from = from;
    snprintf(cause->text, sizeof cause->text, "rank %u got it from rank %u by task %s: %s",
             cause->rank, from, tg_task_words(cause->task_a, id), tg_call_describe(call, words));
    if (is->n_reached < TG_RANKS_CAUSES)
        is->reached[is->n_reached++] = *cause;
    else
        is->more_reached++;
}

static bool judge_call(struct diffing *d, struct tg_ranks_cause *cause, const struct tg_call *call)
{
    char words[TG_CALL_WORDS], id[48];
    struct origin origin;
    struct tg_ranks_cause reached = *cause;
    struct both both = {.a = *call};
    both.has_b = tg_calls_of_task(d->b.side[cause->rank].calls, cause->task_b, &both.b) &&
                 both.b.kind == call->kind;
    if (!find_origin(d, cause->rank, &both, &origin))
        return false;
    tg_task_words(cause->task_a, id);
    tg_call_describe(call, words);
    if (origin.has_from && origin.from != cause->rank)
        add_reached(d->is, &reached, origin.from, call);
    else if (origin.has_from && !origin.is_call)
        add_cause(d->is, cause); /* only what it gave itself: blame knows better */
    if (origin.is_call) {
        snprintf(cause->text, sizeof cause->text,
                 "rank %u, task %s: it received other values although every rank gave the same: %s",
                 cause->rank, id, words);
        add_cause(d->is, cause);
    } else if (origin.has_unknown && !origin.has_from)
        note(d,
             "rank %u got other values by task %s, %.100s; whether rank %u gave them is not known",
             cause->rank, id, words, origin.unknown);
    return true;
}

/* Whether it is what the task left that accuses it. A call that was given another peer, operation or tensor
 * is to blame for that, whatever it received; and a send receives nothing. */
static bool is_about_values(enum tg_guilt guilt)
{
    return guilt == TG_GUILT_INTRODUCED || guilt == TG_GUILT_UNCLEAR;
}

static tg_status find_causes(struct diffing *d, uint32_t rank, struct tg_error *error)
{
    const struct tg_rank_side *side = &d->a.side[rank];
    struct tg_suspect suspect;
    struct tg_blame_info info;
    struct tg_call call;
    bool is_good = true;
    if (!d->pair[rank].blame)
        return TG_OK;
    tg_blame_get_info(d->pair[rank].blame, &info);
    if (*info.unknown)
        note(d, "rank %u: %.200s", rank, info.unknown);
    for (uint64_t i = 0; is_good && tg_blame_get_suspect(d->pair[rank].blame, i, &suspect); i++) {
        struct tg_ranks_cause cause;
        fill_cause(d, rank, &suspect, &cause);
        if (is_about_values(suspect.guilt) && tg_calls_of_task(side->calls, cause.task_a, &call) &&
            call.kind != TG_COMM_SEND)
            is_good = judge_call(d, &cause, &call);
        else
            add_cause(d->is, &cause);
    }
    return is_good ? TG_OK : tg_file_no_memory(error);
}

/* ── both runs ─────────────────────────────────────────────────────────────────────────── */

static void note_absent(struct diffing *d, const struct tg_rank_sides *sides, char which)
{
    for (uint32_t r = 0; r < sides->n; r++)
        if (!sides->side[r].recording)
            note(d, "rank %u of %c: %.200s", r, which, sides->side[r].why.text);
        else if (!sides->side[r].calls && !tg_rank_made_no_calls(&sides->side[r]))
            note(d, "rank %u of %c: which calls it made: %.200s", r, which,
                 sides->side[r].why_no_calls.text);
}

static tg_status compare(struct diffing *d, const struct tg_diff_options *options,
                         struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t r = 0; status == TG_OK && r < d->a.n; r++) {
        if (d->a.side[r].recording && d->b.side[r].recording)
            status = compare_rank(d, r, options, error);
        count_rank(d, r);
    }
    note_absent(d, &d->a, 'A');
    note_absent(d, &d->b, 'B');
    for (uint32_t r = 0; status == TG_OK && r < d->a.n; r++)
        status = find_causes(d, r, error);
    if (status == TG_OK)
        status = tg_rank_sides_check(&d->a, error);
    return status == TG_OK ? tg_rank_sides_check(&d->b, error) : status;
}

static void close_all(struct diffing *d)
{
    for (uint32_t r = 0; d->pair && r < d->a.n; r++) {
        tg_blame_close(d->pair[r].blame);
        tg_diff_close(d->pair[r].diff);
        free(d->pair[r].taken);
    }
    free(d->pair);
    tg_rank_sides_close(&d->a);
    tg_rank_sides_close(&d->b);
}

tg_status tg_ranks_diff(const struct tg_ranks *a, const struct tg_ranks *b,
                        const struct tg_diff_options *options,
                        struct tg_ranks_difference *difference, struct tg_error *error)
{
    TG_REFUSE_NULL(error, a);
    TG_REFUSE_NULL(error, b);
    TG_REFUSE_NULL(error, difference);
    struct diffing d = {.is = difference};
    memset(difference, 0, sizeof *difference);
    if (a->info.ranks != b->info.ranks)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "A has %u ranks and B has %u; compare runs with as many ranks, or "
                            "one device with --shard",
                            a->info.ranks, b->info.ranks);
    tg_status status = tg_rank_sides_open(a, true, &d.a, error);
    if (status == TG_OK)
        status = tg_rank_sides_open(b, true, &d.b, error);
    if (status == TG_OK) {
        d.pair = calloc(d.a.n, sizeof *d.pair);
        status = d.pair ? compare(&d, options, error) : tg_file_no_memory(error);
    }
    close_all(&d);
    return status;
}
