/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a recorded run beside what no recorder can avoid: copying the same bytes once and
 * writing them to the same file system. The two run in turn, so that a machine that slows down
 * slows both; the ratio is the median of the ratios of neighbouring runs.
 *
 *   pool of tensors ──device copies──► arenas ──collector writes──► tensor_dump.bin   recorded
 *   pool of tensors ──memcpy──► a buffer as large as an arena ──write()──► plain.bin   baseline
 *
 * The baseline writes its buffer when it is full, so it calls write() as rarely as can be. The first recorded
 * run of a device is measured apart: it touches the arenas and the host's buffers for the first time.
 *
 * Tensors are taken from the pool in rotation. The pool is larger than the caches and has at least
 * three tensors. A tensor larger than the buffer goes through it in parts.
 */
#define _GNU_SOURCE 1
#include "harness.h"
#include "pwrite.h"

#include <fcntl.h>
#include <stdbool.h>
#include <taskglass/taskglass.h>
#include <unistd.h>

enum { TENSORS = 3 }; /* tensors of a task: 2 in, 1 out */

#define POOL (UINT64_C(96) << 20)
#define DEFAULT_ARENA (UINT64_C(4) << 20) /* size of the baseline's buffer without --arena */

struct options {
    const char *platform;
    const char *level;
    const char *dir;
    uint64_t tensor, total, arena, buffers;
    unsigned cores, repeat;
    bool keep;   /* keep the last recording */
    bool memory; /* measure how the host's memory grows; no baseline */
    bool pwrite; /* also measure threads that only write as many bytes */
};

struct bench {
    struct options o;
    uint64_t tasks, pool;
    char *bytes;  /* the pool, on the host */
    char *buffer; /* the baseline's buffer */
    struct tg_device *device;
    struct tg_graph *graph;
    char run_dir[4096], plain[4160];
};

struct sample {
    double seconds, finish;
    double cpu; /* CPU seconds of the host's threads and the device's */
    struct tg_record_summary summary;
};

static struct tg_error error;

static void fail(const char *what)
{
    fprintf(stderr, "bench_record: %s\n", what);
    exit(1);
}

static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_record: %s: %s\n", tg_status_name(status), error.text);
    exit(1);
}

/* ── command line ──────────────────────────────────────────────────────────────────────── */

static bool parse_value(struct options *o, const char *key, const char *value)
{
    static const struct {
        const char *key;
        size_t at;
    } sizes[] = {{"--tensor", offsetof(struct options, tensor)},
                 {"--total", offsetof(struct options, total)},
                 {"--arena", offsetof(struct options, arena)},
                 {"--buffers", offsetof(struct options, buffers)}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(key, sizes[i].key) == 0)
            return (*(uint64_t *)((char *)o + sizes[i].at) = bench_size(value)) > 0;
    if (strcmp(key, "--platform") == 0)
        return (o->platform = value) != NULL;
    if (strcmp(key, "--level") == 0)
        return (o->level = value) != NULL;
    if (strcmp(key, "--dir") == 0)
        return (o->dir = value) != NULL;
    if (strcmp(key, "--cores") == 0)
        return (o->cores = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--repeat") == 0)
        return (o->repeat = (unsigned)bench_size(value)) > 0;
    return false;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.platform = "a2a3sim",
                        .level = "full",
                        .dir = ".",
                        .tensor = 64 << 10,
                        .total = UINT64_C(512) << 20,
                        .cores = 1,
                        .repeat = 5};
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--keep") == 0) {
            o.keep = true;
        } else if (strcmp(argv[k], "--memory") == 0) {
            o.memory = true;
        } else if (strcmp(argv[k], "--pwrite") == 0) {
            o.pwrite = true;
        } else if (k + 1 == argc || !parse_value(&o, argv[k], argv[k + 1])) {
            fprintf(stderr,
                    "%s: %s\nusage: %s [--platform P] [--cores N] [--level full|hash|meta]\n"
                    "       [--tensor BYTES] [--total BYTES] [--arena BYTES] [--buffers N]\n"
                    "       [--repeat R] [--dir DIR] [--keep] [--memory] [--pwrite]\n",
                    argv[0], argv[k], argv[0]);
            exit(2);
        } else {
            k++;
        }
    }
    return o;
}

/* ── the graph ─────────────────────────────────────────────────────────────────────────── */

static struct tg_module *open_device(struct bench *b)
{
    uint64_t room = b->pool + (b->tasks << 10) + (UINT64_C(1) << 30);
    struct tg_device_config config = {
        .platform = b->o.platform, .cores = b->o.cores, .memory = room};
    struct tg_module *module;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    must(tg_device_open(&config, &b->device, &error));
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, "bench_record_kernels.so");
    must(tg_device_load(b->device, path, &module, &error));
    return module;
}

