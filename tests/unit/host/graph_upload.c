/* SPDX-License-Identifier: Apache-2.0 */
/* The image that the device gets: edges, ready tasks, and their order. */
#include "common/stored_args.h"
#include "unit/host/graph_fake.h"

static const struct tg_launch *uploaded(struct tg_graph *graph)
{
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(tg_graph_upload(graph, &error), TG_OK);
    CHECK_EQ_S(error.text, "");
    return (const struct tg_launch *)(void *)fake_at(graph->image, sizeof(struct tg_launch));
}

static const struct tg_task_desc *descs(const struct tg_launch *launch)
{
    return (const struct tg_task_desc *)(void *)fake_at(launch->desc, launch->n_tasks * 64);
}

static const uint32_t *words(uint64_t address, uint64_t n)
{
    return (const uint32_t *)(void *)fake_at(address, 4 * n);
}

TEST(an_empty_graph_has_an_image)
{
    struct tg_graph *graph = fake_graph();
    const struct tg_launch *launch = uploaded(graph);
    CHECK(launch->magic == TG_LAUNCH_MAGIC);
    CHECK_EQ_U(launch->n_tasks, 0);
    for (int c = 0; c < TG_CLASSES; c++)
        CHECK_EQ_U(launch->n_ready[c], 0);
    tg_graph_destroy(graph);
}

TEST(successors_keep_the_order_their_edges_were_added_in)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 6);
    fake_edge(graph, 0, 5);
    fake_edge(graph, 1, 4);
    fake_edge(graph, 0, 2);
    fake_edge(graph, 0, 3);
    fake_edge(graph, 1, 2);
    fake_edge(graph, 0, 2); /* an edge given twice is kept twice */
    const struct tg_launch *launch = uploaded(graph);
    const struct tg_task_desc *desc = descs(launch);
    const uint32_t *succ = words(launch->succ, 6);
    const uint32_t first[] = {5, 2, 3, 2}, second[] = {4, 2};
    CHECK_EQ_U(desc[0].n_succ, 4);
    CHECK_EQ_U(desc[1].n_succ, 2);
    CHECK_EQ_MEM(succ + desc[0].succ, first, sizeof first);
    CHECK_EQ_MEM(succ + desc[1].succ, second, sizeof second);
    tg_graph_destroy(graph);
}

TEST(a_task_waits_for_as_many_edges_as_lead_to_it)
{
    struct tg_graph *graph = fake_graph();
    struct tg_args args;
    const uint64_t all[] = {0, 1, 1};
    fake_add(graph, VEC, 2);
    tg_args_init(&args);
    tg_args_after(&args, 1);
    tg_args_after_all(&args, all, 3);
    CHECK_EQ_I(tg_graph_add(graph, VEC, &args, NULL, NULL), TG_OK);
    fake_edge(graph, 0, 2);
    const struct tg_task_desc *desc = descs(uploaded(graph));
    CHECK_EQ_U(desc[2].fanin, 5);
    CHECK_EQ_U(desc[2].pending, 5);
    CHECK_EQ_U(desc[0].fanin, 0);
    tg_graph_destroy(graph);
}

TEST(tasks_with_nothing_to_wait_for_are_ready_in_their_order_by_class)
{
    struct tg_graph *graph = fake_graph();
    const uint32_t mix[] = {MAT, VEC, TG_NO_KERNEL};
    fake_add(graph, VEC, 1);                                           /* 0 */
    fake_add(graph, MAT, 2);                                           /* 1, 2 */
    CHECK_EQ_I(tg_graph_add_mix(graph, mix, NULL, NULL, NULL), TG_OK); /* 3 */
    fake_add(graph, ADD, 2);                                           /* 4, 5 */
    fake_edge(graph, 0, 4);
    fake_edge(graph, 5, 1);
    const struct tg_launch *launch = uploaded(graph);
    CHECK_EQ_U(launch->n_ready[TG_CLASS_AIC], 1);
    CHECK_EQ_U(launch->n_ready[TG_CLASS_AIV], 2);
    CHECK_EQ_U(launch->n_ready[TG_CLASS_MIX], 1);
    CHECK_EQ_U(words(launch->ready[TG_CLASS_AIC], 1)[0], 2 + 1);
    CHECK_EQ_U(words(launch->ready[TG_CLASS_AIV], 2)[0], 0 + 1);
    CHECK_EQ_U(words(launch->ready[TG_CLASS_AIV], 2)[1], 5 + 1);
    CHECK_EQ_U(words(launch->ready[TG_CLASS_MIX], 1)[0], 3 + 1);
    tg_graph_destroy(graph);
}

