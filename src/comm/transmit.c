/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from the transport: tokens of payloads, events, and who gets which message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "comm/engine.h"

/* --- tokens --------------------------------------------------------------------------------- */

/* A token is the place of its entry and how often the place was used, so that a late event of an entry
 * that is gone is not taken for another one. */
static uint64_t token_of(const struct tg_comm *comm, uint32_t index)
{
    return (uint64_t)comm->pending[index].generation << 32 | index;
}

static bool add_pending(struct tg_comm *comm, struct tg_pending pending, uint32_t *index)
{
    if (comm->first_free != UINT32_MAX) {
        *index = comm->first_free;
        comm->first_free = comm->pending[*index].next_free;
        pending.generation = comm->pending[*index].generation + 1;
    } else {
        if (!tg_grow(&comm->pending, &comm->pending_room, comm->n_pending + 1,
                     sizeof *comm->pending))
            return false;
        *index = (uint32_t)comm->n_pending++;
        pending.generation = 1;
    }
    comm->pending[*index] = pending;
    comm->n_in_place += pending.in_place;
    return true;
}

static struct tg_pending *find_pending(struct tg_comm *comm, uint64_t token)
{
    const uint32_t index = (uint32_t)token;
    if (index >= comm->n_pending || comm->pending[index].generation != token >> 32 ||
        comm->pending[index].kind == PENDING_FREE)
        return NULL;
    return &comm->pending[index];
}

static void remove_pending(struct tg_comm *comm, struct tg_pending *pending)
{
    comm->n_in_place -= pending->in_place;
    free(pending->buffer);
    pending->kind = PENDING_FREE;
    pending->buffer = NULL;
    pending->next_free = comm->first_free;
    comm->first_free = (uint32_t)(pending - comm->pending);
}

bool tg_comm_forget_pending(struct tg_comm *comm, const struct tg_call *call)
{
    bool found = false;
    for (size_t i = 0; i < comm->n_pending; i++)
        if (comm->pending[i].kind == PENDING_ACTION && comm->pending[i].call == call) {
            comm->pending[i].kind = PENDING_NOTHING;
            comm->pending[i].call = NULL;
            found = true;
        }
    return found;
}

bool tg_comm_has_pending(const struct tg_comm *comm)
{
    for (size_t i = 0; i < comm->n_pending; i++)
        if (comm->pending[i].kind == PENDING_ACTION)
            return true;
    return false;
}

bool tg_comm_uses_memory(const struct tg_comm *comm, uint32_t peer)
{
    for (size_t i = 0; i < comm->n_pending && comm->n_in_place > 0; i++)
        if (comm->pending[i].kind != PENDING_FREE && comm->pending[i].in_place &&
            comm->pending[i].peer == peer)
            return true;
    return false;
}

/* Whoever gave the peer up, this rank or the transport: bytes are let go of only when the transport has let go
 * of the peer. One that cannot goes on with them, and they stay. */
void tg_comm_lose_pending(struct tg_comm *comm, uint32_t peer)
{
    if (!comm->ops || !comm->ops->forget)
        return;
    comm->ops->forget(comm->state, peer);
    for (size_t i = 0; i < comm->n_pending; i++)
        if (comm->pending[i].kind != PENDING_FREE && comm->pending[i].peer == peer)
            remove_pending(comm, &comm->pending[i]);
}

/* --- sending -------------------------------------------------------------------------------- */

static bool can_reach(const struct tg_comm *comm, uint32_t peer)
{
    return comm->ops && !comm->broken && peer != comm->rank && peer < comm->ranks &&
           !comm->peer[peer].lost && !comm->peer[peer].left;
}

void tg_comm_send_head(struct tg_comm *comm, uint32_t peer, const struct tg_message *message)
{
    struct tg_error error;
    if (!can_reach(comm, peer))
        return;
    if (comm->ops->send(comm->state, peer, message, tg_message_size(message), NULL, 0, 0, &error) ==
        TG_OK)
        comm->run.result.messages_sent++;
    else
        tg_run_on_lost(comm, peer, error.text, false);
}

void tg_comm_send_all(struct tg_comm *comm, const struct tg_message *message)
{
    for (uint32_t i = 0; i < comm->ranks; i++)
        tg_comm_send_head(comm, i, message);
}

/* A text may be longer than one message has room for. */
void tg_comm_send_text(struct tg_comm *comm, uint32_t to, uint32_t kind, uint32_t epoch,
                       int64_t value, tg_status status, const char *text)
{
    const size_t length = strlen(text), most = TG_MESSAGE_TEXT - 1;
    struct tg_message message = tg_message_make(kind, epoch);
    message.status = status;
    message.value[0] = value;
    for (size_t at = 0; at == 0 || at < length; at += most, message.part++) {
        message.more = length - at > most;
        tg_message_set_text(&message, text + at, length - at);
        if (to == comm->ranks)
            tg_comm_send_all(comm, &message);
        else
            tg_comm_send_head(comm, to, &message);
    }
}

