/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for METG(50 %) (Slaughter et al., SC'20), for metg.c and metg_peers.cu: command line, sizes,
 * timing, the check of what ran, the JSON line. Valid as C11 and C++17.
 *
 * A task spins for some ticks of its core's clock, which the program compares with time just before. Work
 * is tasks × ticks; a run's granularity is its wall time × cores / tasks, as the host sees it; and
 * METG(50 %) is the granularity at which half of the cores' time is work. The search begins at tasks that
 * take as long as the run without work took for each, halves or doubles them until one run is above 50 %
 * and the next below, and interpolates between the two on a logarithmic scale.
 */
#ifndef BENCH_GPU_METG_HARNESS_H
#define BENCH_GPU_METG_HARNESS_H

#include <inttypes.h>
#include <math.h>

#include "../record/harness.h"
#include "metg.h"

enum {
    METG_FEW = 8, /* rows of the two grids that show what a row costs, and a run without any */
    METG_MORE = 32,
    METG_LEAST_STEPS = 24,
    METG_MOST_STEPS = 16384,
    METG_STARTS = 25, /* a run without work takes at least so many times as long as starting it */
    METG_DOUBLE = 3,  /* at most, from where the search begins */
    METG_HALVE = 16,
    METG_POINTS = METG_DOUBLE + METG_HALVE,
    METG_REPEAT_MOST = 99,
    METG_SEED = 1,
};

#define METG_SLOW 0.05 /* seconds: runs that take longer are not repeated */

struct metg_system {
    const char *name;
    void *(*make)(const struct tb_grid *g);                   /* the graph, and cells of zeros */
    double (*run)(void *made, struct metg_settings settings); /* seconds */
    void (*fetch)(void *made, struct tb_cell *cells);
    void (*destroy)(void *made);
};

struct metg_options {
    const char *platform, *systems, *patterns, *widths;
    uint64_t memory, tasks;               /* of the device; about so many tasks in a grid */
    uint32_t radix, repeat, plant, cores; /* cores: of the width "all"; 0: the platform's number */
    double seconds; /* that a run without work takes at least, if --tasks are enough */
};

/* One system with one grid. */
struct metg_figure {
    const struct metg_system *system;
    const struct metg_options *o;
    struct tb_grid grid;
    double ns_per_tick, start; /* `start`: seconds of a run without rows */
    void *made;
    uint64_t tasks, runs, executed, errors;
};

struct metg_point {
    uint64_t ticks;
    double us, efficiency;
};

/* ── grids ─────────────────────────────────────────────────────────────────────────────── */

static const struct {
    const char *name;
    uint32_t pattern;
} metg_patterns[] = {{"independent", TB_TRIVIAL}, {"chain", TB_NO_COMM},  {"stencil", TB_STENCIL},
                     {"fan", METG_FAN},           {"tree", TB_TREE},      {"fft", TB_FFT},
                     {"random", TB_RANDOM},       {"nearest", TB_NEAREST}};
enum { METG_PATTERNS = sizeof metg_patterns / sizeof *metg_patterns };

BENCH_UNUSED static const char *metg_pattern_name(uint32_t pattern)
{
    int k = 0;
    while (metg_patterns[k].pattern != pattern)
        k++;
    return metg_patterns[k].name;
}

static uint32_t metg_clamp(double value, double least, double most)
{
    return (uint32_t)(value < least ? least : value < most ? value : most);
}

/* ── runs ──────────────────────────────────────────────────────────────────────────────── */

static void metg_make(struct metg_figure *f, uint32_t steps)
{
    f->grid.steps = steps;
    f->tasks = tb_tasks(&f->grid);
    f->runs = 0;
    f->made = f->system->make(&f->grid);
}

static double metg_run(struct metg_figure *f, uint64_t ticks)
{
    struct metg_settings settings;
    settings.ticks = ticks;
    settings.round = ++f->runs;
    return f->system->run(f->made, settings);
}

/* Looks at all cells after some runs: each task ran once in each, and found what it had to. */
static void metg_look(struct metg_figure *f)
{
    uint64_t cells = (uint64_t)f->grid.steps * f->grid.width;
    struct tb_cell *cell = (struct tb_cell *)calloc(cells, sizeof *cell);
    if (!cell)
        exit(1);
    f->system->fetch(f->made, cell);
    f->executed = 0;
    for (uint32_t step = 0; step < f->grid.steps; step++)
        for (uint32_t column = 0; column < tb_row(&f->grid, step); column++) {
            const struct tb_cell *c = &cell[(uint64_t)step * f->grid.width + column];
            f->executed += c->runs;
            f->errors +=
                c->errors != 0 || c->step != step || c->column != column || c->runs != f->runs;
        }
    free(cell);
}

/* Makes a grid in place of the one before, and runs it twice: the first time also loads code. Returns
 * the seconds of the second run. */
static double metg_try(struct metg_figure *f, uint32_t steps)
{
    double seconds;
    if (f->made)
        f->system->destroy(f->made);
    metg_make(f, steps);
    metg_run(f, 0);
    seconds = metg_run(f, 0);
    metg_look(f);
    return seconds;
}

/* Chooses the number of rows and makes that grid. Enough rows that starting the run does not count for
 * much, which is not the same number for a start of 10 us as for one of 300 us; and no more, because
 * some systems take seconds for as many rows as others need. */
static void metg_open(struct metg_figure *f)
{
    double few, more, row, wanted, most;
    few = metg_try(f, METG_FEW);
    if (f->errors > 0)
        return;
    more = metg_try(f, METG_MORE);
    if (f->errors > 0)
        return;
    row = (more - few) / (METG_MORE - METG_FEW);
    row = row > 0 ? row : more / METG_MORE; /* noise */
    f->start = fmax(0, few - METG_FEW * row);
    wanted = fmax(f->o->seconds, METG_STARTS * f->start) / row;
    most = fmin((double)f->o->tasks / f->grid.width, METG_MOST_STEPS);
    metg_try(f, metg_clamp(wanted, METG_LEAST_STEPS, fmax(METG_LEAST_STEPS, most)));
}

/* The median of some runs, or one if it is slow; false if a task ran wrongly. */
static bool metg_measure(struct metg_figure *f, uint64_t ticks, struct metg_point *point)
{
    double seconds[METG_REPEAT_MOST], wall;
    uint32_t runs = 0;
    do
        seconds[runs++] = metg_run(f, ticks);
    while (runs < f->o->repeat && seconds[0] < METG_SLOW);
    wall = bench_median(seconds, runs) * f->grid.width;
    metg_look(f);
    point->ticks = ticks;
    point->us = wall / (double)f->tasks * 1e6;
    point->efficiency = (double)f->tasks * (double)ticks * f->ns_per_tick * 1e-9 / wall;
    return f->errors == 0;
}

/* ── the search ────────────────────────────────────────────────────────────────────────── */

static double metg_between(const struct metg_point *below, const struct metg_point *above)
{
    double part = (0.5 - below->efficiency) / (above->efficiency - below->efficiency);
    return below->us * pow(above->us / below->us, part);
}

/* Writes the points that it measured, returns how many; `metg` is 0 if there is none. */
static int metg_search(struct metg_figure *f, struct metg_point *points, double *metg)
{
    struct metg_point *p = points;
    uint64_t ticks;
    bool grow;
    *metg = 0;
    if (!metg_measure(f, 0, p++))
        return 1;
    ticks = (uint64_t)(points->us * 1e3 / f->ns_per_tick);
    ticks = ticks > 0 ? ticks : 1;
    if (!metg_measure(f, ticks, p++))
        return 2;
    grow = p[-1].efficiency < 0.5;
    for (int k = grow ? METG_DOUBLE : METG_HALVE; k > 0 && ticks > 0; k--) {
        ticks = grow ? ticks * 2 : ticks / 2;
        if (!metg_measure(f, ticks, p++))
            break;
        if ((p[-1].efficiency < 0.5) == grow)
            continue;
        *metg = grow ? metg_between(&p[-2], &p[-1]) : metg_between(&p[-1], &p[-2]);
        break;
    }
    return (int)(p - points);
}

static void metg_print(const struct metg_figure *f, const char *program, const char *platform,
                       const struct metg_point *points, int count, double metg, double seconds)
{
    printf("{\"program\":\"%s\",\"platform\":\"%s\",\"system\":\"%s\",\"pattern\":\"%s\","
           "\"cores\":%" PRIu32 ",\"steps\":%" PRIu32 ",\"tasks\":%" PRIu64 ",\"executed\":%" PRIu64
           ",\"expected\":%" PRIu64 ",\"errors\":%" PRIu64
           ",\"ns_per_tick\":%.6f,\"start_us\":%.2f,\"seconds\":%.3f",
           program, platform, f->system->name, metg_pattern_name(f->grid.pattern), f->grid.width,
           f->grid.steps, f->tasks, f->executed, f->runs * f->tasks, f->errors, f->ns_per_tick,
           f->start * 1e6, seconds);
    if (metg > 0)
        printf(",\"metg_us\":%.4f,\"points\":[", metg);
    else
        printf(",\"metg_us\":null,\"points\":[");
    for (int k = 0; k < count; k++)
        printf("%s{\"task_us\":%.4f,\"us\":%.4f,\"efficiency\":%.4f}", k > 0 ? "," : "",
               (double)points[k].ticks * f->ns_per_tick * 1e-3, points[k].us, points[k].efficiency);
    printf("]}\n");
    fflush(stdout);
}

/* One figure: the device or GPU is open, with `width` cores. False if a task ran wrongly. */
BENCH_UNUSED static bool metg_figure(const struct metg_system *system, const struct metg_options *o,
                                     const char *program, uint32_t pattern, uint32_t width,
                                     double (*ns_per_tick)(void))
{
    struct metg_point points[METG_POINTS + 2];
    struct metg_figure f;
    double metg = 0, began = bench_seconds();
    int count = 0;
    memset(&f, 0, sizeof f);
    f.system = system;
    f.o = o;
    f.grid.pattern = pattern;
    f.grid.width = width;
    f.grid.radix = o->radix;
    f.grid.seed = METG_SEED;
    f.grid.plant = o->plant;
    metg_open(&f);
    f.ns_per_tick = ns_per_tick();
    if (f.errors == 0)
        count = metg_search(&f, points, &metg);
    system->destroy(f.made);
    metg_print(&f, program, o->platform, points, count, metg, bench_seconds() - began);
    return f.errors == 0;
}

/* ── command line ──────────────────────────────────────────────────────────────────────── */

/* Whether a comma-separated list has this word. */
BENCH_UNUSED static bool metg_named(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || !list[length]))
            return true;
    return false;
}

