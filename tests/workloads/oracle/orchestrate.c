/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

enum { MAX_FRESH = 1024 }; /* the most bytes that oracle_shape asks for, in whole units */

TG_FN static void init_scope(struct program *p, bool holds)
{
    struct scope *s = &p->scope[p->depth];
    s->holds = holds;
    s->n_buffers = p->n_buffers;
    s->n_deferred = p->n_deferred;
    for (int i = 0; i < TG_RINGS; i++)
        s->first_slot[i] = s->first_byte[i] = UINT64_MAX;
}

TG_FN static void begin_scope(struct program *p)
{
    bool holds = chance(p, 15) && p->is.held;
    if (p->depth == MAX_DEPTH)
        return;
    p->rt->ops->scope_begin(p->rt, holds ? TG_SCOPE_HOLDS : TG_SCOPE_OPEN, TG_SITE);
    p->depth++;
    init_scope(p, holds);
}

TG_FN static void end_scope(struct program *p)
{
    const struct scope *s = &p->scope[p->depth];
    if (p->depth == 0)
        return;
    while (p->n_deferred > s->n_deferred) {
        const struct deferred *d = &p->deferred[--p->n_deferred];
        tg_depend(p->rt, d->task, d->after);
    }
    p->n_buffers = s->n_buffers;
    p->rt->ops->scope_end(p->rt);
    p->depth--;
}

/* Lets a result decide how the program goes on. It cannot wait for the result of a held task. */
TG_FN static void read_result(struct program *p)
{
    uint32_t buffer = (uint32_t)roll(p, p->n_buffers);
    struct tg_tensor element = oracle_element(p, buffer);
    uint64_t producer = TG_TASK_NONE;
    struct access access;
    if (!p->is.reads || is_held(p) || !oracle_access(p, buffer, TG_IN, &element, &access))
        return;
    if (p->is.edges || buffer == ORACLE_hidden || edge_chance(p, 300))
        producer = oracle_writer(p, &access);
    p->random = oracle_hash(p->random, (uint64_t)tg_read_i64(p->rt, element, producer));
}

/* If there is no room for a step, it waits until a scope has ended. */
TG_FN static void step(struct program *p)
{
    uint64_t roll_scope = roll(p, 200), roll_else = roll(p, 100);
    bool is_fresh = roll_else < p->fresh && p->n_buffers < MAX_BUFFERS;
    if (!oracle_has_room(p, is_fresh ? MAX_FRESH : 0)) {
        if (p->depth > 0)
            end_scope(p);
        else
            begin_scope(p);
    } else if (roll_scope < p->scopes) {
        begin_scope(p);
    } else if (roll_scope < 2 * p->scopes) {
        end_scope(p);
    } else if (roll_else >= 98) {
        oracle_waste(p, roll_else == 98 || !oracle_has_room(p, MAX_FRESH));
    } else if (roll_else >= 94) {
        read_result(p);
    } else {
        oracle_task(p, is_fresh);
    }
}

TG_FN static void draw_character(struct program *p)
{
    uint64_t reach = 8 + roll(p, 4);
    p->reach = (uint64_t)1 << (chance(p, 50) ? reach : reach - 5);
    p->elements = (uint64_t)8 << roll(p, 5);
    p->outputs = 20 + roll(p, 50);
    p->scopes = 5 + roll(p, 50);
    p->fresh = roll(p, chance(p, 30) ? 90 : 40);
    p->shared = 20 + roll(p, 60);
}

TG_FN static void init(struct program *p, struct tg_rt *rt, const struct tg_args *args)
{
    uint32_t scalar = 0;
    p->rt = rt;
#define GET(name, value, text) p->is.name = tg_args_get_i64(args, scalar++);
    ORACLE_PARAMS(GET)
#undef GET
    p->random = (uint64_t)p->is.seed * 2;
    p->edge_random = (uint64_t)p->is.seed * 2 + 1;
    p->n_tasks = 0;
    p->depth = p->n_buffers = p->n_deferred = 0;
    for (int i = 0; i < RECENT; i++)
        p->recent[i] = TG_TASK_NONE;
    for (int i = 0; i < TG_RINGS; i++)
        p->next_slot[i] = p->next_byte[i] = 0;
    p->witness = args->tensor[ORACLE_witness];
    for (uint32_t i = 0; i < SHARED; i++)
        oracle_add_buffer(p, args->tensor[i], TG_TASK_NONE, 0);
    init_scope(p, false);
    draw_character(p);
}

/* Arguments: a, b, c, hidden; the scalars of ORACLE_PARAMS. */
TG_ORCHESTRATION(oracle)
{
    struct program p;
    init(&p, rt, args);
    while (p.n_tasks < (uint64_t)p.is.tasks)
        step(&p);
    while (p.depth > 0)
        end_scope(&p);
}
