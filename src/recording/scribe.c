/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal is cut into chunks. Whoever is free takes the next chunk that the journal has whole: the
 * scribe's thread while the run goes on, and at the end the finishing thread too. The text of a chunk gets
 * its place in the file when all chunks before it have theirs.
 *
 *   0        room                                      position
 *   ├─ head ─┼─ chunk 0 ─┼─ chunk 1 ─┼─ … ─┼─ chunk 7 ─┤
 *   written last; its size is known before, because the room has space for long counters
 */
#define _GNU_SOURCE 1
#include "recording/scribe.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/new_file.h"
#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/slots.h"

enum { HEAD = sizeof(struct tg_journal_head), CHUNK = 1024, HEAD_ROOM = 1 << 14 };
/* The room for the head is for counters below this one. A run with larger ones gets its manifest after the
 * run. */
#define LARGE_COUNTER UINT64_C(9999999999999)
/* Bytes of the disk that the manifest leaves to files that can be written only while the run goes on, such as
 * scope samples. It can be printed again. */
#define KEPT_FREE ((uint64_t)64 << 20)

struct tg_scribe {
    int journal, fd;
    struct tg_new_file *file;
    struct tg_recording *recording; /* the journal's head and the names of kernels */
    unsigned char *beginning;       /* the bytes that it was read from */
    uint64_t room;                  /* bytes of the file that are kept for the head */
    pthread_t thread;
    /* The lock guards all that follows; `news` is signalled when any of it changes. */
    pthread_mutex_t lock;
    pthread_cond_t news;
    uint64_t slots; /* whole ones in the journal */
    bool is_closed; /* no more will come */
    uint64_t next;  /* the next chunk that nobody has */
    uint64_t turn;  /* the chunk whose place in the file is known */
    uint64_t position;
    bool has_entries;
    unsigned writing; /* threads that write to the file just now */
    int cause;        /* the first errno; ECANCELED: dropped */
};

/* What one thread needs. */
struct printer {
    struct tg_scribe *scribe;
    struct tg_manifest_pieces pieces;
    struct tg_manifest_lines lines;
    unsigned char
        slots[(CHUNK + 1) * TG_JOURNAL_SLOT]; /* one more, for the rest of the last record */
    char *text;
    size_t used, room;
};

/* --- chunks ---------------------------------------------------------------------------------------- */

/* Waits for the next chunk. *n: its slots, and one behind it if there is one. False: there is none, or
 * something failed. */
static bool take_chunk(struct tg_scribe *scribe, uint64_t *chunk, uint64_t *n)
{
    pthread_mutex_lock(&scribe->lock);
    while (scribe->cause == 0 && !scribe->is_closed &&
           scribe->slots <= (scribe->next + 1) * (uint64_t)CHUNK)
        pthread_cond_wait(&scribe->news, &scribe->lock);
    *chunk = scribe->next;
    uint64_t left = scribe->slots - *chunk * (uint64_t)CHUNK;
    bool found = scribe->cause == 0 && scribe->slots > *chunk * (uint64_t)CHUNK;
    *n = left < CHUNK + 1 ? left : CHUNK + 1;
    scribe->next += found;
    pthread_mutex_unlock(&scribe->lock);
    return found;
}

static int read_at(int fd, unsigned char *to, size_t size, uint64_t position)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, to + done, size - done, (off_t)(position + done));
        if (n == 0)
            return EIO; /* another program has cut the file */
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static bool is_argument(const unsigned char *slot)
{
    uint16_t type;
    memcpy(&type, slot, sizeof type);
    return type == TG_RECORD_ARGUMENT;
}

static void name_kernels(const struct tg_recording *recording, struct tg_entry *entry)
{
    for (int part = 0; part < TG_PARTS; part++)
        entry->kernel[part] = entry->record.kernel[part] == TG_NO_KERNEL
                                  ? NULL
                                  : tg_journal_kernel(recording, entry->record.kernel[part]);
}

