/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an input disagrees. The tasks that wrote exactly its bytes, on both sides, explain it if what
 * they wrote disagrees too. If not, the two runs gave the task different things: another tensor,
 * another part of it, other data from outside; or the bytes changed on their way, or were read in no
 * order with a write. Device addresses decide which; without addresses the edges do.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/blame.h"
#include "analysis/deps_memory.h"
#include "analysis/match_mix.h"
#include "analysis/overlap.h"
#include "base/files.h"

bool tg_blame_get(const struct tg_blame *blame, uint64_t pair, int side, struct tg_entry *entry)
{
    uint64_t record = pair == TG_NONE ? TG_NONE : tg_blame_record(blame, pair, side);
    return record != TG_NONE && tg_recording_get(blame->side[side].tasks->recording, record, entry);
}

const struct tg_flow_event *tg_blame_event(const struct tg_blame *blame, int side, uint64_t record)
{
    const struct tg_flow *flow = blame->side[side].flow;
    uint32_t event = record == TG_NONE ? TG_NO_EVENT : flow->of_record[record];
    struct tg_entry entry;
    bool has_address = event != TG_NO_EVENT &&
                       tg_recording_get(blame->side[side].tasks->recording, record, &entry) &&
                       entry.record.data_ptr != 0;
    return has_address ? &flow->event[event] : NULL;
}

void tg_blame_writers(const struct tg_blame *blame, int side, uint64_t record, tg_writer_fn take,
                      void *context)
{
    const struct tg_blame_side *of = &blame->side[side];
    const struct tg_flow_event *event = tg_blame_event(blame, side, record);
    for (uint32_t i = 0; event && i < event->n_writers; i++) {
        uint32_t number = of->flow->writer[event->first_writer + i];
        const struct tg_flow_event *writer = &of->flow->event[number];
        if (!take(context, of->task_of[writer->row], of->pair_of[writer->record], number))
            return;
    }
}

bool tg_blame_want_before(struct tg_blame *blame, uint32_t task, enum tg_agreement agreement)
{
    const struct tg_links *before = &blame->before;
    bool found = false;
    for (uint64_t i = before->first[task]; i < before->first[task + 1]; i++) {
        uint32_t other = before->before[i];
        if (tg_blame_is_lone(blame, other) || blame->task[other].output != agreement)
            continue;
        tg_blame_want(blame, other);
        found = true;
    }
    return found;
}

/* --- the tasks that wrote an input ------------------------------------------------------------ */

enum kind { SAME, OTHER, BEYOND, UNKNOWN, LONE, KINDS };

/* The writers of an input on one side, by what they left. */
struct sources {
    const struct tg_blame *blame;
    uint32_t reader;
    uint64_t input; /* the pair that they wrote */
    int side;
    uint64_t count[KINDS];
    bool is_known;   /* the record has an address */
    bool is_outside; /* nobody wrote some of its bytes */
    /* While wanting: which kinds. */
    struct tg_blame *wants;
    unsigned kinds;
};

bool tg_blame_is_own_output(const struct tg_blame *blame, uint64_t pair)
{
    const struct tg_matched_pair *records = &blame->diff->match.pair[pair];
    uint32_t a = tg_blame_row(blame, records->task, 0), b = tg_blame_row(blame, records->task, 1);
    return (records->a == TG_NONE || records->b == TG_NONE) && a != TG_NO_ROW && b != TG_NO_ROW &&
           blame->side[0].tasks->row[a].kernel != blame->side[1].tasks->row[b].kernel;
}

static enum kind kind_of(const struct tg_blame *blame, uint64_t pair)
{
    if (pair == TG_NONE || tg_blame_is_own_output(blame, pair))
        return LONE;
    switch (tg_diff_agreement(blame->diff, pair)) {
    case TG_AGREES:
        return SAME;
    case TG_DISAGREES:
        return tg_diff_is_beyond(blame->diff, pair) ? BEYOND : OTHER;
    default:
        return UNKNOWN;
    }
}

