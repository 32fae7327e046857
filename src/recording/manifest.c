/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/manifest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "recording/reader.h"
#include "recording/record.h"

static uint64_t lost_records(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        if (cause != TG_LOSS_OVERWRITTEN)
            lost += summary->lost[cause];
    return lost;
}

static void put_losses(struct tg_json *json, const struct tg_record_summary *summary)
{
    tg_json_key(json, "lost");
    tg_json_begin_line_object(json);
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++)
        tg_json_put_uint(json, tg_loss_name(cause), summary->lost[cause]);
    tg_json_end_object(json);
}

static void put_counters(struct tg_json *json, const struct tg_record_summary *counted,
                         const struct tg_record_summary *summary)
{
    tg_json_put_uint(json, "total_tensors", counted->recorded);
    tg_json_put_uint(json, "before_dispatch", counted->before_dispatch);
    tg_json_put_uint(json, "after_completion", counted->after_completion);
    tg_json_put_uint(json, "orchestration", counted->orchestration);
    tg_json_put_uint(json, "input_tensors", counted->inputs);
    tg_json_put_uint(json, "output_tensors", counted->outputs);
    tg_json_put_uint(json, "inout_tensors", counted->inouts);
    tg_json_put_uint(json, "scalars", counted->scalars);
    tg_json_put_uint(json, "truncated_tensors", counted->truncated);
    tg_json_put_uint(json, "overwritten_tensors", counted->overwritten);
    tg_json_put_uint(json, "dropped_records", lost_records(summary));
    tg_json_put_uint(json, "dropped_overwrite",
                     counted->overwritten + summary->lost[TG_LOSS_OVERWRITTEN]);
    put_losses(json, summary);
    tg_json_put_uint(json, "attempted", summary->attempted);
    tg_json_put_uint(json, "record_ns", summary->record_ns);
    tg_json_put_uint(json, "wait_ns", summary->wait_ns);
}

static void put_format(struct tg_json *json)
{
    tg_json_key(json, "bin_format");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "type", "logical_contiguous");
    tg_json_put_string(json, "byte_order", "little_endian");
    tg_json_end_object(json);
}

static void put_members(struct tg_json *json, const struct tg_recording *recording,
                        const struct tg_record_summary *counted)
{
    tg_json_put_uint(json, "version", TG_MANIFEST_VERSION);
    tg_json_put_string(json, "run_dir", recording->run_dir);
    put_format(json);
    tg_json_put_string(json, "hash_algorithm", "tg64");
    tg_json_put_string(json, "level", tg_level_name(recording->info.level));
    tg_json_put_string(json, "policy", tg_policy_name(recording->policy));
    if (recording->info.poison)
        tg_json_put_hex(json, "poison", recording->info.poison);
    tg_json_put_bool(json, "complete", recording->info.complete && recording->info.damaged == 0);
    if (recording->info.damaged > 0)
        tg_json_put_uint(json, "damaged_records", recording->info.damaged);
    if (recording->info.summary.flags & TG_SUMMARY_RESULT)
        tg_json_put_string(json, "result",
                           tg_status_name((tg_status)recording->info.summary.result));
    put_counters(json, counted, &recording->info.summary);
    tg_json_put_uint(json, "payload_bytes", recording->payload.size);
    tg_json_put_string(json, "bin_file",
                       recording->payload_name[0] ? recording->payload_name : TG_DUMP_PAYLOAD);
}

/* The document's text begins at the buffer's: nothing has been flushed yet. */
void tg_manifest_put_head(struct tg_json *json, const struct tg_recording *recording,
                          const struct tg_record_summary *counted)
{
    tg_json_begin_object(json);
    put_members(json, recording, counted);
    tg_json_put_hex(json, "check", tg_text_hash(json->buffer, json->used));
    tg_json_key(json, "tensors");
    tg_json_begin_array(json);
}

/* --- the entries, on several threads --------------------------------------------------------------- */

enum { CHUNK = 2048, MOST_THREADS = 4, ROOM = 1 << 20 }; /* records, threads, bytes */

/* What the threads share. The lock guards `turn`, `position` and `cause`. */
struct print {
    const struct tg_recording *recording;
    int fd;
    uint64_t n_chunks;
    uint64_t
        next; /* atomic, relaxed: the next chunk that nobody has; pthread_create and join order all else */
    pthread_mutex_t lock;
    pthread_cond_t turns;
    uint64_t turn;     /* the chunk whose place in the file is known */
    uint64_t position; /* that place */
    int cause;         /* the first errno */
};

/* One thread: its text, and the records that it counted. */
struct printer {
    struct print *print;
    struct tg_manifest_pieces pieces;
    struct tg_record_summary counted;
    char *text;
    size_t used, room;
    pthread_t thread;
    bool is_running;
};

/* Releases the memory of a chunk's records: a host that recorded for hours would otherwise need room for
 * the whole journal at the end. */
static void let_go(const struct tg_recording *recording, uint64_t chunk)
{
    size_t size = CHUNK * recording->slot_size;
    if (recording->info.from_journal)
        tg_map_let_go_part(&recording->map, (size_t)chunk * size, (size_t)(chunk + 1) * size);
}

static uint64_t take_chunk(struct print *print)
{
    return __atomic_fetch_add(&print->next, 1, __ATOMIC_RELAXED);
}

static void *count_chunks(void *context)
{
    struct printer *printer = context;
    const struct tg_recording *recording = printer->print->recording;
    struct tg_entry entry;
    for (uint64_t chunk; (chunk = take_chunk(printer->print)) < printer->print->n_chunks;) {
        for (uint64_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++)
            if (tg_recording_get(recording, i, &entry))
                tg_record_count(&printer->counted, &entry.record);
        let_go(recording, chunk);
    }
    return NULL;
}

