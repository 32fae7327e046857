/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime that defines the right result: every task runs inside the call that submits it, in
 * memory of the host. It ignores edges and rings. It frees the memory of a scope at the scope's
 * end, so that the address sanitizer reports a program that uses it later.
 *
 * Host code, for the golden values of this workload and for tests that compare runtimes with it.
 */
#ifndef ORACLE_SERIAL_H
#define ORACLE_SERIAL_H

#include "oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

#define SERIAL_FN static __attribute__((unused))

enum { SERIAL_MAX_DEPTH = 16 };

/* One allocation; its bytes follow. */
struct serial_block {
    struct serial_block *next;
    uint64_t number;
    uint64_t bytes;
    uint64_t reserved;
};

struct serial {
    struct tg_rt rt; /* must come first: the orchestration sees only this */
    const struct tg_kernel_def *kernels;
    const struct tg_args *args;
    FILE *trace; /* NULL: prints nothing */
    uint32_t depth;
    struct serial_block *scope[SERIAL_MAX_DEPTH]; /* the blocks of each open scope */
    uint64_t n_blocks;
    uint64_t n_tasks, tasks_room;
    struct tg_tensor *tensors; /* TG_MAX_TENSORS for each task */
};

SERIAL_FN void serial_out_of_memory(void)
{
    fprintf(stderr, "out of memory\n");
    abort();
}

/* ── what a program does, one line each ────────────────────────────────────────────────── */

SERIAL_FN void serial_indent(const struct serial *s)
{
    fprintf(s->trace, "%*s", 2 * (int)s->depth, "");
}

/* Prints which memory an address is in: "a+16", "new3+8". */
SERIAL_FN void serial_show_place(const struct serial *s, uint64_t address)
{
    static const char *const names[] = {
#define SERIAL_NAME(name, bytes) #name,
        ORACLE_TENSORS_MAP(SERIAL_NAME)
#undef SERIAL_NAME
    };
    for (int i = 0; i < ORACLE_TENSORS; i++) {
        uint64_t from = address - s->args->tensor[i].addr;
        if (address != 0 && from < s->args->tensor[i].storage_bytes)
            fprintf(s->trace, "%s+%" PRIu64, names[i], from);
    }
    for (uint32_t d = 0; d <= s->depth; d++)
        for (const struct serial_block *b = s->scope[d]; b; b = b->next)
            if (address - (uint64_t)(uintptr_t)(b + 1) < b->bytes)
                fprintf(s->trace, "new%" PRIu64 "+%" PRIu64, b->number,
                        address - (uint64_t)(uintptr_t)(b + 1));
}

SERIAL_FN void serial_show_tensor(const struct serial *s, unsigned role, const struct tg_tensor *t)
{
    static const char *const roles[] = {"?", "in", "out", "inout"};
    fprintf(s->trace, "  %s ", roles[role & 3]);
    serial_show_place(s, t->addr);
    fprintf(s->trace, ":%u[%" PRId64, tg_bits_of(t->dtype), t->start);
    for (int i = 0; i < t->ndim; i++)
        fprintf(s->trace, " %" PRId64 "*%" PRId64, t->shape[i], t->strides[i]);
    fprintf(s->trace, "]");
}

