/* SPDX-License-Identifier: Apache-2.0 */
/* comm.jsonl: a line for each call of a run, and one at the end, which a rank that was killed does not write. A
 * disk that fails costs lines, which are counted, but no run. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/engine.h"

enum { LOG_BUFFER = 64 << 10 };
/* Far more than a message takes, so that messages cost no system calls. */
#define FLUSH_SECONDS 0.05

void tg_log_open(struct tg_comm *comm, const char *path)
{
    struct tg_comm_log *log = &comm->run.log;
    log->fd = -1;
    if (!path)
        return;
    log->buffer = malloc(LOG_BUFFER);
    log->fd = log->buffer ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (log->fd < 0) {
        log->lost++;
        return;
    }
    tg_json_start_buffer(&log->json, log->buffer, LOG_BUFFER, log->fd, 0);
    tg_json_begin_line_object(&log->json);
    tg_json_key(&log->json, "version");
    tg_json_uint(&log->json, 1);
    tg_json_key(&log->json, "rank");
    tg_json_uint(&log->json, comm->rank);
    tg_json_key(&log->json, "ranks");
    tg_json_uint(&log->json, comm->ranks);
    tg_json_end_object(&log->json);
    tg_json_end_line(&log->json);
    tg_json_flush(
        &log->json); /* so that a reader of a run that goes on, or dies, sees what it is */
}

/* 64-bit numbers are texts, since readers of JSON may keep 53 bits of a number. */
static void time_member(struct tg_json *json, const char *key, int64_t ns)
{
    char text[24];
    tg_json_key(json, key);
    snprintf(text, sizeof text, "%" PRId64, ns);
    if (ns)
        tg_json_string(json, text);
    else
        tg_json_null(json);
}

static void number_member(struct tg_json *json, const char *key, int32_t value)
{
    tg_json_key(json, key);
    if (value >= 0)
        tg_json_int(json, value);
    else
        tg_json_null(json);
}

void tg_log_call(struct tg_comm *comm, const struct tg_call *call, const char *state)
{
    struct tg_comm_log *log = &comm->run.log;
    struct tg_json *json = &log->json;
    const char *operation = tg_reduction_name((uint32_t)call->head.operation);
    char task[24];
    if (log->fd < 0) {
        log->lost += log->lost > 0; /* a log was wanted, and could not be opened */
        return;
    }
    snprintf(task, sizeof task, "%016" PRIx64, call->asked.task);
    tg_json_begin_line_object(json);
    tg_json_key(json, "task");
    tg_json_string(json, task);
    tg_json_key(json, "call");
    tg_json_string(json, tg_comm_kind_name(call->asked.kind));
    number_member(json, "peer", call->head.peer);
    number_member(json, "tag", call->head.tag);
    tg_json_key(json, "operation");
    if (operation)
        tg_json_string(json, operation);
    else
        tg_json_null(json);
    tg_json_key(json, "number");
    tg_json_uint(json, call->head.number);
    tg_json_key(json, "dtype");
    tg_json_string(json, tg_dtype_name((int)call->head.dtype));
    tg_json_key(json, "elements");
    tg_json_uint(json, call->head.elements);
    tg_json_key(json, "bytes");
    tg_json_uint(
        json, call->head.dtype ? tg_bytes_of(call->head.dtype, (int64_t)call->head.elements) : 0);
    tg_json_key(json, "site");
    tg_json_string(json, call->asked.site);
    time_member(json, "posted_ns", call->posted_ns);
    time_member(json, "matched_ns", call->matched_ns);
    time_member(json, "done_ns", call->done_ns);
    tg_json_key(json, "state");
    tg_json_string(json, state);
    tg_json_end_object(json);
    tg_json_end_line(json);
    log->lost += json->status != TG_OK;
    log->calls++;
    if (!log->has_new)
        log->flushed_at = tg_comm_now();
    log->has_new = true;
}

/* Also counts the lines as lost if they cannot be written. */
static void flush(struct tg_comm_log *log)
{
    const bool was_good = log->json.status == TG_OK;
    tg_json_flush(&log->json);
    log->lost += was_good && log->json.status != TG_OK;
    log->has_new = false;
}

void tg_log_flush(struct tg_comm *comm, double now)
{
    struct tg_comm_log *log = &comm->run.log;
    if (comm->run.phase != RUN_NONE && log->has_new && now - log->flushed_at >= FLUSH_SECONDS)
        flush(log);
}

double tg_log_wait(const struct tg_comm *comm, double now, double wait)
{
    const struct tg_comm_log *log = &comm->run.log;
    const double left = log->flushed_at + FLUSH_SECONDS - now;
    return comm->run.phase != RUN_NONE && log->has_new && left < wait ? left : wait;
}

static void put_end(struct tg_comm_log *log)
{
    tg_json_begin_line_object(&log->json);
    tg_json_key(&log->json, "end");
    tg_json_bool(&log->json, true);
    tg_json_key(&log->json, "calls");
    tg_json_uint(&log->json, log->calls);
    tg_json_end_object(&log->json);
    tg_json_end_line(&log->json);
}

void tg_log_close(struct tg_comm *comm)
{
    struct tg_comm_log *log = &comm->run.log;
    if (log->fd >= 0) {
        put_end(log);
        flush(log);
        if (close(log->fd) != 0)
            log->lost++;
    }
    log->fd = -1;
    free(log->buffer);
    log->buffer = NULL;
}
