/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching tasks by what they are.
 *
 *   match_alike.c   a look at two runs that are the same in the same order
 *   match_side.c    what matching knows about the tasks of one recording
 *   match_flow.c    pairs tasks by their place in the dataflow, from the surest sign to the weakest
 *   match_fuse.c    tasks that the other side has fused into one
 *   match_tile.c    tasks that do the work of others in tiles of another size
 *   match_args.c    pairs what two tasks of different kernels write
 *   match_order.c   pairs tasks by id, by position or by alignment, for want of anything better
 */
#ifndef TG_ANALYSIS_MATCH_FLOW_H
#define TG_ANALYSIS_MATCH_FLOW_H

#include "analysis/source.h"

/* The first row that is a task: row 0 may be the input of the orchestration, which is always matched
 * with its like. */
static inline uint32_t tg_tasks_first(const struct tg_tasks *tasks)
{
    return tasks->n_rows > 0 && tasks->row[0].id == TG_TASK_NONE ? 1 : 0;
}

/* Sets *is_alike if the tasks of both sides are the same in the same order, and *is_known if more
 * than their kernels says so. Returns false if memory ran out. */
bool tg_match_alike(const struct tg_sources *a, const struct tg_sources *b, bool *is_alike,
                    bool *is_known);

/* Sets the partners of A's rows by their ids, or by the order of the kernels. Returns false if memory
 * ran out. */
bool tg_match_by_order(const struct tg_tasks *a, const struct tg_tasks *b, uint32_t *partner,
                       const char **how);

/* --- one side --------------------------------------------------------------------------------- */

/* Another task, seen from one: the argument of this one, and of the other. */
struct tg_side_edge {
    uint32_t row;
    uint16_t here, there;
};

/* Row i has the edges edge[first[i] .. first[i + 1]). */
struct tg_side_edges {
    uint64_t *first;
    struct tg_side_edge *edge;
};

/* One record as far as matching looks at it. */
struct tg_side_slot {
    uint64_t view;    /* shape, and which part of which object; a scalar: its value */
    uint64_t content; /* 0: not known */
    uint64_t object;  /* tg_object_key; 0: not known, or memory of the runtime */
    bool is_covered;  /* both recordings have records of this kind */
};

struct tg_side {
    struct tg_sources *sources;
    const struct tg_tasks *tasks;
    uint32_t first, n_rows;
    struct tg_side_slot *slot; /* one for each ref of `tasks` */
    struct tg_side_edges before, after;
    /* For each row: what its records say, and hashes of the parts that the levels of matching use. */
    struct tg_side_row *row;
    /* The row of A that the row is or corresponds to; TG_NO_ROW: not matched yet. Parts of a fusion
     * have that of their last task. */
    uint32_t *canon;
    uint32_t *order;                      /* rows, each after those that it reads from */
    uint32_t *waits_before, *waits_after; /* neighbours that are not matched yet */
};

struct tg_side_row {
    uint64_t kernel;  /* of the name's text, so that the result does not depend on addresses */
    uint64_t own;     /* scalars and views */
    uint64_t views;   /* views without the scalars */
    uint64_t objects; /* the objects that it reads and writes */
    uint64_t scalars; /* 0: it has none */
    uint64_t source;  /* contents of inputs that come from an unknown place; 0: there are none */
    uint64_t content; /* contents of all inputs; 0: not known */
    uint64_t deep;    /* everything that depends on it */
    uint64_t results; /* contents of its outputs; 0: not known */
    bool has_records, reads_objects, writes_objects;
    uint8_t depth;     /* private to match_flow.c */
    bool is_exclusive; /* the other side does not have its kernel */
    bool is_call;      /* of communication: its scalars say which call of other ranks it is for */
    /* Fused, or part of a fusion: its arguments have other numbers on the other side. */
    bool is_group;
};

static inline uint32_t tg_side_n_before(const struct tg_side *side, uint32_t row)
{
    return (uint32_t)(side->before.first[row + 1] - side->before.first[row]);
}

static inline uint32_t tg_side_n_after(const struct tg_side *side, uint32_t row)
{
    return (uint32_t)(side->after.first[row + 1] - side->after.first[row]);
}

/* --- both sides ------------------------------------------------------------------------------- */

/* A task that stands for several of one side. */
struct tg_fusion {
    uint32_t a, b;                                             /* the last row of each side */
    uint64_t first_part_a, n_parts_a, first_part_b, n_parts_b; /* in `part`; without a and b */
};

