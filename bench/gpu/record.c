/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what recording costs on a device. The tasks copy one tensor to another, so that they
 * read as many bytes as they write; they run at several levels and by both transports, in turn.
 *
 *   execute_s   from launch to the end of the run on the device
 *   seconds     from tg_run_start to the end of tg_run_wait: the files are finished
 *
 * --arena fit: all that a run records fits into the arenas, so that no core waits for the host and
 * only recording into memory is measured. `wait_s` says whether cores waited all the same.
 */
#define _GNU_SOURCE 1
#include "../record/pwrite.h"
#include "common.h"

enum { TENSORS = 2, MAX_SERIES = 16, MAX_LANES = 256, SLACK = 3, PER_BUFFER = 64 };

#define PATTERN (UINT64_C(64) << 20)

struct options {
    const char *platform, *levels, *transports, *dir, *arena;
    uint64_t tensor, total, pool;
    uint64_t memory; /* most memory of the device */
    unsigned cores, repeat;
    bool plain; /* also write as many bytes to a file by threads, for comparison */
};

/* One level by one transport, with its measurements. */
struct series {
    uint32_t level, transport;
    const char *level_name, *transport_name;
    double *execute, *seconds, *start, *finish, *wait;
    struct tg_record_summary summary;
};

struct bench {
    struct options o;
    uint64_t tasks, pairs; /* pairs of tensors, used in rotation */
    uint64_t pattern_size, inputs, outputs;
    char *pattern;
    struct tg_device *device;
    struct tg_graph *graph;
    unsigned n_series;
    struct series series[MAX_SERIES];
    char run_dir[4096];
};

struct word {
    const char *name; /* NULL: the end */
    uint32_t value;
};

static const struct word levels[] = {{"off", TG_LEVEL_OFF},
                                     {"meta", TG_LEVEL_META},
                                     {"hash", TG_LEVEL_HASH},
                                     {"full", TG_LEVEL_FULL},
                                     {NULL, 0}};

static const struct word transports[] = {{"auto", TG_TRANSPORT_AUTO},
                                         {"mapped", TG_TRANSPORT_MAPPED},
                                         {"copied", TG_TRANSPORT_COPIED},
                                         {NULL, 0}};

/* ── command line ──────────────────────────────────────────────────────────────────────── */

static bool parse_value(struct options *o, const char *key, const char *value)
{
    if (strcmp(key, "--platform") == 0)
        return (o->platform = value) != NULL;
    if (strcmp(key, "--levels") == 0)
        return (o->levels = value) != NULL;
    if (strcmp(key, "--transports") == 0)
        return (o->transports = value) != NULL;
    if (strcmp(key, "--dir") == 0)
        return (o->dir = value) != NULL;
    if (strcmp(key, "--arena") == 0)
        return strcmp(o->arena = value, "fit") == 0 || strcmp(value, "default") == 0 ||
               bench_size(value) > 0;
    if (strcmp(key, "--tensor") == 0)
        return (o->tensor = bench_size(value)) >= 64 && o->tensor % 64 == 0;
    if (strcmp(key, "--total") == 0)
        return (o->total = bench_size(value)) > 0;
    if (strcmp(key, "--pool") == 0)
        return (o->pool = bench_size(value)) > 0;
    if (strcmp(key, "--memory") == 0)
        return (o->memory = bench_size(value)) > 0;
    if (strcmp(key, "--cores") == 0)
        return (o->cores = (unsigned)bench_size(value)) > 0;
    if (strcmp(key, "--repeat") == 0)
        return (o->repeat = (unsigned)bench_size(value)) > 0;
    return false;
}

