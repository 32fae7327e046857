/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/files.h"
#include <taskglass/json.h>
#include "base/names.h"
#include "scope/scope_tally.h"

enum { HEAD_ROOM = 1024, BUFFER_ROOM = 1 << 20 };

/* Longer than a site's text with every byte escaped, than what only some samples have, than a sample. */
enum { LONGEST_SITE = 8 << 10, LONGEST_RARE = 4 << 10, LONGEST_LINE = 16 << 10 };

/* A site's text as a JSON string. */
enum { QUOTED = 64 };
struct quoted {
    uint32_t site, size; /* size 0: free */
    char text[192];
};

struct tg_scope_writer {
    char *dir, *path;
    int fd;
    int no_memory;    /* samples were lost because memory ran out */
    size_t head_size; /* of the first line */
    struct tg_scope_tally tally;
    int cause;         /* the errno that ended writing samples; 0: none */
    size_t used;       /* bytes of samples in the buffer */
    uint64_t position; /* in the file, of the buffer's first byte */
    struct quoted quoted[QUOTED];
    char buffer[BUFFER_ROOM];
};

/* --- the first line ------------------------------------------------------------------------ */

static void put_limits(struct tg_json *json, const char *name, const uint64_t limit[TG_SCOPE_RINGS])
{
    tg_json_key(json, name);
    tg_json_begin_array(json);
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        tg_json_uint(json, limit[ring]);
    tg_json_end_array(json);
}

/* What the advice needs to know whether larger rings fit into the device. */
static void put_memory(struct tg_json *json, const struct tg_scope_memory *memory)
{
    tg_json_key(json, "device_memory");
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "size", memory->size);
    tg_json_put_uint(json, "used", memory->used);
    tg_json_put_uint(json, "per_task", memory->task);
    tg_json_put_uint(json, "per_dep", memory->dep);
    tg_json_put_uint(json, "per_entry", memory->entry);
    tg_json_end_object(json);
}

/* Returns the length without the closing brace. */
static size_t format_head(const struct tg_scope_limits *limits, bool fatal, uint64_t dropped,
                          uint64_t total, char text[HEAD_ROOM])
{
    struct tg_json json;
    tg_json_start_buffer(&json, text, HEAD_ROOM, -1, 0);
    tg_json_begin_line_object(&json);
    tg_json_put_uint(&json, "version", TG_SCOPE_VERSION);
    tg_json_put_bool(&json, "fatal", fatal);
    tg_json_put_uint(&json, "dropped", dropped);
    tg_json_put_uint(&json, "total", total);
    put_limits(&json, "task_window_max", limits->task_window);
    put_limits(&json, "heap_max", limits->heap);
    put_limits(&json, "dep_pool_max", limits->dep_pool);
    tg_json_put_uint(&json, "tensormap_max", limits->tensormap);
    if (limits->no_rings)
        tg_json_put_bool(&json, "no_rings", true);
    if (limits->memory.size > 0)
        put_memory(&json, &limits->memory);
    return json.used;
}

/* The first line always has the same size, so that the end of the run can rewrite it in place. */
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
    if (mkdir(writer->dir, 0700) != 0 && errno != EEXIST)
        return tg_file_error(error, "create directory", writer->dir, errno);
    make_head(writer, false, 0, 0, head);
    tg_status status = tg_file_remove(writer->dir, TG_SCOPE_SUMMARY, error);
    if (status == TG_OK)
        status = tg_file_begin(writer->dir, TG_SCOPE_SAMPLES, head, writer->head_size, &writer->fd,
                               error);
    writer->position = writer->head_size;
    return status;
}

tg_status tg_scope_writer_create(const char *output_dir, const struct tg_scope_limits *limits,
                                 struct tg_scope_writer **writer, struct tg_error *error)
{
    struct tg_scope_writer *w = malloc(sizeof *w);
    *writer = NULL;
    if (!w)
        return tg_file_no_memory(error);
    memset(w, 0, offsetof(struct tg_scope_writer, buffer));
    w->fd = -1;
    tg_scope_tally_init(&w->tally, limits);
    w->dir = tg_path_join(output_dir, TG_SCOPE_FOLDER);
    w->path = w->dir ? tg_path_join(w->dir, TG_SCOPE_SAMPLES) : NULL;
    tg_status status = w->path ? create_files(w, error) : tg_file_no_memory(error);
    if (status == TG_OK) {
        *writer = w;
        return TG_OK;
    }
    if (w->dir)
        (void)rmdir(w->dir); /* if it is empty */
    tg_scope_writer_destroy(w);
    return status;
}

