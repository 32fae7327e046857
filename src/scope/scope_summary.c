/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include <taskglass/json.h>
#include "base/names.h"
#include "scope/scope_tally.h"

/* The text may come from the device, so it is cleaned. */
static void put_string(struct tg_json *json, const char *key, const char *text)
{
    char clean[TG_NAME_MAX + 1];
    if (text)
        tg_name_clean(text, strnlen(text, TG_NAME_MAX), clean, sizeof clean);
    tg_json_put_string(json, key, text ? clean : NULL);
}

static void put_fatal(struct tg_json *json, const struct tg_scope_fatal *fatal)
{
    tg_json_key(json, "fatal");
    if (!fatal) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_line_object(json);
    put_string(json, "error", fatal->error);
    put_string(json, "resource", tg_scope_resource_name(fatal->resource));
    tg_json_key(json, "ring");
    if (fatal->resource == TG_SCOPE_TENSORMAP)
        tg_json_null(json);
    else
        tg_json_uint(json, fatal->ring);
    put_string(json, "site", fatal->site);
    tg_json_put_uint(json, "used", fatal->used);
    tg_json_put_uint(json, "capacity", fatal->capacity);
    tg_json_put_uint(json, "wanted", fatal->wanted);
    put_string(json, "advice", fatal->advice);
    tg_json_end_object(json);
}

static void put_use(struct tg_json *json, const struct tg_scope_tally *tally,
                    const struct tg_scope_row *row, unsigned resource)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, row->peak[resource],
                   tg_scope_capacity(&tally->limits, resource, row->ring));
    tg_json_put_string(json, tg_scope_resource_name(resource), text);
}

static void put_nearest(struct tg_json *json, const struct tg_scope_tally *tally,
                        const struct tg_scope_row *row)
{
    unsigned nearest = tg_scope_nearest(&tally->limits, row);
    uint64_t capacity = tg_scope_capacity(&tally->limits, nearest, row->ring);
    tg_json_key(json, "nearest");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "resource", tg_scope_resource_name(nearest));
    tg_json_put_real(json, "share", tg_scope_share(row->peak[nearest], capacity));
    tg_json_end_object(json);
}

static void put_waits(struct tg_json *json, const struct tg_scope_row *row)
{
    tg_json_key(json, "waits");
    tg_json_begin_line_object(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        if (row->waits[resource] > 0)
            tg_json_put_uint(json, tg_scope_resource_name(resource), row->waits[resource]);
    tg_json_put_real(json, "seconds", (double)row->wait_ns * 1e-9);
    tg_json_end_object(json);
}

static void put_row(struct tg_json *json, const struct tg_scope_tally *tally,
                    const struct tg_scope_row *row)
{
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "site", tally->site[row->site].name);
    tg_json_put_uint(json, "ring", row->ring);
    tg_json_put_uint(json, "count", row->count);
    tg_json_key(json, "depth");
    tg_json_begin_array(json);
    tg_json_uint(json, row->depth_min);
    tg_json_uint(json, row->depth_max);
    tg_json_end_array(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        put_use(json, tally, row, resource);
    put_nearest(json, tally, row);
    if (row->touched > 0)
        tg_json_put_uint(json, "touched", row->touched);
    if (row->wait_ns > 0)
        put_waits(json, row);
    tg_json_end_object(json);
}

/* The data that the summary is written from. */
struct summary {
    const struct tg_scope_tally *tally;
    uint64_t dropped, total;
    const struct tg_scope_fatal *fatal;
};

static void put_summary(struct tg_json *json, const struct summary *summary)
{
    const struct tg_scope_tally *tally = summary->tally;
    tg_json_begin_object(json);
    tg_json_put_uint(json, "version", TG_SCOPE_VERSION);
    put_fatal(json, summary->fatal);
    tg_json_put_uint(json, "dropped", summary->dropped);
    tg_json_put_uint(json, "total", summary->total);
    tg_json_key(json, "scopes");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < tally->n_rows; i++)
        put_row(json, tally, &tally->row[i]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static int print(int fd, const void *summary)
{
    char buffer[1 << 14];
    struct tg_json json;
    tg_json_start_buffer(&json, buffer, sizeof buffer, fd, 0);
    put_summary(&json, summary);
    return tg_json_finish(&json) == TG_OK ? 0 : errno ? errno : EIO;
}

tg_status tg_scope_summary_write(const struct tg_scope_tally *tally, const char *dir,
                                 uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error)
{
    struct summary summary = {tally, dropped, total, fatal};
    return tg_file_write(dir, TG_SCOPE_SUMMARY, print, &summary, error);
}
