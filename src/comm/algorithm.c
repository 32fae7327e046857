/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which actions each kind of call has.
 *
 *   send, receive     a message for each segment
 *   broadcast         small: a binomial tree; large: a chain, along which segments follow each other
 *   all_reduce        small: recursive doubling; large: a ring that first reduces, then gathers
 *   reduce_scatter    the first half of that ring
 *   all_gather        small: everybody to everybody; large: the second half of that ring
 *   all_to_all        everybody to everybody
 *
 * Values are combined in an order that only ranks decide, never time, and each result is computed on one
 * rank and copied, or computed from the same operands in the same order: all ranks get the same bits.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/engine.h"

enum {
    SMALL = 16 << 10,   /* bytes: latency counts, not bandwidth */
    MOST_SEGMENTS = 128 /* of one block, so that a plan stays small */
};

/* Steps of ring and doubling are numbered from 0; these are the others. */
enum { STEP_GATHER = 1 << 16, STEP_FOLD = 2 << 16, STEP_UNFOLD = 3 << 16 };

struct planner {
    struct tg_plan *plan;
    struct tg_call *call;
    uint32_t rank, ranks;
    bool same; /* the output is the input */
};

/* A run of bytes that is cut into segments. */
struct block {
    uint64_t begin, size, segment;
    uint32_t pieces;
};

static struct block block_of(uint64_t begin, uint64_t size)
{
    struct block block = {.begin = begin, .size = size, .segment = TG_SEGMENT};
    while (size / block.segment >= MOST_SEGMENTS)
        block.segment *= 2;
    block.pieces = size == 0 ? 0 : (uint32_t)((size - 1) / block.segment + 1);
    return block;
}

static uint64_t piece_at(struct block block, uint32_t piece)
{
    return block.begin + piece * block.segment;
}

static uint64_t piece_size(struct block block, uint32_t piece)
{
    const uint64_t left = block.size - piece * block.segment;
    return left < block.segment ? left : block.segment;
}

/* --- single actions ------------------------------------------------------------------------- */

/* The action that packs these bytes of the input; none if the input is used in place. */
static uint32_t load(struct planner *p, uint64_t offset, uint64_t size)
{
    struct tg_plan *plan = p->plan;
    if (!p->call->in.is_copy || size == 0)
        return TG_NO_ACTION;
    for (size_t i = plan->count; i-- > 0;)
        if (plan->action[i].kind == ACTION_LOAD && plan->action[i].offset == offset)
            return (uint32_t)i;
    return tg_plan_add(plan,
                       (struct tg_action){.kind = ACTION_LOAD, .offset = offset, .size = size});
}

static void store(struct planner *p, uint64_t offset, uint64_t size, uint32_t after)
{
    if (!p->call->out.is_copy || size == 0)
        return;
    tg_plan_after(
        p->plan,
        tg_plan_add(p->plan,
                    (struct tg_action){.kind = ACTION_STORE, .offset = offset, .size = size}),
        after);
}

static uint32_t send_input(struct planner *p, uint32_t peer, uint32_t step, struct block block,
                           uint32_t piece)
{
    const uint64_t at = piece_at(block, piece), size = piece_size(block, piece);
    const uint32_t loaded = load(p, at, size);
    const uint32_t sent = tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_SEND,
                                                                  .of_input = true,
                                                                  .peer = peer,
                                                                  .step = step,
                                                                  .piece = piece,
                                                                  .source = TG_NO_ACTION,
                                                                  .offset = at,
                                                                  .size = size});
    tg_plan_after(p->plan, sent, loaded);
    return sent;
}

static uint32_t send_output(struct planner *p, uint32_t peer, uint32_t step, struct block block,
                            uint32_t piece, uint32_t after)
{
    const uint32_t sent =
        tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_SEND,
                                                .peer = peer,
                                                .step = step,
                                                .piece = piece,
                                                .source = TG_NO_ACTION,
                                                .offset = piece_at(block, piece),
                                                .size = piece_size(block, piece)});
    tg_plan_after(p->plan, sent, after);
    return sent;
}

static uint32_t receive(struct planner *p, uint32_t peer, uint32_t step, struct block block,
                        uint32_t piece)
{
    return tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_RECV,
                                                   .peer = peer,
                                                   .step = step,
                                                   .piece = piece,
                                                   .offset = piece_at(block, piece),
                                                   .size = piece_size(block, piece)});
}

/* Input to output, unless they are the same bytes. Returns what the output's bytes wait for. */
static uint32_t copy(struct planner *p, uint64_t from, uint64_t to, uint64_t size)
{
    const uint32_t loaded = load(p, from, size);
    if (p->same || size == 0)
        return loaded;
    const uint32_t copied = tg_plan_add(
        p->plan, (struct tg_action){.kind = ACTION_COPY, .from = from, .offset = to, .size = size});
    tg_plan_after(p->plan, copied, loaded);
    return copied;
}