static bool metg_plant(struct metg_options *o, const char *value)
{
    static const char *const names[] = {"nothing", "value", "lost", "twice"};
    for (o->plant = 0; o->plant < TB_PLANT_COUNT; o->plant++)
        if (strcmp(names[o->plant], value) == 0)
            return true;
    return false;
}

static bool metg_parse_value(struct metg_options *o, const char *key, const char *value)
{
    if (strcmp(key, "--platform") == 0)
        return (o->platform = value) != NULL;
    if (strcmp(key, "--systems") == 0)
        return (o->systems = value) != NULL;
    if (strcmp(key, "--patterns") == 0)
        return (o->patterns = value) != NULL;
    if (strcmp(key, "--widths") == 0)
        return (o->widths = value) != NULL;
    if (strcmp(key, "--memory") == 0)
        return (o->memory = bench_size(value)) > 0;
    if (strcmp(key, "--tasks") == 0)
        return (o->tasks = bench_size(value)) > 0;
    if (strcmp(key, "--repeat") == 0)
        return (o->repeat = (uint32_t)bench_size(value)) > 0 && o->repeat <= METG_REPEAT_MOST;
    if (strcmp(key, "--radix") == 0)
        return (o->radix = (uint32_t)bench_size(value)) > 0 && o->radix <= TB_MAX_INPUTS;
    if (strcmp(key, "--cores") == 0)
        return (o->cores = (uint32_t)bench_size(value)) > 0;
    if (strcmp(key, "--seconds") == 0)
        return (o->seconds = atof(value)) > 0;
    return strcmp(key, "--plant") == 0 && metg_plant(o, value);
}