static void usage(const char *program, const char *wrong)
{
    fprintf(
        stderr,
        "%s: %s\nusage: %s [--platform P] [--cores N] [--levels off,meta,hash,full]\n"
        "       [--transports auto,mapped,copied] [--tensor BYTES] [--total BYTES]\n"
        "       [--pool BYTES] [--arena fit|default|BYTES] [--memory BYTES] [--repeat R] [--dir DIR]\n"
        "       [--plain]\n",
        program, wrong, program);
    exit(PROGRAM_USAGE);
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.platform = "cuda",
                        .levels = "off,full,off",
                        .transports = "mapped,copied",
                        .dir = "/dev/shm",
                        .arena = "fit",
                        .tensor = 1 << 20,
                        .total = UINT64_C(1) << 30,
                        .pool = UINT64_C(1) << 30,
                        .memory = UINT64_MAX,
                        .repeat = 5};
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--plain") == 0)
            o.plain = true;
        else if (k + 1 == argc || !parse_value(&o, argv[k], argv[k + 1]))
            usage(argv[0], argv[k]);
        else
            k++;
    }
    return o;
}

static double *numbers(unsigned count)
{
    double *n = calloc(count, sizeof *n);
    if (!n)
        fail("no memory");
    return n;
}

static void add_series(struct bench *b, const struct word *level, const struct word *transport)
{
    struct series *s = &b->series[b->n_series++];
    s->level = level->value;
    s->level_name = level->name;
    s->transport = transport->value;
    s->transport_name = transport->name;
    s->execute = numbers(b->o.repeat);
    s->seconds = numbers(b->o.repeat);
    s->start = numbers(b->o.repeat);
    s->finish = numbers(b->o.repeat);
    s->wait = numbers(b->o.repeat);
}

static const struct word *find_word(const struct word *words, const char *name)
{
    while (words->name && strcmp(words->name, name) != 0)
        words++;
    if (!words->name)
        usage("bench_gpu_record", name);
    return words;
}

/* Lists every level with every transport; a level without payloads is listed once. */
static void list_series(struct bench *b)
{
    const char *level_list = b->o.levels;
    char name[32];
    while (next_word(&level_list, name, sizeof name)) {
        const struct word *level = find_word(levels, name);
        const char *transport_list = b->o.transports;
        while (next_word(&transport_list, name, sizeof name)) {
            if (b->n_series == MAX_SERIES)
                usage("bench_gpu_record", "too many levels and transports");
            add_series(b, level, find_word(transports, name));
            if (level->value == TG_LEVEL_OFF)
                break;
        }
    }
}

/* ── the graph ─────────────────────────────────────────────────────────────────────────── */

static bool wants_payload(const struct bench *b)
{
    for (unsigned i = 0; i < b->n_series; i++)
        if (b->series[i].level == TG_LEVEL_FULL)
            return true;
    return false;
}

static uint64_t tensor_of(const struct bench *b, uint64_t base, uint64_t pair)
{
    return base + pair * b->o.tensor;
}

/* Gives every third task to matrix cores, because a third of the cores are matrix cores. */
static void build_graph(struct bench *b, struct tg_module *module)
{
    int64_t words = (int64_t)(b->o.tensor / 4);
    must(tg_graph_create(module, &b->graph, &error));
    must(tg_graph_reserve(b->graph, b->tasks, 0));
    for (uint64_t i = 0; i < b->tasks; i++) {
        struct tg_args args;
        uint64_t pair = i % b->pairs, task;
        tg_args_init(&args);
        tg_args_in(&args, tg_tensor_make(tensor_of(b, b->inputs, pair), TG_FLOAT32, 1, &words));
        tg_args_out(&args, tg_tensor_make(tensor_of(b, b->outputs, pair), TG_FLOAT32, 1, &words));
        must(tg_graph_add(b->graph, i % 3 == 0 ? KERNEL_COPY_AIC : KERNEL_COPY, &args, &task,
                          &error));
    }
    must(tg_graph_upload(b->graph, &error));
}

/* Fills the inputs with the pattern, repeated. */
static void fill_inputs(struct bench *b)
{
    uint64_t size = b->pairs * b->o.tensor;
    b->pattern_size = PATTERN / b->o.tensor * b->o.tensor;
    if (b->pattern_size == 0)
        b->pattern_size = b->o.tensor;
    b->pattern = bench_bytes(b->pattern_size);
    must(tg_device_alloc(b->device, size, &b->inputs, &error));
    must(tg_device_alloc(b->device, size, &b->outputs, &error));
    for (uint64_t at = 0; at < size; at += b->pattern_size) {
        uint64_t n = size - at < b->pattern_size ? size - at : b->pattern_size;
        must(tg_device_copy_in(b->device, b->inputs + at, b->pattern, n, &error));
    }
}

