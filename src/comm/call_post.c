/* SPDX-License-Identifier: Apache-2.0 */
/* A call that the device has posted: its tensors, its plan, and what other ranks have sent for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "comm/engine.h"

/* Calls that are taken before the transport is looked at again. */
enum { CALLS_AT_ONCE = 64 };

static bool to_itself(const struct tg_comm *comm, const struct tg_comm_call *asked)
{
    return asked->kind <= TG_COMM_RECV && (uint32_t)asked->peer == comm->rank;
}

/* The host has checked what a device posts; this keeps the engine from harm if it has not. */
static bool is_possible(const struct tg_comm *comm, const struct tg_comm_call *asked)
{
    const bool names_rank = asked->kind <= TG_COMM_BROADCAST;
    const bool reduces = asked->kind == TG_COMM_ALL_REDUCE || asked->kind == TG_COMM_REDUCE_SCATTER;
    return asked->kind < TG_COMM_KINDS && asked->n_tensors >= 1 &&
           asked->n_tensors <= TG_COMM_TENSORS &&
           (!names_rank || (asked->peer >= 0 && (uint32_t)asked->peer < comm->ranks)) &&
           (!reduces || (asked->operation >= 0 && asked->operation < TG_REDUCTIONS));
}

static const struct tg_tensor *tensor_with(const struct tg_comm_call *asked, uint32_t role)
{
    for (uint32_t i = 0; i < asked->n_tensors; i++)
        if (asked->role[i] & role)
            return &asked->tensor[i];
    return NULL;
}

/* Whether this rank reads or writes a tensor in this call. */
static bool reads(const struct tg_comm *comm, const struct tg_comm_call *asked)
{
    return asked->kind != TG_COMM_RECV &&
           (asked->kind != TG_COMM_BROADCAST || (uint32_t)asked->peer == comm->rank);
}

static bool writes(const struct tg_comm *comm, const struct tg_comm_call *asked)
{
    return asked->kind != TG_COMM_SEND &&
           (asked->kind != TG_COMM_BROADCAST || (uint32_t)asked->peer != comm->rank);
}

static bool sizes_fit(const struct tg_comm *comm, const struct tg_call *call)
{
    const uint64_t in = call->in.elements, out = call->out.elements;
    switch (call->asked.kind) {
    case TG_COMM_ALL_REDUCE:
        return in == out;
    case TG_COMM_REDUCE_SCATTER:
        return in == out * comm->ranks;
    case TG_COMM_ALL_GATHER:
        return out == in * comm->ranks;
    case TG_COMM_ALL_TO_ALL:
        return in == out && in % comm->ranks == 0;
    default:
        return true;
    }
}

/* A piece of a 4-bit type must end with a byte, because pieces go to different ranks. */
static bool pieces_are_bytes(const struct tg_comm *comm, const struct tg_call *call)
{
    const struct tg_span *span = call->in.size ? &call->in : &call->out;
    uint64_t piece = call->asked.kind == TG_COMM_ALL_GATHER ? call->in.elements
                                                            : call->in.elements / comm->ranks;
    return call->asked.kind < TG_COMM_REDUCE_SCATTER || comm->ranks == 1 ||
           tg_bits_of(span->tensor.dtype) >= 8 || piece % 2 == 0;
}

static tg_status open_spans(struct tg_comm *comm, struct tg_call *call, struct tg_error *error)
{
    const struct tg_comm_port *port = &comm->run.port;
    const struct tg_tensor *in =
        reads(comm, &call->asked) ? tensor_with(&call->asked, TG_IN) : NULL;
    const struct tg_tensor *out =
        writes(comm, &call->asked) ? tensor_with(&call->asked, TG_OUT) : NULL;
    tg_status status = TG_OK;
    if ((reads(comm, &call->asked) && !in) || (writes(comm, &call->asked) && !out))
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s lacks its input or output",
                            tg_comm_kind_name(call->asked.kind));
    if (in)
        status = tg_span_open(port, in, &call->in, error);
    if (status == TG_OK && out && out == in)
        call->out = call->in;
    else if (status == TG_OK && out)
        status = tg_span_open(port, out, &call->out, error);
    if (status == TG_OK && in && out && (in->dtype != out->dtype || !sizes_fit(comm, call)))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: input and output do not have the sizes that %u ranks need",
                            tg_comm_kind_name(call->asked.kind), comm->ranks);
    if (status == TG_OK && !pieces_are_bytes(comm, call))
        return tg_error_set(error, TG_UNSUPPORTED,
                            "%s at %s: a piece of a 4-bit type needs an even number of elements",
                            tg_comm_kind_name(call->asked.kind), call->asked.site);
    return status;
}

/* The call as other ranks see it. Of elements, the number that is the same on all ranks. */
static void describe(struct tg_comm *comm, struct tg_call *call)
{
    const struct tg_comm_call *asked = &call->asked;
    const struct tg_span *span = reads(comm, asked) ? &call->in : &call->out;
    call->head = tg_message_make(TG_MESSAGE_CALL, comm->epoch);
    call->head.call_kind = asked->kind;
    call->head.peer = asked->kind <= TG_COMM_BROADCAST ? asked->peer : TG_COMM_NONE;
    call->head.tag = asked->kind <= TG_COMM_RECV ? asked->tag : TG_COMM_NONE;
    if (asked->kind == TG_COMM_ALL_REDUCE || asked->kind == TG_COMM_REDUCE_SCATTER)
        call->head.operation = asked->operation;
    call->head.number = asked->number;
    call->head.dtype = span->tensor.dtype;
    call->head.elements = span->elements;
    tg_message_set_text(&call->head, asked->site, strnlen(asked->site, TG_COMM_SITE - 1));
}

