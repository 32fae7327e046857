/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, byte by byte on the host, the edges that tensormap_and_ringbuffer has to find: a runtime
 * that remembers for each byte which task wrote it last and which tasks have read it since, and
 * builds a graph of explicit edges. If programs that name no edges give the right result with these
 * edges, any difference elsewhere is the runtime's fault.
 */
#ifndef TASKGLASS_CONTRACT_ORACLE_EXACT_H
#define TASKGLASS_CONTRACT_ORACLE_EXACT_H

#include "contract.h"
#include <taskglass/orchestration.h>

/* Kinds of dependencies to overlook on purpose, to see that the check notices; a set of bits. */
enum { EXACT_RAW = 1, EXACT_WAR = 2, EXACT_WAW = 4 };

enum { EXACT_MAX_TASKS = 1 << 10, EXACT_MAX_READS = 1 << 20 };

struct exact_read {
    uint32_t task;
    uint32_t next; /* the next read of the same byte: index + 1 */
};

struct exact {
    struct tg_rt rt; /* must come first: the orchestration sees only this */
    struct tg_graph *graph;
    struct tg_error error; /* the first error */
    uint32_t overlooked;
    uint64_t memory, bytes, used; /* on the device; allocations come after the used part */
    uint32_t *writer;             /* the last writer of each byte: task + 1 */
    uint32_t *readers;            /* the reads of each byte since then: index + 1 into `reads` */
    struct exact_read *reads;
    uint32_t n_reads;
    uint32_t known[EXACT_MAX_TASKS]; /* task + 1 of the last task that waits for it */
    struct tg_tensor (*tensors)[TG_MAX_TENSORS];
};

TEST_FN_ void exact_keep(struct exact *x, tg_status status, const struct tg_error *error)
{
    if (status != TG_OK && x->error.status == TG_OK)
        x->error = *error;
}

TEST_FN_ void exact_wait(struct exact *x, uint64_t task, uint32_t before)
{
    struct tg_error error;
    if (before == 0 || before - 1 == task || x->known[before - 1] == task + 1)
        return;
    x->known[before - 1] = (uint32_t)task + 1;
    exact_keep(x, tg_graph_add_edge(x->graph, before - 1, task, &error), &error);
}

TEST_FN_ void exact_read(struct exact *x, uint64_t task, uint64_t byte)
{
    struct exact_read *read = &x->reads[x->n_reads];
    if (!(x->overlooked & EXACT_RAW))
        exact_wait(x, task, x->writer[byte]);
    REQUIRE(x->n_reads < EXACT_MAX_READS);
    read->task = (uint32_t)task;
    read->next = x->readers[byte];
    x->readers[byte] = ++x->n_reads;
}

TEST_FN_ void exact_write(struct exact *x, uint64_t task, uint64_t byte)
{
    if (!(x->overlooked & EXACT_WAW))
        exact_wait(x, task, x->writer[byte]);
    for (uint32_t at = x->readers[byte]; at && !(x->overlooked & EXACT_WAR);
         at = x->reads[at - 1].next)
        exact_wait(x, task, x->reads[at - 1].task + 1);
    x->readers[byte] = 0;
    x->writer[byte] = (uint32_t)task + 1;
}

/* Visits every byte of every element; half a byte counts as the whole byte. */
TEST_FN_ void exact_touch(struct exact *x, uint64_t task, const struct tg_tensor *t,
                          void (*touch)(struct exact *x, uint64_t task, uint64_t byte))
{
    uint64_t bits = tg_bits_of(t->dtype);
    for (int64_t i = 0; i < tg_tensor_numel(t); i++) {
        uint64_t at = (uint64_t)tg_tensor_offset(t, i) * bits / 8 + t->addr - x->memory;
        for (uint64_t k = 0; k < (bits + 7) / 8; k++)
            touch(x, task, at + k);
    }
}