SERIAL_FN void serial_show_task(const struct serial *s, const struct tg_args *args)
{
    const struct tg_scalar *scalar = args->scalar;
    if (s->trace == NULL)
        return;
    serial_indent(s);
    fprintf(s->trace, "task %" PRIu64 " parts %" PRIu64 "%s", s->n_tasks,
            scalar[ORACLE_TASK_FLAGS].bits & 7,
            scalar[ORACLE_TASK_FLAGS].bits & ORACLE_MEETS ? " that meet" : "");
    for (uint32_t i = 0; i < args->n_tensors; i++)
        serial_show_tensor(s, args->role[i], &args->tensor[i]);
    for (int i = ORACLE_TASK_HIDDEN_READ; i <= ORACLE_TASK_HIDDEN_WRITE; i++) {
        if (scalar[i].bits == 0)
            continue;
        fprintf(s->trace, i == ORACLE_TASK_HIDDEN_READ ? "  reads " : "  writes ");
        serial_show_place(s, scalar[i].bits);
    }
    for (uint32_t i = 0; i < args->n_after; i++)
        fprintf(s->trace, "%s %" PRIu64, i ? "" : "  after", args->after[i]);
    for (uint32_t i = 0; i < args->n_more_after; i++)
        fprintf(s->trace, "%s %" PRIu64, i ? "" : "  and", args->more_after[i]);
    fprintf(s->trace, "\n");
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

/* New memory never has the same content twice, so that a task which reads unwritten memory is
 * noticed. */
SERIAL_FN uint64_t serial_take(struct serial *s, uint64_t bytes)
{
    struct serial_block *b = malloc(sizeof *b + bytes);
    if (b == NULL)
        serial_out_of_memory();
    b->number = s->n_blocks++;
    b->bytes = bytes;
    b->next = s->scope[s->depth];
    s->scope[s->depth] = b;
    memset(b + 1, (int)(0x80 | b->number), bytes);
    return (uint64_t)(uintptr_t)(b + 1);
}

SERIAL_FN struct tg_tensor serial_alloc(struct tg_rt *rt, unsigned dtype, int ndim,
                                        const int64_t *shape, const char *site)
{
    struct serial *s = (struct serial *)rt;
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    (void)site;
    t.addr = serial_take(s, t.storage_bytes);
    if (s->trace) {
        serial_indent(s);
        fprintf(s->trace, "alloc new%" PRIu64 ", %" PRIu64 " bytes\n", s->n_blocks - 1,
                t.storage_bytes);
    }
    return t;
}

SERIAL_FN void serial_scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site)
{
    struct serial *s = (struct serial *)rt;
    (void)site;
    if (s->trace) {
        serial_indent(s);
        fprintf(s->trace, "%s {\n", kind == TG_SCOPE_HOLDS ? "held scope" : "scope");
    }
    if (++s->depth == SERIAL_MAX_DEPTH)
        abort();
    s->scope[s->depth] = NULL;
}

SERIAL_FN void serial_free_scope(struct serial *s)
{
    struct serial_block *b = s->scope[s->depth];
    while (b) {
        struct serial_block *next = b->next;
        free(b);
        b = next;
    }
}

SERIAL_FN void serial_scope_end(struct tg_rt *rt)
{
    struct serial *s = (struct serial *)rt;
    serial_free_scope(s);
    s->depth--;
    if (s->trace) {
        serial_indent(s);
        fprintf(s->trace, "}\n");
    }
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

struct serial_mix {
    const struct serial *serial;
    const struct tg_args *args;
    const uint32_t *kernel;
    uint32_t parts;
    uint32_t next; /* the next part to begin */
};

SERIAL_FN void serial_barrier(const struct tg_ctx *ctx);

/* Runs the next part of the mix, if there is one. */
SERIAL_FN void serial_part(struct serial_mix *mix)
{
    struct tg_ctx ctx = {.tensor = mix->args->tensor,
                         .scalar = mix->args->scalar,
                         .n_tensors = mix->args->n_tensors,
                         .n_scalars = mix->args->n_scalars,
                         .parts = mix->parts,
                         .core = ORACLE_SERIAL,
                         .mix_barrier = serial_barrier,
                         .engine = mix};
    while (mix->next < TG_PARTS && mix->kernel[mix->next] == TG_NO_KERNEL)
        mix->next++;
    if (mix->next == TG_PARTS)
        return;
    ctx.part = mix->next++;
    mix->serial->kernels[mix->kernel[ctx.part]].fn(&ctx);
}

/* Every part calls this once, so this call can run the next part up to its own barrier: everything
 * that parts do before they meet then comes before everything that they do after it. */
SERIAL_FN void serial_barrier(const struct tg_ctx *ctx)
{
    serial_part(ctx->engine);
}

/* A single vector kernel is stored in the matrix part, as tg_submit does it. */
SERIAL_FN void serial_run(const struct serial *s, const uint32_t kernel[TG_PARTS],
                          const struct tg_args *args)
{
    struct serial_mix mix = {.serial = s, .args = args, .kernel = kernel};
    for (int i = 0; i < TG_PARTS; i++)
        mix.parts += kernel[i] != TG_NO_KERNEL;
    while (mix.next < TG_PARTS)
        serial_part(&mix);
}

SERIAL_FN void serial_keep(struct serial *s, const struct tg_args *args)
{
    if (s->n_tasks == s->tasks_room) {
        s->tasks_room = s->tasks_room ? 2 * s->tasks_room : 256;
        s->tensors = realloc(s->tensors, s->tasks_room * TG_MAX_TENSORS * sizeof *s->tensors);
        if (s->tensors == NULL)
            serial_out_of_memory();
    }
    memcpy(&s->tensors[s->n_tasks++ * TG_MAX_TENSORS], args->tensor,
           args->n_tensors * sizeof *s->tensors);
}

SERIAL_FN uint64_t serial_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                                 const struct tg_args *given, const char *site)
{
    struct serial *s = (struct serial *)rt;
    struct tg_args args = *given;
    (void)site;
    for (uint32_t i = 0; i < args.n_tensors; i++) {
        struct tg_tensor *t = &args.tensor[i];
        if (t->owner_depth == TG_TENSOR_NEW)
            t->addr = serial_take(s, t->storage_bytes);
        t->owner_depth = 0;
        if (!tg_tensor_valid(t) || (args.role[i] != TG_IN && tg_tensor_repeats(t)))
            abort(); /* every runtime refuses such a task */
    }
    serial_show_task(s, &args);
    serial_run(s, kernel, &args);
    serial_keep(s, &args);
    return s->n_tasks - 1;
}

