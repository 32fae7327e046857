/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and advice of `taskglass scope` as JSON. */
#include <stdio.h>
#include <taskglass/json.h>

#include "cli/scope.h"

static void put_fatal(struct tg_json *json, const struct tg_scope_fatal *fatal)
{
    tg_json_key(json, "fatal");
    if (!fatal) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "error", fatal->error);
    tg_json_put_string(json, "resource", tg_scope_resource_name(fatal->resource));
    tg_json_key(json, "ring");
    if (fatal->resource < TG_SCOPE_TENSORMAP)
        tg_json_uint(json, fatal->ring);
    else
        tg_json_null(json);
    tg_json_put_string(json, "site", fatal->site);
    tg_json_put_uint(json, "used", fatal->used);
    tg_json_put_uint(json, "capacity", fatal->capacity);
    tg_json_put_uint(json, "wanted", fatal->wanted);
    tg_json_put_string(json, "advice", fatal->advice);
    tg_json_end_object(json);
}

/* The capacities of the fanin pools of another implementation; null: there is no such pool. */
static void put_fanin(struct tg_json *json, const struct scope *scope)
{
    tg_json_key(json, "fanin_capacity");
    if (!scope->info.has_fanin) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_array(json);
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        tg_json_uint(json, tg_scope_stats_fanin(scope->stats, ring));
    tg_json_end_array(json);
}

static void put_stats(struct tg_json *json, const struct scope *scope)
{
    const struct tg_scope_stats_info *info = &scope->info;
    tg_json_key(json, "scope_stats");
    tg_json_begin_object(json);
    tg_json_put_string(json, "run", info->run);
    tg_json_put_string(json, "file", info->file);
    tg_json_put_uint(json, "version", TG_SCOPE_VERSION);
    tg_json_put_bool(json, "complete", info->complete);
    tg_json_put_bool(json, "failed", info->failed);
    put_fatal(json, info->fatal);
    tg_json_put_uint(json, "dropped", info->dropped);
    tg_json_put_uint(json, "total", info->total);
    tg_json_put_uint(json, "samples", info->samples);
    tg_json_put_uint(json, "scopes", info->scopes);
    tg_json_put_uint(json, "sites", info->sites);
    tg_json_put_uint(json, "left_open", info->left_open);
    tg_json_put_uint(json, "without_begin", info->without_begin);
    tg_json_put_uint(json, "without_end", info->without_end);
    tg_json_put_bool(json, "measured_peaks", info->measured);
    tg_json_put_bool(json, "measured_waits", info->waits_known);
    tg_json_put_bool(json, "no_rings", info->no_rings);
    put_fanin(json, scope);
    tg_json_end_object(json);
}

static void put_use(struct tg_json *json, const char *name, uint64_t used, uint64_t capacity)
{
    tg_json_key(json, name);
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "used", used);
    tg_json_put_uint(json, "capacity", capacity);
    tg_json_put_real(json, "share", tg_scope_share(used, capacity));
    tg_json_end_object(json);
}

static void put_waits(struct tg_json *json, const struct tg_scope_row *row)
{
    tg_json_key(json, "waits");
    tg_json_begin_line_object(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        tg_json_put_uint(json, tg_scope_resource_name(resource), row->waits[resource]);
    tg_json_put_real(json, "seconds", (double)row->wait_ns * 1e-9);
    tg_json_end_object(json);
}

static void put_row(struct tg_json *json, const struct scope *scope, const struct tg_scope_row *row)
{
    const struct tg_scope_stats *stats = scope->stats;
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "site", tg_scope_stats_site(stats, row->site));
    tg_json_put_uint(json, "ring", row->ring);
    tg_json_put_uint(json, "count", row->count);
    tg_json_put_uint(json, "touched", row->touched);
    tg_json_key(json, "depth");
    tg_json_begin_line_array(json);
    tg_json_uint(json, row->depth_min);
    tg_json_uint(json, row->depth_max);
    tg_json_end_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        put_use(json, tg_scope_resource_name(resource), row->peak[resource],
                tg_scope_stats_capacity(stats, resource, row->ring));
    if (scope->info.has_fanin)
        put_use(json, "fanin", row->fanin, tg_scope_stats_fanin(stats, row->ring));
    if (scope->info.waits_known)
        put_waits(json, row);
    tg_json_put_string(json, "nearest", tg_scope_resource_name(tg_scope_stats_nearest(stats, row)));
    tg_json_end_object(json);
}

static void put_need(struct tg_json *json, const struct scope *scope, unsigned resource,
                     uint32_t ring)
{
    struct tg_scope_need need;
    tg_scope_stats_get_need(scope->stats, resource, ring, &need);
    if (need.verdict == TG_SCOPE_ABSENT)
        return;
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "resource", tg_scope_resource_name(resource));
    tg_json_key(json, "ring");
    if (resource == TG_SCOPE_TENSORMAP)
        tg_json_null(json);
    else
        tg_json_uint(json, ring);
    tg_json_put_uint(json, "peak", need.peak);
    tg_json_put_uint(json, "capacity", need.capacity);
    tg_json_put_uint(json, "smallest", need.smallest);
    tg_json_put_string(json, "verdict", tg_scope_verdict_name(need.verdict));
    if (need.waits_known)
        tg_json_put_uint(json, "waits", need.waits);
    if (need.larger > 0) {
        tg_json_put_uint(json, "larger", need.larger);
        tg_json_put_bool(json, "never_waits", need.never);
    }
    tg_json_end_object(json);
}

static void put_advice(struct tg_json *json, const struct scope *scope)
{
    struct tg_scope_setting setting;
    tg_json_key(json, "advice");
    tg_json_begin_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
            put_need(json, scope, resource, ring);
    tg_json_end_array(json);
    tg_json_key(json, "options");
    tg_json_begin_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        tg_scope_stats_get_setting(scope->stats, resource, &setting);
        if (*setting.option)
            tg_json_string(json, setting.option);
    }
    tg_scope_stats_get_memory(scope->stats, &setting);
    if (*setting.option)
        tg_json_string(json, setting.option);
    tg_json_end_array(json);
}

void scope_print_json(const struct scope *scope)
{
    struct tg_scope_row row;
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    put_stats(&json, scope);
    tg_json_key(&json, "peaks");
    tg_json_begin_array(&json);
    for (uint32_t i = 0; !scope->top.given || i < scope->top.number; i++) {
        if (!tg_scope_stats_get_row(scope->stats, i, &row))
            break;
        put_row(&json, scope, &row);
    }
    tg_json_end_array(&json);
    put_advice(&json, scope);
    tg_json_end_object(&json);
    tg_json_finish(&json);
}
