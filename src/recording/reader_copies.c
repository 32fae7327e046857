/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that a journal has twice, byte for byte, as a copying program or a file system may leave
 * them. The device numbers the records of a stream, so it never makes two that are equal. The host does
 * not number its own: of those, only as many are copies as the summary counts fewer records.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "recording/reader.h"

struct place {
    uint32_t check;
    uint64_t slot;
};

static int by_check(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->check != y->check)
        return x->check < y->check ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static int by_slot(const void *a, const void *b)
{
    const struct tg_mark *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static struct place *list_places(const struct tg_recording *recording)
{
    struct place *place = calloc((size_t)recording->info.records + 1, sizeof *place);
    for (uint64_t i = 0; place && i < recording->info.records; i++) {
        const struct tg_span *span = tg_span_of(recording, i);
        place[i].slot = span->from + (i - span->first);
        place[i].check = tg_recording_at(recording, i)->check;
    }
    if (place)
        qsort(place, (size_t)recording->info.records, sizeof *place, by_check);
    return place;
}

static bool is_copy(const struct tg_recording *recording, const struct place *place)
{
    struct tg_record record, before;
    if (place[-1].check != place->check)
        return false;
    tg_journal_record(recording, place->slot, &record);
    tg_journal_record(recording, place[-1].slot, &before);
    bool numbered = record.stream != UINT16_MAX || recording->info.complete;
    return numbered && memcmp(&record, &before, sizeof record) == 0;
}

/* How many copies there can be. */
static uint64_t most_copies(const struct tg_recording *recording)
{
    const struct tg_recording_info *info = &recording->info;
    uint64_t there = info->records + info->damaged;
    if (!info->complete)
        return info->records;
    return there > info->summary.recorded ? there - info->summary.recorded : 0;
}

bool tg_journal_mark_copies(struct tg_recording *recording)
{
    uint64_t most = most_copies(recording), records = recording->info.records;
    size_t room = recording->n_marks, before = recording->n_marks;
    if (most == 0)
        return true;
    struct place *place = list_places(recording);
    bool good = place != NULL;
    for (uint64_t i = 1; good && i < records && recording->n_marks - before < most; i++) {
        if (!is_copy(recording, &place[i]))
            continue;
        good = tg_grow(&recording->mark, &room, recording->n_marks + 1, sizeof *recording->mark);
        if (good)
            recording->mark[recording->n_marks++] =
                (struct tg_mark){.slot = place[i].slot, .count = 1, .kind = TG_MARK_COPY};
    }
    free(place);
    if (recording->n_marks > before)
        qsort(recording->mark, recording->n_marks, sizeof *recording->mark, by_slot);
    return good;
}
