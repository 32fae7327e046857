/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/extents.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "recording/reader.h"

/* How much of holes is read and written. */
#define HOLES_READ (UINT64_C(16) << 30)
#define HOLES_WRITTEN (UINT64_C(1) << 30)

static int by_position(const void *a, const void *b)
{
    const struct tg_extent *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

/* Most recordings are already written in that order. */
uint64_t tg_extents_sort(struct tg_extent *extent, uint64_t count)
{
    uint64_t kept = 0;
    bool in_order = true;
    for (uint64_t i = 0; i < count; i++) {
        if (extent[i].size == 0)
            continue;
        in_order = in_order && (kept == 0 || by_position(&extent[kept - 1], &extent[i]) < 0);
        extent[kept++] = extent[i];
    }
    if (!in_order)
        qsort(extent, (size_t)kept, sizeof *extent, by_position);
    return kept;
}

/* --- limits -------------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Twice the file's data, of which `holes` may be holes. Asks for holes only if there may be so many. */
static uint64_t limit_with(const struct tg_recording *recording, uint64_t holes)
{
    uint64_t size = recording->payload.size, all = tg_claims_add(size, size);
    if (all > holes) {
        uint64_t data = tg_map_data(&recording->payload);
        uint64_t most = larger(holes, tg_claims_add(data, data));
        all = all < most ? all : most;
    }
    return larger(TG_CLAIMS_SMALL, all);
}

uint64_t tg_recording_claims_limit(const struct tg_recording *recording)
{
    return limit_with(recording, HOLES_READ);
}

uint64_t tg_recording_memory_limit(const struct tg_recording *recording)
{
    return larger(TG_CLAIMS_SMALL, tg_map_data(&recording->payload));
}

uint64_t tg_recording_export_limit(const struct tg_recording *recording)
{
    return limit_with(recording, HOLES_WRITTEN);
}

/* --- records with the flag EXCESS ---------------------------------------------------------------- */

/* What the records claim as they are written, which is at least what they may be given. */
static uint64_t sum_of_claims(const struct tg_recording *recording)
{
    uint64_t sum = recording->claimed;
    for (uint64_t i = 0; i < recording->n_entries; i++)
        sum = tg_claims_add(sum, recording->entry[i].record.stored);
    return sum;
}

static uint64_t list_extents(const struct tg_recording *recording, struct tg_extent *extent)
{
    uint64_t sum = 0;
    struct tg_entry entry;
    for (uint64_t i = 0; i < recording->info.records; i++) {
        if (recording->info.from_journal)
            tg_journal_let_go(recording, i);
        if (!tg_recording_get(recording, i, &entry))
            continue;
        extent[i] = (struct tg_extent){entry.record.position, entry.record.stored, i};
        sum = tg_claims_add(sum, entry.record.stored);
    }
    return sum;
}

static uint64_t holes_of(const struct tg_recording *recording, const struct tg_extent *extent)
{
    size_t begin = (size_t)extent->position;
    return extent->size -
           tg_map_data_part(&recording->payload, begin, begin + (size_t)extent->size);
}

/* Of the extents in order, keeps each that begins behind the last kept one, as long as all kept ones have
 * at most `most` bytes of holes. */
static void mark_excess(struct tg_recording *recording, const struct tg_extent *extent,
                        uint64_t count, uint64_t most)
{
    uint64_t end = 0, all_holes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct tg_extent *e = &extent[i];
        bool is_apart = e->position >= end;
        uint64_t holes = is_apart ? holes_of(recording, e) : 0;
        if (is_apart && holes <= most - all_holes) {
            end = e->position + e->size;
            all_holes += holes;
        } else {
            recording->excess[e->record / 8] |= (unsigned char)(1u << e->record % 8);
            recording->info.excess++;
        }
    }
}

tg_status tg_recording_judge_claims(struct tg_recording *recording, struct tg_error *error)
{
    const uint64_t claims = sum_of_claims(recording), records = recording->info.records;
    if (claims <= TG_CLAIMS_SMALL)
        return TG_OK;
    const uint64_t limit = tg_recording_claims_limit(recording);
    if (claims <= limit)
        return TG_OK;
    struct tg_extent *extent = calloc((size_t)records + 1, sizeof *extent);
    if (!extent)
        return tg_file_no_memory(error);
    bool good = true;
    if (list_extents(recording, extent) > limit) {
        recording->excess = calloc((size_t)records / 8 + 1, 1);
        good = recording->excess != NULL;
        if (good)
            mark_excess(recording, extent, tg_extents_sort(extent, records), HOLES_READ);
    }
    free(extent);
    return good ? TG_OK : tg_file_no_memory(error);
}

tg_status tg_recording_read_holes(struct tg_recording *recording, struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    const uint64_t records = recording->info.records;
    if (!recording->excess)
        return TG_OK;
    struct tg_extent *extent = calloc((size_t)records + 1, sizeof *extent);
    if (!extent)
        return tg_file_no_memory(error);
    (void)list_extents(recording, extent);
    memset(recording->excess, 0, (size_t)records / 8 + 1);
    recording->info.excess = 0;
    mark_excess(recording, extent, tg_extents_sort(extent, records), UINT64_MAX);
    free(extent);
    return TG_OK;
}