/* Prints the record of slot `i` the long way, and remembers what the next one like it has in common with it.
 * Its payload is in the payload file, so the size of that limits nothing. */
static size_t print_record(struct printer *printer, uint64_t i, uint64_t n,
                           const struct tg_record_packed *slot, char *to)
{
    struct tg_entry entry;
    tg_slot_read(printer->slots, TG_JOURNAL_SLOT, i, n, &entry.record);
    tg_record_confine(&entry.record, UINT64_MAX);
    name_kernels(printer->scribe->recording, &entry);
    tg_manifest_learn(&printer->lines, slot, &entry);
    return tg_manifest_put_entry(&printer->pieces, &entry, to);
}

/* Prints the arguments that begin in the first `n` slots; there are `all`. Every entry has a comma and a new
 * line before it. */
static bool format(struct printer *printer, uint64_t n, uint64_t all)
{
    struct tg_record_packed slot;
    printer->used = 0;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(&slot, printer->slots + i * TG_JOURNAL_SLOT, sizeof slot);
        if (slot.type != TG_RECORD_ARGUMENT)
            continue;
        if (!tg_grow(&printer->text, &printer->room, printer->used + TG_MANIFEST_LINE, 1))
            return false;
        char *at = printer->text + printer->used;
        *at++ = ',';
        *at++ = '\n';
        size_t size = tg_manifest_put_slot(&printer->lines, &slot, at);
        if (size == 0)
            size = print_record(printer, i, all, &slot, at);
        printer->used = (size_t)(at - printer->text) + size;
    }
    return true;
}

/* Waits until all chunks before this one have their places, takes the next place, and begins to write. The
 * first entry of all follows the head, which ends where its line begins. */
static bool take_place(struct tg_scribe *scribe, struct printer *printer, uint64_t chunk, int cause,
                       const char **text, uint64_t *position)
{
    pthread_mutex_lock(&scribe->lock);
    while (scribe->turn != chunk && scribe->cause == 0)
        pthread_cond_wait(&scribe->news, &scribe->lock);
    *text = printer->text;
    if (!scribe->has_entries && printer->used > 0) {
        *text += 2;
        printer->used -= 2;
    }
    *position = scribe->position;
    scribe->has_entries = scribe->has_entries || printer->used > 0;
    scribe->position += printer->used;
    scribe->turn++;
    if (scribe->cause == 0)
        scribe->cause = cause;
    bool goes_on = scribe->cause == 0;
    scribe->writing += goes_on;
    pthread_cond_broadcast(&scribe->news);
    pthread_mutex_unlock(&scribe->lock);
    return goes_on;
}

static void end_writing(struct tg_scribe *scribe, int cause)
{
    pthread_mutex_lock(&scribe->lock);
    scribe->writing--;
    if (scribe->cause == 0)
        scribe->cause = cause;
    if (scribe->cause != 0)
        pthread_cond_broadcast(&scribe->news);
    pthread_mutex_unlock(&scribe->lock);
}

static void fail(struct tg_scribe *scribe, int cause)
{
    pthread_mutex_lock(&scribe->lock);
    if (scribe->cause == 0)
        scribe->cause = cause;
    pthread_cond_broadcast(&scribe->news);
    pthread_mutex_unlock(&scribe->lock);
}

/* A disk that does not say how much room it has gets the benefit of the doubt. */
static bool is_disk_nearly_full(int fd)
{
    struct statvfs disk;
    return fstatvfs(fd, &disk) == 0 && disk.f_frsize > 0 &&
           disk.f_bavail < KEPT_FREE / disk.f_frsize;
}

