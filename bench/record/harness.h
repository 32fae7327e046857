/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the programs of this benchmark share: the clock, medians, sizes on the command line. Valid
 * as C11 and C++17. */
#ifndef BENCH_RECORD_HARNESS_H
#define BENCH_RECORD_HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_UNUSED __attribute__((unused))

BENCH_UNUSED static double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

BENCH_UNUSED static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; sorts the values. */
BENCH_UNUSED static double bench_median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* "4096", "64K", "1M", "2G"; 0 for any other text. */
BENCH_UNUSED static uint64_t bench_size(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || (*end && (!unit || end[1])))
        return 0;
    return unit ? value << (10 * (unit - units + 1)) : value;
}

/* Memory whose pages are all present, with content that does not repeat. */
BENCH_UNUSED static char *bench_bytes(uint64_t size)
{
    uint64_t state = 88172645463325252u, *words = (uint64_t *)malloc(size);
    if (!words) {
        fprintf(stderr, "bench_record: no memory for %llu bytes\n", (unsigned long long)size);
        exit(1);
    }
    for (uint64_t i = 0; i < size / sizeof *words; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words[i] = state;
    }
    return (char *)words;
}

#endif