/* The bytes of an input on both sides, and where they lie in the memory of one. */
struct contents {
    const char *bytes[2];
    uint64_t lo, hi;
};

static bool is_equal_run(void *context, uint64_t lo, uint64_t hi)
{
    const struct contents *contents = context;
    uint64_t from = lo > contents->lo ? lo : contents->lo,
             to = hi < contents->hi ? hi : contents->hi;
    return from >= to || tg_bytes_equal(contents->bytes[0] + (from - contents->lo),
                                        contents->bytes[1] + (from - contents->lo), to - from);
}

/* True if the part of the input that this task wrote is the same on both sides. Tasks may differ in the
 * size of their tiles, and then only the tile that is wrong explains the input. */
static bool wrote_the_same(const struct sources *sources, uint32_t event)
{
    const struct tg_blame *blame = sources->blame;
    const struct tg_blame_side *of = &blame->side[sources->side];
    struct tg_entry input[2], writer;
    struct contents contents;
    for (int side = 0; side < 2; side++) {
        if (!tg_blame_get(blame, sources->input, side, &input[side]) ||
            input[side].record.kind != TG_KIND_TENSOR ||
            input[side].record.stored != input[side].record.bytes)
            return false;
        contents.bytes[side] =
            tg_recording_payload(blame->side[side].tasks->recording, &input[side]);
    }
    const struct tg_record *record = &input[sources->side].record;
    return contents.bytes[0] && contents.bytes[1] &&
           input[0].record.bytes == input[1].record.bytes &&
           input[0].record.dtype == input[1].record.dtype &&
           tg_view_is_run(record, &contents.lo, &contents.hi) &&
           contents.hi - contents.lo == record->bytes &&
           tg_recording_get(of->tasks->recording, of->flow->event[event].record, &writer) &&
           tg_view_runs(&writer.record, is_equal_run, &contents);
}

static bool take_source(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct sources *sources = context;
    enum kind kind = kind_of(sources->blame, pair);
    if (kind == LONE && wrote_the_same(sources, event))
        kind = SAME;
    if (task == sources->reader) /* it ran before with the same bytes, or its times are wrong */
        return true;
    sources->count[kind]++;
    if (sources->wants && sources->kinds >> kind & 1)
        tg_blame_want(sources->wants, task);
    return true;
}

static struct sources sources_of(const struct tg_blame *blame, uint32_t task, uint64_t pair,
                                 int side)
{
    uint64_t record = tg_blame_record(blame, pair, side);
    const struct tg_flow_event *event = tg_blame_event(blame, side, record);
    struct sources sources = {.blame = blame,
                              .reader = task,
                              .input = pair,
                              .side = side,
                              .is_known = event != NULL,
                              .is_outside = event && event->is_outside};
    tg_blame_writers(blame, side, record, take_source, &sources);
    return sources;
}

static void want_sources(struct tg_blame *blame, uint32_t task, uint64_t pair, int side,
                         unsigned kinds)
{
    struct sources sources = {.blame = blame,
                              .reader = task,
                              .input = pair,
                              .side = side,
                              .wants = blame,
                              .kinds = kinds};
    tg_blame_writers(blame, side, tg_blame_record(blame, pair, side), take_source, &sources);
}

bool tg_blame_doubt(struct tg_blame *blame, uint32_t task, uint64_t pair)
{
    enum { SUSPICIOUS = 1 << OTHER | 1 << BEYOND | 1 << LONE };
    bool found = false;
    for (int side = 0; side < 2; side++) {
        struct sources sources = sources_of(blame, task, pair, side);
        want_sources(blame, task, pair, side, SUSPICIOUS);
        found = found || sources.count[OTHER] + sources.count[BEYOND] + sources.count[LONE] > 0;
    }
    return found;
}

/* --- the same in both runs? ------------------------------------------------------------------- */

struct list {
    uint64_t *pair;
    size_t count, room;
};

