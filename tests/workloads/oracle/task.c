/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

/* A task while it is being generated. */
struct task {
    struct tg_args args;
    struct access access[MAX_ACCESSES];
    uint32_t n_accesses;
    uint64_t roles;              /* two bits a tensor */
    uint64_t read, written;      /* sets of buffers */
    uint32_t n_buffers;          /* number of buffers that existed before it */
    uint64_t parts;              /* set of 1 << enum tg_part */
    bool meets;                  /* its parts meet at a barrier */
    bool is_new[TG_MAX_TENSORS]; /* tensors of tg_args_out_new */
};

/* ── room ──────────────────────────────────────────────────────────────────────────────── */

TG_FN static uint64_t first_of(const struct program *p, uint32_t ring, bool bytes)
{
    uint64_t first = bytes ? p->next_byte[ring] : p->next_slot[ring];
    for (uint32_t i = 0; i <= p->depth; i++) {
        uint64_t own = bytes ? p->scope[i].first_byte[ring] : p->scope[i].first_slot[ring];
        first = own < first ? own : first;
    }
    return first;
}

TG_FN bool oracle_has_room(const struct program *p, uint64_t bytes)
{
    uint32_t ring = ring_of(p);
    uint64_t slots = p->next_slot[ring] - first_of(p, ring, false);
    uint64_t used = p->next_byte[ring] - first_of(p, ring, true);
    if (p->depth == 0 && p->is.rings == 1 && bytes > 0)
        return false; /* they would stay forever, in the way of all others */
    return slots < (uint64_t)p->is.window && used + bytes <= (uint64_t)p->is.heap;
}

/* A scope keeps everything allocated in it; a scope that holds tasks also keeps what is allocated
 * in scopes inside it. With a single ring only the latter keep slots. */
TG_FN static void pin(struct program *p, uint64_t slots, uint64_t bytes)
{
    uint32_t ring = ring_of(p);
    for (uint32_t i = 0; i <= p->depth; i++) {
        struct scope *s = &p->scope[i];
        if (i != p->depth && !s->holds)
            continue;
        if (slots > 0 && (s->holds || p->is.rings > 1) && s->first_slot[ring] > p->next_slot[ring])
            s->first_slot[ring] = p->next_slot[ring];
        if (bytes > 0 && s->first_byte[ring] > p->next_byte[ring])
            s->first_byte[ring] = p->next_byte[ring];
    }
    p->next_slot[ring] += slots;
    p->next_byte[ring] += bytes;
}

TG_FN static void pin_tensor(struct program *p, const struct tg_tensor *t)
{
    pin(p, 0, (t->storage_bytes + ALLOC_UNIT - 1) / ALLOC_UNIT * ALLOC_UNIT);
}

TG_FN void oracle_waste(struct program *p, bool is_empty)
{
    int64_t shape[TG_MAX_DIMS];
    unsigned dtype;
    int ndim = oracle_shape(p, &dtype, shape);
    struct tg_tensor t;
    if (is_empty && ndim > 0)
        shape[0] = 0;
    else if (is_empty)
        return;
    t = tg_tensor_make(0, dtype, ndim, shape);
    pin_tensor(p, &t);
    tg_alloc(p->rt, dtype, ndim, shape);
}

/* ── arguments ─────────────────────────────────────────────────────────────────────────── */

TG_FN static void push(struct program *p, struct task *task, uint32_t buffer, enum tg_role role,
                       struct tg_tensor view)
{
    task->roles |= (uint64_t)role << 2 * task->args.n_tensors;
    tg_args_tensor(&task->args, role, view);
    if (role != TG_OUT)
        task->read |= (uint64_t)1 << buffer;
    if (role != TG_IN)
        task->written |= (uint64_t)1 << buffer;
    if (oracle_access(p, buffer, role, &view, &task->access[task->n_accesses]))
        task->n_accesses++;
}

/* True if the parts of a mix do not meet: then no part may see what another writes. */
TG_FN static bool parts_race(const struct task *task)
{
    return (task->parts & (task->parts - 1)) != 0 && !task->meets;
}

