/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run in the file is a row of heads, each with its bytes and zeros up to a multiple of 8. All runs lie one
 * after the other in one file. When there are MOST_RUNS of them, they are merged into one run of a new file,
 * so that a merge never has more than that many to look at.
 */
#include "trace/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/grow.h"
#include "trace/temporary.h"

enum { MOST_RUNS = 256, LEAST_MEMORY = 1 << 12, LEAST_BUFFER = 1 << 12 };

struct head {
    uint64_t key, minor;
    uint64_t size; /* of the bytes that follow */
};

/* A record in memory. */
struct entry {
    uint64_t key, minor;
    size_t at; /* of its bytes in `arena` */
    size_t size;
};

/* A run that is being read. */
struct run {
    uint64_t next, end; /* what is not in the buffer yet, in the file */
    unsigned char *buffer;
    size_t used, at, room;
    struct head head; /* of its first record, whose bytes lie at buffer + at */
};

struct tg_sort {
    char *folder;
    int fd;    /* of the runs; -1: none yet */
    int cause; /* errno of the first failure */
    /* what is not written yet */
    unsigned char *arena;
    size_t used, room;
    struct entry *entry;
    size_t n_entries, entries_room;
    size_t next; /* entry to read, where nothing was written */
    /* the runs */
    uint64_t begin[MOST_RUNS + 1]; /* run i ends where run i + 1 begins */
    unsigned n_runs;
    uint64_t all_runs;
    /* writing a run */
    unsigned char *out;
    size_t out_used, out_room;
    uint64_t out_at;
    int out_fd;
    /* reading */
    struct run *run;
    unsigned n_open;
    unsigned *heap; /* runs that have a record, the least on top */
    unsigned n_heap;
    bool has_top; /* the top's record was given out, and is not needed any more */
};

static size_t padded(uint64_t size)
{
    return (size_t)((size + 7) & ~UINT64_C(7));
}

static void fail(struct tg_sort *sort, int cause)
{
    if (sort->cause == 0)
        sort->cause = cause ? cause : EIO;
}

struct tg_sort *tg_sort_create(const char *folder, size_t memory)
{
    struct tg_sort *sort = calloc(1, sizeof *sort);
    if (!sort)
        return NULL;
    if (memory < LEAST_MEMORY)
        memory = LEAST_MEMORY;
    sort->fd = -1;
    sort->folder = strdup(folder);
    sort->room = memory / 2;
    sort->entries_room = memory / 3 / sizeof *sort->entry;
    sort->out_room = memory / 8;
    sort->arena = malloc(sort->room);
    sort->entry = malloc(sort->entries_room * sizeof *sort->entry);
    if (sort->folder && sort->arena && sort->entry)
        return sort;
    tg_sort_destroy(sort);
    return NULL;
}

static void close_runs(struct tg_sort *sort)
{
    for (unsigned i = 0; i < sort->n_open; i++)
        free(sort->run[i].buffer);
    free(sort->run);
    free(sort->heap);
    sort->run = NULL;
    sort->heap = NULL;
    sort->n_open = sort->n_heap = 0;
    sort->has_top = false;
}

void tg_sort_destroy(struct tg_sort *sort)
{
    if (!sort)
        return;
    close_runs(sort);
    if (sort->fd >= 0)
        close(sort->fd);
    free(sort->out);
    free(sort->entry);
    free(sort->arena);
    free(sort->folder);
    free(sort);
}

/* --- writing runs ---------------------------------------------------------------------------- */

static void flush(struct tg_sort *sort)
{
    if (sort->cause == 0 && sort->out_used > 0) {
        int cause = tg_write_at(sort->out_fd, sort->out, sort->out_used, sort->out_at, NULL);
        if (cause != 0)
            fail(sort, cause);
    }
    sort->out_at += sort->out_used;
    sort->out_used = 0;
}

static void put(struct tg_sort *sort, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t piece = sort->out_room - sort->out_used;
        if (piece > size)
            piece = size;
        memcpy(sort->out + sort->out_used, from, piece);
        sort->out_used += piece;
        from += piece;
        size -= piece;
        if (sort->out_used == sort->out_room)
            flush(sort);
    }
}

static void put_record(struct tg_sort *sort, const struct head *head, const unsigned char *bytes)
{
    static const unsigned char zeros[8];
    put(sort, head, sizeof *head);
    put(sort, bytes, head->size);
    put(sort, zeros, padded(head->size) - head->size);
}

