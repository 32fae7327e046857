/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs on every runtime, compared bit for bit with serial execution (workloads/oracle).
 * The seed determines everything: the program, the device, the sizes of the rings.
 *
 *     TASKGLASS_ORACLE_GRAPHS   programs for each runtime and platform
 *     TASKGLASS_ORACLE_SECONDS  instead: run programs for this many seconds in total
 *     TASKGLASS_ORACLE_SEED     the first seed
 *     TASKGLASS_ORACLE_TASKS    run only this many tasks of a program, from its beginning
 *     TASKGLASS_ORACLE_SHOW     1: prints the programs
 *     TASKGLASS_ORACLE_SCHEDULE only for the test of schedules: run programs with this one
 *
 * If a program differs, the test finds its shortest beginning that still differs, and prints that with
 * the variables that reproduce it.
 */
#define _GNU_SOURCE 1
#include "contract.h"
#include "host/runtime_ops.h"
#include "oracle_exact.h"
#include "workloads/oracle/serial.h"
#include <dlfcn.h>

/* ── what a seed means ─────────────────────────────────────────────────────────────────── */

static const struct {
    uint32_t cores, schedulers;
} devices[] = {{1, 0}, {2, 0}, {3, 0}, {6, 0}, {1, 1}, {2, 1},
               {3, 1}, {6, 1}, {3, 2}, {6, 2}, {5, 0}, {4, 2}};
enum { N_DEVICES = sizeof devices / sizeof devices[0] };

/* Sizes of rings; programs stay within them. A scope that holds tasks keeps everything that they
 * need, so sizes with `held` must be large enough for that: a dependency on every other task that
 * has a slot, and two entries for each tensor. 0 is the default, which is always enough. */
/* clang-format off */
static const struct ring_sizes {
    uint32_t slots, dep_pool, tensormap;
    uint64_t heap;
    bool held;
} ring_sizes[] = {
    { 0,     0,    0,     0, true},
    {64, 17000, 4000, 20000, true},
    {16,  1100,  800,  5120, true},
    { 4,   128,  200,  3072, true},
    { 5,     4,   16,  3072, false},
    { 7,     5,   33,  2048, false},
    {64, 17000, 4000,  2048, true},
};
/* clang-format on */
enum { N_RING_SIZES = sizeof ring_sizes / sizeof ring_sizes[0], NO_LIMIT = 1000000 };
enum { SKIPPED = 1024 }; /* bytes that may be skipped at the end of a heap */

struct plan {
    uint64_t seed;
    enum tg_runtime_kind runtime;
    uint32_t device; /* index into `devices` */
    const struct ring_sizes *rings;
    struct oracle_params params;
    bool again;          /* the graph runs twice */
    bool exact;          /* the test finds the edges and builds the graph from them */
    uint32_t overlooked; /* except these kinds of edges */
    char schedule[400];  /* as --schedule takes it; "": none */
};

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static struct plan plan_of(uint64_t seed, enum tg_runtime_kind runtime)
{
    static const int64_t spins[] = {0, 1, 1, 1, 2, 2, 2, 3};
    uint64_t random = seed, limit = number_from_environment("TASKGLASS_ORACLE_TASKS", UINT64_MAX);
    uint64_t tasks = 4 + next_random(&random) % (seed % 8 ? 120 : 500);
    struct plan plan = {.seed = seed, .runtime = runtime, .device = seed % N_DEVICES};
    const struct tg_runtime_ops *ops = tg_runtime_number(runtime);
    plan.rings = &ring_sizes[seed / N_DEVICES % N_RING_SIZES];
    plan.again = next_random(&random) % 4 == 0;
    plan.params = (struct oracle_params){
        .seed = (int64_t)seed,
        .tasks = (int64_t)(tasks < limit ? tasks : limit),
        .window = plan.rings->slots ? plan.rings->slots : NO_LIMIT,
        .heap = plan.rings->heap ? (int64_t)plan.rings->heap - SKIPPED : NO_LIMIT,
        .rings = ops->n_rings == 1 ? 1 : TG_RINGS,
        .tensors = 1 + (int64_t)(next_random(&random) % 6),
        .edges = !ops->finds_edges,
        .reads = ops->n_rings > 0 && next_random(&random) % 2,
        .held = plan.rings->held,
        .spin = spins[next_random(&random) % 8],
    };
    return plan;
}