static bool take_pair(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct list *list = context;
    (void)task, (void)event;
    if (list->count < list->room)
        list->pair[list->count++] = pair;
    return true;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The pairs of the outputs that an input consists of, sorted. */
static bool list_sources(const struct tg_blame *blame, uint64_t pair, int side, struct list *list)
{
    uint64_t record = tg_blame_record(blame, pair, side);
    const struct tg_flow_event *event = tg_blame_event(blame, side, record);
    *list = (struct list){.room = event ? event->n_writers : 0};
    list->pair = malloc((list->room + 1) * sizeof *list->pair);
    if (!list->pair)
        return false;
    tg_blame_writers(blame, side, record, take_pair, list);
    qsort(list->pair, list->count, sizeof *list->pair, compare_pairs);
    return true;
}

/* An input, on both sides. */
struct input {
    uint32_t task;
    uint64_t pair;
    bool is_beyond;
    struct tg_entry entry[2];
    struct sources sources[2];
    struct list list[2];
    const struct tg_object *object[2]; /* the tensor of the case that it is a part of; NULL */
};

static bool has_same_sources(const struct input *input)
{
    const struct list *a = &input->list[0], *b = &input->list[1];
    if (a->count != b->count || input->sources[0].is_outside != input->sources[1].is_outside ||
        !tg_objects_agree(input->object[0], input->object[1]))
        return false;
    return memcmp(a->pair, b->pair, a->count * sizeof *a->pair) == 0;
}

static bool is_listed(const struct list *list, uint64_t pair)
{
    return bsearch(&pair, list->pair, list->count, sizeof pair, compare_pairs) != NULL;
}

/* True if both are parts of one tensor, as far as its writers or its name show. */
static bool has_common_source(const struct input *input)
{
    const struct list *a = &input->list[0];
    if (input->object[0] || input->object[1])
        return tg_object_is(input->object[0], input->object[1]);
    for (size_t i = 0; i < a->count; i++)
        if (a->pair[i] != TG_NONE && is_listed(&input->list[1], a->pair[i]))
            return true;
    return false;
}

/* The same elements of the storage; or, since a run may place tensors in larger ones, the same
 * elements of what its one writer wrote. */
static bool has_same_view(const struct tg_blame *blame, const struct input *input)
{
    const struct tg_record *a = &input->entry[0].record, *b = &input->entry[1].record;
    struct tg_entry writer[2];
    if (tg_view_is_same(a, b))
        return true;
    if (input->list[0].count != 1 || input->list[1].count != 1 ||
        input->list[0].pair[0] != input->list[1].pair[0] ||
        !tg_blame_get(blame, input->list[0].pair[0], 0, &writer[0]) ||
        !tg_blame_get(blame, input->list[0].pair[0], 1, &writer[1]))
        return false;
    struct tg_record moved = *b;
    moved.start = b->start - writer[1].record.start + writer[0].record.start;
    return tg_view_is_same(a, &moved);
}

/* --- no task wrote it ------------------------------------------------------------------------- */

/* True for a tensor that the orchestration got as an input, which no task may write. */
static bool is_only_read(const struct tg_blame *blame, const struct input *input)
{
    const struct tg_object *object = input->object[0];
    struct tg_entry entry;
    return object && object->record != TG_NONE &&
           tg_recording_get(blame->side[0].tasks->recording, object->record, &entry) &&
           entry.record.role == TG_IN;
}

/* True if nothing that a suspect tells about where the input comes from differs between the runs: the
 * tensor, the part of it, and the task that wrote it last. */
static bool looks_same(const struct tg_blame *blame, const struct input *input)
{
    struct tg_source source[2];
    uint64_t last[2];
    for (int side = 0; side < 2; side++) {
        const struct tg_blame_side *of = &blame->side[side];
        if (!tg_source_of(of->sources, tg_blame_record(blame, input->pair, side), &source[side]))
            return false;
        last[side] = source[side].record == TG_NONE ? TG_NONE : of->pair_of[source[side].record];
        if (source[side].record != TG_NONE && last[side] == TG_NONE)
            return false; /* of a task that only this side has */
    }
    return last[0] == last[1] && source[0].offset == source[1].offset &&
           tg_objects_agree(source[0].object, source[1].object) &&
           tg_view_is_same(&input->entry[0].record, &input->entry[1].record);
}

/* If writes are missing in a recording, one of them may have made the difference. Only a scalar or
 * another part of the same tensor is then certain. Nobody is told that a task was given something else
 * if both sides would read the same. */
static bool accuse(struct tg_blame *blame, const struct input *input, enum tg_guilt guilt)
{
    if ((guilt == TG_GUILT_REWIRED || guilt == TG_GUILT_VIEW) && looks_same(blame, input))
        guilt = TG_GUILT_UNCLEAR;
    bool is_sure = blame->is_whole || guilt == TG_GUILT_SCALAR || guilt == TG_GUILT_VIEW ||
                   (guilt == TG_GUILT_GIVEN && is_only_read(blame, input));
    if (!is_sure && (tg_blame_want_before(blame, input->task, TG_DISAGREES) ||
                     tg_blame_want_before(blame, input->task, TG_AGREEMENT_UNKNOWN)))
        return true;
    return tg_blame_accuse(blame, is_sure ? guilt : TG_GUILT_UNCLEAR, input->task, input->pair,
                           TG_NONE);
}

/* Bytes that no recorded task wrote, of the same tensor on both sides. They came from outside, unless
 * a task before this one may have written them, and its outputs were not recorded. */
static bool explain_outside(struct tg_blame *blame, const struct input *input)
{
    if (!is_only_read(blame, input) &&
        tg_blame_want_before(blame, input->task, TG_AGREEMENT_UNKNOWN))
        return true;
    return accuse(blame, input, TG_GUILT_GIVEN);
}

/* True if both runs have the same tasks, and every other task left the same bits in all its outputs. */
static bool all_others_agree(const struct tg_blame *blame, uint32_t task)
{
    const struct tg_match *match = &blame->diff->match;
    for (uint32_t i = 0; i < match->n_tasks; i++)
        if (i != task && blame->task[i].output != TG_AGREES)
            return false;
    return match->only_a == 0 && match->only_b == 0;
}

/* Without addresses only the edges say where an input came from; and without edges, that no task can
 * have written what differs. */
static bool explain_by_edges(struct tg_blame *blame, const struct input *input)
{
    if (tg_blame_want_before(blame, input->task, TG_DISAGREES) ||
        tg_blame_want_before(blame, input->task, TG_AGREEMENT_UNKNOWN))
        return true;
    if (blame->before.first[blame->before.n_tasks] > 0 || all_others_agree(blame, input->task))
        return accuse(blame, input, TG_GUILT_GIVEN);
    blame->has_dead_end = true;
    return true;
}

/* --- the two runs gave it different things ---------------------------------------------------- */

/* True if these bytes changed since the last record of them, although no task wrote them in
 * between. */
static bool has_changed(const struct tg_blame *blame, int side, uint64_t record)
{
    const struct tg_recording *recording = blame->side[side].tasks->recording;
    const struct tg_flow *flow = blame->side[side].flow;
    const struct tg_flow_event *event = tg_blame_event(blame, side, record);
    struct tg_entry now, before;
    if (!event || event->seen == TG_NO_EVENT || !event->is_unchanged)
        return false;
    return tg_recording_get(recording, record, &now) &&
           tg_recording_get(recording, flow->event[event->seen].record, &before) &&
           (now.record.flags & before.record.flags & TG_RECORD_HASHED) &&
           now.record.hash != before.record.hash;
}

/* True if a task wrote into the storage that the input lies in, on that side. */
static bool is_at_home(const struct tg_blame *blame, const struct input *input, uint64_t writer,
                       int side)
{
    struct tg_entry entry;
    return tg_blame_get(blame, writer, side, &entry) &&
           entry.record.data_ptr == input->entry[side].record.data_ptr;
}

/* True if the input is a part of the same tensor in both runs: of the same tensor of the case, or of
 * one into which the same task writes. */
static bool is_same_tensor(const struct tg_blame *blame, const struct input *input)
{
    if (input->object[0] || input->object[1])
        return tg_object_is(input->object[0], input->object[1]);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < input->list[side].count; i++)
            if (is_at_home(blame, input, input->list[side].pair[i], 0) &&
                is_at_home(blame, input, input->list[side].pair[i], 1))
                return true;
    return false;
}

