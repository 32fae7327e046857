/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One device against many: the parts of tg_ranks_compare.
 *
 *   ranks_shard_parse.c   the text of a shard
 *   ranks_shard_block.c   the tensors that a shard selects on one side
 *   ranks_shard_place.c   where the parts lie in the whole
 *   ranks_shard_sum.c     parts that are summands of the whole
 *   ranks_shard.c         a whole tensor beside its parts
 */
#ifndef TG_ANALYSIS_RANKS_SHARD_H
#define TG_ANALYSIS_RANKS_SHARD_H

#include <taskglass/ranks_answers.h>

/* A tensor in memory: packed, row-major. */
struct tg_block {
    bool is_there;         /* false: it could not be had, and its values mean nothing */
    struct tg_entry entry; /* its record; of joined tiles, that of the first */
    unsigned dtype;
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    int64_t elements;
    const void *bytes; /* in the recording, or `own` */
    void *own;
};

/* The records of one side that a shard selects, one for each task, by task. */
struct tg_selected {
    const struct tg_recording *recording;
    uint64_t *record;
    size_t count, room;
    bool is_joined;
    /* Joined: the tensor that each record is a tile of, and how many they are. */
    uint32_t *tensor;
    uint32_t n_tensors;
};

/* `side`: 0 the one device, 1 a rank. Free it in every case. NO_MEMORY. */
tg_status tg_selected_open(const struct tg_recording *recording, const struct tg_shard *shard,
                           int side, struct tg_selected *selected, struct tg_error *error);
void tg_selected_close(struct tg_selected *selected);
/* How many tensors they are. */
size_t tg_selected_count(const struct tg_selected *selected);
/* Tensor `number`. Returns NULL, or why it cannot be had. Free it in every case. */
const char *tg_selected_get(const struct tg_selected *selected, size_t number,
                            struct tg_block *block);
/* The task whose value the tensor has in this element: of joined tiles, the last that covers it. TG_TASK_NONE
 * if there is none. */
uint64_t tg_selected_task(const struct tg_selected *selected, size_t number, int64_t element);
void tg_block_free(struct tg_block *block);

/* Where the blocks of a whole tensor lie in it. */
struct tg_shard_places {
    const struct tg_shard *shard;
    int64_t *start[TG_MAX_DIMS]; /* of each block, and the end of the last; NULL: not split */
};

/* `part` has that of each rank. Returns NULL, or why no part can be placed. Free it in every case. */
const char *tg_shard_places_find(const struct tg_shard *shard, const struct tg_block *whole,
                                 const struct tg_block *part, uint32_t n_ranks,
                                 struct tg_shard_places *places);
/* Where the part of a rank begins in the whole. Returns NULL, or why it does not fit there. */
const char *tg_shard_places_get(const struct tg_shard_places *places, const struct tg_block *whole,
                                const struct tg_block *part, uint32_t rank, int64_t *offset);
void tg_shard_places_free(struct tg_shard_places *places);

/* Reduces the parts of all ranks, which have the type and the shape of the whole, as tg_all_reduce does:
 * integers wrap around. Returns a packed tensor that the caller frees; NULL if memory ran out. */
void *tg_parts_reduce(const struct tg_block *part, uint32_t n_ranks, uint32_t operation);

#endif
