/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes from another rank: any bytes as the head of a message, as the text of a launcher, and as the packets
 * of a peer over shared memory. Whatever comes, a head that is accepted has values in their ranges and a text that
 * ends, and the transport gives events whose sizes fit, or says that the peer is lost.
 */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <sys/socket.h>
#include <taskglass/tensor.h>
#include <unistd.h>

#include "comm/local.h"
#include "comm/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 4 };

static void check_head(const uint8_t *data, size_t size)
{
    struct tg_message message;
    const char *why = NULL;
    char text[600];
    if (!tg_message_read(data, size, RANKS, &message, &why)) {
        HOLDS(why != NULL);
        return;
    }
    HOLDS(message.kind > 0 && message.kind < TG_MESSAGE_KINDS);
    HOLDS(memchr(message.text, '\0', sizeof message.text) != NULL);
    HOLDS(tg_message_size(&message) == size);
    if (!tg_message_has_call(message.kind))
        return;
    HOLDS(message.call_kind < TG_COMM_KINDS && tg_bits_of(message.dtype) != 0);
    HOLDS(message.peer >= TG_COMM_NONE && message.peer < RANKS);
    HOLDS(message.operation >= TG_COMM_NONE && message.operation < TG_REDUCTIONS);
    tg_message_describe(&message, true, text, sizeof text);
    HOLDS(strlen(text) < sizeof text);
}

static void check_variable(const uint8_t *data, size_t size)
{
    struct tg_local_end end;
    struct tg_error error = {TG_OK, ""};
    char text[512], again[4096];
    snprintf(text, sizeof text, "%.*s", (int)(size < 511 ? size : 511), (const char *)data);
    if (tg_local_read_end(text, &end, &error) != TG_OK) {
        HOLDS(error.text[0] != '\0');
        return;
    }
    HOLDS(end.rank < end.ranks && end.ranks <= TG_LOCAL_MAX_RANKS);
    tg_local_write_end(&end, again);
}

/* Each packet has its length in two bytes before it. */
static void send_packets(int fd, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        size_t length = (size_t)data[0] | (size_t)data[1] << 8;
        length = length < size - 2 ? length : size - 2;
        if (send(fd, data + 2, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            return;
        data += 2 + length;
        size -= 2 + length;
    }
}

/* Every message that comes is asked for, every second one into memory. */
static void play(void *state)
{
    static unsigned char to[1 << 16], from[40000];
    struct tg_comm_event event;
    struct tg_error error;
    int messages = 0;
    bool lost = false;
    tg_comm_local.send(state, 1, "head", 4, from, sizeof from, 7, &error);
    for (int i = 0; i < 200; i++) {
        tg_comm_local.poll(state, &event);
        if (event.kind == TG_COMM_NOTHING)
            return;
        HOLDS(event.peer == 1);
        HOLDS(event.kind != TG_COMM_ARRIVAL || event.head_size <= TG_COMM_HEAD);
        HOLDS(!lost || event.kind == TG_COMM_RECEIVED);
        lost |= event.kind == TG_COMM_LOST;
        if (event.kind == TG_COMM_ARRIVAL && event.message != 0) {
            const bool wanted = messages++ % 2 == 0 && event.payload_size <= sizeof to;
            tg_comm_local.receive(state, event.message, wanted ? to : NULL, event.payload_size, 8,
                                  &error);
        }
    }
}

static void check_packets(const uint8_t *data, size_t size)
{
    struct tg_local_end ends[2];
    struct tg_error error = {TG_OK, ""};
    void *state = NULL;
    if (tg_local_make(2, ends, &error) != TG_OK)
        return;
    if (tg_local_open(&ends[0], &state, &error) == TG_OK) {
        send_packets(ends[1].socket[0], data, size);
        play(state);
        tg_local_unmake(1, &ends[1]);
        play(state);
        tg_comm_local.close(state, true);
    } else {
        tg_local_unmake(1, &ends[1]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_head(data, size);
    check_variable(data, size);
    check_packets(data, size);
    return 0;
}
