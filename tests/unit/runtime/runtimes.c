/* SPDX-License-Identifier: Apache-2.0 */
/* The table of runtimes and what each object says. */
#include "host/runtime_ops.h"
#include "test.h"

static const struct tg_runtime_ops *number(enum tg_runtime_kind kind)
{
    const struct tg_runtime_ops *ops = tg_runtime_number(kind);
    REQUIRE(ops != NULL);
    return ops;
}

TEST(a_runtime_has_the_number_of_its_name)
{
    CHECK_EQ_S(number(TG_RUNTIME_HOST_BUILD_GRAPH)->name, "host_build_graph");
    CHECK_EQ_S(number(TG_RUNTIME_AICPU_BUILD_GRAPH)->name, "aicpu_build_graph");
    CHECK_EQ_S(number(TG_RUNTIME_TENSORMAP_AND_RINGBUFFER)->name, "tensormap_and_ringbuffer");
}

TEST(every_runtime_is_complete)
{
    const struct tg_runtime_ops *ops;
    uint32_t n = 0;
    for (; (ops = tg_runtime_number(n)) != NULL; n++) {
        CHECK(ops->name != NULL && *ops->name != '\0');
        CHECK(ops->summary != NULL && *ops->summary != '\0');
        CHECK(ops->build != NULL);
        CHECK(ops->n_rings <= TG_RINGS);
        if (ops->n_rings == 0) /* the host builds the graph: there is no orchestrator to tell */
            CHECK(!ops->finds_edges && !ops->scopes_own_slots);
    }
    CHECK(n >= 3);
    CHECK(tg_runtime_number(n) == NULL);
    CHECK(tg_runtime_number(UINT32_MAX) == NULL);
}

TEST(a_number_that_no_runtime_has_is_refused)
{
    struct tg_graph *graph = NULL;
    struct tg_error error = {TG_OK, ""};
    struct tg_args args;
    tg_args_init(&args);
    CHECK_EQ_I(tg_graph_orchestrate(NULL, (enum tg_runtime_kind)99, &args, NULL, &graph, &error),
               TG_BAD_ARGUMENT);
    CHECK_EQ_S(error.text, "there is no runtime number 99");
    CHECK(graph == NULL);
}

TEST_MAIN()