bool tg_comm_send_payload(struct tg_comm *comm, uint32_t peer, const struct tg_message *message,
                          const void *payload, uint64_t size, struct tg_pending *given)
{
    struct tg_pending pending = *given;
    struct tg_error error;
    uint32_t index;
    pending.peer = peer;
    pending.size = size;
    if (!can_reach(comm, peer)) {
        free(pending.buffer);
        return false;
    }
    if (!add_pending(comm, pending, &index)) {
        free(pending.buffer);
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a message to rank %u ran out", peer);
        return false;
    }
    if (comm->ops->send(comm->state, peer, message, tg_message_size(message), payload, size,
                        token_of(comm, index), &error) != TG_OK) {
        remove_pending(comm, &comm->pending[index]);
        tg_run_on_lost(comm, peer, error.text, false);
        return false;
    }
    comm->run.result.messages_sent++;
    comm->run.result.bytes_sent += size;
    return true;
}

/* The bytes are copied: the caller may give up before they have left. */
void tg_comm_send_copy(struct tg_comm *comm, uint32_t peer, const struct tg_message *message,
                       const void *bytes, uint32_t size)
{
    struct tg_pending pending = {.kind = PENDING_NOTHING, .buffer = malloc(size)};
    if (!pending.buffer) {
        tg_run_on_lost(comm, peer, "memory for a message to it ran out", false);
        return;
    }
    memcpy(pending.buffer, bytes, size);
    tg_comm_send_payload(comm, peer, message, pending.buffer, size, &pending);
}

/* --- receiving ------------------------------------------------------------------------------ */

bool tg_comm_receive_payload(struct tg_comm *comm, uint32_t peer, uint64_t message, void *to,
                             uint64_t size, struct tg_pending *given)
{
    struct tg_pending pending = *given;
    struct tg_error error;
    uint32_t index;
    pending.peer = peer;
    pending.size = size;
    if (!can_reach(comm, peer)) {
        free(pending.buffer);
        return false;
    }
    if (!add_pending(comm, pending, &index)) {
        free(pending.buffer);
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a message of rank %u ran out", peer);
        return false;
    }
    if (comm->ops->receive(comm->state, message, to, size, token_of(comm, index), &error) == TG_OK)
        return true;
    remove_pending(comm, &comm->pending[index]);
    tg_run_on_lost(comm, peer, error.text, false);
    return false;
}

void tg_comm_drop_payload(struct tg_comm *comm, uint32_t peer, uint64_t message, uint64_t size)
{
    if (message != 0 && size != 0)
        tg_comm_receive_payload(comm, peer, message, NULL, size,
                                &(struct tg_pending){.kind = PENDING_NOTHING});
}

/* --- events --------------------------------------------------------------------------------- */

static void on_hello(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    struct tg_rank *peer = &comm->peer[from];
    peer->has_come = true;
    peer->pid = message->value[0];
    snprintf(peer->host, sizeof peer->host, "%.64s", message->text);
    if (message->value[1] != (int64_t)comm->ranks)
        tg_run_on_lost(comm, from, "it counts another number of ranks", false);
}

static void on_ping(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    struct tg_message pong = tg_message_make(TG_MESSAGE_PONG, 0);
    pong.value[0] = message->value[0];
    pong.value[1] = pong.value[2] = tg_comm_now_ns();
    tg_comm_send_head(comm, from, &pong);
}

void tg_comm_ping(struct tg_comm *comm)
{
    struct tg_message ping = tg_message_make(TG_MESSAGE_PING, 0);
    if (comm->rank == 0)
        return;
    ping.value[0] = tg_comm_now_ns();
    tg_comm_send_head(comm, 0, &ping);
}

static void on_pong(struct tg_comm *comm, const struct tg_message *message)
{
    pthread_mutex_lock(&comm->clock_lock);
    tg_clock_add(&comm->clock, message->value[0], message->value[1], message->value[2],
                 tg_comm_now_ns());
    pthread_mutex_unlock(&comm->clock_lock);
    if (comm->pings_left > 0) {
        comm->pings_left--;
        tg_comm_ping(comm);
    }
}

static void on_progress(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    struct tg_rank *peer = &comm->peer[from];
    if ((uint64_t)message->value[0] > peer->progress)
        peer->progress = (uint64_t)message->value[0];
    peer->waits = message->value[1] ? message->epoch : 0;
}

static void keep_for_later(struct tg_comm *comm, uint32_t from, const struct tg_message *message,
                           uint64_t number, uint64_t payload_size)
{
    struct tg_early *early = malloc(sizeof *early);
    if (!early) {
        tg_run_on_lost(comm, from, "memory for its message ran out", false);
        return;
    }
    *early = (struct tg_early){
        .from = from, .message = number, .payload_size = payload_size, .head = *message};
    *comm->later_end = early;
    comm->later_end = &early->next;
}

