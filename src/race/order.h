/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of tasks. Nodes are tasks, and hubs: a hub stands for a moment at which the orchestrator knew some
 * tasks to be complete. It comes after these tasks and before all tasks that were submitted later, so that what
 * the orchestrator saw needs no edge for each pair. Nodes are numbered so that all edges lead upwards.
 *
 * Whether one node is before another is asked millions of times. Labels of the nodes answer most questions:
 * depths, intervals of a depth-first search (which are nested if there is a path, and prove one if they are
 * nested along its tree), and 128 landmarks, of which each node knows those before and those behind it. The
 * rest is searched from both ends, by turns, through nodes for which the labels leave it open.
 */
#ifndef TG_RACE_ORDER_H
#define TG_RACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct tg_race_edge {
    uint32_t before, after;
};

/* A gate is a moment at which the orchestrator let tasks go that it had held back. It comes after what was
 * known by then, before the tasks that it opens for, and before all that were submitted later. */
struct tg_race_gate_edge {
    uint32_t task, gate;
    bool opens; /* the task comes after the gate, otherwise before it */
};

struct tg_race_gates {
    uint32_t *at; /* tasks that were submitted before each; never less than of the one before */
    uint32_t count;
    struct tg_race_gate_edge *edge;
    uint64_t n_edges, n_open; /* n_open of them open */
};

enum { TG_RACE_LANDMARKS = 2 }; /* words of 64 */

struct tg_race_label {
    uint32_t depth;          /* nodes before it on its longest path */
    uint32_t pre, post, low; /* of the depth-first search along the edges, from the end */
    uint64_t from[TG_RACE_LANDMARKS], to[TG_RACE_LANDMARKS]; /* landmarks before and behind it */
};

struct tg_race_order {
    uint32_t n_tasks, n_nodes;
    uint32_t *node;  /* of each task */
    uint32_t *task;  /* of each node; UINT32_MAX: a hub or a gate */
    uint64_t *first; /* the nodes before node i are before[first[i] .. first[i + 1]) */
    uint32_t *before;
    uint64_t *next; /* the same edges from the other end: behind[next[i] .. next[i + 1]) */
    uint32_t *behind;
    bool is_straight; /* tasks are numbered in the order of submission */
    struct tg_race_label *label;
    uint32_t *mark, *stack, *queue; /* of the searches */
    uint32_t search;
    uint64_t work; /* edges that all searches have looked at */
};

enum tg_race_made { TG_RACE_MADE, TG_RACE_CYCLE, TG_RACE_NO_MEMORY };

/* `seen` are pairs of a task and the task before whose submission the orchestrator knew it to be complete;
 * sorts them. Free the order also if it was not made. */
enum tg_race_made tg_race_order_make(uint32_t n_tasks, const struct tg_race_edge *edge,
                                     uint64_t n_edges, struct tg_race_edge *seen, uint64_t n_seen,
                                     const struct tg_race_gates *gates,
                                     struct tg_race_order *order);
void tg_race_order_free(struct tg_race_order *order);

/* True if node `before` is before node `after`. */
bool tg_race_order_is_before(struct tg_race_order *order, uint32_t before, uint32_t after);
/* Lists all nodes before a node; false if there are more than `most`. The list is valid until the next
 * question, and the nodes in it are those with mark[node] == search. */
bool tg_race_order_list(struct tg_race_order *order, uint32_t node, uint32_t most,
                        const uint32_t **list, uint32_t *count);

#endif