TEST_FN_ uint64_t exact_take(struct exact *x, uint64_t bytes)
{
    uint64_t address = x->memory + x->used;
    x->used += (bytes + 63) / 64 * 64;
    REQUIRE(x->used <= x->bytes);
    return address;
}

TEST_FN_ uint64_t exact_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                               const struct tg_args *given, const char *site)
{
    struct exact *x = (struct exact *)rt;
    struct tg_args args = *given;
    struct tg_error error;
    uint64_t task = TG_TASK_NONE;
    (void)site;
    for (uint32_t i = 0; i < args.n_tensors; i++) {
        if (args.tensor[i].owner_depth == TG_TENSOR_NEW)
            args.tensor[i].addr = exact_take(x, args.tensor[i].storage_bytes);
        args.tensor[i].owner_depth = 0;
    }
    exact_keep(x, tg_graph_add_mix(x->graph, kernel, &args, &task, &error), &error);
    if (x->error.status != TG_OK)
        return TG_TASK_NONE;
    REQUIRE(task < EXACT_MAX_TASKS);
    memcpy(x->tensors[task], args.tensor, sizeof args.tensor);
    for (uint32_t i = 0; i < args.n_tensors; i++)
        if (args.role[i] != TG_OUT)
            exact_touch(x, task, &args.tensor[i], exact_read);
    for (uint32_t i = 0; i < args.n_tensors; i++)
        if (args.role[i] != TG_IN)
            exact_touch(x, task, &args.tensor[i], exact_write);
    return task;
}

TEST_FN_ void exact_depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site)
{
    struct exact *x = (struct exact *)rt;
    struct tg_error error;
    (void)site;
    exact_keep(x, tg_graph_add_edge(x->graph, after, task, &error), &error);
}

TEST_FN_ struct tg_tensor exact_alloc(struct tg_rt *rt, unsigned dtype, int ndim,
                                      const int64_t *shape, const char *site)
{
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    (void)site;
    t.addr = exact_take((struct exact *)rt, t.storage_bytes);
    return t;
}

TEST_FN_ void exact_scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site)
{
    (void)rt;
    (void)kind;
    (void)site;
}

TEST_FN_ void exact_scope_end(struct tg_rt *rt)
{
    (void)rt;
}

TEST_FN_ struct tg_tensor exact_output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                       const char *site)
{
    struct exact *x = (struct exact *)rt;
    (void)site;
    return task < EXACT_MAX_TASKS ? x->tensors[task][argument] : tg_tensor_none();
}

/* Builds the graph of an orchestration that neither reads nor fails. `memory` is an area of `bytes`
 * bytes in device memory, of which `used` are taken. */
TEST_FN_ void exact_orchestrate(tg_orchestrate_fn orchestrate, const struct tg_args *args,
                                uint64_t memory, uint64_t used, uint64_t bytes, uint32_t overlooked,
                                struct tg_graph *graph)
{
    static const struct tg_rt_ops ops = {
        .submit = exact_submit,
        .depend = exact_depend,
        .alloc = exact_alloc,
        .scope_begin = exact_scope_begin,
        .scope_end = exact_scope_end,
        .output = exact_output,
    };
    struct exact x = {.rt = {&ops}, .graph = graph, .memory = memory};
    x.used = used;
    x.bytes = bytes;
    x.overlooked = overlooked;
    x.writer = calloc(bytes, sizeof *x.writer);
    x.readers = calloc(bytes, sizeof *x.readers);
    x.reads = malloc(EXACT_MAX_READS * sizeof *x.reads);
    x.tensors = malloc(EXACT_MAX_TASKS * sizeof *x.tensors);
    REQUIRE(x.writer && x.readers && x.reads && x.tensors);
    orchestrate(&x.rt, args);
    CHECK_EQ_S(x.error.text, "");
    free(x.writer);
    free(x.readers);
    free(x.reads);
    free(x.tensors);
}

#endif