static bool begin_run(struct tg_sort *sort, int fd, uint64_t position)
{
    if (!sort->out)
        sort->out = malloc(sort->out_room);
    if (!sort->out)
        fail(sort, ENOMEM);
    sort->out_fd = fd;
    sort->out_at = position;
    sort->out_used = 0;
    return sort->cause == 0;
}

static int by_key(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->minor != right->minor)
        return left->minor < right->minor ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static void sort_memory(struct tg_sort *sort)
{
    if (sort->n_entries > 1)
        qsort(sort->entry, sort->n_entries, sizeof *sort->entry, by_key);
}

static void merge_runs(struct tg_sort *sort);

/* Writes what is in memory as one more run. */
static void spill(struct tg_sort *sort)
{
    if (sort->fd < 0 && (sort->fd = tg_temporary_open(sort->folder)) < 0)
        fail(sort, errno);
    if (sort->cause == 0 && sort->n_runs == MOST_RUNS)
        merge_runs(sort);
    if (sort->cause != 0 || !begin_run(sort, sort->fd, sort->begin[sort->n_runs]))
        return;
    sort_memory(sort);
    for (size_t i = 0; i < sort->n_entries; i++) {
        const struct entry *entry = &sort->entry[i];
        struct head head = {entry->key, entry->minor, entry->size};
        put_record(sort, &head, sort->arena + entry->at);
    }
    flush(sort);
    sort->begin[++sort->n_runs] = sort->out_at;
    sort->all_runs++;
    sort->n_entries = sort->used = 0;
}

/* Room for one record that is larger than all memory. */
static bool enlarge(struct tg_sort *sort, size_t size)
{
    unsigned char *larger = realloc(sort->arena, size);
    if (!larger) {
        fail(sort, ENOMEM);
        return false;
    }
    sort->arena = larger;
    sort->room = size;
    return true;
}

void tg_sort_add(struct tg_sort *sort, uint64_t key, uint64_t minor, const void *bytes, size_t size)
{
    size_t wanted = padded(size) + 8; /* so that no two records have the same place */
    if (sort->cause != 0)
        return;
    if (sort->n_entries > 0 &&
        (sort->room - sort->used < wanted || sort->n_entries == sort->entries_room))
        spill(sort);
    if (sort->cause != 0 || (sort->room - sort->used < wanted && !enlarge(sort, wanted)))
        return;
    if (size > 0)
        memcpy(sort->arena + sort->used, bytes, size);
    sort->entry[sort->n_entries++] = (struct entry){key, minor, sort->used, size};
    sort->used += wanted;
}

/* --- merging runs ---------------------------------------------------------------------------- */

/* Makes `size` bytes readable at run->at. */
static bool fill(struct tg_sort *sort, struct run *run, size_t size)
{
    if (run->used - run->at >= size)
        return true;
    memmove(run->buffer, run->buffer + run->at, run->used - run->at);
    run->used -= run->at;
    run->at = 0;
    if (!tg_grow(&run->buffer, &run->room, size, 1)) {
        fail(sort, ENOMEM);
        return false;
    }
    size_t piece = run->room - run->used;
    if (piece > run->end - run->next)
        piece = (size_t)(run->end - run->next);
    int64_t n = tg_temporary_read(sort->fd, run->buffer + run->used, piece, run->next);
    if (n < 0 || (size_t)n < piece || run->used + piece < size) {
        fail(sort, n < 0 ? errno : EIO);
        return false;
    }
    run->next += piece;
    run->used += piece;
    return true;
}

/* Reads the head of the run's next record and makes its bytes readable; false at the end. */
static bool advance(struct tg_sort *sort, struct run *run)
{
    if (run->next == run->end && run->at == run->used)
        return false;
    if (!fill(sort, run, sizeof run->head))
        return false;
    memcpy(&run->head, run->buffer + run->at, sizeof run->head);
    run->at += sizeof run->head;
    return fill(sort, run, padded(run->head.size));
}

static bool is_less(const struct tg_sort *sort, unsigned a, unsigned b)
{
    const struct head *left = &sort->run[a].head, *right = &sort->run[b].head;
    if (left->key != right->key)
        return left->key < right->key;
    return left->minor != right->minor ? left->minor < right->minor : a < b;
}

