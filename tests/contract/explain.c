/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanations of a run that hangs, through a view, as the thread that answers makes them. The device can write
 * anything into the lists of waiting tasks, so here the test does.
 */
#define _GNU_SOURCE 1
#include "host/explain.h"
#include "orchestrated.h"

/* Tasks 0 and 1 are good, 2 never returns, and 3 waits for it, in a scope of depth 2. */
struct hung {
    struct tg_device *device;
    struct orchestrated o;
    struct tg_run *run, *view;
    uint64_t ring;
};

static struct hung hung_make(enum tg_runtime_kind runtime)
{
    struct hung h = {.device = open_device(3, 0)};
    struct tg_rings rings = {.task_window = {16, 16, 16, 16}};
    if (device_pid(h.device) == 0)
        SKIP("the device has no process that could be ended");
    h.ring = runtime == TG_RUNTIME_TENSORMAP_AND_RINGBUFFER ? 2 : 0;
    h.o = orchestrated_make(h.device, runtime, (struct orchestration){RINGS_hang, 4, 1, 0}, &rings);
    GOOD(tg_run_start(h.o.graph, &far_limit, &h.run, error));
    REQUIRE((h.view = tg_run_view(h.run)) != NULL);
    do
        tg_run_view_look(h.view, true);
    while (h.view->result.finished < 2 || h.view->result.n_running == 0 ||
           h.view->report.state != TG_ORCHESTRATOR_RETURNED);
    return h;
}

static void hung_end(struct hung *h)
{
    tg_run_view_free(h->view);
    kill(device_pid(h->device), SIGKILL);
    CHECK_EQ_I(tg_run_wait(h->run, -1, NULL), TG_DEVICE_LOST);
    tg_run_destroy(h->run);
    orchestrated_destroy(&h->o);
    tg_device_close(h->device);
}

static struct tg_explanation *explain(struct hung *h)
{
    struct tg_explanation *e = calloc(1, sizeof *e);
    REQUIRE(e != NULL);
    tg_run_view_look(h->view, true);
    tg_run_explain(h->view, e);
    CHECK(e->looked && e->root[0] != '\0');
    CHECK(e->n_links <= TG_EXPLAIN_LINKS && e->n_cores == 1 && e->n_also <= TG_EXPLAIN_ALSO);
    return e;
}

CONTRACT(a_view_of_a_hung_run_explains_the_chain_to_its_root)
{
    EACH_RUNTIME(runtime)
    {
        struct hung h = hung_make(runtime);
        struct tg_explanation *e = explain(&h);
        CHECK_EQ_U(e->root_kind, TG_ROOT_KERNEL);
        REQUIRE(e->n_links == 2);
        CHECK_EQ_U(e->link[0].task, h.ring << 32 | 3);
        CHECK_EQ_U(e->link[1].task, h.ring << 32 | 2);
        CHECK_EQ_U(e->link[1].core, e->root_core);
        free(e);
        hung_end(&h);
    }
}

/* Writes one entry over all entries of the lists, and its number into the heads of all lists that are open. */
static void write_lists(struct hung *h, struct tg_dep dep, uint32_t head)
{
    const struct tg_graph_layout *layout = h->o.graph->layout;
    const struct tg_ring_layout *ring = layout->orchestration.ring;
    for (uint32_t i = 0; i < ring[0].n_deps && i < 64; i++)
        for (uint32_t r = 0; r < TG_RINGS; r++)
            if (i < ring[r].n_deps)
                GOOD(tg_device_copy_in(
                    h->device, layout->orchestration.deps + (ring[r].first_dep + i) * sizeof dep,
                    &dep, sizeof dep, error));
    for (uint32_t i = 0; i < layout->launch.n_tasks; i++) {
        uint64_t at = layout->launch.desc + i * sizeof(struct tg_task_desc) +
                      offsetof(struct tg_task_desc, succ);
        uint32_t succ;
        GOOD(tg_device_copy_out(h->device, &succ, at, sizeof succ, error));
        if (succ != TG_DEP_CLOSED)
            GOOD(tg_device_copy_in(h->device, at, &head, sizeof head, error));
    }
}

CONTRACT(lists_of_waiting_tasks_that_are_nonsense_end)
{
    static const struct {
        struct tg_dep dep;
        uint32_t head;
    } lies[] = {{{0, 0}, 0},
                {{1, 1}, 1},
                {{2, 0}, 1},
                {{3, 2}, 3},
                {{UINT32_MAX, 1}, 0},
                {{1, UINT32_MAX - 2}, 0},
                {{16, 5}, UINT32_MAX - 2}};
    EACH_RUNTIME(runtime)
    {
        struct hung h = hung_make(runtime);
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            write_lists(&h, lies[i].dep, lies[i].head);
            free(explain(&h));
        }
        hung_end(&h);
    }
}

/* Cursors and places that lie name tasks that are not there. */
CONTRACT(rings_that_are_nonsense_name_no_task_that_is_not_there)
{
    uint64_t random = 79;
    EACH_RUNTIME(runtime)
    {
        struct hung h = hung_make(runtime);
        const struct tg_graph_layout *layout = h.o.graph->layout;
        for (int i = 0; i < 50; i++) {
            struct tg_ring_cursors cursors[TG_RINGS];
            struct tg_task_place *places = calloc(layout->launch.n_tasks, sizeof *places);
            for (size_t k = 0; k < sizeof cursors / 8; k++)
                ((uint64_t *)cursors)[k] = next_random(&random) % (i % 2 ? UINT64_MAX : 20);
            for (uint32_t k = 0; k < layout->launch.n_tasks; k++)
                places[k].slot = (uint32_t)next_random(&random) % (i % 3 ? UINT32_MAX : 70);
            GOOD(tg_device_copy_in(
                h.device, h.o.graph->orchestration + offsetof(struct tg_orchestration, cursors),
                cursors, sizeof cursors, error));
            GOOD(tg_device_copy_in(h.device, layout->orchestration.places, places,
                                   layout->launch.n_tasks * sizeof *places, error));
            free(places);
            free(explain(&h));
        }
        hung_end(&h);
    }
}

TEST_MAIN()