static struct tg_rings rings_of(const struct ring_sizes *sizes)
{
    struct tg_rings rings = {.tensormap = sizes->tensormap};
    for (int i = 0; i < TG_RINGS; i++) {
        rings.task_window[i] = sizes->slots;
        rings.dep_pool[i] = sizes->dep_pool;
        rings.heap[i] = sizes->heap;
    }
    return rings;
}

/* ── the memory that programs share ────────────────────────────────────────────────────── */

/* The bytes around the tensors must not be written; there are none between a and b. */
enum { HEAP_BYTES = 1 << 19 }; /* after the tensors, for a graph that is built from exact edges */
enum { GUARD = 64, ARENA_BYTES = 5 * GUARD + 4096 + 1024 + 256 + 512 + 4096 };

static uint64_t offset_of(int tensor)
{
    static const uint64_t offsets[ORACLE_TENSORS] = {
        [ORACLE_a] = GUARD,
        [ORACLE_b] = GUARD + 4096,
        [ORACLE_c] = 2 * GUARD + 4096 + 1024,
        [ORACLE_hidden] = 3 * GUARD + 4096 + 1024 + 256,
        [ORACLE_witness] = 4 * GUARD + 4096 + 1024 + 256 + 512,
    };
    return offsets[tensor];
}

static struct tg_args args_of(const struct oracle_params *params, uint64_t arena)
{
    static const int64_t bytes[ORACLE_TENSORS] = {
#define BYTES(name, n) n,
        ORACLE_TENSORS_MAP(BYTES)
#undef BYTES
    };
    struct tg_args args;
    tg_args_init(&args);
    for (int i = 0; i < ORACLE_TENSORS; i++)
        tg_args_inout(&args, tg_tensor_make(arena + offset_of(i), TG_UINT8, 1, &bytes[i]));
#define SCALAR(name, value, text) tg_args_i64(&args, params->name);
    ORACLE_PARAMS(SCALAR)
#undef SCALAR
    return args;
}

struct images {
    _Alignas(256) unsigned char before[ARENA_BYTES], expected[ARENA_BYTES], got[ARENA_BYTES];
};

static const struct tg_workload *oracle_workload(void)
{
    static const struct tg_workload *workload;
    if (workload == NULL) {
        void *module = dlopen(workload_path("oracle"), RTLD_NOW | RTLD_LOCAL);
        REQUIRE(module != NULL);
        workload = dlsym(module, TG_WORKLOAD_SYMBOL);
    }
    return workload;
}

static void expect(const struct plan *plan, struct images *images, bool show)
{
    const struct tg_workload *workload = oracle_workload();
    struct oracle_params params = plan->params;
    struct tg_args args;
    params.drop = 0;
    args = args_of(&params, (uintptr_t)images->expected);
    memset(images->before, 0xee, ARENA_BYTES);
    for (int i = 0; i < ORACLE_TENSORS; i++)
        serial_fill(images->before + offset_of(i), args.tensor[i].storage_bytes, plan->seed);
    memcpy(images->expected, images->before, ARENA_BYTES);
    serial_orchestrate(workload->kernels, workload->orchestrate, &args, show ? stdout : NULL);
}

/* ── a device to run them on ───────────────────────────────────────────────────────────── */

struct bench {
    uint32_t which; /* index into `devices` */
    struct tg_device *device;
    struct tg_module *module;
    uint64_t arena;
};

static void bench_open(struct bench *bench, uint32_t which)
{
    bench->which = which;
    bench->device = open_device(devices[which].cores, devices[which].schedulers);
    bench->module = load_module(bench->device, "oracle");
    bench->arena = alloc_device(bench->device, ARENA_BYTES + HEAP_BYTES);
}

static void bench_revive(struct bench *bench)
{
    struct tg_device_info info;
    tg_device_get_info(bench->device, &info);
    if (!info.lost)
        return;
    tg_device_close(bench->device);
    bench_open(bench, bench->which);
}

