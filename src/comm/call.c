/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: from the device, met by those of other ranks, to done. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "comm/engine.h"

/* --- where calls meet ----------------------------------------------------------------------- */

static bool is_collective(uint32_t kind)
{
    return kind > TG_COMM_RECV;
}

static struct tg_meet_key key_of(const struct tg_message *call)
{
    if (is_collective(call->call_kind))
        return (struct tg_meet_key){TG_COMM_KINDS, 0, 0, call->number};
    return (struct tg_meet_key){call->call_kind, call->peer, call->tag, call->number};
}

static struct tg_meet **place_of(struct tg_comm *comm, const struct tg_meet_key *key)
{
    uint64_t mixed = key->number * 7 + (uint32_t)key->tag;
    mixed = (mixed * 4099 + (uint32_t)key->peer) * 8 + key->kind;
    mixed *= UINT64_C(0x9e3779b97f4a7c15);
    return &comm->run.meets[(mixed >> 32) % TG_MEETS];
}

static bool same_key(const struct tg_meet_key *a, const struct tg_meet_key *b)
{
    return a->kind == b->kind && a->peer == b->peer && a->tag == b->tag && a->number == b->number;
}

static struct tg_meet *find_meet(struct tg_comm *comm, struct tg_meet_key key)
{
    struct tg_meet *meet = *place_of(comm, &key);
    while (meet && !same_key(&meet->key, &key))
        meet = meet->next;
    return meet;
}

struct tg_meet *tg_call_find(struct tg_comm *comm, uint32_t kind, int32_t peer, int32_t tag,
                             uint64_t number)
{
    return find_meet(comm, (struct tg_meet_key){kind, peer, tag, number});
}

static struct tg_meet *make_meet(struct tg_comm *comm, struct tg_meet_key key)
{
    struct tg_meet *meet = find_meet(comm, key);
    struct tg_meet **place = place_of(comm, &key);
    if (meet || !(meet = calloc(1, sizeof *meet)))
        return meet;
    meet->key = key;
    meet->next = *place;
    *place = meet;
    return meet;
}

struct tg_meet *tg_call_make_meet(struct tg_comm *comm, const struct tg_message *call)
{
    return make_meet(comm, key_of(call));
}

static void remove_meet(struct tg_comm *comm, struct tg_meet *meet)
{
    struct tg_meet **place = place_of(comm, &meet->key);
    while (*place != meet)
        place = &(*place)->next;
    *place = meet->next;
    free(meet);
}

void tg_call_drop_early(struct tg_comm *comm)
{
    for (struct tg_call *call = comm->run.calls; call; call = call->next)
        tg_action_drop_early(comm, call);
    for (int i = 0; i < TG_MEETS; i++) {
        for (struct tg_meet **link = &comm->run.meets[i]; *link;) {
            struct tg_meet *meet = *link;
            while (meet->first) {
                struct tg_early *early = meet->first;
                meet->first = early->next;
                tg_comm_drop_payload(comm, early->from, early->message, early->payload_size);
                free(early);
            }
            meet->last = NULL;
            if (meet->call) {
                link = &meet->next;
            } else {
                *link = meet->next;
                free(meet);
            }
        }
    }
}

/* --- a call --------------------------------------------------------------------------------- */

static void free_bytes(struct tg_call *call)
{
    if (call->out.bytes == call->in.bytes)
        call->out.is_copy = false; /* the bytes are the input's */
    tg_span_close(&call->out);
    tg_span_close(&call->in);
    tg_plan_free(&call->plan);
    free(call);
}

void tg_call_free_abandoned(struct tg_comm *comm)
{
    while (comm->abandoned) {
        struct tg_call *next = comm->abandoned->next;
        free_bytes(comm->abandoned);
        comm->abandoned = next;
    }
}

void tg_call_free(struct tg_comm *comm, struct tg_call *call)
{
    bool is_used = false;
    if (!call->is_done) { /* else nothing is under way, and looking for it would take time */
        is_used = tg_comm_forget_pending(comm, call);
        tg_action_forget(comm, call);
    }
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    if (call->meet && !call->meet->first)
        remove_meet(comm, call->meet);
    else if (call->meet)
        call->meet->call = NULL;
    if (is_used) {
        call->next = comm->abandoned;
        comm->abandoned = call;
    } else {
        free_bytes(call);
    }
}