/* --- samples ----------------------------------------------------------------------------------- */

/* Only what is not 0. */
static void put_waits(struct tg_json *json, const struct tg_scope_sample *sample)
{
    TG_JSON_KEY(json, "waits");
    tg_json_begin_line_object(json);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        if (sample->waits[resource] > 0)
            tg_json_put_uint(json, tg_scope_resource_name(resource), sample->waits[resource]);
    if (sample->wait_ns > 0)
        tg_json_put_uint(json, "nanoseconds", sample->wait_ns);
    tg_json_end_object(json);
}

static bool has_asked(const struct tg_scope_sample *sample)
{
    uint64_t any = sample->asked_tensormap;
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        any |= sample->asked_dep_pool[ring];
    return any != 0;
}

static void put_asked(struct tg_json *json, const struct tg_scope_sample *sample)
{
    TG_JSON_KEY(json, "asked");
    tg_json_begin_line_object(json);
    put_limits(json, tg_scope_resource_name(TG_SCOPE_DEP_POOL), sample->asked_dep_pool);
    tg_json_put_uint(json, tg_scope_resource_name(TG_SCOPE_TENSORMAP), sample->asked_tensormap);
    tg_json_end_object(json);
}

/* The rings besides the scope's own. */
static void put_rings(struct tg_json *json, const struct tg_scope_sample *sample)
{
    TG_JSON_KEY(json, "rings");
    tg_json_begin_line_object(json);
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
        const char name[] = {(char)('0' + ring), '\0'};
        if (!(sample->rings >> ring & 1) || ring == sample->ring)
            continue;
        tg_json_key(json, name);
        tg_json_begin_line_object(json);
        for (unsigned resource = 0; resource < TG_SCOPE_TENSORMAP; resource++)
            tg_json_put_uint(json, tg_scope_resource_name(resource),
                             sample->ring_peak[ring][resource]);
        tg_json_end_object(json);
    }
    tg_json_end_object(json);
}

/* The members that every sample has, written without the JSON writer: a run may have a million scopes. */
static char *put_text(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

#define PUT(at, literal) put_text(at, "" literal, sizeof(literal) - 1)

static char *put_cursors(char *at, const struct tg_scope_sample *sample)
{
    at = tg_digits_uint(PUT(at, ", \"task_window_start\": "), sample->task_window_start);
    at = tg_digits_uint(PUT(at, ", \"task_window_end\": "), sample->task_window_end);
    at = tg_digits_uint(PUT(at, ", \"heap_start\": "), sample->heap_start);
    at = tg_digits_uint(PUT(at, ", \"heap_end\": "), sample->heap_end);
    at = tg_digits_uint(PUT(at, ", \"dep_pool_start\": "), sample->dep_pool_start);
    at = tg_digits_uint(PUT(at, ", \"dep_pool_end\": "), sample->dep_pool_end);
    return tg_digits_uint(PUT(at, ", \"tensormap\": "), sample->tensormap);
}

static char *put_peak(char *at, const uint64_t peak[TG_SCOPE_RESOURCES])
{
    at = tg_digits_uint(PUT(at, ", \"peak\": {\"task_window\": "), peak[TG_SCOPE_TASK_WINDOW]);
    at = tg_digits_uint(PUT(at, ", \"heap\": "), peak[TG_SCOPE_HEAP]);
    at = tg_digits_uint(PUT(at, ", \"dep_pool\": "), peak[TG_SCOPE_DEP_POOL]);
    at = tg_digits_uint(PUT(at, ", \"tensormap\": "), peak[TG_SCOPE_TENSORMAP]);
    return PUT(at, "}");
}

/* The site as a JSON string. Scopes of few sites follow each other, so the last ones are kept. */
static char *put_site(struct tg_scope_writer *writer, char *at, uint32_t number)
{
    struct quoted *quoted = &writer->quoted[number % QUOTED];
    struct tg_json json;
    if (quoted->size > 0 && quoted->site == number)
        return put_text(at, quoted->text, quoted->size);
    tg_json_start_buffer(&json, at, LONGEST_SITE, -1, 0);
    tg_json_string(&json, writer->tally.site[number].name);
    quoted->size = 0;
    if (json.used <= sizeof quoted->text) {
        quoted->site = number;
        quoted->size = (uint32_t)json.used;
        memcpy(quoted->text, at, json.used);
    }
    return at + json.used;
}

static bool has_waited(const struct tg_scope_sample *sample)
{
    uint64_t any = sample->wait_ns;
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        any |= sample->waits[resource];
    return any != 0;
}

/* What only some ends have: members of an object that has begun. */
static char *put_rare(char *at, const struct tg_scope_sample *sample)
{
    struct tg_json json;
    bool has_rings = (sample->rings & ~(1u << sample->ring)) != 0;
    if (sample->waits_known && !has_rings && !has_asked(sample) && !has_waited(sample))
        return PUT(at, ", \"waits\": {}"); /* nearly always */
    tg_json_start_buffer(&json, at, LONGEST_RARE, -1, 0);
    tg_json_begin_line_object(&json);
    if (sample->waits_known)
        put_waits(&json, sample);
    if (has_asked(sample))
        put_asked(&json, sample);
    if (has_rings)
        put_rings(&json, sample);
    if (json.used == 1)
        return at;
    memmove(at + 2, at + 1, json.used - 1); /* its brace becomes ", " */
    at[0] = ',';
    at[1] = ' ';
    return at + json.used + 1;
}

static void put_sample(struct tg_scope_writer *writer, uint32_t site,
                       const struct tg_scope_sample *sample)
{
    if (sizeof writer->buffer - writer->used < LONGEST_LINE)
        tg_scope_writer_flush(writer);
    char *line = writer->buffer + writer->used;
    char *at = put_site(writer, PUT(line, "{\"site\": "), site);
    at = sample->end ? PUT(at, ", \"phase\": \"end\"") : PUT(at, ", \"phase\": \"begin\"");
    at = tg_digits_uint(PUT(at, ", \"depth\": "), sample->depth);
    at = tg_digits_uint(PUT(at, ", \"ring\": "), sample->ring);
    at = put_cursors(at, sample);
    if (sample->end)
        at = put_rare(put_peak(at, sample->peak), sample);
    at = PUT(at, "}\n");
    writer->used += (size_t)(at - line);
}

/* Corrects impossible values: a ring past the last one, a tail ahead of its head. */
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
    sample->fanin_start = sample->fanin_end = 0; /* ours has no such pool */
}