/* A grid, where each task waits for those of its own column and of the columns beside it. */
TEST(each_column_of_a_grid_has_heirs_of_its_own)
{
    enum { WIDTH = 5, STEPS = 4 };
    struct tg_graph *graph = fake_graph();
    fake_ops.cores_wait_at_tasks = true;
    fake_add(graph, VEC, WIDTH * STEPS);
    for (uint64_t t = WIDTH; t < WIDTH * STEPS; t++)
        for (uint64_t x = t % WIDTH - (t % WIDTH > 0); x <= t % WIDTH + 1 && x < WIDTH; x++)
            fake_edge(graph, (t / WIDTH - 1) * WIDTH + x, t);
    const struct tg_launch *launch = uploaded(graph);
    for (uint32_t t = 0; t < WIDTH * (STEPS - 1); t++)
        CHECK_EQ_U(descs(launch)[t].next, t + WIDTH);
    CHECK(launch->queue_size[TG_CLASS_AIV] >= 1024); /* room for a line */
    fake_ops.cores_wait_at_tasks = false;
    tg_graph_destroy(graph);
}

/* Tasks meet in one, another follows it, and behind that they part again. */
TEST(where_tasks_meet_in_one_their_cores_wait_where_they_part)
{
    enum { WIDTH = 4, STEPS = 3, STEP = WIDTH + 2 };
    struct tg_graph *graph = fake_graph();
    const struct tg_task_desc *desc;
    fake_ops.cores_wait_at_tasks = true;
    fake_add(graph, VEC, STEP * STEPS);
    for (uint64_t first = 0; first < STEP * STEPS; first += STEP) {
        for (uint64_t k = 1; k <= WIDTH; k++) {
            fake_edge(graph, first, first + k);
            fake_edge(graph, first + k, first + STEP - 1);
        }
        if (first > 0)
            fake_edge(graph, first - 1, first);
    }
    desc = descs(uploaded(graph));
    for (uint32_t t = 0; t < STEP * STEPS; t++) {
        uint32_t place = t % STEP;
        bool waits = place > 1 && place <= WIDTH;
        CHECK_EQ_U(desc[t].n_parts & TG_DESC_PARTS, 1);
        CHECK(((desc[t].n_parts & TG_DESC_BEYOND) != 0) == (waits && t < STEP * (STEPS - 1)));
        CHECK(((desc[t].n_parts & TG_DESC_AWAITED) != 0) == (waits && t >= STEP));
        if (desc[t].n_parts & TG_DESC_BEYOND)
            CHECK_EQ_U(desc[t].next, t + STEP);
        else if (place <= 1)
            CHECK_EQ_U(desc[t].next, place == 0 ? t + 1 : t + STEP - 2);
    }
    fake_ops.cores_wait_at_tasks = false;
    tg_graph_destroy(graph);
}

TEST(an_heir_beyond_has_the_same_class_and_its_descriptor_is_still_to_be_made)
{
    struct tg_graph *graph = fake_graph();
    const struct tg_task_desc *desc;
    fake_ops.cores_wait_at_tasks = true;
    fake_add(graph, VEC, 1); /* 0: comes last */
    fake_add(graph, VEC, 3); /* 1 and 2 meet in 3 */
    fake_add(graph, MAT, 2); /* 4, 5 */
    fake_edge(graph, 1, 3);
    fake_edge(graph, 2, 3);
    fake_edge(graph, 3, 4);
    fake_edge(graph, 3, 5);
    fake_edge(graph, 3, 0);
    desc = descs(uploaded(graph));
    CHECK_EQ_U(desc[1].next, 3);
    CHECK_EQ_U(desc[2].next, 3);
    for (uint32_t t = 0; t < 6; t++)
        CHECK_EQ_U(desc[t].n_parts, 1);
    fake_ops.cores_wait_at_tasks = false;
    tg_graph_destroy(graph);
}

