/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is a row of events as they lie in memory. Behind a TEXT stand its key and its text, each with a
 * zero byte, and zeros up to the next multiple of 8.
 */
#include "trace/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "trace/temporary.h"

_Static_assert(sizeof(struct tg_spool_event) == 48, "events lie in the file without gaps");

enum { BUFFER = 1 << 20, LONGEST_TEXT = 1 << 16 };

struct tg_spool {
    int fd;
    int cause; /* errno of the first failed write; 0: none */
    char *folder;
    unsigned char *buffer;
    size_t used;
    uint64_t written; /* bytes in the file */
    uint64_t count[TG_SPOOL_TYPES];
};

tg_status tg_spool_create(const char *folder, struct tg_spool **spool, struct tg_error *error)
{
    struct tg_spool *made = calloc(1, sizeof *made);
    *spool = NULL;
    if (made) {
        made->fd = -1;
        made->folder = strdup(folder);
        made->buffer = malloc(BUFFER);
    }
    if (!made || !made->folder || !made->buffer) {
        tg_spool_destroy(made);
        return tg_file_no_memory(error);
    }
    made->fd = tg_temporary_open(folder);
    if (made->fd < 0) {
        tg_status status = tg_file_error(error, "make a temporary file in", folder, errno);
        tg_spool_destroy(made);
        return status;
    }
    *spool = made;
    return TG_OK;
}

void tg_spool_destroy(struct tg_spool *spool)
{
    if (!spool)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    free(spool->buffer);
    free(spool->folder);
    free(spool);
}

/* --- writing --------------------------------------------------------------------------------- */

static void flush(struct tg_spool *spool)
{
    if (spool->cause == 0 && spool->used > 0)
        spool->cause = tg_write_at(spool->fd, spool->buffer, spool->used, spool->written, NULL);
    if (spool->cause == 0)
        spool->written += spool->used;
    spool->used = 0;
}

/* `size` is at most BUFFER. */
static void put(struct tg_spool *spool, const void *bytes, size_t size)
{
    if (BUFFER - spool->used < size)
        flush(spool);
    if (size > 0)
        memcpy(spool->buffer + spool->used, bytes, size);
    spool->used += size;
}

void tg_spool_add(struct tg_spool *spool, const struct tg_spool_event *event)
{
    if (spool->cause != 0 || event->type == 0 || event->type == TG_SPOOL_TEXT ||
        event->type >= TG_SPOOL_TYPES)
        return;
    if (BUFFER - spool->used < sizeof *event)
        flush(spool);
    struct tg_spool_event plain = *event;
    plain.size = 0;
    memcpy(spool->buffer + spool->used, &plain, sizeof plain); /* behind a text, at any address */
    spool->used += sizeof plain;
    spool->count[event->type]++;
}

void tg_spool_add_many(struct tg_spool *spool, const struct tg_spool_event *event, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tg_spool_add(spool, &event[i]);
}

void tg_spool_add_text(struct tg_spool *spool, uint64_t task, const char *key, const char *text)
{
    static const char zeros[8];
    size_t key_size = strnlen(key, LONGEST_TEXT), text_size = strnlen(text, LONGEST_TEXT);
    size_t size = (key_size + 1 + text_size + 1 + 7) & ~(size_t)7;
    struct tg_spool_event event = {
        .id = task, .type = TG_SPOOL_TEXT, .number = (uint32_t)key_size, .size = (uint32_t)size};
    if (spool->cause != 0)
        return;
    put(spool, &event, sizeof event);
    put(spool, key, key_size);
    put(spool, zeros, 1);
    put(spool, text, text_size);
    put(spool, zeros, size - key_size - 1 - text_size);
    spool->count[TG_SPOOL_TEXT]++;
}

uint64_t tg_spool_count(const struct tg_spool *spool, enum tg_spool_type type)
{
    return spool->count[type];
}

bool tg_spool_is_whole(const struct tg_spool *spool, struct tg_error *error)
{
    if (spool->cause != 0)
        (void)tg_temporary_error(error, spool->folder, spool->cause);
    return spool->cause == 0;
}

const char *tg_spool_folder(const struct tg_spool *spool)
{
    return spool->folder;
}

/* --- reading --------------------------------------------------------------------------------- */

tg_status tg_spool_read(struct tg_spool *spool, struct tg_spool_reader *reader,
                        struct tg_error *error)
{
    *reader = (struct tg_spool_reader){.spool = spool, .room = BUFFER};
    flush(spool);
    if (!tg_spool_is_whole(spool, error))
        return error ? error->status : TG_IO_ERROR;
    reader->buffer = malloc(BUFFER);
    return reader->buffer ? TG_OK : tg_file_no_memory(error);
}

/* Makes `size` bytes readable at `next`; false at the end of the file. */
static bool fill(struct tg_spool_reader *reader, size_t size, int *cause)
{
    if (reader->used - reader->next >= size)
        return true;
    memmove(reader->buffer, reader->buffer + reader->next, reader->used - reader->next);
    reader->used -= reader->next;
    reader->next = 0;
    int64_t n = tg_temporary_read(reader->spool->fd, reader->buffer + reader->used,
                                  reader->room - reader->used, reader->position);
    if (n < 0) {
        *cause = errno;
        return false;
    }
    reader->position += (uint64_t)n;
    reader->used += (size_t)n;
    return reader->used >= size;
}

tg_status tg_spool_next(struct tg_spool_reader *reader, bool *more, struct tg_error *error)
{
    int cause = 0;
    size_t size = sizeof reader->event;
    *more = fill(reader, size, &cause);
    if (*more) {
        memcpy(&reader->event, reader->buffer + reader->next, size);
        reader->next += size;
        *more = fill(reader, reader->event.size, &cause);
    }
    if (*more) {
        reader->key = (const char *)reader->buffer + reader->next;
        reader->text = reader->key + reader->event.number + 1;
        reader->next += reader->event.size;
    }
    if (cause == 0)
        return TG_OK;
    return tg_temporary_error(error, reader->spool->folder, cause);
}

void tg_spool_reader_end(struct tg_spool_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}
