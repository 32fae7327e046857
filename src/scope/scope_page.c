/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: web/scope.html, which is embedded in the library, with the data in the middle as one JSON
 * object in a <script> element. A browser searches for the end of that element before it parses the
 * JSON, so every '<' is escaped.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/new_file.h>
#include <taskglass/recording.h>
#include <taskglass/scope_stats.h>

#include "base/error.h"
#include "scope/scope_stream.h"

extern const unsigned char tg_scope_page_html[];
extern const size_t tg_scope_page_html_size;

/* What a page is made from. */
struct page {
    struct tg_scope_stats *stats;
    struct tg_scope_stats_info info;
    struct tg_scope_stream stream; /* the samples */
    tg_scope_watch_fn watch;
    void *context;
    bool is_cancelled;
};

static const char marker[] = "@SCOPE_DATA@";

/* --- the parts ----------------------------------------------------------------------------- */

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

static void put_numbers(struct tg_json *json, const struct page *page)
{
    const struct tg_scope_stats_info *info = &page->info;
    tg_json_put_string(json, "run", page->info.run);
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

/* The bytes as text, on the heap; NULL if memory runs out. Leaves out the padding, which browsers do not
 * need. */
static char *base64(const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(size / 3 * 4 + 5);
    size_t used = 0;
    for (size_t at = 0; text && at < size; at += 3) {
        size_t left = size - at;
        uint32_t word = (uint32_t)bytes[at] << 16 | (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                        (left > 2 ? bytes[at + 2] : 0);
        for (size_t i = 0; i < (left > 2 ? 4 : left + 1); i++)
            text[used++] = digits[word >> (18 - 6 * i) & 63];
    }
    if (text)
        text[used] = '\0';
    return text;
}

/* The data as one line of JSON, on the heap; NULL if memory runs out. */
static char *data_of(const struct page *page, size_t *size)
{
    char *stream = base64(page->stream.bytes, page->stream.size), *text = NULL;
    FILE *memory = stream ? open_memstream(&text, size) : NULL;
    struct tg_json json;
    tg_status status = TG_NO_MEMORY;
    if (memory) {
        tg_json_start(&json, memory);
        tg_json_begin_line_object(&json);
        put_numbers(&json, page);
        put_capacities(&json, page->stats);
        put_advice(&json, page->stats);
        put_sites(&json, page->stats);
        put_rows(&json, page->stats);
        tg_json_put_string(&json, "stream", stream);
        tg_json_end_object(&json);
        status = tg_json_finish(&json);
        if (fclose(memory) != 0 || !text) /* without memory, fclose may succeed and leave no text */
            status = TG_NO_MEMORY;
    }
    free(stream);
    if (status == TG_OK)
        return text;
    free(text);
    return NULL;
}

/* JSON has these characters in strings alone, where it can escape them. */
static void put_in_html(FILE *file, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            fprintf(file, "\\u%04x", (unsigned)text[i]);
        else
            putc(text[i], file);
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_page(FILE *file, const char *data, size_t size)
{
    const unsigned char *end = tg_scope_page_html + tg_scope_page_html_size;
    const unsigned char *at =
        memmem(tg_scope_page_html, tg_scope_page_html_size, marker, strlen(marker));
    if (!at)
        at = end - strlen(marker); /* cannot happen: the page has its marker */
    fwrite(tg_scope_page_html, 1, (size_t)(at - tg_scope_page_html), file);
    put_in_html(file, data, size);
    at += strlen(marker);
    fwrite(at, 1, (size_t)(end - at), file);
}

static bool on_sample(void *context, uint64_t index, uint32_t site,
                      const struct tg_scope_sample *sample)
{
    struct page *page = context;
    enum { EVERY = 1 << 17 };
    if (page->watch && index % EVERY == EVERY - 1)
        page->is_cancelled = page->watch(page->context, index + 1) != 0;
    return !page->is_cancelled && tg_scope_stream_add(&page->stream, site, sample);
}

static tg_status write_file(const struct page *page, const char *path, bool overwrite,
                            struct tg_scope_page *written, struct tg_error *error)
{
    struct tg_new_file *new_file;
    size_t data_size = 0;
    tg_status status = tg_run_check_output(page->info.file, path, error);
    if (status == TG_OK)
        status = tg_new_file_open(path, overwrite, &new_file, error);
    if (status != TG_OK)
        return status;
    FILE *file = tg_new_file_stream(new_file);
    char *data = data_of(page, &data_size);
    if (!data) {
        (void)tg_new_file_close(new_file, false, NULL);
        return tg_error_set(error, TG_NO_MEMORY, "cannot write '%s': out of memory", path);
    }
    setvbuf(file, NULL, _IOFBF, 1 << 18);
    put_page(file, data, data_size);
    free(data);
    long bytes = ftell(file);
    *written = (struct tg_scope_page){page->info.scopes, bytes > 0 ? (uint64_t)bytes : 0};
    return tg_new_file_close(new_file, true, error);
}

tg_status tg_scope_stats_write_page(const char *stats, const char *path, bool overwrite,
                                    tg_scope_watch_fn watch, void *context,
                                    struct tg_scope_page *written, struct tg_error *error)
{
    struct page page = {.watch = watch, .context = context};
    struct tg_scope_page unread;
    TG_REFUSE_NULL(error, stats);
    TG_REFUSE_NULL(error, path);
    tg_status status = tg_scope_stats_open(stats, on_sample, &page, &page.stats, error);
    if (page.is_cancelled)
        status = tg_error_set(error, TG_CANCELLED, "the page was cancelled");
    tg_scope_stats_get_info(page.stats, &page.info);
    if (status == TG_OK)
        status = write_file(&page, path, overwrite, written ? written : &unread, error);
    tg_scope_stream_free(&page.stream);
    tg_scope_stats_close(page.stats);
    return status;
}
