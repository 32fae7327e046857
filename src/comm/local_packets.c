/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over shared memory: what the packets of a peer mean, and how payloads move. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "comm/local_state.h"

#define SENSELESS "it sent what makes no sense"
#define NO_ROOM "memory for its message ran out"

/* --- sending -------------------------------------------------------------------------------- */

static void finish_outgoing(struct tg_local *local, struct local_peer *peer,
                            struct local_outgoing *outgoing)
{
    tg_local_push(local, (struct local_event){
                             .kind = TG_COMM_SENT, .peer = peer->rank, .token = outgoing->token});
    tg_local_table_remove(&peer->outgoing, outgoing->index);
    free(outgoing);
}

/* Copies chunks of payloads that the peer has asked for, as far as there are free slots. */
static void pump(struct tg_local *local, struct local_peer *peer)
{
    while (peer->fd >= 0 && peer->asked && peer->free_slots != 0) {
        struct local_outgoing *outgoing = peer->asked;
        const uint32_t slot = (uint32_t)__builtin_ctz(peer->free_slots);
        const uint64_t left = outgoing->size - outgoing->done;
        const uint32_t bytes = left < local->ring.chunk ? (uint32_t)left : local->ring.chunk;
        const struct local_packet packet = {
            .kind = PACKET_CHUNK, .to = outgoing->to, .slot = slot, .bytes = bytes};
        memcpy(peer->out_ring + (size_t)slot * local->ring.chunk,
               outgoing->payload + outgoing->done, bytes);
        peer->free_slots &= ~(1u << slot);
        outgoing->done += bytes;
        if (outgoing->done == outgoing->size) {
            peer->asked = outgoing->next;
            if (!peer->asked)
                peer->asked_last = NULL;
            finish_outgoing(local, peer, outgoing);
        }
        tg_local_put(local, peer, &packet, NULL, NULL, false, 0);
    }
}

/* The number of a payload is given with the head, so that the peer can ask for it. */
static bool hold_back(struct local_peer *peer, const void *payload, uint64_t size, uint64_t token,
                      uint32_t *index)
{
    struct local_outgoing *outgoing = calloc(1, sizeof *outgoing);
    if (!outgoing || !tg_local_table_add(&peer->outgoing, outgoing, index)) {
        free(outgoing);
        return false;
    }
    outgoing->payload = payload;
    outgoing->size = size;
    outgoing->token = token;
    outgoing->index = *index;
    return true;
}

tg_status tg_local_send(void *state, uint32_t to, const void *head, uint32_t head_size,
                        const void *payload, uint64_t payload_size, uint64_t token,
                        struct tg_error *error)
{
    struct tg_local *local = state;
    struct local_peer *peer = &local->peer[to];
    struct local_packet packet = {
        .kind = PACKET_MESSAGE, .head_size = head_size, .total = payload_size};
    if (peer->fd < 0) /* LOST was said; what is sent to it goes nowhere */
        return TG_OK;
    const bool is_small = payload_size > 0 && payload_size <= LOCAL_EAGER &&
                          peer->eager + payload_size <= LOCAL_EAGER_CREDIT;
    if (is_small) {
        packet.bytes = (uint32_t)payload_size;
        peer->eager += payload_size;
    } else if (payload_size > 0 && !hold_back(peer, payload, payload_size, token, &packet.index)) {
        return tg_error_set(error, TG_NO_MEMORY, "memory for a message to rank %u ran out", to);
    }
    tg_local_put(local, peer, &packet, head, is_small ? payload : NULL, is_small, token);
    return TG_OK;
}

/* --- receiving ------------------------------------------------------------------------------ */

static void finish_incoming(struct tg_local *local, struct local_incoming *incoming)
{
    tg_local_push(local, (struct local_event){.kind = TG_COMM_RECEIVED,
                                              .peer = incoming->peer->rank,
                                              .token = incoming->token});
    tg_local_table_remove(&incoming->peer->incoming, incoming->slot);
    free(incoming);
}

tg_status tg_local_receive(void *state, uint64_t message, void *to, uint64_t size, uint64_t token,
                           struct tg_error *error)
{
    struct tg_local *local = state;
    struct local_incoming *incoming = (struct local_incoming *)(uintptr_t)message;
    struct local_peer *peer = incoming->peer;
    struct local_packet packet = {
        .kind = to ? PACKET_ASK : PACKET_DROP, .index = incoming->index, .to = incoming->slot};
    if (to && size != incoming->size)
        return tg_error_set(
            error, TG_BAD_ARGUMENT, "a message from rank %u has %llu bytes, and %llu are wanted",
            peer->rank, (unsigned long long)incoming->size, (unsigned long long)size);
    incoming->token = token;
    incoming->to = to;
    incoming->asked = true;
    if (incoming->is_small) {
        if (to)
            memcpy(to, incoming->small, size);
        packet = (struct local_packet){.kind = PACKET_TAKEN, .bytes = (uint32_t)incoming->size};
    }
    tg_local_put(local, peer, &packet, NULL, NULL, false, 0);
    if (incoming->is_small || !to)
        finish_incoming(local, incoming);
    return TG_OK;
}

