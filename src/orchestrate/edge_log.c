/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/edge_log.h"
#include "device/target.h"

/* The task id in an entry of the record. */
#define TG_EDGE_BEFORE (((uint64_t)1 << 60) - 1)

/* A record that has no task carries facts for the next one. */
TG_FN static void set_no_task(struct tg_record_task *r)
{
    r->type = TG_RECORD_FACTS;
    r->flags = 0;
    r->check = 0;
    r->task_id = TG_TASK_NONE;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        r->kernel[part] = TG_NO_KERNEL;
    r->site = r->line = r->n_edges = 0;
}

TG_FN void tg_edge_log_open(struct tg_edge_log *log, struct tg_engine *e, struct tg_tracer *tracer)
{
    log->e = e;
    log->tracer = tracer;
    log->streams = false;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        log->done[r] = 0;
    set_no_task(&log->record);
}

TG_FN void tg_edge_log_stream(struct tg_edge_log *log, struct tg_worker *worker,
                              const struct tg_record_setup *setup)
{
    log->streams = true;
    tg_stream_open(&log->stream, setup, TG_LOG_EDGES, worker);
}

TG_FN static bool is_edge(uint64_t entry)
{
    return entry >> 60 <= TG_EDGE_WAW;
}

TG_FN static void trace_edge(struct tg_edge_log *log, uint64_t edge)
{
    struct tg_trace_event *event = tg_trace_slot(log->e, log->tracer);
    if (event == 0)
        return;
    event->task_id = log->record.task_id;
    event->ready = edge & TG_EDGE_BEFORE;
    event->begin = event->end = 0;
    event->kernel = 0;
    event->worker = 0;
    event->part = (uint8_t)(edge >> 60);
    event->type = TG_TRACE_EDGE;
    tg_trace_keep(
        log->tracer); /* its submit, or the next of the orchestrator's events, publishes it */
}

TG_FN static void put_record(struct tg_edge_log *log)
{
    struct tg_record_task *to = (struct tg_record_task *)tg_stream_slot(log->e, &log->stream);
    tg_stream_add(&log->stream, attempted, 1);
    if (to == 0) {
        tg_stream_add(&log->stream, lost_gave_up, 1);
        return;
    }
    log->record.sequence = log->stream.recorded;
    tg_stream_add(&log->stream, recorded, 1);
    log->record.time = tg_target_now();
    *to = log->record;
    tg_stream_publish(&log->stream);
}

TG_FN static void put(struct tg_edge_log *log)
{
    for (uint32_t i = 0; log->tracer && i < log->record.n_edges; i++)
        if (is_edge(log->record.edge[i]))
            trace_edge(log, log->record.edge[i]);
    if (log->streams)
        put_record(log);
}

/* Makes room for that many entries. What does not fit goes out in a record before the next one; of a
 * task, the first record is the one that tells of it. */
TG_FN static void want_room(struct tg_edge_log *log, uint32_t count)
{
    struct tg_record_task *r = &log->record;
    if (r->n_edges + count <= TG_EDGES_PER_RECORD)
        return;
    for (uint32_t i = r->n_edges; i < TG_EDGES_PER_RECORD; i++)
        r->edge[i] = 0;
    put(log);
    r->flags = r->type == TG_RECORD_TASK ? TG_RECORD_MORE : 0;
    r->n_edges = 0;
}

TG_FN void tg_edge_log_begin(struct tg_edge_log *log, const struct tg_task_desc *desc,
                             uint32_t line)
{
    struct tg_record_task *r = &log->record;
    r->type = TG_RECORD_TASK;
    r->flags = 0;
    r->check = 0;
    r->task_id = desc->id;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        r->kernel[part] = desc->kernel[part];
    r->site = desc->site;
    r->line = line;
}

/* A second edge to the same task is not logged again, but if the first was only explicit and the
 * tensor map now finds it, its kind changes. */
TG_FN static bool is_there(struct tg_record_task *r, uint64_t before, enum tg_edge_kind kind)
{
    for (uint32_t i = 0; i < r->n_edges; i++) {
        if ((r->edge[i] & TG_EDGE_BEFORE) != before || !is_edge(r->edge[i]))
            continue;
        if (r->edge[i] >> 60 == TG_EDGE_EXPLICIT)
            r->edge[i] = (uint64_t)kind << 60 | before;
        return true;
    }
    return false;
}

TG_FN void tg_edge_log_add(struct tg_edge_log *log, uint64_t before, enum tg_edge_kind kind)
{
    struct tg_record_task *r = &log->record;
    if (is_there(r, before, kind))
        return;
    want_room(log, 1);
    r->edge[r->n_edges++] = (uint64_t)kind << 60 | before;
}

TG_FN void tg_edge_log_end(struct tg_edge_log *log)
{
    for (uint32_t i = log->record.n_edges; log->streams && i < TG_EDGES_PER_RECORD; i++)
        log->record.edge[i] = 0;
    put(log);
    set_no_task(&log->record);
}

TG_FN void tg_edge_log_late(struct tg_edge_log *log, const struct tg_task_desc *desc,
                            uint64_t before)
{
    want_room(log, log->record.n_edges > 0 ? TG_EDGES_PER_RECORD : 0); /* facts of the next task */
    tg_edge_log_begin(log, desc, 0);
    log->record.flags = TG_RECORD_MORE;
    tg_edge_log_add(log, before, TG_EDGE_EXPLICIT);
    tg_edge_log_end(log);
}

TG_FN static void add_fact(struct tg_edge_log *log, enum tg_fact_kind kind, uint64_t value)
{
    log->record.edge[log->record.n_edges++] = (uint64_t)kind << 60 | value;
}

TG_FN void tg_edge_log_seen(struct tg_edge_log *log, uint64_t task)
{
    for (uint32_t i = 0; i < log->record.n_edges; i++)
        if (log->record.edge[i] == ((uint64_t)TG_FACT_SEEN << 60 | task))
            return;
    want_room(log, 1);
    add_fact(log, TG_FACT_SEEN, task);
}

/* Both entries are in one record. */
TG_FN void tg_edge_log_given(struct tg_edge_log *log, uint64_t address, uint64_t bytes)
{
    want_room(log, 2);
    add_fact(log, TG_FACT_GIVEN, address);
    add_fact(log, TG_FACT_BYTES, bytes);
}

TG_FN void tg_edge_log_ended(struct tg_edge_log *log, uint32_t ring)
{
    want_room(log, 1);
    add_fact(log, TG_FACT_ENDED, ring);
}

TG_FN void tg_edge_log_let_go(struct tg_edge_log *log, uint64_t task)
{
    want_room(log, 1);
    add_fact(log, TG_FACT_LET_GO, task);
}

TG_FN void tg_edge_log_done(struct tg_edge_log *log, uint32_t ring, uint64_t done)
{
    if (done <= log->done[ring])
        return;
    log->done[ring] = done;
    want_room(log, 1);
    add_fact(log, TG_FACT_DONE, (uint64_t)ring << 56 | done);
}