/* Calls that are not done go into the log as well. */
void tg_call_free_all(struct tg_comm *comm)
{
    while (comm->run.calls) {
        tg_log_call(comm, comm->run.calls, comm->run.calls->is_done ? "done" : "waits");
        tg_call_free(comm, comm->run.calls);
    }
}

static void settle(struct tg_comm *comm, struct tg_call *call)
{
    if (!call->is_done || call->matches_left > 0)
        return;
    tg_log_call(comm, call, "done");
    tg_call_free(comm, call);
}

void tg_call_is_done(struct tg_comm *comm, struct tg_call *call)
{
    struct tg_comm_run *run = &comm->run;
    struct tg_error error;
    if (run->failed)
        return;
    call->is_done = true;
    call->done_ns = tg_comm_now_ns();
    if (call->matched_ns == 0 && comm->ranks == 1)
        call->matched_ns = call->done_ns;
    run->n_waiting--;
    run->n_unmatched += call->matches_left > 0;
    run->result.calls[call->asked.kind]++;
    comm->own_progress++;
    struct tg_call *other = call->other;
    call->other = NULL;
    if (run->port.done(run->port.context, call->asked.slot, &error) != TG_OK)
        tg_run_fail(comm, true, error.status, "%s", error.text);
    else
        settle(comm, call);
    if (other && !run->failed)
        tg_call_is_done(comm, other);
}

static void match_one(struct tg_comm *comm, struct tg_call *call)
{
    if (call->matched_ns == 0)
        call->matched_ns = tg_comm_now_ns();
    if (call->matches_left == 0 || --call->matches_left > 0)
        return;
    comm->run.n_unmatched -= call->is_done;
    settle(comm, call);
}

void tg_call_on_matched(struct tg_comm *comm, uint32_t from, const struct tg_message *head)
{
    /* It describes the receive: this rank's send is the other end. */
    const struct tg_meet_key key = {TG_COMM_SEND, (int32_t)from, head->tag, head->number};
    struct tg_meet *meet = find_meet(comm, key);
    if (meet && meet->call && head->call_kind == TG_COMM_RECV)
        match_one(comm, meet->call);
}

/* --- comparison ----------------------------------------------------------------------------- */

static bool fits(const struct tg_message *own, const struct tg_message *theirs)
{
    if (own->dtype != theirs->dtype || own->elements != theirs->elements)
        return false;
    if (!is_collective(own->call_kind))
        return true;
    return own->call_kind == theirs->call_kind && own->operation == theirs->operation &&
           own->peer == theirs->peer;
}

void tg_call_report_difference(struct tg_comm *comm, const struct tg_message *own, uint32_t from,
                               const struct tg_message *theirs)
{
    char ours[300], other[300];
    tg_message_describe(own, true, ours, sizeof ours);
    tg_message_describe(theirs, true, other, sizeof other);
    const bool first = comm->rank <= from;
    if (is_collective(own->call_kind))
        tg_run_report(comm,
                      "call %" PRIu64
                      " of the ranks differs: rank %u calls %.190s, rank %u calls %.190s",
                      own->number, first ? comm->rank : from, first ? ours : other,
                      first ? from : comm->rank, first ? other : ours);
    else
        tg_run_report(comm,
                      "a send and its receive differ: rank %u calls %.200s, rank %u calls %.200s",
                      from, other, comm->rank, ours);
}

/* A message that is about a call of this rank. */
void tg_call_meet(struct tg_comm *comm, struct tg_call *call, uint32_t from,
                  const struct tg_message *head, uint64_t message, uint64_t payload_size)
{
    if (!fits(&call->head, head)) {
        tg_comm_drop_payload(comm, from, message, payload_size);
        tg_call_report_difference(comm, &call->head, from, head);
        return;
    }
    const bool is_first = call->matched_ns == 0;
    if (is_first)
        call->matched_ns = tg_comm_now_ns();
    if (call->asked.kind == TG_COMM_RECV && is_first) {
        struct tg_message matched = call->head;
        matched.kind = TG_MESSAGE_MATCHED;
        tg_comm_send_head(comm, from, &matched);
    }
    if (head->kind == TG_MESSAGE_PART) {
        tg_action_on_part(comm, call, from, head, message, payload_size);
    } else {
        tg_comm_drop_payload(comm, from, message, payload_size);
        match_one(comm, call);
    }
}

