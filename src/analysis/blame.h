/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tasks that began a difference. Blame works on bits: a task whose inputs all agree and
 * whose outputs do not has introduced a difference, however small it is there. From every argument
 * beyond the tolerance the search goes back along the data that disagree, to the tasks where that
 * begins.
 *
 *   blame.c          the public functions: suspects and their order
 *   blame_graph.c    which task comes before which
 *   blame_tasks.c    what the pairs say about each task
 *   blame_trace.c    going back from what is wrong to where it began
 *   blame_lone.c     tasks that only one side ran
 *   blame_read.c     values that the orchestration read back
 *   blame_source.c   why an input disagrees
 *   blame_stale.c    outputs that keep a part of what was in their memory before
 *   blame_view.c     whether two records are the same part of the same tensor
 *   blame_race.c     tasks that use the same bytes without an order between them
 *   blame_path.c     the way from a suspect to a wrong result
 */
#ifndef TG_ANALYSIS_BLAME_H
#define TG_ANALYSIS_BLAME_H

#include "analysis/deps_graph.h"
#include "analysis/deps_order.h"
#include "analysis/diff.h"

/* What the pairs say about one task of the match. A task that only one side has has no pairs. */
struct tg_blame_task {
    uint8_t input, output; /* enum tg_agreement of all inputs, of all outputs */
    bool beyond_in, beyond_out;
    bool is_wanted; /* what it did is part of the explanation */
    uint64_t pair;  /* the output that disagrees most; TG_NONE */
};

/* The events that write the bytes of an event next, after it. */
struct tg_blame_later {
    uint64_t *first; /* of each event, and one more; NULL until it is asked for */
    uint32_t *writer;
    uint64_t n_writers;
    size_t room;
    uint64_t *begin, *end; /* of each row: the times of its first and last record; 0: unknown */
};

/* One of the two recordings. */
struct tg_blame_side {
    const struct tg_tasks *tasks;
    const struct tg_sources *sources; /* with its flow */
    const struct tg_flow *flow;
    uint64_t *pair_of; /* the pair of each record; TG_NONE: of a task that only this side has */
    uint32_t *task_of; /* the number of each row in the match; parts have that of their fusion */
    struct tg_blame_later later;
    struct tg_order order; /* of its deps.json, if it has one */
};

/* The first value that the orchestration read differently, because of the task that wrote it. */
struct tg_blame_read {
    uint32_t task; /* TG_NO_ROW: there is none */
    uint64_t time[2];
};

struct tg_blame {
    struct tg_diff *diff;
    struct tg_blame_side side[2];
    struct tg_blame_task *task; /* one for each task of the match */
    uint16_t *place;            /* stage << 8 | argument, of each pair */
    const char *graph;
    struct tg_links before; /* tasks by their number in the match */
    uint32_t *rank, *depth;
    struct tg_blame_read read;
    bool is_whole;        /* both recordings have every write, so that bytes have no other writer */
    bool is_given_scalar; /* the orchestration was given another scalar */
    uint32_t *todo;       /* wanted tasks that are not traced yet */
    uint32_t n_todo;
    uint32_t *next; /* next task on the path to a wrong result; TG_NO_ROW at its end */
    struct tg_suspect *suspect;
    uint64_t n_suspects;
    size_t room;
    uint64_t inherited, wrong;
    bool has_dead_end; /* an input disagrees, and nothing says where it came from */
    bool has_unused;   /* memory that nobody had written differs, and no output shows it */
    struct tg_suspect_step *step; /* of the suspect that was asked for last */
    uint64_t *path;
};

static inline unsigned tg_blame_stage(const struct tg_blame *blame, uint64_t pair)
{
    return blame->place[pair] >> 8;
}

/* The record of a pair on one side: 0 for A, 1 for B. */
static inline uint64_t tg_blame_record(const struct tg_blame *blame, uint64_t pair, int side)
{
    const struct tg_matched_pair *matched = &blame->diff->match.pair[pair];
    return side == 0 ? matched->a : matched->b;
}

static inline uint32_t tg_blame_row(const struct tg_blame *blame, uint32_t task, int side)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    return side == 0 ? matched->a : matched->b;
}

static inline bool tg_blame_is_lone(const struct tg_blame *blame, uint32_t task)
{
    return tg_blame_row(blame, task, 0) == TG_NO_ROW || tg_blame_row(blame, task, 1) == TG_NO_ROW;
}

bool tg_blame_get(const struct tg_blame *blame, uint64_t pair, int side, struct tg_entry *entry);
/* The event of a record; NULL if the record has no address, so that nothing is known of its bytes. */
const struct tg_flow_event *tg_blame_event(const struct tg_blame *blame, int side, uint64_t record);

