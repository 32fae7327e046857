/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: web/dist/scope.html, which is embedded in the library, with the data in the middle as one JSON
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
#include "base/html.h"
#include "scope/scope_document.h"

extern const unsigned char tg_scope_page_html[];
extern const size_t tg_scope_page_html_size;

static const char marker[] = "@SCOPE_DATA@";

/* The data as one line of JSON, on the heap; NULL if memory runs out. */
static char *data_of(const struct tg_scope_document *document, size_t *size)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, size);
    struct tg_json json;
    tg_status status = TG_NO_MEMORY;
    if (memory) {
        tg_json_start(&json, memory);
        tg_json_begin_line_object(&json);
        status = tg_scope_document_write(document, &json);
        tg_json_end_object(&json);
        if (status == TG_OK)
            status = tg_json_finish(&json);
        if (fclose(memory) != 0 || !text) /* without memory, fclose may succeed and leave no text */
            status = TG_NO_MEMORY;
    }
    if (status == TG_OK)
        return text;
    free(text);
    return NULL;
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
    (void)tg_html_put_json(file, data, size);
    at += strlen(marker);
    fwrite(at, 1, (size_t)(end - at), file);
}

static tg_status write_file(const struct tg_scope_document *document, const char *path,
                            bool overwrite, struct tg_scope_page *written, struct tg_error *error)
{
    struct tg_new_file *new_file;
    size_t data_size = 0;
    tg_status status = tg_run_check_output(document->info.file, path, error);
    if (status == TG_OK)
        status = tg_new_file_open(path, overwrite, &new_file, error);
    if (status != TG_OK)
        return status;
    FILE *file = tg_new_file_stream(new_file);
    char *data = data_of(document, &data_size);
    if (!data) {
        (void)tg_new_file_close(new_file, false, NULL);
        return tg_error_set(error, TG_NO_MEMORY, "cannot write '%s': out of memory", path);
    }
    setvbuf(file, NULL, _IOFBF, 1 << 18);
    put_page(file, data, data_size);
    free(data);
    long bytes = ftell(file);
    *written = (struct tg_scope_page){document->info.scopes, bytes > 0 ? (uint64_t)bytes : 0};
    return tg_new_file_close(new_file, true, error);
}

tg_status tg_scope_stats_write_page(const char *stats, const char *path, bool overwrite,
                                    tg_scope_watch_fn watch, void *context,
                                    struct tg_scope_page *written, struct tg_error *error)
{
    struct tg_scope_document document;
    struct tg_scope_page unread;
    TG_REFUSE_NULL(error, stats);
    TG_REFUSE_NULL(error, path);
    tg_status status = tg_scope_document_open(stats, watch, context, &document, error);
    if (status == TG_OK)
        status = write_file(&document, path, overwrite, written ? written : &unread, error);
    tg_scope_document_close(&document);
    return status;
}
