/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/place.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"

void tg_places_free(struct tg_places *places)
{
    free(places->place);
    free(places->content);
    *places = (struct tg_places){0};
}

static const struct tg_sources *sources_of(const struct tg_diff *diff, int side)
{
    return side == 0 ? &diff->source_a : &diff->source_b;
}

static const struct tg_object *object_of(const struct tg_diff *diff, int side,
                                         const struct tg_entry *entry)
{
    return tg_sources_object(sources_of(diff, side), entry->record.data_ptr);
}

/* --- a part of a tensor as a number ----------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* The name that both sides have, or else the number of the argument. */
static uint64_t mix_object(uint64_t key, const struct tg_object *object)
{
    if (!*object->name)
        return mix(key, object->arg);
    for (const char *at = object->name; *at; at++)
        key = mix(key, (uint64_t)(unsigned char)*at + 1);
    return key;
}

static uint64_t place_of(const struct tg_object *object, const struct tg_record *record)
{
    uint64_t key = mix_object(1, object);
    key = mix(key, record->data_ptr - object->address);
    key = mix(key, (uint64_t)record->start);
    key = mix(key, (uint64_t)record->dtype << 8 | record->ndim);
    for (int i = 0; i < record->ndim; i++) {
        key = mix(key, (uint64_t)record->shape[i]);
        key = mix(key, record->shape[i] > 1 ? (uint64_t)record->strides[i] : 0);
    }
    return key;
}

static uint64_t content_of(uint64_t place, const struct tg_record *record)
{
    return mix(place, record->hash);
}

/* --- all outputs of a side -------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Without memory the list stays empty, and nothing is found to be written twice. */
static const struct tg_places *places_of(struct tg_diff *diff, int side)
{
    struct tg_places *places = &diff->places[side];
    const struct tg_tasks *tasks = side == 0 ? &diff->a : &diff->b;
    struct tg_entry entry;
    if (places->is_made)
        return places;
    places->is_made = true;
    places->place = malloc((size_t)(tasks->n_refs + 1) * sizeof *places->place);
    places->content = malloc((size_t)(tasks->n_refs + 1) * sizeof *places->content);
    for (uint64_t i = 0; places->place && places->content && i < tasks->n_refs; i++) {
        if (tg_record_ref_stage(&tasks->ref[i]) != TG_AFTER_COMPLETION ||
            !tg_recording_get(tasks->recording, tasks->ref[i].index, &entry))
            continue;
        const struct tg_object *object = object_of(diff, side, &entry);
        if (!object)
            continue;
        places->place[places->count] = place_of(object, &entry.record);
        places->content[places->count] = content_of(places->place[places->count], &entry.record);
        places->count++;
    }
    if (places->count > 0) {
        qsort(places->place, places->count, sizeof *places->place, compare_numbers);
        qsort(places->content, places->count, sizeof *places->content, compare_numbers);
    }
    return places;
}

bool tg_place_is_given(const struct tg_diff *diff, int side, const struct tg_entry *entry)
{
    return object_of(diff, side, entry) != NULL;
}

bool tg_place_is_written(struct tg_diff *diff, int side, const struct tg_entry *entry, bool same)
{
    const struct tg_object *object = object_of(diff, side, entry);
    const struct tg_places *places = places_of(diff, 1 - side);
    if (!object)
        return false;
    uint64_t place = place_of(object, &entry->record);
    uint64_t key = same ? content_of(place, &entry->record) : place;
    return bsearch(&key, same ? places->content : places->place, places->count, sizeof key,
                   compare_numbers) != NULL;
}

bool tg_place_differs(struct tg_diff *diff, const struct tg_entry *a, const struct tg_entry *b)
{
    if (a->record.stage != TG_AFTER_COMPLETION || a->record.kind != TG_KIND_TENSOR ||
        !(a->record.flags & b->record.flags & TG_RECORD_HASHED))
        return false;
    const struct tg_object *of_a = object_of(diff, 0, a), *of_b = object_of(diff, 1, b);
    if (!of_a || !of_b || place_of(of_a, &a->record) == place_of(of_b, &b->record))
        return false;
    return !tg_place_is_written(diff, 0, a, true) || !tg_place_is_written(diff, 1, b, true);
}
