/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go. A task that writes the right values to another part of a tensor of the case makes
 * a wrong result, although every recorded value is right. Two tasks that only changed places with
 * each other make none, so what counts is what each part of the tensor gets, from whichever task.
 */
#ifndef TG_ANALYSIS_PLACE_H
#define TG_ANALYSIS_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/recording.h>

struct tg_diff;
struct tg_sources;

/* What the tasks of one side write to tensors of the case, as sorted numbers. */
struct tg_places {
    bool is_made;
    uint64_t *place;   /* parts of tensors */
    uint64_t *content; /* parts of tensors, with what was written there */
    size_t count;
    uint64_t looks; /* records that tg_place_is_tiled has looked at */
};
void tg_places_free(struct tg_places *places);

/* True if both outputs are parts of tensors of the case, but not the same part, and the two sides do
 * not write the same to these parts after all. */
bool tg_place_differs(struct tg_diff *diff, const struct tg_entry *a, const struct tg_entry *b);

/* True if the record is a part of a tensor of the case. */
bool tg_place_is_given(const struct tg_diff *diff, int side, const struct tg_entry *entry);
/* True if the other side writes to the same part of a tensor; with `same`, the same content. */
bool tg_place_is_written(struct tg_diff *diff, int side, const struct tg_entry *entry, bool same);
/* The same of a part that the other side may write in tiles of another size. Returns false too if that
 * is not known. */
bool tg_place_is_tiled(struct tg_diff *diff, int side, const struct tg_entry *entry, bool same);

#endif
