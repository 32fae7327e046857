/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/names.h"
#include "base/out.h"
#include "scope/scope_tally.h"

static void put_uint(struct tg_out *out, const char *key, uint64_t value)
{
    tg_out_text(out, key);
    tg_out_uint(out, value);
}

/* The text may be the device's. */
static void put_string(struct tg_out *out, const char *key, const char *text)
{
    char clean[TG_NAME_MAX + 1];
    tg_out_text(out, key);
    if (!text) {
        tg_out_text(out, "null");
        return;
    }
    tg_name_clean(text, strnlen(text, TG_NAME_MAX), clean, sizeof clean);
    tg_out_string(out, clean);
}

static void put_fatal(struct tg_out *out, const struct tg_scope_fatal *fatal)
{
    if (!fatal) {
        tg_out_text(out, "null");
        return;
    }
    put_string(out, "{\"error\": ", fatal->error);
    put_string(out, ", \"resource\": ", tg_scope_resource_name(fatal->resource));
    if (fatal->resource == TG_SCOPE_TENSORMAP)
        tg_out_text(out, ", \"ring\": null");
    else
        put_uint(out, ", \"ring\": ", fatal->ring);
    put_string(out, ", \"site\": ", fatal->site);
    put_uint(out, ", \"used\": ", fatal->used);
    put_uint(out, ", \"capacity\": ", fatal->capacity);
    put_uint(out, ", \"wanted\": ", fatal->wanted);
    put_string(out, ", \"advice\": ", fatal->advice);
    tg_out_text(out, "}");
}

static void put_use(struct tg_out *out, const struct tg_scope_tally *tally,
                    const struct tg_scope_row *row, unsigned resource)
{
    tg_out_text(out, ", \"");
    tg_out_text(out, tg_scope_resource_name(resource));
    put_uint(out, "\": \"", row->peak[resource]);
    put_uint(out, "/", tg_scope_capacity(&tally->limits, resource, row->ring));
    tg_out_text(out, "\"");
}

static void put_nearest(struct tg_out *out, const struct tg_scope_tally *tally,
                        const struct tg_scope_row *row)
{
    unsigned nearest = tg_scope_nearest(&tally->limits, row);
    uint64_t capacity = tg_scope_capacity(&tally->limits, nearest, row->ring);
    tg_out_text(out, ", \"nearest\": {\"resource\": \"");
    tg_out_text(out, tg_scope_resource_name(nearest));
    tg_out_text(out, "\", \"share\": ");
    tg_out_double(out, tg_scope_share(row->peak[nearest], capacity));
    tg_out_text(out, "}}");
}

static void put_row(struct tg_out *out, const struct tg_scope_tally *tally,
                    const struct tg_scope_row *row)
{
    tg_out_text(out, "{\"site\": ");
    tg_out_string(out, tally->site[row->site].name);
    put_uint(out, ", \"ring\": ", row->ring);
    put_uint(out, ", \"count\": ", row->count);
    put_uint(out, ", \"depth\": [", row->depth_min);
    put_uint(out, ", ", row->depth_max);
    tg_out_text(out, "]");
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        put_use(out, tally, row, resource);
    put_nearest(out, tally, row);
}

/* What the file is made of. */
struct summary {
    const struct tg_scope_tally *tally;
    uint64_t dropped, total;
    const struct tg_scope_fatal *fatal;
};

static void put_summary(struct tg_out *out, const struct summary *summary)
{
    const struct tg_scope_tally *tally = summary->tally;
    put_uint(out, "{\n  \"version\": ", TG_SCOPE_VERSION);
    tg_out_text(out, ",\n  \"fatal\": ");
    put_fatal(out, summary->fatal);
    put_uint(out, ",\n  \"dropped\": ", summary->dropped);
    put_uint(out, ",\n  \"total\": ", summary->total);
    tg_out_text(out, ",\n  \"scopes\": [");
    for (uint32_t i = 0; i < tally->n_rows; i++) {
        tg_out_text(out, i > 0 ? ",\n    " : "\n    ");
        put_row(out, tally, &tally->row[i]);
    }
    tg_out_text(out, tally->n_rows > 0 ? "\n  ]\n}\n" : "]\n}\n");
}

static int print(int fd, const void *summary)
{
    struct tg_out *out = malloc(sizeof *out);
    if (!out)
        return ENOMEM;
    tg_out_start(out, fd);
    put_summary(out, summary);
    int cause = tg_out_finish(out);
    free(out);
    return cause;
}

tg_status tg_scope_summary_write(const struct tg_scope_tally *tally, const char *dir,
                                 uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error)
{
    struct summary summary = {tally, dropped, total, fatal};
    return tg_file_write(dir, TG_SCOPE_SUMMARY, print, &summary, error);
}
