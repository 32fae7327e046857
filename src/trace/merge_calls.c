/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of all ranks: which belong together, where arrows go, and a row for each. */
#include <stdlib.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

#include "trace/merge_out.h"
#include "trace/out.h"

/* --- reading --------------------------------------------------------------------------------- */

static bool take_call(struct tg_merge_out *out, uint32_t number, uint64_t index)
{
    struct tg_merge_part *part = &out->part[number];
    struct tg_call call;
    if (!tg_calls_get(part->from->calls, index, &call) || call.posted_ns < 0) {
        out->result.left_out++;
        return false;
    }
    struct tg_merge_call *made = &part->call[part->n_calls++];
    *made = (struct tg_merge_call){.begin = tg_merge_time(part, (uint64_t)call.posted_ns),
                                   .moves = TG_SPOOL_NO_TIME,
                                   .end = TG_SPOOL_NO_TIME,
                                   .index = index,
                                   .number = call.number,
                                   .from = number,
                                   .peer = call.peer,
                                   .tag = call.tag,
                                   .kind = call.kind,
                                   .row = TG_MERGE_NO_ROW,
                                   .is_done = call.done_ns >= 0};
    if (call.matched_ns >= 0)
        made->moves = tg_merge_time(part, (uint64_t)call.matched_ns);
    if (call.done_ns >= 0)
        made->end = tg_merge_time(part, (uint64_t)call.done_ns);
    if (made->is_done && made->end < made->begin)
        made->end = made->begin;
    return true;
}

static bool take_calls_of(struct tg_merge_out *out, uint32_t number, uint64_t *last)
{
    struct tg_merge_part *part = &out->part[number];
    struct tg_calls_info info;
    if (!part->from->calls)
        return true;
    tg_calls_get_info(part->from->calls, &info);
    part->call = calloc((size_t)info.calls + 1, sizeof *part->call);
    if (!part->call)
        return false;
    for (uint64_t i = 0; i < info.calls; i++) {
        if (!take_call(out, number, i))
            continue;
        const struct tg_merge_call *call = &part->call[part->n_calls - 1];
        uint64_t time = call->is_done ? call->end : call->begin;
        *last = time > *last ? time : *last;
    }
    return true;
}

/* What is not done is shown until the last time that any rank knows of. */
static void end_calls(struct tg_merge_part *part, uint64_t last)
{
    for (size_t i = 0; i < part->n_calls; i++)
        if (!part->call[i].is_done)
            part->call[i].end = last > part->call[i].begin ? last : part->call[i].begin;
}

/* --- what belongs together ------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Sends and receives by where they go; the others by number. */
struct key {
    bool is_message;
    uint32_t from, to; /* indices of ranks are their numbers here */
    int32_t tag;
    uint64_t number;
};

static struct key key_of(const struct tg_merge_call *call)
{
    if (!tg_call_is_message(call->kind))
        return (struct key){.number = call->number};
    uint32_t peer = (uint32_t)call->peer;
    bool is_send = call->kind == TG_COMM_SEND;
    return (struct key){true, is_send ? call->from : peer, is_send ? peer : call->from, call->tag,
                        call->number};
}

static int compare_keys(const struct key *a, const struct key *b)
{
    int order = compare(a->is_message, b->is_message);
    order = order ? order : compare(a->from, b->from);
    order = order ? order : compare(a->to, b->to);
    order = order ? order : (a->tag > b->tag) - (a->tag < b->tag);
    return order ? order : compare(a->number, b->number);
}

/* Of a message the send comes first. */
static int by_key(const void *a, const void *b)
{
    const struct tg_merge_call *left = *(struct tg_merge_call *const *)a;
    const struct tg_merge_call *right = *(struct tg_merge_call *const *)b;
    struct key x = key_of(left), y = key_of(right);
    int order = compare_keys(&x, &y);
    order = order ? order : compare(left->kind, right->kind);
    order = order ? order : compare(left->from, right->from);
    return order ? order : compare(left->index, right->index);
}

