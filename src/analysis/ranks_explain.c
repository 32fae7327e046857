/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run with several ranks failed or hung.
 *
 * A call that has not completed waits for calls of other ranks. For each such call this looks into the
 * calls of the ranks that it needs: the call is there (then the data were under way), it is another one
 * (a mismatch), or it is missing. A rank that has no call for others to wait for, and waits for nobody, is
 * the root; where every rank that is waited for waits itself, the waits make a circle.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/explain.h>

#include "analysis/ranks_explain.h"
#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/ranks.h"

/* ── how each rank ended ───────────────────────────────────────────────────────────────── */

/* A status that a rank has because of another one. */
static bool is_from_others(const struct tg_ranks_rank *rank)
{
    return rank->status == TG_RANK_LOST || rank->status == TG_COMM_MISMATCH ||
           rank->status == TG_CANCELLED;
}

/* What the memory of a device that hangs showed: nothing that could go on, a kernel that does not return,
 * or something that may wait for a call. */
enum hang { HANG_IDLE, HANG_OWN, HANG_OTHER };

/* A kernel that does not return hangs by itself, whatever calls of its rank wait meanwhile. */
static bool is_stuck(const struct tg_explanation *own)
{
    return own->looked && (own->root_kind == TG_ROOT_KERNEL || own->root_kind == TG_ROOT_MIX);
}

static bool was_killed(const struct tg_ranks_end *end)
{
    return strncmp(end->error, TG_RANKS_BY_SIGNAL, strlen(TG_RANKS_BY_SIGNAL)) == 0;
}

/* It stood still, maybe because of another rank, or its last files took too long. */
static bool was_stopped(const struct tg_ranks_end *end)
{
    return strcmp(end->error, TG_RANKS_BY_LAUNCHER) == 0;
}

/* It ended itself and said nothing in its files: it failed by itself, or saw that another rank had. */
static bool ended_itself(const struct tg_ranks_end *end)
{
    return strncmp(end->error, TG_RANKS_BY_EXIT, strlen(TG_RANKS_BY_EXIT)) == 0;
}

/* ranks.json says RUNNING until somebody changes it. A rank that still runs holds the lock of its folder. */
static void doubt_running(const struct tg_rank_side *side, struct tg_ranks_end *end)
{
    enum tg_lock held = TG_LOCK_UNKNOWN;
    if (!side->rank.is_running || !side->rank.is_there ||
        tg_lock_look(side->rank.dir, &held) != 0 || held != TG_LOCK_FREE)
        return;
    snprintf(end->status, sizeof end->status, "RANK_LOST");
    snprintf(end->error, sizeof end->error, "it has ended, and no file says how");
}

/* run.json knows how a rank ended even if nobody was left to write ranks.json. Returns false if it has none: a
 * rank that was killed leaves none, and maybe no folder. */
static bool read_end(const struct tg_rank_side *side, struct tg_ranks_end *end, enum hang *hang)
{
    struct tg_explanation *own = NULL;
    tg_status status = side->rank.is_there ? tg_explain(side->rank.dir, &own, NULL) : TG_OK;
    if (status == TG_NOT_FOUND)
        doubt_running(side, end);
    if (!own)
        return status != TG_NOT_FOUND && !was_killed(end);
    bool is_unsaid = !*end->status || side->rank.is_running;
    if (is_unsaid && own->state == TG_EXPLAIN_ENDED_WELL)
        snprintf(end->status, sizeof end->status, "OK");
    else if (is_unsaid && own->state == TG_EXPLAIN_FAILED && *own->status)
        snprintf(end->status, sizeof end->status, "%s", own->status);
    if (!*end->error && own->state == TG_EXPLAIN_FAILED)
        snprintf(end->error, sizeof end->error, "%s", *own->error ? own->error : own->root);
    *hang = is_stuck(own) ? HANG_OWN : own->root_kind == TG_ROOT_UNKNOWN ? HANG_IDLE : HANG_OTHER;
    /* The error of a hang is about all ranks, and they all have the same. */
    if (*hang == HANG_OWN && strcmp(end->status, "HANG") == 0)
        snprintf(end->error, sizeof end->error, "%s", own->root);
    tg_explanation_free(own);
    return true;
}

static bool is_well(const struct tg_ranks_end *end)
{
    return strcmp(end->status, "OK") == 0;
}

static bool has_failed(const struct tg_ranks_end *end)
{
    return *end->status && !is_well(end) && strcmp(end->status, "RUNNING") != 0;
}