void tg_call_on_message(struct tg_comm *comm, uint32_t from, const struct tg_message *head,
                        uint64_t message, uint64_t payload_size)
{
    struct tg_meet_key key = key_of(head);
    struct tg_early *early;
    if (!is_collective(head->call_kind)) { /* their send is met by the receive from them */
        if (head->call_kind != TG_COMM_SEND || head->peer != (int32_t)comm->rank) {
            tg_comm_drop_payload(comm, from, message, payload_size);
            tg_run_on_lost(comm, from, "it sent a message that was not for this rank", false);
            return;
        }
        key.kind = TG_COMM_RECV;
        key.peer = (int32_t)from;
    }
    struct tg_meet *place = make_meet(comm, key);
    if (place && place->call) {
        tg_call_meet(comm, place->call, from, head, message, payload_size);
        return;
    }
    early = place ? malloc(sizeof *early) : NULL;
    if (!early) {
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for messages of rank %u ran out", from);
        return;
    }
    *early = (struct tg_early){
        .from = from, .message = message, .payload_size = payload_size, .head = *head};
    if (place->last)
        place->last->next = early;
    else
        place->first = early;
    place->last = early;
}

/* --- a rank that has ended ------------------------------------------------------------------ */

/* A send of that rank with another tag, if there is one: the likely mistake. */
static const struct tg_message *other_send(struct tg_comm *comm, uint32_t peer)
{
    for (int i = 0; i < TG_MEETS; i++)
        for (const struct tg_meet *m = comm->run.meets[i]; m; m = m->next)
            if (!m->call && m->key.kind == TG_COMM_RECV && m->key.peer == (int32_t)peer && m->first)
                return &m->first->head;
    return NULL;
}

static void report_missing(struct tg_comm *comm, const struct tg_call *call, uint32_t peer)
{
    char what[300], hint[200] = "";
    tg_message_describe(&call->head, false, what, sizeof what);
    if (call->asked.kind == TG_COMM_SEND) {
        tg_run_report(comm, "rank %u calls %.250s: rank %u ended without that tg_recv", comm->rank,
                      what, peer);
        return;
    }
    if (call->asked.kind == TG_COMM_RECV) {
        const struct tg_message *send = other_send(comm, peer);
        if (send)
            snprintf(hint, sizeof hint,
                     "; it called tg_send with tag %d (number %" PRIu64 ") at %.60s", send->tag,
                     send->number, send->text[0] ? send->text : "?");
        tg_run_report(comm, "rank %u waits in %.200s: rank %u ended without that tg_send%s",
                      comm->rank, what, peer, hint);
        return;
    }
    tg_run_report(comm,
                  "rank %u waits in call %" PRIu64
                  " of the ranks, %.250s: rank %u ended after %" PRIu64 " such calls",
                  comm->rank, call->asked.number, what, peer, comm->peer[peer].ended_calls);
}

static bool needs(const struct tg_comm *comm, const struct tg_call *call, uint32_t peer)
{
    if (is_collective(call->asked.kind))
        return call->asked.number >= comm->peer[peer].ended_calls;
    if ((uint32_t)call->asked.peer != peer)
        return false;
    return call->asked.kind == TG_COMM_SEND ? call->matches_left > 0 : call->matched_ns == 0;
}

void tg_call_check_ended(struct tg_comm *comm, uint32_t peer)
{
    if (comm->run.failed || peer == comm->rank || comm->peer[peer].ended < comm->epoch ||
        comm->peer[peer].ended_failed)
        return;
    for (const struct tg_call *call = comm->run.calls; call; call = call->next)
        if (needs(comm, call, peer)) {
            report_missing(comm, call, peer);
            return;
        }
}
