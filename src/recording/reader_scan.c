/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every record of a journal. Reading it is what takes the time, so a large journal is shared
 * out among a few threads.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "recording/extents.h"
#include "recording/reader.h"
#include "recording/slots.h"

enum { HEAD = sizeof(struct tg_journal_head) };
enum { MOST_THREADS = 4, WORTH_A_THREAD = 1 << 16, OFTEN = 1 << 15 }; /* slots; 4 or 8 MiB */
enum { HOLE_STEP = 1 << 16 };                                         /* bytes */

size_t tg_journal_place(const struct tg_recording *recording, uint64_t slot)
{
    return HEAD + (size_t)slot * recording->slot_size;
}

const unsigned char *tg_journal_slot(const struct tg_recording *recording, uint64_t slot)
{
    return recording->map.bytes + tg_journal_place(recording, slot);
}

void tg_journal_record(const struct tg_recording *recording, uint64_t slot,
                       struct tg_record *record)
{
    tg_slot_read(recording->map.bytes + HEAD, recording->slot_size, slot, recording->slots, record);
}

/* One thread's share. */
struct share {
    const struct tg_recording *recording;
    uint64_t from, to;
    struct tg_mark *mark;
    size_t n_marks, room;
    uint64_t claimed;
    bool no_memory;
    pthread_t thread;
    bool is_running;
};

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static enum tg_mark_kind kind_of(const struct tg_record *record)
{
    return record->type == TG_RECORD_KERNEL    ? TG_MARK_KERNEL
           : record->type == TG_RECORD_SUMMARY ? TG_MARK_SUMMARY
                                               : TG_MARK_OTHER;
}

/* True if the slot holds an intact argument; adds its claim to *claimed. */
static bool is_argument(const struct tg_recording *recording, uint64_t i, enum tg_mark_kind *kind,
                        uint64_t *claimed)
{
    struct tg_record record;
    enum tg_slot what = tg_slot_take(recording->map.bytes + HEAD, recording->slot_size, i,
                                     recording->slots, &record);
    if (what == TG_SLOT_RECORD && record.type == TG_RECORD_ARGUMENT) {
        *claimed = tg_claims_add(*claimed, record.stored);
        return true;
    }
    if (what == TG_SLOT_RECORD)
        *kind = kind_of(&record);
    else if (what == TG_SLOT_REST)
        *kind = TG_MARK_REST;
    else
        *kind = is_zero(tg_journal_slot(recording, i), recording->slot_size) ? TG_MARK_ZEROS
                                                                             : TG_MARK_DAMAGED;
    return false;
}

void tg_journal_let_go(const struct tg_recording *recording, uint64_t slot)
{
    if (slot % OFTEN == 0 && slot >= OFTEN)
        tg_map_let_go_part(&recording->map, (size_t)(slot - OFTEN) * recording->slot_size,
                           (size_t)slot * recording->slot_size);
}

/* Damaged slots in a row are one mark. */
static bool goes_on(const struct tg_mark *last, const struct tg_mark *mark)
{
    return last->kind == mark->kind && last->slot + last->count == mark->slot &&
           (mark->kind == TG_MARK_DAMAGED || mark->kind == TG_MARK_ZEROS);
}

static bool add_mark(struct share *share, const struct tg_mark *mark)
{
    if (share->n_marks > 0 && goes_on(&share->mark[share->n_marks - 1], mark)) {
        share->mark[share->n_marks - 1].count += mark->count;
        return true;
    }
    if (!tg_grow(&share->mark, &share->room, share->n_marks + 1, sizeof *mark))
        return false;
    share->mark[share->n_marks++] = *mark;
    return true;
}

/* How many slots from `slot` on, which is one of zeros, are zeros without looking: those in a hole of the
 * file. Asks the file system now and then only, so that zeros on disk do not cost a call each. */
static uint64_t count_zeros(const struct share *share, uint64_t slot)
{
    size_t begin = tg_journal_place(share->recording, slot);
    if (begin % HOLE_STEP != 0)
        return 1;
    uint64_t end =
        (tg_map_skip_hole(&share->recording->map, begin) - HEAD) / share->recording->slot_size;
    if (end > share->to)
        end = share->to;
    return end > slot ? end - slot : 1;
}

