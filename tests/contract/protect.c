/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that kernels may only read, or not touch at all. */
#include "contract.h"

enum { PAGE = TG_PROTECTION_PAGE };

struct shielded {
    struct tg_device *device;
    struct tg_graph *graph;
    uint64_t page; /* the second of three */
};

/* A task that adds 1 to an int32 at the begin of a page. */
static struct shielded shielded_open(void)
{
    struct shielded s = {.device = open_device(3, 0)};
    struct tg_module *module = load_module(s.device, "faults");
    int64_t one = 1;
    struct tg_args args;
    s.page = (alloc_device(s.device, 4 * PAGE) + 2 * PAGE - 1) / PAGE * PAGE;
    zero_device(s.device, s.page, 4);
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(s.page, TG_INT32, 1, &one));
    GOOD(tg_graph_create(module, &s.graph, error));
    GOOD(tg_graph_add(s.graph, tg_module_kernel(module, "fault_none"), &args, NULL, error));
    return s;
}

static void shielded_close(struct shielded *s)
{
    tg_graph_destroy(s->graph);
    tg_device_close(s->device);
}

static tg_status protect(struct shielded *s, uint64_t address, uint64_t size, uint64_t access)
{
    struct tg_protection piece = {address, size, access};
    struct tg_error error;
    return platform->protect(s->device->state, &piece, 1, &error);
}

static int32_t value_of(struct shielded *s)
{
    int32_t value = 0;
    GOOD(tg_device_copy_out(s->device, &value, s->page, sizeof value, error));
    return value;
}

/* Runs the task, which must crash at the page, and returns what it did there. */
static uint32_t access_of_crash(struct shielded *s)
{
    struct tg_control_head head;
    struct tg_error error;
    CHECK_EQ_I(tg_graph_run(s->graph, &far_limit, NULL, &error), TG_KERNEL_FAULT);
    GOOD(tg_device_copy_out(s->device, &head, control_of(s->device), sizeof head, error));
    CHECK_EQ_U(head.fault.address, s->page);
    return head.fault_access;
}

CONTRACT(a_kernel_faults_on_a_page_that_it_may_not_touch)
{
    if (platform->protect == NULL)
        SKIP("cannot protect pages");
    struct shielded s = shielded_open();
    CHECK_EQ_I(protect(&s, s.page, PAGE, TG_ACCESS_NONE), TG_OK);
    (void)access_of_crash(&s); /* one instruction may read and write: then the fault is a write */
    CHECK_EQ_I(value_of(&s), 0);
    shielded_close(&s);
}

CONTRACT(a_kernel_faults_when_it_writes_a_page_that_it_may_only_read)
{
    if (platform->protect == NULL)
        SKIP("cannot protect pages");
    struct shielded s = shielded_open();
    CHECK_EQ_I(protect(&s, s.page, PAGE, TG_ACCESS_READ), TG_OK);
    CHECK(access_of_crash(&s) != TG_ACCESS_READ);
    CHECK_EQ_I(value_of(&s), 0);
    shielded_close(&s);
}

CONTRACT(a_page_can_be_used_again_and_its_neighbours_always)
{
    if (platform->protect == NULL)
        SKIP("cannot protect pages");
    struct shielded s = shielded_open();
    CHECK_EQ_I(protect(&s, s.page - PAGE, PAGE, TG_ACCESS_NONE), TG_OK);
    CHECK_EQ_I(protect(&s, s.page + PAGE, PAGE, TG_ACCESS_NONE), TG_OK);
    GOOD(tg_graph_run(s.graph, &far_limit, NULL, error));
    CHECK_EQ_I(protect(&s, s.page, PAGE, TG_ACCESS_NONE), TG_OK);
    CHECK_EQ_I(value_of(&s), 1); /* the host's access stays */
    CHECK_EQ_I(protect(&s, s.page, PAGE, TG_ACCESS_WRITE), TG_OK);
    GOOD(tg_graph_run(s.graph, &far_limit, NULL, error));
    CHECK_EQ_I(value_of(&s), 2);
    shielded_close(&s);
}

CONTRACT(the_device_refuses_to_protect_its_own_pages_and_parts_of_pages)
{
    if (platform->protect == NULL)
        SKIP("cannot protect pages");
    struct shielded s = shielded_open();
    const struct tg_control_head *head = &s.device->head;
    CHECK_EQ_I(protect(&s, head->base, PAGE, TG_ACCESS_NONE), TG_BAD_ARGUMENT);
    CHECK_EQ_I(protect(&s, s.page + 8, PAGE, TG_ACCESS_NONE), TG_BAD_ARGUMENT);
    CHECK_EQ_I(protect(&s, s.page, 8, TG_ACCESS_NONE), TG_BAD_ARGUMENT);
    CHECK_EQ_I(protect(&s, s.page, head->memory_size, TG_ACCESS_NONE), TG_BAD_ARGUMENT);
    CHECK_EQ_I(protect(&s, s.page, PAGE, 3), TG_BAD_ARGUMENT);
    GOOD(tg_graph_run(s.graph, &far_limit, NULL, error));
    shielded_close(&s);
}

TEST_MAIN()
