/* SPDX-License-Identifier: Apache-2.0 */
/* Building graphs: every mistake is refused where it is made, and leaves the graph as it was. */
#include "nodes.h"

struct fixture {
    struct nodes nodes;
    struct tg_args args; /* arguments of a good node_aiv_0 */
    uint32_t kernel;
};

static struct fixture fixture_make(void)
{
    struct fixture f;
    f.nodes = nodes_make(open_device(3, 0), 16);
    f.kernel = f.nodes.kernel[TG_AIV][0];
    tg_args_init(&f.args);
    tg_args_inout(&f.args, nodes_vector(f.nodes.count, 0, 3, 48));
    tg_args_out(&f.args, nodes_vector(f.nodes.partial, 0, 3, 48));
    tg_args_out(&f.args, nodes_vector(f.nodes.value, 0, 1, 16));
    tg_args_i64(&f.args, 0);
    tg_args_i64(&f.args, MASK_AIV);
    return f;
}

/* Checks that the graph is still what it was: one good node, and it runs. */
static void fixture_end(struct fixture *f)
{
    struct tg_device *device = f->nodes.device;
    CHECK_EQ_U(tg_graph_tasks(f->nodes.graph), 0);
    CHECK_EQ_U(tg_graph_edges(f->nodes.graph), 0);
    nodes_add(&f->nodes, MASK_AIV, 0, 0);
    nodes_add(&f->nodes, MASK_AIC, 0, 1);
    nodes_run(&f->nodes, 1);
    nodes_destroy(&f->nodes);
    tg_device_close(device);
}

#define REFUSED_ADD(part, f)                                                                 \
    do {                                                                                     \
        uint64_t refused_task = 12345;                                                       \
        REFUSED(BAD_ARGUMENT, part,                                                          \
                tg_graph_add((f).nodes.graph, (f).kernel, &(f).args, &refused_task, error)); \
        CHECK_EQ_U(refused_task, 12345);                                                     \
    } while (0)

CONTRACT(a_kernel_that_is_not_there_is_refused_with_how_many_there_are)
{
    struct fixture f = fixture_make();
    f.kernel = GRAPHS_KERNELS;
    REFUSED_ADD("no kernel 15; the module has 15", f);
    f.kernel = TG_NO_KERNEL;
    REFUSED_ADD("kernel", f);
    fixture_end(&f);
}

CONTRACT(a_task_without_arguments_is_refused_where_the_kernel_wants_some)
{
    struct fixture f = fixture_make();
    REFUSED(BAD_ARGUMENT, "node_aiv_0", tg_graph_add(f.nodes.graph, f.kernel, NULL, NULL, error));
    tg_args_init(&f.args);
    REFUSED_ADD("wants 3 tensors and 2 scalars, got 0 and 0", f);
    fixture_end(&f);
}

CONTRACT(a_tensor_too_many_or_too_few_is_refused)
{
    struct fixture f = fixture_make();
    tg_args_in(&f.args, f.args.tensor[2]);
    REFUSED_ADD("wants 3 tensors and 2 scalars, got 4 and 2", f);
    f.args.n_tensors = 2;
    REFUSED_ADD("wants 3 tensors and 2 scalars, got 2 and 2", f);
    fixture_end(&f);
}

CONTRACT(a_scalar_too_many_or_too_few_is_refused)
{
    struct fixture f = fixture_make();
    tg_args_i64(&f.args, 1);
    REFUSED_ADD("got 3 and 3", f);
    f.args.n_scalars = 1;
    REFUSED_ADD("got 3 and 1", f);
    fixture_end(&f);
}

CONTRACT(a_role_the_kernel_does_not_want_is_refused_with_both)
{
    struct fixture f = fixture_make();
    f.args.role[1] = TG_IN;
    REFUSED_ADD("argument 1: the kernel wants out:uint64, got in:uint64", f);
    f.args.role[1] = 0;
    REFUSED_ADD("argument 1", f);
    f.args.role[1] = 200;
    REFUSED_ADD("argument 1", f);
    fixture_end(&f);
}

