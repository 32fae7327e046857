/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "workbench/page_file.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/new_file.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/files.h"
#include "base/html.h"
#include "base/sha256.h"

/* What the page refers to, as index.html writes it; each becomes the file itself. */
static const char charset[] = "<meta charset=\"utf-8\">";
static const char style[] = "<link rel=\"stylesheet\" href=\"app.css\">";
static const char script[] = "<script src=\"app.js\" defer></script>";

/* --- the frame ------------------------------------------------------------------------------ */

static void put(struct tg_page_file *page, const void *bytes, size_t size)
{
    (void)fwrite(bytes, 1, size, page->stream);
    page->bytes += size;
}

static void put_text(struct tg_page_file *page, const char *text)
{
    put(page, text, strlen(text));
}

/* 'sha256-…' of a file, as a policy names what may run. False if memory ran out. */
static bool put_hash(struct tg_page_file *page, const void *bytes, size_t size)
{
    struct tg_sha256 hash;
    char hex[TG_SHA256_TEXT];
    unsigned char binary[TG_SHA256_BYTES];
    tg_sha256_start(&hash);
    tg_sha256_add(&hash, bytes, size);
    tg_sha256_end(&hash, hex);
    for (size_t i = 0; i < sizeof binary; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        binary[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    char *text = tg_base64(binary, sizeof binary);
    if (!text)
        return false;
    put_text(page, "'sha256-");
    put_text(page, text);
    put_text(page, "='"); /* 32 bytes need one character of padding */
    free(text);
    return true;
}

static bool put_policy(struct tg_page_file *page, const void *css, size_t css_size, const void *js,
                       size_t js_size)
{
    put_text(page, "\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "base-uri 'none'; form-action 'none'; img-src data: blob:; style-src ");
    bool good = put_hash(page, css, css_size);
    put_text(page, "; script-src ");
    good = good && put_hash(page, js, js_size);
    put_text(page, "\">");
    return good;
}

/* Writes the page up to the place of `word`, and goes behind it. False: the page does not have it. */
static bool put_up_to(struct tg_page_file *page, const char *word)
{
    const char *at = memmem(page->rest, page->rest_size, word, strlen(word));
    if (!at)
        return false;
    put(page, page->rest, (size_t)(at - page->rest));
    page->rest_size -= (size_t)(at - page->rest) + strlen(word);
    page->rest = at + strlen(word);
    return true;
}

/* The files of web/dist have what is looked for; a test holds them to it. */
static tg_status begin(struct tg_page_file *page, struct tg_error *error)
{
    size_t css_size, js_size;
    const char *css = tg_workbench_file("app.css", NULL, &css_size);
    page->rest = tg_workbench_file("", NULL, &page->rest_size);
    const char *js = tg_workbench_file("app.js", NULL, &js_size);
    bool good = put_up_to(page, charset);
    put_text(page, charset);
    good = good && put_policy(page, css, css_size, js, js_size) && put_up_to(page, style);
    put_text(page, "<style>");
    put(page, css, css_size);
    put_text(page, "</style>");
    good = good && put_up_to(page, script);
    put_text(page, "<script type=\"application/json\" id=\"answers\">{");
    return good ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "out of memory");
}

tg_status tg_page_file_open(const char *path, bool overwrite, struct tg_page_file *page,
                            struct tg_error *error)
{
    *page = (struct tg_page_file){0};
    tg_status status = tg_new_file_open(path, overwrite, &page->file, error);
    if (status != TG_OK)
        return status;
    page->stream = tg_new_file_stream(page->file);
    (void)setvbuf(page->stream, NULL, _IOFBF, 1 << 18);
    status = begin(page, error);
    if (status != TG_OK)
        (void)tg_page_file_close(page, false, NULL);
    return status;
}

tg_status tg_page_file_close(struct tg_page_file *page, bool keep, struct tg_error *error)
{
    size_t js_size;
    const char *js = tg_workbench_file("app.js", NULL, &js_size);
    if (keep) {
        put_text(page, "\n}</script>\n<script>");
        put(page, js, js_size);
        put_text(page, "</script>");
        put(page, page->rest, page->rest_size);
    }
    tg_status status = tg_new_file_close(page->file, keep, error);
    page->file = NULL;
    return status;
}

/* --- answers -------------------------------------------------------------------------------- */

uint64_t tg_page_file_cost(const char *request, const struct tg_workbench_answer *answer)
{
    enum { AROUND = 16 };
    const uint64_t size = answer->part[0].size + (uint64_t)answer->part[1].size;
    return strlen(request) + size / 3 * 4 + AROUND;
}

/* Both pieces as one text. */
static tg_status put_bytes(struct tg_page_file *page, const struct tg_workbench_answer *answer,
                           struct tg_error *error)
{
    const size_t first = answer->part[0].size, second = answer->part[1].size;
    unsigned char *bytes = malloc(first + second + 1);
    char *text = NULL;
    if (bytes) {
        if (first > 0)
            memcpy(bytes, answer->part[0].bytes, first);
        if (second > 0)
            memcpy(bytes + first, answer->part[1].bytes, second);
        text = tg_base64(bytes, first + second);
    }
    free(bytes);
    if (!text)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    put_text(page, "\"");
    put_text(page, text);
    put_text(page, "\"");
    free(text);
    return TG_OK;
}

/* {"http": 409, and then the members of the answer. */
static void put_failure(struct tg_page_file *page, const struct tg_workbench_answer *answer)
{
    char begin[32];
    const char *text = answer->part[0].bytes;
    (void)snprintf(begin, sizeof begin, "{\"http\": %d,", answer->status);
    put_text(page, begin);
    /* without its brace */
    page->bytes += tg_html_put_json(page->stream, text + 1, answer->part[0].size - 1);
}

tg_status tg_page_file_add(struct tg_page_file *page, const char *request,
                           const struct tg_workbench_answer *answer, struct tg_error *error)
{
    put_text(page, page->has_answers ? ",\n\"" : "\n\"");
    page->has_answers = true;
    put_text(page, request); /* percent-encoded, so it needs no escapes */
    put_text(page, "\": ");
    if (answer->status == 200)
        return put_bytes(page, answer, error);
    put_failure(page, answer);
    return TG_OK;
}