/* --- point to point ------------------------------------------------------------------------- */

/* A message without elements still has to be there. */
static uint32_t pieces_or_one(struct block block)
{
    return block.pieces ? block.pieces : 1;
}

static void plan_send(struct planner *p)
{
    const struct block block = block_of(0, p->call->in.size);
    for (uint32_t i = 0; i < pieces_or_one(block); i++)
        send_input(p, (uint32_t)p->call->asked.peer, 0, block, i);
}

static void plan_receive(struct planner *p)
{
    const struct block block = block_of(0, p->call->out.size);
    for (uint32_t i = 0; i < pieces_or_one(block); i++)
        store(p, piece_at(block, i), piece_size(block, i),
              receive(p, (uint32_t)p->call->asked.peer, 0, block, i));
}

/* --- broadcast ------------------------------------------------------------------------------ */

/* Ranks are counted from the root. In the tree a rank gets the data from the one without its lowest bit,
 * and gives them to those with one lower bit more. */
static uint32_t broadcast_source(uint32_t place, bool is_chain)
{
    return is_chain ? place - 1 : place & (place - 1);
}

static bool gives_to(uint32_t place, uint32_t to, bool is_chain)
{
    return to != 0 && broadcast_source(to, is_chain) == place;
}

static void plan_broadcast(struct planner *p)
{
    const uint32_t root = (uint32_t)p->call->asked.peer;
    const uint32_t place = (p->rank + p->ranks - root) % p->ranks;
    const uint64_t size = place == 0 ? p->call->in.size : p->call->out.size;
    const bool is_chain = size > SMALL;
    const struct block block = block_of(0, size);
    for (uint32_t i = 0; i < block.pieces; i++) {
        uint32_t here = TG_NO_ACTION;
        if (place != 0)
            here = receive(p, (broadcast_source(place, is_chain) + root) % p->ranks, 0, block, i);
        for (uint32_t to = p->ranks - 1; to > 0; to--) { /* the largest subtree first */
            if (!gives_to(place, to, is_chain))
                continue;
            if (place == 0)
                send_input(p, (to + root) % p->ranks, 0, block, i);
            else
                send_output(p, (to + root) % p->ranks, 0, block, i, here);
        }
        if (place != 0)
            store(p, piece_at(block, i), piece_size(block, i), here);
    }
}

/* --- all_reduce ----------------------------------------------------------------------------- */

/* Exchanges all bytes with `peer`, and combines them into the output. `after` is what the output waits for;
 * returns the same for the next round. */
static uint32_t double_round(struct planner *p, uint32_t peer, uint32_t step, uint32_t after)
{
    const struct block block = {.size = p->call->out.size, .segment = SMALL, .pieces = 1};
    const uint32_t sent = send_output(p, peer, step, block, 0, after);
    const uint32_t reduced = tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_REDUCE,
                                                                     .with_output = true,
                                                                     .own_first = p->rank < peer,
                                                                     .peer = peer,
                                                                     .step = step,
                                                                     .size = block.size});
    tg_plan_after(p->plan, reduced, sent);
    return reduced;
}

static void plan_doubling(struct planner *p)
{
    const struct block block = {.size = p->call->out.size, .segment = SMALL, .pieces = 1};
    uint32_t power = 1, step = 0;
    while (power * 2 <= p->ranks)
        power *= 2;
    uint32_t ready = copy(p, 0, 0, block.size);
    if (p->rank >= power) { /* one too many for pairs: another rank has its values with its own */
        const uint32_t sent = send_output(p, p->rank - power, STEP_FOLD, block, 0, ready);
        const uint32_t back = receive(p, p->rank - power, STEP_UNFOLD, block, 0);
        tg_plan_after(p->plan, back, sent);
        store(p, 0, block.size, back);
        return;
    }
    if (p->rank + power < p->ranks) {
        const uint32_t folded = tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_REDUCE,
                                                                        .with_output = true,
                                                                        .own_first = true,
                                                                        .peer = p->rank + power,
                                                                        .step = STEP_FOLD,
                                                                        .size = block.size});
        tg_plan_after(p->plan, folded, ready);
        ready = folded;
    }
    for (uint32_t distance = 1; distance < power; distance *= 2)
        ready = double_round(p, p->rank ^ distance, step++, ready);
    if (p->rank + power < p->ranks)
        send_output(p, p->rank + power, STEP_UNFOLD, block, 0, ready);
    store(p, 0, block.size, ready);
}

