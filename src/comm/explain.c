/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing goes on: asks all ranks which calls of theirs wait and which sends of others nobody
 * received, and says in one line who waits for whom, and what is missing.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comm/engine.h"

enum { MOST_CALLS = 8, MOST_TEXT = 500, CLAUSES_TEXT = 330 };

/* How far a rank is with the run of the one who asks. */
enum rank_state { RANK_NOT_THERE = 0, RANK_RUNS = 1, RANK_HAS_ENDED = 2 };

/* What a rank has said. */
struct answer {
    bool is_whole;
    enum rank_state state;
    uint64_t collectives;
    struct tg_message waits[MOST_CALLS], unmatched[MOST_CALLS];
    uint32_t n_waits, n_unmatched;
};

struct tg_asked {
    uint64_t question;
    struct answer rank[];
};

/* --- what a rank says ----------------------------------------------------------------------- */

/* Gives a message of the answer to whoever asked: another rank, or this one. */
static void say(struct tg_comm *comm, uint32_t to, struct tg_message *message, uint64_t question)
{
    message->value[0] = (int64_t)question;
    if (to == comm->rank)
        tg_explain_on_answer(comm, comm->rank, message);
    else
        tg_comm_send_head(comm, to, message);
}

/* The oldest ones: they are at the end of the list. */
static void say_waiting(struct tg_comm *comm, uint32_t to, uint64_t question)
{
    const struct tg_call *oldest[MOST_CALLS];
    uint64_t count = 0;
    for (const struct tg_call *call = comm->run.calls; call; call = call->next)
        if (!call->is_done && call->head.kind != 0)
            oldest[count++ % MOST_CALLS] = call;
    const uint64_t shown = count < MOST_CALLS ? count : MOST_CALLS;
    for (uint64_t i = 0; i < shown; i++) {
        const struct tg_call *call = oldest[(count - 1 - i) % MOST_CALLS];
        struct tg_message message = call->head;
        message.kind = TG_MESSAGE_WAITS;
        message.value[1] = call->matched_ns != 0;
        say(comm, to, &message, question);
    }
}

static void say_unmatched(struct tg_comm *comm, uint32_t to, uint64_t question)
{
    int shown = 0;
    for (int i = 0; i < TG_MEETS; i++)
        for (const struct tg_meet *m = comm->run.meets[i]; m && shown < MOST_CALLS; m = m->next) {
            if (m->call || m->key.kind != TG_COMM_RECV || !m->first)
                continue;
            struct tg_message message = m->first->head;
            message.kind = TG_MESSAGE_UNMATCHED;
            message.value[1] = m->first->from;
            say(comm, to, &message, question);
            shown++;
        }
}

static void say_all(struct tg_comm *comm, uint32_t to, uint32_t epoch, uint64_t question)
{
    const bool is_this = epoch == comm->epoch;
    struct tg_message end = tg_message_make(TG_MESSAGE_ANSWERED, epoch);
    if (is_this && comm->run.phase == RUN_GOES) {
        say_waiting(comm, to, question);
        say_unmatched(comm, to, question);
    }
    end.number = comm->run.collectives;
    end.value[2] = (int64_t)tg_comm_own_progress(comm);
    end.value[1] = comm->epoch < epoch                      ? RANK_NOT_THERE
                   : is_this && comm->run.phase == RUN_GOES ? RANK_RUNS
                                                            : RANK_HAS_ENDED;
    say(comm, to, &end, question);
}

void tg_explain_on_ask(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    say_all(comm, from, message->epoch, (uint64_t)message->value[0]);
}

