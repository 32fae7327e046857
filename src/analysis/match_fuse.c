/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that the other side has fused into one. Say A computes t = x * y and z = t + w in two tasks, and
 * B computes z from x, y and w in one. Both have z, which the same tasks read, and both start from x,
 * y and w. The tasks that make t and z in A are then one task with the one in B.
 *
 * A group is a task that nobody has matched, and the unmatched tasks whose results only the group
 * reads. Two groups correspond if they leave the same and read the same.
 */
#include <stdlib.h>

#include "analysis/match_flow.h"
#include "analysis/deps_memory.h"
#include "analysis/match_mix.h"
#include "base/grow.h"
#include "recording/reader.h"

enum { MOST_ENDS = 1024 };

static uint64_t key_of_edge(const struct tg_side *side, const struct tg_side_edge *edge)
{
    uint16_t place = side->row[edge->row].is_group ? UINT16_MAX : edge->there;
    return tg_mix(tg_mix(11, side->canon[edge->row]), place);
}

/* What one output leaves to others: the tasks that read it, or a part of an object. 0 if neither is
 * known. */
static uint64_t key_of_output(const struct tg_side *side, uint32_t row, uint64_t ref)
{
    const struct tg_side_slot *slot = &side->slot[ref];
    unsigned place = side->tasks->ref[ref].place & 0xff;
    uint64_t sum = slot->object ? slot->view : 0;
    for (uint64_t k = side->after.first[row]; k < side->after.first[row + 1]; k++) {
        const struct tg_side_edge *edge = &side->after.edge[k];
        if (edge->here == place && side->canon[edge->row] != TG_NO_ROW)
            sum += key_of_edge(side, edge);
    }
    return sum;
}

static bool is_output(const struct tg_side *side, uint64_t ref)
{
    return tg_record_ref_stage(&side->tasks->ref[ref]) == TG_AFTER_COMPLETION &&
           side->slot[ref].is_covered;
}

static bool is_tensor_input(const struct tg_side *side, uint64_t ref)
{
    const struct tg_record_ref *at = &side->tasks->ref[ref];
    return tg_record_ref_stage(at) == TG_BEFORE_DISPATCH && side->slot[ref].is_covered &&
           tg_recording_at(side->tasks->recording, at->index)->kind == TG_KIND_TENSOR;
}

/* --- a group ------------------------------------------------------------------------------------ */

struct group {
    uint32_t row[TG_MOST_PARTS]; /* the last task first */
    uint32_t count;
};

static bool is_in(const struct group *group, uint32_t row)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->row[i] == row)
            return true;
    return false;
}

/* True if nothing of what the task writes to the objects of the run stays there: the last task of the
 * group overwrites it. */
static bool leaves_nothing(const struct tg_side *side, uint32_t last, uint32_t row)
{
    const struct tg_task_row *task = &side->tasks->row[row], *end = &side->tasks->row[last];
    for (uint64_t i = task->first; i < task->first + task->count; i++) {
        bool is_overwritten = !is_output(side, i) || side->slot[i].object == 0;
        for (uint64_t k = end->first; k < end->first + end->count && !is_overwritten; k++)
            is_overwritten = is_output(side, k) && side->slot[k].view == side->slot[i].view;
        if (!is_overwritten)
            return false;
    }
    return true;
}

/* True if only the group reads what the task writes. */
static bool is_inner(const struct tg_side *side, const struct group *group, uint32_t row)
{
    if (side->canon[row] != TG_NO_ROW || tg_side_n_after(side, row) == 0)
        return false;
    for (uint64_t k = side->after.first[row]; k < side->after.first[row + 1]; k++)
        if (!is_in(group, side->after.edge[k].row))
            return false;
    return leaves_nothing(side, group->row[0], row);
}

/* A task may become inner only after all its readers have, so the search goes on until nothing is
 * new. */