/* Every list is one that the program knows: a word that it does not know is an error. */
static bool metg_known(const char *list, bool (*known)(const char *word))
{
    char word[64];
    for (size_t length; *list; list += length, list += *list == ',') {
        length = strcspn(list, ",");
        if (length >= sizeof word)
            return false;
        memcpy(word, list, length);
        word[length] = '\0';
        if (!known(word))
            return false;
    }
    return true;
}

static bool metg_is_pattern(const char *word)
{
    for (int k = 0; k < METG_PATTERNS; k++)
        if (strcmp(metg_patterns[k].name, word) == 0)
            return true;
    return false;
}

static bool metg_is_width(const char *word)
{
    uint64_t width = bench_size(word);
    return strcmp(word, "all") == 0 || (width > 0 && width <= TB_MAX_WIDTH);
}

static void metg_usage(const char *program, const char *wrong)
{
    fprintf(
        stderr,
        "%s: %s\nusage: %s [--platform P] [--systems S,S…] [--patterns P,P…] [--widths N,N…|all]\n"
        "       [--tasks N] [--repeat R] [--radix N] [--seconds S] [--memory BYTES]\n"
        "       [--plant nothing|value|lost|twice]\n",
        program, wrong, program);
    exit(2);
}

BENCH_UNUSED static struct metg_options
metg_parse(const char *systems, bool (*is_system)(const char *), int argc, char **argv)
{
    struct metg_options o;
    memset(&o, 0, sizeof o);
    o.platform = "cuda";
    o.systems = systems;
    o.patterns = "independent,chain,stencil,fan,tree,fft,random,nearest";
    o.widths = "1,9,33,all";
    o.tasks = 131072;
    o.radix = 5;
    o.repeat = 3;
    o.seconds = 0.002;
    for (int k = 1; k < argc; k += 2)
        if (k + 1 == argc || !metg_parse_value(&o, argv[k], argv[k + 1]))
            metg_usage(argv[0], argv[k]);
    if (!metg_known(o.systems, is_system))
        metg_usage(argv[0], "--systems");
    if (!metg_known(o.patterns, metg_is_pattern))
        metg_usage(argv[0], "--patterns");
    if (!metg_known(o.widths, metg_is_width))
        metg_usage(argv[0], "--widths");
    return o;
}

#endif