TEST(claims_are_not_taken_for_predecessors)
{
    struct tg_graph *graph = fake_graph();
    uint32_t pending = 0;
    fake_add(graph, VEC, 3);
    fake_edge(graph, 0, 2);
    fake_edge(graph, 1, 2);
    struct tg_task_desc *desc = (struct tg_task_desc *)descs(uploaded(graph));
    CHECK(tg_graph_read_pending(graph, 2, &pending));
    CHECK_EQ_U(pending, 2);
    desc[2].pending = 3 << 16 | 1;
    CHECK(tg_graph_read_pending(graph, 2, &pending));
    CHECK_EQ_U(pending, 1);
    tg_graph_destroy(graph);
}

TEST(a_class_fits_its_queue_whose_size_is_a_power_of_two)
{
    const uint64_t counts[] = {0, 1, 2, 3, 4, 5, 1000, 1024, 1025};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct tg_graph *graph = fake_graph();
        fake_add(graph, VEC, counts[i]);
        const struct tg_launch *launch = uploaded(graph);
        uint32_t size = launch->queue_size[TG_CLASS_AIV];
        CHECK(size >= counts[i] && (size > 0) == (counts[i] > 0));
        CHECK_EQ_U(size & (size - 1), 0);
        CHECK(fake_at(launch->queue[TG_CLASS_AIV], 8 * (uint64_t)size) != NULL);
        tg_graph_destroy(graph);
    }
}

TEST(kernels_have_their_numbers_on_the_device_and_their_names_on_the_host)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, ADD, 1);
    const struct tg_task_desc *desc = descs(uploaded(graph));
    CHECK_EQ_U(desc[0].kernel[TG_PART_AIV0], 12);
    CHECK_EQ_U(desc[0].kernel[TG_PART_AIC], TG_NO_KERNEL);
    CHECK_EQ_S(tg_graph_kernel_name(graph, 12), "add");
    CHECK_EQ_S(tg_graph_kernel_name(graph, 13), "");
    CHECK_EQ_S(tg_graph_kernel_name(graph, 9), "");
    CHECK_EQ_S(tg_graph_kernel_name(graph, TG_NO_KERNEL), "");
    tg_graph_destroy(graph);
}

TEST(arguments_arrive_as_scalars_then_stored_tensors)
{
    struct tg_graph *graph = fake_graph();
    struct tg_args args;
    int64_t shape = 4;
    uint64_t address = FAKE_BASE + FAKE_CONTROL + 1024;
    for (uint64_t i = 0; i < 3; i++) { /* each payload starts where the last one ended */
        tg_args_init(&args);
        tg_args_i64(&args, -(int64_t)i);
        tg_args_in(&args, tg_tensor_make(address + 64 * i, TG_FLOAT32, 1, &shape));
        tg_args_f32(&args, 1.5f);
        tg_args_out(&args, tg_tensor_make(address + 512, TG_FLOAT32, 1, &shape));
        CHECK_EQ_I(tg_graph_add(graph, VEC, &args, NULL, NULL), TG_OK);
    }
    const struct tg_launch *launch = uploaded(graph);
    for (uint64_t i = 0; i < 3; i++) {
        const struct tg_task_desc *desc = &descs(launch)[i];
        const void *args = fake_at(launch->payload + desc->args, 2 * 32 + 2 * 16);
        const struct tg_scalar *scalar = tg_stored_scalars(args);
        struct tg_tensor tensor[2];
        tg_stored_get(tg_stored_tensor(args, 2, 0), &tensor[0]);
        tg_stored_get(tg_stored_tensor(args, 2, 1), &tensor[1]);
        CHECK_EQ_U(desc->n_tensors, 2);
        CHECK_EQ_U(desc->n_scalars, 2);
        CHECK_EQ_U(desc->roles, TG_IN | TG_OUT << 2);
        CHECK_EQ_U(tensor[0].addr, address + 64 * i);
        CHECK_EQ_U(tensor[1].addr, address + 512);
        CHECK_EQ_I((int64_t)scalar[0].bits, -(int64_t)i);
        CHECK_EQ_U(scalar[1].dtype, TG_FLOAT32);
    }
    tg_graph_destroy(graph);
}

TEST(a_graph_is_sent_again_only_after_a_change)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 3);
    uploaded(graph);
    memset(fake_at(graph->image, 64), 0x77, 64);
    CHECK_EQ_I(tg_graph_upload(graph, NULL), TG_OK);
    CHECK_EQ_U((unsigned char)*fake_at(graph->image, 1), 0x77); /* unchanged */
    fake_edge(graph, 0, 1);
    CHECK(uploaded(graph)->magic == TG_LAUNCH_MAGIC);
    tg_graph_destroy(graph);
}