/* Each returns false if memory ran out. */
bool tg_blame_open_sides(struct tg_blame *blame);
bool tg_blame_read_graph(struct tg_blame *blame);
bool tg_blame_read_tasks(struct tg_blame *blame);
bool tg_blame_trace(struct tg_blame *blame);
bool tg_blame_find_ways(struct tg_blame *blame);
void tg_blame_close_side(struct tg_blame_side *side);

/* True for a pair that is the output of one of two kernels: the other one has nothing like it. */
bool tg_blame_is_own_output(const struct tg_blame *blame, uint64_t pair);

/* Makes a task part of the explanation. */
void tg_blame_want(struct tg_blame *blame, uint32_t task);
/* Accuses a task; `pair` shows why. False if memory ran out. */
bool tg_blame_accuse(struct tg_blame *blame, enum tg_guilt guilt, uint32_t task, uint64_t pair,
                     uint64_t other);

/* Explains a task that only one side ran: wants the tasks that it got a difference from, or accuses
 * it. Returns false if memory ran out. */
bool tg_blame_trace_lone(struct tg_blame *blame, uint32_t task);
/* Wants the tasks of one side whose results the other side lacks. Returns false if memory ran
 * out. */
bool tg_blame_want_lone(struct tg_blame *blame);

/* Accuses scalars that the orchestration was given. Returns false if memory ran out. */
bool tg_blame_find_given(struct tg_blame *blame);
void tg_blame_find_read(struct tg_blame *blame);
/* True if what was submitted as this task follows from a value that was given or read
 * differently. */
bool tg_blame_follows_read(const struct tg_blame *blame, enum tg_guilt guilt, uint32_t task);

/* --- inputs ----------------------------------------------------------------------------------- */

/* Finds out why an input of a task that both sides have disagrees: wants the tasks that it got it
 * from, or accuses. Returns false if memory ran out. */
bool tg_blame_explain(struct tg_blame *blame, uint32_t task, uint64_t pair);
/* The same if two tasks that run in turns explain each other: accuses a task that in A reads what
 * agrees, and in B what does not. Returns false if memory ran out. */
bool tg_blame_explain_turn(struct tg_blame *blame, uint32_t task, uint64_t pair);
/* For an input that nothing is known about: wants the tasks that may have given it a difference.
 * Returns true if there are any. */
bool tg_blame_doubt(struct tg_blame *blame, uint32_t task, uint64_t pair);
/* Wants the tasks that come directly before a task and whose outputs are as `agreement` says.
 * Returns true if there are any. */
bool tg_blame_want_before(struct tg_blame *blame, uint32_t task, enum tg_agreement agreement);

/* Calls `take` for each task that wrote bytes of a record, until it returns false. `pair` is that of
 * the output; TG_NONE for a task that only one side has. */
typedef bool (*tg_writer_fn)(void *context, uint32_t task, uint64_t pair, uint32_t event);
void tg_blame_writers(const struct tg_blame *blame, int side, uint64_t record, tg_writer_fn take,
                      void *context);

/* --- views ------------------------------------------------------------------------------------ */

/* True if both are the same elements of their storages, in the same order. */
bool tg_view_is_same(const struct tg_record *a, const struct tg_record *b);
/* A number for the elements of a view and their order, counted from the first element of another view
 * of the same storage. It means the same in both runs. */
uint64_t tg_view_place(const struct tg_record *view, const struct tg_record *from);
/* The tensor of the case that a record is a part of; NULL: of none. */
const struct tg_object *tg_blame_object(const struct tg_blame *blame, int side,
                                        const struct tg_record *record);
/* True if both are the same tensor of the case, or neither is one. */
bool tg_objects_agree(const struct tg_object *a, const struct tg_object *b);

/* --- order ------------------------------------------------------------------------------------ */

/* Two tasks that use common bytes in no order. */
struct tg_blame_race {
    uint32_t task, other; /* in the match: `task` should have waited for `other` */
};
/* Sets *found if an input of a task disagrees because of a race; if so, *race says between which
 * tasks. Returns false if memory ran out. */
bool tg_blame_input_race(struct tg_blame *blame, uint32_t task, uint64_t pair,
                         struct tg_blame_race *race, bool *found);
/* The same for a task whose inputs agree and whose outputs do not. */
bool tg_blame_task_race(struct tg_blame *blame, uint32_t task, struct tg_blame_race *race,
                        bool *found);
/* True if the outputs of a task disagree only where it left what was in the memory before: wants the
 * tasks that wrote that. */
bool tg_blame_is_left_over(struct tg_blame *blame, uint32_t task);
/* True if deps.json of this side has a way from one row to another. */
bool tg_blame_waits(struct tg_blame *blame, int side, uint32_t before, uint32_t after);

#endif
