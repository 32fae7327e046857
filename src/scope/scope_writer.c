/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/names.h"
#include "base/out.h"
#include "scope/scope_tally.h"

/* A line without its site: words, fifteen numbers of at most 20 digits and two of 10. */
enum { HEAD_ROOM = 1024, LINE_ROOM = 640 };

struct tg_scope_writer {
    char *dir, *path;
    int fd;
    int no_memory;    /* samples were lost for want of it */
    size_t head_size; /* of the first line */
    char **quoted;    /* per site: as it stands in a line */
    size_t n_quoted;  /* room there */
    struct tg_scope_tally tally;
    struct tg_out out; /* the samples' file; the largest comes last */
};

/* --- the first line ------------------------------------------------------------------------ */

static size_t put_limits(char *text, size_t room, const char *name, const uint64_t *limit)
{
    return (size_t)snprintf(text, room, ", \"%s_max\": [%llu, %llu, %llu, %llu]", name,
                            (unsigned long long)limit[0], (unsigned long long)limit[1],
                            (unsigned long long)limit[2], (unsigned long long)limit[3]);
}

/* Without its closing brace. */
static size_t format_head(const struct tg_scope_limits *limits, bool fatal, uint64_t dropped,
                          uint64_t total, char text[HEAD_ROOM])
{
    size_t at = (size_t)snprintf(
        text, HEAD_ROOM, "{\"version\": %d, \"fatal\": %s, \"dropped\": %llu, \"total\": %llu",
        TG_SCOPE_VERSION, fatal ? "true" : "false", (unsigned long long)dropped,
        (unsigned long long)total);
    at += put_limits(text + at, HEAD_ROOM - at, "task_window", limits->task_window);
    at += put_limits(text + at, HEAD_ROOM - at, "heap", limits->heap);
    at += put_limits(text + at, HEAD_ROOM - at, "dep_pool", limits->dep_pool);
    at += (size_t)snprintf(text + at, HEAD_ROOM - at, ", \"tensormap_max\": %llu",
                           (unsigned long long)limits->tensormap);
    return at;
}

/* Always of the same size, whatever the numbers will be: the end rewrites it in place. */
static void make_head(struct tg_scope_writer *writer, bool fatal, uint64_t dropped, uint64_t total,
                      char text[HEAD_ROOM])
{
    const struct tg_scope_limits *limits = &writer->tally.limits;
    size_t widest = format_head(limits, false, UINT64_MAX, UINT64_MAX, text);
    size_t at = format_head(limits, fatal, dropped, total, text);
    memset(text + at, ' ', widest - at);
    memcpy(text + widest, "}\n", sizeof "}\n");
    writer->head_size = widest + 2;
}

/* --- create ---------------------------------------------------------------------------------- */

static tg_status create_files(struct tg_scope_writer *writer, struct tg_error *error)
{
    char head[HEAD_ROOM];
    if (mkdir(writer->dir, 0777) != 0 && errno != EEXIST)
        return tg_file_error(error, "create directory", writer->dir, errno);
    make_head(writer, false, 0, 0, head);
    tg_status status = tg_file_remove(writer->dir, TG_SCOPE_SUMMARY, error);
    if (status == TG_OK)
        status = tg_file_begin(writer->dir, TG_SCOPE_SAMPLES, head, writer->head_size, &writer->fd,
                               error);
    tg_out_start(&writer->out, writer->fd);
    writer->out.written = writer->head_size;
    return status;
}

