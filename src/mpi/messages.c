/* SPDX-License-Identifier: Apache-2.0 */
/* Heads and payloads. Nothing here waits: what is not complete is looked at again in the next poll. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/mpi_state.h"

tg_status tg_mpi_fail(struct tg_error *error, tg_status status, const char *text)
{
    if (error) {
        error->status = status;
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return status;
}

static tg_status no_memory(struct tg_error *error)
{
    return tg_mpi_fail(error, TG_NO_MEMORY, "out of host memory for a message to another rank");
}

/* ── events ────────────────────────────────────────────────────────────────────────────── */

static void put_ready(struct tg_mpi *mpi, struct tg_mpi_ready *ready)
{
    ready->next = NULL;
    *mpi->ready_end = ready;
    mpi->ready_end = &ready->next;
}

static bool take_ready(struct tg_mpi *mpi, struct tg_comm_event *event)
{
    struct tg_mpi_ready *ready = mpi->ready;
    if (!ready)
        return false;
    mpi->ready = ready->next;
    if (!mpi->ready)
        mpi->ready_end = &mpi->ready;
    event->kind = ready->kind;
    event->peer = ready->peer;
    event->token = ready->token;
    memcpy(event->text, ready->text, sizeof event->text);
    free(ready);
    return true;
}

static bool add_ready(struct tg_mpi *mpi, enum tg_comm_event_kind kind, uint32_t peer,
                      uint64_t token, const char *text)
{
    struct tg_mpi_ready *ready = calloc(1, sizeof *ready);
    if (!ready)
        return false;
    ready->kind = kind;
    ready->peer = peer;
    ready->token = token;
    snprintf(ready->text, sizeof ready->text, "%s", text);
    put_ready(mpi, ready);
    return true;
}

void tg_mpi_lose(struct tg_mpi *mpi, uint32_t peer, const char *why)
{
    if (peer < mpi->ranks && !mpi->peer[peer].lost)
        mpi->peer[peer].lost = add_ready(mpi, TG_COMM_LOST, peer, 0, why);
}

