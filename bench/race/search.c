/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "race/race.h"

enum { READERS = 15, TENSORS = 3, BRUTE = 4000 };

static const char *const names[] = {"near", "far", "few", "unordered"};
enum { NEAR, FAR, FEW, UNORDERED, GRAPHS };

static uint64_t state = 88172645463325252u;
static uint32_t next(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % below);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void must(bool good)
{
    if (!good) {
        fputs("bench_race: no memory\n", stderr);
        exit(1);
    }
}

/* --- graphs with all edges -------------------------------------------------------------------- */

struct buffer {
    uint32_t writer, n_readers, reader[READERS];
};

/* For brute force: the buffer and the role of each access, and the order. */
struct small {
    uint32_t buffer[BRUTE][TENSORS];
    bool writes[BRUTE][TENSORS];
    uint64_t before[BRUTE][BRUTE / 64 + 1];
};
static struct small *small; /* NULL while the graph is too large */

static void put_edge(struct tg_race_search *search, uint32_t before, uint32_t after)
{
    if (before == UINT32_MAX || before == after)
        return;
    must(tg_race_add_edge(search, before, after));
    if (small) {
        for (uint32_t i = 0; i <= BRUTE / 64; i++)
            small->before[after][i] |= small->before[before][i];
        small->before[after][before / 64] |= UINT64_C(1) << before % 64;
    }
}

static void put_access(struct tg_race_search *search, uint32_t task, uint32_t argument,
                       uint32_t buffer, bool writes)
{
    struct tg_tensor tensor = tg_tensor_none();
    tensor.addr = 4096 * (1 + (uint64_t)buffer);
    tensor.storage_bytes = 1024;
    tensor.dtype = TG_FLOAT32;
    tensor.ndim = 1;
    tensor.shape[0] = 256;
    tensor.strides[0] = 1;
    must(tg_race_add_access(search, &(struct tg_race_access){.task = task,
                                                             .argument = argument,
                                                             .reads = !writes,
                                                             .writes = writes,
                                                             .tensor = &tensor}));
    if (small) {
        small->buffer[task][argument] = buffer;
        small->writes[task][argument] = writes;
    }
}

static void use(struct tg_race_search *search, uint32_t task, uint32_t argument, uint32_t number,
                struct buffer *buffer, bool writes)
{
    writes = writes || buffer->n_readers == READERS;
    put_access(search, task, argument, number, writes);
    put_edge(search, buffer->writer, task);
    for (uint32_t i = 0; writes && i < buffer->n_readers; i++)
        put_edge(search, buffer->reader[i], task);
    if (writes)
        *buffer = (struct buffer){.writer = task};
    else
        buffer->reader[buffer->n_readers++] = task;
}

static void put_graph(struct tg_race_search *search, int graph, uint32_t n)
{
    uint32_t count = graph == NEAR ? n / 16 + 8 : graph == FAR ? 1000 : 16;
    struct buffer *buffer = malloc(count * sizeof *buffer);
    must(buffer != NULL);
    for (uint32_t i = 0; i < count; i++)
        buffer[i] = (struct buffer){.writer = UINT32_MAX};
    for (uint32_t task = 0; task < n; task++)
        for (uint32_t k = 0; k < TENSORS; k++) {
            uint32_t at = graph == NEAR ? task / 16 + next(8) : next(count);
            if (graph == UNORDERED)
                put_access(search, task, k, k, true);
            else
                use(search, task, k, at, &buffer[at], k == TENSORS - 1);
        }
    free(buffer);
}

/* --- brute force ------------------------------------------------------------------------------ */

static bool collide(uint32_t a, uint32_t b)
{
    for (int i = 0; i < TENSORS; i++)
        for (int k = 0; k < TENSORS; k++)
            if (small->buffer[a][i] == small->buffer[b][k] &&
                (small->writes[a][i] || small->writes[b][k]))
                return true;
    return false;
}

static uint64_t brute_force(uint32_t n)
{
    uint64_t pairs = 0;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t a = 0; a < b; a++)
            pairs += !(small->before[b][a / 64] >> a % 64 & 1) && collide(a, b);
    return pairs;
}

/* --- the table -------------------------------------------------------------------------------- */

struct figures {
    double put_s, search_s, brute_s;
    struct tg_race_result result;
    long rss_kb;
};

static struct figures measure(int graph, uint32_t n)
{
    struct figures is = {0};
    struct tg_race_search *search;
    struct tg_error error;
    struct rusage usage;
    double begin = now();
    must(tg_race_search_new(n, &search, &error) == TG_OK);
    put_graph(search, graph, n);
    is.put_s = now() - begin;
    begin = now();
    must(tg_race_search_run(search, &(struct tg_race_config){0}, &is.result, &error) == TG_OK);
    is.search_s = now() - begin;
    tg_race_search_free(search);
    getrusage(RUSAGE_SELF, &usage);
    is.rss_kb = usage.ru_maxrss;
    begin = now();
    if (small && brute_force(n) != is.result.pairs) {
        fputs("bench_race: brute force finds other races\n", stderr);
        exit(1);
    }
    is.brute_s = small ? now() - begin : 0;
    return is;
}

static void print(bool json, int graph, uint32_t n, const struct figures *is)
{
    printf(json ? "{\"graph\": \"%s\", \"tasks\": %u, \"put_s\": %.3f, \"search_s\": %.3f, "
                  "\"brute_force_s\": %.3f, \"rss_mb\": %ld, \"pairs\": %llu, \"exact\": %d}\n"
                : "%-10s %8u tasks  put %6.3f s  search %6.3f s  brute force %6.3f s  %5ld MB  "
                  "%llu pairs, exact %d\n",
           names[graph], n, is->put_s, is->search_s, is->brute_s, is->rss_kb / 1024,
           (unsigned long long)is->result.pairs, is->result.is_exact);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    uint32_t n = argc > 1 + json ? (uint32_t)strtoul(argv[1 + json], NULL, 10) : 1000000;
    for (int graph = 0; graph < GRAPHS; graph++) {
        struct figures is;
        small = calloc(1, sizeof *small);
        must(small != NULL);
        is = measure(graph, BRUTE);
        print(json, graph, BRUTE, &is);
        free(small);
        small = NULL;
        is = measure(graph, n);
        print(json, graph, n, &is);
    }
    return 0;
}
