/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that run on the test's own thread. There are no cores, so no task completes, and every
 * edge that the orchestrator finds stays. */
#include "orchestrate/orchestrator.h"
#include "device/engine.h"
#include "test.h"
#include <stdlib.h>

enum { SLOTS = 64, DEPS = 256, HEAP = 4096, MAP = 256, STRIDE = 4096, TENSOR = 64 };

/* What an orchestration needs of device memory. */
static struct {
    struct tg_launch launch;
    struct tg_orchestration o;
    struct tg_task_desc desc[SLOTS];
    struct tg_slot_note note[SLOTS];
    struct tg_dep dep[DEPS];
    struct tg_kernel_desc kernel[1];
    struct tg_args args;
    struct tg_site site[TG_MAX_SITES];
    struct tg_map_region region[MAP];
    struct tg_map_reader reader[MAP];
    uint32_t bucket[MAP];
    uint64_t queue[TG_CLASSES][SLOTS];
    struct tg_task_place place[SLOTS];
    struct tg_args_block block[TG_ARGS_BLOCKS(SLOTS, STRIDE)];
    char payload[TG_ARGS_BLOCKS(SLOTS, STRIDE) * TG_ARGS_BLOCK];
    char heap[HEAP];
    char tensor[TENSOR];
} memory;

static struct tg_engine *engine;
static struct tg_worker_status status[8];

#define ADDRESS(of) ((uint64_t)(uintptr_t)(of))

/* Makes an engine that would run the orchestration, with or without a tensor map. */
static struct tg_orchestrator *prepare(tg_orchestrate_fn orchestrate, bool has_map)
{
    void *place = NULL;
    memset(&memory, 0, sizeof memory);
    memory.kernel[0].core = TG_AIV;
    memory.o = (struct tg_orchestration){
        .n_kernels = 1,
        .n_own_kernels = 1,
        .args = ADDRESS(&memory.args),
        .kernels = ADDRESS(memory.kernel),
        .payload_stride = STRIDE,
        .deps = ADDRESS(memory.dep),
        .notes = ADDRESS(memory.note),
        .places = ADDRESS(memory.place),
        .args_blocks = ADDRESS(memory.block),
        .sites = ADDRESS(memory.site),
        .map_regions = has_map ? ADDRESS(memory.region) : 0,
        .map_readers = ADDRESS(memory.reader),
        .map_buckets = ADDRESS(memory.bucket),
        .map_size = MAP,
        .n_buckets = MAP,
        .memory_start = ADDRESS(&memory),
        .memory_end = ADDRESS(&memory + 1),
        .ring =
            {{.heap = ADDRESS(memory.heap), .heap_size = HEAP, .n_slots = SLOTS, .n_deps = DEPS}},
        .n_rings = 1,
    };
    memory.launch = (struct tg_launch){.magic = TG_LAUNCH_MAGIC,
                                       .edges = TG_EDGES_GROWING,
                                       .n_tasks = SLOTS,
                                       .desc = ADDRESS(memory.desc),
                                       .payload = ADDRESS(memory.payload),
                                       .orchestration = ADDRESS(&memory.o)};
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        memory.launch.queue[c] = ADDRESS(memory.queue[c]);
        memory.launch.queue_size[c] = SLOTS;
    }
    REQUIRE(posix_memalign(&place, TG_LINE, tg_engine_size(1, 0)) == 0);
    memset(place, 0, tg_engine_size(1, 0));
    engine = tg_engine_init(place, 3, 0, status);
    engine->patience.spin = 1; /* announces every task at once, and waits for none */
    tg_engine_prepare(engine, &memory.launch, NULL, orchestrate, "test.c:1");
    return engine->orchestrator;
}

static void run(struct tg_orchestrator *orchestrator)
{
    tg_orchestrator_run(orchestrator);
    CHECK_EQ_I(memory.o.report.status, TG_OK);
    CHECK_EQ_U(memory.o.report.state, TG_ORCHESTRATOR_RETURNED);
}

static void end(void)
{
    free(engine);
    engine = NULL;
}

/* ── counters that outgrow 32 bits ─────────────────────────────────────────────────────── */

enum { TASKS = 10 };

