/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "trace/merge_out.h"

enum { FLUSH_AT = 1 << 18, LOOK_EVENTS = 4096 };

void tg_merge_flush(struct tg_merge_out *out, bool all)
{
    struct tg_bytes *bytes = &out->bytes;
    if (bytes->used < FLUSH_AT && !all)
        return;
    errno = 0;
    if (out->cause == 0 && bytes->used > 0 &&
        fwrite(bytes->at, 1, bytes->used, out->config->file) != bytes->used)
        out->cause = errno ? errno : EIO;
    out->result.bytes += bytes->used;
    bytes->used = 0;
}

bool tg_merge_goes_on(struct tg_merge_out *out)
{
    const struct tg_merge_config *config = out->config;
    if (++out->looked % LOOK_EVENTS == 0 && config->goes_on && !config->goes_on(config->context))
        out->is_cancelled = true;
    return !out->is_cancelled && out->cause == 0 && !out->bytes.no_memory;
}

/* --- clocks ---------------------------------------------------------------------------------- */

uint64_t tg_merge_time(const struct tg_merge_part *part, uint64_t own)
{
    int64_t time = own <= INT64_MAX ? (int64_t)own : INT64_MAX;
    time = tg_ranks_time(&part->from->clock, time);
    if (part->shift > 0 && time > INT64_MAX - part->shift)
        time = INT64_MAX;
    else
        time = time < 0 ? 0 : time + part->shift;
    return time > 0 ? (uint64_t)time : 0;
}

/* Ranks on rank 0's machine have its clock. One whose clock is not known is shown as if it had begun with
 * rank 0: machines' clocks may be years apart. */
static void set_clocks(struct tg_merge_out *out)
{
    const struct tg_merge_part *first = &out->part[0];
    for (uint32_t i = 0; i < out->config->n_ranks; i++) {
        struct tg_merge_part *part = &out->part[i];
        const char *host = part->from->host;
        part->is_sure = part->from->clock.is_known || part->from->rank == 0 ||
                        (*host && strcmp(host, first->from->host) == 0);
        out->result.unsure += !part->is_sure;
        if (!part->is_sure && part->first <= INT64_MAX && first->first <= INT64_MAX)
            part->shift = (int64_t)first->first - (int64_t)part->first;
    }
}

static void set_begin(struct tg_merge_out *out)
{
    out->begin = TG_SPOOL_NO_TIME;
    for (uint32_t i = 0; i < out->config->n_ranks; i++) {
        const struct tg_merge_part *part = &out->part[i];
        uint64_t first =
            part->first != TG_SPOOL_NO_TIME ? tg_merge_time(part, part->first) : part->first;
        for (size_t k = 0; k < part->n_calls; k++)
            first = part->call[k].begin < first ? part->call[k].begin : first;
        out->begin = first < out->begin ? first : out->begin;
    }
    if (out->begin == TG_SPOOL_NO_TIME)
        out->begin = 0;
}

void tg_merge_put_rank(struct tg_merge_out *out, const struct tg_merge_part *part)
{
    const struct tg_ranks_clock *clock = &part->from->clock;
    char text[32];
    out->ops->put_number(out, "rank", part->from->rank);
    out->ops->put_number(out, "ranks", out->config->n_ranks);
    out->ops->put_text(out, "host", part->from->host);
    if (!part->is_sure) {
        out->ops->put_text(out, "clock", "not known: shown as if it had begun with rank 0");
        return;
    }
    int64_t offset = clock->is_known ? clock->offset_ns : 0;
    (void)snprintf(text, sizeof text, "%lld", (long long)offset);
    out->ops->put_text(out, "clock_offset_ns", text);
    out->ops->put_number(out, "clock_error_ns",
                         clock->is_known && clock->error_ns > 0 ? (uint64_t)clock->error_ns : 0);
}

/* --- the whole ------------------------------------------------------------------------------- */

static bool is_json(const struct tg_map *map)
{
    size_t at = 0;
    while (at < map->size && map->bytes[at] != '\0' && strchr(" \n\r\t", map->bytes[at]))
        at++;
    return at < map->size && (map->bytes[at] == '{' || map->bytes[at] == '[');
}