static void refuse(const struct bench *b, uint64_t wanted)
{
    fprintf(stderr, "bench_gpu: tensors of %llu KiB: %.1f GiB of device memory are wanted\n",
            (unsigned long long)b->o.tensor >> 10, (double)wanted / (1 << 30));
    exit(PROGRAM_NO_ROOM);
}

static void set_up(struct bench *b)
{
    struct tg_device_config config = {.platform = b->o.platform, .cores = b->o.cores};
    struct tg_module *module;
    b->tasks = b->o.total / (TENSORS * b->o.tensor);
    b->tasks = b->tasks ? b->tasks : 1;
    b->pairs = b->o.pool / (TENSORS * b->o.tensor);
    b->pairs = b->pairs < 1 ? 1 : b->pairs < b->tasks ? b->pairs : b->tasks;
    config.memory = TENSORS * b->pairs * b->o.tensor + (b->tasks << 10) + (UINT64_C(2) << 30);
    if (wants_payload(b)) /* the arenas of a copied recording are in device memory */
        config.memory += SLACK * (b->o.total + MAX_LANES * b->o.tensor) + (UINT64_C(1) << 30);
    if (config.memory > b->o.memory)
        refuse(b, config.memory);
    module = open_device(&config, &b->device);
    fill_inputs(b);
    build_graph(b, module);
    snprintf(b->run_dir, sizeof b->run_dir, "%s/bench_gpu_record.%d", b->o.dir, (int)getpid());
}

/* Checks after a run that the tensors were copied: the first, the last and one between. */
static void check_outputs(const struct bench *b)
{
    char *got = malloc(b->o.tensor);
    if (!got)
        fail("no memory");
    for (uint64_t k = 0; k < 3; k++) {
        uint64_t pair = (b->pairs - 1) * k / 2;
        uint64_t at = pair * b->o.tensor % b->pattern_size;
        must(tg_device_copy_out(b->device, got, tensor_of(b, b->outputs, pair), b->o.tensor,
                                &error));
        if (memcmp(got, b->pattern + at, b->o.tensor) != 0)
            fail("a copied tensor is not what it was copied from");
    }
    free(got);
}

/* ── measuring ─────────────────────────────────────────────────────────────────────────── */

static void shell(const char *command, const char *folder)
{
    char line[4200];
    snprintf(line, sizeof line, "%s '%s'", command, folder);
    if (system(line) != 0)
        fail(line);
}

/* Sizes arenas and buffers so that they hold a run's recording even if one core records SLACK times
 * its share. */
static void fit(const struct bench *b, struct tg_record_config *record)
{
    uint64_t lanes = device_cores(b->device);
    uint64_t share = SLACK * (b->tasks * TENSORS * b->o.tensor / lanes);
    uint64_t least = SLACK * b->o.tensor;
    record->arena = share > least ? share : least;
    record->arena = (record->arena + (1 << 20)) >> 20 << 20;
    record->buffers = (uint32_t)(SLACK * b->tasks * TENSORS / lanes / PER_BUFFER + 16);
}

static void check_recording(const struct bench *b, const struct series *s,
                            const struct tg_record_result *result)
{
    if (s->level == TG_LEVEL_OFF)
        return;
    if (result->status != TG_OK)
        fail(result->text);
    if (result->summary.recorded < b->tasks * TENSORS)
        fail("records are missing");
    if (s->level == TG_LEVEL_FULL &&
        result->summary.payload_bytes != b->tasks * TENSORS * b->o.tensor)
        fail("payload is missing");
}