static void print_chunk(struct printer *printer, uint64_t chunk, uint64_t n)
{
    struct tg_scribe *scribe = printer->scribe;
    const char *text;
    uint64_t position;
    if (is_disk_nearly_full(scribe->fd)) {
        tg_scribe_drop(scribe);
        return;
    }
    int cause = read_at(scribe->journal, printer->slots, n * TG_JOURNAL_SLOT,
                        HEAD + chunk * CHUNK * TG_JOURNAL_SLOT);
    if (cause == 0 && !format(printer, n < CHUNK ? n : CHUNK, n))
        cause = ENOMEM;
    if (take_place(scribe, printer, chunk, cause, &text, &position))
        end_writing(scribe, tg_write_at(scribe->fd, text, printer->used, position, NULL));
}

/* Prints chunks until there will be no more, or something failed. */
static void *work(void *context)
{
    struct tg_scribe *scribe = context;
    struct printer *printer = calloc(1, sizeof *printer);
    uint64_t chunk, n;
    if (!printer) {
        fail(scribe, ENOMEM);
        return NULL;
    }
    printer->scribe = scribe;
    while (take_chunk(scribe, &chunk, &n))
        print_chunk(printer, chunk, n);
    free(printer->text);
    free(printer);
    return NULL;
}

/* --- the head -------------------------------------------------------------------------------------- */

/* The size of the head; 0 if it does not fit the buffer. */
static size_t print_head(const struct tg_scribe *scribe, const struct tg_record_summary *summary,
                         char buffer[HEAD_ROOM])
{
    struct tg_json json;
    scribe->recording->info.summary = *summary;
    scribe->recording->payload.size = summary->payload_bytes;
    tg_json_start_buffer(&json, buffer, HEAD_ROOM, -1, 0);
    tg_manifest_put_head(&json, scribe->recording, summary);
    return json.status == TG_OK ? json.used : 0;
}

/* Keeps room for the head and for the new line behind it. */
static bool keep_room(struct tg_scribe *scribe)
{
    enum { LONGEST_RESULT = 64 };
    char *buffer = malloc(HEAD_ROOM);
    struct tg_record_summary large = {.flags = 0};
    large.attempted = large.recorded = large.before_dispatch = large.after_completion =
        large.orchestration = large.inputs = large.outputs = large.inouts = large.scalars =
            large.truncated = large.overwritten = large.record_ns = large.wait_ns =
                large.payload_bytes = LARGE_COUNTER;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        large.lost[i] = LARGE_COUNTER;
    size_t size = buffer ? print_head(scribe, &large, buffer) : 0;
    free(buffer);
    scribe->room = scribe->position = size + LONGEST_RESULT;
    return size > 0;
}

static int write_head(const struct tg_scribe *scribe, const struct tg_record_summary *summary)
{
    char *buffer = malloc(HEAD_ROOM);
    size_t size = buffer ? print_head(scribe, summary, buffer) : 0;
    int cause = size > 0 && size < scribe->room && scribe->room <= HEAD_ROOM ? 0 : ENOMEM;
    if (cause == 0) {
        memset(buffer + size, ' ', scribe->room - size);
        buffer[size] = '\n';
        cause = tg_write_at(scribe->fd, buffer, scribe->room, 0, NULL);
    }
    free(buffer);
    return cause;
}

/* --- from beginning to end --------------------------------------------------------------------------- */

/* Reads the journal up to its first argument: its head, and the names of kernels. */
static bool read_beginning(struct tg_scribe *scribe, uint64_t end)
{
    uint64_t size = HEAD;
    size_t room = 0;
    bool is_all = false;
    if (!tg_grow(&scribe->beginning, &room, HEAD, 1) ||
        read_at(scribe->journal, scribe->beginning, HEAD, 0) != 0)
        return false;
    while (!is_all && size < end) {
        if (!tg_grow(&scribe->beginning, &room, size + TG_JOURNAL_SLOT, 1) ||
            read_at(scribe->journal, scribe->beginning + size, TG_JOURNAL_SLOT, size) != 0)
            return false;
        is_all = is_argument(scribe->beginning + size);
        size += is_all ? 0 : TG_JOURNAL_SLOT;
    }
    if (tg_recording_from_memory(scribe->beginning, size, NULL, 0, &scribe->recording, NULL) !=
        TG_OK)
        return false;
    scribe->recording->info.complete = true; /* what it will be when the head is written */
    return true;
}

