/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which elements of a tile are looked at.
 *
 * A tile of a high level may stand for gigabytes. A screen of tiles then looks at some of the elements only: at whole
 * lines of each cell, in the direction in which elements lie in memory, so that the disk reads long pieces; where even
 * one line is too long, at one run of it in each cell. Which lines and runs depends on the place alone, so a tile
 * always looks the same; and it is irregular, so that a pattern in the tensor does not hide between them.
 */
#ifndef TG_WORKBENCH_SAMPLE_H
#define TG_WORKBENCH_SAMPLE_H

#include "workbench/plane.h"

/* What one screen may cost. It has `tiles` tiles, or as many as the plane if that has fewer. The disk gives whole
 * pages, which count as far as no other tile of the screen needs them. A cell always looks at one element at least. */
struct tg_sample_limits {
    uint64_t tiles, bytes, elements;
};
extern const struct tg_sample_limits tg_sample_usual;

/* One of the two axes of a tile. */
struct tg_sample_axis {
    uint64_t begin, extent; /* elements */
    uint64_t step;          /* between neighbours, in elements of the tensor */
    uint64_t cells;
};

struct tg_sample {
    uint64_t first; /* the element of the plane at row 0, column 0 */
    unsigned bits;  /* of one element */
    unsigned level;
    bool is_upright;                     /* lines go along columns of the plane */
    struct tg_sample_axis along, across; /* elements along a line are the closer ones in memory */
    uint64_t lines;                      /* of each cell that are looked at */
    uint64_t run;                        /* elements of each cell in such a line */
};

/* `tile` has elements. At level 0 a sample is everything, whatever the limits. */
void tg_sample_choose(const struct tg_plane *plane, const struct tg_tile *tile, unsigned bits,
                      const struct tg_sample_limits *limits, struct tg_sample *sample);

/* Elements of a line that are looked at: `count` from `element` on, every along.step-th. */
struct tg_sample_piece {
    uint64_t across;  /* the cells' index across the lines */
    uint64_t begin;   /* the first one's place in the line, in elements of the tile */
    uint64_t element; /* its number */
    uint64_t count;
};
typedef void (*tg_sample_fn)(void *context, const struct tg_sample_piece *piece);
/* Visits all pieces. No element comes twice. */
void tg_sample_walk(const struct tg_sample *sample, tg_sample_fn visit, void *context);

/* The place of a cell among those of the tile, row by row. */
static inline uint64_t tg_sample_cell(const struct tg_sample *sample, uint64_t across,
                                      uint64_t along)
{
    return sample->is_upright ? along * sample->across.cells + across
                              : across * sample->along.cells + along;
}

#endif
