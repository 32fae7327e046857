/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_trace_file TASKS FILE: makes the events of a run, writes its trace to FILE, and then writes as many bytes to it
 * without looking at them. Prints the seconds of CPU that each of the three took, as JSON.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <taskglass/wire/task.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace.h"

enum { CORES = 24 };

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Tasks on all cores, submitted by an orchestrator, each waiting for two others. */
static void fill(struct tg_spool *spool, uint64_t tasks)
{
    for (uint64_t i = 0; i < tasks; i++) {
        uint64_t begin = 1000 + i / CORES * 1000 + i % 7;
        struct tg_spool_event submit = {
            .type = TG_SPOOL_SUBMIT, .id = i, .begin = 40 * i, .end = 40 * i + 39};
        struct tg_spool_event task = {.type = TG_SPOOL_TASK,
                                      .id = i,
                                      .at = begin - 30,
                                      .begin = begin,
                                      .end = begin + 900,
                                      .core = (uint32_t)(i % CORES),
                                      .part = i % 3};
        tg_spool_add(spool, &submit);
        tg_spool_add(spool, &task);
        for (uint64_t back = CORES; back <= CORES + 1 && back <= i; back++) {
            struct tg_spool_event edge = {
                .type = TG_SPOOL_EDGE, .id = i, .at = i - back, .part = 1};
            tg_spool_add(spool, &edge);
        }
    }
}

static double write_plain(const char *path, uint64_t size)
{
    static char piece[1 << 18];
    memset(piece, 'x', sizeof piece);
    double began = cpu();
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    setvbuf(file, NULL, _IONBF, 0);
    for (uint64_t at = 0; at < size; at += sizeof piece)
        if (fwrite(piece, 1, size - at < sizeof piece ? size - at : sizeof piece, file) == 0)
            break;
    fclose(file);
    return cpu() - began;
}

int main(int argc, char **argv)
{
    static struct tg_trace_core core[CORES];
    static const char *const kernels[] = {"kernel"}, *const sites[] = {"orchestrate.c:12"};
    struct tg_error error = {.text = ""};
    struct tg_trace_result result;
    struct tg_spool *spool;
    struct rusage usage;
    if (argc != 3)
        return 2;
    uint64_t tasks = strtoull(argv[1], NULL, 10);
    const char *path = argv[2], *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    for (uint32_t i = 0; i < CORES; i++)
        core[i] = (struct tg_trace_core){i, i % 3 ? TG_AIV : TG_AIC, i % 3 ? "AIV0" : "AIC"};
    struct tg_trace_run run = {.name = "bench",
                               .core = core,
                               .n_cores = CORES,
                               .kernel = kernels,
                               .n_kernels = 1,
                               .site = sites,
                               .n_sites = 1,
                               .begin = 0,
                               .end = TG_SPOOL_NO_TIME};
    struct tg_trace_target target = {
        .path = path, .overwrite = true, .format = tg_trace_format_of(path)};
    if (!folder || tg_spool_create(folder, &spool, &error) != TG_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double began = cpu();
    fill(spool, tasks);
    double filled = cpu();
    if (tg_trace_write(spool, &run, &target, &result, &error) != TG_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double written = cpu();
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"tasks\": %llu, \"edges\": %llu, \"bytes\": %llu, \"spool_seconds\": %.3f, "
           "\"write_seconds\": %.3f, \"resident_kib\": %ld, \"plain_seconds\": %.3f}\n",
           (unsigned long long)result.tasks, (unsigned long long)result.edges,
           (unsigned long long)result.bytes, filled - began, written - filled, usage.ru_maxrss,
           write_plain(path, result.bytes));
    unlink(path);
    tg_spool_destroy(spool);
    free(folder);
    return 0;
}
