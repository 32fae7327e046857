/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as communication sees it.
 *
 *   RUN_GOES     calls are taken and done
 *   RUN_ENDS     the device has ended well. The rank has said so (ENDED), waits until all others have and none
 *                of its own calls lacks an answer, says that too (ENDED, settled), and waits for the same from all:
 *                so all ranks give the same verdict, whoever sees a mistake, and however late
 *   RUN_DRAINS   the run has failed. The transport may still use device memory, which must stay until it does not
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comm/engine.h"

/* Without any progress of any rank, and if no host waits for the run of its rank, an end that waits for nothing
 * but others' ends is over after the first: a program may end its ranks one after the other in one thread. One
 * that has a send which nobody has received fails after the second. */
#define QUIET_SECONDS 3.0
#define UNMATCHED_SECONDS 60.0
#define DRAIN_SECONDS 1.0

const char *tg_rank_name(const struct tg_comm *comm, uint32_t rank, char text[120])
{
    const struct tg_rank *peer = &comm->peer[rank];
    if (peer->has_come)
        snprintf(text, 120, "rank %u (pid %" PRId64 " on %s)", rank, peer->pid, peer->host);
    else
        snprintf(text, 120, "rank %u", rank);
    return text;
}

/* --- failure -------------------------------------------------------------------------------- */

static void fail(struct tg_comm *comm, bool tell, tg_status status, const char *text)
{
    struct tg_comm_run *run = &comm->run;
    if (run->phase == RUN_NONE || run->failed)
        return;
    run->failed = true;
    comm->has_failed = true;
    tg_error_set(&run->error, status, "%s", text);
    if (tell)
        tg_comm_send_text(comm, comm->ranks, TG_MESSAGE_FAILED, comm->epoch, TG_FAILED_TOLD, status,
                          run->error.text);
    if (run->phase == RUN_GOES)
        run->port.failed(run->port.context, &run->error);
    tg_call_drop_early(comm);
}