/* A buffer for an argument of this role; NO_BUFFER if none was found in a few tries. */
TG_FN static uint32_t pick(struct program *p, const struct task *task, enum tg_role role)
{
    uint64_t taken = role == TG_IN ? 0 : task->written;
    if (parts_race(task))
        taken |= role == TG_IN ? task->written : task->read;
    for (int attempts = 0; attempts < 4; attempts++) {
        uint32_t own = task->n_buffers - SHARED;
        uint32_t buffer = (uint32_t)roll(p, ORACLE_hidden);
        if (own > 0 && !chance(p, p->shared))
            buffer = SHARED + (uint32_t)roll(p, own);
        if (!(taken >> buffer & 1))
            return buffer;
    }
    return NO_BUFFER;
}

/* Adds two outputs that are adjacent, or whose elements alternate. */
TG_FN static void push_halves(struct program *p, struct task *task, uint32_t buffer,
                              struct tg_tensor view)
{
    int dim = (int)roll(p, view.ndim);
    int64_t n = view.shape[dim], cut = 1 + (int64_t)roll(p, (uint64_t)(n - 1));
    enum tg_role first = chance(p, 50) ? TG_OUT : TG_INOUT;
    enum tg_role second = chance(p, 50) ? TG_OUT : TG_INOUT;
    bool between = chance(p, 50);
    push(p, task, buffer, first, tg_tensor_slice(view, dim, 0, between ? n : cut, between ? 2 : 1));
    push(p, task, buffer, second,
         tg_tensor_slice(view, dim, between ? 1 : cut, n, between ? 2 : 1));
}

/* Only one part of a mix may write a byte, so views of 4-bit elements are not cut. */
TG_FN static bool can_be_cut(const struct tg_tensor *view)
{
    if (view->ndim == 0 || tg_bits_of(view->dtype) < 8 || tg_tensor_numel(view) < 2)
        return false;
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] < 2)
            return false;
    return true;
}

TG_FN static void push_any(struct program *p, struct task *task)
{
    enum tg_role role = !chance(p, p->outputs) ? TG_IN : chance(p, 50) ? TG_OUT : TG_INOUT;
    uint32_t buffer = pick(p, task, role);
    struct tg_tensor view;
    if (buffer == NO_BUFFER)
        return;
    view = oracle_view(p, buffer, role == TG_IN);
    if (role != TG_IN && !parts_race(task) && can_be_cut(&view) && chance(p, 30) &&
        task->args.n_tensors + 2 <= p->is.tensors)
        push_halves(p, task, buffer, view);
    else
        push(p, task, buffer, role, view);
}

/* Adds new memory that its first task writes whole, by tg_args_out_new or tg_alloc. */
TG_FN static void push_fresh(struct program *p, struct task *task)
{
    int64_t shape[TG_MAX_DIMS];
    unsigned dtype;
    int ndim = oracle_shape(p, &dtype, shape);
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    bool is_new = chance(p, 50);
    pin_tensor(p, &t);
    if (is_new) {
        task->is_new[task->args.n_tensors] = true;
        task->roles |= (uint64_t)TG_OUT << 2 * task->args.n_tensors;
        tg_args_out_new(&task->args, dtype, ndim, shape);
    } else {
        uint32_t buffer;
        t = tg_alloc(p->rt, dtype, ndim, shape);
        buffer = oracle_add_buffer(p, t, TG_TASK_NONE, 0);
        if (buffer != NO_BUFFER)
            push(p, task, buffer, TG_OUT, oracle_cover(p, t));
    }
}

/* An address in hidden memory, or 0. */
TG_FN static uint64_t hidden_access(struct program *p, struct task *task, enum tg_role role)
{
    struct tg_tensor hidden = p->buffer[ORACLE_hidden].whole;
    uint64_t at = 8 * roll(p, hidden.storage_bytes / 8);
    struct access *access = &task->access[task->n_accesses];
    if (!chance(p, 10) || (task->read >> ORACLE_hidden & 1))
        return 0;
    task->read |= (uint64_t)1 << ORACLE_hidden;
    access->buffer = ORACLE_hidden;
    access->role = role;
    access->lo = at;
    access->hi = at + 7;
    task->n_accesses++;
    return hidden.addr + at;
}