/* The outputs of one side by kernel, storage and argument; private to match_tile.c. */
struct tg_tiles {
    struct tg_tile *tile; /* NULL: not listed yet */
    size_t count;
};

struct tg_matching {
    struct tg_side a, b;
    struct tg_tiles tiles[2];
    bool has_flow;     /* edges are who wrote what, by address */
    bool has_deps;     /* edges are those of deps.json */
    bool is_blind;     /* nothing but the kernels and their order tells tasks apart */
    uint32_t *partner; /* of A's rows: rows of B */
    uint32_t matched;
    uint32_t by_flow; /* how many of them before the order decided what was left over */
    struct tg_fusion *fusion;
    size_t n_fusions, fusion_room;
    uint32_t *part;
    size_t n_parts, part_room;
    struct tg_flow_work *work; /* private to match_flow.c */
};

/* Follows the data of both sides if both recordings can tell, and prepares the rows. Returns false if
 * memory ran out; the caller closes it all the same. */
bool tg_matching_open(struct tg_sources *a, struct tg_sources *b, struct tg_matching *matching);
void tg_matching_close(struct tg_matching *matching);

/* Pairs rows that are left over, of the same kernel, by id or else in the order of the kernels, unless
 * their neighbours say that they are different tasks. Returns false if memory ran out. */
bool tg_match_left_over(struct tg_matching *matching);

/* Pairs all rows that have a place in the dataflow, and then what is left over. Returns false if memory ran out. */
bool tg_match_by_flow(struct tg_matching *matching);

/* Makes the two rows partners, and tells their neighbours. Returns false if memory ran out. */
bool tg_matching_pair(struct tg_matching *matching, uint32_t a, uint32_t b);
/* A row that is part of a fusion with A's row `canon`. */
bool tg_matching_join(struct tg_matching *matching, bool is_b, uint32_t row, uint32_t canon);

/* True if both rows (with `is_strict`: one of them) have neighbours that are matched, but none of them
 * with neighbours of the other row. */
bool tg_matching_contradicts(const struct tg_matching *matching, uint32_t a, uint32_t b,
                             bool is_strict);

/* More tasks than this are not taken for one that was fused. */
enum { TG_MOST_PARTS = 64 };

/* What shows that several tasks were fused into one. They always read the same all together. */
enum tg_fusion_sign {
    TG_FUSION_EQUAL,      /* their results are the same */
    TG_FUSION_BY_READERS, /* the same tasks read their results, or they are the same part of an object */
    TG_FUSION_BY_INPUTS /* nothing else, but only one side has the kernel that they are fused into */
};
/* A key for that sign; 0 if the row cannot have it. Returns false if memory ran out. */
bool tg_fusion_key(const struct tg_side *side, uint32_t row, enum tg_fusion_sign sign,
                   uint64_t *key);
/* Pairs the two rows, which have the same key, if the tasks that they end read the same. Returns false
 * if memory ran out. */
bool tg_fusion_try(struct tg_matching *matching, uint32_t a, uint32_t b, enum tg_fusion_sign sign,
                   bool *is_paired);

/* The records that the tasks of one side of a fusion read from elsewhere and leave to others, each
 * with a key that is the same on both sides. */
struct tg_fusion_end {
    uint64_t key;
    uint64_t record;
    bool is_output;
};
bool tg_fusion_ends(const struct tg_matching *matching, const struct tg_fusion *fusion, bool is_b,
                    struct tg_fusion_end **end, size_t *count);

/* Sets partner[i] to the record of B that the i-th output of A's row is, by what it is; TG_NONE if there
 * is none. Returns false if the recordings do not show that: then the numbers of the arguments do. */
enum { TG_MOST_OUTPUTS = 64 };
bool tg_match_outputs(const struct tg_matching *matching, uint32_t a, uint32_t b,
                      uint64_t partner[TG_MOST_OUTPUTS]);

/* Sets *is_retiled if the two rows write parts of different sizes of a tensor, and the tasks of their kernel
 * that have no partner yet are not as many on both sides, but write the same parts all together. Returns
 * false if memory ran out. */
bool tg_match_tiles(struct tg_matching *matching, uint32_t a, uint32_t b, bool *is_retiled);
void tg_tiles_free(struct tg_tiles *tiles);

#endif
