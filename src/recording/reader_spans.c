/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which record is where. Without damage a journal has one span: its arguments. Each slot that holds
 * no readable argument ends a span, and so does an entry of the manifest that stands in for one.
 */
#include "base/grow.h"
#include "recording/reader.h"

static bool add_span(struct tg_recording *recording, uint64_t from, uint64_t count,
                     bool in_manifest)
{
    struct tg_span *last = recording->n_spans ? &recording->span[recording->n_spans - 1] : NULL;
    if (count == 0)
        return true;
    uint64_t first = recording->info.records;
    recording->info.records += count;
    if (last && last->in_manifest == in_manifest && last->from + (first - last->first) == from)
        return true; /* it goes on */
    if (!tg_grow(&recording->span, &recording->span_room, recording->n_spans + 1,
                 sizeof *recording->span))
        return false;
    recording->span[recording->n_spans++] = (struct tg_span){first, from, in_manifest};
    return true;
}

/* Adds the slots from *at to `end`, and the entries that belong between them. */
static bool add_slots(struct tg_recording *recording, uint64_t *at, uint64_t end, uint64_t *entry)
{
    for (; *entry < recording->n_entries; (*entry)++) {
        uint64_t place = recording->entry[*entry].after + 1; /* TG_NONE + 1 is 0 */
        if (place > end)
            break;
        if (place > *at) {
            if (!add_span(recording, *at, place - *at, false))
                return false;
            *at = place;
        }
        if (!add_span(recording, *entry, 1, true))
            return false;
    }
    if (*at < end && !add_span(recording, *at, end - *at, false))
        return false;
    *at = end;
    return true;
}

bool tg_spans_make(struct tg_recording *recording)
{
    uint64_t at = 0, entry = 0;
    recording->n_spans = 0;
    recording->info.records = 0;
    for (size_t i = 0; i < recording->n_marks; i++) {
        if (!add_slots(recording, &at, recording->mark[i].slot, &entry))
            return false;
        at = recording->mark[i].slot + recording->mark[i].count;
    }
    if (recording->info.from_journal)
        return add_slots(recording, &at, recording->slots, &entry);
    return add_span(recording, 0, recording->n_entries, true);
}

const struct tg_span *tg_span_of(const struct tg_recording *recording, uint64_t index)
{
    size_t low = 0, high = recording->n_spans;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (recording->span[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    return &recording->span[low];
}

void tg_recording_let_go(const struct tg_recording *recording, uint64_t index, size_t *from)
{
    enum { OFTEN = 1 << 16 };
    const bool is_end = index >= recording->info.records;
    if (!recording->info.from_journal || (index % OFTEN != 0 && !is_end))
        return;
    const struct tg_span *span = is_end ? NULL : tg_span_of(recording, index);
    size_t at = recording->map.size;
    if (span)
        at = span->in_manifest ? *from
                               : tg_journal_place(recording, span->from + (index - span->first));
    if (at <= *from)
        return;
    tg_map_let_go_part(&recording->map, *from, at);
    *from = at;
}