void tg_explain_on_answer(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    if (!comm->asked || comm->asked->question != (uint64_t)message->value[0])
        return;
    struct answer *answer = &comm->asked->rank[from];
    if (message->kind == TG_MESSAGE_WAITS && answer->n_waits < MOST_CALLS) {
        answer->waits[answer->n_waits++] = *message;
    } else if (message->kind == TG_MESSAGE_UNMATCHED && answer->n_unmatched < MOST_CALLS &&
               message->value[1] >= 0 && message->value[1] < (int64_t)comm->ranks) {
        answer->unmatched[answer->n_unmatched++] = *message;
    } else if (message->kind == TG_MESSAGE_ANSWERED) {
        answer->is_whole = true;
        answer->collectives = message->number;
        if (from != comm->rank && (uint64_t)message->value[2] > comm->peer[from].progress)
            comm->peer[from].progress = (uint64_t)message->value[2];
        answer->state = message->value[1] == RANK_RUNS        ? RANK_RUNS
                        : message->value[1] == RANK_HAS_ENDED ? RANK_HAS_ENDED
                                                              : RANK_NOT_THERE;
    }
}

/* --- what follows from it ------------------------------------------------------------------- */

struct line {
    char *text;
    size_t used, room;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list list;
    if (line->used + 1 >= line->room)
        return;
    va_start(list, format);
    const int size = vsnprintf(line->text + line->used, line->room - line->used, format, list);
    va_end(list);
    if (size > 0)
        line->used +=
            (size_t)size < line->room - line->used ? (size_t)size : line->room - line->used - 1;
}

/* A send or receive whose other end is there only takes its time. */
static bool lacks_other_end(const struct tg_message *wait)
{
    return wait->call_kind <= TG_COMM_RECV && wait->value[1] == 0;
}

static bool waits_in(const struct answer *answer, uint64_t number)
{
    for (uint32_t i = 0; i < answer->n_waits; i++)
        if (answer->waits[i].call_kind > TG_COMM_RECV && answer->waits[i].number == number)
            return true;
    return false;
}

/* The first collective call that somebody waits in; NULL if there is none. */
static const struct tg_message *first_collective(const struct tg_comm *comm)
{
    const struct tg_message *first = NULL;
    for (uint32_t r = 0; r < comm->ranks; r++) {
        const struct answer *answer = &comm->asked->rank[r];
        for (uint32_t i = 0; i < answer->n_waits; i++)
            if (answer->waits[i].call_kind > TG_COMM_RECV &&
                (!first || answer->waits[i].number < first->number))
                first = &answer->waits[i];
    }
    return first;
}

static bool name_missing_collective(const struct tg_comm *comm, struct line *line)
{
    const struct tg_message *call = first_collective(comm);
    uint32_t missing = 0, first = 0;
    for (uint32_t r = 0; call && r < comm->ranks; r++) {
        const struct answer *answer = &comm->asked->rank[r];
        if (!answer->is_whole || waits_in(answer, call->number) ||
            answer->collectives > call->number)
            continue;
        first = missing++ == 0 ? r : first;
    }
    if (missing == 0)
        return false;
    add(line, ": rank %u", first);
    if (missing > 1)
        add(line, " and %u more", missing - 1);
    add(line, " %s not called call %" PRIu64 " of the ranks, %s", missing > 1 ? "have" : "has",
        call->number, tg_comm_kind_name(call->call_kind));
    return true;
}

/* A receive that waits, and a send from the same rank that nobody received: the tags are crossed. */
static bool name_crossed_tags(const struct tg_comm *comm, struct line *line)
{
    for (uint32_t r = 0; r < comm->ranks; r++) {
        const struct answer *answer = &comm->asked->rank[r];
        for (uint32_t i = 0; i < answer->n_waits; i++)
            for (uint32_t k = 0; k < answer->n_unmatched; k++) {
                const struct tg_message *wait = &answer->waits[i], *send = &answer->unmatched[k];
                if (wait->call_kind != TG_COMM_RECV || !lacks_other_end(wait) ||
                    wait->peer != (int32_t)send->value[1] || wait->tag == send->tag)
                    continue;
                add(line,
                    ": rank %d has called tg_send to rank %u with tag %d at %.100s, not with tag %d",
                    wait->peer, r, send->tag, send->text[0] ? send->text : "?", wait->tag);
                return true;
            }
    }
    return false;
}