static void take_end(struct tg_ranks_explaining *x, uint32_t r)
{
    const struct tg_rank_side *side = &x->sides.side[r];
    const struct tg_ranks_rank *rank = &side->rank;
    struct tg_ranks_end *end = &x->is->end[r];
    *end = (struct tg_ranks_end){.rank = r};
    if (rank->is_running)
        snprintf(end->status, sizeof end->status, "RUNNING");
    else if (rank->has_status)
        snprintf(end->status, sizeof end->status, "%s", tg_status_name(rank->status));
    snprintf(end->error, sizeof end->error, "%s", rank->error);
    enum hang hang = HANG_OTHER;
    bool has_report = read_end(side, end, &hang);
    static const char *const others[] = {"RANK_LOST", "COMM_MISMATCH", "CANCELLED"};
    end->is_own = has_failed(end) && !(rank->has_status && is_from_others(rank));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        end->is_own = end->is_own && strcmp(end->status, others[i]) != 0;
    end->is_own |= strcmp(end->status, "RANK_LOST") == 0 && !has_report;
    /* A rank that hangs in a call hangs because of another one. If its calls are not known, an idle one may. */
    bool may_wait = side->calls ? x->waits_of[r] > 0 : hang == HANG_IDLE;
    if (strcmp(end->status, "HANG") == 0 && hang != HANG_OWN && may_wait)
        end->is_own = false;
    end->has_time = rank->has_end && (rank->clock.is_known || r == 0);
    end->time_ns = end->has_time ? tg_ranks_time(&rank->clock, rank->ended_ns) : 0;
    end->error_ns = rank->clock.error_ns;
}

/* "rank 0 could not …: why": a rank that could not even begin gave its status to all. */
static bool is_taken_over(const struct tg_ranks_explanation *is, const struct tg_ranks_end *end)
{
    char why[100], *rest;
    if (strncmp(end->error, "rank ", 5) != 0)
        return false;
    unsigned long from = strtoul(end->error + 5, &rest, 10);
    if (strncmp(rest, " could not", 10) != 0 || from >= is->ranks || from == end->rank ||
        strcmp(is->end[from].status, end->status) != 0)
        return false;
    snprintf(why, sizeof why, "%.99s", is->end[from].error); /* the other text may have been cut */
    return *why && strstr(end->error, why);
}

/* ── who failed first ──────────────────────────────────────────────────────────────────── */

static const struct tg_ranks_end *earliest(const struct tg_ranks_explanation *is)
{
    const struct tg_ranks_end *best = NULL;
    for (uint32_t r = 0; r < is->ranks; r++)
        if (is->end[r].is_own && is->end[r].has_time &&
            (!best || is->end[r].time_ns < best->time_ns))
            best = &is->end[r];
    return best;
}

/* True if another rank may have failed before `first`, given how exact the clocks are. */
static bool is_close(const struct tg_ranks_end *first, const struct tg_ranks_end *other)
{
    return (double)other->time_ns - (double)first->time_ns <=
           (double)first->error_ns + (double)other->error_ns;
}

static uint32_t count_failed(const struct tg_ranks_explanation *is)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < is->ranks; r++)
        n += has_failed(&is->end[r]);
    return n;
}

/* Ranks of which no file says how they ended. That one runs is only known where its folder is. */
static uint32_t count_unsaid(const struct tg_ranks_explanation *is, uint32_t *first)
{
    const struct tg_ranks_explaining *x = is->own;
    uint32_t n = 0;
    for (uint32_t r = is->ranks; r-- > 0;) {
        bool runs = strcmp(is->end[r].status, "RUNNING") == 0;
        if (!*is->end[r].status || (runs && !x->sides.side[r].rank.is_there)) {
            *first = r;
            n++;
        }
    }
    return n;
}

static void say_unsaid(struct tg_ranks_explanation *is, uint32_t own, uint32_t lone,
                       uint32_t unsaid, uint32_t n)
{
    if (own == 1)
        snprintf(is->order, sizeof is->order, "rank %u failed by itself: %s%s%.300s", lone,
                 is->end[lone].status, *is->end[lone].error ? ": " : "", is->end[lone].error);
    else
        snprintf(is->order, sizeof is->order, "%u ranks failed", own);
    size_t at = strlen(is->order);
    if (n == 1)
        snprintf(is->order + at, sizeof is->order - at,
                 "; whether rank %u failed before is not known", unsaid);
    else
        snprintf(is->order + at, sizeof is->order - at,
                 "; whether rank %u or one of %u more failed before is not known", unsaid, n - 1);
}

