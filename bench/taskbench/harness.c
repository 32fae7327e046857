/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LADDER = 14,      /* tasks of 2^0 to 2^13 iterations, some 20 us; who needs more gets no METG */
    LADDER_START = 7, /* where the search begins */
    PEAK_TRIES = 8,   /* the best one counts */
    PEAK_CALLS = 40,  /* of each thread in a try */
    PEAK_ITERATIONS = 8192
};

/* CPU time is that of this process and those that it started. It leaves out what other programs on the
 * machine take, and with it the time in which a CPU has nothing to do. */
enum clock { WALL, CPU_TIME, CLOCKS };
static const char *const clock_names[CLOCKS] = {"wall", "cpu"};

enum mode { FIRST, AGAIN, MODES };
static const char *const mode_names[MODES] = {"first", "again"};

struct options {
    const struct tb_system *system;
    struct tb_grid grid;
    unsigned cpus, workers;
    unsigned repeat;    /* processes for one figure */
    unsigned runs;      /* repeated runs in a process */
    int32_t iterations; /* of one run instead of a search; -1: search */
    uint32_t clock;     /* enum clock */
};

/* What a process that measured has to say. */
struct result {
    uint64_t ns[MODES]; /* of all CPUs together */
    uint64_t executed, expected, errors;
};

/* One size of task; the medians of several processes. */
struct point {
    bool known;
    double granularity_us[MODES], efficiency[MODES];
};

struct sweep {
    const struct options *o;
    double peak; /* floating-point operations a nanosecond, all CPUs together */
    uint64_t tasks;
    struct point points[LADDER];
    struct result sum; /* executed, expected and errors of all runs */
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t = {0};

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* A simulated device is a process that the main thread started. */
static uint64_t cpu_ns(void)
{
    uint64_t sum = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    FILE *children = fopen("/proc/thread-self/children", "r");
    clockid_t clock;
    int pid;

    while (children && fscanf(children, "%d", &pid) == 1)
        if (clock_getcpuclockid(pid, &clock) == 0)
            sum += read_clock(clock);
    if (children)
        fclose(children);
    return sum;
}

__attribute__((noreturn)) static void fail(const char *what)
{
    fprintf(stderr, "taskbench: %s: %s\n", what, strerror(errno));
    exit(1);
}

void *tb_alloc(uint64_t count, uint64_t size)
{
    void *p = calloc(count ? count : 1, size);

    if (!p)
        fail("memory");
    return p;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare_u64);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* ---- the check ------------------------------------------------------------------------- */

/* Counts what the run number `run` of this graph left in its cells. */
static void check_cells(const struct tb_case *c, uint32_t run, struct result *r)
{
    const struct tb_grid *g = &c->grid;

    for (uint32_t step = 0; step < g->steps; step++) {
        for (uint32_t column = 0; column < tb_row(g, step); column++) {
            const struct tb_cell *cell = &c->cells[(uint64_t)step * g->width + column];

            r->expected++;
            r->executed += cell->runs - (run - 1);
            r->errors += cell->step != step || cell->column != column || cell->runs != run;
            r->errors += cell->errors;
        }
    }
}

/* ---- one process ----------------------------------------------------------------------- */

/* In nanoseconds of all CPUs together. */
static uint64_t timed(const struct options *o, void (*run)(struct tb_case *, void *),
                      struct tb_case *c, void *opened)
{
    uint64_t begin = o->clock == WALL ? now_ns() : cpu_ns();

    run(c, opened);
    return o->clock == WALL ? (now_ns() - begin) * o->cpus : cpu_ns() - begin;
}

/* Stops at the first run that went wrong: the next ones would start from wrong cells. */
static struct result measure(const struct options *o, const struct tb_grid *grid)
{
    uint64_t cells = (uint64_t)grid->steps * grid->width;
    struct tb_case c = {*grid, o->workers, tb_alloc(cells, sizeof *c.cells)};
    uint64_t *again = tb_alloc(o->runs, sizeof *again);
    struct result r = {0};
    void *opened;