static void name_missing_send(const struct tg_comm *comm, struct line *line)
{
    uint32_t receives = 0, sends = 0;
    const struct tg_message *one = NULL;
    for (uint32_t r = 0; r < comm->ranks; r++) {
        const struct answer *answer = &comm->asked->rank[r];
        for (uint32_t i = 0; i < answer->n_waits; i++) {
            const struct tg_message *wait = &answer->waits[i];
            if (!lacks_other_end(wait))
                continue;
            receives += wait->call_kind == TG_COMM_RECV;
            sends += wait->call_kind == TG_COMM_SEND;
            one = one ? one : wait;
        }
    }
    if (receives == 0 && sends == 0)
        return;
    if (receives > 0 && sends > 0)
        add(line, ": none of these has its other end");
    else if (receives + sends > 1)
        add(line, ": no rank has called the %s that they wait for",
            receives ? "tg_send" : "tg_recv");
    else
        add(line, ": rank %d has not called the %s that it waits for", one->peer,
            receives ? "tg_send" : "tg_recv");
}

/* One clause for each rank: what it waits for. */
static void name_waits(const struct tg_comm *comm, struct line *line)
{
    char what[300];
    for (uint32_t r = 0; r < comm->ranks && line->used < CLAUSES_TEXT; r++) {
        const struct answer *answer = &comm->asked->rank[r];
        add(line, "%srank %u ", line->used ? "; " : "", r);
        if (comm->peer[r].lost || comm->peer[r].left) {
            add(line, "is gone");
        } else if (!answer->is_whole) {
            add(line, "does not answer");
        } else if (answer->n_waits > 0) {
            tg_message_describe(&answer->waits[0], false, what, sizeof what);
            add(line, "waits in %.160s", what);
            if (answer->n_waits > 1)
                add(line, " and %s%u more", answer->n_waits == MOST_CALLS ? "at least " : "",
                    answer->n_waits - 1);
        } else {
            add(line, "%s",
                answer->state == RANK_RUNS        ? "waits for no call"
                : answer->state == RANK_HAS_ENDED ? "has ended this run"
                                                  : "has not begun this run");
        }
    }
}

static void compose(const struct tg_comm *comm, char *text)
{
    struct line line = {text, 0, MOST_TEXT};
    text[0] = '\0';
    name_waits(comm, &line);
    if (!name_missing_collective(comm, &line) && !name_crossed_tags(comm, &line))
        name_missing_send(comm, &line);
}

/* --- the question --------------------------------------------------------------------------- */

void tg_explain_begin(struct tg_comm *comm, struct tg_request *request)
{
    struct tg_message ask = tg_message_make(TG_MESSAGE_ASK, comm->epoch);
    comm->asked = calloc(1, sizeof *comm->asked + comm->ranks * sizeof(struct answer));
    if (!comm->asked) {
        snprintf(request->explanation, MOST_TEXT, "what ranks wait for is not known: no memory");
        tg_comm_answer(comm, TG_NO_MEMORY);
        return;
    }
    comm->asked->question = ++comm->questions;
    ask.value[0] = (int64_t)comm->questions;
    tg_comm_send_all(comm, &ask);
    say_all(comm, comm->rank, comm->epoch, comm->questions);
}

void tg_explain_check(struct tg_comm *comm, double now)
{
    for (uint32_t r = 0; r < comm->ranks && now < comm->current->deadline; r++)
        if (!comm->asked->rank[r].is_whole && !comm->peer[r].lost && !comm->peer[r].left)
            return;
    compose(comm, comm->current->explanation);
    tg_explain_free(comm);
    tg_comm_update_progress(comm); /* the answers have it */
    tg_comm_answer(comm, TG_OK);
}

void tg_explain_free(struct tg_comm *comm)
{
    free(comm->asked);
    comm->asked = NULL;
}