tg_status tg_scope_writer_create(const char *output_dir, const struct tg_scope_limits *limits,
                                 struct tg_scope_writer **writer, struct tg_error *error)
{
    struct tg_scope_writer *w = malloc(sizeof *w);
    *writer = NULL;
    if (!w)
        return tg_file_no_memory(error);
    memset(w, 0, offsetof(struct tg_scope_writer, out));
    w->fd = -1;
    tg_scope_tally_init(&w->tally, limits);
    w->dir = tg_path_join(output_dir, TG_SCOPE_FOLDER);
    w->path = w->dir ? tg_path_join(w->dir, TG_SCOPE_SAMPLES) : NULL;
    tg_status status = w->path ? create_files(w, error) : tg_file_no_memory(error);
    if (status == TG_OK)
        *writer = w;
    else
        tg_scope_writer_destroy(w);
    return status;
}

/* --- samples ----------------------------------------------------------------------------------- */

static char *put_text(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, text) put_text((at), (text), sizeof(text) - 1)

/* Two digits at a time: a line is mostly numbers. */
static char *put_uint(char *at, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[20];
    size_t first = sizeof digits;
    for (; value >= 10; value /= 100) {
        first -= 2;
        memcpy(digits + first, pairs + 2 * (value % 100), 2);
    }
    if (value > 0 || first == sizeof digits)
        digits[--first] = (char)('0' + value);
    return put_text(at, digits + first, sizeof digits - first);
}

static char *put_peak(char *at, const uint64_t peak[TG_SCOPE_RESOURCES])
{
    at = PUT(at, ", \"peak\": {\"task_window\": ");
    at = put_uint(at, peak[TG_SCOPE_TASK_WINDOW]);
    at = PUT(at, ", \"heap\": ");
    at = put_uint(at, peak[TG_SCOPE_HEAP]);
    at = PUT(at, ", \"dep_pool\": ");
    at = put_uint(at, peak[TG_SCOPE_DEP_POOL]);
    at = PUT(at, ", \"tensormap\": ");
    at = put_uint(at, peak[TG_SCOPE_TENSORMAP]);
    return PUT(at, "}");
}

static char *put_cursors(char *at, const struct tg_scope_sample *sample)
{
    at = PUT(at, ", \"task_window_start\": ");
    at = put_uint(at, sample->task_window_start);
    at = PUT(at, ", \"task_window_end\": ");
    at = put_uint(at, sample->task_window_end);
    at = PUT(at, ", \"heap_start\": ");
    at = put_uint(at, sample->heap_start);
    at = PUT(at, ", \"heap_end\": ");
    at = put_uint(at, sample->heap_end);
    at = PUT(at, ", \"dep_pool_start\": ");
    at = put_uint(at, sample->dep_pool_start);
    at = PUT(at, ", \"dep_pool_end\": ");
    at = put_uint(at, sample->dep_pool_end);
    at = PUT(at, ", \"tensormap\": ");
    return put_uint(at, sample->tensormap);
}

static void put_sample(struct tg_out *out, const char *quoted, const struct tg_scope_sample *sample)
{
    size_t length = strlen(quoted);
    char *begin = tg_out_place(out, length + LINE_ROOM), *at = begin;
    at = PUT(at, "{\"site\": ");
    at = put_text(at, quoted, length);
    at = sample->end ? PUT(at, ", \"phase\": \"end\", \"depth\": ")
                     : PUT(at, ", \"phase\": \"begin\", \"depth\": ");
    at = put_uint(at, sample->depth);
    at = PUT(at, ", \"ring\": ");
    at = put_uint(at, sample->ring);
    at = put_cursors(at, sample);
    if (sample->end)
        at = put_peak(at, sample->peak);
    at = PUT(at, "}\n");
    out->used += (size_t)(at - begin);
}

/* A clean name in quotes, with what JSON wants escaped. */
static char *quote(const char *name)
{
    char *quoted = malloc(2 * strlen(name) + 3), *at = quoted;
    if (!quoted)
        return NULL;
    *at++ = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            *at++ = '\\';
        *at++ = *name;
    }
    *at++ = '"';
    *at = '\0';
    return quoted;
}