SERIAL_FN void serial_depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site)
{
    struct serial *s = (struct serial *)rt;
    (void)site;
    if (s->trace) {
        serial_indent(s);
        fprintf(s->trace, "task %" PRIu64 " after %" PRIu64 "\n", task, after);
    }
}

SERIAL_FN struct tg_tensor serial_output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                         const char *site)
{
    (void)site;
    return ((struct serial *)rt)->tensors[task * TG_MAX_TENSORS + argument];
}

SERIAL_FN uint64_t serial_read(struct tg_rt *rt, const struct tg_tensor *t, uint64_t producer,
                               const char *site)
{
    struct serial *s = (struct serial *)rt;
    uint64_t bits = tg_load_bits(t->dtype, TG_DEVICE_PTR(const char, t->addr), t->start);
    (void)site;
    if (s->trace) {
        serial_indent(s);
        fprintf(s->trace, "read");
        serial_show_tensor(s, TG_IN, t);
        fprintf(s->trace, ": %" PRIx64 " from %" PRId64 "\n", bits, (int64_t)producer);
    }
    return bits;
}

SERIAL_FN void serial_fail(struct tg_rt *rt, const char *text, const char *site)
{
    (void)rt;
    fprintf(stderr, "%s: %s\n", site, text);
    abort();
}

/* Runs an orchestration whose tensors have host addresses; returns its number of tasks. */
SERIAL_FN uint64_t serial_orchestrate(const struct tg_kernel_def *kernels,
                                      tg_orchestrate_fn orchestrate, const struct tg_args *args,
                                      FILE *trace)
{
    static const struct tg_rt_ops ops = {
        .submit = serial_submit,
        .depend = serial_depend,
        .alloc = serial_alloc,
        .scope_begin = serial_scope_begin,
        .scope_end = serial_scope_end,
        .fail = serial_fail,
        .output = serial_output,
        .read = serial_read,
    };
    struct serial s = {.rt = {&ops}, .kernels = kernels, .args = args, .trace = trace};
    orchestrate(&s.rt, args);
    serial_free_scope(&s);
    free(s.tensors);
    return s.n_tasks;
}

/* Fills a tensor with its initial content. */
SERIAL_FN void serial_fill(void *bytes, uint64_t n, uint64_t seed)
{
    unsigned char *to = bytes;
    uint64_t hash = oracle_hash(seed, n);
    for (uint64_t i = 0; i < n; i++) {
        hash = oracle_hash(hash, i);
        to[i] = (unsigned char)(hash >> 20);
    }
}

#endif
