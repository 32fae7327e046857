/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the actions of calls. Sending and receiving start as soon as they may. What takes time on this
 * thread (packing, copying, reducing) is queued and done one at a time between looks at the transport, so
 * that bytes of all calls move meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comm/engine.h"
#include "comm/reduce.h"

struct tg_work {
    struct tg_work *next;
    struct tg_call *call;
    uint32_t action;
    uint64_t done; /* bytes */
};

static void make_ready(struct tg_comm *comm, struct tg_call *call, uint32_t index);

/* --- temporary bytes ------------------------------------------------------------------------ */

static unsigned char *take_temporary(struct tg_comm *comm, uint64_t size)
{
    for (int i = 0; i < TG_SPARES; i++) {
        struct tg_spare *spare = &comm->spare[i];
        if (spare->bytes && spare->size == size) {
            unsigned char *bytes = spare->bytes;
            spare->bytes = NULL;
            return bytes;
        }
    }
    return malloc(size ? size : 1);
}

static void give_temporary(struct tg_comm *comm, struct tg_action *action)
{
    unsigned char *bytes = action->temporary;
    action->temporary = NULL;
    for (int i = 0; bytes && i < TG_SPARES; i++)
        if (!comm->spare[i].bytes) {
            comm->spare[i] = (struct tg_spare){bytes, action->size};
            return;
        }
    free(bytes);
}

/* --- the end of an action ------------------------------------------------------------------- */

static void finish_one(struct tg_comm *comm, struct tg_call *call)
{
    if (--call->plan.left == 0)
        tg_call_is_done(comm, call);
}

static void finish(struct tg_comm *comm, struct tg_call *call, uint32_t index)
{
    struct tg_plan *plan = &call->plan;
    struct tg_action *action = &plan->action[index];
    action->state = ACTION_DONE;
    for (uint32_t edge = action->edges; edge != TG_NO_ACTION; edge = plan->edge[edge].next)
        if (--plan->action[plan->edge[edge].to].left == 0)
            make_ready(comm, call, plan->edge[edge].to);
    finish_one(comm, call);
}

/* --- starts --------------------------------------------------------------------------------- */

static void append(struct tg_comm *comm, struct tg_works *works, struct tg_call *call,
                   uint32_t index)
{
    struct tg_work *work = malloc(sizeof *work);
    if (!work) {
        tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a call of communication ran out");
        return;
    }
    *work = (struct tg_work){NULL, call, index, 0};
    if (works->last)
        works->last->next = work;
    else
        works->first = work;
    works->last = work;
}

static void remove_first(struct tg_works *works)
{
    struct tg_work *work = works->first;
    works->first = work->next;
    if (!works->first)
        works->last = NULL;
    free(work);
}

static void queue_work(struct tg_comm *comm, struct tg_call *call, uint32_t index)
{
    call->plan.action[index].state = ACTION_RUNS;
    append(comm, &comm->work, call, index);
}

static void start_send(struct tg_comm *comm, struct tg_call *call, uint32_t index)
{
    struct tg_action *action = &call->plan.action[index];
    struct tg_message head = call->head;
    const struct tg_span *span = action->of_input ? &call->in : &call->out;
    const bool is_temporary = action->source != TG_NO_ACTION;
    const unsigned char *bytes = is_temporary  ? call->plan.action[action->source].temporary
                                 : span->bytes ? span->bytes + action->offset
                                               : NULL;
    head.kind = TG_MESSAGE_PART;
    head.step = action->step;
    head.piece = action->piece;
    action->state = ACTION_RUNS;
    if (action->size == 0) {
        tg_comm_send_head(comm, action->peer, &head);
        finish(comm, call, index);
        return;
    }
    tg_comm_send_payload(comm, action->peer, &head, bytes, action->size,
                         &(struct tg_pending){.kind = PENDING_ACTION,
                                              .call = call,
                                              .action = index,
                                              .in_place = !is_temporary && !span->is_copy});
}

static void start_receive(struct tg_comm *comm, struct tg_call *call, uint32_t index)
{
    struct tg_action *action = &call->plan.action[index];
    struct tg_pending pending = {.kind = PENDING_ACTION, .call = call, .action = index};
    unsigned char *to;
    if (action->kind == ACTION_REDUCE && action->size > 0) {
        if (comm->n_receiving >= TG_MOST_RECEIVING) {
            append(comm, &comm->held, call, index);
            return;
        }
        comm->n_receiving++;
    }
    action->state = ACTION_RUNS;
    if (action->size == 0) {
        finish(comm, call, index);
        return;
    }
    if (action->kind == ACTION_REDUCE) {
        to = action->temporary = take_temporary(comm, action->size);
        if (!to) {
            tg_run_fail(comm, true, TG_NO_MEMORY, "memory for a reduction ran out");
            return;
        }
    } else {
        to = call->out.bytes + action->offset;
        pending.in_place = !call->out.is_copy;
    }
    tg_comm_receive_payload(comm, action->peer, action->message, to, action->size, &pending);
}

/* A reduction has ended: one of those that wait may receive. */
static void end_reduction(struct tg_comm *comm)
{
    comm->n_receiving--;
    while (comm->held.first && comm->n_receiving < TG_MOST_RECEIVING) {
        struct tg_call *call = comm->held.first->call;
        uint32_t index = comm->held.first->action;
        remove_first(&comm->held);
        if (call->plan.action[index].has_come)
            start_receive(comm, call, index);
    }
}