static void collect(const struct tg_side *side, uint32_t last, struct group *group)
{
    bool is_new = true;
    *group = (struct group){.row = {last}, .count = 1};
    while (is_new) {
        is_new = false;
        for (uint32_t i = 0; i < group->count; i++) {
            uint64_t end = side->before.first[group->row[i] + 1];
            for (uint64_t k = side->before.first[group->row[i]]; k < end; k++) {
                uint32_t row = side->before.edge[k].row;
                if (group->count < TG_MOST_PARTS && !is_in(group, row) &&
                    is_inner(side, group, row)) {
                    group->row[group->count++] = row;
                    is_new = true;
                }
            }
        }
    }
}

/* --- what a group reads ------------------------------------------------------------------------- */

struct ends {
    struct tg_fusion_end *end;
    size_t count, room;
};

static bool add_end(struct ends *ends, uint64_t key, uint64_t record, bool is_output)
{
    if (!tg_grow(&ends->end, &ends->room, ends->count + 1, sizeof *ends->end))
        return false;
    ends->end[ends->count++] = (struct tg_fusion_end){key, record, is_output};
    return true;
}

enum origin { INSIDE, ELSEWHERE, UNKNOWN };

/* True if no recorded task wrote some part of it. */
static bool comes_from_outside(const struct tg_side *side, uint64_t ref)
{
    const struct tg_flow *flow = &side->sources->flow;
    uint32_t event = flow->of_record[side->tasks->ref[ref].index];
    return event == TG_NO_EVENT || flow->event[event].is_outside;
}

/* Where an input comes from, as a key. */
static enum origin origin_of(const struct tg_side *side, const struct group *group, uint32_t row,
                             uint64_t ref, uint64_t *key)
{
    const struct tg_side_slot *slot = &side->slot[ref];
    unsigned place = side->tasks->ref[ref].place & 0xff;
    uint32_t inside = 0, outside = 0;
    *key = 0;
    for (uint64_t k = side->before.first[row]; k < side->before.first[row + 1]; k++) {
        const struct tg_side_edge *edge = &side->before.edge[k];
        if (edge->here != place)
            continue;
        if (is_in(group, edge->row)) {
            inside++;
            continue;
        }
        if (side->canon[edge->row] == TG_NO_ROW)
            return UNKNOWN;
        outside++;
        *key += key_of_edge(side, edge);
    }
    if (inside > 0)
        return outside > 0 || comes_from_outside(side, ref) ? UNKNOWN : INSIDE;
    if (outside == 0 && slot->object == 0) {
        *key = tg_mix(13, slot->content);
        return slot->content ? ELSEWHERE : UNKNOWN;
    }
    *key = tg_mix(*key, slot->view);
    return ELSEWHERE;
}

