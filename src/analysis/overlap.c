/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/overlap.h"

#include "analysis/deps_memory.h"

struct span {
    struct tg_memory memory;
    uint64_t bytes, runs;
    bool no_memory;
};

static bool take_run(void *context, uint64_t lo, uint64_t hi)
{
    struct span *span = context;
    span->bytes += hi - lo;
    span->runs++;
    span->no_memory = !tg_memory_write(&span->memory, lo, hi, 0);
    return !span->no_memory;
}

static bool has_no_writer(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    (void)context, (void)lo, (void)hi;
    return writer == TG_NO_WRITER;
}

static bool misses_run(void *context, uint64_t lo, uint64_t hi)
{
    struct span *span = context;
    span->bytes += hi - lo;
    span->runs++;
    return tg_memory_read(&span->memory, lo, hi, has_no_writer, NULL);
}

/* A view of many pieces is given as one run, which has bytes that the view does not touch. */
static bool is_rough(const struct span *span, const struct tg_record *record)
{
    return span->runs == 1 && span->bytes > record->bytes;
}

static bool count_run(void *context, uint64_t lo, uint64_t hi)
{
    struct span *span = context;
    span->bytes += hi - lo;
    span->runs++;
    return true;
}

bool tg_record_is_rough(const struct tg_record *record)
{
    struct span span = {0};
    return tg_view_runs(record, count_run, &span) && is_rough(&span, record);
}

bool tg_records_overlap(const struct tg_record *a, const struct tg_record *b)
{
    struct span span = {0};
    tg_memory_init(&span.memory);
    bool good = tg_view_runs(a, take_run, &span) && !is_rough(&span, a);
    span.bytes = span.runs = 0;
    bool is_apart = !good || tg_view_runs(b, misses_run, &span);
    bool overlaps = !is_apart && !is_rough(&span, b);
    tg_memory_free(&span.memory);
    return overlaps;
}