/* An arrow from `from`, which was posted, to `to`, which knew of it. Nothing is known before it happens, so
 * an end that the clocks put before that is as wrong as the clocks are. Viewers want the end behind the
 * begin. */
static void add_arrow(struct tg_merge_out *out, struct tg_merge_call *from,
                      struct tg_merge_call *to)
{
    uint64_t first = from->begin + 1;
    bool is_known = to->is_done || to->moves != TG_SPOOL_NO_TIME;
    bool is_shown = from->row != TG_MERGE_NO_ROW && to->row != TG_MERGE_NO_ROW;
    if (!is_known || !is_shown)
        return;
    if (to->moves == TG_SPOOL_NO_TIME || to->moves < to->begin)
        to->moves = to->begin;
    if (to->moves < first)
        to->moves = first;
    if (to->moves > to->end) {
        out->result.backward++;
        to->moves = to->end;
        return;
    }
    if (from->n_flows == 0)
        from->first_flow = out->result.arrows + 1;
    from->n_flows++;
    to->flow = ++out->result.arrows;
}

/* Calls with the same key. A file that is not trusted may have more of them than there can be. */
static void join(struct tg_merge_out *out, struct tg_merge_call **call, size_t count)
{
    if (tg_call_is_message(call[0]->kind)) {
        size_t receive = 0;
        while (receive < count && call[receive]->kind == TG_COMM_SEND)
            receive++;
        if (receive > 0 && receive < count)
            add_arrow(out, call[0], call[receive]);
        return;
    }
    struct tg_merge_call *last = call[0];
    for (size_t i = 1; i < count; i++)
        if (call[i]->begin > last->begin)
            last = call[i];
    for (size_t i = 0; i < count; i++)
        if (call[i] != last && call[i]->from != last->from)
            add_arrow(out, last, call[i]);
}

static bool join_calls(struct tg_merge_out *out)
{
    size_t all = 0, count = 0;
    for (uint32_t i = 0; i < out->config->n_ranks; i++)
        all += out->part[i].n_calls;
    struct tg_merge_call **call = malloc((all + 1) * sizeof(void *));
    if (!call)
        return false;
    for (uint32_t i = 0; i < out->config->n_ranks; i++)
        for (size_t k = 0; k < out->part[i].n_calls; k++)
            call[count++] = &out->part[i].call[k];
    qsort((void *)call, count, sizeof(void *), by_key);
    for (size_t first = 0, end; first < count; first = end) {
        struct key key = key_of(call[first]);
        for (end = first + 1; end < count; end++) {
            struct key other = key_of(call[end]);
            if (compare_keys(&key, &other) != 0)
                break;
        }
        join(out, call + first, end - first);
    }
    free((void *)call);
    return true;
}

/* --- rows ------------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
    const struct tg_merge_call *left = a, *right = b;
    int order = compare(left->begin, right->begin);
    order = order ? order : compare(left->end, right->end);
    return order ? order : compare(left->index, right->index);
}

static int by_row(const void *a, const void *b)
{
    const struct tg_merge_call *left = a, *right = b;
    int order = compare(left->row, right->row);
    return order ? order : by_begin(a, b);
}

/* Calls of a rank may be under way at the same time, so each gets the first row that is free. */
static void give_rows(struct tg_merge_out *out, struct tg_merge_part *part)
{
    uint64_t end[TG_MERGE_ROWS] = {0};
    if (part->n_calls == 0)
        return;
    qsort(part->call, part->n_calls, sizeof *part->call, by_begin);
    for (size_t i = 0; i < part->n_calls; i++) {
        struct tg_merge_call *call = &part->call[i];
        uint32_t row = 0;
        while (row < part->n_rows && end[row] > call->begin)
            row++;
        if (row == TG_MERGE_ROWS) {
            out->result.left_out++;
            continue;
        }
        part->n_rows += row == part->n_rows;
        end[row] = call->end;
        call->row = row;
        out->result.calls++;
    }
    qsort(part->call, part->n_calls, sizeof *part->call, by_row);
}

