/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom: each call that has not completed, beside the calls of the ranks that it needs. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/ranks_explain.h"

/* Appends to a text of `room` bytes. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t room,
                                                         const char *format, ...)
{
    size_t at = strlen(text);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + at, room - at, format, values);
    va_end(values);
}

/* ── what a rank does instead ──────────────────────────────────────────────────────────── */

/* Whether call `i` of a rank was posted before its call `k`. */
static bool was_posted_before(const struct tg_calls *calls, uint64_t i, uint64_t k)
{
    struct tg_call a, b;
    if (!tg_calls_get(calls, i, &a) || !tg_calls_get(calls, k, &b))
        return false;
    if (a.posted_ns != b.posted_ns)
        return b.posted_ns == TG_CALL_NEVER ||
               (a.posted_ns != TG_CALL_NEVER && a.posted_ns < b.posted_ns);
    return a.number != b.number ? a.number < b.number : i < k;
}

/* Its call that has not completed and was posted next after call `last`; TG_NONE: the first, and if there is none. The
 * file has them in any order, but later calls may wait only because an earlier one does. */
static uint64_t next_waiting(const struct tg_rank_side *side, uint64_t last)
{
    struct tg_call call;
    uint64_t next = TG_NONE;
    for (uint64_t i = 0; tg_calls_get(side->calls, i, &call); i++)
        if (call.state != TG_CALL_DONE &&
            (last == TG_NONE || was_posted_before(side->calls, last, i)) &&
            (next == TG_NONE || was_posted_before(side->calls, i, next)))
            next = i;
    return next;
}

/* Its first call that has not completed; false if it has none. */
static bool first_waiting(const struct tg_rank_side *side, struct tg_call *call)
{
    uint64_t first = next_waiting(side, TG_NONE);
    return first != TG_NONE && tg_calls_get(side->calls, first, call);
}

/* "rank 1 waits in tg_recv …", "rank 1 ended: OK", "rank 1 …": what the other rank was at. */
static void append_doing(const struct tg_rank_side *side, char *text, size_t room)
{
    char words[TG_CALL_WORDS];
    struct tg_call call;
    uint32_t rank = side->rank.rank;
    if (!side->calls)
        append(text, room, "; what rank %u called is not known", rank);
    else if (first_waiting(side, &call))
        append(text, room, "; rank %u waits in %s", rank, tg_call_describe(&call, words));
    else if (side->rank.has_status)
        append(text, room, "; rank %u ended: %s", rank, tg_status_name(side->rank.status));
    else
        append(text, room, "; rank %u has %" PRIu64 " calls, and none of them waits", rank,
               side->n_calls);
}

/* Whether a call that is not in the rank's file was not made. */
static bool knows_all(const struct tg_rank_side *side)
{
    struct tg_calls_info info = {0};
    if (side->calls)
        tg_calls_get_info(side->calls, &info);
    return info.is_complete;
}

/* "its calls are known only up to tg_recv …": why it is not known whether a rank made a call. */
static void append_known(const struct tg_rank_side *side, char *text, size_t room)
{
    char words[TG_CALL_WORDS];
    struct tg_call call;
    if (!side->calls)
        append(text, room, "; what rank %u called is not known", side->rank.rank);
    else if (tg_calls_get(side->calls, side->n_calls - 1, &call))
        append(text, room, "; its calls are known only up to %s", tg_call_describe(&call, words));
    else
        append(text, room, "; none of its calls is known");
}

/* ── messages ──────────────────────────────────────────────────────────────────────────── */