void tg_run_fail(struct tg_comm *comm, bool tell, tg_status status, const char *format, ...)
{
    char text[sizeof comm->run.error.text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fail(comm, tell, status, text);
}

/* Rank 0 tells the first report of a run to all; later ones are about the same mistake. */
static void tell_all(struct tg_comm *comm, uint32_t epoch, const char *text)
{
    if (comm->told_epoch >= epoch)
        return;
    comm->told_epoch = epoch;
    tg_comm_send_text(comm, comm->ranks, TG_MESSAGE_FAILED, epoch, TG_FAILED_TOLD, TG_COMM_MISMATCH,
                      text);
    if (epoch == comm->epoch) {
        fail(comm, false, TG_COMM_MISMATCH, text);
    } else { /* it waits until this rank begins the run */
        free(comm->told);
        comm->told = strdup(text);
    }
}

void tg_run_report(struct tg_comm *comm, const char *format, ...)
{
    char text[sizeof comm->run.error.text];
    va_list list;
    if (comm->run.reported || comm->run.failed)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    comm->run.reported = true;
    if (comm->rank == 0 || comm->peer[0].lost || comm->peer[0].left)
        tell_all(comm, comm->epoch, text);
    else
        tg_comm_send_text(comm, 0, TG_MESSAGE_FAILED, comm->epoch, TG_FAILED_TO_TELL,
                          TG_COMM_MISMATCH, text);
}

/* Puts the pieces of a text together; true if this was the last one. */
static bool collect_text(struct tg_rank *peer, const struct tg_message *message)
{
    if (message->part == 0)
        peer->text_size = 0;
    const size_t room = sizeof peer->text - 1 - peer->text_size;
    const size_t size = message->text_size < room ? message->text_size : room;
    memcpy(peer->text + peer->text_size, message->text, size);
    peer->text_size += size;
    peer->text[peer->text_size] = '\0';
    return message->more == 0;
}

void tg_run_on_report(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    if (collect_text(&comm->peer[from], message) && message->epoch >= comm->epoch)
        tell_all(comm, message->epoch, comm->peer[from].text);
}

void tg_run_on_failed(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    struct tg_rank *peer = &comm->peer[from];
    const tg_status status = (tg_status)message->status;
    char name[120];
    if (!collect_text(peer, message))
        return;
    comm->has_failed = true;
    peer->ended_failed = true;
    if (status == TG_COMM_MISMATCH || status == TG_RANK_LOST || status == TG_HANG)
        tg_run_fail(comm, false, status, "%s", peer->text);
    else /* which rank saw first that the user stops is chance: all of them are cancelled */
        tg_run_fail(comm, false, status == TG_CANCELLED ? status : TG_RANK_LOST,
                    "%s failed: %s: %s", tg_rank_name(comm, from, name), tg_status_name(status),
                    peer->text);
}

void tg_run_on_ended(struct tg_comm *comm, uint32_t from, const struct tg_message *message)
{
    struct tg_rank *peer = &comm->peer[from];
    peer->ended = message->epoch;
    peer->settled = message->value[1] ? message->epoch : peer->settled;
    peer->ended_failed = false;
    peer->ended_calls = message->number;
    if ((uint64_t)message->value[0] > peer->progress)
        peer->progress = (uint64_t)message->value[0];
    if (comm->run.phase != RUN_NONE)
        tg_call_check_ended(comm, from);
}

/* What this rank may still need of one that left or is lost. */
void tg_run_on_lost(struct tg_comm *comm, uint32_t rank, const char *text, bool left)
{
    struct tg_rank *peer = &comm->peer[rank];
    char name[120];
    if (peer->lost || rank == comm->rank)
        return;
    if (left && !peer->left) {
        peer->left = true;
    } else {
        const bool had_left = peer->left;
        peer->lost = true;
        tg_comm_lose_pending(comm, rank);
        if (had_left)
            return;
    }
    snprintf(peer->why, sizeof peer->why, "%s", text);
    if (comm->run.phase == RUN_NONE || peer->settled == comm->epoch)
        return; /* the run has nothing to expect of it */
    comm->has_failed = true;
    tg_run_fail(comm, true, TG_RANK_LOST, "%s %s: %s", tg_rank_name(comm, rank, name),
                left ? "does not take part" : "ended", text);
}

/* --- begin ---------------------------------------------------------------------------------- */

/* Messages of this run that came before it. */
static void take_later(struct tg_comm *comm)
{
    struct tg_early *early = comm->later;
    comm->later = NULL;
    comm->later_end = &comm->later;
    while (early) {
        struct tg_early *next = early->next;
        if (!comm->peer[early->from].lost)
            tg_comm_dispatch(comm, early->from, &early->head, early->message, early->payload_size);
        free(early);
        early = next;
    }
}

void tg_run_begin(struct tg_comm *comm, struct tg_request *request)
{
    struct tg_comm_run *run = &comm->run;
    char name[120];
    if (run->phase != RUN_NONE || comm->broken) {
        tg_error_set(request->error, TG_BUSY,
                     comm->broken ? "a run of this job failed, and its messages could not be "
                                    "called back; start the job again"
                                  : "a run of this rank goes on; wait for it");
        tg_comm_answer(comm, TG_BUSY);
        return;
    }
    memset(run, 0, sizeof *run);
    run->phase = RUN_GOES;
    run->port = *request->port;
    comm->epoch++;
    comm->told_waits = false;
    __atomic_store_n(&comm->noted_ns, 0, __ATOMIC_RELAXED);
    comm->own_progress += __atomic_exchange_n(&comm->noted, 0, __ATOMIC_RELAXED);
    tg_log_open(comm, request->config ? request->config->log : NULL);
    /* The answer comes first: the port may be told of a failure at once. */
    tg_comm_answer(comm, TG_OK);
    for (uint32_t i = 0; i < comm->ranks; i++)
        if (comm->peer[i].lost || comm->peer[i].left)
            tg_run_fail(comm, false, TG_RANK_LOST, "%s %s: %s", tg_rank_name(comm, i, name),
                        comm->peer[i].left ? "does not take part" : "ended", comm->peer[i].why);
    if (comm->told && comm->told_epoch == comm->epoch)
        fail(comm, false, TG_COMM_MISMATCH, comm->told);
    free(comm->told);
    comm->told = NULL;
    take_later(comm);
}

/* --- end ------------------------------------------------------------------------------------ */

/* Device memory goes away now: a rank that still reads or writes there, because it is stopped or very slow, is given
 * up, so that those that are left hear from each other. */
static void give_up_slow(struct tg_comm *comm)
{
    for (uint32_t i = 0; i < comm->ranks && comm->ops && comm->ops->forget; i++)
        if (tg_comm_uses_memory(comm, i))
            tg_run_on_lost(comm, i, "it did not answer after the run had failed", false);
}

static void finish(struct tg_comm *comm)
{
    struct tg_comm_run *run = &comm->run;
    struct tg_comm_result *result = comm->current ? comm->current->result : NULL;
    run->result.waiting = run->n_waiting;
    give_up_slow(comm);
    tg_call_free_all(comm);
    tg_call_drop_early(comm);
    if (comm->n_in_place > 0)
        comm->broken = true; /* whoever reads that memory now must not be called again */
    tg_log_close(comm);
    run->result.log_lost = run->log.lost;
    if (run->failed && !run->by_host) {
        run->result.status = run->error.status;
        snprintf(run->result.text, sizeof run->result.text, "%s", run->error.text);
    }
    if (result)
        *result = run->result;
    run->phase = RUN_NONE;
    comm->pings_left += 8; /* the clock once more, now that it is quiet */
    tg_comm_ping(comm);
    tg_comm_answer(comm, TG_OK);
}

static void say_ended(struct tg_comm *comm, bool settled)
{
    struct tg_message message = tg_message_make(TG_MESSAGE_ENDED, comm->epoch);
    message.number = comm->run.collectives;
    message.value[0] = (int64_t)comm->own_progress;
    message.value[1] = settled;
    tg_comm_send_all(comm, &message);
}

void tg_run_end(struct tg_comm *comm, struct tg_request *request)
{
    struct tg_comm_run *run = &comm->run;
    if (run->phase == RUN_NONE) {
        if (request->result)
            memset(request->result, 0, sizeof *request->result);
        tg_comm_answer(comm, TG_OK);
        return;
    }
    run->ends_since = tg_comm_now();
    run->phase = RUN_ENDS;
    if (request->status != TG_OK && !run->failed) {
        fail(comm, true, request->status, request->text ? request->text : "");
        run->by_host = true;
    } else if (!run->failed) {
        say_ended(comm, false);
    }
    tg_run_check_end(comm);
}

static bool all_have_ended(const struct tg_comm *comm, bool settled)
{
    for (uint32_t i = 0; i < comm->ranks; i++)
        if (i != comm->rank &&
            (settled ? comm->peer[i].settled : comm->peer[i].ended) < comm->epoch)
            return false;
    return true;
}

/* True if this rank's run is over: it has nothing to complain of, and neither has any other. */
static bool settle(struct tg_comm *comm)
{
    struct tg_comm_run *run = &comm->run;
    if (run->n_unmatched > 0 || run->reported || !all_have_ended(comm, false))
        return false;
    if (!run->settled)
        say_ended(comm, true);
    run->settled = true;
    return all_have_ended(comm, true);
}

/* A send that nobody received: named, because the rank that should have is there and does nothing. */
static void report_unmatched(struct tg_comm *comm)
{
    char what[300];
    for (const struct tg_call *call = comm->run.calls; call; call = call->next) {
        if (call->matches_left == 0)
            continue;
        tg_message_describe(&call->head, false, what, sizeof what);
        tg_run_fail(comm, true, TG_COMM_MISMATCH,
                    "rank %u calls %.250s, and for %g s no rank has done anything", comm->rank,
                    what, UNMATCHED_SECONDS);
        return;
    }
}

/* A host that waits sees by itself if its run hangs, and everybody sees if its process is gone. */
static bool others_wait(const struct tg_comm *comm)
{
    for (uint32_t i = 0; i < comm->ranks; i++) {
        const struct tg_rank *peer = &comm->peer[i];
        if (i != comm->rank && !peer->lost && !peer->left && peer->ended < comm->epoch &&
            peer->waits == comm->epoch)
            return true;
    }
    return false;
}

void tg_run_check_end(struct tg_comm *comm)
{
    struct tg_comm_run *run = &comm->run;
    const double now = tg_comm_now();
    if (run->phase == RUN_ENDS && !run->failed && tg_comm_is_stopped(comm))
        tg_run_fail(comm, true, TG_CANCELLED, "its run was cancelled");
    if (run->phase == RUN_ENDS && run->failed) {
        run->phase = RUN_DRAINS;
        run->ends_since = now;
    }
    if (run->phase == RUN_DRAINS) {
        if (!tg_comm_has_pending(comm) || now - run->ends_since > DRAIN_SECONDS)
            finish(comm);
        return;
    }
    if (run->phase != RUN_ENDS)
        return;
    if (settle(comm)) {
        finish(comm);
        return;
    }
    const uint64_t progress = __atomic_load_n(&comm->progress, __ATOMIC_RELAXED);
    if (progress != run->seen_progress || others_wait(comm)) {
        run->seen_progress = progress;
        run->ends_since = now;
    }
    if (run->n_unmatched == 0 && !run->reported && now - run->ends_since > QUIET_SECONDS) {
        if (!run->settled)
            say_ended(comm, true); /* this rank will not complain any more */
        finish(comm);
    } else if (now - run->ends_since > UNMATCHED_SECONDS) {
        report_unmatched(comm);
    }
}