CONTRACT(a_type_the_kernel_does_not_want_is_refused_with_both)
{
    struct fixture f = fixture_make();
    f.args.tensor[2].dtype = TG_INT64;
    REFUSED_ADD("argument 2: the kernel wants out:uint64, got out:int64", f);
    f.args.tensor[2].dtype = TG_UINT64;
    f.args.scalar[1].dtype = TG_FLOAT64;
    REFUSED_ADD("argument 4: the kernel wants scalar:int64, got scalar:float64", f);
    fixture_end(&f);
}

CONTRACT(a_tensor_that_is_none_is_refused)
{
    struct fixture f = fixture_make();
    f.args.tensor[2] = tg_tensor_none();
    REFUSED_ADD("argument 2", f);
    f.args.tensor[2] = tg_tensor_index(f.args.tensor[1], 0, 99);
    REFUSED_ADD("argument 2", f);
    fixture_end(&f);
}

CONTRACT(a_view_that_leaves_its_storage_is_refused)
{
    struct fixture f = fixture_make();
    struct tg_tensor good = f.args.tensor[2];
    f.args.tensor[2].start += 16;
    REFUSED_ADD("exceeds its storage", f);
    f.args.tensor[2] = good;
    f.args.tensor[2].start = -1;
    REFUSED_ADD("exceeds its storage", f);
    f.args.tensor[2] = good;
    f.args.tensor[2].shape[0] = INT64_MAX;
    REFUSED_ADD("exceeds its storage", f);
    f.args.tensor[2] = good;
    f.args.tensor[2].ndim = 9;
    REFUSED_ADD("argument 2", f);
    fixture_end(&f);
}

CONTRACT(storage_that_wraps_around_the_address_space_is_refused)
{
    struct fixture f = fixture_make();
    f.args.tensor[2].addr = UINT64_MAX - 7;
    REFUSED_ADD("argument 2", f);
    fixture_end(&f);
}

CONTRACT(an_output_that_is_a_broadcast_is_refused)
{
    struct fixture f = fixture_make();
    f.args.tensor[2] = nodes_vector(f.nodes.value, 0, 4, 16);
    f.args.tensor[2].strides[0] = 0;
    REFUSED_ADD("argument 2", f);
    f.args.tensor[2].shape[0] = 1; /* with one element the stride is never used */
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(more_arguments_than_there_is_room_for_are_refused)
{
    struct fixture f = fixture_make();
    for (int i = 0; i < TG_MAX_TENSORS; i++)
        tg_args_in(&f.args, f.args.tensor[2]);
    REFUSED_ADD("more than 16 tensors", f);
    fixture_end(&f);
}

CONTRACT(counts_that_cannot_be_are_refused)
{
    struct fixture f = fixture_make();
    struct tg_args good = f.args;
    f.args.n_tensors = 255;
    REFUSED_ADD("", f);
    f.args = good;
    f.args.n_scalars = 255;
    REFUSED_ADD("", f);
    f.args = good;
    f.args.n_after = 255;
    REFUSED_ADD("", f);
    fixture_end(&f);
}

/* What lies on a stack by chance. */
CONTRACT(arguments_that_were_not_initialised_are_refused)
{
    struct fixture f = fixture_make();
    f.args.ready = 0x5581u;
    REFUSED_ADD("task 0 (node_aiv_0): the arguments were not initialised; call tg_args_init", f);
    fixture_end(&f);
}

CONTRACT(arguments_that_were_initialised_with_zeros_are_good)
{
    struct fixture f = fixture_make();
    struct tg_args zeros = {0};
    for (uint32_t i = 0; i < f.args.n_tensors; i++)
        tg_args_tensor(&zeros, (enum tg_role)f.args.role[i], f.args.tensor[i]);
    for (uint32_t i = 0; i < f.args.n_scalars; i++)
        tg_args_bits(&zeros, f.args.scalar[i].dtype, f.args.scalar[i].bits);
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &zeros, NULL, error));
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(more_single_predecessors_than_there_is_room_for_are_refused_with_the_way_out)
{
    struct fixture f = fixture_make();
    for (int i = 0; i <= TG_MAX_INLINE_AFTER; i++)
        tg_args_after(&f.args, 0);
    REFUSED_ADD("tg_args_after_all", f);
    fixture_end(&f);
}