static void say_order(struct tg_ranks_explanation *is, uint32_t own, uint32_t lone)
{
    const struct tg_ranks_end *first = earliest(is);
    uint32_t untimed = 0, close = 0, near = 0, unsaid = 0;
    uint32_t n_unsaid = count_unsaid(is, &unsaid);
    if (n_unsaid > 0) {
        say_unsaid(is, own, lone, unsaid, n_unsaid);
        return;
    }
    for (uint32_t r = 0; r < is->ranks; r++) {
        const struct tg_ranks_end *end = &is->end[r];
        untimed += end->is_own && !end->has_time;
        if (first && end != first && end->is_own && end->has_time && is_close(first, end)) {
            close++;
            near = r;
        }
    }
    is->has_first = own == 1 || (first && untimed == 0 && close == 0);
    is->first = own == 1 ? lone : first ? first->rank : 0;
    if (own == 1)
        snprintf(is->order, sizeof is->order, "rank %u failed by itself, %s", lone,
                 count_failed(is) > 1 ? "the others because of it" : "and no other rank failed");
    else if (!first || untimed > 0)
        snprintf(
            is->order, sizeof is->order,
            "%u ranks failed; which of them was first is not known: %u of them have no time on a "
            "common clock",
            own, untimed);
    else if (close > 0)
        snprintf(is->order, sizeof is->order,
                 "ranks %u and %u failed within %.3g µs of each other, and their clocks are known "
                 "to %.3g µs: which was first is not known",
                 first->rank, near, ((double)is->end[near].time_ns - (double)first->time_ns) / 1e3,
                 ((double)first->error_ns + (double)is->end[near].error_ns) / 1e3);
    else
        snprintf(is->order, sizeof is->order, "rank %u failed first, by the ranks' clocks",
                 first->rank);
}

static bool any_was_killed(const struct tg_ranks_explanation *is)
{
    for (uint32_t r = 0; r < is->ranks; r++)
        if (was_killed(&is->end[r]))
            return true;
    return false;
}

static void order_failures(struct tg_ranks_explanation *is)
{
    uint32_t own = 0, lone = 0;
    bool killed = any_was_killed(is), failed = false;
    for (uint32_t r = 0; r < is->ranks; r++) {
        is->end[r].is_own = is->end[r].is_own && !is_taken_over(is, &is->end[r]) &&
                            !(killed && ended_itself(&is->end[r]));
        failed = failed || (is->end[r].is_own && !was_stopped(&is->end[r]));
    }
    for (uint32_t r = 0; r < is->ranks; r++)
        is->end[r].is_own = is->end[r].is_own && !(failed && was_stopped(&is->end[r]));
    for (uint32_t r = 0; r < is->ranks; r++)
        if (is->end[r].is_own) {
            own++;
            lone = r;
        }
    if (own > 0)
        say_order(is, own, lone);
}

/* ── the root ──────────────────────────────────────────────────────────────────────────── */

static const struct tg_ranks_wait *find_wait(const struct tg_ranks_explanation *is,
                                             bool mismatch_only)
{
    for (uint32_t i = 0; i < is->n_waits; i++)
        if (is->wait[i].has_for && (!mismatch_only || is->wait[i].is_mismatch))
            return &is->wait[i];
    return NULL;
}

/* The error that several ranks have because of their calls; they all have the same. */
static const char *shared_error(const struct tg_ranks_explanation *is, const char *status)
{
    for (uint32_t r = 0; r < is->ranks; r++)
        if (strcmp(is->end[r].status, status) == 0 && *is->end[r].error)
            return is->end[r].error;
    return NULL;
}

static bool any_was_cancelled(const struct tg_ranks_explanation *is)
{
    for (uint32_t r = 0; r < is->ranks; r++)
        if (strcmp(is->end[r].status, "CANCELLED") == 0)
            return true;
    return false;
}

/* In a run that is asked to end, calls are always under way: what waits for them is no reason, unless it hung. */
static void say_cancelled(struct tg_ranks_explanation *is, const struct tg_ranks_wait *wait)
{
    char waits[TG_RANKS_TEXT - 50] = "";
    if (wait)
        tg_ranks_say_waits(is, wait, waits, sizeof waits);
    snprintf(is->root, sizeof is->root, "the run was asked to end%s%s",
             wait ? "; at that moment " : "", waits);
}

