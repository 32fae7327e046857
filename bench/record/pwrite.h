/* SPDX-License-Identifier: Apache-2.0 */
/* The peer of a recording's payload file: threads that only call pwrite(), each for the next mebibyte of one file. */
#ifndef BENCH_RECORD_PWRITE_H
#define BENCH_RECORD_PWRITE_H

#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { BENCH_PIECE = 1 << 20, BENCH_MOST_WRITERS = 8, BENCH_WRITER_COUNTS = 4 };

struct bench_pwrite {
    const char *bytes;
    uint64_t size, total, next; /* `next` is atomic */
    int fd;
    bool failed;
};

BENCH_UNUSED static void *bench_pwrite_pieces(void *argument)
{
    struct bench_pwrite *w = argument;
    uint64_t at, pieces = w->size / BENCH_PIECE;
    while ((at = __atomic_fetch_add(&w->next, (uint64_t)BENCH_PIECE, __ATOMIC_RELAXED)) <
           w->total) {
        uint64_t n = w->total - at < BENCH_PIECE ? w->total - at : BENCH_PIECE;
        const char *from = w->bytes + at / BENCH_PIECE % pieces * BENCH_PIECE;
        if (pwrite(w->fd, from, n, (off_t)at) != (ssize_t)n)
            __atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Writes `total` bytes to a new file, from `size` bytes (at least a piece). Returns the seconds that it takes,
 * opening and closing included; below 0: it failed. Removes the file. */
BENCH_UNUSED static double bench_pwrite(const char *path, const char *bytes, uint64_t size,
                                        uint64_t total, unsigned threads)
{
    struct bench_pwrite w = {.bytes = bytes, .size = size, .total = total};
    pthread_t thread[BENCH_MOST_WRITERS];
    unsigned n = 0;
    double began = bench_seconds();
    if (size < BENCH_PIECE)
        return -1;
    w.fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    while (n + 1 < threads && pthread_create(&thread[n], NULL, bench_pwrite_pieces, &w) == 0)
        n++;
    bench_pwrite_pieces(&w);
    while (n > 0)
        pthread_join(thread[--n], NULL);
    if (close(w.fd) != 0 || unlink(path) != 0 || w.failed)
        return -1;
    return bench_seconds() - began;
}

/* The best median over 1, 2, 4 and 8 threads; *threads says which it was. */
BENCH_UNUSED static double bench_best_pwrite(const char *path, const char *bytes, uint64_t size,
                                             uint64_t total, unsigned repeat, unsigned *threads)
{
    double best = -1;
    for (unsigned k = 0; k < BENCH_WRITER_COUNTS; k++) {
        double *seconds = calloc(repeat, sizeof *seconds), median;
        for (unsigned r = 0; seconds && r < repeat; r++)
            seconds[r] = bench_pwrite(path, bytes, size, total, 1u << k);
        if (!seconds || (median = bench_median(seconds, repeat), seconds[0] < 0))
            return -1;
        free(seconds);
        if (best < 0 || median < best) {
            best = median;
            *threads = 1u << k;
        }
    }
    return best;
}

#endif