static void build_graph(struct bench *b, struct tg_module *module, uint64_t pool)
{
    int64_t words = (int64_t)(b->o.tensor / 4);
    uint64_t at = 0, task;
    must(tg_graph_create(module, &b->graph, &error));
    must(tg_graph_reserve(b->graph, b->tasks, 0));
    for (uint64_t i = 0; i < b->tasks; i++) {
        struct tg_args args;
        tg_args_init(&args);
        for (int k = 0; k < TENSORS; k++) {
            struct tg_tensor t = tg_tensor_make(pool + at, TG_UINT32, 1, &words);
            if (k < 2)
                tg_args_in(&args, t);
            else
                tg_args_out(&args, t);
            at = at + b->o.tensor < b->pool ? at + b->o.tensor : 0;
        }
        must(tg_graph_add(b->graph, 0, &args, &task, &error));
    }
    must(tg_graph_upload(b->graph, &error));
}

static void set_up(struct bench *b)
{
    uint64_t unit = TENSORS * b->o.tensor, pool;
    uint64_t arena = b->o.arena ? b->o.arena : DEFAULT_ARENA;
    struct tg_module *module;
    b->tasks = (b->o.total + unit - 1) / unit;
    b->pool = unit > POOL ? unit : POOL / unit * unit;
    b->pool = b->pool < b->tasks * unit ? b->pool : b->tasks * unit;
    b->bytes = bench_bytes(b->pool);
    b->buffer = malloc(arena);
    if (!b->buffer)
        fail("no memory");
    memset(b->buffer, 0, arena);
    b->o.arena = arena;
    module = open_device(b);
    must(tg_device_alloc(b->device, b->pool, &pool, &error));
    must(tg_device_copy_in(b->device, pool, b->bytes, b->pool, &error));
    build_graph(b, module, pool);
    snprintf(b->run_dir, sizeof b->run_dir, "%s/bench_record.%d", b->o.dir, (int)getpid());
    snprintf(b->plain, sizeof b->plain, "%s/plain.bin", b->run_dir);
}

/* ── recorded and plain ──────────────────────────────────────────────────────────────── */

static void remove_files(struct bench *b)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", b->run_dir);
    if (system(command) != 0)
        fail(command);
}

static void make_dir(struct bench *b)
{
    char command[4200];
    remove_files(b);
    snprintf(command, sizeof command, "mkdir -p '%s'", b->run_dir);
    if (system(command) != 0)
        fail(command);
}

static uint32_t level_of(const char *name)
{
    return strcmp(name, "meta") == 0   ? TG_LEVEL_META
           : strcmp(name, "hash") == 0 ? TG_LEVEL_HASH
           : strcmp(name, "off") == 0  ? TG_LEVEL_OFF
                                       : TG_LEVEL_FULL;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec * 1e-9 : 0;
}

static double cpu_seconds(struct bench *b)
{
    struct tg_device_info info;
    clockid_t device;
    tg_device_get_info(b->device, &info);
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) +
           (clock_getcpuclockid(info.pid, &device) == 0 ? seconds_of(device) : 0);
}

static struct sample run_recorded(struct bench *b)
{
    struct tg_record_config record = {.level = level_of(b->o.level),
                                      .output_dir = b->run_dir,
                                      .arena = b->o.arena,
                                      .buffers = (uint32_t)b->o.buffers};
    struct tg_run_config config = {.record = &record};
    struct tg_run_result result;
    struct sample s;
    struct tg_run *run;
    make_dir(b);
    s.cpu = cpu_seconds(b);
    s.seconds = bench_seconds();
    must(tg_run_start(b->graph, &config, &run, &error));
    must(tg_run_wait(run, -1, &error));
    s.seconds = bench_seconds() - s.seconds;
    s.cpu = cpu_seconds(b) - s.cpu;
    tg_run_get_result(run, &result);
    if (result.record.status != TG_OK)
        fail(result.record.text);
    s.finish = result.record.finish_seconds;
    s.summary = result.record.summary;
    tg_run_destroy(run);
    if (s.summary.recorded != b->tasks * TENSORS && record.level != TG_LEVEL_OFF)
        fail("records are missing");
    if (record.level == TG_LEVEL_FULL &&
        s.summary.payload_bytes != b->tasks * TENSORS * b->o.tensor)
        fail("payload is missing");
    return s;
}

static void write_all(int fd, const char *bytes, uint64_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n <= 0)
            fail("cannot write");
        bytes += n;
        size -= (uint64_t)n;
    }
}

/* The best that a careful programmer would write: tensors are copied into a buffer as large as an arena,
 * and one write() takes all of it when it is full. */