/* --- packets that come ---------------------------------------------------------------------- */

static bool on_message(struct tg_local *local, struct local_peer *peer,
                       const struct local_packet *packet, const unsigned char *rest, size_t size)
{
    if (packet->head_size > TG_COMM_HEAD || packet->bytes > LOCAL_EAGER ||
        size != (size_t)packet->head_size + packet->bytes ||
        (packet->bytes != 0 && packet->bytes != packet->total))
        return false;
    struct local_incoming *incoming = calloc(1, sizeof *incoming + packet->bytes);
    if (!incoming ||
        (packet->total > 0 && !tg_local_table_add(&peer->incoming, incoming, &incoming->slot))) {
        free(incoming);
        tg_local_lose(local, peer, NO_ROOM);
        return true;
    }
    incoming->peer = peer;
    incoming->index = packet->index;
    incoming->size = packet->total;
    incoming->is_small = packet->bytes > 0;
    incoming->head_size = packet->head_size;
    memcpy(incoming->head, rest, packet->head_size);
    memcpy(incoming->small, rest + packet->head_size, packet->bytes);
    tg_local_push(local, (struct local_event){
                             .kind = TG_COMM_ARRIVAL, .peer = peer->rank, .incoming = incoming});
    return true;
}

static bool on_ask(struct tg_local *local, struct local_peer *peer,
                   const struct local_packet *packet)
{
    struct local_outgoing *outgoing = tg_local_table_get(&peer->outgoing, packet->index);
    if (!outgoing || outgoing->asked)
        return false;
    if (packet->kind == PACKET_DROP) {
        finish_outgoing(local, peer, outgoing);
        return true;
    }
    outgoing->asked = true;
    outgoing->to = packet->to;
    if (peer->asked_last)
        peer->asked_last->next = outgoing;
    else
        peer->asked = outgoing;
    peer->asked_last = outgoing;
    pump(local, peer);
    return true;
}

static bool on_chunk(struct tg_local *local, struct local_peer *peer,
                     const struct local_packet *packet)
{
    struct local_incoming *incoming = tg_local_table_get(&peer->incoming, packet->to);
    const struct local_packet back = {.kind = PACKET_FREE, .slot = packet->slot};
    if (!incoming || !incoming->asked || incoming->is_small || packet->slot >= local->ring.slots ||
        packet->bytes == 0 || packet->bytes > local->ring.chunk ||
        packet->bytes > incoming->size - incoming->done)
        return false;
    memcpy(incoming->to + incoming->done, peer->in_ring + (size_t)packet->slot * local->ring.chunk,
           packet->bytes);
    incoming->done += packet->bytes;
    if (incoming->done == incoming->size)
        finish_incoming(local, incoming);
    tg_local_put(local, peer, &back, NULL, NULL, false, 0);
    return true;
}

static bool on_free(struct tg_local *local, struct local_peer *peer,
                    const struct local_packet *packet)
{
    if (packet->slot >= local->ring.slots || (peer->free_slots >> packet->slot & 1) != 0)
        return false;
    peer->free_slots |= 1u << packet->slot;
    pump(local, peer);
    return true;
}

static bool on_taken(struct local_peer *peer, const struct local_packet *packet)
{
    if (packet->bytes > peer->eager)
        return false;
    peer->eager -= packet->bytes;
    return true;
}

static bool on_packet(struct tg_local *local, struct local_peer *peer, const unsigned char *bytes,
                      size_t size)
{
    struct local_packet packet;
    if (size < sizeof packet)
        return false;
    memcpy(&packet, bytes, sizeof packet);
    if (packet.kind != PACKET_MESSAGE && size != sizeof packet)
        return false;
    switch (packet.kind) {
    case PACKET_MESSAGE:
        return on_message(local, peer, &packet, bytes + sizeof packet, size - sizeof packet);
    case PACKET_ASK:
    case PACKET_DROP:
        return on_ask(local, peer, &packet);
    case PACKET_CHUNK:
        return on_chunk(local, peer, &packet);
    case PACKET_FREE:
        return on_free(local, peer, &packet);
    case PACKET_TAKEN:
        return on_taken(peer, &packet);
    default:
        return false;
    }
}

void tg_local_read(struct tg_local *local, struct local_peer *peer)
{
    unsigned char bytes[sizeof(struct local_packet) + TG_COMM_HEAD + LOCAL_EAGER];
    for (int i = 0; i < LOCAL_READ_AT_ONCE && peer->fd >= 0; i++) {
        const ssize_t size = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return;
        if (size <= 0)
            tg_local_lose(local, peer, "its connection closed");
        else if ((size_t)size > sizeof bytes || !on_packet(local, peer, bytes, (size_t)size))
            tg_local_lose(local, peer, SENSELESS);
    }
}
