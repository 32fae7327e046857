/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: web/scope.html, which is embedded in the program, with the data in the middle as one JSON
 * object in a <script> element. A browser searches for the end of that element before it parses the
 * JSON, so the writer escapes every '<'.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/scope.h"

extern const unsigned char cli_scope_page[];
extern const size_t cli_scope_page_size;

static const char marker[] = "@SCOPE_DATA@";

/* --- JSON in HTML -------------------------------------------------------------------------- */

/* Escapes control characters too, because names and paths may hold them. */
static void put_string(FILE *file, const char *text)
{
    if (!text) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void put_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, "\"%s\":", key);
    put_string(file, text);
    fputc(',', file);
}

static void put_number(FILE *file, const char *key, uint64_t number)
{
    fprintf(file, "\"%s\":%" PRIu64 ",", key, number);
}

static void put_flag(FILE *file, const char *key, bool flag)
{
    fprintf(file, "\"%s\":%s,", key, flag ? "true" : "false");
}

/* --- the parts ----------------------------------------------------------------------------- */

static void put_fatal(FILE *file, const struct tg_scope_stats_info *info)
{
    const struct tg_scope_fatal *fatal = info->fatal;
    put_flag(file, "failed", info->failed);
    if (!fatal) {
        fputs("\"fatal\":null,", file);
        return;
    }
    fputs("\"fatal\":{", file);
    put_text(file, "error", fatal->error);
    put_text(file, "site", fatal->site);
    put_text(file, "advice", fatal->advice);
    put_number(file, "resource", fatal->resource);
    put_number(file, "ring", fatal->ring);
    put_number(file, "used", fatal->used);
    put_number(file, "capacity", fatal->capacity);
    fprintf(file, "\"wanted\":%" PRIu64 "},", fatal->wanted);
}

static void put_numbers(FILE *file, const struct scope *scope)
{
    const struct tg_scope_stats_info *info = &scope->info;
    put_text(file, "run", scope->name);
    put_flag(file, "complete", info->complete);
    put_flag(file, "measured", info->measured);
    put_fatal(file, info);
    put_number(file, "dropped", info->dropped);
    put_number(file, "samples", info->samples);
    put_number(file, "scopes", info->scopes);
    put_number(file, "left_open", info->left_open);
    put_number(file, "missing", info->without_begin + info->without_end);
}

/* [resource][ring]; the rings share one tensor map, so its capacity is the same for all. */
static void put_capacities(FILE *file, const struct tg_scope_stats *stats)
{
    fputs("\"capacity\":[", file);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        fputs(resource > 0 ? ",[" : "[", file);
        for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
            fprintf(file, "%s%" PRIu64, ring > 0 ? "," : "",
                    tg_scope_stats_capacity(stats, resource, ring));
        fputc(']', file);
    }
    fputs("],", file);
}

/* [resource, current setting, verdict, option]. */
static void put_advice(FILE *file, const struct tg_scope_stats *stats)
{
    struct tg_scope_setting setting;
    const char *comma = "";
    fputs("\"advice\":[", file);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        tg_scope_stats_get_setting(stats, resource, &setting);
        if (setting.verdict == TG_SCOPE_ABSENT)
            continue;
        fprintf(file, "%s[%u,\"%s\",\"%s\",", comma, resource, setting.present,
                tg_scope_verdict_name(setting.verdict));
        put_string(file, setting.option);
        fputc(']', file);
        comma = ",";
    }
    fputs("],", file);
}

static void put_sites(FILE *file, const struct tg_scope_stats *stats)
{
    const char *site;
    fputs("\"sites\":[", file);
    for (uint32_t i = 0; (site = tg_scope_stats_site(stats, i)); i++) {
        fputs(i > 0 ? "," : "", file);
        put_string(file, site);
    }
    fputs("],", file);
}

/* [site, ring, scopes, depth from, to, four peaks]. */
static void put_rows(FILE *file, const struct tg_scope_stats *stats)
{
    struct tg_scope_row row;
    fputs("\"rows\":[", file);
    for (uint32_t i = 0; tg_scope_stats_get_row(stats, i, &row); i++) {
        fprintf(file, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32,
                i > 0 ? "," : "", row.site, row.ring, row.count, row.depth_min, row.depth_max);
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
            fprintf(file, ",%" PRIu64, row.peak[resource]);
        fputc(']', file);
    }
    fputs("],", file);
}

/* Leaves out the padding, which browsers do not need. */
static void put_base64(FILE *file, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t used = 0;
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t word = (uint32_t)bytes[at] << 16 | (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                        (left > 2 ? bytes[at + 2] : 0);
        for (size_t i = 0; i < (left > 2 ? 4 : left + 1); i++)
            text[used++] = digits[word >> (18 - 6 * i) & 63];
        if (used > sizeof text - 4) {
            fwrite(text, 1, used, file);
            used = 0;
        }
    }
    fwrite(text, 1, used, file);
}

static void put_data(FILE *file, const struct scope *scope)
{
    fputc('{', file);
    put_numbers(file, scope);
    put_capacities(file, scope->stats);
    put_advice(file, scope->stats);
    put_sites(file, scope->stats);
    put_rows(file, scope->stats);
    fputs("\"stream\":\"", file);
    put_base64(file, scope->stream.bytes, scope->stream.size);
    fputs("\"}", file);
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_page(FILE *file, const struct scope *scope)
{
    const unsigned char *end = cli_scope_page + cli_scope_page_size;
    const unsigned char *at = memmem(cli_scope_page, cli_scope_page_size, marker, strlen(marker));
    if (!at)
        at = end - strlen(marker); /* cannot happen: the page has its marker */
    fwrite(cli_scope_page, 1, (size_t)(at - cli_scope_page), file);
    put_data(file, scope);
    at += strlen(marker);
    fwrite(at, 1, (size_t)(end - at), file);
}

/* Closes the page and removes it if it is not complete. `cause` is the errno of an earlier failure, or
 * 0. */
static int close_page(FILE *file, const char *path, int cause)
{
    struct stat info;
    bool regular = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
    if (fclose(file) != 0 && cause == 0)
        cause = errno;
    if (cause && regular)
        unlink(path);
    return cause ? cli_error("cannot write '%s': %s", path, strerror(cause)) : CLI_OK;
}

int scope_write_page(const struct scope *scope)
{
    FILE *file = fopen(scope->html, "wbe");
    struct cli_text scopes, size;
    if (!file)
        return cli_error("cannot write '%s': %s", scope->html, strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 18);
    put_page(file, scope);
    int cause = fflush(file) != 0 || ferror(file) ? errno : 0;
    long bytes = ftell(file);
    int code = close_page(file, scope->html, cause);
    if (code == CLI_OK)
        printf("%s: %s, %s\n", scope->html, cli_format_count(&scopes, scope->info.scopes, "scope"),
               cli_format_bytes(&size, bytes > 0 ? (uint64_t)bytes : 0));
    return code;
}