    memset(c.cells, 0, cells * sizeof *c.cells); /* touches them */
    opened = o->system->open(&c);
    for (uint32_t run = 1; run <= 1 + o->runs && r.errors == 0; run++) {
        uint64_t ns = timed(o, run == 1 ? o->system->first : o->system->again, &c, opened);

        if (run == 1)
            r.ns[FIRST] = ns;
        else
            again[run - 2] = ns;
        if (o->system->fetch)
            o->system->fetch(&c, opened);
        check_cells(&c, run, &r);
    }
    r.ns[AGAIN] = median(again, o->runs);
    o->system->close(opened);
    free(again);
    free(c.cells);
    return r;
}

/* Calls `body` in a process of its own, which ends with its parent; false if it failed. */
static bool in_process(void (*body)(const void *in, void *out), const void *in, void *out,
                       size_t size)
{
    int ends[2], status = 0;
    ssize_t got;
    pid_t child, parent = getpid();

    if (pipe(ends) != 0)
        fail("pipe");
    fflush(stdout);
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        body(in, out);
        _exit(write(ends[1], out, size) == (ssize_t)size ? 0 : 1);
    }
    close(ends[1]);
    got = read(ends[0], out, size);
    close(ends[0]);
    waitpid(child, &status, 0);
    return got == (ssize_t)size && status == 0;
}

struct job {
    const struct options *o;
    struct tb_grid grid;
};

static void measure_job(const void *in, void *out)
{
    const struct job *job = in;

    *(struct result *)out = measure(job->o, &job->grid);
}

/* ---- the peak -------------------------------------------------------------------------- */

struct loop {
    pthread_barrier_t *start;
    uint64_t ns;
    bool good;
};

static void *run_loop(void *p)
{
    struct loop *loop = p;
    uint64_t begin;

    loop->good = true;
    pthread_barrier_wait(loop->start);
    begin = now_ns();
    for (int k = 0; k < PEAK_CALLS; k++)
        loop->good &= tb_work(PEAK_ITERATIONS);
    loop->ns = now_ns() - begin;
    return NULL;
}

static double try_peak(unsigned threads)
{
    double work = (double)PEAK_CALLS * PEAK_ITERATIONS * TB_FLOPS, rate = 0;
    struct loop *loops = tb_alloc(threads, sizeof *loops);
    pthread_t *ids = tb_alloc(threads, sizeof *ids);
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, threads);
    for (unsigned k = 0; k < threads; k++) {
        loops[k].start = &start;
        if (pthread_create(&ids[k], NULL, run_loop, &loops[k]) != 0)
            fail("thread");
    }
    for (unsigned k = 0; k < threads; k++) {
        pthread_join(ids[k], NULL);
        rate += loops[k].good ? work / (double)loops[k].ns : 0;
    }
    pthread_barrier_destroy(&start);
    free(ids);
    free(loops);
    return rate;
}

static void peak_job(const void *in, void *out)
{
    double *best = out;

    for (int k = 0; k < PEAK_TRIES; k++)
        *best = fmax(*best, try_peak(*(const unsigned *)in));
}

/* ---- the search ------------------------------------------------------------------------ */

static uint64_t all_iterations(const struct tb_grid *g)
{
    uint64_t sum = 0;

    for (uint32_t step = 0; step < g->steps; step++)
        for (uint32_t column = 0; column < tb_row(g, step); column++)
            sum += tb_iterations(g, step, column);
    return sum;
}

static void fill_point(const struct sweep *s, uint64_t ns[MODES], uint64_t iterations,
                       struct point *point)
{
    for (int mode = 0; mode < MODES; mode++) {
        double all = (double)ns[mode];

        point->granularity_us[mode] = all / (double)s->tasks / 1e3;
        point->efficiency[mode] = (double)iterations * TB_FLOPS / (all * s->peak / s->o->cpus);
    }
    point->known = true;
}

/* False, with the counts in s->sum, if a run went wrong. */
static bool measure_point(struct sweep *s, uint32_t iterations, struct point *point)
{
    struct job job = {s->o, s->o->grid};
    uint64_t *ns[MODES] = {tb_alloc(s->o->repeat, 8), tb_alloc(s->o->repeat, 8)};
    uint64_t medians[MODES];
    bool good = true;

    job.grid.iterations = iterations;
    for (unsigned k = 0; k < s->o->repeat && good; k++) {
        struct result r = {0};

        good = in_process(measure_job, &job, &r, sizeof r);
        if (!good)
            fprintf(stderr, "taskbench: %s: the process that measured failed\n",
                    s->o->system->name);
        s->sum.executed += r.executed;
        s->sum.expected += r.expected;
        s->sum.errors += r.errors;
        good = good && r.errors == 0 && r.executed == r.expected;
        ns[FIRST][k] = r.ns[FIRST];
        ns[AGAIN][k] = r.ns[AGAIN];
    }
    for (int mode = 0; mode < MODES; mode++) {
        medians[mode] = median(ns[mode], s->o->repeat);
        free(ns[mode]);
    }
    if (good)
        fill_point(s, medians, all_iterations(&job.grid), point);
    return good;
}