/* The first call of the other rank that would fit if it had this call's tag, and that nobody answered. */
static bool find_crossed(const struct tg_ranks_explaining *x, const struct tg_ranks_wait *wait,
                         struct tg_call *found)
{
    const struct tg_rank_side *other = &x->sides.side[wait->call.peer];
    const struct tg_calls *own = x->sides.side[wait->rank].calls;
    uint32_t kind = wait->call.kind == TG_COMM_SEND ? TG_COMM_RECV : TG_COMM_SEND;
    uint64_t first = TG_NONE;
    for (uint64_t i = 0; tg_calls_get(other->calls, i, found); i++)
        if (found->kind == kind && (uint32_t)found->peer == wait->rank &&
            found->tag != wait->call.tag && found->dtype == wait->call.dtype &&
            found->elements == wait->call.elements &&
            !tg_calls_other_side(own, other->rank.rank, found, NULL) &&
            (first == TG_NONE || was_posted_before(other->calls, i, first)))
            first = i;
    return first != TG_NONE && tg_calls_get(other->calls, first, found);
}

static void say_message(const struct tg_ranks_explaining *x, struct tg_ranks_wait *wait)
{
    const struct tg_call *call = &wait->call;
    const struct tg_rank_side *other = &x->sides.side[call->peer];
    const char *missing = call->kind == TG_COMM_SEND ? "tg_recv" : "tg_send";
    char words[TG_CALL_WORDS];
    struct tg_call there;
    if (tg_calls_other_side(other->calls, wait->rank, call, &there)) {
        bool fits = there.elements == call->elements && there.dtype == call->dtype;
        wait->is_mismatch = !fits;
        wait->has_for = !fits;
        append(wait->text, sizeof wait->text,
               fits ? ": rank %u has called %s: the data were under way" : ", but rank %u calls %s",
               other->rank.rank, tg_call_describe(&there, words));
    } else if (!knows_all(other)) {
        append(wait->text, sizeof wait->text, ": whether rank %u has called that %s is not known",
               other->rank.rank, missing);
        append_known(other, wait->text, sizeof wait->text);
    } else {
        wait->has_for = true;
        append(wait->text, sizeof wait->text, ": rank %u has not called that %s", other->rank.rank,
               missing);
        if (find_crossed(x, wait, &there))
            append(wait->text, sizeof wait->text,
                   ", but %s, which nobody has answered: were the tags crossed?",
                   tg_call_describe(&there, words));
        else
            append_doing(other, wait->text, sizeof wait->text);
    }
    wait->waits_for = other->rank.rank;
    wait->n_for = wait->has_for;
}

/* ── calls of all ranks ────────────────────────────────────────────────────────────────── */

static bool is_other(const struct tg_call *a, const struct tg_call *b)
{
    return a->kind != b->kind || a->peer != b->peer || a->operation != b->operation ||
           a->dtype != b->dtype || a->elements != b->elements;
}

/* Of several ranks that have not called it, the first that waits for nobody: the others may be held up. */
static void take_missing(const struct tg_ranks_explaining *x, struct tg_ranks_wait *wait,
                         uint32_t rank)
{
    struct tg_call call;
    const struct tg_rank_side *before = &x->sides.side[wait->waits_for],
                              *now = &x->sides.side[rank];
    if (!wait->has_for || (first_waiting(before, &call) && !first_waiting(now, &call)))
        wait->waits_for = rank;
    wait->has_for = true;
    wait->n_for++;
}

