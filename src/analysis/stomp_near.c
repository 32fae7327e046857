/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorded views of a task say about bytes that changed: kernels that leave their outputs mostly do
 * so by a little. */
#include <string.h>

#include "analysis/deps_memory.h"
#include "analysis/stomp.h"

/* One output of a task, run by run. */
struct view {
    const struct tg_stomp_bytes *whole, *bytes;
    bool meets_whole, meets; /* the memory of the finding, and bytes that changed */
    uint64_t lo, hi;         /* from the first byte of the view to its last */
    uint64_t distance, nearest;
    bool is_behind;
};

static bool take_run(void *context, uint64_t lo, uint64_t hi)
{
    struct view *view = context;
    bool is_behind;
    uint64_t distance = tg_stomp_bytes_distance(view->bytes, lo, hi, &is_behind);
    view->meets_whole = view->meets_whole || tg_stomp_bytes_meet(view->whole, lo, hi);
    view->meets = view->meets || tg_stomp_bytes_meet(view->bytes, lo, hi);
    view->lo = lo < view->lo ? lo : view->lo;
    view->hi = hi > view->hi ? hi : view->hi;
    if (distance < view->distance) {
        view->distance = distance;
        view->is_behind = is_behind;
        view->nearest = is_behind ? hi + distance : lo - distance - 1;
    }
    return true;
}

static enum tg_find_place place_of(const struct view *view)
{
    if (view->meets)
        return TG_FIND_PLACE_INSIDE;
    if (view->nearest >= view->lo && view->nearest < view->hi)
        return TG_FIND_PLACE_GAP;
    return view->is_behind ? TG_FIND_PLACE_BEHIND : TG_FIND_PLACE_BEFORE;
}

static void take_record(const struct tg_record *record, struct view view,
                        struct tg_find_suspect *suspect)
{
    (void)tg_view_runs(record, take_run, &view);
    if (view.lo >= view.hi) /* it takes no memory, or its address is not known */
        return;
    if (record->role == TG_IN) {
        suspect->is_given = suspect->is_given || view.meets;
        return;
    }
    suspect->writes = suspect->writes || view.meets_whole;
    if (suspect->has_place && suspect->distance <= view.distance &&
        !(view.meets && suspect->place != TG_FIND_PLACE_INSIDE))
        return;
    suspect->has_place = true;
    suspect->argument = record->arg_index;
    suspect->place = place_of(&view);
    suspect->distance = view.meets ? 0 : view.distance;
}

void tg_stomp_near(const struct tg_find *find, uint32_t row, const struct tg_stomp_bytes *whole,
                   const struct tg_stomp_bytes *bytes, struct tg_find_suspect *suspect)
{
    const struct tg_task_row *task = &find->tasks.row[row];
    struct tg_entry entry;
    if (bytes->count == 0)
        return;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        if (tg_record_ref_stage(&find->tasks.ref[i]) != TG_STAGE_ORCHESTRATION &&
            tg_recording_get(find->recording, find->tasks.ref[i].index, &entry) &&
            entry.record.kind == TG_KIND_TENSOR)
            take_record(
                &entry.record,
                (struct view){
                    .whole = whole, .bytes = bytes, .lo = UINT64_MAX, .distance = UINT64_MAX},
                suspect);
}

/* --- the values ------------------------------------------------------------------------------- */

/* A record whose view is one run of bytes, with its whole payload. */
struct image {
    uint64_t lo, hi;
    const char *bytes;
};

static bool image_of(const struct tg_find *find, uint64_t record, struct tg_entry *entry,
                     struct image *image)
{
    struct tg_array array;
    if (!tg_recording_get(find->recording, record, entry) ||
        !tg_view_is_run(&entry->record, &image->lo, &image->hi) ||
        !tg_array_of(find->recording, entry, &array) || array.cut ||
        array.size != image->hi - image->lo)
        return false;
    image->bytes = array.bytes;
    return true;
}

static bool has_values(const struct image *wrote, const struct image *saw,
                       const struct tg_stomp_bytes *bytes)
{
    for (size_t i = 0; i < bytes->count; i++) {
        const struct tg_stomp_range *range = &bytes->range[i];
        if (range->lo < wrote->lo || range->hi > wrote->hi || range->lo < saw->lo ||
            range->hi > saw->hi ||
            memcmp(wrote->bytes + (range->lo - wrote->lo), saw->bytes + (range->lo - saw->lo),
                   (size_t)(range->hi - range->lo)) != 0)
            return false;
    }
    return true;
}

bool tg_stomp_wrote_values(const struct tg_find *find, uint32_t row, uint64_t record,
                           const struct tg_stomp_bytes *bytes)
{
    const struct tg_task_row *task = &find->tasks.row[row];
    struct tg_entry entry, after;
    struct image saw, wrote;
    if (!bytes->is_exact || bytes->count == 0 || !image_of(find, record, &entry, &saw))
        return false;
    for (uint64_t i = task->first; i < task->first + task->count; i++)
        if (tg_record_ref_stage(&find->tasks.ref[i]) == TG_AFTER_COMPLETION &&
            image_of(find, find->tasks.ref[i].index, &after, &wrote) &&
            !(after.record.flags & TG_RECORD_PARTIAL) && has_values(&wrote, &saw, bytes))
            return true;
    return false;
}
