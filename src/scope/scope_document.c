/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_document.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/error.h"

static void put_fatal(struct tg_json *json, const struct tg_scope_stats_info *info)
{
    const struct tg_scope_fatal *fatal = info->fatal;
    tg_json_put_bool(json, "failed", info->failed);
    tg_json_key(json, "fatal");
    if (!fatal) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "error", fatal->error);
    tg_json_put_string(json, "site", fatal->site);
    tg_json_put_string(json, "advice", fatal->advice);
    tg_json_put_uint(json, "resource", fatal->resource);
    tg_json_put_uint(json, "ring", fatal->ring);
    tg_json_put_uint(json, "used", fatal->used);
    tg_json_put_uint(json, "capacity", fatal->capacity);
    tg_json_put_uint(json, "wanted", fatal->wanted);
    tg_json_end_object(json);
}

static void put_numbers(struct tg_json *json, const struct tg_scope_document *document)
{
    const struct tg_scope_stats_info *info = &document->info;
    tg_json_put_string(json, "run", info->run);
    tg_json_put_bool(json, "complete", info->complete);
    tg_json_put_bool(json, "measured", info->measured);
    tg_json_put_bool(json, "no_rings", info->no_rings);
    put_fatal(json, info);
    tg_json_put_uint(json, "dropped", info->dropped);
    tg_json_put_uint(json, "samples", info->samples);
    tg_json_put_uint(json, "scopes", info->scopes);
    tg_json_put_uint(json, "left_open", info->left_open);
    tg_json_put_uint(json, "missing", info->without_begin + info->without_end);
}

/* [resource][ring]; the rings share one tensor map, so its capacity is the same for all. */
static void put_capacities(struct tg_json *json, const struct tg_scope_stats *stats)
{
    tg_json_key(json, "capacity");
    tg_json_begin_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        tg_json_begin_array(json);
        for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
            tg_json_uint(json, tg_scope_stats_capacity(stats, resource, ring));
        tg_json_end_array(json);
    }
    tg_json_end_array(json);
}

/* [resource, current setting, verdict, option]; the verdict is "waited" if the resource was full and
 * the orchestration waited for it. */
static void put_advice(struct tg_json *json, const struct tg_scope_stats *stats)
{
    struct tg_scope_setting setting;
    tg_json_key(json, "advice");
    tg_json_begin_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        tg_scope_stats_get_setting(stats, resource, &setting);
        if (setting.verdict == TG_SCOPE_ABSENT)
            continue;
        tg_json_begin_array(json);
        tg_json_uint(json, resource);
        tg_json_string(json, setting.present);
        tg_json_string(json, setting.waits > 0 && setting.verdict == TG_SCOPE_FULL
                                 ? "waited"
                                 : tg_scope_verdict_name(setting.verdict));
        tg_json_string(json, setting.option);
        tg_json_end_array(json);
    }
    tg_json_end_array(json);
}

static void put_sites(struct tg_json *json, const struct tg_scope_stats *stats)
{
    const char *site;
    tg_json_key(json, "sites");
    tg_json_begin_array(json);
    for (uint32_t i = 0; (site = tg_scope_stats_site(stats, i)); i++)
        tg_json_string(json, site);
    tg_json_end_array(json);
}

/* [site, ring, scopes, depth from, to, four peaks]. */
static void put_rows(struct tg_json *json, const struct tg_scope_stats *stats)
{
    struct tg_scope_row row;
    tg_json_key(json, "rows");
    tg_json_begin_array(json);
    for (uint32_t i = 0; tg_scope_stats_get_row(stats, i, &row); i++) {
        const uint64_t numbers[] = {row.site, row.ring, row.count, row.depth_min, row.depth_max};
        tg_json_begin_array(json);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            tg_json_uint(json, numbers[k]);
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
            tg_json_uint(json, row.peak[resource]);
        tg_json_end_array(json);
    }
    tg_json_end_array(json);
}

tg_status tg_scope_document_write(const struct tg_scope_document *document, struct tg_json *json)
{
    char *stream = tg_base64(document->stream.bytes, document->stream.size);
    if (!stream)
        return TG_NO_MEMORY;
    put_numbers(json, document);
    put_capacities(json, document->stats);
    put_advice(json, document->stats);
    put_sites(json, document->stats);
    put_rows(json, document->stats);
    tg_json_put_string(json, "stream", stream);
    free(stream);
    return TG_OK;
}

static bool on_sample(void *context, uint64_t index, uint32_t site,
                      const struct tg_scope_sample *sample)
{
    struct tg_scope_document *document = context;
    enum { EVERY = 1 << 17 };
    if (document->watch && index % EVERY == EVERY - 1)
        document->is_cancelled = document->watch(document->context, index + 1) != 0;
    return !document->is_cancelled && tg_scope_stream_add(&document->stream, site, sample);
}

tg_status tg_scope_document_open(const char *path, tg_scope_watch_fn watch, void *context,
                                 struct tg_scope_document *document, struct tg_error *error)
{
    *document = (struct tg_scope_document){.watch = watch, .context = context};
    tg_status status = tg_scope_stats_open(path, on_sample, document, &document->stats, error);
    if (document->is_cancelled)
        status = tg_error_set(error, TG_CANCELLED, "the page was cancelled");
    tg_scope_stats_get_info(document->stats, &document->info);
    return status;
}

void tg_scope_document_close(struct tg_scope_document *document)
{
    tg_scope_stream_free(&document->stream);
    tg_scope_stats_close(document->stats);
    *document = (struct tg_scope_document){0};
}