static void say_collective(const struct tg_ranks_explaining *x, struct tg_ranks_wait *wait)
{
    char words[TG_CALL_WORDS];
    struct tg_call there;
    const struct tg_rank_side *unseen = NULL; /* the last of the unknown */
    uint32_t unknown = 0;
    for (uint32_t r = 0; r < x->sides.n && !wait->is_mismatch; r++) {
        const struct tg_rank_side *side = &x->sides.side[r];
        if (r == wait->rank)
            continue;
        if (!tg_calls_collective(side->calls, wait->call.number, &there)) {
            if (knows_all(side)) {
                take_missing(x, wait, r);
            } else {
                unseen = side;
                unknown++;
            }
        } else if (is_other(&wait->call, &there)) {
            wait->is_mismatch = wait->has_for = true;
            wait->waits_for = r;
            wait->n_for = 1;
            append(wait->text, sizeof wait->text,
                   ", but rank %u calls %s in its place (call %" PRIu64 " of the ranks)", r,
                   tg_call_describe(&there, words), wait->call.number);
        }
    }
    if (wait->is_mismatch)
        return;
    append(wait->text, sizeof wait->text, " (call %" PRIu64 " of the ranks)", wait->call.number);
    if (wait->n_for > 1)
        append(wait->text, sizeof wait->text, ": %u ranks have not called it", wait->n_for);
    else if (wait->has_for)
        append(wait->text, sizeof wait->text, ": rank %u has not called it", wait->waits_for);
    else if (unknown > 1)
        append(wait->text, sizeof wait->text,
               ": of %u ranks it is not known whether they called it", unknown);
    else if (unseen)
        append(wait->text, sizeof wait->text, ": whether rank %u has called it is not known",
               unseen->rank.rank);
    else
        append(wait->text, sizeof wait->text, ": all ranks have called it");
    if (wait->has_for)
        append_doing(&x->sides.side[wait->waits_for], wait->text, sizeof wait->text);
    else if (unknown == 1)
        append_known(unseen, wait->text, sizeof wait->text);
}

/* ── all waits ─────────────────────────────────────────────────────────────────────────── */

static void add_wait(struct tg_ranks_explaining *x, uint32_t rank, const struct tg_call *call)
{
    struct tg_ranks_explanation *is = x->is;
    char words[TG_CALL_WORDS];
    struct tg_ranks_wait *wait = &is->wait[is->n_waits++];
    *wait = (struct tg_ranks_wait){.rank = rank, .call = *call};
    snprintf(wait->text, sizeof wait->text, "rank %u waits in %s", rank,
             tg_call_describe(call, words));
    if (!tg_call_is_message(call->kind))
        say_collective(x, wait);
    else if ((uint32_t)call->peer < x->sides.n)
        say_message(x, wait);
}

static uint32_t count_waiting(const struct tg_rank_side *side)
{
    struct tg_call call;
    uint32_t n = 0;
    for (uint64_t i = 0; tg_calls_get(side->calls, i, &call); i++)
        n += call.state != TG_CALL_DONE;
    return n;
}

/* How many waits of each rank there is room for: the way from rank to rank must not end at one that has none left. */
static uint32_t share_of_rank(const struct tg_ranks_explaining *x)
{
    uint32_t share = 1;
    for (uint64_t all = 0; share < TG_RANKS_WAITS; share++, all = 0) {
        for (uint32_t r = 0; r < x->sides.n; r++)
            all += x->waits_of[r] < share + 1 ? x->waits_of[r] : share + 1;
        if (all > TG_RANKS_WAITS)
            break;
    }
    return share;
}

void tg_ranks_explain_waits(struct tg_ranks_explaining *x)
{
    for (uint32_t r = 0; r < x->sides.n; r++)
        x->waits_of[r] = count_waiting(&x->sides.side[r]);
    uint32_t share = share_of_rank(x);
    for (uint32_t r = 0; r < x->sides.n; r++) {
        const struct tg_rank_side *side = &x->sides.side[r];
        uint32_t n = x->waits_of[r] < share ? x->waits_of[r] : share, told = 0;
        uint64_t at = TG_NONE;
        for (struct tg_call call; told < n && x->is->n_waits < TG_RANKS_WAITS; told++) {
            at = next_waiting(side, at);
            if (tg_calls_get(side->calls, at, &call))
                add_wait(x, r, &call);
        }
        x->is->more_waits += x->waits_of[r] - told;
    }
}

/* ── one sentence ──────────────────────────────────────────────────────────────────────── */

static const struct tg_ranks_wait *wait_of(const struct tg_ranks_explanation *is, uint32_t rank)
{
    for (uint32_t i = 0; i < is->n_waits; i++)
        if (is->wait[i].rank == rank && is->wait[i].has_for)
            return &is->wait[i];
    return NULL;
}