TEST(a_graph_that_does_not_fit_is_refused_and_fits_again_when_it_is_smaller)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, FAKE_BYTES / 64);
    CHECK_EQ_I(tg_graph_upload(graph, NULL), TG_NO_MEMORY);
    tg_graph_clear(graph);
    fake_add(graph, VEC, 10);
    CHECK_EQ_U(uploaded(graph)->n_tasks, 10);
    tg_graph_destroy(graph);
}

TEST(successors_are_right_after_the_graph_was_sent_in_vain_and_has_grown)
{
    struct tg_graph *graph = fake_graph();
    const uint32_t of_0[] = {1, 2, 3}, of_2[] = {3};
    fake_add(graph, VEC, 3);
    fake_edge(graph, 0, 1);
    fake_edge(graph, 0, 2);
    fake.deaf = true;
    CHECK_EQ_I(tg_graph_upload(graph, NULL), TG_DEVICE_LOST);
    fake.deaf = false;
    uploaded(graph);
    fake_add(graph, VEC, 1);
    fake_edge(graph, 0, 3);
    fake_edge(graph, 2, 3);
    const struct tg_launch *launch = uploaded(graph);
    const struct tg_task_desc *desc = descs(launch);
    const uint32_t *succ = words(launch->succ, 4);
    CHECK_EQ_U(desc[0].n_succ, 3);
    CHECK_EQ_U(desc[1].n_succ, 0);
    CHECK_EQ_U(desc[2].n_succ, 1);
    CHECK_EQ_MEM(succ + desc[0].succ, of_0, sizeof of_0);
    CHECK_EQ_MEM(succ + desc[2].succ, of_2, sizeof of_2);
    CHECK_EQ_U(desc[2].next, 3);
    tg_graph_destroy(graph);
}

TEST(a_task_that_gets_an_edge_later_is_no_longer_ready)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 2);
    CHECK_EQ_U(uploaded(graph)->n_ready[TG_CLASS_AIV], 2);
    fake_edge(graph, 0, 1);
    fake_edge(graph, 0, 1);
    const struct tg_launch *launch = uploaded(graph);
    CHECK_EQ_U(launch->n_ready[TG_CLASS_AIV], 1);
    CHECK_EQ_U(*words(launch->ready[TG_CLASS_AIV], 1), 1);
    tg_graph_destroy(graph);
}

TEST(tasks_of_very_many_kinds_keep_their_own)
{
    enum { KINDS = 1000 };
    static char site[KINDS];
    struct tg_graph *graph = fake_graph();
    for (int i = 0; i < 2 * KINDS; i++) {
        CHECK_EQ_I(tg_graph_set_site(graph, &site[i % KINDS], NULL), TG_OK);
        fake_add(graph, i % 3 == 0 ? MAT : VEC, 1);
    }
    const struct tg_task_desc *desc = descs(uploaded(graph));
    for (int i = 0; i < 2 * KINDS; i++) {
        CHECK(tg_graph_site(graph, (uint64_t)i) == &site[i % KINDS]);
        CHECK_EQ_U(desc[i].kernel[TG_PART_AIC] != TG_NO_KERNEL, i % 3 == 0);
        CHECK_EQ_U(desc[i].task_class, i % 3 == 0 ? TG_CLASS_AIC : TG_CLASS_AIV);
    }
    tg_graph_destroy(graph);
}

TEST(scopes_are_kept_with_the_tasks_submitted_in_them)
{
    static const char outer[] = "a.c:1", inner[] = "a.c:2";
    struct tg_graph *graph = fake_graph();
    CHECK_EQ_I(tg_graph_set_site(graph, outer, NULL), TG_OK);
    fake_add(graph, VEC, 1);
    CHECK_EQ_I(tg_graph_set_site(graph, inner, NULL), TG_OK);
    fake_add(graph, VEC, 1);
    CHECK_EQ_I(tg_graph_set_site(graph, outer, NULL), TG_OK);
    fake_add(graph, VEC, 1);
    CHECK_EQ_S(tg_graph_site(graph, 0), outer);
    CHECK_EQ_S(tg_graph_site(graph, 1), inner);
    CHECK_EQ_S(tg_graph_site(graph, 2), outer);
    tg_graph_destroy(graph);
}

TEST_MAIN()