static void lose_for(struct tg_mpi *mpi, uint32_t peer, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "MPI failed", why[120];
    int length;
    (void)MPI_Error_string(code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    snprintf(why, sizeof why, "cannot be reached: %.90s", text);
    tg_mpi_lose(mpi, peer, why);
}

/* ── sending ───────────────────────────────────────────────────────────────────────────── */

static uint32_t pieces_of(uint64_t size)
{
    return (uint32_t)((size + TG_MPI_PIECE - 1) / TG_MPI_PIECE);
}

static int piece_size(uint64_t size, uint64_t at)
{
    return (int)(size - at < TG_MPI_PIECE ? size - at : TG_MPI_PIECE);
}

static uint32_t next_tag(struct tg_mpi *mpi, uint32_t peer)
{
    uint32_t *next = &mpi->peer[peer].next_tag;
    uint32_t tag = TG_MPI_FIRST_TAG + *next;
    *next = (*next + 1) % mpi->tags;
    return tag;
}

static struct tg_mpi_send *make_send(uint32_t n_requests)
{
    struct tg_mpi_send *send = malloc(sizeof *send);
    if (!send)
        return NULL;
    send->next = NULL;
    send->copy = NULL;
    send->request = send->few;
    send->n_requests = n_requests;
    if (n_requests > sizeof send->few / sizeof send->few[0])
        send->request = malloc(n_requests * sizeof(MPI_Request));
    if (!send->request) {
        free(send);
        return NULL;
    }
    for (uint32_t i = 0; i < n_requests; i++)
        send->request[i] = MPI_REQUEST_NULL;
    return send;
}

static void free_send(struct tg_mpi_send *send)
{
    if (send->request != send->few)
        free(send->request);
    free(send->copy);
    free(send);
}

static int start_pieces(struct tg_mpi *mpi, struct tg_mpi_send *send, const char *payload,
                        uint64_t size)
{
    int code = MPI_SUCCESS;
    for (uint32_t i = 0; i < pieces_of(size) && code == MPI_SUCCESS; i++) {
        uint64_t at = (uint64_t)i * TG_MPI_PIECE;
        code = MPI_Isend(payload + at, piece_size(size, at), MPI_BYTE, (int)send->peer,
                         (int)send->tag, mpi->comm, &send->request[i + 1]);
    }
    return code;
}

/* Makes the message without starting it. NULL: no memory. */
static struct tg_mpi_send *pack(struct tg_mpi *mpi, uint32_t peer, const void *head,
                                uint32_t head_size, const void *payload, uint64_t size,
                                uint64_t token)
{
    bool is_inline = size <= TG_MPI_INLINE, is_copied = size <= TG_MPI_COPIED;
    struct tg_mpi_send *send = make_send(1 + (is_inline ? 0 : pieces_of(size)));
    if (!send)
        return NULL;
    if (!is_inline && is_copied)
        send->copy = malloc(size);
    if ((!is_inline && is_copied && !send->copy) ||
        (is_copied && size > 0 && !add_ready(mpi, TG_COMM_SENT, peer, token, ""))) {
        free_send(send);
        return NULL;
    }
    struct tg_mpi_packet packet = {size, head_size, is_inline ? 0 : next_tag(mpi, peer)};
    send->peer = peer;
    send->token = token;
    send->tells = !is_copied;
    memcpy(send->bytes, &packet, sizeof packet);
    memcpy(send->bytes + sizeof packet, head, head_size);
    send->size = sizeof packet + head_size + (is_inline ? size : 0);
    if (is_inline && size > 0)
        memcpy(send->bytes + sizeof packet + head_size, payload, size);
    if (send->copy)
        memcpy(send->copy, payload, size);
    send->tag = packet.tag;
    return send;
}

tg_status tg_mpi_send(void *state, uint32_t peer, const void *head, uint32_t head_size,
                      const void *payload, uint64_t payload_size, uint64_t token,
                      struct tg_error *error)
{
    struct tg_mpi *mpi = state;
    if (peer >= mpi->ranks || peer == mpi->rank || head_size > TG_COMM_HEAD)
        return tg_mpi_fail(error, TG_BAD_ARGUMENT,
                           "a message to no other rank, or too large a head");
    struct tg_mpi_send *send = pack(mpi, peer, head, head_size, payload, payload_size, token);
    if (!send)
        return no_memory(error);
    if (!mpi->peer[peer].lost) {
        int code = MPI_Isend(send->bytes, (int)send->size, MPI_BYTE, (int)peer, TG_MPI_HEAD_TAG,
                             mpi->comm, &send->request[0]);
        if (code == MPI_SUCCESS && send->tag != 0)
            code = start_pieces(mpi, send, send->copy ? send->copy : payload, payload_size);
        if (code != MPI_SUCCESS)
            lose_for(mpi, peer, code);
    }
    *mpi->sends_end = send;
    mpi->sends_end = &send->next;
    return TG_OK;
}

/* One that is complete becomes MPI_REQUEST_NULL, which is complete too. */
static int test_all(MPI_Request *request, uint32_t n, int *is_done)
{
    int code = MPI_SUCCESS;
    *is_done = 1;
    for (uint32_t i = 0; i < n && *is_done && code == MPI_SUCCESS; i++)
        code = MPI_Test(&request[i], is_done, MPI_STATUS_IGNORE);
    return code;
}

/* Gives SENT for messages that are out. What goes to a lost peer never is: the payload stays MPI's. */
static void look_at_sends(struct tg_mpi *mpi)
{
    struct tg_mpi_send **link = &mpi->sends;
    while (*link) {
        struct tg_mpi_send *send = *link;
        int is_done = 0;
        int code = test_all(send->request, send->n_requests, &is_done);
        if (code != MPI_SUCCESS)
            lose_for(mpi, send->peer, code);
        if (code != MPI_SUCCESS || !is_done ||
            (send->tells && !add_ready(mpi, TG_COMM_SENT, send->peer, send->token, ""))) {
            link = &send->next;
            continue;
        }
        *link = send->next;
        free_send(send);
    }
    mpi->sends_end = link;
}

/* ── receiving ─────────────────────────────────────────────────────────────────────────── */

static int post(struct tg_mpi *mpi, uint32_t i)
{
    return MPI_Irecv(mpi->buffer[i], TG_MPI_MOST, MPI_BYTE, MPI_ANY_SOURCE, TG_MPI_HEAD_TAG,
                     mpi->comm, &mpi->ring[i]);
}

bool tg_mpi_post_ring(struct tg_mpi *mpi)
{
    bool is_good = true;
    for (uint32_t i = 0; i < TG_MPI_RING; i++)
        mpi->ring[i] = MPI_REQUEST_NULL;
    for (uint32_t i = 0; i < TG_MPI_RING && is_good; i++)
        is_good = post(mpi, i) == MPI_SUCCESS;
    return is_good;
}

/* Another process wrote the packet: every number in it is checked against what came. */
static bool is_sound(const struct tg_mpi *mpi, const struct tg_mpi_packet *packet, size_t size)
{
    size_t head = sizeof *packet + (size_t)packet->head_size;
    if (size < sizeof *packet || packet->head_size > TG_COMM_HEAD || head > size)
        return false;
    if (packet->tag == 0)
        return packet->payload_size <= TG_MPI_INLINE && head + packet->payload_size == size;
    return packet->payload_size > TG_MPI_INLINE && head == size &&
           packet->tag >= TG_MPI_FIRST_TAG && packet->tag - TG_MPI_FIRST_TAG < mpi->tags;
}

static struct tg_mpi_arrival *keep(uint32_t peer, const struct tg_mpi_packet *packet,
                                   const char *payload)
{
    size_t size = packet->tag == 0 ? (size_t)packet->payload_size : 0;
    struct tg_mpi_arrival *arrival = calloc(1, sizeof *arrival + size);
    if (!arrival)
        return NULL;
    arrival->peer = peer;
    arrival->tag = packet->tag;
    arrival->payload_size = packet->payload_size;
    memcpy(arrival->bytes, payload, size);
    return arrival;
}

/* Turns the message in buffer `i` into an event. False: there is none after all. */
static bool arrive(struct tg_mpi *mpi, uint32_t i, const MPI_Status *status,
                   struct tg_comm_event *event)
{
    struct tg_mpi_packet packet = {0};
    uint32_t peer = (uint32_t)status->MPI_SOURCE;
    const char *bytes = mpi->buffer[i];
    int size = 0;
    MPI_Get_count(status, MPI_BYTE, &size);
    memcpy(&packet, bytes, sizeof packet < (size_t)size ? sizeof packet : (size_t)size);
    if (peer >= mpi->ranks || !is_sound(mpi, &packet, (size_t)size)) {
        tg_mpi_lose(mpi, peer, "sent a message that makes no sense");
        return false;
    }
    const char *payload = bytes + sizeof packet + packet.head_size;
    struct tg_mpi_arrival *arrival = packet.payload_size > 0 ? keep(peer, &packet, payload) : NULL;
    if (packet.payload_size > 0 && !arrival) {
        tg_mpi_lose(mpi, peer, "sent a message for which there is no memory");
        return false;
    }
    event->kind = TG_COMM_ARRIVAL;
    event->peer = peer;
    event->message = (uint64_t)(uintptr_t)arrival;
    event->payload_size = packet.payload_size;
    event->head_size = packet.head_size;
    memcpy(event->head, bytes + sizeof packet, packet.head_size);
    return true;
}

static bool take_arrival(struct tg_mpi *mpi, struct tg_comm_event *event)
{
    uint32_t i = mpi->cursor;
    MPI_Status status;
    int is_there = 0;
    if (mpi->ring[i] == MPI_REQUEST_NULL ||
        MPI_Test(&mpi->ring[i], &is_there, &status) != MPI_SUCCESS || !is_there)
        return false;
    bool is_event = arrive(mpi, i, &status, event);
    mpi->cursor = (i + 1) % TG_MPI_RING;
    if (post(mpi, i) != MPI_SUCCESS)
        mpi->ring[i] = MPI_REQUEST_NULL; /* then nothing comes any more, and the job stands still */
    return is_event;
}

static bool prepare(struct tg_mpi_arrival *arrival, bool is_dropped)
{
    arrival->n_requests = pieces_of(arrival->payload_size);
    arrival->request = arrival->few;
    if (arrival->n_requests > sizeof arrival->few / sizeof arrival->few[0])
        arrival->request = calloc(arrival->n_requests, sizeof(MPI_Request));
    if (is_dropped)
        arrival->scratch = malloc(arrival->payload_size);
    return arrival->request && (!is_dropped || arrival->scratch);
}

static void free_arrival(struct tg_mpi_arrival *arrival)
{
    if (arrival->request != arrival->few)
        free(arrival->request);
    free(arrival->scratch);
    free(arrival);
}

static int start_receiving(struct tg_mpi *mpi, struct tg_mpi_arrival *arrival, char *to)
{
    int code = MPI_SUCCESS;
    for (uint32_t i = 0; i < arrival->n_requests; i++)
        arrival->request[i] = MPI_REQUEST_NULL;
    for (uint32_t i = 0; i < arrival->n_requests && code == MPI_SUCCESS; i++) {
        uint64_t at = (uint64_t)i * TG_MPI_PIECE;
        code = MPI_Irecv(to + at, piece_size(arrival->payload_size, at), MPI_BYTE,
                         (int)arrival->peer, (int)arrival->tag, mpi->comm, &arrival->request[i]);
    }
    return code;
}

tg_status tg_mpi_receive(void *state, uint64_t message, void *to, uint64_t size, uint64_t token,
                         struct tg_error *error)
{
    struct tg_mpi *mpi = state;
    struct tg_mpi_arrival *arrival = (void *)(uintptr_t)message; /* tg_mpi_poll gave it away */
    if (!arrival || (to && size < arrival->payload_size))
        return tg_mpi_fail(error, TG_BAD_ARGUMENT, "a payload does not fit where it should go");
    arrival->token = token;
    if (arrival->tag == 0) {
        if (!add_ready(mpi, TG_COMM_RECEIVED, arrival->peer, token, ""))
            return no_memory(error);
        if (to)
            memcpy(to, arrival->bytes, arrival->payload_size);
        free_arrival(arrival);
        return TG_OK;
    }
    if (!prepare(arrival, to == NULL))
        return no_memory(error);
    int code = start_receiving(mpi, arrival, to ? to : arrival->scratch);
    if (code != MPI_SUCCESS)
        lose_for(mpi, arrival->peer, code);
    *mpi->receives_end = arrival;
    mpi->receives_end = &arrival->next;
    return TG_OK;
}

static void look_at_receives(struct tg_mpi *mpi)
{
    struct tg_mpi_arrival **link = &mpi->receives;
    while (*link) {
        struct tg_mpi_arrival *one = *link;
        int is_done = 0;
        int code = test_all(one->request, one->n_requests, &is_done);
        if (code != MPI_SUCCESS)
            lose_for(mpi, one->peer, code);
        if (code != MPI_SUCCESS || !is_done ||
            !add_ready(mpi, TG_COMM_RECEIVED, one->peer, one->token, "")) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        free_arrival(one);
    }
    mpi->receives_end = link;
}

void tg_mpi_poll(void *state, struct tg_comm_event *event)
{
    struct tg_mpi *mpi = state;
    event->kind = TG_COMM_NOTHING;
    if (take_ready(mpi, event))
        return;
    /* Small ones are through at once, and an MPI that has no arrival may yield. */
    look_at_sends(mpi);
    if (take_ready(mpi, event) || take_arrival(mpi, event))
        return;
    look_at_receives(mpi);
    tg_mpi_look_at_peers(mpi);
    (void)take_ready(mpi, event);
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

/* MPI ends only together with all ranks, and complains about messages that nobody has received. So a rank says that
 * it is through when its own messages are out, and takes what comes, and forgets it, until all have said so. */
static bool drop_one(struct tg_mpi *mpi, bool *is_idle)
{
    struct tg_comm_event event;
    tg_mpi_poll(mpi, &event);
    *is_idle = event.kind == TG_COMM_NOTHING;
    return event.kind != TG_COMM_LOST &&
           (event.kind != TG_COMM_ARRIVAL || event.message == 0 ||
            tg_mpi_receive(mpi, event.message, NULL, 0, 0, NULL) == TG_OK);
}

bool tg_mpi_drain(struct tg_mpi *mpi, double seconds)
{
    const struct timespec nap = {.tv_nsec = 100000};
    double start = tg_mpi_now();
    MPI_Request all = MPI_REQUEST_NULL;
    int is_done = 0;
    bool has_begun = false, is_idle;
    while (!is_done || mpi->receives) {
        if (!drop_one(mpi, &is_idle))
            return false;
        if (!has_begun && !mpi->sends) {
            if (MPI_Ibarrier(mpi->comm, &all) != MPI_SUCCESS)
                return false;
            has_begun = true;
        }
        if (has_begun && MPI_Test(&all, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (seconds > 0 && tg_mpi_now() - start > seconds)
            return false;
        if (is_idle && !is_done)
            nanosleep(&nap, NULL);
    }
    return true;
}

/* After a failure MPI may still write into memory of these requests: it stays until the process ends. */
void tg_mpi_free_messages(struct tg_mpi *mpi, bool failed)
{
    struct tg_comm_event event;
    while (take_ready(mpi, &event))
        ;
    if (failed || mpi->sends || mpi->receives)
        return;
    for (uint32_t i = 0; i < TG_MPI_RING; i++)
        if (mpi->ring[i] != MPI_REQUEST_NULL && MPI_Cancel(&mpi->ring[i]) == MPI_SUCCESS)
            (void)MPI_Wait(&mpi->ring[i], MPI_STATUS_IGNORE);
    free(mpi->buffer);
    mpi->buffer = NULL;
}