static void say_root(struct tg_ranks_explanation *is)
{
    const struct tg_ranks_wait *mismatch = find_wait(is, true), *wait = find_wait(is, false);
    const char *shared = shared_error(is, "COMM_MISMATCH"), *hang = shared_error(is, "HANG");
    char *root = is->root;
    size_t room = sizeof is->root;
    if (is->has_first)
        snprintf(root, room, "rank %u: %s%s%.400s", is->first, is->end[is->first].status,
                 *is->end[is->first].error ? ": " : "", is->end[is->first].error);
    else if (shared)
        snprintf(root, room, "%s", shared);
    else if (mismatch)
        snprintf(root, room, "%s", mismatch->text);
    else if (*is->order)
        snprintf(root, room, "%s", is->order);
    else if (any_was_cancelled(is))
        say_cancelled(is, wait);
    else if (wait)
        tg_ranks_say_waits(is, wait, root, room);
    else if (is->is_well)
        snprintf(root, room, "all %u ranks ended well", is->ranks);
    else if (is->n_waits > 0)
        snprintf(root, room, "%.480s", is->wait[0].text);
    else if (is->is_running)
        snprintf(root, room,
                 "the run has not ended; which of its calls wait is written when it "
                 "ends");
    else if (hang)
        snprintf(root, room, "%s", hang);
    else
        snprintf(root, room, "why the run failed is not known");
}

/* ── all of it ─────────────────────────────────────────────────────────────────────────── */

/* False if all calls of the rank are known. */
static bool describe_gap(const struct tg_rank_side *side, char *text, size_t room)
{
    uint32_t rank = side->rank.rank;
    struct tg_calls_info info = {0};
    tg_calls_get_info(side->calls, &info);
    if (tg_rank_made_no_calls(side))
        return false;
    if (!side->calls)
        snprintf(text, room, "rank %u: which calls it made: %.200s", rank, side->why_no_calls.text);
    else if (side->damaged > 0)
        snprintf(text, room, "rank %u: %llu lines of its comm.jsonl cannot be read", rank,
                 (unsigned long long)side->damaged);
    else if (!info.is_complete)
        snprintf(text, room,
                 "rank %u: its comm.jsonl has no end: which calls it made after the first %llu",
                 rank, (unsigned long long)side->n_calls);
    else
        return false;
    return true;
}

static void note_unknown(struct tg_ranks_explaining *x)
{
    struct tg_ranks_explanation *is = x->is;
    char *last = is->unknown[TG_RANKS_UNKNOWN - 1], text[sizeof is->unknown[0]];
    uint32_t n = 0;
    for (uint32_t r = 0; r < x->sides.n; r++) {
        if (!describe_gap(&x->sides.side[r], text, sizeof text))
            continue;
        if (++n > TG_RANKS_UNKNOWN)
            snprintf(last, sizeof text, "and %u more ranks", n - TG_RANKS_UNKNOWN + 1);
        else
            memcpy(is->unknown[is->n_unknown++], text, sizeof text);
    }
}

static void explain(struct tg_ranks_explaining *x)
{
    struct tg_ranks_explanation *is = x->is;
    tg_ranks_explain_waits(x);
    is->is_well = true;
    for (uint32_t r = 0; r < x->sides.n; r++) {
        take_end(x, r);
        is->is_well = is->is_well && is_well(&is->end[r]);
        is->is_running = is->is_running || strcmp(is->end[r].status, "RUNNING") == 0;
    }
    is->is_running = is->is_running && count_failed(is) == 0;
    order_failures(is);
    note_unknown(x);
    say_root(is);
}

tg_status tg_ranks_explain(const struct tg_ranks *ranks, struct tg_ranks_explanation **explanation,
                           struct tg_error *error)
{
    TG_REFUSE_NULL(error, ranks);
    TG_REFUSE_NULL(error, explanation);
    struct tg_ranks_info info;
    tg_ranks_get_info(ranks, &info);
    struct tg_ranks_explaining *x = calloc(1, sizeof *x);
    struct tg_ranks_explanation *is = calloc(1, sizeof *is);
    *explanation = NULL;
    if (is && x) {
        is->own = x;
        x->is = is;
        is->ranks = info.ranks;
        is->end = calloc(info.ranks, sizeof *is->end);
        x->waits_of = calloc(info.ranks, sizeof *x->waits_of);
    }
    if (!is || !x || !is->end || !x->waits_of) {
        free(is ? is->end : NULL);
        free(x ? x->waits_of : NULL);
        free(is);
        free(x);
        return tg_file_no_memory(error);
    }
    tg_status status = tg_rank_sides_open(ranks, false, &x->sides, error);
    if (status != TG_OK) {
        tg_ranks_explanation_free(is);
        return status;
    }
    explain(x);
    *explanation = is;
    return TG_OK;
}

void tg_ranks_explanation_free(struct tg_ranks_explanation *explanation)
{
    if (!explanation)
        return;
    struct tg_ranks_explaining *x = explanation->own;
    tg_rank_sides_close(&x->sides);
    free(x->waits_of);
    free(x);
    free(explanation->end);
    free(explanation);
}
