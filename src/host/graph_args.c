/* SPDX-License-Identifier: Apache-2.0 */
#include "host/graph_args.h"
#include "base/error.h"
#include "base/grow.h"
#include "common/stored_args.h"
#include "host/device.h"

/* A new chunk is an eighth of what there is, within these limits: little memory stays unused, and the
 * arguments of a large graph are sent in large writes. */
enum { LEAST_CHUNK = 16 << 10, MOST_CHUNK = 4 << 20 };

/* The host announces memory in steps of an eighth of what it has written, up to this: the system provides
 * many pages at the price of few, and little that stays unused. What is left of a step is still in the
 * cache when the host comes to it. */
enum { MOST_STEP = 256 << 10 };

static struct tg_arg_chunk *current_chunk(struct tg_graph_args *a)
{
    return a->end == NULL ? NULL : &a->chunk[a->current];
}

static uint64_t used_in(const struct tg_graph_args *a, uint32_t i)
{
    const struct tg_arg_chunk *c = &a->chunk[i];
    return i == a->current ? (uint64_t)((char *)a->at - c->host) : c->used;
}

/* Allocates a chunk of up to `bytes`, but at least `least`, if the device's memory is nearly full. */
static tg_status allocate(struct tg_graph_args *a, uint64_t bytes, uint64_t least,
                          struct tg_arg_chunk *c, struct tg_error *error)
{
    tg_status status = TG_NO_MEMORY;
    *c = (struct tg_arg_chunk){0};
    for (; bytes > least && status == TG_NO_MEMORY; bytes /= 2) {
        c->bytes = bytes;
        status = tg_device_alloc_own(a->device, bytes, &c->address, NULL);
    }
    if (status != TG_OK) {
        c->bytes = least;
        status = tg_device_alloc_own(a->device, least, &c->address, error);
    }
    if (status != TG_OK)
        return status;
    c->host = tg_device_map(a->device, c->address, c->bytes);
    c->mapped = c->host != NULL;
    return TG_OK;
}

/* Makes more of the current chunk ready, at least `bytes` behind what is used. */
static void make_ready(struct tg_graph_args *a, uint64_t bytes)
{
    struct tg_arg_chunk *c = &a->chunk[a->current];
    uint64_t used = used_in(a, a->current), step = (a->before + used) / 8;
    uint64_t ready = used + (step < bytes ? bytes : step > MOST_STEP ? MOST_STEP : step);
    ready = (ready + 4095) / 4096 * 4096;
    ready = !c->mapped || ready > c->bytes ? c->bytes : ready;
    /* A small graph touches fewer pages than an announcement is worth. */
    if (c->mapped && ready > c->ready && a->before + used >= LEAST_CHUNK)
        tg_device_expect(a->device, c->address + c->ready, ready - c->ready);
    if (ready > c->ready)
        c->ready = ready;
    a->end = a->begin + c->ready / sizeof *a->end;
}

