/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/recording.h>
#include <taskglass/wire/journal.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/manifest.h"
#include "recording/record.h"
#include "recording/run_folder.h"
#include "recording/scribe.h"
#include "recording/slots.h"

enum { BUFFERED = 2048 }; /* slots: 256 KiB */
/* From so many records on, the manifest is printed while the run goes on. */
enum { MANY_RECORDS = 4096 };

/* Files end before this, so that a position has bits to spare. */
#define LAST_POSITION (UINT64_C(1) << 62)

struct payloads {
    uint64_t stored; /* bytes, without the gaps between them */
    uint64_t end;    /* of the last one in the file */
};

struct tg_dump_writer {
    char *dir, *journal_path, *payload_path;
    int journal, payload;
    /* The errno that ended writing, 0 while all is well; set once. Relaxed accesses suffice: no
     * other data depends on the flag. Several threads may write payloads. */
    int payload_failed, journal_failed;
    uint64_t reserved;        /* atomic: end of the payload file, counting all reservations */
    pthread_mutex_t lock;     /* of all that follows but `scribe` */
    uint64_t recorded_end;    /* end of the payloads that records in the journal refer to */
    uint64_t stored;          /* bytes of these payloads, without the gaps between them */
    uint64_t journal_end;     /* the file has whole records up to here */
    struct payloads expected; /* of the arguments in the buffer */
    uint32_t buffered;        /* slots */
    /* Atomic: a thread that appends sets it (release), threads that write payloads use it (acquire). NULL:
     * the manifest is written after the run. */
    struct tg_scribe *scribe;
    bool was_begun; /* there was a scribe, or nobody could be had */
    struct tg_record_summary summary;
    unsigned char buffer[BUFFERED * TG_JOURNAL_SLOT];
};