static void make_ready(struct tg_comm *comm, struct tg_call *call, uint32_t index)
{
    struct tg_action *action = &call->plan.action[index];
    action->state = ACTION_READY;
    if (action->kind < ACTION_SEND)
        queue_work(comm, call, index);
    else if (action->kind == ACTION_SEND)
        start_send(comm, call, index);
    else if (action->has_come)
        start_receive(comm, call, index);
}

/* One more than there are actions, so that the call is not freed while its list is walked through. */
void tg_action_start(struct tg_comm *comm, struct tg_call *call)
{
    call->plan.left++;
    for (uint32_t i = 0; i < call->plan.count; i++)
        if (call->plan.action[i].left == 0 && call->plan.action[i].state == ACTION_WAITS)
            make_ready(comm, call, i);
    finish_one(comm, call);
}

/* --- what happens to them ------------------------------------------------------------------- */

void tg_action_on_part(struct tg_comm *comm, struct tg_call *call, uint32_t from,
                       const struct tg_message *head, uint64_t message, uint64_t payload_size)
{
    const uint32_t index = tg_plan_find(&call->plan, from, head->step, head->piece);
    struct tg_action *action = index == TG_NO_ACTION ? NULL : &call->plan.action[index];
    if (!action || action->has_come || action->size != payload_size) {
        tg_run_on_lost(comm, from, "it sent a piece of a call that the call does not have", false);
        return;
    }
    action->has_come = true;
    action->message = message;
    if (action->state == ACTION_READY)
        start_receive(comm, call, index);
}

void tg_action_drop_early(struct tg_comm *comm, struct tg_call *call)
{
    for (size_t i = 0; i < call->plan.count; i++) {
        struct tg_action *action = &call->plan.action[i];
        if (!action->has_come || action->state > ACTION_READY)
            continue;
        action->has_come = false; /* it may still become ready, or its turn come */
        tg_comm_drop_payload(comm, action->peer, action->message, action->size);
    }
}

void tg_action_on_event(struct tg_comm *comm, const struct tg_pending *pending)
{
    struct tg_call *call = pending->call;
    struct tg_action *action = &call->plan.action[pending->action];
    if (action->kind == ACTION_REDUCE) {
        queue_work(comm, call, pending->action);
        return;
    }
    if (action->kind == ACTION_SEND && action->source != TG_NO_ACTION)
        give_temporary(comm, &call->plan.action[action->source]);
    finish(comm, call, pending->action);
}

static void reduce(struct tg_comm *comm, struct tg_call *call, struct tg_action *action)
{
    const unsigned char *own =
        action->with_output ? call->out.bytes + action->offset : call->in.bytes + action->from;
    unsigned char *to = action->keeps ? action->temporary : call->out.bytes + action->offset;
    const uint32_t dtype = call->in.tensor.dtype;
    const unsigned bits = tg_bits_of(dtype);
    const int64_t count = bits ? (int64_t)(action->size * 8 / bits) : 0;
    const unsigned char *first = action->own_first ? own : action->temporary;
    const unsigned char *second = action->own_first ? action->temporary : own;
    tg_comm_reduce(dtype, (uint32_t)call->asked.operation, to, first, second, count);
    if (!action->keeps)
        give_temporary(comm, action);
}

static uint64_t do_step(struct tg_comm *comm, struct tg_call *call, struct tg_action *action,
                        uint64_t done, struct tg_error *error)
{
    const struct tg_comm_port *port = &comm->run.port;
    const uint64_t at = action->offset + done, left = action->size - done;
    uint64_t did = left;
    if (action->kind == ACTION_LOAD)
        tg_span_load(port, &call->in, at, left, &did, error);
    else if (action->kind == ACTION_STORE)
        tg_span_store(port, &call->out, at, left, &did, error);
    else if (action->kind == ACTION_COPY)
        memmove(call->out.bytes + action->offset, call->in.bytes + action->from, action->size);
    else
        reduce(comm, call, action);
    return did;
}

/* An action that is not done stays the first. */
bool tg_action_work(struct tg_comm *comm)
{
    struct tg_work *work = comm->work.first;
    struct tg_error error = {TG_OK, ""};
    if (!work || comm->run.failed)
        return false;
    struct tg_call *call = work->call;
    const uint32_t index = work->action;
    const bool is_reduction = call->plan.action[index].kind == ACTION_REDUCE;
    const uint64_t did = do_step(comm, call, &call->plan.action[index], work->done, &error);
    comm->own_progress += 1 + did; /* other ranks must see that a slow one moves */
    work->done += did;
    if (error.status != TG_OK) {
        tg_run_fail(comm, true, error.status, "%s", error.text);
        return true;
    }
    if (work->done < call->plan.action[index].size)
        return true;
    remove_first(&comm->work);
    finish(comm, call, index); /* the call may be gone after this */
    if (is_reduction)
        end_reduction(comm);
    return true;
}

static void forget(struct tg_works *works, const struct tg_call *call)
{
    struct tg_work **link = &works->first;
    works->last = NULL;
    while (*link) {
        struct tg_work *work = *link;
        if (work->call == call) {
            *link = work->next;
            free(work);
        } else {
            works->last = work;
            link = &work->next;
        }
    }
}

void tg_action_forget(struct tg_comm *comm, const struct tg_call *call)
{
    forget(&comm->work, call);
    forget(&comm->held, call);
    for (size_t i = 0; i < call->plan.count; i++)
        if (call->plan.action[i].kind == ACTION_REDUCE && call->plan.action[i].state == ACTION_RUNS)
            comm->n_receiving--;
}
