/* SPDX-License-Identifier: Apache-2.0 */
/* Where the arguments of a graph are, how many bytes a task takes, and what the host reads back. */
#include "common/stored_args.h"
#include "unit/host/graph_fake.h"

enum { TASKS = 2000 };

static void *fake_map(void *state, uint64_t address, uint64_t size)
{
    (void)state;
    return fake_at(address, size);
}

/* An empty graph on a device whose memory the host sees, or does not see. */
static struct tg_graph *graph_on(bool mapped)
{
    static struct tg_platform_ops ops;
    struct tg_graph *graph = fake_graph();
    ops = fake_ops;
    ops.map = mapped ? fake_map : NULL;
    fake_device.ops = &ops;
    return graph;
}

static struct tg_tensor tile(uint64_t i)
{
    struct tg_tensor t =
        tg_tensor_make(FAKE_BASE + FAKE_CONTROL, TG_FLOAT32, 2, (int64_t[]){256, 256});
    return tg_tensor_tile(t, (int64_t)(i % 192), 64, (int64_t)(i % 191), 32);
}

/* A task with three tensors of two dimensions, one scalar and two edges. */
static void add_task(struct tg_graph *graph, uint64_t i)
{
    struct tg_args args;
    tg_args_init(&args);
    tg_args_in(&args, tile(i));
    tg_args_in(&args, tile(i + 1));
    tg_args_out(&args, tile(i + 2));
    tg_args_f32(&args, 0.5f);
    if (i > 0)
        tg_args_after(&args, i - 1);
    if (i > 1)
        tg_args_after(&args, i - 2);
    REQUIRE(tg_graph_add(graph, VEC, &args, NULL, NULL) == TG_OK);
}

static void check_tensors(struct tg_graph *graph, uint64_t tasks)
{
    for (uint64_t i = 0; i < tasks; i++) {
        struct tg_tensor tensor[TG_MAX_TENSORS], wanted = tile(i + 2);
        struct tg_task_desc desc = tg_graph_desc(graph, i);
        REQUIRE(tg_graph_tensors(graph, &desc, tensor));
        REQUIRE(memcmp(&tensor[2], &wanted, sizeof wanted) == 0);
    }
}

/* What the graph has in host memory: buffers of chunks that the host sees are device memory. */
static uint64_t host_bytes(const struct tg_graph *graph)
{
    uint64_t bytes = graph->tasks.count * sizeof *graph->tasks.at +
                     graph->tasks.n_kinds * sizeof *graph->tasks.kind +
                     graph->n_edges * sizeof *graph->edge;
    for (uint32_t i = 0; i < graph->args.n_chunks; i++)
        if (graph->args.chunk[i].host != NULL && !graph->args.chunk[i].mapped)
            bytes += graph->args.chunk[i].bytes;
    return bytes;
}

TEST(a_task_takes_at_most_350_bytes_on_host_and_device_together)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        struct tg_graph *graph = graph_on(mapped);
        uint64_t before = fake.used;
        for (uint64_t i = 0; i < TASKS; i++)
            add_task(graph, i);
        REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
        CHECK(host_bytes(graph) + fake.used - before <= (uint64_t)350 * TASKS);
        tg_graph_destroy(graph);
    }
}

TEST(arguments_are_the_same_before_and_after_they_are_sent)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        struct tg_graph *graph = graph_on(mapped);
        for (uint64_t i = 0; i < TASKS; i++)
            add_task(graph, i);
        CHECK(graph->args.current > 3); /* several chunks */
        check_tensors(graph, TASKS);
        REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
        check_tensors(graph, TASKS);
        for (uint64_t i = TASKS; i < TASKS + 10; i++) /* in the chunk that was sent in part */
            add_task(graph, i);
        check_tensors(graph, TASKS + 10);
        REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
        check_tensors(graph, TASKS + 10);
        tg_graph_destroy(graph);
    }
}

TEST(no_argument_stays_on_the_host_after_it_was_sent)
{
    struct tg_graph *graph = graph_on(false);
    for (uint64_t i = 0; i < TASKS; i++)
        add_task(graph, i);
    REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
    for (uint32_t i = 0; i < graph->args.current; i++)
        CHECK(graph->args.chunk[i].host == NULL);
    tg_graph_destroy(graph);
}

TEST(the_next_graph_is_built_in_the_memory_of_the_last)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        struct tg_graph *graph = graph_on(mapped);
        uint64_t used = 0;
        for (uint64_t round = 0; round < 5; round++) {
            uint64_t tasks = TASKS - 300 * round;
            for (uint64_t i = 0; i < tasks; i++)
                add_task(graph, i);
            REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
            check_tensors(graph, tasks);
            CHECK(round == 0 || fake.used == used);
            used = fake.used;
            tg_graph_clear(graph);
            CHECK_EQ_U(tg_graph_tasks(graph), 0);
        }
        tg_graph_destroy(graph);
    }
}

TEST(arguments_go_into_the_rest_of_a_device_that_is_nearly_full)
{
    struct tg_graph *graph = graph_on(true);
    struct tg_error error = {TG_OK, ""};
    struct tg_args args;
    uint64_t tasks = 0;
    fake.used = FAKE_BYTES - 6000; /* less than a chunk */
    tg_args_init(&args);
    tg_args_f32(&args, 0.5f);
    while (tg_graph_add(graph, VEC, &args, NULL, &error) == TG_OK)
        tasks++;
    CHECK(tasks > 100);
    CHECK_EQ_I(tg_graph_add(graph, VEC, &args, NULL, &error), TG_NO_MEMORY);
    CHECK_EQ_U(tg_graph_tasks(graph), tasks); /* unchanged */
    tg_graph_destroy(graph);
}

TEST(arguments_that_a_kernel_has_overwritten_are_refused_or_valid)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        struct tg_graph *graph = graph_on(mapped);
        uint64_t random = 1;
        for (uint64_t i = 0; i < TASKS; i++)
            add_task(graph, i);
        REQUIRE(tg_graph_upload(graph, NULL) == TG_OK);
        for (uint64_t at = FAKE_CONTROL; at < FAKE_BYTES; at++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            if (random >> 62 == 0)
                fake.memory[at] = (char)(random >> 40);
        }
        for (uint64_t i = 0; i < TASKS; i++) {
            struct tg_tensor tensor[TG_MAX_TENSORS];
            struct tg_task_desc desc = tg_graph_desc(graph, i);
            if (tg_graph_tensors(graph, &desc, tensor))
                for (uint32_t k = 0; k < 3; k++)
                    CHECK(tg_tensor_valid(&tensor[k]));
        }
        tg_graph_destroy(graph);
    }
}

TEST_MAIN()