/* NULL where memory ran out. */
static const char *quoted_site(struct tg_scope_writer *writer, uint32_t site)
{
    if (site >= writer->n_quoted) {
        size_t before = writer->n_quoted;
        if (!tg_grow(&writer->quoted, &writer->n_quoted, (size_t)site + 1, sizeof *writer->quoted))
            return NULL;
        memset(writer->quoted + before, 0, (writer->n_quoted - before) * sizeof *writer->quoted);
    }
    if (!writer->quoted[site])
        writer->quoted[site] = quote(writer->tally.site[site].name);
    return writer->quoted[site];
}

/* What cannot be: a ring that is not there, a tail ahead of its head. */
static void correct(struct tg_scope_sample *sample)
{
    if (sample->ring >= TG_SCOPE_RINGS)
        sample->ring = TG_SCOPE_RINGS - 1;
    if (sample->task_window_start > sample->task_window_end)
        sample->task_window_start = sample->task_window_end;
    if (sample->heap_start > sample->heap_end)
        sample->heap_start = sample->heap_end;
    if (sample->dep_pool_start > sample->dep_pool_end)
        sample->dep_pool_start = sample->dep_pool_end;
}

void tg_scope_writer_add(struct tg_scope_writer *writer, const struct tg_scope_sample *sample)
{
    const char *site = sample->site ? sample->site : TG_SCOPE_NO_SITE, *quoted = NULL;
    struct tg_scope_sample checked = *sample;
    uint32_t number;
    correct(&checked);
    if (tg_scope_tally_site(&writer->tally, site, strnlen(site, TG_NAME_MAX), &number))
        quoted = quoted_site(writer, number);
    if (!quoted || !tg_scope_tally_add(&writer->tally, number, &checked)) {
        writer->no_memory = 1;
        return;
    }
    put_sample(&writer->out, quoted, &checked);
}

void tg_scope_writer_flush(struct tg_scope_writer *writer)
{
    (void)tg_out_finish(&writer->out);
}

/* --- the end ----------------------------------------------------------------------------------- */

/* Needs no room on the disk, so it is done even where that is full. */
static void write_head(struct tg_scope_writer *writer, bool fatal, uint64_t dropped, uint64_t total)
{
    char head[HEAD_ROOM];
    make_head(writer, fatal, dropped, total, head);
    int cause = tg_write_at(writer->fd, head, writer->head_size, 0, NULL);
    if (writer->out.cause == 0)
        writer->out.cause = cause;
}

static tg_status close_samples(struct tg_scope_writer *writer, struct tg_error *error)
{
    int cause = writer->out.cause;
    if (close(writer->fd) != 0 && cause == 0)
        cause = errno;
    writer->fd = -1;
    if (cause)
        return tg_error_set(error, TG_IO_ERROR, "cannot write '%s': %s; its samples end early",
                            writer->path, strerror(cause));
    return writer->no_memory ? tg_file_no_memory(error) : TG_OK;
}

tg_status tg_scope_writer_finish(struct tg_scope_writer *writer, uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error)
{
    bool is_fatal = fatal && fatal->on;
    tg_scope_writer_flush(writer);
    write_head(writer, is_fatal, dropped, total);
    if (is_fatal && !tg_scope_tally_fatal(&writer->tally, fatal))
        writer->no_memory = 1;
    tg_scope_tally_end(&writer->tally);
    tg_status status = close_samples(writer, error);
    tg_status summary =
        tg_scope_summary_write(&writer->tally, writer->dir, dropped, total, is_fatal ? fatal : NULL,
                               status == TG_OK ? error : NULL);
    return status == TG_OK ? summary : status;
}

void tg_scope_writer_destroy(struct tg_scope_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0) {
        tg_scope_writer_flush(writer);
        close(writer->fd);
    }
    for (size_t i = 0; i < writer->n_quoted; i++)
        free(writer->quoted[i]);
    free(writer->quoted);
    tg_scope_tally_free(&writer->tally);
    free(writer->dir);
    free(writer->path);
    free(writer);
}
