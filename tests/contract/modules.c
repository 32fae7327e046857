/* SPDX-License-Identifier: Apache-2.0 */
/* Loading modules: which ones are refused, and that loaded ones are kept apart. */
#define _GNU_SOURCE 1
#include "nodes.h"
#include <unistd.h>

CONTRACT(a_file_that_is_not_there_is_not_found)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = NULL;
    REFUSED(NOT_FOUND, "/nowhere/none.so",
            tg_device_load(device, "/nowhere/none.so", &module, error));
    REFUSED(NOT_FOUND, "No such file", tg_device_load(device, "", &module, error));
    CHECK(module == NULL);
    tg_device_close(device);
}

CONTRACT(a_file_that_is_no_shared_object_is_refused)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = NULL;
    REFUSED(NOT_FOUND, "/etc/passwd", tg_device_load(device, "/etc/passwd", &module, error));
    REFUSED(NOT_FOUND, "/tmp", tg_device_load(device, "/tmp", &module, error));
    CHECK(module == NULL);
    tg_device_close(device);
}

CONTRACT(a_shared_object_that_is_no_workload_is_refused)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = NULL;
    REFUSED(BAD_ARGUMENT, "tg_workload",
            tg_device_load(device, workload_path("broken/no_workload"), &module, error));
    CHECK(module == NULL);
    tg_device_close(device);
}

CONTRACT(a_module_of_another_abi_is_refused)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = NULL;
    REFUSED(ABI_MISMATCH, "other_abi",
            tg_device_load(device, workload_path("broken/other_abi"), &module, error));
    CHECK(module == NULL);
    tg_device_close(device);
}

CONTRACT(the_device_works_on_after_a_load_that_failed)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_module *module = NULL;
    CHECK(tg_device_load(device, "/etc/passwd", &module, NULL) != TG_OK);
    CHECK(tg_device_load(device, workload_path("broken/other_abi"), &module, NULL) != TG_OK);
    struct nodes nodes = nodes_make(device, 4);
    nodes_add(&nodes, MASK_AIV, 0, 0);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(the_same_path_gives_the_same_module)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *first = load_module(device, "graphs");
    CHECK(load_module(device, "graphs") == first);
    CHECK(load_module(device, "../workloads/./graphs") == first);
    tg_device_close(device);
}

CONTRACT(a_symbolic_link_gives_the_module_it_leads_to)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *first = load_module(device, "graphs"), *second = NULL;
    char folder[] = "/tmp/tg-contract-XXXXXX", link[64];
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(link, sizeof link, "%s/g.so", folder);
    CHECK_EQ_I(symlink(workload_path("graphs"), link), 0);
    GOOD(tg_device_load(device, link, &second, error));
    unlink(link);
    rmdir(folder);
    CHECK(second == first);
    tg_device_close(device);
}

CONTRACT(kernels_are_found_by_their_own_names_only)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_module *module = load_module(device, "graphs");
    CHECK_EQ_U(tg_module_kernel(module, "node_aic_0"), NODE_AIC);
    CHECK_EQ_U(tg_module_kernel(module, "node_aiv_4"), NODE_AIV + 4);
    CHECK_EQ_U(tg_module_kernel(module, "node"), TG_NO_KERNEL);
    CHECK_EQ_U(tg_module_kernel(module, ""), TG_NO_KERNEL);
    tg_device_close(device);
}

/* Each module's kernels have their own numbers on the device, so those of the second module are not
 * those of the first. */
CONTRACT(a_graph_runs_the_kernels_of_its_own_module)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_module *slow = load_module(device, "slow");
    struct nodes nodes = nodes_make(device, 100);
    struct tg_graph *other;
    struct tg_args args;
    int64_t one = 1;
    int32_t runs = 0;
    uint64_t address = alloc_device(device, 4), random = 1;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(address, TG_INT32, 1, &one));
    tg_args_i64(&args, 0);
    GOOD(tg_graph_create(slow, &other, error));
    GOOD(tg_graph_add(other, tg_module_kernel(slow, "slow_wait"), &args, NULL, error));
    nodes_add_random(&nodes, 100, 3, true, &random);
    GOOD(tg_device_copy_in(device, address, &runs, 4, error));
    for (uint64_t i = 1; i <= 5; i++) {
        nodes_run(&nodes, i);
        GOOD(tg_graph_run(other, NULL, NULL, error));
    }
    GOOD(tg_device_copy_out(device, &runs, address, 4, error));
    CHECK_EQ_I(runs, 5);
    tg_graph_destroy(other);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(devices_load_the_same_module_independently)
{
    struct tg_device *first = open_device(2, 0), *second = open_device(3, 1);
    struct nodes a = nodes_make(first, 50), b = nodes_make(second, 50);
    uint64_t random = 2;
    nodes_add_random(&a, 50, 3, true, &random);
    nodes_add_random(&b, 50, 3, true, &random);
    nodes_run(&a, 1);
    nodes_run(&b, 1);
    nodes_destroy(&a);
    tg_device_close(first);
    nodes_run(&b, 2);
    nodes_destroy(&b);
    tg_device_close(second);
}

TEST_MAIN()
