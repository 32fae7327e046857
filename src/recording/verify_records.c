/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every record and its payload. Threads take a few records at a time from a common counter,
 * so that large and small payloads even out; the calling thread shows progress meanwhile. Memory
 * bandwidth limits the work, so more than a few threads would not help.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <string.h>
#include <taskglass/tensor.h>
#include <time.h>
#include <unistd.h>

#include "common/atomic.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/verify_state.h"

enum { MOST_THREADS = 4, SHARE = 8, TICK_MS = 100, WORTH_A_THREAD = 1 << 20 };

/* One thread's own counts, added up at the end. */
struct worker {
    struct tg_verifier *verifier;
    struct tg_verification sum;
    uint64_t done; /* bytes, not yet added to the verifier's */
    pthread_t thread;
    bool is_running;
    bool is_caller;    /* no thread of its own: it shows progress itself */
    uint32_t finished; /* atomic */
};

/* Where the zeros at the end of the payload file begin. Looks only when the first hash is wrong: there may
 * be very many. */
static uint64_t zeros_from(struct tg_verifier *verifier)
{
    pthread_mutex_lock(&verifier->lock);
    if (verifier->zeros_from == UINT64_MAX)
        verifier->zeros_from = tg_map_without_zeros(&verifier->recording->payload);
    uint64_t from = verifier->zeros_from;
    pthread_mutex_unlock(&verifier->lock);
    return from;
}

static void verify_hash(struct worker *worker, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    if (!(record->flags & TG_RECORD_HASHED)) {
        worker->sum.unhashed++;
        return;
    }
    if (record->stored < record->bytes) {
        worker->sum.cut++;
        return;
    }
    const void *bytes = tg_recording_payload(worker->verifier->recording, entry);
    if (!bytes) { /* the flag EXCESS */
        worker->sum.unread++;
        return;
    }
    uint64_t hash = tg_content_hash(bytes, (size_t)record->stored);
    worker->sum.compared++;
    if (hash == record->hash)
        return;
    uint64_t end = record->position + record->stored, zeros = zeros_from(worker->verifier);
    if (end > zeros)
        tg_verify_found(worker->verifier, TG_PROBLEM_HASH, index,
                        "its last %" PRIu64
                        " bytes are zeros up to the end of the payload file, as "
                        "a power loss leaves them; its hash is 0x%016" PRIx64,
                        zeros > record->position ? end - zeros : record->stored, record->hash);
    else
        tg_verify_found(worker->verifier, TG_PROBLEM_HASH, index,
                        "the hash is 0x%016" PRIx64 ", but its %" PRIu64
                        " bytes have 0x%016" PRIx64,
                        record->hash, record->stored, hash);
}

/* Reports whether the reader had to change a field that an honest record has right. */
static void verify_claims(struct worker *worker, uint64_t index, const struct tg_record *record)
{
    struct tg_verifier *verifier = worker->verifier;
    struct tg_record copy = *tg_recording_at(verifier->recording, index);
    const struct tg_record *raw = &copy;
    uint64_t size = verifier->info.payload_bytes;
    if (raw->stored > 0 && (raw->position > size || raw->stored > size - raw->position)) {
        __atomic_fetch_add(&verifier->short_records, 1, __ATOMIC_RELAXED);
        tg_verify_found(verifier, TG_PROBLEM_RECORD, index,
                        "its payload is %" PRIu64 " bytes at %" PRIu64
                        ", but the payload file has %" PRIu64,
                        raw->stored, raw->position, size);
    } else if (raw->stage != record->stage || raw->kind != record->kind ||
               raw->dtype != record->dtype || raw->ndim != record->ndim ||
               (raw->role != 0 && raw->role != record->role))
        tg_verify_found(verifier, TG_PROBLEM_RECORD, index,
                        "stage, role, kind, type or shape is not valid");
    else if (record->kind == TG_KIND_TENSOR &&
             (raw->bytes != record->bytes || raw->stored != record->stored))
        tg_verify_found(verifier, TG_PROBLEM_RECORD, index,
                        "says that %" PRIu64 " of %" PRIu64 " bytes are stored, but its shape has "
                        "%" PRIu64,
                        raw->stored, raw->bytes, record->bytes);
    else if ((raw->flags ^ record->flags) & TG_RECORD_TRUNCATED)
        tg_verify_found(verifier, TG_PROBLEM_RECORD, index,
                        "only %" PRIu64 " of %" PRIu64
                        " bytes are there, but it is not marked as truncated",
                        record->stored, record->bytes);
}

/* Reports fields of a record that contradict each other. */
static void verify_sense(struct worker *worker, uint64_t index, const struct tg_record *record)
{
    struct tg_tensor tensor = {.dtype = record->dtype, .ndim = record->ndim};
    memcpy(tensor.shape, record->shape, sizeof tensor.shape);
    memcpy(tensor.strides, record->strides, sizeof tensor.strides);
    if (record->kind != TG_KIND_TENSOR)
        return;
    if ((record->flags & TG_RECORD_CONTIGUOUS) && !tg_tensor_contiguous(&tensor))
        tg_verify_found(worker->verifier, TG_PROBLEM_RECORD, index,
                        "says that it is contiguous, but its strides say it is not");
    if ((record->flags & TG_RECORD_TRUNCATED) && record->stored == record->bytes &&
        record->bytes > 0)
        tg_verify_found(worker->verifier, TG_PROBLEM_RECORD, index,
                        "says that it is truncated, but all of it is there");
}