/* What was done to a task that wrote the input: it was given another part of that tensor to write, or
 * another tensor. INHERITED if neither. */
static enum tg_guilt guilt_of_writer(const struct tg_blame *blame, const struct input *input,
                                     uint64_t writer, const struct tg_entry entry[2])
{
    if (entry[0].record.data_ptr == 0 || entry[1].record.data_ptr == 0)
        return TG_GUILT_INHERITED;
    bool is_common = is_listed(&input->list[0], writer) && is_listed(&input->list[1], writer);
    bool in_a = is_at_home(blame, input, writer, 0), in_b = is_at_home(blame, input, writer, 1);
    if (!is_common && in_a != in_b)
        return TG_GUILT_REWIRED;
    if (!is_common && !in_a)
        return TG_GUILT_INHERITED;
    return tg_view_place(&entry[0].record, &input->entry[0].record) ==
                   tg_view_place(&entry[1].record, &input->entry[1].record)
               ? TG_GUILT_INHERITED
               : TG_GUILT_VIEW;
}

/* What a writer left in a part of the input's storage, as a number. Without a hash nothing says that
 * another task left the same. */
static uint64_t left_at(const struct tg_record *writer, const struct tg_record *reader,
                        uint64_t pair)
{
    uint64_t content = writer->flags & TG_RECORD_HASHED ? writer->hash : pair;
    return tg_mix(tg_view_place(writer, reader), content);
}