static bool open_file(struct tg_scribe *scribe, const char *dir)
{
    char *path = tg_path_join(dir, TG_DUMP_MANIFEST);
    bool opened = path && tg_new_file_open_unnamed(path, &scribe->file, NULL) == TG_OK;
    free(path);
    if (opened)
        scribe->fd = fileno(tg_new_file_stream(scribe->file));
    return opened;
}

static void free_scribe(struct tg_scribe *scribe)
{
    tg_new_file_close(scribe->file, false, NULL);
    tg_recording_close(scribe->recording);
    free(scribe->beginning);
    pthread_cond_destroy(&scribe->news);
    pthread_mutex_destroy(&scribe->lock);
    free(scribe);
}

struct tg_scribe *tg_scribe_begin(const char *dir, int journal, uint64_t end)
{
    struct tg_scribe *scribe = calloc(1, sizeof *scribe);
    if (!scribe)
        return NULL;
    scribe->journal = journal;
    scribe->slots = (end - HEAD) / TG_JOURNAL_SLOT;
    pthread_mutex_init(&scribe->lock, NULL);
    pthread_cond_init(&scribe->news, NULL);
    if (read_beginning(scribe, end) && keep_room(scribe) && open_file(scribe, dir) &&
        pthread_create(&scribe->thread, NULL, work, scribe) == 0)
        return scribe;
    free_scribe(scribe);
    return NULL;
}

/* Wakes nobody before a chunk is whole: the journal grows more often than that. */
void tg_scribe_tell(struct tg_scribe *scribe, uint64_t end)
{
    pthread_mutex_lock(&scribe->lock);
    uint64_t before = scribe->slots / CHUNK;
    scribe->slots = (end - HEAD) / TG_JOURNAL_SLOT;
    if (scribe->slots / CHUNK != before)
        pthread_cond_broadcast(&scribe->news);
    pthread_mutex_unlock(&scribe->lock);
}

void tg_scribe_drop(struct tg_scribe *scribe)
{
    if (!scribe)
        return;
    fail(scribe, ECANCELED);
    pthread_mutex_lock(&scribe->lock);
    while (scribe->writing > 0)
        pthread_cond_wait(&scribe->news, &scribe->lock);
    (void)!ftruncate(scribe->fd, 0);
    pthread_mutex_unlock(&scribe->lock);
}

/* Lets the thread end with what the journal has. */
static void close_journal(struct tg_scribe *scribe)
{
    pthread_mutex_lock(&scribe->lock);
    scribe->is_closed = true;
    pthread_cond_broadcast(&scribe->news);
    pthread_mutex_unlock(&scribe->lock);
}

bool tg_scribe_finish(struct tg_scribe *scribe, const struct tg_record_summary *summary)
{
    static const char end[] = "\n  ]\n}\n";
    close_journal(scribe);
    work(scribe); /* helps the thread, which may be behind */
    pthread_join(scribe->thread, NULL);
    int cause = scribe->cause;
    if (cause == 0 && !scribe->has_entries)
        cause = ENODATA;
    if (cause == 0)
        cause = write_head(scribe, summary);
    if (cause == 0)
        cause = tg_write_at(scribe->fd, end, sizeof end - 1, scribe->position, NULL);
    tg_status status = tg_new_file_close(scribe->file, cause == 0, NULL);
    scribe->file = NULL;
    free_scribe(scribe);
    return cause == 0 && status == TG_OK;
}

void tg_scribe_destroy(struct tg_scribe *scribe)
{
    if (!scribe)
        return;
    tg_scribe_drop(scribe);
    pthread_join(scribe->thread, NULL);
    free_scribe(scribe);
}