/* *is_known is false if an input comes from a task that is not matched. */
static bool find_inputs(const struct tg_side *side, const struct group *group, struct ends *ends,
                        bool *is_known)
{
    *is_known = true;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct tg_task_row *task = &side->tasks->row[group->row[i]];
        for (uint64_t k = task->first; k < task->first + task->count; k++) {
            uint64_t key;
            if (!is_tensor_input(side, k))
                continue;
            enum origin origin = origin_of(side, group, group->row[i], k, &key);
            *is_known = *is_known && origin != UNKNOWN && ends->count < MOST_ENDS;
            if (origin == ELSEWHERE && *is_known &&
                !add_end(ends, key, side->tasks->ref[k].index, false))
                return false;
        }
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct tg_fusion_end *left = a, *right = b;
    if (left->is_output != right->is_output)
        return left->is_output ? 1 : -1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

/* A tensor that several tasks of the group read counts once. */
static void sort_ends(struct ends *ends)
{
    size_t kept = 0;
    if (ends->count > 1)
        qsort(ends->end, ends->count, sizeof *ends->end, by_key);
    for (size_t i = 0; i < ends->count; i++)
        if (kept == 0 || ends->end[i].key != ends->end[kept - 1].key ||
            ends->end[i].is_output != ends->end[kept - 1].is_output)
            ends->end[kept++] = ends->end[i];
    ends->count = kept;
}

/* --- the parts of memory that a group reads ------------------------------------------------------ */

/* One part of an object or of a storage that the group reads, or a task that wrote some of it. Several
 * tasks may read a tensor in tiles that one fused task reads as a whole, so the views say little, and
 * the bytes all together count. */
struct piece {
    uint64_t base;   /* the object's key, or the storage's address */
    uint64_t object; /* 0: memory of the runtime */
    bool is_writer;  /* lo is the writer's number */
    uint64_t lo, hi;
};

struct pieces {
    struct piece *piece;
    size_t count, room;
    struct piece of; /* base and object of what is added now */
    uint64_t origin; /* the address that offsets count from */
    bool no_memory;
};

enum { MOST_PIECES = 1 << 16 };

static bool add_piece(struct pieces *pieces, bool is_writer, uint64_t lo, uint64_t hi)
{
    if (!tg_grow(&pieces->piece, &pieces->room, pieces->count + 1, sizeof *pieces->piece)) {
        pieces->no_memory = true;
        return false;
    }
    pieces->piece[pieces->count++] =
        (struct piece){pieces->of.base, pieces->of.object, is_writer, lo, hi};
    return pieces->count < MOST_PIECES;
}

static bool add_run(void *context, uint64_t lo, uint64_t hi)
{
    struct pieces *pieces = context;
    return add_piece(pieces, false, lo - pieces->origin, hi - pieces->origin);
}

/* Returns false if there are too many pieces, or memory ran out. */
static bool add_input(const struct tg_side *side, uint32_t row, uint64_t ref, struct pieces *pieces)
{
    const struct tg_record *record =
        tg_recording_at(side->tasks->recording, side->tasks->ref[ref].index);
    const struct tg_object *object = tg_sources_object(side->sources, record->data_ptr);
    const struct tg_side_slot *slot = &side->slot[ref];
    unsigned place = side->tasks->ref[ref].place & 0xff;
    uint32_t writers = 0;
    pieces->of = (struct piece){.base = slot->object ? slot->object : record->data_ptr,
                                .object = slot->object};
    pieces->origin = slot->object && object ? object->address : record->data_ptr;
    for (uint64_t k = side->before.first[row]; k < side->before.first[row + 1]; k++) {
        const struct tg_side_edge *edge = &side->before.edge[k];
        if (edge->here != place)
            continue;
        writers++;
        if (!add_piece(pieces, true, side->canon[edge->row], 0))
            return false;
    }
    /* What comes from an unknown place is known by its content alone. */
    if (writers == 0 && slot->object == 0)
        return add_piece(pieces, false, slot->content, slot->content);
    return tg_view_runs(record, add_run, pieces);
}

static int by_place(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;
    if (left->base != right->base)
        return left->base < right->base ? -1 : 1;
    if (left->is_writer != right->is_writer)
        return left->is_writer ? 1 : -1;
    if (left->lo != right->lo)
        return left->lo < right->lo ? -1 : 1;
    return (left->hi > right->hi) - (left->hi < right->hi);
}

/* A number for all pieces of one base, joined where they touch; *at goes to the next base. */
static uint64_t key_of_base(const struct pieces *pieces, size_t *at)
{
    const struct piece *first = &pieces->piece[*at], *last = pieces->piece + pieces->count;
    const struct piece *piece = first;
    uint64_t key = tg_mix(19, first->object);
    while (piece < last && piece->base == first->base) {
        struct piece joined = *piece++;
        while (piece < last && piece->base == joined.base && piece->is_writer == joined.is_writer &&
               (joined.is_writer ? piece->lo == joined.lo : piece->lo <= joined.hi)) {
            joined.hi = piece->hi > joined.hi ? piece->hi : joined.hi;
            piece++;
        }
        key = tg_mix(tg_mix(tg_mix(key, joined.is_writer), joined.lo), joined.hi);
    }
    *at = (size_t)(piece - pieces->piece);
    return key;
}

/* A number for everything that the group reads from elsewhere; 0 if that is nothing, or not known.
 * Returns false if memory ran out. */
static bool key_of_inputs(const struct tg_side *side, const struct group *group, uint64_t *key)
{
    struct pieces pieces = {0};
    bool is_known = true;
    uint64_t sum = 0, unused;
    for (uint32_t i = 0; i < group->count && is_known; i++) {
        const struct tg_task_row *task = &side->tasks->row[group->row[i]];
        for (uint64_t k = task->first; k < task->first + task->count && is_known; k++) {
            if (!is_tensor_input(side, k))
                continue;
            enum origin origin = origin_of(side, group, group->row[i], k, &unused);
            is_known = origin == INSIDE ||
                       (origin == ELSEWHERE && add_input(side, group->row[i], k, &pieces));
        }
    }
    if (is_known && pieces.count > 1)
        qsort(pieces.piece, pieces.count, sizeof *pieces.piece, by_place);
    for (size_t at = 0; is_known && at < pieces.count;)
        sum += key_of_base(&pieces, &at);
    *key = is_known ? sum : 0;
    free(pieces.piece);
    return !pieces.no_memory;
}

/* --- fusions ------------------------------------------------------------------------------------ */

static bool add_parts(struct tg_matching *m, const struct group *group, uint64_t *first,
                      uint64_t *count)
{
    if (!tg_grow(&m->part, &m->part_room, m->n_parts + group->count, sizeof *m->part))
        return false;
    *first = m->n_parts;
    for (uint32_t i = 1; i < group->count; i++)
        m->part[m->n_parts++] = group->row[i];
    *count = m->n_parts - *first;
    return true;
}

/* What leaves a row: the tasks that read it, and parts of objects. */
static uint64_t key_of_outputs(const struct tg_side *side, uint32_t row)
{
    const struct tg_task_row *task = &side->tasks->row[row];
    uint64_t sum = 0;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        if (is_output(side, i))
            sum += key_of_output(side, row, i);
    return sum;
}

/* True if somebody uses the output: a task reads it, or it is part of an object. */
static bool is_used(const struct tg_side *side, uint32_t row, uint64_t ref)
{
    unsigned place = side->tasks->ref[ref].place & 0xff;
    if (side->slot[ref].object != 0)
        return true;
    for (uint64_t k = side->after.first[row]; k < side->after.first[row + 1]; k++)
        if (side->after.edge[k].here == place)
            return true;
    return false;
}

/* The outputs that somebody uses: where they are, and with `is_equal` their contents. */
static uint64_t key_of_results(const struct tg_side *side, uint32_t row, bool is_equal)
{
    const struct tg_task_row *task = &side->tasks->row[row];
    uint64_t sum = 0;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        if (is_output(side, i) && is_used(side, row, i))
            sum += tg_mix(side->slot[i].view, is_equal ? side->slot[i].content : 0);
    return sum;
}

/* What the group that ends with this row reads and leaves. */
static bool key_of_group(const struct tg_side *side, uint32_t row, bool is_equal, uint64_t *key)
{
    struct group group;
    uint64_t inputs, results = key_of_results(side, row, is_equal);
    *key = 0;
    if (results == 0)
        return true;
    collect(side, row, &group);
    if (!key_of_inputs(side, &group, &inputs))
        return false;
    *key = inputs ? tg_mix(tg_mix(17, inputs), results) : 0;
    return true;
}

bool tg_fusion_key(const struct tg_side *side, uint32_t row, enum tg_fusion_sign sign,
                   uint64_t *key)
{
    *key = 0;
    if (!side->sources->has_flow)
        return true;
    if (sign != TG_FUSION_BY_READERS)
        return key_of_group(side, row, sign == TG_FUSION_EQUAL, key);
    *key = key_of_outputs(side, row);
    return true;
}

static bool read_the_same(const struct tg_matching *m, const struct group *a, const struct group *b,
                          bool *is_same)
{
    uint64_t of_a, of_b;
    if (!key_of_inputs(&m->a, a, &of_a) || !key_of_inputs(&m->b, b, &of_b))
        return false;
    *is_same = of_a == of_b && of_a != 0;
    return true;
}

static bool fuse(struct tg_matching *m, const struct group *a, const struct group *b)
{
    struct tg_fusion fusion = {.a = a->row[0], .b = b->row[0]};
    if (!tg_grow(&m->fusion, &m->fusion_room, m->n_fusions + 1, sizeof fusion) ||
        !add_parts(m, a, &fusion.first_part_a, &fusion.n_parts_a) ||
        !add_parts(m, b, &fusion.first_part_b, &fusion.n_parts_b))
        return false;
    m->fusion[m->n_fusions++] = fusion;
    m->a.row[fusion.a].is_group = m->b.row[fusion.b].is_group = true;
    bool good = true;
    for (uint32_t i = 1; good && i < a->count; i++)
        good = tg_matching_join(m, false, a->row[i], fusion.a);
    for (uint32_t i = 1; good && i < b->count; i++)
        good = tg_matching_join(m, true, b->row[i], fusion.a);
    return good && tg_matching_pair(m, fusion.a, fusion.b);
}

bool tg_fusion_try(struct tg_matching *matching, uint32_t a, uint32_t b, enum tg_fusion_sign sign,
                   bool *is_paired)
{
    struct group of_a, of_b;
    *is_paired = false;
    /* The same kernel with other results is the same task after one that only one side has. */
    if (sign != TG_FUSION_EQUAL &&
        matching->a.tasks->row[a].kernel == matching->b.tasks->row[b].kernel)
        return true;
    collect(&matching->a, a, &of_a);
    collect(&matching->b, b, &of_b);
    /* Of two groups of several tasks it is not known which are fused into which. */
    if ((of_a.count == 1) == (of_b.count == 1))
        return true;
    const struct tg_side_row *whole = of_a.count == 1 ? &matching->a.row[a] : &matching->b.row[b];
    if (sign == TG_FUSION_BY_INPUTS && !whole->is_exclusive)
        return true;
    if (!read_the_same(matching, &of_a, &of_b, is_paired))
        return false;
    return !*is_paired || fuse(matching, &of_a, &of_b);
}

/* What nobody uses is scratch memory of one side, unless it is all there is. */
static bool find_outputs(const struct tg_side *side, uint32_t row, struct ends *ends)
{
    const struct tg_task_row *task = &side->tasks->row[row];
    bool is_of_use = false;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        is_of_use = is_of_use || (is_output(side, i) && is_used(side, row, i));
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        if (is_output(side, i) && (!is_of_use || is_used(side, row, i)) &&
            !add_end(ends, key_of_output(side, row, i), side->tasks->ref[i].index, true))
            return false;
    return true;
}

bool tg_fusion_ends(const struct tg_matching *matching, const struct tg_fusion *fusion, bool is_b,
                    struct tg_fusion_end **end, size_t *count)
{
    const struct tg_side *side = is_b ? &matching->b : &matching->a;
    uint64_t first = is_b ? fusion->first_part_b : fusion->first_part_a;
    uint64_t parts = is_b ? fusion->n_parts_b : fusion->n_parts_a;
    struct group group = {.row = {is_b ? fusion->b : fusion->a}, .count = 1};
    struct ends ends = {0};
    bool is_known;
    for (uint64_t i = 0; i < parts; i++)
        group.row[group.count++] = matching->part[first + i];
    bool good =
        find_inputs(side, &group, &ends, &is_known) && find_outputs(side, group.row[0], &ends);
    sort_ends(&ends);
    *end = ends.end;
    *count = ends.count;
    return good;
}