CONTRACT(a_predecessor_that_is_not_there_yet_is_refused)
{
    struct fixture f = fixture_make();
    const uint64_t wrong[] = {0, 1, 12345, (uint64_t)1 << 32, UINT64_MAX - 1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        f.args.n_after = 0;
        tg_args_after(&f.args, wrong[i]);
        REFUSED_ADD("does not exist yet", f);
        f.args.n_after = 0;
        tg_args_after_all(&f.args, &wrong[i], 1);
        REFUSED_ADD("does not exist yet", f);
        f.args.n_more_after = 0;
    }
    fixture_end(&f);
}

CONTRACT(no_predecessor_is_allowed_as_a_predecessor)
{
    struct fixture f = fixture_make();
    tg_args_after(&f.args, TG_TASK_NONE);
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    CHECK_EQ_U(tg_graph_edges(f.nodes.graph), 0);
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(an_edge_to_or_from_no_task_is_refused)
{
    struct fixture f = fixture_make();
    REFUSED(BAD_ARGUMENT, "0 tasks", tg_graph_add_edge(f.nodes.graph, 0, 1, error));
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    REFUSED(BAD_ARGUMENT, "1 tasks", tg_graph_add_edge(f.nodes.graph, 0, 1, error));
    REFUSED(BAD_ARGUMENT, "1 tasks", tg_graph_add_edge(f.nodes.graph, 1, 0, error));
    REFUSED(BAD_ARGUMENT, "1 tasks", tg_graph_add_edge(f.nodes.graph, (uint64_t)1 << 32, 0, error));
    REFUSED(BAD_ARGUMENT, "1 tasks", tg_graph_add_edge(f.nodes.graph, TG_TASK_NONE, 0, error));
    REFUSED(BAD_ARGUMENT, "to itself", tg_graph_add_edge(f.nodes.graph, 0, 0, error));
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(a_mix_with_a_kernel_of_the_wrong_kind_is_refused_with_the_part)
{
    struct fixture f = fixture_make();
    uint32_t aic = f.nodes.kernel[TG_AIC][0], aiv = f.nodes.kernel[TG_AIV][0];
    const struct {
        uint32_t kernel[TG_PARTS];
        const char *part;
    } wrong[] = {{{aiv, aiv, TG_NO_KERNEL}, "AIC"},
                 {{aic, aic, TG_NO_KERNEL}, "AIV0"},
                 {{aic, aiv, aic}, "AIV1"},
                 {{aic, aiv, GRAPHS_KERNELS}, "no kernel 15"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSED(BAD_ARGUMENT, wrong[i].part,
                tg_graph_add_mix(f.nodes.graph, wrong[i].kernel, &f.args, NULL, error));
    fixture_end(&f);
}

CONTRACT(a_mix_of_no_kernel_is_refused)
{
    struct fixture f = fixture_make();
    const uint32_t none[TG_PARTS] = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL};
    REFUSED(BAD_ARGUMENT, "kernel", tg_graph_add_mix(f.nodes.graph, none, &f.args, NULL, error));
    fixture_end(&f);
}

CONTRACT(a_tensor_outside_device_memory_is_refused_before_launch)
{
    struct fixture f = fixture_make();
    uint64_t here = 0;
    struct tg_run *run = NULL;
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    f.args.tensor[2].addr = (uint64_t)(uintptr_t)&here;
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    REFUSED(BAD_ARGUMENT, "task 1 (node_aiv_0) argument 2 is not in device memory",
            tg_graph_upload(f.nodes.graph, error));
    REFUSED(BAD_ARGUMENT, "not in device memory", tg_graph_upload(f.nodes.graph, error));
    REFUSED(BAD_ARGUMENT, "not in device memory", tg_run_start(f.nodes.graph, NULL, &run, error));
    CHECK(run == NULL);
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(a_tensor_in_the_devices_own_control_area_is_refused_before_launch)
{
    struct fixture f = fixture_make();
    f.args.tensor[2].addr = control_of(f.nodes.device);
    GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    REFUSED(BAD_ARGUMENT, "not in device memory", tg_graph_upload(f.nodes.graph, error));
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(a_refused_task_leaves_nothing_behind)
{
    struct fixture f = fixture_make();
    uint64_t here = 0;
    struct tg_args wrong = f.args;
    wrong.tensor[2].addr = (uint64_t)(uintptr_t)&here; /* would be refused at upload */
    tg_args_after(&wrong, 77);                         /* is refused now */
    REFUSED(BAD_ARGUMENT, "does not exist yet",
            tg_graph_add(f.nodes.graph, f.kernel, &wrong, NULL, error));
    fixture_end(&f);
}

CONTRACT(a_cycle_is_refused_before_launch_by_name)
{
    struct fixture f = fixture_make();
    struct tg_run *run = NULL;
    for (int i = 0; i < 3; i++)
        GOOD(tg_graph_add(f.nodes.graph, f.kernel, &f.args, NULL, error));
    GOOD(tg_graph_add_edge(f.nodes.graph, 0, 1, error));
    GOOD(tg_graph_add_edge(f.nodes.graph, 1, 2, error));
    GOOD(tg_graph_add_edge(f.nodes.graph, 2, 1, error));
    REFUSED(CYCLE, "2 tasks", tg_graph_check(f.nodes.graph, error));
    REFUSED(CYCLE, "1 (node_aiv_0) → 2 (node_aiv_0)",
            tg_run_start(f.nodes.graph, NULL, &run, error));
    CHECK(run == NULL);
    tg_graph_clear(f.nodes.graph);
    fixture_end(&f);
}

CONTRACT(a_graph_that_does_not_fit_is_refused_before_launch)
{
    struct tg_device_config config = device_config(3, 0);
    struct tg_device *device;
    config.memory = 17 << 18; /* room for the nodes and a small graph */
    GOOD(tg_device_open(&config, &device, error));
    struct nodes nodes = nodes_make(device, 20000);
    for (int i = 0; i < 20000; i++)
        nodes_add(&nodes, MASK_AIV, 0, 0);
    REFUSED(NO_MEMORY, "--device-memory", tg_graph_run(nodes.graph, NULL, NULL, error));
    nodes_clear(&nodes);
    for (int i = 0; i < 1000; i++)
        nodes_add(&nodes, MASK_AIV, 0, 0);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(tasks_and_edges_are_counted)
{
    struct fixture f = fixture_make();
    struct nodes *nodes = &f.nodes;
    nodes_add(nodes, MASK_AIV, 0, 0);
    nodes_add(nodes, MASK_AIV, 0, 1);
    nodes_add(nodes, WHOLE_BLOCK, 0, 2);
    GOOD(tg_graph_add_edge(nodes->graph, 0, 2, error));
    CHECK_EQ_U(tg_graph_tasks(nodes->graph), 3);
    CHECK_EQ_U(tg_graph_edges(nodes->graph), 4);
    nodes_run(nodes, 1);
    nodes_clear(nodes);
    fixture_end(&f);
}

CONTRACT(reserving_is_only_a_hint)
{
    struct fixture f = fixture_make();
    CHECK_EQ_I(tg_graph_reserve(f.nodes.graph, 100000, 0), TG_OK);
    CHECK_EQ_I(tg_graph_reserve(f.nodes.graph, 0, 100000), TG_OK);
    CHECK_EQ_I(tg_graph_reserve(f.nodes.graph, (uint64_t)1 << 40, 0), TG_NO_MEMORY);
    CHECK_EQ_I(tg_graph_reserve(f.nodes.graph, 0, UINT64_MAX), TG_NO_MEMORY);
    fixture_end(&f);
}

TEST_MAIN()
