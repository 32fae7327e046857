/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank's end of the transport over MPI.
 *
 *     small payload     one message with the tag HEAD: packet, head, payload
 *     larger payload    a message HEAD with packet and head; then pieces with a tag of their own, into
 *                       memory that `receive` names. MPI keeps them at the sender until then. Up to 64 KiB
 *                       it keeps a copy, so that SENT does not wait for the receiver: ranks that send to
 *                       each other before they receive would wait for ever.
 *
 * Receives for HEAD are posted ahead, in a ring. MPI matches them in the order in which they were posted,
 * so looking at them in that order keeps the order of each sender's messages.
 */
#ifndef TG_MPI_STATE_H
#define TG_MPI_STATE_H

#include <mpi.h>
#include <taskglass/comm.h>

enum {
    TG_MPI_HEAD_TAG = 1,
    TG_MPI_FIRST_TAG = 2,     /* of payloads: counted up by each sender for each receiver */
    TG_MPI_INLINE = 3072,     /* the largest payload that travels with its head */
    TG_MPI_COPIED = 64 << 10, /* the largest of which a copy is made */
    TG_MPI_RING = 32,         /* receives that are posted ahead */
    TG_MPI_PIECE = 256 << 20  /* MPI counts in int */
};

/* The beginning of a message HEAD. */
struct tg_mpi_packet {
    uint64_t payload_size;
    uint32_t head_size;
    uint32_t tag; /* of the payload's pieces; 0: it follows the head */
};

enum { TG_MPI_MOST = sizeof(struct tg_mpi_packet) + TG_COMM_HEAD + TG_MPI_INLINE };

/* A message on its way out. */
struct tg_mpi_send {
    struct tg_mpi_send *next;
    uint32_t peer, n_requests, tag;
    size_t size; /* of `bytes` */
    bool tells;  /* SENT is to be given with the token */
    uint64_t token;
    MPI_Request *request; /* the head's is the first */
    MPI_Request few[2];
    void *copy; /* of the payload; NULL: it is the caller's until SENT */
    char bytes[TG_MPI_MOST];
};

/* A message that has come, and whose payload nobody has taken yet or is on its way. */
struct tg_mpi_arrival {
    struct tg_mpi_arrival *next;
    uint32_t peer, tag;
    uint64_t payload_size, token;
    uint32_t n_requests;
    MPI_Request *request;
    MPI_Request few[1];
    void *scratch; /* a payload that is dropped goes here */
    char bytes[];  /* a payload that came with its head */
};

/* Another rank, as far as this end must know. */
struct tg_mpi_peer {
    uint32_t next_tag;
    bool lost;
    int64_t pid; /* 0: it is not on this machine */
    double gone_since;
};

/* Events that are ready. */
struct tg_mpi_ready {
    struct tg_mpi_ready *next;
    enum tg_comm_event_kind kind;
    uint32_t peer;
    uint64_t token;
    char text[120];
};

struct tg_mpi {
    MPI_Comm comm;
    bool is_ours; /* this code began MPI, and ends it */
    uint32_t rank, ranks, local_rank, local_ranks;
    uint32_t tags; /* how many tags payloads can have */
    char about[80];
    MPI_Request ring[TG_MPI_RING];
    char (*buffer)[TG_MPI_MOST];
    uint32_t cursor; /* the oldest receive of the ring */
    struct tg_mpi_send *sends, **sends_end;
    struct tg_mpi_arrival *receives, **receives_end; /* payloads on their way */
    struct tg_mpi_ready *ready, **ready_end;
    struct tg_mpi_peer *peer;
    uint32_t polls;
    double looked_at; /* when it was last seen whether peers are there */
};

/* messages.c */
bool tg_mpi_post_ring(struct tg_mpi *mpi);
tg_status tg_mpi_send(void *state, uint32_t peer, const void *head, uint32_t head_size,
                      const void *payload, uint64_t payload_size, uint64_t token,
                      struct tg_error *error);
tg_status tg_mpi_receive(void *state, uint64_t message, void *to, uint64_t size, uint64_t token,
                         struct tg_error *error);
void tg_mpi_poll(void *state, struct tg_comm_event *event);
/* Waits until all ranks close and their messages are out, so many seconds at most (0: without a limit), and drops what
 * still comes in. False: they do not, or one is gone. */
bool tg_mpi_drain(struct tg_mpi *mpi, double seconds);
void tg_mpi_free_messages(struct tg_mpi *mpi, bool failed);
/* The peer cannot be reached any more: LOST follows, once. */
void tg_mpi_lose(struct tg_mpi *mpi, uint32_t peer, const char *why);
tg_status tg_mpi_fail(struct tg_error *error, tg_status status, const char *text);

/* peers.c */
bool tg_mpi_meet_peers(struct tg_mpi *mpi, MPI_Comm local);
/* Now and then: loses the peers whose process is gone. */
void tg_mpi_look_at_peers(struct tg_mpi *mpi);
double tg_mpi_now(void);

#endif