/* Block `number` of the ring: whole elements, also of 4 bits, so that a block ends with a byte. */
static struct block ring_block(const struct planner *p, uint32_t number)
{
    const unsigned bits = tg_bits_of(p->call->in.tensor.dtype);
    const uint64_t unit = bits < 8 ? 1 : bits / 8;
    const uint64_t units = p->call->in.size / unit, each = units / p->ranks,
                   rest = units % p->ranks;
    const uint64_t begin = number * each + (number < rest ? number : rest);
    return block_of(begin * unit, (each + (number < rest)) * unit);
}

/* Around the ring: in each step a rank sends a block to the right, and combines the one that comes from
 * the left with its own. A piece of a block is combined in the order of ranks, from the block's own one. */
static void ring_reduce(struct planner *p, uint32_t *sent, uint32_t *reduced)
{
    const uint32_t right = (p->rank + 1) % p->ranks, left = (p->rank + p->ranks - 1) % p->ranks;
    for (uint32_t step = 0; step + 1 < p->ranks; step++) {
        const uint32_t out_number = (p->rank + 2 * p->ranks - step) % p->ranks;
        const uint32_t in_number = (out_number + p->ranks - 1) % p->ranks;
        const struct block out = ring_block(p, out_number), in = ring_block(p, in_number);
        for (uint32_t i = 0; i < out.pieces; i++)
            sent[out_number * MOST_SEGMENTS + i] =
                step == 0
                    ? send_input(p, right, step, out, i)
                    : send_output(p, right, step, out, i, reduced[out_number * MOST_SEGMENTS + i]);
        for (uint32_t i = 0; i < in.pieces; i++) {
            const uint64_t at = piece_at(in, i), size = piece_size(in, i);
            const uint32_t loaded = load(p, at, size);
            const uint32_t combined = tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_REDUCE,
                                                                              .peer = left,
                                                                              .step = step,
                                                                              .piece = i,
                                                                              .from = at,
                                                                              .offset = at,
                                                                              .size = size});
            tg_plan_after(p->plan, combined, loaded);
            reduced[in_number * MOST_SEGMENTS + i] = combined;
        }
    }
}

/* The second half: each rank has one whole block, and all get all. A block that comes overwrites bytes
 * that must have left before. */
static void ring_spread(struct planner *p, const uint32_t *sent, const uint32_t *reduced)
{
    if (p->ranks < 2)
        return;
    const uint32_t right = (p->rank + 1) % p->ranks, left = (p->rank + p->ranks - 1) % p->ranks;
    uint32_t before[MOST_SEGMENTS] = {0}; /* of the last step; the first does not read it */
    for (uint32_t step = 0; step + 1 < p->ranks; step++) {
        const uint32_t out_number = (p->rank + 1 + p->ranks - step) % p->ranks;
        const uint32_t in_number = (out_number + p->ranks - 1) % p->ranks;
        const struct block out = ring_block(p, out_number), in = ring_block(p, in_number);
        for (uint32_t i = 0; i < out.pieces; i++) {
            const uint32_t after = step == 0 ? reduced[out_number * MOST_SEGMENTS + i] : before[i];
            send_output(p, right, STEP_GATHER + step, out, i, after);
            store(p, piece_at(out, i), piece_size(out, i), after);
        }
        for (uint32_t i = 0; i < in.pieces; i++) {
            before[i] = receive(p, left, STEP_GATHER + step, in, i);
            tg_plan_after(p->plan, before[i], sent[in_number * MOST_SEGMENTS + i]);
            if (step + 2 == p->ranks)
                store(p, piece_at(in, i), piece_size(in, i), before[i]);
        }
    }
}

static void plan_ring(struct planner *p)
{
    const size_t room = (size_t)p->ranks * MOST_SEGMENTS;
    uint32_t *sent = malloc(2 * room * sizeof *sent);
    if (!sent) {
        p->plan->failed = true;
        return;
    }
    for (size_t i = 0; i < 2 * room; i++)
        sent[i] = TG_NO_ACTION;
    ring_reduce(p, sent, sent + room);
    ring_spread(p, sent, sent + room);
    free(sent);
}

/* --- the calls with pieces ------------------------------------------------------------------ */