static bool know(struct sweep *s, int rung)
{
    return s->points[rung].known || measure_point(s, 1u << rung, &s->points[rung]);
}

/* Between two points in the logarithm of the granularity. */
static double interpolate(const struct point *below, const struct point *above, enum mode mode)
{
    double part =
        (0.5 - below->efficiency[mode]) / (above->efficiency[mode] - below->efficiency[mode]);

    return below->granularity_us[mode] *
           pow(above->granularity_us[mode] / below->granularity_us[mode], part);
}

/* The granularity at which half of the time is work; 0 if no size of task is on its other side. False
 * if a run went wrong. */
static bool find_metg(struct sweep *s, enum mode mode, double *metg)
{
    int rung = LADDER_START, step;

    *metg = 0;
    if (!know(s, rung))
        return false;
    step = s->points[rung].efficiency[mode] < 0.5 ? 1 : -1;
    for (int next = rung + step; next >= 0 && next < LADDER; rung = next, next += step) {
        const struct point *a = &s->points[rung], *b = &s->points[next];

        if (!know(s, next))
            return false;
        if ((b->efficiency[mode] < 0.5) == (a->efficiency[mode] < 0.5))
            continue;
        *metg = step > 0 ? interpolate(a, b, mode) : interpolate(b, a, mode);
        return true;
    }
    return true;
}

/* ---- what is printed ------------------------------------------------------------------- */

#define TB_TEXT_(name, text) text,
static const char *const pattern_names[] = {TB_PATTERNS(TB_TEXT_)};
static const char *const plant_names[] = {TB_PLANTS(TB_TEXT_)};

static void print_head(const struct sweep *s)
{
    const struct options *o = s->o;

    printf(
        "{\"system\":\"%s\",\"pattern\":\"%s\",\"kernel\":\"%s\",\"clock\":\"%s\",\"cpus\":%u,\"width\":%u,"
        "\"steps\":%u,\"tasks\":%" PRIu64 ",\"executed\":%" PRIu64 ",\"expected\":%" PRIu64
        ",\"errors\":%" PRIu64,
        o->system->name, pattern_names[o->grid.pattern],
        o->grid.imbalanced ? "imbalanced" : "compute", clock_names[o->clock], o->cpus,
        o->grid.width, o->grid.steps, s->tasks, s->sum.executed, s->sum.expected, s->sum.errors);
    printf(",\"peak_gflops\":%.3f", s->peak);
}

static void print_point(const struct point *p, uint32_t iterations, enum mode mode, bool more)
{
    printf("%s{\"iterations\":%u,\"us\":%.4f,\"efficiency\":%.4f}", more ? "," : "", iterations,
           p->granularity_us[mode], p->efficiency[mode]);
}

static void print_metg(const struct sweep *s, enum mode mode, double metg)
{
    bool more = false;

    printf(",\"%s\":{\"metg_us\":", mode_names[mode]);
    if (metg > 0)
        printf("%.4f", metg);
    else
        printf("null");
    printf(",\"points\":[");
    for (int rung = LADDER - 1; rung >= 0; rung--)
        if (s->points[rung].known) {
            print_point(&s->points[rung], 1u << rung, mode, more);
            more = true;
        }
    printf("]}");
}

/* One size of task, as --iterations says. */
static bool run_one(struct sweep *s)
{
    uint32_t iterations = (uint32_t)s->o->iterations;
    struct point point = {0};
    bool good = measure_point(s, iterations, &point);

    print_head(s);
    for (int mode = 0; mode < MODES && good; mode++) {
        printf(",\"%s\":{\"points\":[", mode_names[mode]);
        print_point(&point, iterations, mode, false);
        printf("]}");
    }
    printf("}\n");
    return good;
}

static bool run_sweep(struct sweep *s)
{
    double metg[MODES];
    bool good = find_metg(s, AGAIN, &metg[AGAIN]) && find_metg(s, FIRST, &metg[FIRST]);

    print_head(s);
    for (int mode = 0; mode < MODES && good; mode++)
        print_metg(s, mode, metg[mode]);
    printf("}\n");
    return good;
}

/* ---- command line ---------------------------------------------------------------------- */

__attribute__((noreturn)) static void usage(const char *program, const char *wrong)
{
    fprintf(
        stderr,
        "%s: wrong or incomplete: %s\n"
        "usage: %s --system NAME --pattern NAME [--width N] [--steps N] [--radix N] [--seed N]\n"
        "       [--cpus N] [--workers N] [--imbalanced 0|1] [--repeat N] [--runs N]\n"
        "       [--iterations N] [--plant nothing|value|lost|twice] [--clock wall|cpu]\n",
        program, wrong, program);
    exit(2);
}

