/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both programs of this benchmark share: the shape of the graph, the clock, and the memory that
 * a program and the processes that it started have touched. Valid as C11 and as C++17.
 */
#ifndef BENCH_GRAPH_HARNESS_H
#define BENCH_GRAPH_HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Task i waits for task i - 1 and for the one a row before, as in a sweep over a matrix of this many
 * columns; the first ones wait for fewer. */
enum { COLUMNS = 64 };

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The process's share of all memory that it has touched, in bytes: what several processes map is
 * divided among them, so that the sum counts it once. */
static inline uint64_t touched_by(const char *process)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", process);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

/* Of this process and of those that it started: a simulated device is one. */
static inline uint64_t touched(void)
{
    char children[256] = "", *rest = children, *child;
    uint64_t sum = touched_by("self");
    FILE *file = fopen("/proc/thread-self/children", "r");
    if (file) {
        if (!fgets(children, sizeof children, file))
            children[0] = 0;
        fclose(file);
    }
    while ((child = strtok_r(rest, " \n", &rest)) != NULL)
        sum += touched_by(child);
    return sum;
}

struct figures {
    uint64_t tasks;
    uint64_t build_ns, send_ns, first_ns; /* the first graph: made, sent, run */
    uint64_t again_ns;                    /* the same graph once more: the least of `repeat` */
    uint64_t next_ns; /* the next graph in the memory of the last, and its run */
    uint64_t bytes;   /* touched from before the graph to after its run */
};

static inline void print_figures(const char *name, const struct figures *f)
{
    printf("{\"name\": \"%s\", \"tasks\": %llu, \"build_ns\": %llu, \"send_ns\": %llu, "
           "\"first_ns\": %llu, \"again_ns\": %llu, \"next_ns\": %llu, \"bytes\": %llu}\n",
           name, (unsigned long long)f->tasks, (unsigned long long)f->build_ns,
           (unsigned long long)f->send_ns, (unsigned long long)f->first_ns,
           (unsigned long long)f->again_ns, (unsigned long long)f->next_ns,
           (unsigned long long)f->bytes);
}

#endif
