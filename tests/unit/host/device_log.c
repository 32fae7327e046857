/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a device-built graph, with a writer of scope stats whose answers the test sets. */
#include "host/device_log.h"
#include "base/error.h"
#include "unit/host/graph_fake.h"

/* ── a fake writer; the linker takes it instead of scope_writer.c ──────────────────────── */

static tg_status answer;
static int creates;

tg_status tg_scope_writer_create(const char *output_dir, const struct tg_scope_limits *limits,
                                 struct tg_scope_writer **writer, struct tg_error *error)
{
    (void)output_dir, (void)limits;
    creates++;
    *writer = NULL;
    return tg_error_set(error, answer, "the fake writer refuses");
}

bool tg_scope_writer_site(struct tg_scope_writer *writer, const char *site, uint32_t *number)
{
    (void)writer, (void)site;
    *number = 0;
    return true;
}

void tg_scope_writer_add_at(struct tg_scope_writer *writer, uint32_t number,
                            const struct tg_scope_sample *sample)
{
    (void)writer, (void)number, (void)sample;
}

void tg_scope_writer_flush(struct tg_scope_writer *writer)
{
    (void)writer;
}

tg_status tg_scope_writer_finish(struct tg_scope_writer *writer, uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error)
{
    (void)writer, (void)dropped, (void)total, (void)fatal, (void)error;
    return TG_OK;
}

void tg_scope_writer_destroy(struct tg_scope_writer *writer)
{
    (void)writer;
}

/* ── tests ─────────────────────────────────────────────────────────────────────────────── */

static void never_called(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt, (void)args;
}

static struct tg_graph *device_built(void)
{
    static const struct tg_workload built = {
        .kernels = fake_kernel_defs, .n_kernels = 3, .orchestrate = never_called};
    struct tg_rings rings = {.task_window = {4, 4, 4, 4},
                             .heap = {256, 256, 256, 256},
                             .dep_pool = {4, 4, 4, 4},
                             .tensormap = 4};
    struct tg_graph *graph = NULL;
    struct tg_args args;
    tg_args_init(&args);
    tg_graph_destroy(fake_graph());
    fake_module.workload = &built;
    REQUIRE(tg_graph_orchestrate(&fake_module, TG_RUNTIME_AICPU_BUILD_GRAPH, &args, &rings, &graph,
                                 NULL) == TG_OK);
    return graph;
}

TEST(scope_stats_that_cannot_be_written_end_the_start_with_the_writers_error)
{
    static const tg_status answers[] = {TG_NO_MEMORY, TG_IO_ERROR};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct tg_graph *graph = device_built();
        struct tg_device_log *log = NULL;
        struct tg_error error = {TG_OK, ""};
        answer = answers[i];
        creates = 0;
        CHECK_EQ_I(tg_device_log_start(graph, false, "folder", &log, &error), answer);
        CHECK(log == NULL);
        CHECK_EQ_I(creates, 1);
        CHECK_EQ_S(error.text, "the fake writer refuses");
        tg_graph_destroy(graph);
    }
}

TEST_MAIN()