/* Gives the chunk a buffer if it has none, and makes it the current one, with `bytes` ready. */
static tg_status begin_chunk(struct tg_graph_args *a, uint32_t i, uint64_t bytes, uint64_t task,
                             struct tg_error *error)
{
    struct tg_arg_chunk *c = &a->chunk[i];
    if (c->host == NULL && (c->host = malloc(c->bytes)) == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the graph");
    if (current_chunk(a) != NULL) {
        current_chunk(a)->used = used_in(a, a->current);
        a->before += current_chunk(a)->used;
    }
    c->used = c->sent = 0;
    c->first = task;
    a->current = i;
    a->at = a->begin = (uint64_t *)c->host;
    make_ready(a, bytes);
    return TG_OK;
}

tg_status tg_graph_args_grow(struct tg_graph_args *a, uint64_t bytes, uint64_t task,
                             struct tg_error *error)
{
    uint32_t next = a->end == NULL ? 0 : a->current + 1;
    uint64_t size = tg_graph_args_used(a) / 8 / 4096 * 4096;
    tg_status status;
    if (a->end != NULL && used_in(a, a->current) + bytes <= a->chunk[a->current].bytes) {
        make_ready(a, bytes);
        return TG_OK;
    }
    if (next < a->n_chunks && bytes <= a->chunk[next].bytes)
        return begin_chunk(a, next, bytes, task, error);
    if (!tg_grow(&a->chunk, &a->room_chunks, (size_t)a->n_chunks + 1, sizeof *a->chunk))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the graph");
    size = size < LEAST_CHUNK ? LEAST_CHUNK : size > MOST_CHUNK ? MOST_CHUNK : size;
    status = allocate(a, size, bytes, &a->chunk[a->n_chunks], error);
    if (status != TG_OK)
        return status;
    /* A chunk that is too small for these arguments stays behind for the next build. */
    if (next < a->n_chunks) {
        struct tg_arg_chunk small = a->chunk[next];
        a->chunk[next] = a->chunk[a->n_chunks];
        a->chunk[a->n_chunks] = small;
    }
    a->n_chunks++;
    return begin_chunk(a, next, bytes, task, error);
}

uint32_t tg_graph_args_chunk_of(const struct tg_graph_args *a, uint64_t task)
{
    uint32_t low = 0, high = a->end == NULL ? 0 : a->current;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (a->chunk[middle].first <= task)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t tg_graph_args_offset(const struct tg_graph_args *a, uint32_t chunk, uint32_t place)
{
    return a->chunk[chunk].address + (uint64_t)place * sizeof(uint64_t) -
           a->device->head.memory_start;
}

/* ── sending ───────────────────────────────────────────────────────────────────────────── */

static tg_status send_chunk(struct tg_graph_args *a, uint32_t i, struct tg_error *error)
{
    struct tg_arg_chunk *c = &a->chunk[i];
    uint64_t used = c->host != NULL ? used_in(a, i) : c->sent;
    tg_status status = TG_OK;
    if (c->mapped)
        return TG_OK;
    if (used > c->sent)
        status = tg_device_copy_in(a->device, c->address + c->sent, c->host + c->sent,
                                   used - c->sent, error);
    if (status != TG_OK)
        return status;
    c->sent = used;
    if (i != a->current) {
        free(c->host);
        c->host = NULL;
    }
    return TG_OK;
}

tg_status tg_graph_args_send(struct tg_graph_args *a, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; a->end != NULL && i <= a->current && status == TG_OK; i++)
        status = send_chunk(a, i, error);
    return status;
}

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

/* Copies the task's arguments to `words`, and returns how many words there can be; 0: none. */
static uint32_t fetch(struct tg_graph_args *a, const struct tg_task_desc *desc, uint64_t *words)
{
    uint64_t most = tg_stored_most_bytes(desc->n_tensors, desc->n_scalars);
    uint64_t address = a->device->head.memory_start + desc->args;
    for (uint32_t i = a->end == NULL ? 0 : a->current + 1; i-- > 0;) { /* usually a recent task */
        const struct tg_arg_chunk *c = &a->chunk[i];
        uint64_t from = address - c->address, size;
        if (address < c->address || from >= used_in(a, i))
            continue;
        size = used_in(a, i) - from < most ? used_in(a, i) - from : most;
        if (c->host != NULL)
            memcpy(words, c->host + from, size);
        else if (tg_device_copy_out(a->device, words, address, size, NULL) != TG_OK)
            return 0;
        return (uint32_t)(size / sizeof *words);
    }
    return 0;
}

bool tg_graph_args_read(struct tg_graph_args *a, const struct tg_task_desc *desc,
                        struct tg_tensor *tensors)
{
    uint64_t words[TG_STORED_MOST_WORDS];
    return desc->n_tensors == 0 ||
           tg_stored_get_all_checked(words, fetch(a, desc, words), desc->n_scalars, desc->n_tensors,
                                     tensors);
}

uint64_t tg_graph_args_used(const struct tg_graph_args *a)
{
    return a->end == NULL ? 0 : a->before + used_in(a, a->current);
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

void tg_graph_args_clear(struct tg_graph_args *a)
{
    a->at = a->end = a->begin = NULL;
    a->before = 0;
    a->current = 0;
}

void tg_graph_args_free(struct tg_graph_args *a)
{
    for (uint32_t i = a->n_chunks; i-- > 0;) { /* backwards: the cheapest for the device's heap */
        if (!a->chunk[i].mapped)
            free(a->chunk[i].host);
        tg_device_free(a->device, a->chunk[i].address, NULL);
    }
    free(a->chunk);
    *a = (struct tg_graph_args){.device = a->device};
}
