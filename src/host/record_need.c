/* SPDX-License-Identifier: Apache-2.0 */
#include "host/record_need.h"
#include "common/select.h"
#include "host/graph.h"
#include "host/record_setup.h"

/* So many tasks tell what all record. Reading the arguments of one may cost a copy over a bus. */
enum { LOOK_AT = 256 };

/* Streams of a graph that is not known yet begin with this much. */
#define FIRST_ARENA (UINT64_C(256) << 10)
enum { FIRST_BUFFERS = 4, FEWEST_BUFFERS = 2 };

/* A graph that records less than this gets room for twice of it, because lanes do not record equally
 * much. Of more than that a quarter is enough: locking memory costs as much as writing it to a file. */
#define ALL_ARENAS (UINT64_C(64) << 20)
/* A lane that records all of a small graph need not wait. */
#define SMALLEST_ARENA (UINT64_C(128) << 10)
#define ARENA_STEP (UINT64_C(4) << 10)

/* ── looking at the graph ──────────────────────────────────────────────────────────────── */

static void add_tensor(struct tg_record_need *need, const struct tg_tensor *t, enum tg_want want)
{
    uint64_t bytes = tg_bytes_of(t->dtype, tg_tensor_numel(t));
    need->records++;
    if (want == TG_WANT_PAYLOAD)
        need->bytes += (bytes + TG_CURSOR_UNIT - 1) / TG_CURSOR_UNIT * TG_CURSOR_UNIT;
}

static void add_stage(struct tg_record_need *need, struct tg_subject *a,
                      const struct tg_tensor *tensors, const struct tg_record_setup *setup,
                      const uint8_t *kernel_filters)
{
    uint64_t matched[TG_MAX_FILTERS] = {0};
    for (a->index = 0; a->index < a->desc->n_tensors; a->index++) {
        a->role = a->desc->roles >> (2 * a->index) & 3;
        enum tg_want want = tg_role_has_stage(a->role, a->stage)
                                ? tg_wanted(setup, kernel_filters, a, matched)
                                : TG_WANT_NOTHING;
        if (want != TG_WANT_NOTHING)
            add_tensor(need, &tensors[a->index], want);
    }
}

static void add_task(struct tg_record_need *need, struct tg_graph *graph, uint64_t task,
                     const struct tg_record_setup *setup, const uint8_t *kernel_filters)
{
    struct tg_task_desc desc = tg_graph_desc(graph, task);
    struct tg_tensor tensors[TG_MAX_TENSORS];
    struct tg_subject a = {.desc = &desc, .stage = TG_BEFORE_DISPATCH};
    need->records += desc.n_scalars;
    if (!tg_graph_tensors(graph, &desc, tensors))
        return;
    add_stage(need, &a, tensors, setup, kernel_filters);
    a.stage = TG_AFTER_COMPLETION;
    add_stage(need, &a, tensors, setup, kernel_filters);
}

/* One of each stretch of the graph, and not always the same one of it: a graph that repeats something may
 * repeat it as often as we look. */
static uint64_t pick(uint64_t i, uint64_t looked, uint64_t n)
{
    uint64_t first = i * n / looked, end = (i + 1) * n / looked;
    uint64_t any = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    any = (any ^ any >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 33;
    return first + any % (end - first);
}

struct tg_record_need tg_record_need_of(struct tg_graph *graph, const struct tg_record_setup *setup,
                                        const uint8_t *kernel_filters)
{
    struct tg_record_need need = {0};
    uint64_t n = graph->tasks.count, looked = n < LOOK_AT ? n : LOOK_AT;
    if (graph->layout != NULL)
        return need;
    for (uint64_t i = 0; i < looked; i++)
        add_task(&need, graph, pick(i, looked, n), setup, kernel_filters);
    if (looked > 0) {
        need.records = need.records * n / looked;
        need.bytes = need.bytes * n / looked;
    }
    need.records++; /* it is known */
    return need;
}

/* ── sharing out ───────────────────────────────────────────────────────────────────────── */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t fitting_arena(const struct tg_record_need *need, uint32_t n_streams)
{
    uint64_t all = least(2 * need->bytes, ALL_ARENAS + need->bytes / 4);
    uint64_t arena = most(all / n_streams, least(4 * need->bytes, SMALLEST_ARENA));
    return (arena / ARENA_STEP + 1) * ARENA_STEP;
}

static uint64_t fitting_buffers(const struct tg_record_need *need, uint32_t n_streams)
{
    return FEWEST_BUFFERS + 2 * need->records / n_streams / TG_PER_BUFFER;
}

void tg_record_fit(struct tg_stream_room *room, const struct tg_record_need *need,
                   uint32_t n_streams, struct tg_stream_room before)
{
    bool known = need->records > 0;
    uint64_t arena = known ? fitting_arena(need, n_streams) : most(before.arena, FIRST_ARENA);
    uint64_t buffers =
        known ? fitting_buffers(need, n_streams) : most(before.buffers, FIRST_BUFFERS);
    room->arena = least(room->arena, arena);
    room->buffers = (uint32_t)least(room->buffers, buffers);
}