/*
 * Each rank's description must reach its right neighbour, so that somebody sees every difference. Rings
 * and all-to-all send their own data there at once; a broadcast, or a call without elements, has nothing to
 * send, so the description goes alone, and the rank waits for its left neighbour's.
 */
static bool tells_alone(const struct tg_comm *comm, const struct tg_call *call)
{
    return comm->ranks > 1 && call->asked.kind > TG_COMM_RECV &&
           (call->asked.kind == TG_COMM_BROADCAST || call->head.elements == 0);
}

/* A send to this rank itself and its receive are one copy, which the receive does. */
static void join_own(struct tg_comm *comm, struct tg_call *call)
{
    const bool is_send = call->asked.kind == TG_COMM_SEND;
    struct tg_meet *meet = tg_call_find(comm, is_send ? TG_COMM_RECV : TG_COMM_SEND,
                                        call->asked.peer, call->asked.tag, call->asked.number);
    struct tg_call *other = meet ? meet->call : NULL;
    if (!other)
        return;
    struct tg_call *send = is_send ? call : other, *receive = is_send ? other : call;
    send->matched_ns = receive->matched_ns = tg_comm_now_ns();
    send->matches_left = 0;
    if (send->head.dtype != receive->head.dtype || send->head.elements != receive->head.elements) {
        tg_call_report_difference(comm, &receive->head, comm->rank, &send->head);
        return;
    }
    tg_plan_free(&receive->plan);
    receive->in = send->in;
    send->in = (struct tg_span){0};
    receive->other = send;
    if (tg_algorithm_plan(comm, receive))
        tg_action_start(comm, receive);
    else
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a call of communication ran out");
}

static void begin(struct tg_comm *comm, struct tg_call *call)
{
    struct tg_comm_run *run = &comm->run;
    if (to_itself(comm, &call->asked)) {
        join_own(comm, call);
        return;
    }
    if (tells_alone(comm, call))
        tg_comm_send_head(comm, (comm->rank + 1) % comm->ranks, &call->head);
    /* What has come already belongs to the call before it starts: starting may be its end. */
    struct tg_early *early = call->meet ? call->meet->first : NULL;
    if (call->meet)
        call->meet->first = call->meet->last = NULL;
    call->plan.left++;
    while (early) {
        struct tg_early *next = early->next;
        if (run->failed)
            tg_comm_drop_payload(comm, early->from, early->message, early->payload_size);
        else
            tg_call_meet(comm, call, early->from, &early->head, early->message,
                         early->payload_size);
        free(early);
        early = next;
    }
    call->plan.left--;
    if (!run->failed)
        tg_action_start(comm, call);
}

static tg_status post(struct tg_comm *comm, struct tg_call *call, struct tg_error *error)
{
    struct tg_comm_run *run = &comm->run;
    const bool collective = call->asked.kind > TG_COMM_RECV;
    tg_status status = open_spans(comm, call, error);
    if (status != TG_OK)
        return status;
    describe(comm, call);
    if (!to_itself(comm, &call->asked) && !tg_algorithm_plan(comm, call))
        return tg_file_no_memory(error);
    call->meet = tg_call_make_meet(comm, &call->head);
    if (!call->meet)
        return tg_file_no_memory(error);
    if (call->meet->call) {
        call->meet = NULL;
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s number %" PRIu64 " was called twice",
                            tg_comm_kind_name(call->asked.kind), call->asked.number);
    }
    call->meet->call = call;
    if (collective && call->asked.number >= run->collectives)
        run->collectives = call->asked.number + 1;
    call->matches_left = tells_alone(comm, call) || call->asked.kind == TG_COMM_SEND;
    return TG_OK;
}

static void take_one(struct tg_comm *comm, const struct tg_comm_call *asked)
{
    struct tg_comm_run *run = &comm->run;
    struct tg_error error = {TG_OK, ""};
    struct tg_call *call = calloc(1, sizeof *call);
    if (!call) {
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a call of communication ran out");
        return;
    }
    if (!is_possible(comm, asked)) {
        free(call);
        tg_run_fail(comm, true, TG_BAD_ARGUMENT,
                    "the device asks for communication that is not possible");
        return;
    }
    call->asked = *asked;
    call->asked.site[TG_COMM_SITE - 1] = '\0';
    call->posted_ns = tg_comm_now_ns();
    call->next = run->calls;
    call->link = &run->calls;
    if (call->next)
        call->next->link = &call->next;
    run->calls = call;
    run->n_waiting++;
    comm->own_progress++;
    if (post(comm, call, &error) != TG_OK) {
        tg_run_fail(comm, true, error.status, "%s", error.text);
        return;
    }
    begin(comm, call);
    for (uint32_t i = 0; i < comm->ranks && !run->failed; i++)
        tg_call_check_ended(comm, i);
}

/* Those of a run that has failed are for nobody, but a core that waits until they have been taken could
 * not stop. */
bool tg_call_take(struct tg_comm *comm)
{
    struct tg_comm_run *run = &comm->run;
    struct tg_comm_call asked;
    int taken = 0;
    while (run->phase == RUN_GOES && taken < CALLS_AT_ONCE &&
           run->port.take(run->port.context, &asked)) {
        if (!run->failed)
            take_one(comm, &asked);
        taken++;
    }
    return taken > 0;
}