static double run_plain(struct bench *b)
{
    uint64_t from = 0, used = 0;
    double began;
    int fd;
    make_dir(b);
    began = bench_seconds();
    fd = open(b->plain, O_WRONLY | O_CREAT | O_EXCL, 0666);
    for (uint64_t i = 0; i < b->tasks * TENSORS; i++) {
        for (uint64_t done = 0, n; done < b->o.tensor; done += n) {
            n = b->o.tensor - done < b->o.arena - used ? b->o.tensor - done : b->o.arena - used;
            memcpy(b->buffer + used, b->bytes + from + done, n);
            used += n;
            if (used == b->o.arena) {
                write_all(fd, b->buffer, used);
                used = 0;
            }
        }
        from = from + b->o.tensor < b->pool ? from + b->o.tensor : 0;
    }
    write_all(fd, b->buffer, used);
    close(fd);
    return bench_seconds() - began;
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

static long status_kb(const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static void forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY);
    if (fd < 0 || write(fd, "5", 1) != 1)
        fail("cannot reset the peak of resident memory");
    close(fd);
}

/* Peak resident memory of the host over a recorded run, beyond what it had before. */
static void measure_memory(struct bench *b)
{
    struct sample s;
    long before;
    run_recorded(b); /* touches the pages of the graph's image and of the library */
    forget_peak();
    before = status_kb("VmHWM:");
    s = run_recorded(b);
    printf("{\"platform\":\"%s\",\"cores\":%u,\"tensor\":%llu,\"payload\":%llu,\"records\":%llu,"
           "\"peak_growth_kb\":%ld}\n",
           b->o.platform, b->o.cores, (unsigned long long)b->o.tensor,
           (unsigned long long)s.summary.payload_bytes, (unsigned long long)s.summary.recorded,
           status_kb("VmHWM:") - before);
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

static double *numbers(unsigned count)
{
    double *n = calloc(count, sizeof *n);
    if (!n)
        fail("no memory");
    return n;
}

enum { RECORDED, FINISH, WAIT, CPU, PLAIN, RATIO, WITHOUT, FIGURES };

static const char *const figure_names[FIGURES] = {
    "recorded_s", "finish_s", "wait_s", "cpu_s", "plain_s", "ratio", "ratio_without_finish"};

/* How much of the speed of the best number of writing threads the recorded run reached. */
static void print_pwrite(struct bench *b, double recorded)
{
    uint64_t total = b->tasks * TENSORS * b->o.tensor;
    unsigned threads = 0;
    double seconds;
    make_dir(b);
    seconds = bench_best_pwrite(b->plain, b->bytes, b->pool, total, b->o.repeat, &threads);
    if (seconds < 0)
        fail("cannot write");
    printf(",\"pwrite_s\":%.6f,\"pwrite_threads\":%u,\"of_pwrite\":%.4f", seconds, threads,
           seconds / recorded);
}

static void measure(struct bench *b)
{
    unsigned n = b->o.repeat;
    bool compares = level_of(b->o.level) == TG_LEVEL_FULL;
    struct sample s = run_recorded(b); /* touches page tables, arenas, the device's threads */
    double first = s.seconds;
    double *figure[FIGURES];
    for (int f = 0; f < FIGURES; f++)
        figure[f] = numbers(n);
    for (unsigned i = 0; i < n; i++) {
        double plain = compares ? run_plain(b) : 1;
        s = run_recorded(b);
        figure[RECORDED][i] = s.seconds;
        figure[FINISH][i] = s.finish;
        figure[WAIT][i] = (double)s.summary.wait_ns * 1e-9;
        figure[CPU][i] = s.cpu;
        figure[PLAIN][i] = plain;
        figure[RATIO][i] = s.seconds / plain;
        figure[WITHOUT][i] = (s.seconds - s.finish) / plain;
    }
    printf("{\"platform\":\"%s\",\"cores\":%u,\"level\":\"%s\",\"tensor\":%llu,\"payload\":%llu,"
           "\"records\":%llu",
           b->o.platform, b->o.cores, b->o.level, (unsigned long long)b->o.tensor,
           (unsigned long long)s.summary.payload_bytes, (unsigned long long)s.summary.recorded);
    printf(",\"first_s\":%.6f", first);
    for (int f = 0; f < (compares ? FIGURES : PLAIN); f++)
        printf(",\"%s\":%.6f", figure_names[f], bench_median(figure[f], n));
    if (compares) /* the values are sorted by now */
        printf(",\"best\":%.4f,\"worst\":%.4f", figure[RATIO][0], figure[RATIO][n - 1]);
    if (b->o.pwrite)
        print_pwrite(b, bench_median(figure[RECORDED], n));
    if (b->o.keep)
        printf(",\"dir\":\"%s\"", b->run_dir);
    printf("}\n");
    for (int f = 0; f < FIGURES; f++)
        free(figure[f]);
}

int main(int argc, char **argv)
{
    static struct bench b;
    b.o = parse(argc, argv);
    set_up(&b);
    if (b.o.memory)
        measure_memory(&b);
    else
        measure(&b);
    if (!b.o.keep)
        remove_files(&b);
    tg_graph_destroy(b.graph);
    tg_device_close(b.device);
    return 0;
}