/* What the writers of the input left on one side, sorted. */
static bool list_left(const struct tg_blame *blame, const struct input *input, int side,
                      struct list *left)
{
    const struct list *list = &input->list[side];
    struct tg_entry entry;
    *left = (struct list){.room = list->count};
    left->pair = malloc((list->count + 1) * sizeof *left->pair);
    if (!left->pair)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (tg_blame_get(blame, list->pair[i], side, &entry))
            left->pair[left->count++] =
                left_at(&entry.record, &input->entry[side].record, list->pair[i]);
    qsort(left->pair, left->count, sizeof *left->pair, compare_pairs);
    return true;
}

/* True if another task left in each run what this one left there in the other run: tasks that change
 * places with each other make no difference. */
static bool is_replaced(const struct input *input, uint64_t writer, const struct tg_entry entry[2],
                        const struct list left[2])
{
    return is_listed(&left[1], left_at(&entry[0].record, &input->entry[0].record, writer)) &&
           is_listed(&left[0], left_at(&entry[1].record, &input->entry[1].record, writer));
}

static bool accuse_writer(struct tg_blame *blame, const struct input *input, uint64_t writer,
                          const struct list left[2], bool *found)
{
    struct tg_entry entry[2];
    if (!tg_blame_get(blame, writer, 0, &entry[0]) || !tg_blame_get(blame, writer, 1, &entry[1]))
        return true;
    enum tg_guilt guilt = guilt_of_writer(blame, input, writer, entry);
    if (guilt == TG_GUILT_INHERITED ||
        (guilt == TG_GUILT_VIEW && is_replaced(input, writer, entry, left)))
        return true;
    *found = true;
    return tg_blame_accuse(blame, guilt, blame->diff->match.pair[writer].task, writer, TG_NONE);
}