static void *scan(void *context)
{
    struct share *share = context;
    for (uint64_t i = share->from, n; i < share->to; i += n) {
        struct tg_mark mark = {.slot = i};
        n = 1;
        tg_journal_let_go(share->recording, i);
        if (is_argument(share->recording, i, &mark.kind, &share->claimed))
            continue;
        if (mark.kind == TG_MARK_ZEROS)
            n = count_zeros(share, i);
        mark.count = n;
        if (!add_mark(share, &mark)) {
            share->no_memory = true;
            break;
        }
    }
    return NULL;
}

static unsigned count_threads(uint64_t slots)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = 1 + slots / WORTH_A_THREAD;
    uint64_t most = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (uint64_t)cpus;
    unsigned threads = (unsigned)(wanted < most ? wanted : most);
    return threads > 0 ? threads : 1;
}

static void scan_shares(struct share *share, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        share[i].is_running = pthread_create(&share[i].thread, NULL, scan, &share[i]) == 0;
    for (unsigned i = 0; i < n; i++)
        if (!share[i].is_running)
            scan(&share[i]);
    for (unsigned i = 1; i < n; i++)
        if (share[i].is_running)
            pthread_join(share[i].thread, NULL);
}

/* Puts the marks of all shares into one list. */
static bool collect(struct tg_recording *recording, struct share *share, unsigned n)
{
    size_t all = 0, done = 0;
    for (unsigned i = 0; i < n; i++) {
        if (share[i].no_memory)
            return false;
        all += share[i].n_marks;
        recording->claimed = tg_claims_add(recording->claimed, share[i].claimed);
    }
    recording->mark = calloc(all + 1, sizeof *recording->mark);
    if (!recording->mark)
        return false;
    for (unsigned i = 0; i < n; i++)
        for (size_t j = 0; j < share[i].n_marks; j++) {
            const struct tg_mark *mark = &share[i].mark[j];
            if (j == 0 && done > 0 && goes_on(&recording->mark[done - 1], mark))
                recording->mark[done - 1].count += mark->count;
            else
                recording->mark[done++] = *mark;
        }
    recording->n_marks = done;
    return true;
}

/* Drops a mark at the very end. Returns the bytes of its slots. */
static uint64_t drop_last(struct tg_recording *recording)
{
    uint64_t count = recording->mark[--recording->n_marks].count;
    recording->slots -= count;
    return count * recording->slot_size;
}

static const struct tg_mark *last_mark(const struct tg_recording *recording)
{
    const struct tg_mark *last =
        recording->n_marks > 0 ? &recording->mark[recording->n_marks - 1] : NULL;
    return last && last->slot + last->count == recording->slots ? last : NULL;
}

/* True if the journal ends in the first half of a record, as a killed writer may leave it. */
static bool ends_in_half(const struct tg_recording *recording)
{
    const struct tg_mark *last = last_mark(recording);
    struct tg_record record;
    return last && last->kind == TG_MARK_DAMAGED && last->count == 1 &&
           tg_slot_take(recording->map.bytes + HEAD, recording->slot_size, last->slot,
                        recording->slots, &record) == TG_SLOT_CUT;
}

/* Zeros at the end are no damage: a file system that lost its power leaves them. Part of a record at
 * the end is what a killed writer leaves. */
static void look_at_end(struct tg_recording *recording)
{
    const struct tg_map *map = &recording->map;
    uint64_t end = tg_journal_place(recording, recording->slots);
    uint64_t rest = map->size - end;
    bool zeros = is_zero(map->bytes + end, (size_t)rest);
    const struct tg_mark *last = last_mark(recording);
    if (zeros && last && last->kind == TG_MARK_ZEROS)
        rest += drop_last(recording);
    if (ends_in_half(recording)) {
        recording->info.torn_bytes = rest + drop_last(recording);
        return;
    }
    *(zeros ? &recording->info.zero_bytes : &recording->info.torn_bytes) = rest;
}

bool tg_journal_scan(struct tg_recording *recording)
{
    struct share share[MOST_THREADS] = {{0}};
    recording->slots = (recording->map.size - HEAD) / recording->slot_size;
    unsigned n = count_threads(recording->slots);
    uint64_t each = recording->slots / n;
    for (unsigned i = 0; i < n; i++) {
        share[i].recording = recording;
        share[i].from = i * each;
        share[i].to = i + 1 < n ? (i + 1) * each : recording->slots;
    }
    scan_shares(share, n);
    bool good = collect(recording, share, n);
    for (unsigned i = 0; i < n; i++)
        free(share[i].mark);
    if (good)
        look_at_end(recording);
    return good;
}