static void verify_record(struct worker *worker, uint64_t index)
{
    struct tg_verifier *verifier = worker->verifier;
    struct tg_entry entry;
    if (!tg_recording_get(verifier->recording, index, &entry))
        return;
    const struct tg_record *record = &entry.record;
    tg_record_count(&worker->sum.counted, record);
    verify_claims(worker, index, record);
    verify_sense(worker, index, record);
    if (record->stored > 0) {
        verifier->extent[index] = (struct tg_extent){record->position, record->stored, index};
        worker->sum.payloads++;
        verify_hash(worker, index, &entry);
        worker->done += record->flags & TG_RECORD_EXCESS ? 0 : record->stored;
    }
    worker->done += sizeof *record;
}

/* The other threads are near: what lies further back is not needed again. */
static void let_go(const struct tg_verifier *verifier, uint64_t index)
{
    const uint64_t often = 1 << 15;
    if (verifier->info.from_journal && index % often == 0 && index >= 2 * often)
        tg_map_let_go_part(&verifier->recording->map,
                           (index - 2 * often) * verifier->recording->slot_size,
                           (index - often) * verifier->recording->slot_size);
}

/* On the thread that called tg_recording_verify. */
static void show(struct tg_verifier *verifier)
{
    uint64_t done = __atomic_load_n(&verifier->done, __ATOMIC_RELAXED);
    if (verifier->progress)
        verifier->progress(verifier->context, done, verifier->total);
    if (verifier->watch && verifier->watch(verifier->context, done, verifier->total) != 0)
        __atomic_store_n(&verifier->cancelled, 1, __ATOMIC_RELAXED);
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct tg_verifier *verifier = worker->verifier;
    for (;;) {
        uint64_t first = __atomic_fetch_add(&verifier->next, SHARE, __ATOMIC_RELAXED);
        if (first >= verifier->info.records ||
            __atomic_load_n(&verifier->cancelled, __ATOMIC_RELAXED))
            break;
        uint64_t last = first + SHARE;
        for (uint64_t i = first; i < last && i < verifier->info.records; i++)
            verify_record(worker, i);
        __atomic_fetch_add(&verifier->done, worker->done, __ATOMIC_RELAXED);
        if (worker->is_caller)
            show(verifier);
        worker->done = 0;
        let_go(verifier, first);
    }
    tg_store_release(&worker->finished, 1); /* pairs with the load in wait_for */
    return NULL;
}

static void wait_for(const struct worker *worker)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    struct tg_verifier *verifier = worker->verifier;
    while ((verifier->progress || verifier->watch) && !tg_load_acquire(&worker->finished)) {
        show(verifier);
        nanosleep(&tick, NULL);
    }
}

static void add_counters(struct tg_record_summary *result, const struct tg_record_summary *sum)
{
    result->recorded += sum->recorded;
    result->before_dispatch += sum->before_dispatch;
    result->after_completion += sum->after_completion;
    result->orchestration += sum->orchestration;
    result->inputs += sum->inputs;
    result->outputs += sum->outputs;
    result->inouts += sum->inouts;
    result->scalars += sum->scalars;
    result->truncated += sum->truncated;
    result->overwritten += sum->overwritten;
}

static void add_up(struct tg_verification *result, const struct tg_verification *sum)
{
    result->payloads += sum->payloads;
    result->compared += sum->compared;
    result->unhashed += sum->unhashed;
    result->cut += sum->cut;
    result->unread += sum->unread;
    add_counters(&result->counted, &sum->counted);
}

static unsigned count_threads(const struct tg_verifier *verifier)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = 1 + verifier->total / WORTH_A_THREAD;
    uint64_t most = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (uint64_t)cpus;
    return (unsigned)(wanted < most ? wanted : most);
}

void tg_verify_records(struct tg_verifier *verifier)
{
    struct worker worker[MOST_THREADS] = {{0}};
    unsigned threads = count_threads(verifier);
    for (unsigned i = 0; i < MOST_THREADS; i++)
        worker[i].verifier = verifier;
    for (unsigned i = 0; threads > 1 && i < threads; i++)
        worker[i].is_running = pthread_create(&worker[i].thread, NULL, work, &worker[i]) == 0;
    if (!worker[0].is_running) { /* too little to do for threads, or none could be started */
        worker[0].is_caller = true;
        work(&worker[0]);
    }
    for (unsigned i = 0; i < MOST_THREADS; i++) {
        if (worker[i].is_running) {
            wait_for(&worker[i]);
            pthread_join(worker[i].thread, NULL);
        }
        add_up(verifier->result, &worker[i].sum);
    }
}
