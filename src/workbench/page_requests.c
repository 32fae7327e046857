/* SPDX-License-Identifier: Apache-2.0 */
#include "workbench/page_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "workbench/plane.h"
#include "workbench/records.h"

/* As encodeURIComponent of JavaScript does. */
static size_t encode(const char *text, char *to, size_t room)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-_.!~*'()";
    size_t used = 0;
    for (; *text && used + 4 <= room; text++)
        if (strchr(plain, *text))
            to[used++] = *text;
        else
            used += (size_t)snprintf(to + used, room - used, "%%%02X", (unsigned char)*text);
    to[used] = '\0';
    return used;
}

void tg_page_request(char request[TG_PAGE_REQUEST], const char *name, const char *run,
                     const char *rest)
{
    char key[3 * 256 + 4];
    (void)encode(run, key, sizeof key);
    (void)snprintf(request, TG_PAGE_REQUEST, "%s?run=%s%s", name, key, rest ? rest : "");
}

void tg_page_request_task(char request[TG_PAGE_REQUEST], const char *run, uint64_t id)
{
    char text[TG_BENCH_TASK_TEXT], encoded[3 * TG_BENCH_TASK_TEXT + 4],
        rest[4 * TG_BENCH_TASK_TEXT];
    tg_bench_task_text(id, text);
    (void)encode(text, encoded, sizeof encoded);
    (void)snprintf(rest, sizeof rest, "&task=%s", encoded);
    tg_page_request(request, "task", run, rest);
}

void tg_page_request_records(char request[TG_PAGE_REQUEST], const char *run, uint64_t first,
                             uint64_t count)
{
    char rest[80];
    (void)snprintf(rest, sizeof rest, "&first=%" PRIu64 "&count=%" PRIu64, first, count);
    tg_page_request(request, "records", run, rest);
}

void tg_page_request_record(char request[TG_PAGE_REQUEST], const char *name, const char *run,
                            uint64_t record, const char *rest)
{
    char all[512];
    (void)snprintf(all, sizeof all, "&record=%" PRIu64 "%s", record, rest);
    tg_page_request(request, name, run, all);
}

/* --- values --------------------------------------------------------------------------------- */

struct walk {
    const char *run;
    uint64_t record;
    tg_page_value_fn each;
    void *context;
    struct tg_error *error;
    char plane[200]; /* "&rows=0&cols=1&at=0%2C0" */
};

static tg_status visit(const struct walk *walk, const char *name, const char *rest)
{
    char request[TG_PAGE_REQUEST];
    tg_page_request_record(request, name, walk->run, walk->record, rest);
    return walk->each(walk->context, request, walk->error);
}

static uint64_t pieces_of(uint64_t elements, uint64_t size)
{
    return elements == 0 ? 1 : (elements - 1) / size + 1;
}

/* All pieces of `side` × `side` elements, with `level` in front of their places. */
static tg_status walk_pieces(const struct walk *walk, const char *name, const char *level,
                             const struct tg_plane *plane, uint64_t side)
{
    char rest[400];
    tg_status status = TG_OK;
    const uint64_t rows = pieces_of(plane->height, side), cols = pieces_of(plane->width, side);
    for (uint64_t row = 0; status == TG_OK && row < rows; row++)
        for (uint64_t col = 0; status == TG_OK && col < cols; col++) {
            (void)snprintf(rest, sizeof rest, "%s%s&row=%" PRIu64 "&col=%" PRIu64, walk->plane,
                           level, row, col);
            status = visit(walk, name, rest);
        }
    return status;
}

/* The plane as the page names it: its dimensions, and index 0 in all of them. */
static void name_plane(struct walk *walk, const struct tg_plane *plane, int ndim)
{
    size_t used = (size_t)snprintf(walk->plane, sizeof walk->plane,
                                   "&rows=%d&cols=%d&at=", plane->rows, plane->cols);
    for (int i = 0; i < ndim && used < sizeof walk->plane; i++)
        used += (size_t)snprintf(walk->plane + used, sizeof walk->plane - used, "%s0",
                                 i > 0 ? "%2C" : "");
}

tg_status tg_page_walk_values(const char *run, uint64_t record, const struct tg_array *array,
                              tg_page_value_fn each, void *context, struct tg_error *error)
{
    struct walk walk = {
        .run = run, .record = record, .each = each, .context = context, .error = error};
    struct tg_shown shown = {.array = *array, .ndim = array->ndim > 0 ? array->ndim : 1};
    struct tg_plane plane;
    char level[32];
    shown.shape[0] = array->elements;
    for (int i = 0; i < array->ndim; i++)
        shown.shape[i] = array->shape[i];
    tg_plane_default(&shown, &plane);
    name_plane(&walk, &plane, shown.ndim);
    tg_status status = visit(&walk, "stats", "");
    if (status == TG_OK)
        status = visit(&walk, "histogram", "&bins=64");
    for (unsigned i = plane.levels; status == TG_OK && i-- > 0;) {
        (void)snprintf(level, sizeof level, "&level=%u", i);
        status = walk_pieces(&walk, "heatmap", level, &plane, (uint64_t)TG_TILE_CELLS << i);
    }
    return status == TG_OK ? walk_pieces(&walk, "values", "", &plane, TG_BLOCK_SIDE) : status;
}