static void sink(struct tg_sort *sort, unsigned i)
{
    for (;;) {
        unsigned least = i;
        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < sort->n_heap; child++)
            if (is_less(sort, sort->heap[child], sort->heap[least]))
                least = child;
        if (least == i)
            return;
        unsigned run = sort->heap[i];
        sort->heap[i] = sort->heap[least];
        sort->heap[least] = run;
        i = least;
    }
}

/* The memory that records took is shared out as read buffers. */
static void open_runs(struct tg_sort *sort)
{
    size_t room = (sort->room + sort->entries_room * sizeof(struct entry)) / (sort->n_runs + 1);
    room = (room < LEAST_BUFFER ? LEAST_BUFFER : room) & ~(size_t)7;
    sort->run = calloc(sort->n_runs, sizeof *sort->run);
    sort->heap = calloc(sort->n_runs, sizeof *sort->heap);
    if (!sort->run || !sort->heap) {
        fail(sort, ENOMEM);
        return;
    }
    for (; sort->n_open < sort->n_runs && sort->cause == 0; sort->n_open++) {
        unsigned i = sort->n_open;
        sort->run[i] =
            (struct run){.next = sort->begin[i], .end = sort->begin[i + 1], .room = room};
        sort->run[i].buffer = malloc(room);
        if (!sort->run[i].buffer)
            fail(sort, ENOMEM);
        else if (advance(sort, &sort->run[i]))
            sort->heap[sort->n_heap++] = i;
    }
    for (unsigned i = sort->n_heap; i-- > 0;)
        sink(sort, i);
}

/* Moves on behind the record that was given out. */
static void drop_top(struct tg_sort *sort)
{
    struct run *run = &sort->run[sort->heap[0]];
    run->at += padded(run->head.size);
    if (!advance(sort, run))
        sort->heap[0] = sort->heap[--sort->n_heap];
    sink(sort, 0);
}

static bool next_of_runs(struct tg_sort *sort, struct tg_sort_record *record)
{
    if (sort->has_top)
        drop_top(sort);
    sort->has_top = sort->cause == 0 && sort->n_heap > 0;
    if (!sort->has_top)
        return false;
    const struct run *run = &sort->run[sort->heap[0]];
    *record = (struct tg_sort_record){run->head.key, run->head.minor, run->buffer + run->at,
                                      run->head.size};
    return true;
}

/* Makes one run of all, in a new file. The records in memory stay where they are. */
static void merge_runs(struct tg_sort *sort)
{
    struct tg_sort_record record;
    int fd = tg_temporary_open(sort->folder);
    if (fd < 0)
        fail(sort, errno);
    if (fd >= 0 && begin_run(sort, fd, 0))
        open_runs(sort);
    while (sort->cause == 0 && next_of_runs(sort, &record)) {
        struct head head = {record.key, record.minor, record.size};
        put_record(sort, &head, record.bytes);
    }
    flush(sort);
    close_runs(sort);
    close(sort->fd);
    sort->fd = fd;
    sort->begin[1] = sort->out_at;
    sort->n_runs = 1;
}

/* --- reading --------------------------------------------------------------------------------- */

void tg_sort_start(struct tg_sort *sort)
{
    if (sort->n_runs == 0) {
        sort_memory(sort);
        return;
    }
    if (sort->n_entries > 0)
        spill(sort);
    free(sort->entry);
    free(sort->arena);
    free(sort->out);
    sort->entry = NULL;
    sort->arena = sort->out = NULL;
    sort->n_entries = 0;
    if (sort->cause == 0)
        open_runs(sort);
}

bool tg_sort_next(struct tg_sort *sort, struct tg_sort_record *record)
{
    if (sort->cause != 0)
        return false;
    if (sort->n_runs > 0)
        return next_of_runs(sort, record);
    if (sort->next == sort->n_entries)
        return false;
    const struct entry *entry = &sort->entry[sort->next++];
    *record =
        (struct tg_sort_record){entry->key, entry->minor, sort->arena + entry->at, entry->size};
    return true;
}

tg_status tg_sort_check(const struct tg_sort *sort, struct tg_error *error)
{
    if (sort->cause == 0)
        return TG_OK;
    if (sort->cause == ENOMEM)
        return tg_file_no_memory(error);
    return tg_temporary_error(error, sort->folder, sort->cause);
}

uint64_t tg_sort_runs(const struct tg_sort *sort)
{
    return sort->all_runs;
}