/* The address where the next task writes its hash; 0 if there have been too many tasks. */
TG_FN static uint64_t witness_of(const struct program *p)
{
    return p->n_tasks < p->witness.storage_bytes / 8 ? p->witness.addr + 8 * p->n_tasks : 0;
}

TG_FN static uint64_t any_spin(struct program *p)
{
    uint64_t turns = roll(p, (uint64_t)1 << (4 * (uint64_t)p->is.spin + roll(p, 6)));
    return chance(p, 50) || p->is.spin == 0 ? 0 : turns;
}

TG_FN static void push_scalars(struct program *p, struct task *task)
{
    uint64_t flags = task->parts | (task->meets ? ORACLE_MEETS : 0);
    uint64_t n = roll(p, 4);
    if (chance(p, 70))
        flags |= ORACLE_SPINS_LAST;
    tg_args_u64(&task->args, oracle_next(&p->random));
    tg_args_u64(&task->args, task->roles);
    tg_args_u64(&task->args, flags);
    tg_args_u64(&task->args, any_spin(p));
    tg_args_u64(&task->args, hidden_access(p, task, TG_IN));
    tg_args_u64(&task->args, hidden_access(p, task, TG_OUT));
    tg_args_u64(&task->args, witness_of(p));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = oracle_next(&p->random);
        if (chance(p, 50))
            tg_args_i32(&task->args, (int32_t)(uint32_t)bits);
        else
            tg_args_bits(&task->args, TG_BFLOAT16, bits & 0xffff);
    }
}

/* ── the task ──────────────────────────────────────────────────────────────────────────── */

TG_FN static void init(struct program *p, struct task *task)
{
    tg_args_init(&task->args);
    task->n_accesses = 0;
    task->roles = task->read = task->written = 0;
    task->n_buffers = p->n_buffers;
    task->parts = chance(p, 50) ? 1 << TG_PART_AIC : 1 << TG_PART_AIV0;
    task->meets = false;
    if (chance(p, 20)) {
        uint64_t which = roll(p, 4);
        task->parts = which ? which + 4 : 3; /* 3, 5, 6, 7 */
        task->meets = chance(p, 50);
    }
    for (int i = 0; i < TG_MAX_TENSORS; i++)
        task->is_new[i] = false;
}

TG_FN static uint32_t kernel_of(const struct task *task, enum tg_part part)
{
    uint32_t kernel = part == TG_PART_AIC ? ORACLE_AIC : ORACLE_AIV;
    return task->parts >> part & 1 ? kernel : TG_NO_KERNEL;
}

TG_FN static uint64_t submit(struct program *p, struct task *task)
{
    struct edges edges;
    uint64_t id;
    uint32_t later;
    oracle_need(p, task->access, task->n_accesses, &edges);
    later = oracle_attach(p, &edges, &task->args);
    pin(p, 1, 0);
    id = tg_submit_mix(p->rt, kernel_of(task, TG_PART_AIC), kernel_of(task, TG_PART_AIV0),
                       kernel_of(task, TG_PART_AIV1), &task->args);
    for (uint32_t i = 0; i < later; i++) {
        p->deferred[p->n_deferred].task = id;
        p->deferred[p->n_deferred++].after = edges.task[i];
    }
    oracle_done(p, id, task->access, task->n_accesses);
    return id;
}

TG_FN void oracle_task(struct program *p, bool is_fresh)
{
    uint64_t n = 1 + roll(p, (uint64_t)p->is.tensors);
    uint64_t fresh_at = is_fresh ? roll(p, n) : n;
    struct task task;
    uint64_t id;
    init(p, &task);
    for (uint64_t i = 0; i < n && task.args.n_tensors < p->is.tensors; i++) {
        if (i == fresh_at)
            push_fresh(p, &task);
        else
            push_any(p, &task);
    }
    push_scalars(p, &task);
    id = submit(p, &task);
    for (uint32_t i = 0; i < task.args.n_tensors; i++)
        if (task.is_new[i])
            oracle_add_buffer(p, tg_output(p->rt, id, i), id, i);
}
