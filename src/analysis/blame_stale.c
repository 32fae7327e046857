/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task may write only a part of an output on purpose. The rest still has what was in the memory
 * before, and if that differs, the output does too, although the task did the same in both runs.
 */
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/tensor.h>

#include "analysis/blame.h"
#include "query/array_pass.h"

/* The values of an output on one side, and of the last record of the same bytes before it. */
struct layer {
    struct tg_array now, before;
};

static bool get_array(const struct tg_tasks *tasks, uint64_t record, struct tg_array *array)
{
    struct tg_entry entry;
    return tg_recording_get(tasks->recording, record, &entry) &&
           tg_array_of(tasks->recording, &entry, array) && !array->cut;
}

static bool get_layer(const struct tg_blame *blame, uint64_t pair, int side, struct layer *layer)
{
    const struct tg_blame_side *of = &blame->side[side];
    uint64_t record = tg_blame_record(blame, pair, side);
    const struct tg_flow_event *event = tg_blame_event(blame, side, record);
    return event && event->seen != TG_NO_EVENT && get_array(of->tasks, record, &layer->now) &&
           get_array(of->tasks, of->flow->event[event->seen].record, &layer->before) &&
           layer->now.dtype == layer->before.dtype && layer->now.elements == layer->before.elements;
}

static void count_read(const struct layer *layer, size_t index)
{
    tg_array_pass(&layer->now, (int64_t)index);
    tg_array_pass(&layer->before, (int64_t)index);
}

/* True if every element that differs has the bits that it had before, on both sides. */
static bool is_left_over(const struct layer *a, const struct layer *b)
{
    unsigned bits = tg_bits_of((unsigned)a->now.dtype);
    size_t size = bits < 8 ? 1 : bits / 8;
    size_t bytes = (size_t)tg_bytes_of((unsigned)a->now.dtype, a->now.elements);
    const char *x = a->now.bytes, *y = b->now.bytes;
    const char *old_x = a->before.bytes, *old_y = b->before.bytes;
    for (size_t i = 0; i + size <= bytes; i += size) {
        count_read(a, i / size);
        count_read(b, i / size);
        if (memcmp(x + i, y + i, size) != 0 &&
            (memcmp(x + i, old_x + i, size) != 0 || memcmp(y + i, old_y + i, size) != 0))
            return false;
    }
    return true;
}

struct search {
    struct tg_blame *blame;
    uint32_t task;
    bool found;
};

static bool take_writer(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct search *search = context;
    (void)event;
    if (task != search->task &&
        (pair == TG_NONE || tg_diff_agreement(search->blame->diff, pair) == TG_DISAGREES)) {
        tg_blame_want(search->blame, task);
        search->found = true;
    }
    return true;
}

bool tg_blame_is_left_over(struct tg_blame *blame, uint32_t task)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    struct search search = {.blame = blame, .task = task};
    struct layer a, b;
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++)
        if (tg_blame_stage(blame, i) == TG_AFTER_COMPLETION &&
            tg_diff_agreement(blame->diff, i) == TG_DISAGREES &&
            (!get_layer(blame, i, 0, &a) || !get_layer(blame, i, 1, &b) ||
             a.now.dtype != b.now.dtype || a.now.elements != b.now.elements ||
             !is_left_over(&a, &b)))
            return false;
    for (uint64_t i = matched->first_pair; i < matched->first_pair + matched->n_pairs; i++)
        if (tg_blame_stage(blame, i) == TG_AFTER_COMPLETION)
            for (int side = 0; side < 2; side++)
                tg_blame_writers(blame, side, tg_blame_record(blame, i, side), take_writer,
                                 &search);
    return search.found;
}