/* Adds up the order of starts, so that two orders can be compared. */
static uint64_t digest(const struct tg_schedule_result *schedule)
{
    uint64_t sum = schedule->choices;
    for (uint64_t i = 0; i < schedule->n_starts; i++)
        sum = (sum ^ schedule->starts[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return sum;
}

/* Also compares the order of starts on one core with that of the run before. */
static tg_status run_with(struct tg_graph *graph, const struct plan *plan, uint64_t *order,
                          struct tg_error *error)
{
    struct tg_schedule *schedule;
    struct tg_run *run;
    struct tg_run_result result = {0};
    if (plan->schedule[0] == '\0')
        return tg_graph_run(graph, NULL, NULL, error);
    GOOD(tg_schedule_parse(plan->schedule, &schedule, error));
    schedule->keep_starts = 4096;
    tg_status status =
        tg_run_start(graph, &(struct tg_run_config){.schedule = schedule}, &run, error);
    tg_schedule_destroy(schedule);
    if (status != TG_OK)
        return status;
    status = tg_run_wait(run, -1, error);
    tg_run_get_result(run, &result);
    if (status == TG_OK) {
        CHECK(result.schedule.on && result.schedule.known);
        CHECK_EQ_I(result.schedule.serial, devices[plan->device].cores == 1);
        CHECK_EQ_U(result.schedule.choices, result.tasks);
        if (result.schedule.serial && *order != 0)
            CHECK_EQ_U(digest(&result.schedule), *order);
        *order = digest(&result.schedule);
    }
    tg_run_destroy(run);
    return status;
}

static tg_status run_once(struct bench *bench, struct tg_graph *graph, const struct plan *plan,
                          struct images *images, uint64_t *order, struct tg_error *error)
{
    tg_status status;
    GOOD(tg_device_copy_in(bench->device, bench->arena, images->before, ARENA_BYTES, error));
    status = run_with(graph, plan, order, error);
    if (status == TG_OK) /* else the memory may be gone */
        GOOD(tg_device_copy_out(bench->device, images->got, bench->arena, ARENA_BYTES, error));
    return status;
}

static tg_status build(struct bench *bench, const struct plan *plan, struct tg_graph **graph,
                       struct tg_error *error)
{
    struct tg_rings rings = rings_of(plan->rings);
    struct tg_args args = args_of(&plan->params, bench->arena);
    tg_status status;
    if (!plan->exact)
        return tg_graph_orchestrate(bench->module, plan->runtime, &args, &rings, graph, error);
    status = tg_graph_create(bench->module, graph, error);
    if (status == TG_OK)
        exact_orchestrate(oracle_workload()->orchestrate, &args, bench->arena, ARENA_BYTES,
                          ARENA_BYTES + HEAP_BYTES, plan->overlooked, *graph);
    return status;
}

static tg_status run_plan(struct bench *bench, const struct plan *plan, struct images *images,
                          struct tg_error *error)
{
    struct tg_graph *graph = NULL;
    uint64_t order = 0;
    tg_status status = build(bench, plan, &graph, error);
    if (status != TG_OK)
        return status;
    status = run_once(bench, graph, plan, images, &order, error);
    if (status == TG_OK && plan->again && memcmp(images->got, images->expected, ARENA_BYTES) == 0)
        status = run_once(bench, graph, plan, images, &order, error);
    tg_graph_destroy(graph);
    return status;
}

/* "" if the program left the right values, else what is wrong. */
struct finding {
    tg_status status;
    char text[600];
};

/* The first byte from `from` on that is wrong; ARENA_BYTES if there is none. */
static uint64_t first_difference(const struct images *images, uint64_t from)
{
    while (from < ARENA_BYTES && images->got[from] == images->expected[from])
        from++;
    return from;
}

static void describe_difference(const struct images *images, struct finding *finding)
{
    static const char *const names[] = {"a", "b", "c", "hidden", "witness"};
    uint64_t witness = offset_of(ORACLE_witness), first = first_difference(images, 0);
    uint64_t task = (first_difference(images, witness) - witness) / 8;
    int tensor = ORACLE_TENSORS - 1, n = 0;
    if (first == ARENA_BYTES)
        return;
    while (tensor > 0 && first < offset_of(tensor))
        tensor--;
    n = snprintf(finding->text, sizeof finding->text, "byte %lld of %s is 0x%02x, expected 0x%02x",
                 (long long)(first - offset_of(tensor)), names[tensor], images->got[first],
                 images->expected[first]);
    snprintf(finding->text + n, sizeof finding->text - (size_t)n,
             task < 512 ? "; task %llu is the first that read unexpected bytes"
                        : "; every task read the expected bytes",
             (unsigned long long)task);
}

static struct finding look(struct bench *bench, const struct plan *plan, bool show)
{
    static struct images images;
    struct finding finding = {TG_OK, ""};
    struct tg_error error = {TG_OK, ""};
    expect(plan, &images, show);
    finding.status = run_plan(bench, plan, &images, &error);
    if (finding.status != TG_OK)
        snprintf(finding.text, sizeof finding.text, "%s: %s", tg_status_name(finding.status),
                 error.text);
    else
        describe_difference(&images, &finding);
    bench_revive(bench);
    return finding;
}

/* ── what was found ────────────────────────────────────────────────────────────────────── */

static bool fails(struct bench *bench, const struct plan *plan, int64_t tasks, int attempts)
{
    struct plan shorter = *plan;
    shorter.params.tasks = tasks;
    while (attempts-- > 0)
        if (look(bench, &shorter, false).text[0])
            return true;
    return false;
}

/* The number of tasks of the shortest beginning that also failed. */
static int64_t shorten(struct bench *bench, const struct plan *plan)
{
    int64_t good = 0, bad = plan->params.tasks;
    while (good + 1 < bad) {
        int64_t middle = good + (bad - good) / 2;
        if (fails(bench, plan, middle, 10))
            bad = middle;
        else
            good = middle;
    }
    return bad;
}

/* Prints the command that reproduces the failure. */
static void show_command(const struct plan *plan, const char *runtime)
{
    const struct ring_sizes *rings = plan->rings;
    fprintf(stderr,
            "  or taskglass run tests/workloads/oracle.so --platform %s --cores %u --schedulers %u "
            "--runtime %s",
            platform->name, devices[plan->device].cores, devices[plan->device].schedulers, runtime);
    if (rings->slots)
        fprintf(stderr, " --ring-task-window %u --ring-heap %llu --ring-dep-pool %u --tensormap %u",
                rings->slots, (unsigned long long)rings->heap, rings->dep_pool, rings->tensormap);
#define SET(name, value, text)        \
    if (plan->params.name != (value)) \
        fprintf(stderr, " --set " #name "=%lld", (long long)plan->params.name);
    ORACLE_PARAMS(SET)
#undef SET
    if (plan->schedule[0])
        fprintf(stderr, " --schedule %s", plan->schedule);
    fprintf(stderr, "\n");
}

static void report(struct bench *bench, const struct plan *plan, const struct finding *finding)
{
    struct tg_runtime_info runtime = {0};
    struct plan shorter = *plan;
    tg_runtime_get(plan->runtime, &runtime);
    (void)TEST_FAIL_("seed %llu by %s on %s: %s\n", (unsigned long long)plan->seed, runtime.name,
                     platform->name, finding->text);
    if (finding->status != TG_HANG) /* because shortening a hang would take too long */
        shorter.params.tasks = shorten(bench, plan);
    fprintf(stderr,
            "  again with TASKGLASS_ORACLE_SEED=%llu TASKGLASS_ORACLE_GRAPHS=1 "
            "TASKGLASS_ORACLE_TASKS=%lld TASKGLASS_ORACLE_SHOW=1\n",
            (unsigned long long)plan->seed, (long long)shorter.params.tasks);
    show_command(&shorter, runtime.name);
}

/* ── schedules ─────────────────────────────────────────────────────────────────────────── */

/* A schedule for the program, every policy in turn. The pairs of `order` are random, so that some of them
 * contradict the edges or name no task. */
static void schedule_plan(struct plan *plan)
{
    static const char *const policies[] = {"fifo", "lifo", "random", "adversarial", "order"};
    const char *given = getenv("TASKGLASS_ORACLE_SCHEDULE"), *policy = policies[plan->seed / 3 % 5];
    uint64_t random = plan->seed + 1;
    size_t length;
    plan->again = true;
    if (given && *given) {
        snprintf(plan->schedule, sizeof plan->schedule, "%s", given);
        return;
    }
    if (strcmp(policy, "order") != 0) {
        snprintf(plan->schedule, sizeof plan->schedule, strchr("fl", *policy) ? "%s" : "%s:%llu",
                 policy, (unsigned long long)plan->seed);
        return;
    }
    length = (size_t)snprintf(plan->schedule, sizeof plan->schedule, "order:");
    for (int i = 0; i < 12; i++) {
        uint64_t ring = plan->params.rings > 1 ? next_random(&random) % 4 : 0;
        uint64_t before = next_random(&random) % (uint64_t)(plan->params.tasks + 1);
        uint64_t after = next_random(&random) % (uint64_t)(plan->params.tasks + 1);
        length += (size_t)snprintf(plan->schedule + length, sizeof plan->schedule - length,
                                   "%s%llu:%llu-0:%llu", i ? "," : "", (unsigned long long)ring,
                                   (unsigned long long)before,
                                   (unsigned long long)(before == after ? after + 1 : after));
    }
}

/* ── many programs ─────────────────────────────────────────────────────────────────────── */

enum { ENOUGH_FAILURES = 5, ROUND = 20 * N_DEVICES, ALL_DEVICES = (1u << N_DEVICES) - 1 };

/* On a real GPU: every device with all sizes of rings, twice. */
enum { FEW_PROGRAMS = 2 * N_DEVICES * N_RING_SIZES };
/* There schedules get every policy on each of four devices, because to open a device takes as long as many
 * programs: with one core and with several, without schedulers and with some. */
enum { FEW_DEVICES = 1u << 0 | 1u << 3 | 1u << 4 | 1u << 9, FEW_SCHEDULES = 5 * N_DEVICES };

/* Runs seeds [first, first + n), device by device; only on the devices of that set. */
static void look_at(enum tg_runtime_kind runtime, uint64_t first, uint64_t n, uint32_t set,
                    bool scheduled)
{
    bool show = number_from_environment("TASKGLASS_ORACLE_SHOW", 0) != 0;
    for (uint32_t which = 0; which < N_DEVICES && test_failures_ < ENOUGH_FAILURES; which++) {
        struct bench bench = {0};
        for (uint64_t seed = first; seed < first + n && test_failures_ < ENOUGH_FAILURES; seed++) {
            struct plan plan = plan_of(seed, runtime);
            struct finding finding;
            if (plan.device != which || !(set >> which & 1))
                continue;
            if (scheduled)
                schedule_plan(&plan);
            if (bench.device == NULL)
                bench_open(&bench, which);
            finding = look(&bench, &plan, show);
            if (finding.text[0])
                report(&bench, &plan, &finding);
        }
        tg_device_close(bench.device);
    }
}

static void look_for_long(enum tg_runtime_kind runtime, uint64_t first, double seconds)
{
    double end = seconds_now() + seconds;
    struct tg_runtime_info info = {0};
    uint64_t n = 0;
    while (seconds_now() < end && test_failures_ < ENOUGH_FAILURES) {
        look_at(runtime, first + n, ROUND, ALL_DEVICES, false);
        n += ROUND;
    }
    tg_runtime_get(runtime, &info);
    printf("        %s on %s: %llu programs from seed %llu\n", info.name, platform->name,
           (unsigned long long)n, (unsigned long long)first);
}

/* The numbers of platforms and runtimes that share the time. */
static uint32_t platforms_here(void)
{
    const char *only = getenv("TASKGLASS_TEST_PLATFORM");
    struct tg_platform_info info;
    uint32_t n = 0;
    for (uint32_t i = 0; tg_platform_get(i, &info); i++)
        n += info.available;
    return only != NULL && *only != '\0' ? 1 : n;
}

static uint32_t runtimes_here(void)
{
    uint32_t n = 0;
    while (tg_runtime_number(n) != NULL)
        n++;
    return n;
}

static void look_at_many(enum tg_runtime_kind runtime)
{
    uint64_t n =
        contract_is_sparing() ? FEW_PROGRAMS : (uint64_t)contract_rounds(ROUNDS(1200, 120), 360);
    uint64_t first = number_from_environment("TASKGLASS_ORACLE_SEED", 1);
    uint64_t seconds = number_from_environment("TASKGLASS_ORACLE_SECONDS", 0);
    if (seconds)
        look_for_long(runtime, first, (double)seconds / (runtimes_here() * platforms_here()));
    else
        look_at(runtime, first, number_from_environment("TASKGLASS_ORACLE_GRAPHS", n), ALL_DEVICES,
                false);
}

CONTRACT(host_build_graph_gives_what_serial_execution_gives)
{
    look_at_many(TG_RUNTIME_HOST_BUILD_GRAPH);
}

CONTRACT(aicpu_build_graph_gives_what_serial_execution_gives)
{
    look_at_many(TG_RUNTIME_AICPU_BUILD_GRAPH);
}

CONTRACT(tensormap_and_ringbuffer_gives_what_serial_execution_gives)
{
    look_at_many(TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
}

CONTRACT(every_other_runtime_gives_what_serial_execution_gives)
{
    for (uint32_t n = TG_RUNTIME_TENSORMAP_AND_RINGBUFFER + 1; tg_runtime_number(n) != NULL; n++)
        look_at_many((enum tg_runtime_kind)n);
}

CONTRACT(every_schedule_gives_what_serial_execution_gives_and_on_one_core_one_order)
{
    uint64_t first = number_from_environment("TASKGLASS_ORACLE_SEED", 1);
    uint64_t given = number_from_environment("TASKGLASS_ORACLE_GRAPHS", 0);
    bool few = contract_is_sparing() && given == 0;
    uint64_t n = given != 0 ? given
                 : few      ? FEW_SCHEDULES
                            : (uint64_t)contract_rounds(ROUNDS(180, 40), 20);
    for (uint32_t runtime = 0; tg_runtime_number(runtime) != NULL; runtime++)
        look_at((enum tg_runtime_kind)runtime, first, n, few ? FEW_DEVICES : ALL_DEVICES, true);
}

/* ── the oracle itself ─────────────────────────────────────────────────────────────────── */

/* The number of programs among the first n that differ. */
static int count_different(uint32_t device, uint64_t n, int64_t drop, bool exact,
                           uint32_t overlooked)
{
    int different = 0;
    struct bench bench;
    bench_open(&bench, device);
    for (uint64_t seed = 1; seed <= n; seed++) {
        struct plan plan = plan_of(seed, exact ? TG_RUNTIME_TENSORMAP_AND_RINGBUFFER
                                               : TG_RUNTIME_HOST_BUILD_GRAPH);
        plan.exact = exact;
        plan.overlooked = overlooked;
        plan.params.drop = drop;
        plan.params.reads = 0;
        different += look(&bench, &plan, false).text[0] != '\0';
    }
    tg_device_close(bench.device);
    return different;
}

CONTRACT(programs_that_name_no_edges_need_those_of_the_bytes_they_share)
{
    CHECK_EQ_I(count_different(3, (uint64_t)contract_rounds(ROUNDS(300, 30), 30), 0, true, 0), 0);
}

/* Without their edges tasks run in any order. */
CONTRACT(programs_whose_edges_are_left_out_differ)
{
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer would report the race first");
#endif
    uint64_t n = (uint64_t)contract_rounds(ROUNDS(50, 10), 10);
    CHECK(count_different(3, n, 1000, false, 0) > 0);
    CHECK(count_different(3, n, 0, true, EXACT_RAW) > 0);
    CHECK(count_different(3, n, 0, true, EXACT_WAR) > 0);
    CHECK(count_different(3, n, 0, true, EXACT_WAW) > 0);
}

TEST_MAIN()
