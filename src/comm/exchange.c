/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank gets the bytes of all. Bytes of a rank that is ahead wait here until this one asks. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "comm/engine.h"

enum { MOST_BYTES = 64 << 10 };

/* Bytes that came, or are coming, from a rank. */
struct tg_exchange {
    struct tg_exchange *next;
    uint32_t from, size;
    uint64_t number;
    bool is_there;
    unsigned char *bytes;
};

static struct tg_exchange *find(struct tg_comm *comm, uint32_t from, uint64_t number)
{
    struct tg_exchange *exchange = comm->exchanges;
    while (exchange && (exchange->from != from || exchange->number != number))
        exchange = exchange->next;
    return exchange;
}

void tg_exchange_on_message(struct tg_comm *comm, uint32_t from, const struct tg_message *head,
                            uint64_t message, uint64_t payload_size)
{
    if (head->number < comm->n_exchanges && !comm->exchanging) {
        tg_comm_drop_payload(comm, from, message, payload_size); /* this one is over here */
        return;
    }
    if (payload_size != head->elements || payload_size > MOST_BYTES ||
        find(comm, from, head->number)) {
        tg_run_on_lost(comm, from, "it sent what makes no sense", false);
        return;
    }
    struct tg_exchange *exchange = calloc(1, sizeof *exchange);
    unsigned char *bytes = malloc(payload_size ? payload_size : 1);
    if (!exchange || !bytes) {
        free(exchange);
        free(bytes);
        tg_run_on_lost(comm, from, "memory for its message ran out", false);
        return;
    }
    *exchange = (struct tg_exchange){.next = comm->exchanges,
                                     .from = from,
                                     .size = (uint32_t)payload_size,
                                     .number = head->number,
                                     .is_there = payload_size == 0,
                                     .bytes = payload_size ? NULL : bytes};
    comm->exchanges = exchange;
    if (payload_size > 0)
        tg_comm_receive_payload(comm, from, message, bytes, payload_size,
                                &(struct tg_pending){.kind = PENDING_EXCHANGE,
                                                     .buffer = bytes,
                                                     .number = head->number});
}

void tg_exchange_on_received(struct tg_comm *comm, const struct tg_pending *pending)
{
    struct tg_exchange *exchange = find(comm, pending->peer, pending->number);
    if (!exchange) { /* given up */
        free(pending->buffer);
        return;
    }
    exchange->bytes = pending->buffer;
    exchange->is_there = true;
}

void tg_exchange_begin(struct tg_comm *comm, struct tg_request *request)
{
    struct tg_message head = tg_message_make(TG_MESSAGE_EXCHANGE, 0);
    head.number = comm->n_exchanges++;
    head.elements = request->size;
    comm->exchanging = true;
    for (uint32_t i = 0; i < comm->ranks; i++) {
        request->lost[i] = false;
        if (i == comm->rank)
            continue;
        if (request->size == 0)
            tg_comm_send_head(comm, i, &head);
        else
            tg_comm_send_copy(comm, i, &head, request->mine, request->size);
    }
    tg_exchange_check(comm, tg_comm_now());
}

static void remove_old(struct tg_comm *comm)
{
    struct tg_exchange **link = &comm->exchanges;
    while (*link) {
        struct tg_exchange *exchange = *link;
        if (exchange->number < comm->n_exchanges) {
            *link = exchange->next;
            free(exchange->bytes);
            free(exchange);
        } else {
            link = &exchange->next;
        }
    }
}

static void answer(struct tg_comm *comm, uint32_t missing, uint32_t odd)
{
    struct tg_request *request = comm->current;
    char name[120];
    tg_status status = TG_OK;
    if (missing < comm->ranks)
        status = tg_error_set(
            request->error, TG_RANK_LOST, "%s %s", tg_rank_name(comm, missing, name),
            comm->peer[missing].lost || comm->peer[missing].left ? comm->peer[missing].why
                                                                 : "did not answer in time");
    else if (odd < comm->ranks)
        status =
            tg_error_set(request->error, TG_COMM_MISMATCH,
                         "rank %u exchanges another number of bytes than rank %u", odd, comm->rank);
    remove_old(comm);
    comm->exchanging = false;
    tg_comm_answer(comm, status);
}

void tg_exchange_check(struct tg_comm *comm, double now)
{
    struct tg_request *request = comm->current;
    uint32_t missing = comm->ranks, odd = comm->ranks;
    if (!comm->exchanging)
        return;
    for (uint32_t i = 0; i < comm->ranks; i++) {
        const struct tg_exchange *got = find(comm, i, comm->n_exchanges - 1);
        unsigned char *to = (unsigned char *)request->all + (size_t)i * request->size;
        const void *bytes = i == comm->rank ? request->mine : got ? got->bytes : NULL;
        const bool there = i == comm->rank || (got && got->is_there);
        const bool gone = comm->peer[i].lost || comm->peer[i].left;
        /* Without a farewell; perhaps after it had sent its bytes. */
        const bool died = comm->peer[i].lost && !comm->peer[i].left;
        const bool fits = there && (i == comm->rank || got->size == request->size);
        if (!there && !gone && now < request->deadline)
            return;
        request->lost[i] = !there || died;
        if (request->lost[i])
            missing = i;
        else if (!fits)
            odd = i;
        if (!fits)
            memset(to, 0, request->size);
        else if (request->size > 0)
            memcpy(to, bytes, request->size);
    }
    answer(comm, missing, odd);
}

void tg_exchange_free(struct tg_comm *comm)
{
    comm->n_exchanges = UINT64_MAX;
    remove_old(comm);
}