static bool name_in(const char *const *names, uint32_t count, const char *name, uint32_t *number)
{
    for (*number = 0; *number < count; ++*number)
        if (strcmp(names[*number], name) == 0)
            return true;
    return false;
}

static bool number_in(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value >= least && value <= most;
}

static bool parse_number(struct options *o, const char *key, const char *value)
{
    uint32_t iterations;
    struct number {
        const char *key;
        uint32_t least, most, *to;
    } numbers[] = {{"--width", 1, TB_MAX_WIDTH, &o->grid.width},
                   {"--steps", 2, 1u << 24, &o->grid.steps},
                   {"--radix", 1, TB_MAX_INPUTS, &o->grid.radix},
                   {"--seed", 0, 0xffffff, &o->grid.seed},
                   {"--imbalanced", 0, 1, &o->grid.imbalanced},
                   {"--cpus", 1, 1024, &o->cpus},
                   {"--workers", 1, 1024, &o->workers},
                   {"--repeat", 1, 1000, &o->repeat},
                   {"--runs", 1, 1000, &o->runs}};

    if (strcmp(key, "--iterations") == 0) {
        bool good = number_in(value, 0, 1u << 20, &iterations);

        o->iterations = (int32_t)iterations;
        return good;
    }
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(key, numbers[k].key) == 0)
            return number_in(value, numbers[k].least, numbers[k].most, numbers[k].to);
    return false;
}

static bool parse_value(struct options *o, const struct tb_system *systems, int count,
                        const char *key, const char *value)
{
    if (strcmp(key, "--pattern") == 0)
        return name_in(pattern_names, TB_PATTERN_COUNT, value, &o->grid.pattern);
    if (strcmp(key, "--clock") == 0)
        return name_in(clock_names, CLOCKS, value, &o->clock);
    if (strcmp(key, "--plant") == 0)
        return name_in(plant_names, TB_PLANT_COUNT, value, &o->grid.plant);
    if (strcmp(key, "--system") != 0)
        return parse_number(o, key, value);
    for (int k = 0; k < count; k++)
        if (strcmp(systems[k].name, value) == 0)
            o->system = &systems[k];
    return o->system != NULL;
}

static struct options parse(const struct tb_system *systems, int count, int argc, char **argv)
{
    struct options o = {.cpus = 1, .repeat = 1, .runs = 3, .iterations = -1};

    o.grid = (struct tb_grid){.pattern = TB_PATTERN_COUNT, .width = 8, .steps = 1000, .radix = 5};
    for (int k = 1; k < argc; k += 2)
        if (k + 1 == argc || !parse_value(&o, systems, count, argv[k], argv[k + 1]))
            usage(argv[0], argv[k]);
    if (!o.system)
        usage(argv[0], "--system");
    if (o.grid.pattern == TB_PATTERN_COUNT)
        usage(argv[0], "--pattern");
    if (!o.workers)
        o.workers = o.cpus;
    return o;
}

/* Everything that this program starts, a device's process included, stays on these CPUs. */
static void pin(unsigned cpus)
{
    cpu_set_t may, use;
    unsigned found = 0;

    CPU_ZERO(&use);
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        fail("CPUs");
    for (int cpu = 0; cpu < CPU_SETSIZE && found < cpus; cpu++)
        if (CPU_ISSET(cpu, &may)) {
            CPU_SET(cpu, &use);
            found++;
        }
    if (found < cpus) {
        fprintf(stderr, "taskbench: --cpus %u: this process may use %u\n", cpus, found);
        exit(2);
    }
    if (sched_setaffinity(0, sizeof use, &use) != 0)
        fail("CPUs");
}

int tb_main(const struct tb_system *systems, int count, int argc, char **argv)
{
    struct options o = parse(systems, count, argc, argv);
    struct sweep s = {.o = &o, .tasks = tb_tasks(&o.grid)};
    bool good;

    pin(o.cpus);
    if (!in_process(peak_job, &o.cpus, &s.peak, sizeof s.peak))
        fail("the peak");
    good = o.iterations >= 0 ? run_one(&s) : run_sweep(&s);
    if (!good)
        fprintf(stderr,
                "taskbench: %s %s: %" PRIu64 " of %" PRIu64 " tasks executed, %" PRIu64 " errors\n",
                o.system->name, pattern_names[o.grid.pattern], s.sum.executed, s.sum.expected,
                s.sum.errors);
    return good ? 0 : 1;
}