/* The partial sums of other ranks' pieces stay in temporary bytes: the input must not change. */
static void plan_reduce_scatter(struct planner *p)
{
    const uint32_t right = (p->rank + 1) % p->ranks, left = (p->rank + p->ranks - 1) % p->ranks;
    const uint64_t size = p->call->out.size;
    uint32_t before[MOST_SEGMENTS] = {0}; /* of the last step; the first does not read it */
    for (uint32_t step = 0; step + 1 < p->ranks; step++) {
        const uint32_t out_number = (p->rank + 2 * p->ranks - 1 - step) % p->ranks;
        const uint32_t in_number = (out_number + p->ranks - 1) % p->ranks;
        const struct block out = block_of(out_number * size, size),
                           in = block_of(in_number * size, size);
        for (uint32_t i = 0; i < out.pieces; i++) {
            const uint32_t sent = step == 0 ? send_input(p, right, step, out, i)
                                            : send_output(p, right, step, out, i, before[i]);
            if (step > 0 && sent != TG_NO_ACTION)
                p->plan->action[sent].source = before[i];
        }
        for (uint32_t i = 0; i < in.pieces; i++) {
            const uint64_t at = piece_at(in, i), bytes = piece_size(in, i);
            const uint32_t loaded = load(p, at, bytes);
            before[i] = tg_plan_add(p->plan, (struct tg_action){.kind = ACTION_REDUCE,
                                                                .keeps = step + 2 < p->ranks,
                                                                .peer = left,
                                                                .step = step,
                                                                .piece = i,
                                                                .from = at,
                                                                .offset = at - in.begin,
                                                                .size = bytes});
            tg_plan_after(p->plan, before[i], loaded);
            if (step + 2 == p->ranks)
                store(p, at - in.begin, bytes, before[i]);
        }
    }
}

static void own_piece(struct planner *p, uint64_t from, uint64_t to, uint64_t size)
{
    const struct block block = block_of(0, size);
    for (uint32_t i = 0; i < block.pieces; i++)
        store(p, to + piece_at(block, i), piece_size(block, i),
              copy(p, from + piece_at(block, i), to + piece_at(block, i), piece_size(block, i)));
}

static void plan_all_gather(struct planner *p)
{
    const uint32_t right = (p->rank + 1) % p->ranks, left = (p->rank + p->ranks - 1) % p->ranks;
    const uint64_t size = p->call->in.size;
    const bool is_small = size <= SMALL;
    uint32_t before[MOST_SEGMENTS] = {0}; /* of the last step; the first does not read it */
    for (uint32_t step = 0; step + 1 < p->ranks; step++) {
        const uint32_t out_number = (p->rank + p->ranks - step) % p->ranks;
        const uint32_t in_number = (out_number + p->ranks - 1) % p->ranks;
        const struct block mine = block_of(0, size), out = block_of(out_number * size, size),
                           in = block_of(in_number * size, size);
        const uint32_t to = is_small ? (p->rank + 1 + step) % p->ranks : right;
        const uint32_t from = is_small ? in_number : left;
        for (uint32_t i = 0; i < out.pieces; i++) {
            if (is_small || step == 0)
                send_input(p, to, step, mine, i);
            else
                send_output(p, to, step, out, i, before[i]);
        }
        for (uint32_t i = 0; i < in.pieces; i++) {
            before[i] = receive(p, from, step, in, i);
            store(p, piece_at(in, i), piece_size(in, i), before[i]);
        }
    }
    own_piece(p, 0, p->rank * size, size);
}

static void plan_all_to_all(struct planner *p)
{
    const uint64_t size = p->call->in.size / p->ranks;
    for (uint32_t step = 1; step < p->ranks; step++) {
        const uint32_t to = (p->rank + step) % p->ranks,
                       from = (p->rank + p->ranks - step) % p->ranks;
        const struct block out = block_of(to * size, size), in = block_of(from * size, size);
        for (uint32_t i = 0; i < out.pieces; i++)
            send_input(p, to, step, out, i);
        for (uint32_t i = 0; i < in.pieces; i++)
            store(p, piece_at(in, i), piece_size(in, i), receive(p, from, step, in, i));
    }
    own_piece(p, p->rank * size, p->rank * size, size);
}

/* --- all ------------------------------------------------------------------------------------ */

static void plan_all_reduce(struct planner *p)
{
    if (p->call->in.size <= SMALL)
        plan_doubling(p);
    else
        plan_ring(p);
}

static void plan_one_rank(struct planner *p)
{
    if (p->call->asked.kind != TG_COMM_BROADCAST)
        own_piece(p, 0, 0, p->call->in.size);
}

bool tg_algorithm_plan(struct tg_comm *comm, struct tg_call *call)
{
    static void (*const plans[TG_COMM_KINDS])(struct planner *) = {
        plan_send,           plan_receive,    plan_broadcast,  plan_all_reduce,
        plan_reduce_scatter, plan_all_gather, plan_all_to_all,
    };
    struct planner p = {
        .plan = &call->plan, .call = call, .rank = comm->rank, .ranks = comm->ranks};
    p.same = call->in.bytes == call->out.bytes && call->in.bytes != NULL;
    const bool to_itself =
        call->asked.kind <= TG_COMM_RECV && (uint32_t)call->asked.peer == comm->rank;
    if (to_itself || comm->ranks == 1)
        plan_one_rank(&p);
    else if (call->head.elements > 0 || call->asked.kind <= TG_COMM_RECV)
        plans[call->asked.kind](&p);
    return tg_plan_finish(&call->plan);
}