static const char *name_of(const struct tg_merge_part *part)
{
    return part->from->name ? part->from->name : part->from->path;
}

static tg_status damaged(const struct tg_merge_part *part, uint64_t at, const char *problem,
                         struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is damaged at byte %llu: %s", name_of(part),
                        (unsigned long long)at, problem);
}

static tg_status open_trace(struct tg_merge_out *out, struct tg_merge_part *part,
                            struct tg_error *error)
{
    bool wants_json = out->config->format == TG_TRACE_CHROME;
    if (!part->from->path)
        return TG_OK;
    int cause = tg_map_open(part->from->path, TG_LINKS_FOLLOW, &part->map);
    if (cause != 0)
        return tg_file_error(error, "read", name_of(part), cause);
    if (part->map.size == 0 || is_json(&part->map) != wants_json)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is no trace in %s", name_of(part),
                            wants_json ? "Chrome's JSON; a name that ends in .pftrace takes it"
                                       : "Perfetto's format; a name that ends in .json takes it");
    out->result.traces++;
    const char *problem = out->ops->look(part);
    return problem ? damaged(part, 0, problem, error) : TG_OK;
}

static tg_status open_parts(struct tg_merge_out *out, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; status == TG_OK && i < out->config->n_ranks; i++) {
        struct tg_merge_part *part = &out->part[i];
        char host[100];
        *part = (struct tg_merge_part){.from = &out->config->rank[i], .first = TG_SPOOL_NO_TIME};
        tg_name_clean(part->from->host, strlen(part->from->host), host, sizeof host);
        (void)snprintf(part->label, sizeof part->label, *host ? "rank %u (%s)" : "rank %u",
                       part->from->rank, host);
        status = open_trace(out, part, error);
    }
    return status;
}

static tg_status copy_parts(struct tg_merge_out *out, struct tg_error *error)
{
    for (uint32_t i = 0; i < out->config->n_ranks; i++) {
        struct tg_merge_part *part = &out->part[i];
        uint64_t at = 0;
        const char *problem = out->ops->copy(out, i, &at);
        if (part->map.size > 0) {
            tg_status status = tg_map_report(&part->map, name_of(part), error);
            if (status != TG_OK)
                return status;
        }
        if (problem && tg_merge_goes_on(out))
            return damaged(part, at, problem, error);
        tg_merge_write_calls(out, i);
        tg_map_close(&part->map);
    }
    return TG_OK;
}

static tg_status conclude(struct tg_merge_out *out, struct tg_error *error)
{
    tg_merge_flush(out, true);
    if (out->cause == 0 && fflush(out->config->file) != 0)
        out->cause = errno;
    if (out->is_cancelled)
        return tg_error_set(error, TG_CANCELLED, "writing the trace was cancelled");
    if (out->bytes.no_memory)
        return tg_file_no_memory(error);
    return out->cause == 0 ? TG_OK : tg_file_error(error, "write", out->config->path, out->cause);
}

tg_status tg_trace_merge(const struct tg_merge_config *config, struct tg_merge_result *result,
                         struct tg_error *error)
{
    struct tg_merge_out out = {.config = config,
                               .ops = config->format == TG_TRACE_CHROME ? &tg_merge_chrome
                                                                        : &tg_merge_perfetto};
    out.part = calloc((size_t)config->n_ranks + 1, sizeof *out.part);
    if (!out.part)
        return tg_file_no_memory(error);
    tg_status status = open_parts(&out, error);
    if (status == TG_OK) {
        set_clocks(&out);
        if (!tg_merge_take_calls(&out))
            status = tg_file_no_memory(error);
    }
    if (status == TG_OK) {
        set_begin(&out);
        out.ops->begin(&out);
        status = copy_parts(&out, error);
        out.ops->end(&out);
    }
    if (status == TG_OK)
        status = conclude(&out, error);
    for (uint32_t i = 0; i < config->n_ranks; i++) {
        tg_map_close(&out.part[i].map);
        free(out.part[i].call);
    }
    free(out.part);
    free(out.bytes.at);
    *result = out.result;
    return status;
}