/* Messages that belong to a run. */
static void on_run_message(struct tg_comm *comm, uint32_t from, const struct tg_message *message,
                           uint64_t number, uint64_t payload_size)
{
    if (message->epoch > comm->epoch) {
        keep_for_later(comm, from, message, number, payload_size);
        return;
    }
    const bool is_mine = message->epoch == comm->epoch && comm->run.phase != RUN_NONE;
    if ((message->kind == TG_MESSAGE_CALL || message->kind == TG_MESSAGE_PART) && is_mine &&
        !comm->run.failed) {
        tg_call_on_message(comm, from, message, number, payload_size);
        return;
    }
    tg_comm_drop_payload(comm, from, number, payload_size);
    if (message->epoch != comm->epoch)
        return;
    if (message->kind == TG_MESSAGE_ENDED)
        tg_run_on_ended(comm, from, message);
    else if (message->kind == TG_MESSAGE_FAILED)
        tg_run_on_failed(comm, from, message);
    else if (message->kind == TG_MESSAGE_MATCHED && is_mine)
        tg_call_on_matched(comm, from, message);
}

void tg_comm_dispatch(struct tg_comm *comm, uint32_t from, const struct tg_message *message,
                      uint64_t number, uint64_t payload_size)
{
    const uint32_t kind = message->kind;
    if (kind == TG_MESSAGE_EXCHANGE) {
        tg_exchange_on_message(comm, from, message, number, payload_size);
        return;
    }
    if (kind == TG_MESSAGE_FAILED && message->value[0] == TG_FAILED_TO_TELL) {
        tg_run_on_report(comm, from, message);
        return;
    }
    if (kind == TG_MESSAGE_CALL || kind == TG_MESSAGE_PART || kind == TG_MESSAGE_MATCHED ||
        kind == TG_MESSAGE_ENDED || kind == TG_MESSAGE_FAILED) {
        on_run_message(comm, from, message, number, payload_size);
        return;
    }
    tg_comm_drop_payload(comm, from, number, payload_size);
    if (kind == TG_MESSAGE_HELLO)
        on_hello(comm, from, message);
    else if (kind == TG_MESSAGE_BYE)
        tg_run_on_lost(comm, from, "it left the job", true);
    else if (kind == TG_MESSAGE_PING)
        on_ping(comm, from, message);
    else if (kind == TG_MESSAGE_PONG)
        on_pong(comm, message);
    else if (kind == TG_MESSAGE_ASK)
        tg_explain_on_ask(comm, from, message);
    else if (kind == TG_MESSAGE_PROGRESS)
        on_progress(comm, from, message);
    else
        tg_explain_on_answer(comm, from, message);
}

static void on_arrival(struct tg_comm *comm, const struct tg_comm_event *event)
{
    struct tg_message message;
    const char *why;
    if (event->peer >= comm->ranks || comm->peer[event->peer].lost || comm->peer[event->peer].left)
        return;
    comm->run.result.messages_received++;
    if (!tg_message_read(event->head, event->head_size, comm->ranks, &message, &why)) {
        char text[120];
        snprintf(text, sizeof text, "its message cannot be read: %s", why);
        tg_run_on_lost(comm, event->peer, text, false);
        return;
    }
    tg_comm_dispatch(comm, event->peer, &message, event->message, event->payload_size);
}

static void on_finished(struct tg_comm *comm, const struct tg_comm_event *event)
{
    struct tg_pending *pending = find_pending(comm, event->token);
    if (!pending)
        return;
    const struct tg_pending copy = *pending;
    if (copy.kind == PENDING_EXCHANGE)
        pending->buffer = NULL; /* the exchange keeps it */
    remove_pending(comm, pending);
    if (event->kind == TG_COMM_RECEIVED)
        comm->run.result.bytes_received += copy.size;
    if (copy.kind == PENDING_ACTION) { /* what ranks exchange moves no run */
        comm->own_progress += 1 + copy.size;
        tg_action_on_event(comm, &copy);
    } else if (copy.kind == PENDING_EXCHANGE) {
        tg_exchange_on_received(comm, &copy);
    }
}

bool tg_comm_poll_event(struct tg_comm *comm)
{
    struct tg_comm_event event;
    if (!comm->ops || comm->broken)
        return false;
    event.kind = TG_COMM_NOTHING;
    comm->ops->poll(comm->state, &event);
    switch (event.kind) {
    case TG_COMM_ARRIVAL:
        on_arrival(comm, &event);
        return true;
    case TG_COMM_RECEIVED:
    case TG_COMM_SENT:
        on_finished(comm, &event);
        return true;
    case TG_COMM_LOST:
        event.text[sizeof event.text - 1] = '\0';
        if (event.peer < comm->ranks)
            tg_run_on_lost(comm, event.peer, event.text, false);
        return true;
    default:
        return false;
    }
}