/* Each task waits for the one before, by name. */
static void chain_by_name(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    (void)args;
    for (int i = 0; i < TASKS; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_after(&task, last);
        last = tg_submit(rt, 0, &task);
    }
}

/* Each task writes the same bytes, so it waits for the one before. */
static void chain_by_tensor(struct tg_rt *rt, const struct tg_args *args)
{
    const int64_t size = TENSOR;
    (void)args;
    for (int i = 0; i < TASKS; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, tg_tensor_make(ADDRESS(memory.tensor), TG_UINT8, 1, &size));
        tg_submit(rt, 0, &task);
    }
}

/* Runs the orchestration as if it had submitted that many tasks already. */
static void check_chain(tg_orchestrate_fn orchestrate, bool has_map, uint64_t submits)
{
    struct tg_orchestrator *orchestrator = prepare(orchestrate, has_map);
    orchestrator->order = submits;
    run(orchestrator);
    CHECK_EQ_U(memory.o.report.edges, TASKS - 1);
    for (uint32_t i = 0; i < TASKS; i++)
        CHECK_EQ_U(memory.desc[i].fanin, i > 0);
    end();
}

TEST(no_edge_is_lost_when_submits_outgrow_32_bits)
{
    for (uint64_t before = 0; before < TASKS + 2; before++) {
        check_chain(chain_by_name, false, (UINT64_C(1) << 32) - before);
        check_chain(chain_by_tensor, true, (UINT64_C(1) << 32) - before);
    }
}

/* As if the ring had that many tasks and dependencies behind it. */
static void age_ring(struct tg_ring *ring, uint64_t tasks)
{
    ring->at->head = ring->at->done = ring->at->tail = tasks;
    ring->at->dep_head = ring->at->dep_tail = tasks;
    ring->freed = ring->args.released = tasks;
    ring->head_place = ring->done_place = ring->freed_place = (uint32_t)(tasks % SLOTS);
}

TEST(no_edge_is_lost_when_a_ring_outgrows_32_bits)
{
    for (uint64_t before = 0; before < TASKS + 2; before++) {
        struct tg_orchestrator *orchestrator = prepare(chain_by_name, false);
        age_ring(&orchestrator->ring[0], (UINT64_C(1) << 32) - before);
        run(orchestrator);
        CHECK_EQ_U(memory.o.report.edges, TASKS - 1);
        end();
    }
}

/* The second task may wait for the first, but not the first for the second. */
static void depend_forward(struct tg_rt *rt, const struct tg_args *args)
{
    (void)args;
    TG_SCOPE_HELD(rt) {
        uint64_t first = tg_submit(rt, 0, NULL), second = tg_submit(rt, 0, NULL);
        tg_depend(rt, second, first);
    }
}

TEST(the_order_of_tasks_is_known_when_submits_outgrow_32_bits)
{
    for (uint64_t before = 0; before < 4; before++) {
        struct tg_orchestrator *orchestrator = prepare(depend_forward, false);
        orchestrator->order = (UINT64_C(1) << 32) - before;
        run(orchestrator);
        CHECK_EQ_U(memory.o.report.edges, 1);
        end();
    }
}

/* ── a runtime without a tensor map ────────────────────────────────────────────────────── */

static void allocate(struct tg_rt *rt, const struct tg_args *args)
{
    const int64_t size = 64;
    (void)args;
    for (int i = 0; i < 4; i++)
        tg_alloc(rt, TG_UINT8, 1, &size);
}

/* An engine keeps the map of the last graph that had one. Its memory may belong to another graph now. */
TEST(the_tensor_map_of_an_earlier_graph_is_left_alone)
{
    struct tg_orchestrator *orchestrator = prepare(allocate, false);
    orchestrator->user.keep_done = true; /* as if edges were logged */
    orchestrator->map.region = NULL;     /* a look at it would crash */
    orchestrator->map.bucket = NULL;
    orchestrator->map.levels = UINT64_MAX;
    for (uint32_t level = 0; level < TG_MAP_LEVELS; level++) {
        orchestrator->map.shelf[level].first = 1;
        orchestrator->map.shelf[level].count = UINT32_MAX;
    }
    run(orchestrator);
    end();
}

TEST_MAIN()
