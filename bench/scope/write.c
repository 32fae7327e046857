/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_scope DIR SCOPES REPEAT [worst]: writes the scope stats of that many scopes and, in turn,
 * the same number of bytes by write() alone. Prints one JSON line for each round; the files of the
 * last round stay.
 *
 * The scopes are those of a loop with nested scopes, on three rings that wrap around. With "worst"
 * all numbers are random.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "scope/scope_writer.h"

enum { CHUNK = 1 << 18, LAYERS = 40, TILES = 3 };

static const struct tg_scope_limits limits = {.n_rings = 4,
                                              .task_window = {16384, 16384, 16384, 16384},
                                              .heap = {1 << 28, 1 << 28, 1 << 28, 1 << 28},
                                              .dep_pool = {16384, 16384, 16384, 16384},
                                              .tensormap = 65536};

struct ring {
    uint64_t tasks[2], heap[2], deps[2];
};

struct run {
    struct tg_scope_writer *writer;
    struct ring ring[4];
    uint64_t tensormap, seed, samples;
    bool worst;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t random_below(struct run *run, uint64_t limit)
{
    run->seed = run->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (run->seed >> 33) % limit;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_scope: %s\n", what);
    exit(2);
}

/* Allocates a little and frees a little. */
static void step(struct run *run, uint64_t cursor[2], uint64_t most, uint64_t capacity,
                 uint64_t unit)
{
    if (run->worst) {
        cursor[0] = cursor[1];
        cursor[1] += random_below(run, capacity / unit) * unit;
        return;
    }
    cursor[1] += random_below(run, most) * unit;
    uint64_t used = (cursor[1] - cursor[0]) / unit;
    if (used * unit > capacity / 2)
        cursor[0] += random_below(run, used + 1) * unit;
}

static void work(struct run *run, uint32_t depth)
{
    struct ring *ring = &run->ring[depth];
    step(run, ring->tasks, 12, 16384, 1);
    step(run, ring->heap, 4096, 1 << 28, 64);
    step(run, ring->deps, 30, 16384, 1);
    run->tensormap =
        run->worst ? random_below(run, 65536) : (run->tensormap + random_below(run, 80)) % 60000;
}

static void sample(struct run *run, const char *site, uint32_t depth, bool end)
{
    const struct ring *ring = &run->ring[depth];
    struct tg_scope_sample sample = {.site = site,
                                     .end = end,
                                     .depth = depth,
                                     .ring = depth,
                                     .task_window_start = ring->tasks[0],
                                     .task_window_end = ring->tasks[1],
                                     .heap_start = ring->heap[0],
                                     .heap_end = ring->heap[1],
                                     .dep_pool_start = ring->deps[0],
                                     .dep_pool_end = ring->deps[1],
                                     .tensormap = run->tensormap};
    if (end) {
        uint64_t more = run->worst ? 16384 : 6;
        sample.peak[TG_SCOPE_TASK_WINDOW] =
            ring->tasks[1] - ring->tasks[0] + random_below(run, more);
        sample.peak[TG_SCOPE_HEAP] = ring->heap[1] - ring->heap[0] + 64 * random_below(run, more);
        sample.peak[TG_SCOPE_DEP_POOL] = ring->deps[1] - ring->deps[0] + random_below(run, more);
        sample.peak[TG_SCOPE_TENSORMAP] = run->tensormap + random_below(run, more);
    }
    tg_scope_writer_add(run->writer, &sample);
    run->samples++;
}

static void run_scopes(struct run *run, uint64_t scopes)
{
    static char layers[LAYERS][40], tiles[TILES][40];
    for (int i = 0; i < LAYERS; i++)
        snprintf(layers[i], sizeof layers[i], "model/layers/attention.c:%d", 100 + i);
    for (int i = 0; i < TILES; i++)
        snprintf(tiles[i], sizeof tiles[i], "model/layers/matmul.c:%d", 200 + i);
    sample(run, "model/main.c:12", 0, false);
    for (uint64_t i = 1; i < scopes;) {
        const char *layer = layers[i % LAYERS];
        sample(run, layer, 1, false);
        work(run, 1);
        for (int k = 0; k < TILES && i + 1 < scopes; k++, i++) {
            sample(run, tiles[k], 2, false);
            work(run, 2);
            sample(run, tiles[k], 2, true);
        }
        work(run, 1);
        sample(run, layer, 1, true);
        i++;
    }
    work(run, 0);
    sample(run, "model/main.c:12", 0, true);
}

static double write_stats(const char *dir, uint64_t scopes, bool worst, uint64_t *samples)
{
    struct run run = {.seed = 1, .worst = worst};
    struct tg_error error;
    double begin = now();
    if (tg_scope_writer_create(dir, &limits, &run.writer, &error) != TG_OK)
        die(error.text);
    run_scopes(&run, scopes);
    if (tg_scope_writer_finish(run.writer, 0, run.samples, NULL, &error) != TG_OK)
        die(error.text);
    tg_scope_writer_destroy(run.writer);
    *samples = run.samples;
    return now() - begin;
}

/* Writes as many bytes, already formatted. */
static double write_plain(const char *dir, uint64_t bytes)
{
    static char chunk[CHUNK];
    char path[4096];
    snprintf(path, sizeof path, "%s/plain", dir);
    memset(chunk, 'x', sizeof chunk);
    double begin = now();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        die("cannot create the plain file");
    for (uint64_t at = 0; at < bytes; at += sizeof chunk) {
        size_t size = bytes - at < sizeof chunk ? (size_t)(bytes - at) : sizeof chunk;
        if (write(fd, chunk, size) != (ssize_t)size)
            die("cannot write the plain file");
    }
    close(fd);
    double took = now() - begin;
    unlink(path);
    return took;
}

static uint64_t size_of(const char *dir, const char *name)
{
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s/%s", dir, TG_SCOPE_FOLDER, name);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: bench_scope DIR SCOPES REPEAT [worst]");
    const char *dir = argv[1];
    uint64_t scopes = strtoull(argv[2], NULL, 10), samples = 0;
    long repeat = strtol(argv[3], NULL, 10);
    bool worst = argc > 4 && strcmp(argv[4], "worst") == 0;
    for (long i = 0; i < repeat; i++) {
        double took = write_stats(dir, scopes, worst, &samples);
        uint64_t bytes = size_of(dir, TG_SCOPE_SAMPLES) + size_of(dir, TG_SCOPE_SUMMARY);
        double plain = write_plain(dir, bytes);
        printf("{\"scopes\": %llu, \"samples\": %llu, \"bytes\": %llu, \"written_s\": %.6f, "
               "\"plain_s\": %.6f}\n",
               (unsigned long long)scopes, (unsigned long long)samples, (unsigned long long)bytes,
               took, plain);
    }
    return 0;
}