/* If the reader got the same part of the same tensor, a task may have written its result elsewhere. */
static bool accuse_writers(struct tg_blame *blame, const struct input *input, bool *found)
{
    struct list left[2] = {{0}, {0}};
    bool good = list_left(blame, input, 0, &left[0]) && list_left(blame, input, 1, &left[1]);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; good && i < input->list[side].count; i++) {
            uint64_t writer = input->list[side].pair[i];
            bool is_done = side == 1 && is_listed(&input->list[0], writer);
            if (writer != TG_NONE && !is_done &&
                blame->diff->match.pair[writer].task != input->task)
                good = accuse_writer(blame, input, writer, left, found);
        }
    free(left[0].pair);
    free(left[1].pair);
    return good;
}

/* True if the input or what its writers wrote is a view of so many pieces that others may have
 * written it. */
static bool is_rough(const struct tg_blame *blame, const struct input *input)
{
    struct tg_entry entry;
    for (int side = 0; side < 2; side++) {
        if (tg_record_is_rough(&input->entry[side].record))
            return true;
        for (size_t i = 0; i < input->list[side].count; i++)
            if (tg_blame_get(blame, input->list[side].pair[i], side, &entry) &&
                tg_record_is_rough(&entry.record))
                return true;
    }
    return false;
}

static bool explain_wiring(struct tg_blame *blame, const struct input *input)
{
    if (!has_same_view(blame, input) && (is_same_tensor(blame, input) || has_common_source(input)))
        return accuse(blame, input, TG_GUILT_VIEW);
    if (input->sources[0].count[UNKNOWN] + input->sources[1].count[UNKNOWN] > 0) {
        want_sources(blame, input->task, input->pair, 0, 1 << UNKNOWN);
        want_sources(blame, input->task, input->pair, 1, 1 << UNKNOWN);
        return true;
    }
    return accuse(blame, input, TG_GUILT_REWIRED);
}

/* Both runs gave it the same part of the same tensor, from the same tasks. */
static bool explain_content(struct tg_blame *blame, const struct input *input)
{
    const struct sources *a = &input->sources[0], *b = &input->sources[1];
    unsigned kinds = 0;
    if (a->count[OTHER] + b->count[OTHER] > 0)
        kinds = 1 << OTHER;
    else if (a->count[UNKNOWN] + b->count[UNKNOWN] > 0)
        kinds = 1 << UNKNOWN;
    if (kinds) {
        want_sources(blame, input->task, input->pair, 0, kinds);
        want_sources(blame, input->task, input->pair, 1, kinds);
        return true;
    }
    if (a->is_outside)
        return explain_outside(blame, input);
    return accuse(blame, input, TG_GUILT_CHANGED);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Wants the writers that explain the input by themselves. Returns true if there are any. */
static bool inherit(struct tg_blame *blame, const struct input *input)
{
    const struct sources *a = &input->sources[0], *b = &input->sources[1];
    unsigned kinds = input->is_beyond ? 1 << BEYOND : 1 << BEYOND | 1 << OTHER;
    uint64_t count = a->count[BEYOND] + b->count[BEYOND];
    if (!input->is_beyond)
        count += a->count[OTHER] + b->count[OTHER];
    if (count + a->count[LONE] > 0) {
        want_sources(blame, input->task, input->pair, 0, kinds | 1 << LONE);
        want_sources(blame, input->task, input->pair, 1, kinds);
        return true;
    }
    if (b->count[LONE] > 0)
        want_sources(blame, input->task, input->pair, 1, 1 << LONE);
    return b->count[LONE] > 0;
}

/* True if all outputs of a task are known to agree, and there is one. */
static bool has_equal_outputs(const struct tg_blame *blame, uint32_t task)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++)
        if (tg_blame_stage(blame, i) == TG_AFTER_COMPLETION &&
            tg_diff_agreement(blame->diff, i) != TG_AGREES)
            return false;
    return blame->task[task].output == TG_AGREES;
}

