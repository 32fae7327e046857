/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of messages between the progress threads of ranks. A head is one struct in the machine's byte
 * order; the magic number also shows a peer of another byte order. It is sent up to the end of its text.
 *
 * Each one belongs to a run: `epoch` counts the runs of a job. What belongs to a later run than the
 * receiver's own waits until that begins, and what belongs to an earlier one is dropped.
 */
#ifndef TG_COMM_MESSAGE_H
#define TG_COMM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

#include "comm/comm.h"

#define TG_MESSAGE_MAGIC UINT32_C(0x4d434754) /* "TGCM" */
enum { TG_MESSAGE_VERSION = 1, TG_MESSAGE_TEXT = 400 };

/* clang-format off */
enum tg_message_kind {
    TG_MESSAGE_HELLO = 1,  /* the first one: value[0] process, [1] ranks; text: the host */
    TG_MESSAGE_BYE,        /* the last one: the rank leaves the job */
    TG_MESSAGE_CALL,       /* a call was posted: for the comparison of collective calls */
    TG_MESSAGE_PART,       /* the same with a piece of its data: step, piece */
    TG_MESSAGE_MATCHED,    /* the call that the receiver of this posted is known here, and fits */
    TG_MESSAGE_ENDED,      /* the run ended well: number: collective calls; value[0] progress, [1] settled */
    TG_MESSAGE_FAILED,     /* the run failed: status and text */
    TG_MESSAGE_PROGRESS,   /* value[0]; [1]: the host waits for the run */
    TG_MESSAGE_ASK,        /* what do you wait for? value[0] names the question */
    TG_MESSAGE_WAITS,      /* answer: a call that waits. value[0] names the question; [1]: it has met its other end */
    TG_MESSAGE_UNMATCHED,  /* answer: a send of `peer` that came and has no receive */
    TG_MESSAGE_ANSWERED,   /* end of the answer: number: collective calls so far; value[1]: has ended, [2] progress */
    TG_MESSAGE_PING,       /* value[0]: time of the sender */
    TG_MESSAGE_PONG,       /* value[0] of the PING; value[1] when it came, value[2] when this left */
    TG_MESSAGE_EXCHANGE,   /* number: of the exchange; elements: bytes of the payload */
    TG_MESSAGE_KINDS
};
/* clang-format on */

struct tg_message {
    uint32_t magic;
    uint16_t version, kind;
    uint32_t epoch;
    uint32_t call_kind; /* enum tg_comm_kind; of messages about a call, with what follows */
    int32_t peer, tag, operation;
    uint32_t dtype;
    uint64_t number, elements;
    uint32_t step, piece;
    int64_t value[4];
    int32_t status;
    uint32_t part, more; /* of a text in several messages: which, and whether another one follows */
    uint32_t text_size;
    char text[TG_MESSAGE_TEXT]; /* of a call: its source line */
};
_Static_assert(sizeof(struct tg_message) <= TG_COMM_HEAD, "a head fits the transports");

/* An empty one of that kind. */
struct tg_message tg_message_make(uint32_t kind, uint32_t epoch);
/* Cuts a text that is too long. */
void tg_message_set_text(struct tg_message *message, const char *text, size_t size);
/* Bytes to send. */
uint32_t tg_message_size(const struct tg_message *message);
/* True if the message is about a call. */
bool tg_message_has_call(uint32_t kind);
/* Copies a head that came from another rank and checks all of it. False: `why` says what is wrong. The
 * text ends in a zero byte and has no control characters then. */
bool tg_message_read(const void *bytes, size_t size, uint32_t ranks, struct tg_message *message,
                     const char **why);

/* A call as a phrase, e.g. "tg_all_reduce(sum) of 1024 float32 at orchestrate.c:30". */
void tg_message_describe(const struct tg_message *call, bool with_values, char *text, size_t room);

#endif
