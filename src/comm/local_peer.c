/* SPDX-License-Identifier: Apache-2.0 */
/* What the transport over shared memory keeps for a peer: waiting packets, tables, events. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/grow.h"
#include "comm/local_state.h"

/* --- events --------------------------------------------------------------------------------- */

void tg_local_push(struct tg_local *local, struct local_event event)
{
    struct local_events *events = &local->events;
    if (events->first == events->last)
        events->first = events->last = 0;
    /* An event that memory has no place for cannot be told; the peer is then as good as lost, and
     * the run's own limit ends the wait. */
    if (tg_grow(&events->item, &events->room, events->last + 1, sizeof *events->item))
        events->item[events->last++] = event;
}

void tg_local_next_event(struct tg_local *local, struct tg_comm_event *event)
{
    struct local_events *events = &local->events;
    event->kind = TG_COMM_NOTHING;
    if (events->first == events->last)
        return;
    const struct local_event *next = &events->item[events->first++];
    event->kind = next->kind;
    event->peer = next->peer;
    event->token = next->token;
    if (next->kind == TG_COMM_LOST) {
        snprintf(event->text, sizeof event->text, "%s", next->text);
        tg_local_forget_peer(&local->peer[next->peer]);
    }
    if (next->kind != TG_COMM_ARRIVAL)
        return;
    struct local_incoming *incoming = next->incoming;
    event->payload_size = incoming->size;
    event->message = incoming->size ? (uint64_t)(uintptr_t)incoming : 0;
    event->head_size = incoming->head_size;
    memcpy(event->head, incoming->head, incoming->head_size);
    if (incoming->size == 0)
        free(incoming);
}

/* Payloads are in the peer's tables; a message without one is the event's alone. */
void tg_local_forget_events(struct tg_local *local, uint32_t rank)
{
    struct local_events *events = &local->events;
    size_t kept = events->first;
    for (size_t i = events->first; i < events->last; i++) {
        const struct local_event event = events->item[i];
        if (event.peer != rank)
            events->item[kept++] = event;
        else if (event.kind == TG_COMM_ARRIVAL && event.incoming->size == 0)
            free(event.incoming);
    }
    events->last = kept;
}

/* --- tables --------------------------------------------------------------------------------- */

bool tg_local_table_add(struct local_table *table, void *item, uint32_t *index)
{
    if (table->n_free > 0) {
        *index = table->free_places[--table->n_free];
    } else {
        if (table->count >= UINT32_MAX / 2 ||
            !tg_grow(&table->item, &table->room, table->count + 1, sizeof(void *)) ||
            !tg_grow(&table->free_places, &table->free_room, table->count + 1, sizeof(uint32_t)))
            return false;
        *index = (uint32_t)table->count++;
    }
    table->item[*index] = item;
    return true;
}

void *tg_local_table_get(const struct local_table *table, uint32_t index)
{
    return index < table->count ? table->item[index] : NULL;
}

void tg_local_table_remove(struct local_table *table, uint32_t index)
{
    table->item[index] = NULL;
    table->free_places[table->n_free++] = index; /* there is room for each place */
}

static void clear_table(struct local_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->item[i]);
    free(table->item);
    free(table->free_places);
    *table = (struct local_table){0};
}

/* --- the socket ----------------------------------------------------------------------------- */

/* The socket's end; the messages that came through it stay. */
static void hang_up(struct local_peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd); /* leaves the epoll too */
    peer->fd = -1;
    while (peer->first) {
        struct local_waiting *next = peer->first->next;
        free(peer->first);
        peer->first = next;
    }
    peer->last = NULL;
    peer->asked = peer->asked_last = NULL;
}

void tg_local_forget_peer(struct local_peer *peer)
{
    hang_up(peer);
    clear_table(&peer->outgoing);
    clear_table(&peer->incoming);
}

/* The user may still get events of messages that came before, and ask for these; so they are forgotten
 * only when the user learns of the loss. */
void tg_local_lose(struct tg_local *local, struct local_peer *peer, const char *text)
{
    if (peer->fd < 0)
        return;
    hang_up(peer);
    tg_local_push(local,
                  (struct local_event){.kind = TG_COMM_LOST, .peer = peer->rank, .text = text});
}

static void want_out(struct tg_local *local, struct local_peer *peer, bool wants)
{
    struct epoll_event wanted = {.events = EPOLLIN | (wants ? (uint32_t)EPOLLOUT : 0),
                                 .data.u32 = peer->rank};
    if (peer->wants_out == wants)
        return;
    peer->wants_out = wants;
    (void)epoll_ctl(local->epoll, EPOLL_CTL_MOD, peer->fd, &wanted);
}

/* Whether to try again later. After another cause the packet is gone: if the peer's end is closed, that end is
 * read soon, after what came before it; else the peer would wait for the packet for ever, and is lost now. */
static bool is_full(struct tg_local *local, struct local_peer *peer, int cause)
{
    if (cause == EAGAIN || cause == EWOULDBLOCK || cause == ENOBUFS || cause == ENOMEM ||
        cause == EINTR)
        return true;
    if (cause != EPIPE && cause != ECONNRESET)
        tg_local_lose(local, peer, "the system does not take a message to it");
    return false;
}

void tg_local_flush(struct tg_local *local, struct local_peer *peer)
{
    while (peer->fd >= 0 && peer->first) {
        struct local_waiting *waiting = peer->first;
        if (send(peer->fd, waiting->bytes, waiting->size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
            (is_full(local, peer, errno) || peer->fd < 0))
            break;
        if (waiting->says_sent)
            tg_local_push(local, (struct local_event){.kind = TG_COMM_SENT,
                                                      .peer = peer->rank,
                                                      .token = waiting->token});
        peer->first = waiting->next;
        if (!peer->first)
            peer->last = NULL;
        free(waiting);
    }
    if (peer->fd >= 0)
        want_out(local, peer, peer->first != NULL);
}

static void queue_packet(struct tg_local *local, struct local_peer *peer, const struct iovec *part,
                         bool says_sent, uint64_t token)
{
    const size_t size = part[0].iov_len + part[1].iov_len + part[2].iov_len;
    struct local_waiting *waiting = malloc(sizeof *waiting + size);
    if (!waiting) {
        tg_local_lose(local, peer, "memory for a message to it ran out");
        return;
    }
    *waiting = (struct local_waiting){.token = token, .says_sent = says_sent, .size = size};
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        if (part[i].iov_len)
            memcpy(waiting->bytes + at, part[i].iov_base, part[i].iov_len);
        at += part[i].iov_len;
    }
    if (peer->last)
        peer->last->next = waiting;
    else
        peer->first = waiting;
    peer->last = waiting;
    want_out(local, peer, true);
}

void tg_local_put(struct tg_local *local, struct local_peer *peer,
                  const struct local_packet *packet, const void *head, const void *payload,
                  bool says_sent, uint64_t token)
{
    struct iovec part[3] = {{(void *)(uintptr_t)packet, sizeof *packet},
                            {(void *)(uintptr_t)head, packet->head_size},
                            {(void *)(uintptr_t)payload, payload ? packet->bytes : 0}};
    struct msghdr message = {.msg_iov = part, .msg_iovlen = 3};
    if (peer->fd < 0)
        return;
    if (peer->first || (sendmsg(peer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
                        is_full(local, peer, errno))) {
        queue_packet(local, peer, part, says_sent, token);
        return;
    }
    if (says_sent && peer->fd >= 0)
        tg_local_push(
            local, (struct local_event){.kind = TG_COMM_SENT, .peer = peer->rank, .token = token});
}