/* True if a task that changes memory of the runtime found there what nobody had written for it, in at
 * least one run, and left the same in all its outputs all the same. Such memory has what an earlier
 * tensor left there, so its content and its last writer mean nothing. */
static bool is_unused(const struct tg_blame *blame, const struct input *input)
{
    bool is_fresh = input->list[0].count == 0 || input->list[1].count == 0;
    return is_fresh && input->sources[0].is_known && input->sources[1].is_known &&
           !input->object[0] && !input->object[1] && input->entry[0].record.role == TG_INOUT &&
           input->entry[1].record.role == TG_INOUT && blame->is_whole &&
           has_equal_outputs(blame, input->task);
}

static bool explain_tensor(struct tg_blame *blame, struct input *input)
{
    struct tg_blame_race race;
    bool found;
    if (inherit(blame, input))
        return true;
    if (is_unused(blame, input)) {
        blame->has_unused = true;
        return true;
    }
    if (!input->sources[0].is_known && !input->sources[1].is_known)
        return explain_by_edges(blame, input);
    if (is_rough(blame, input) && tg_blame_want_before(blame, input->task, TG_DISAGREES))
        return true;
    if (!tg_blame_input_race(blame, input->task, input->pair, &race, &found))
        return false;
    if (found)
        return tg_blame_accuse(blame, TG_GUILT_UNORDERED, race.task, input->pair, race.other);
    if (has_changed(blame, 0, tg_blame_record(blame, input->pair, 0)) ||
        has_changed(blame, 1, tg_blame_record(blame, input->pair, 1)))
        return accuse(blame, input, TG_GUILT_CHANGED);
    bool is_same_view = has_same_view(blame, input);
    found = false;
    if (is_same_view && (has_same_sources(input) || is_same_tensor(blame, input)) &&
        !accuse_writers(blame, input, &found))
        return false;
    if (found)
        return true;
    return has_same_sources(input) && is_same_view ? explain_content(blame, input)
                                                   : explain_wiring(blame, input);
}

/* In A every task that wrote it agrees, but in B others wrote it. */
static bool explain_turn(struct tg_blame *blame, struct input *input)
{
    const struct sources *a = &input->sources[0], *b = &input->sources[1];
    uint64_t off = a->count[OTHER] + a->count[BEYOND] + a->count[UNKNOWN] + a->count[LONE];
    if (off > 0 || b->count[OTHER] + b->count[BEYOND] == 0 || has_same_sources(input))
        return true;
    return accuse(blame, input, TG_GUILT_REWIRED);
}

static bool explain_with(struct tg_blame *blame, uint32_t task, uint64_t pair,
                         bool (*explain)(struct tg_blame *blame, struct input *input))
{
    struct input input = {
        .task = task, .pair = pair, .is_beyond = tg_diff_is_beyond(blame->diff, pair)};
    bool good = true;
    for (int side = 0; side < 2; side++)
        if (!tg_blame_get(blame, pair, side, &input.entry[side]))
            return true; /* it disagrees, so both are there; the file changed meanwhile */
    if (input.entry[0].record.kind == TG_KIND_SCALAR ||
        input.entry[1].record.kind == TG_KIND_SCALAR)
        return accuse(blame, &input, TG_GUILT_SCALAR);
    for (int side = 0; side < 2 && good; side++) {
        input.sources[side] = sources_of(blame, task, pair, side);
        input.object[side] = tg_blame_object(blame, side, &input.entry[side].record);
        good = list_sources(blame, pair, side, &input.list[side]);
    }
    good = good && explain(blame, &input);
    free(input.list[0].pair);
    free(input.list[1].pair);
    return good;
}

bool tg_blame_explain(struct tg_blame *blame, uint32_t task, uint64_t pair)
{
    return explain_with(blame, task, pair, explain_tensor);
}

bool tg_blame_explain_turn(struct tg_blame *blame, uint32_t task, uint64_t pair)
{
    return explain_with(blame, task, pair, explain_turn);
}
