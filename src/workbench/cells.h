/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of a tile: the least, the most and the mean of the elements that each stands for, and which kinds of
 * numbers are among them. sample.h says which elements are looked at.
 */
#ifndef TG_WORKBENCH_CELLS_H
#define TG_WORKBENCH_CELLS_H

#include "workbench/answer.h"
#include "workbench/elements.h"
#include "workbench/plane.h"

enum tg_cell_kind {
    TG_CELL_NAN = 1,
    TG_CELL_INFINITE = 2, /* of either sign */
    TG_CELL_ZERO = 4,
    TG_CELL_DENORMAL = 8,
    TG_CELL_NEGATIVE_INFINITE = 16
};

struct tg_cell {
    double least, most; /* of the finite elements */
    long double sum;
    uint64_t finite, looked_at;
    uint8_t kinds;
    bool has_nonzero;
};

/* Where the numbers of a tile come from. */
struct tg_cell_source {
    /* Reads `count` numbers, at most TG_BLOCK: those of every `step`-th element from `first` on. True if one of them
     * is NaN or infinite. */
    bool (*read)(void *context, uint64_t first, uint64_t step, int count, double *value);
    /* The arrays that it reads, for hints to the system. */
    const struct tg_elements *array[2];
    void *context;
    double normal; /* smaller magnitudes are denormal; 0: there are none */
};

/* Answers with the columns and the header of a tile. NO_MEMORY. */
tg_status tg_cells_answer(struct tg_answer *answer, const struct tg_plane *plane,
                          const struct tg_tile *tile, const struct tg_cell_source *source,
                          struct tg_error *error);

#endif