/* False if memory ran out. */
static bool format_chunk(struct printer *printer, uint64_t chunk)
{
    const struct tg_recording *recording = printer->print->recording;
    struct tg_entry entry;
    printer->used = 0;
    for (uint64_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
        if (!tg_recording_get(recording, i, &entry))
            break;
        if (!tg_grow(&printer->text, &printer->room, printer->used + TG_MANIFEST_LINE, 1))
            return false;
        char *at = printer->text + printer->used;
        if (i > 0)
            *at++ = ',';
        *at++ = '\n';
        at += tg_manifest_put_entry(&printer->pieces, &entry, at);
        printer->used = (size_t)(at - printer->text);
    }
    let_go(recording, chunk);
    return true;
}

/* Waits until all chunks before this one have their places, and takes the next place. The chunks before
 * are with threads that wait for nothing, or for those before them. */
static uint64_t take_place(struct print *print, uint64_t chunk, size_t size, int cause)
{
    pthread_mutex_lock(&print->lock);
    while (print->turn != chunk)
        pthread_cond_wait(&print->turns, &print->lock);
    uint64_t position = print->position;
    print->position += size;
    print->turn++;
    if (print->cause == 0)
        print->cause = cause;
    pthread_cond_broadcast(&print->turns);
    pthread_mutex_unlock(&print->lock);
    return position;
}

static void *print_chunks(void *context)
{
    struct printer *printer = context;
    struct print *print = printer->print;
    for (uint64_t chunk; (chunk = take_chunk(print)) < print->n_chunks;) {
        int cause = format_chunk(printer, chunk) ? 0 : ENOMEM;
        uint64_t position = take_place(print, chunk, printer->used, cause);
        if (cause == 0)
            cause = tg_write_at(print->fd, printer->text, printer->used, position, NULL);
        pthread_mutex_lock(&print->lock);
        if (print->cause == 0)
            print->cause = cause;
        bool failed = print->cause != 0;
        pthread_mutex_unlock(&print->lock);
        if (failed) /* nobody takes another chunk, so nobody waits for one */
            __atomic_store_n(&print->next, print->n_chunks, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void run(struct printer *printer, unsigned n, void *(*work)(void *))
{
    __atomic_store_n(&printer[0].print->next, 0, __ATOMIC_RELAXED);
    for (unsigned i = 1; i < n; i++)
        printer[i].is_running = pthread_create(&printer[i].thread, NULL, work, &printer[i]) == 0;
    work(&printer[0]);
    for (unsigned i = 1; i < n; i++)
        if (printer[i].is_running)
            pthread_join(printer[i].thread, NULL);
}

/* --- the document ------------------------------------------------------------------------------------ */

static unsigned count_threads(uint64_t chunks)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t most = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (uint64_t)cpus;
    return (unsigned)(chunks < 2 ? 1 : chunks < most ? chunks : most);
}

static void add_counts(struct tg_record_summary *sum, const struct tg_record_summary *more)
{
    sum->recorded += more->recorded;
    sum->before_dispatch += more->before_dispatch;
    sum->after_completion += more->after_completion;
    sum->orchestration += more->orchestration;
    sum->inputs += more->inputs;
    sum->outputs += more->outputs;
    sum->inouts += more->inouts;
    sum->scalars += more->scalars;
    sum->truncated += more->truncated;
    sum->overwritten += more->overwritten;
}

static void put(struct print *print, const char *text, size_t size)
{
    if (print->cause == 0)
        print->cause = tg_write_at(print->fd, text, size, print->position, NULL);
    print->position += size;
}

static void print_through(struct print *print, struct printer *printer, unsigned n, char *buffer)
{
    struct tg_record_summary counted = {0};
    struct tg_json json;
    run(printer, n, count_chunks);
    for (unsigned i = 0; i < n; i++)
        add_counts(&counted, &printer[i].counted);
    tg_json_start_buffer(&json, buffer, ROOM, -1, 0);
    tg_manifest_put_head(&json, print->recording, &counted);
    if (json.status != TG_OK)
        print->cause = ENOMEM;
    put(print, buffer, json.used);
    if (print->cause == 0)
        run(printer, n, print_chunks);
    const char *end = counted.recorded > 0 ? "\n  ]\n}\n" : "]\n}\n";
    put(print, end, strlen(end));
}

int tg_manifest_print(const struct tg_recording *recording, int fd)
{
    struct print print = {.recording = recording,
                          .fd = fd,
                          .n_chunks = (recording->info.records + CHUNK - 1) / CHUNK,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .turns = PTHREAD_COND_INITIALIZER};
    unsigned n = count_threads(print.n_chunks);
    struct printer *printer = calloc(n, sizeof *printer);
    char *buffer = malloc(ROOM);
    print.cause = printer && buffer ? 0 : ENOMEM;
    for (unsigned i = 0; printer && i < n; i++)
        printer[i].print = &print;
    if (print.cause == 0)
        print_through(&print, printer, n, buffer);
    for (unsigned i = 0; printer && i < n; i++)
        free(printer[i].text);
    free(printer);
    free(buffer);
    pthread_cond_destroy(&print.turns);
    pthread_mutex_destroy(&print.lock);
    return print.cause != 0 ? print.cause : tg_map_check(&recording->map);
}

static int print(int fd, const void *recording)
{
    return tg_manifest_print(recording, fd);
}

tg_status tg_manifest_write(const struct tg_recording *recording, const char *dir,
                            struct tg_error *error)
{
    return tg_file_write(dir, TG_DUMP_MANIFEST, print, recording, error);
}
