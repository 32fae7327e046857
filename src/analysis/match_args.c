/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs what two tasks of different kernels write. Another kernel may have its outputs in another
 * order, or write something else besides, so the number of an argument says little. Two outputs go
 * together if they are the same part of an object, if the same tasks read them in the same argument,
 * or if they have the same content. Only what is left over goes by its number, and only if nothing
 * says that it is something else.
 */
#include "analysis/match_flow.h"

struct outputs {
    const struct tg_side *side;
    uint32_t row;
    uint64_t ref[TG_MOST_OUTPUTS];
    bool is_paired[TG_MOST_OUTPUTS];
    uint32_t count;
};

static bool list_outputs(const struct tg_side *side, uint32_t row, struct outputs *outputs)
{
    const struct tg_task_row *task = &side->tasks->row[row];
    *outputs = (struct outputs){.side = side, .row = row};
    for (uint64_t i = task->first; i < task->first + task->count; i++) {
        if (tg_record_ref_stage(&side->tasks->ref[i]) != TG_AFTER_COMPLETION)
            continue;
        if (outputs->count == TG_MOST_OUTPUTS || !side->slot[i].is_covered)
            return false;
        outputs->ref[outputs->count++] = i;
    }
    return true;
}

static unsigned place_of(const struct outputs *of, uint32_t i)
{
    return of->side->tasks->ref[of->ref[i]].place;
}

static const struct tg_side_slot *slot_of(const struct outputs *of, uint32_t i)
{
    return &of->side->slot[of->ref[i]];
}

/* True if a task that is matched reads the output of A; with `b`, and its partner reads that of B. */
static bool has_reader(const struct outputs *a, uint32_t i, const struct outputs *b, uint32_t k)
{
    const struct tg_side_edges *of_a = &a->side->after, *of_b = b ? &b->side->after : NULL;
    for (uint64_t x = of_a->first[a->row]; x < of_a->first[a->row + 1]; x++) {
        const struct tg_side_edge *edge = &of_a->edge[x];
        uint32_t canon = a->side->canon[edge->row];
        if (edge->here != (place_of(a, i) & 0xff) || canon == TG_NO_ROW)
            continue;
        if (!b)
            return true;
        for (uint64_t y = of_b->first[b->row]; y < of_b->first[b->row + 1]; y++)
            if (of_b->edge[y].here == (place_of(b, k) & 0xff) &&
                of_b->edge[y].there == edge->there && b->side->canon[of_b->edge[y].row] == canon)
                return true;
    }
    return false;
}

/* What shows that two outputs are the same, from the surest sign to the weakest. */
enum sign { USE, CONTENT, NUMBER, SIGNS };

static bool agree(const struct outputs *a, uint32_t i, const struct outputs *b, uint32_t k,
                  enum sign sign)
{
    const struct tg_side_slot *of_a = slot_of(a, i), *of_b = slot_of(b, k);
    if (sign == USE && (of_a->object || of_b->object))
        return of_a->object == of_b->object && of_a->view == of_b->view;
    if (sign == USE)
        return has_reader(a, i, b, k);
    if (sign == CONTENT)
        return of_a->content != 0 && of_a->content == of_b->content;
    if (place_of(a, i) != place_of(b, k))
        return false;
    /* A task that both sides have reads the one, but not the other. */
    bool is_other =
        !of_a->object && !of_b->object && (has_reader(a, i, NULL, 0) || has_reader(b, k, NULL, 0));
    return !is_other || (a->count == 1 && b->count == 1);
}

/* Outputs of the same number come first, so that equal signs change nothing. */
static void pair_by(struct outputs *a, struct outputs *b, enum sign sign, bool same_number,
                    uint64_t *partner)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && !a->is_paired[i]; k++)
            if (!b->is_paired[k] && (place_of(a, i) == place_of(b, k)) == same_number &&
                agree(a, i, b, k, sign)) {
                a->is_paired[i] = b->is_paired[k] = true;
                partner[i] = b->side->tasks->ref[b->ref[k]].index;
            }
}

bool tg_match_outputs(const struct tg_matching *matching, uint32_t a, uint32_t b,
                      uint64_t partner[TG_MOST_OUTPUTS])
{
    struct outputs of_a, of_b;
    if (!matching->has_flow || !list_outputs(&matching->a, a, &of_a) ||
        !list_outputs(&matching->b, b, &of_b))
        return false;
    for (uint32_t i = 0; i < of_a.count; i++)
        partner[i] = TG_NONE;
    for (int sign = 0; sign < SIGNS; sign++) {
        pair_by(&of_a, &of_b, (enum sign)sign, true, partner);
        pair_by(&of_a, &of_b, (enum sign)sign, false, partner);
    }
    return true;
}
