/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a call: actions, and which waits for which. An action moves or combines one segment, so a
 * large call is a pipeline: while one segment is sent, the next is packed or reduced.
 *
 * Bytes are named by their offset in the call's input or output. A received segment is told by the rank
 * it comes from, its step and its piece, which sender and receiver compute in the same way.
 */
#ifndef TG_COMM_PLAN_H
#define TG_COMM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tg_action_kind {
    ACTION_LOAD,  /* packs a segment of the input out of device memory */
    ACTION_STORE, /* writes a segment of the output into device memory */
    ACTION_COPY,  /* input at `from` to output at `offset` */
    ACTION_SEND,  /* from input (of_input), output, or the temporary bytes of action `source` */
    ACTION_RECV,  /* into the output */
    ACTION_REDUCE /* receives into temporary bytes, then combines them with the input at `from` */
};

/* Large contents are cut into segments of at least so many bytes: each costs a message, but few larger ones fit a
 * core's cache until they are combined. */
enum { TG_SEGMENT = 512 << 10 };
/* Reductions that receive at a time, of all calls: what they receive is combined while it is still in the cache. More
 * than one, so that the transport has something to do while one is combined. */
enum { TG_MOST_RECEIVING = 4 };

enum tg_action_state { ACTION_WAITS = 0, ACTION_READY, ACTION_RUNS, ACTION_DONE };

#define TG_NO_ACTION UINT32_MAX

struct tg_action {
    uint8_t kind, state;
    bool of_input; /* SEND */
    bool keeps;    /* REDUCE: the result stays in the temporary bytes; else it goes to the output */
    bool own_first;   /* REDUCE: own ∘ received, else received ∘ own */
    bool with_output; /* REDUCE: own are the output's bytes at `offset`, not the input's */
    bool has_come;    /* RECV, REDUCE: its message is there */
    uint32_t peer, step, piece;
    uint32_t source; /* SEND */
    uint32_t left;   /* actions that it still waits for */
    uint32_t edges;  /* first of those that wait for it */
    uint32_t same;   /* next with the same place in the table of receives */
    uint64_t offset, from, size;
    uint64_t message;
    unsigned char *temporary;
};

struct tg_edge {
    uint32_t to, next;
};

struct tg_plan {
    struct tg_action *action;
    size_t count, room;
    struct tg_edge *edge;
    size_t n_edges, edge_room;
    uint32_t *receive; /* table of receives */
    uint32_t receive_mask;
    size_t left; /* actions that are not done */
    bool failed; /* memory ran out */
};

/* Adds an action; returns its number. */
uint32_t tg_plan_add(struct tg_plan *plan, struct tg_action action);
/* `action` starts after `before` is done. Either may be TG_NO_ACTION. */
void tg_plan_after(struct tg_plan *plan, uint32_t action, uint32_t before);
/* The plan is complete. False if memory ran out. */
bool tg_plan_finish(struct tg_plan *plan);
/* The receive of that segment; TG_NO_ACTION if there is none. */
uint32_t tg_plan_find(const struct tg_plan *plan, uint32_t peer, uint32_t step, uint32_t piece);
void tg_plan_free(struct tg_plan *plan);

#endif