/* Marks all waits that `wait` leads to, through every call that a rank waits in: it goes on only when all of
 * them have completed. Returns one for a rank that waits for nobody, or else for one of which no wait is listed
 * that leads on; NULL if there is none. */
static const struct tg_ranks_wait *find_end(const struct tg_ranks_explanation *is,
                                            const struct tg_ranks_wait *wait)
{
    bool is_reached[TG_RANKS_WAITS] = {false}, is_new = true;
    is_reached[wait - is->wait] = true;
    while (is_new) {
        is_new = false;
        for (uint32_t i = 0; i < is->n_waits; i++)
            for (uint32_t k = 0; is_reached[i] && is->wait[i].has_for && k < is->n_waits; k++)
                if (!is_reached[k] && is->wait[k].rank == is->wait[i].waits_for)
                    is_reached[k] = is_new = true;
    }
    const struct tg_ranks_explaining *x = is->own;
    const struct tg_ranks_wait *end = NULL;
    for (uint32_t i = 0; i < is->n_waits; i++) {
        const struct tg_ranks_wait *at = &is->wait[i];
        if (!is_reached[i] || !at->has_for || wait_of(is, at->waits_for))
            continue;
        if (x->waits_of[at->waits_for] == 0)
            return at;
        end = end ? end : at;
    }
    return end;
}

/* What follows from a circle: the call that nobody made, or one that was made instead. */
static void say_conclusion(const struct tg_ranks_explanation *is, const struct tg_ranks_wait *begin,
                           char *text, size_t room)
{
    struct tg_call crossed;
    const struct tg_ranks_wait *at = begin;
    snprintf(text, room, ": no rank has made the call that another waits for");
    do {
        char words[TG_CALL_WORDS];
        if (tg_call_is_message(at->call.kind) && find_crossed(is->own, at, &crossed)) {
            append(text, room,
                   ", but rank %u calls %s, which nobody has answered: were the tags crossed?",
                   at->waits_for, tg_call_describe(&crossed, words));
            return;
        }
        at = wait_of(is, at->waits_for);
    } while (at && at != begin);
}

/* The first ranks of a circle, as many as there is room for beside the conclusion, which says more. */
static void say_circle(const struct tg_ranks_explanation *is, const struct tg_ranks_wait *begin,
                       char *text, size_t room)
{
    enum { ROOM_FOR_MORE = 32 };
    char conclusion[TG_RANKS_TEXT];
    uint32_t more = 0;
    const struct tg_ranks_wait *at = begin;
    say_conclusion(is, begin, conclusion, sizeof conclusion);
    snprintf(text, room, "the ranks wait for each other in a circle:");
    do {
        char words[TG_CALL_WORDS], one[TG_CALL_WORDS + 32];
        snprintf(one, sizeof one, "%s rank %u in %s", at == begin ? "" : ",", at->rank,
                 tg_call_describe(&at->call, words));
        bool fits = strlen(text) + strlen(one) + strlen(conclusion) + ROOM_FOR_MORE < room;
        if (at == begin || (more == 0 && fits))
            append(text, room, "%s", one);
        else
            more++;
        at = wait_of(is, at->waits_for);
    } while (at && at != begin);
    if (more > 0)
        append(text, room, ", and %u more rank%s", more, more == 1 ? "" : "s");
    append(text, room, "%s", conclusion);
}

/* There are at most TG_RANKS_WAITS waits, so a walk of that length has met a rank twice. */
void tg_ranks_say_waits(const struct tg_ranks_explanation *is, const struct tg_ranks_wait *wait,
                        char *text, size_t room)
{
    const struct tg_ranks_wait *at = find_end(is, wait);
    if (at) {
        snprintf(text, room, "%s", at->text);
        return;
    }
    at = wait; /* every rank that is waited for waits itself */
    for (uint32_t steps = 0; steps < TG_RANKS_WAITS; steps++)
        at = wait_of(is, at->waits_for);
    say_circle(is, at, text, room);
}