static int failure(const int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void set_failure(int *flag, int cause)
{
    int none = 0;
    __atomic_compare_exchange_n(flag, &none, cause, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool has_failed(const struct tg_dump_writer *writer)
{
    return failure(&writer->payload_failed) || failure(&writer->journal_failed);
}

/* --- create ---------------------------------------------------------------------------------- */

/* Creates the journal last: a reader that finds it finds the other files too, and a head to read.
 * Removes old files first: the manifest or journal of another recording must never stand beside
 * this payload, not even for a moment. */
static tg_status create_files(struct tg_dump_writer *writer, const struct tg_journal_head *head,
                              struct tg_error *error)
{
    int cause = tg_run_folder_make(writer->dir, false);
    if (cause != 0)
        return tg_file_error(error, "create directory", writer->dir, cause);
    tg_status status = tg_file_remove(writer->dir, TG_DUMP_MANIFEST, error);
    if (status == TG_OK)
        status = tg_file_remove(writer->dir, TG_DUMP_JOURNAL, error);
    if (status == TG_OK)
        status = tg_file_begin(writer->dir, TG_DUMP_PAYLOAD, NULL, 0, &writer->payload, error);
    if (status == TG_OK)
        status = tg_file_begin(writer->dir, TG_DUMP_JOURNAL, head, sizeof *head, &writer->journal,
                               error);
    writer->journal_end = sizeof *head;
    return status;
}

tg_status tg_dump_create(const char *run_dir, uint32_t level, uint32_t policy, uint32_t poison,
                         struct tg_dump_writer **writer, struct tg_error *error)
{
    struct tg_dump_writer *w = calloc(1, sizeof *w);
    struct tg_journal_head head = {.magic = TG_JOURNAL_MAGIC,
                                   .version = TG_JOURNAL_VERSION,
                                   .head_size = sizeof head,
                                   .record_size = TG_JOURNAL_SLOT,
                                   .compatible = TG_JOURNAL_CHECKED,
                                   .level = level,
                                   .policy = policy,
                                   .poison = poison,
                                   .bin_file = TG_DUMP_PAYLOAD};
    *writer = NULL;
    if (!w)
        return tg_file_no_memory(error);
    tg_path_last(run_dir, head.run_dir, sizeof head.run_dir);
    head.check = tg_journal_head_check(&head);
    w->journal = w->payload = -1;
    pthread_mutex_init(&w->lock, NULL);
    w->summary.type = TG_RECORD_SUMMARY;
    w->dir = tg_path_join(run_dir, TG_DUMP_FOLDER);
    w->journal_path = w->dir ? tg_path_join(w->dir, TG_DUMP_JOURNAL) : NULL;
    w->payload_path = w->dir ? tg_path_join(w->dir, TG_DUMP_PAYLOAD) : NULL;
    tg_status status = TG_NO_MEMORY;
    if (w->dir && w->journal_path && w->payload_path)
        status = create_files(w, &head, error);
    else
        tg_file_no_memory(error);
    if (status == TG_OK) {
        *writer = w;
        return TG_OK;
    }
    if (w->payload >= 0) /* without a journal, its empty file would be no recording */
        (void)unlink(w->payload_path);
    if (w->dir)
        (void)rmdir(w->dir);
    tg_dump_destroy(w);
    return status;
}

/* --- while the graph runs ---------------------------------------------------------------------- */

uint64_t tg_dump_reserve(struct tg_dump_writer *writer, uint64_t bytes)
{
    uint64_t position = __atomic_load_n(&writer->reserved, __ATOMIC_RELAXED);
    do { /* a sum that does not fit must not come round to bytes that are taken */
        if (bytes > LAST_POSITION - position) {
            set_failure(&writer->payload_failed, EFBIG);
            return position;
        }
    } while (!__atomic_compare_exchange_n(&writer->reserved, &position, position + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return position;
}

/* On a full disk the manifest makes room: it can be printed again. Returns 0 or an errno. */
static int write_first(struct tg_dump_writer *writer, int fd, const void *bytes, uint64_t size,
                       uint64_t position, uint64_t *done)
{
    struct tg_scribe *scribe = __atomic_load_n(&writer->scribe, __ATOMIC_ACQUIRE);
    int cause = tg_write_at(fd, bytes, size, position, done);
    if ((cause != ENOSPC && cause != EDQUOT) || !scribe)
        return cause;
    tg_scribe_drop(scribe);
    return tg_write_at(fd, bytes, size, position, done);
}

bool tg_dump_payload(struct tg_dump_writer *writer, uint64_t position, const void *bytes,
                     uint64_t size)
{
    if (has_failed(writer))
        return false;
    int cause = write_first(writer, writer->payload, bytes, size, position, NULL);
    if (cause)
        set_failure(&writer->payload_failed, cause);
    return cause == 0;
}

/* Payloads of arguments on their way into the journal. */
static void expect(struct payloads *payloads, const struct tg_record *record)
{
    uint64_t end = record->position + record->stored;
    payloads->stored += record->stored;
    if (record->stored > 0 && end > payloads->end)
        payloads->end = end;
}

static void keep(struct tg_dump_writer *writer, const struct payloads *payloads)
{
    writer->stored += payloads->stored;
    if (payloads->end > writer->recorded_end)
        writer->recorded_end = payloads->end;
}

/* The first `whole` slots of the buffer are in the journal; the arguments behind them are lost. Returns
 * how many slots stay, for a record whose other half is missing goes too. */
static uint32_t settle(struct tg_dump_writer *writer, uint32_t whole)
{
    struct payloads kept = {0};
    struct tg_record record;
    uint32_t stays = 0;
    for (uint32_t i = 0, n; i < writer->buffered; i += n) {
        n = tg_slot_count(writer->buffer + (size_t)i * TG_JOURNAL_SLOT);
        tg_slot_read(writer->buffer, TG_JOURNAL_SLOT, i, writer->buffered, &record);
        bool is_kept = i + n <= whole, is_argument = record.type == TG_RECORD_ARGUMENT;
        if (is_kept)
            stays = i + n;
        if (is_kept && is_argument)
            expect(&kept, &record);
        if (!is_kept && is_argument) {
            tg_record_uncount(&writer->summary, &record);
            writer->summary.lost[TG_LOSS_DISK]++;
        }
    }
    keep(writer, &kept);
    return stays;
}

/* The journal has grown. */
static void tell_scribe(struct tg_dump_writer *writer)
{
    if (!writer->was_begun && writer->summary.recorded >= MANY_RECORDS) {
        writer->was_begun = true;
        __atomic_store_n(&writer->scribe,
                         tg_scribe_begin(writer->dir, writer->journal, writer->journal_end),
                         __ATOMIC_RELEASE);
    } else if (writer->scribe) {
        tg_scribe_tell(writer->scribe, writer->journal_end);
    }
}

/*
 * Writes the buffer even after a payload failed, because the payloads of these records were written
 * before. If writing the journal itself fails, it may end in half a record, which is cut off again.
 */
static bool write_buffer(struct tg_dump_writer *writer)
{
    uint64_t done = 0, size = (uint64_t)writer->buffered * TG_JOURNAL_SLOT;
    int cause = failure(&writer->journal_failed);
    if (!cause)
        cause =
            write_first(writer, writer->journal, writer->buffer, size, writer->journal_end, &done);
    if (cause) {
        set_failure(&writer->journal_failed, cause);
        done = (uint64_t)settle(writer, (uint32_t)(done / TG_JOURNAL_SLOT)) * TG_JOURNAL_SLOT;
        (void)!ftruncate(writer->journal, (off_t)(writer->journal_end + done));
    } else {
        keep(writer, &writer->expected);
    }
    writer->journal_end += done;
    writer->expected = (struct payloads){0};
    writer->buffered = 0;
    if (cause == 0)
        tell_scribe(writer);
    return cause == 0;
}

bool tg_dump_flush(struct tg_dump_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    bool is_good = writer->buffered == 0 ? !has_failed(writer) : write_buffer(writer);
    pthread_mutex_unlock(&writer->lock);
    return is_good;
}

/* `record` may be of any type; all have the same size. */
static bool add(struct tg_dump_writer *writer, const void *record)
{
    writer->buffered +=
        tg_slots_put(record, writer->buffer + (size_t)writer->buffered * TG_JOURNAL_SLOT);
    return writer->buffered + TG_MOST_SLOTS <= BUFFERED || write_buffer(writer);
}

tg_status tg_dump_add_kernel(struct tg_dump_writer *writer, uint32_t number, uint32_t core,
                             const char *name)
{
    struct tg_record_kernel kernel = {.type = TG_RECORD_KERNEL, .kernel = number, .core = core};
    if (writer->summary.recorded > 0)
        return TG_BAD_ARGUMENT;
    memcpy(kernel.name, name, strnlen(name, TG_JOURNAL_NAME));
    return add(writer, &kernel) ? TG_OK : TG_IO_ERROR;
}

static bool append(struct tg_dump_writer *writer, const struct tg_record *record)
{
    if (has_failed(writer)) {
        writer->summary.lost[TG_LOSS_DISK]++;
        return false;
    }
    tg_record_count(&writer->summary, record);
    expect(&writer->expected, record);
    return add(writer, record);
}

bool tg_dump_append_all(struct tg_dump_writer *writer, const struct tg_record *records, uint32_t n)
{
    bool is_good = true;
    pthread_mutex_lock(&writer->lock);
    for (uint32_t i = 0; i < n; i++)
        is_good = append(writer, &records[i]) && is_good;
    pthread_mutex_unlock(&writer->lock);
    return is_good;
}

bool tg_dump_append(struct tg_dump_writer *writer, const struct tg_record *record)
{
    return tg_dump_append_all(writer, record, 1);
}

const struct tg_record_summary *tg_dump_summary(const struct tg_dump_writer *writer)
{
    return &writer->summary;
}

uint64_t tg_dump_stored(const struct tg_dump_writer *writer)
{
    return writer->stored;
}

void tg_dump_account(struct tg_dump_writer *writer, const struct tg_dump_account *account)
{
    writer->summary.attempted += account->attempted;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        writer->summary.lost[cause] += account->lost[cause];
    writer->summary.record_ns += account->record_ns;
    writer->summary.wait_ns += account->wait_ns;
}

void tg_dump_set_result(struct tg_dump_writer *writer, tg_status result)
{
    writer->summary.flags |= TG_SUMMARY_RESULT;
    writer->summary.result = result;
}

/* --- the end ----------------------------------------------------------------------------------- */

/* On a full disk, frees the payload bytes that no record refers to: the end of the journal needs
 * the room. */
static void release_payload(struct tg_dump_writer *writer)
{
    if (has_failed(writer))
        (void)!ftruncate(writer->payload, (off_t)writer->recorded_end);
}

static uint64_t payload_size(const struct tg_dump_writer *writer)
{
    off_t end = lseek(writer->payload, 0, SEEK_END);
    return end >= 0 ? (uint64_t)end : writer->recorded_end;
}

/* Tries even if the journal failed before: there may be room by now. */
static void write_summary(struct tg_dump_writer *writer)
{
    unsigned char slots[TG_MOST_SLOTS * TG_JOURNAL_SLOT];
    writer->summary.payload_bytes = payload_size(writer);
    size_t size = tg_slots_put(&writer->summary, slots) * (size_t)TG_JOURNAL_SLOT;
    int cause = tg_write_at(writer->journal, slots, size, writer->journal_end, NULL);
    if (cause) {
        set_failure(&writer->journal_failed, cause);
        (void)!ftruncate(writer->journal, (off_t)writer->journal_end);
    }
}

static tg_status say_failure(const struct tg_dump_writer *writer, bool has_manifest,
                             struct tg_error *error)
{
    int cause = failure(&writer->payload_failed);
    const char *path = cause ? writer->payload_path : writer->journal_path;
    if (!cause)
        cause = failure(&writer->journal_failed);
    return tg_error_set(error, TG_IO_ERROR, "cannot write '%s': %s%s", path, strerror(cause),
                        has_manifest ? "" : "; " TG_DUMP_MANIFEST " not written");
}

/* Some file systems report only here that earlier writes failed. */
static void close_files(struct tg_dump_writer *writer)
{
    if (writer->payload >= 0 && close(writer->payload) != 0 && errno != EINTR)
        set_failure(&writer->payload_failed, errno);
    int cause = tg_lock_drop(writer->journal);
    if (cause != 0)
        set_failure(&writer->journal_failed, cause);
    writer->journal = writer->payload = -1;
}

/* Reads the journal and prints it, if it was not printed while it grew. */
static tg_status write_manifest(struct tg_dump_writer *writer, struct tg_error *error)
{
    struct tg_recording *recording;
    struct tg_scribe *scribe = writer->scribe;
    writer->scribe = NULL;
    if (scribe && !has_failed(writer) && tg_scribe_finish(scribe, &writer->summary))
        return TG_OK;
    if (scribe && has_failed(writer))
        tg_scribe_destroy(scribe);
    tg_status status = tg_recording_open(writer->journal_path, &recording, error);
    if (status != TG_OK && error) /* it names another file */
        tg_error_set(error, status, "%s; " TG_DUMP_MANIFEST " not written", error->text);
    if (status != TG_OK)
        return status;
    status = tg_manifest_write(recording, writer->dir, error);
    tg_recording_close(recording);
    return status;
}

tg_status tg_dump_finish(struct tg_dump_writer *writer, struct tg_error *error)
{
    (void)tg_dump_flush(writer); /* first, because the summary counts what a flush may lose */
    release_payload(writer);
    write_summary(writer);
    tg_status status = write_manifest(writer, error);
    close_files(writer);
    return has_failed(writer) ? say_failure(writer, status == TG_OK, error) : status;
}

void tg_dump_destroy(struct tg_dump_writer *writer)
{
    if (!writer)
        return;
    if (writer->journal >= 0 && writer->buffered > 0)
        (void)write_buffer(writer);
    tg_scribe_destroy(writer->scribe);
    close_files(writer);
    pthread_mutex_destroy(&writer->lock);
    free(writer->dir);
    free(writer->journal_path);
    free(writer->payload_path);
    free(writer);
}
