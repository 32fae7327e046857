/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/steps.h"

#include <stdlib.h>

bool tg_steps_start(struct tg_steps *steps, uint64_t begin, uint64_t end, uint64_t changes)
{
    uint64_t span = end > begin ? end - begin : 0;
    *steps = (struct tg_steps){.begin = begin, .is_divided = changes > TG_STEPS};
    steps->room = steps->is_divided ? TG_STEPS : (size_t)changes;
    steps->width = span / TG_STEPS + 1;
    steps->step = calloc(steps->room + 1, sizeof *steps->step);
    if (!steps->step)
        return false;
    if (steps->is_divided) {
        /* The last nanosecond of each step: all its changes have happened then. */
        for (size_t i = 0; i < TG_STEPS; i++) {
            uint64_t last = begin + (i + 1) * steps->width - 1;
            steps->step[i].time = last < end ? last : end;
        }
        steps->count = TG_STEPS;
    }
    return true;
}

/* Changes may come from a file that is not trusted: a sum that does not fit wraps around. */
static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

void tg_steps_add(struct tg_steps *steps, uint64_t time, int64_t change)
{
    if (steps->is_divided) {
        uint64_t at = time > steps->begin ? (time - steps->begin) / steps->width : 0;
        struct tg_step *step = &steps->step[at < TG_STEPS ? at : TG_STEPS - 1];
        step->change = sum(step->change, change);
    } else if (steps->count < steps->room) {
        steps->step[steps->count++] = (struct tg_step){time, change};
    }
}

static int by_time(const void *a, const void *b)
{
    uint64_t left = ((const struct tg_step *)a)->time, right = ((const struct tg_step *)b)->time;
    return left < right ? -1 : left > right;
}

void tg_steps_finish(struct tg_steps *steps)
{
    size_t kept = 0;
    int64_t value = 0, shown = 0;
    if (!steps->is_divided && steps->count > 1)
        qsort(steps->step, steps->count, sizeof *steps->step, by_time);
    for (size_t i = 0; i < steps->count; i++) {
        value = sum(value, steps->step[i].change);
        bool is_last_of_time =
            i + 1 == steps->count || steps->step[i + 1].time != steps->step[i].time;
        if (!is_last_of_time || value == shown)
            continue;
        shown = value;
        steps->step[kept++] = (struct tg_step){steps->step[i].time, value};
    }
    steps->count = kept;
}

void tg_steps_free(struct tg_steps *steps)
{
    free(steps->step);
    *steps = (struct tg_steps){0};
}