bool tg_merge_take_calls(struct tg_merge_out *out)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < out->config->n_ranks; i++)
        if (!take_calls_of(out, i, &last))
            return false;
    for (uint32_t i = 0; i < out->config->n_ranks; i++)
        end_calls(&out->part[i], last);
    for (uint32_t i = 0; i < out->config->n_ranks; i++)
        give_rows(out, &out->part[i]);
    return join_calls(out);
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_int(struct tg_merge_out *out, const char *key, int32_t value)
{
    if (value >= 0)
        out->ops->put_number(out, key, (uint64_t)value);
}

static void put_call(struct tg_merge_out *out, const struct tg_call *call)
{
    const struct tg_merge_ops *ops = out->ops;
    char task[TG_TASK_TEXT];
    (void)tg_trace_task_text(call->task, task);
    ops->put_text(out, "task", task);
    put_int(out, call->kind == TG_COMM_BROADCAST ? "root" : "peer", call->peer);
    put_int(out, "tag", call->tag);
    if (call->operation >= 0 && tg_reduction_name((uint32_t)call->operation))
        ops->put_text(out, "operation", tg_reduction_name((uint32_t)call->operation));
    ops->put_number(out, "number", call->number);
    if (call->dtype != TG_DTYPE_NONE)
        ops->put_text(out, "dtype", tg_dtype_name(call->dtype));
    ops->put_number(out, "elements", call->elements);
    ops->put_number(out, "bytes", call->bytes);
    if (*call->site)
        ops->put_text(out, "site", call->site);
    ops->put_text(out, "state", tg_call_state_name(call->state));
}

static void write_inner(struct tg_merge_out *out, struct tg_merge_place place, const char *name,
                        uint64_t begin, uint64_t end, uint64_t flow)
{
    struct tg_merge_call flows = {.flow = flow};
    out->ops->begin_slice(out, place, begin, name);
    out->ops->begun(out, place, begin, &flows);
    out->ops->end_slice(out, place, end, name);
}

static void write_call(struct tg_merge_out *out, uint32_t number, const struct tg_merge_call *call)
{
    const struct tg_merge_part *part = &out->part[number];
    struct tg_merge_place place = {number, call->row};
    struct tg_merge_call flows = *call;
    struct tg_call about;
    if (!tg_calls_get(part->from->calls, call->index, &about))
        return;
    const char *name = tg_comm_kind_name(about.kind);
    uint64_t moves = call->moves < call->end ? call->moves : call->end;
    bool is_matched = call->moves != TG_SPOOL_NO_TIME;
    if (moves < call->begin)
        moves = call->begin;
    flows.flow = 0; /* it ends at the inner slice */
    out->ops->begin_slice(out, place, call->begin, name ? name : "call");
    put_call(out, &about);
    out->ops->begun(out, place, call->begin, &flows);
    if (moves > call->begin)
        write_inner(out, place, "wait", call->begin, moves, 0);
    if (is_matched)
        write_inner(out, place, "move", moves, call->end, call->flow);
    out->ops->end_slice(out, place, call->end, name ? name : "call");
}

void tg_merge_write_calls(struct tg_merge_out *out, uint32_t number)
{
    const struct tg_merge_part *part = &out->part[number];
    uint32_t row = TG_MERGE_NO_ROW;
    for (size_t i = 0; i < part->n_calls && tg_merge_goes_on(out); i++) {
        const struct tg_merge_call *call = &part->call[i];
        if (call->row == TG_MERGE_NO_ROW)
            break; /* they come last */
        if (call->row != row)
            out->ops->add_row(out, (struct tg_merge_place){number, call->row});
        row = call->row;
        write_call(out, number, call);
        tg_merge_flush(out, false);
    }
}