static void run(const struct bench *b, struct series *s, unsigned number)
{
    struct tg_record_config record = {
        .level = s->level, .output_dir = b->run_dir, .transport = s->transport};
    struct tg_run_config config = {.record = s->level == TG_LEVEL_OFF ? NULL : &record};
    struct tg_run_result result;
    struct tg_run *run;
    double began;
    if (strcmp(b->o.arena, "fit") == 0)
        fit(b, &record);
    else if (strcmp(b->o.arena, "default") != 0)
        record.arena = bench_size(b->o.arena);
    shell("mkdir -p", b->run_dir);
    began = bench_seconds();
    must(tg_run_start(b->graph, &config, &run, &error));
    must(tg_run_wait(run, -1, &error));
    s->seconds[number] = bench_seconds() - began;
    tg_run_get_result(run, &result);
    tg_run_destroy(run);
    check_recording(b, s, &result.record);
    s->execute[number] = result.execute_seconds;
    s->start[number] = result.start_seconds;
    s->finish[number] = result.record.finish_seconds;
    s->wait[number] = (double)result.record.summary.wait_ns * 1e-9;
    s->summary = result.record.summary;
    shell("rm -rf", b->run_dir);
}

static void print_series(const struct bench *b, const struct series *s)
{
    unsigned n = b->o.repeat;
    struct spread execute = spread_of(s->execute, n), seconds = spread_of(s->seconds, n);
    unsigned long long bytes = b->tasks * TENSORS * b->o.tensor;
    printf("{\"program\":\"record\",\"platform\":\"%s\",\"cores\":%u,\"level\":\"%s\","
           "\"transport\":\"%s\",\"arena\":\"%s\",\"dir\":\"%s\",\"tensor\":%llu,\"tasks\":%llu,"
           "\"bytes\":%llu,\"records\":%llu,\"payload\":%llu",
           b->o.platform, device_cores(b->device), s->level_name,
           s->level == TG_LEVEL_OFF ? "" : s->transport_name, b->o.arena, b->o.dir,
           (unsigned long long)b->o.tensor, (unsigned long long)b->tasks, bytes,
           (unsigned long long)s->summary.recorded, (unsigned long long)s->summary.payload_bytes);
    printf(",\"execute_s\":%.6f,\"execute_best_s\":%.6f,\"execute_worst_s\":%.6f,\"seconds\":%.6f,"
           "\"start_s\":%.6f,\"finish_s\":%.6f,\"wait_s\":%.6f,\"gbs\":%.3f,\"gbs_all\":%.3f}\n",
           execute.median, execute.best, execute.worst, seconds.median, bench_median(s->start, n),
           bench_median(s->finish, n), bench_median(s->wait, n),
           (double)s->summary.payload_bytes / execute.median * 1e-9,
           (double)s->summary.payload_bytes / seconds.median * 1e-9);
    fflush(stdout);
}

static void measure(struct bench *b)
{
    for (unsigned i = 0; i < b->n_series; i++)
        run(b, &b->series[i], 0); /* warm-up */
    check_outputs(b);
    for (unsigned r = 0; r < b->o.repeat; r++)
        for (unsigned i = 0; i < b->n_series; i++)
            run(b, &b->series[i], r);
    for (unsigned i = 0; i < b->n_series; i++)
        print_series(b, &b->series[i]);
}

/* Writes as many bytes as a recording has from memory to a file on the same file system. */
static void measure_plain(const struct bench *b)
{
    uint64_t bytes = b->tasks * TENSORS * b->o.tensor;
    unsigned threads = 0;
    char path[4200];
    double seconds;
    shell("mkdir -p", b->run_dir);
    snprintf(path, sizeof path, "%s/plain.bin", b->run_dir);
    seconds = bench_best_pwrite(path, b->pattern, b->pattern_size, bytes, b->o.repeat, &threads);
    shell("rm -rf", b->run_dir);
    if (seconds < 0)
        fail("cannot write");
    printf("{\"program\":\"record\",\"level\":\"plain\",\"dir\":\"%s\",\"bytes\":%llu,"
           "\"threads\":%u,\"seconds\":%.6f,\"gbs\":%.3f}\n",
           b->o.dir, (unsigned long long)bytes, threads, seconds, (double)bytes / seconds * 1e-9);
}

int main(int argc, char **argv)
{
    static struct bench b;
    b.o = parse(argc, argv);
    list_series(&b);
    set_up(&b);
    measure(&b);
    if (b.o.plain)
        measure_plain(&b);
    tg_graph_destroy(b.graph);
    tg_device_close(b.device);
    return 0;
}
