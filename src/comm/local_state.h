/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the transport over shared memory, for its own files. One thread at a time uses it. */
#ifndef TG_COMM_LOCAL_STATE_H
#define TG_COMM_LOCAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/local.h"

enum {
    LOCAL_EAGER = 16 << 10,       /* a payload of at most this size travels with its head */
    LOCAL_EAGER_CREDIT = 1 << 20, /* … as long as so many bytes were not taken yet */
    LOCAL_READ_AT_ONCE = 64       /* packets of one peer before the next one's turn */
};

enum local_packet_kind {
    PACKET_MESSAGE =
        1,            /* `index`: of the sender's payload; `total`: its size; `bytes`: of it here */
    PACKET_ASK = 2,   /* `index`: the sender's; `to`: of the one who asks */
    PACKET_CHUNK = 3, /* `to`: as in ASK; `slot`, `bytes` */
    PACKET_FREE = 4,  /* `slot` */
    PACKET_TAKEN = 5, /* `bytes` of payload that came with heads */
    PACKET_DROP = 6   /* `index`: the receiver does not want it */
};

/* The beginning of each packet. A MESSAGE has its head after it, then its small payload. */
struct local_packet {
    uint32_t kind, head_size;
    uint32_t index, to;
    uint32_t slot, bytes;
    uint64_t total;
};

/* A packet that the socket did not take. It owns its bytes. */
struct local_waiting {
    struct local_waiting *next;
    uint64_t token; /* SENT when it has left; 0: none */
    bool says_sent;
    size_t size;
    unsigned char bytes[];
};

/* A payload that waits until the peer asks for it, or is being copied. */
struct local_outgoing {
    struct local_outgoing *next; /* among those that were asked for */
    const unsigned char *payload;
    uint64_t size, done, token;
    uint32_t index, to;
    bool asked;
};

/* A message that has come: its payload is in `small`, or at the sender until it is asked for. */
struct local_incoming {
    struct local_peer *peer;
    uint32_t index; /* the sender's */
    uint32_t slot;  /* in the table `incoming` */
    uint64_t size, done, token;
    unsigned char *to;
    bool asked, is_small;
    uint32_t head_size;
    unsigned char head[TG_COMM_HEAD];
    unsigned char small[];
};

/* Numbers that a peer names: places of a table that grows. */
struct local_table {
    void **item;
    uint32_t *free_places;
    size_t count, room, n_free, free_room;
};

struct local_peer {
    uint32_t rank;
    int fd; /* -1: lost, or this rank itself */
    bool wants_out;
    struct local_waiting *first, *last;
    struct local_table outgoing, incoming;
    struct local_outgoing *asked, *asked_last;
    uint32_t free_slots; /* bits */
    uint64_t eager;      /* bytes that the peer has not taken */
    unsigned char *out_ring, *in_ring;
};

struct local_event {
    enum tg_comm_event_kind kind;
    uint32_t peer;
    uint64_t token;
    struct local_incoming *incoming;
    const char *text;
};

struct local_events {
    struct local_event *item;
    size_t first, last, room;
};

struct tg_local {
    uint32_t rank, ranks;
    int epoll;
    unsigned char *memory;
    uint64_t bytes;
    struct tg_local_ring ring;
    struct local_peer *peer;
    struct local_events events;
};

/* local_peer.c */
void tg_local_flush(struct tg_local *local, struct local_peer *peer);
/* Puts a packet into the socket, or into the queue. `token` with says_sent: SENT when it has left. */
void tg_local_put(struct tg_local *local, struct local_peer *peer,
                  const struct local_packet *packet, const void *head, const void *payload,
                  bool says_sent, uint64_t token);
void tg_local_lose(struct tg_local *local, struct local_peer *peer, const char *text);
/* Ends its socket and frees its messages; events must not point to these any more. */
void tg_local_forget_peer(struct local_peer *peer);
void tg_local_forget_events(struct tg_local *local, uint32_t rank);
void tg_local_push(struct tg_local *local, struct local_event event);
void tg_local_next_event(struct tg_local *local, struct tg_comm_event *event);
/* True, and the place's number, if the table could take the item. */
bool tg_local_table_add(struct local_table *table, void *item, uint32_t *index);
void *tg_local_table_get(const struct local_table *table, uint32_t index);
void tg_local_table_remove(struct local_table *table, uint32_t index);

/* local_packets.c */
void tg_local_read(struct tg_local *local, struct local_peer *peer);
tg_status tg_local_send(void *state, uint32_t peer, const void *head, uint32_t head_size,
                        const void *payload, uint64_t payload_size, uint64_t token,
                        struct tg_error *error);
tg_status tg_local_receive(void *state, uint64_t message, void *to, uint64_t size, uint64_t token,
                           struct tg_error *error);

#endif