bool tg_scope_writer_site(struct tg_scope_writer *writer, const char *site, uint32_t *number)
{
    if (!site)
        site = TG_SCOPE_NO_SITE;
    if (tg_scope_tally_site(&writer->tally, site, strlen(site), number))
        return true;
    writer->no_memory = 1;
    return false;
}

void tg_scope_writer_add_at(struct tg_scope_writer *writer, uint32_t number,
                            const struct tg_scope_sample *sample)
{
    struct tg_scope_sample checked = *sample;
    correct(&checked);
    if (!tg_scope_tally_add(&writer->tally, number, &checked)) {
        writer->no_memory = 1;
        return;
    }
    put_sample(writer, number, &checked);
}

void tg_scope_writer_add(struct tg_scope_writer *writer, const struct tg_scope_sample *sample)
{
    uint32_t number;
    if (tg_scope_writer_site(writer, sample->site, &number))
        tg_scope_writer_add_at(writer, number, sample);
}

void tg_scope_writer_flush(struct tg_scope_writer *writer)
{
    if (writer->cause == 0)
        writer->cause =
            tg_write_at(writer->fd, writer->buffer, writer->used, writer->position, NULL);
    writer->position += writer->used;
    writer->used = 0;
}

/* --- the end ----------------------------------------------------------------------------------- */

/* Rewriting in place needs no new room, so it is done even if the disk is full. */
static void write_head(struct tg_scope_writer *writer, bool fatal, uint64_t dropped, uint64_t total)
{
    char head[HEAD_ROOM];
    make_head(writer, fatal, dropped, total, head);
    int cause = tg_write_at(writer->fd, head, writer->head_size, 0, NULL);
    if (writer->cause == 0)
        writer->cause = cause;
}

static tg_status close_samples(struct tg_scope_writer *writer, struct tg_error *error)
{
    int cause = writer->cause;
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
    if (status != TG_OK && summary != TG_OK && error)
        tg_error_set(error, status, "%s; " TG_SCOPE_SUMMARY " not written", error->text);
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
    tg_scope_tally_free(&writer->tally);
    free(writer->dir);
    free(writer->path);
    free(writer);
}
