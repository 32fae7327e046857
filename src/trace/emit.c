/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second half of writing a trace: goes through slices and counters by time, and finds a row for each
 * slice.
 *
 * A viewer takes the end of a slice to be that of the slice which began last on its row. So ends are written
 * before the next slice of the row begins, and slices of a row nest. Those of a core do not even nest: a
 * core runs one task at a time, and where a file that is not trusted says otherwise, a second row shows it.
 */
#include <stdlib.h>

#include "base/files.h"
#include "base/grow.h"
#include "trace/out.h"

/* More rows of one lane than anybody looks at; slices that need more are left out and counted. */
enum { MOST_ROWS = 64 };

struct open_row {
    struct tg_trace_row row;
    struct open_slice {
        uint64_t end;
        uint32_t type;
    } * open;
    size_t depth, room;
};

struct lane {
    struct open_row *row;
    size_t n_rows, room;
};

struct emitter {
    struct tg_trace_out *out;
    struct lane *lane;
    uint32_t n_lanes;
    uint64_t rows; /* of all lanes */
    bool no_memory;
};

static void end_until(struct emitter *emitter, struct open_row *row, uint64_t time)
{
    while (row->depth > 0 && row->open[row->depth - 1].end <= time) {
        const struct open_slice *last = &row->open[--row->depth];
        emitter->out->ops->end_slice(emitter->out, &row->row, last->end, last->type);
    }
}

static struct open_row *add_row(struct emitter *emitter, uint32_t number)
{
    struct lane *lane = &emitter->lane[number];
    if (!tg_grow(&lane->row, &lane->room, lane->n_rows + 1, sizeof *lane->row)) {
        emitter->no_memory = true;
        return NULL;
    }
    struct open_row *row = &lane->row[lane->n_rows];
    *row = (struct open_row){
        .row = {.lane = number, .number = (uint32_t)lane->n_rows, .id = ++emitter->rows}};
    lane->n_rows++;
    emitter->out->ops->add_row(emitter->out, &row->row);
    return row;
}

/* A row on which the slice can begin; NULL if there is none. */
static struct open_row *find_row(struct emitter *emitter, const struct tg_trace_item *item)
{
    struct lane *lane = &emitter->lane[item->lane];
    bool nests = item->lane < TG_LANE_CORES;
    for (size_t i = 0; i < lane->n_rows; i++) {
        struct open_row *row = &lane->row[i];
        end_until(emitter, row, item->begin);
        if (row->depth == 0 || (nests && item->end <= row->open[row->depth - 1].end))
            return row;
    }
    return lane->n_rows < MOST_ROWS ? add_row(emitter, item->lane) : NULL;
}

static void emit_slice(struct emitter *emitter, const struct tg_sort_record *record)
{
    struct tg_trace_out *out = emitter->out;
    struct tg_trace_item item;
    memcpy(&item, record->bytes, sizeof item);
    struct open_row *row = find_row(emitter, &item);
    if (!row) {
        out->result.left_out += !emitter->no_memory;
        return;
    }
    if (!tg_grow(&row->open, &row->room, row->depth + 1, sizeof *row->open)) {
        emitter->no_memory = true;
        return;
    }
    row->open[row->depth++] = (struct open_slice){item.end, item.type};
    const uint64_t *flow = (const void *)(record->bytes + sizeof item);
    size_t head = sizeof item + ((size_t)item.n_leaving + item.n_taken) * sizeof *flow;
    out->ops->add_slice(out, &row->row, &item, flow, record->bytes + head, record->size - head);
}

static void emit_record(struct emitter *emitter, const struct tg_sort_record *record)
{
    struct tg_trace_out *out = emitter->out;
    const struct tg_trace_item *item = (const void *)record->bytes;
    if (item->type == 0)
        out->ops->add_counter(out, item->lane, item->begin, item->end);
    else
        emit_slice(emitter, record);
    tg_trace_flush(out, false);
}

/* The cores have a row each, also those that ran nothing; the others get one if something is on it. */
static void add_rows(struct emitter *emitter)
{
    const struct tg_spool *spool = emitter->out->spool;
    if (tg_spool_count(spool, TG_SPOOL_SUBMIT) + tg_spool_count(spool, TG_SPOOL_WAIT) > 0)
        (void)add_row(emitter, TG_LANE_ORCHESTRATOR);
    if (tg_spool_count(spool, TG_SPOOL_SCOPE) > 0)
        (void)add_row(emitter, TG_LANE_SCOPES);
    for (uint32_t i = TG_LANE_CORES; i < emitter->n_lanes; i++) {
        (void)add_row(emitter, i);
        tg_trace_flush(emitter->out, false);
    }
}

static void end_rows(struct emitter *emitter)
{
    for (uint32_t i = 0; i < emitter->n_lanes; i++)
        for (size_t j = 0; j < emitter->lane[i].n_rows; j++)
            end_until(emitter, &emitter->lane[i].row[j], UINT64_MAX);
}

static void release(struct emitter *emitter)
{
    for (uint32_t i = 0; emitter->lane && i < emitter->n_lanes; i++) {
        for (size_t j = 0; j < emitter->lane[i].n_rows; j++)
            free(emitter->lane[i].row[j].open);
        free(emitter->lane[i].row);
    }
    free(emitter->lane);
}

tg_status tg_trace_emit(struct tg_trace_out *out, struct tg_error *error)
{
    struct tg_sort_record record;
    struct emitter emitter = {.out = out, .n_lanes = TG_LANE_CORES + out->run->n_cores};
    emitter.lane = calloc(emitter.n_lanes, sizeof *emitter.lane);
    if (!emitter.lane)
        return tg_file_no_memory(error);
    out->ops->begin(out);
    add_rows(&emitter);
    tg_sort_start(out->by_time);
    while (tg_trace_goes_on(out) && !emitter.no_memory && tg_sort_next(out->by_time, &record))
        emit_record(&emitter, &record);
    end_rows(&emitter);
    out->ops->end(out);
    tg_status status =
        emitter.no_memory ? tg_file_no_memory(error) : tg_sort_check(out->by_time, error);
    release(&emitter);
    return status;
}
