/* SPDX-License-Identifier: Apache-2.0 */
/* tg_table: an orchestration reads what it was given alike on every runtime and platform, whatever
 * the type, the shape and the size. tests/e2e/test_tables.py has the mistakes. */
#include "contract.h"
#include "host/runtime_ops.h"
#include "workloads/tables/tables.h"

enum { MOST_READ = 64 };

/* A table on a device, and room for what is read of it. */
struct bench {
    struct tg_device *device;
    struct tg_module *module;
    unsigned char *bytes; /* the table's */
    struct tg_tensor table;
    uint64_t reals, integers;
};

static struct tg_rings small_rings(void)
{
    struct tg_rings rings = {.tensormap = 1024};
    for (int i = 0; i < TG_RINGS; i++) {
        rings.task_window[i] = 128;
        rings.dep_pool[i] = 1024;
        rings.heap[i] = 4096;
    }
    return rings;
}

static struct bench bench_open(void)
{
    struct bench b = {.device = open_device(2, 0)};
    b.module = load_module(b.device, "tables");
    b.reals = alloc_device(b.device, MOST_READ * sizeof(double));
    b.integers = alloc_device(b.device, MOST_READ * sizeof(int64_t));
    return b;
}

static void bench_close(struct bench *b)
{
    free(b->bytes);
    tg_device_close(b->device);
}

/* Fills a table with bytes that are the same in every run of the test. `skip` bytes lie before it, so
 * that it has any alignment. */
static void place_table(struct bench *b, unsigned dtype, int ndim, const int64_t *shape,
                        uint64_t skip)
{
    uint64_t random = dtype * 1000u + (unsigned)ndim, address;
    b->table = tg_tensor_make(0, dtype, ndim, shape);
    address = alloc_device(b->device, b->table.storage_bytes + skip);
    free(b->bytes);
    b->bytes = malloc(b->table.storage_bytes);
    for (uint64_t i = 0; i < b->table.storage_bytes; i++)
        b->bytes[i] = (unsigned char)next_random(&random);
    b->table.addr = address + skip;
    GOOD(tg_device_copy_in(b->device, b->table.addr, b->bytes, b->table.storage_bytes, error));
}

static void take_table(struct bench *b, uint64_t skip)
{
    GOOD(tg_device_free(b->device, b->table.addr - skip, error));
}

/* Runs the orchestration on the given view of the table. */
static void run(const struct bench *b, enum tg_runtime_kind runtime, int64_t what, int64_t n,
                struct tg_tensor given)
{
    struct tg_rings rings = small_rings();
    struct tg_graph *graph = NULL;
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, given);
    tg_args_out(&args, tg_tensor_make(b->reals, TG_FLOAT64, 1, &n));
    tg_args_out(&args, tg_tensor_make(b->integers, TG_INT64, 1, &n));
    tg_args_i64(&args, what);
    zero_device(b->device, b->reals, MOST_READ * sizeof(double));
    zero_device(b->device, b->integers, MOST_READ * sizeof(int64_t));
    GOOD(tg_graph_orchestrate(b->module, runtime, &args, &rings, &graph, error));
    GOOD(tg_graph_run(graph, NULL, NULL, error));
    tg_graph_destroy(graph);
}

static void check_element(const struct bench *b, const struct tg_tensor *view, int64_t element,
                          double real, int64_t integer)
{
    int64_t offset = tg_tensor_offset(view, element);
    uint64_t bits = tg_load_bits(view->dtype, b->bytes, offset);
    double want = tg_load(view->dtype, b->bytes, offset);
    bool wide = view->dtype == TG_INT64 || view->dtype == TG_UINT64;
    CHECK(real == want || (tg_double_is_nan(real) && tg_double_is_nan(want)));
    CHECK_EQ_I(integer, wide ? (int64_t)bits : tg_to_signed(64, want));
}

/* Runs on every runtime and checks what was read: element first + i of the view, for i up to n. */
static void check_reads(const struct bench *b, int64_t what, int64_t n, struct tg_tensor given,
                        struct tg_tensor view, const int64_t *elements)
{
    double reals[MOST_READ];
    int64_t integers[MOST_READ];
    for (uint32_t r = 0; tg_runtime_number(r) != NULL; r++) {
        run(b, (enum tg_runtime_kind)r, what, n, given);
        GOOD(tg_device_copy_out(b->device, reals, b->reals, (uint64_t)n * 8, error));
        GOOD(tg_device_copy_out(b->device, integers, b->integers, (uint64_t)n * 8, error));
        for (int64_t i = 0; i < n; i++)
            check_element(b, &view, elements ? elements[i] : i, reals[i], integers[i]);
    }
}

CONTRACT(every_type_is_read_with_every_runtime)
{
    const int64_t shape[3] = {2, 3, 4};
    struct bench b = bench_open();
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        place_table(&b, dtype, 3, shape, 0);
        check_reads(&b, TABLES_whole, 24, b.table, b.table, NULL);
        check_reads(&b, TABLES_view, 12, b.table, tables_view(b.table), NULL);
        check_reads(&b, TABLES_alone, 2, b.table, b.table, (const int64_t[]){23, 23});
        take_table(&b, 0);
    }
    bench_close(&b);
}

CONTRACT(a_table_of_eight_dimensions_is_read)
{
    const int64_t shape[TG_MAX_DIMS] = {2, 1, 2, 2, 1, 2, 1, 2};
    struct bench b = bench_open();
    place_table(&b, TG_INT16, TG_MAX_DIMS, shape, 0);
    check_reads(&b, TABLES_whole, 32, b.table, b.table, NULL);
    check_reads(&b, TABLES_view, 16, b.table, tables_view(b.table), NULL);
    bench_close(&b);
}

/* The host program gives a view, at an address that is a multiple of nothing. */
CONTRACT(a_view_at_any_address_is_read)
{
    const int64_t shape[2] = {6, 5};
    struct bench b = bench_open();
    struct tg_tensor view;
    place_table(&b, TG_FLOAT32, 2, shape, 3);
    view = tg_tensor_transpose(tg_tensor_slice(b.table, 0, 1, 6, 2), 0, 1);
    check_reads(&b, TABLES_whole, 15, view, view, NULL);
    bench_close(&b);
}

/* Where the host copies device memory, it copies a large tensor in pieces. */
CONTRACT(both_ends_of_a_large_table_are_read)
{
    const int64_t n = (17 << 20) + 1;
    const int64_t elements[] = {0, 1, 2, 3, n - 4, n - 3, n - 2, n - 1};
    struct bench b = bench_open();
    place_table(&b, TG_INT16, 1, &n, 1);
    check_reads(&b, TABLES_far, 8, b.table, b.table, elements);
    bench_close(&b);
}

CONTRACT(what_a_task_writes_later_is_read_before)
{
    const int64_t shape[2] = {4, 4};
    struct bench b = bench_open();
    place_table(&b, TG_INT32, 2, shape, 0);
    check_reads(&b, TABLES_early, 16, b.table, b.table, NULL);
    bench_close(&b);
}

/* The graph that the host builds has what the memory held then; the device reads anew in each run. */
CONTRACT(a_graph_that_the_device_builds_reads_anew_in_each_run)
{
    const int64_t n = 8;
    struct bench b = bench_open();
    struct tg_rings rings = small_rings();
    for (uint32_t r = 0; tg_runtime_number(r) != NULL; r++) {
        struct tg_graph *graph = NULL;
        struct tg_args args;
        int64_t got = 0, value = 0;
        bool is_on_host = tg_runtime_number(r)->n_rings == 0;
        place_table(&b, TG_INT64, 1, &n, 0);
        tg_args_init(&args);
        tg_args_in(&args, b.table);
        tg_args_out(&args, tg_tensor_make(b.reals, TG_FLOAT64, 1, &n));
        tg_args_out(&args, tg_tensor_make(b.integers, TG_INT64, 1, &n));
        tg_args_i64(&args, TABLES_whole);
        memcpy(&value, b.bytes, sizeof value);
        GOOD(tg_graph_orchestrate(b.module, (enum tg_runtime_kind)r, &args, &rings, &graph, error));
        for (int64_t run = 0; run < 3; run++) {
            GOOD(tg_graph_run(graph, NULL, NULL, error));
            GOOD(tg_device_copy_out(b.device, &got, b.integers, sizeof got, error));
            CHECK_EQ_I(got, is_on_host || run == 0 ? value : run);
            got = run + 1;
            GOOD(tg_device_copy_in(b.device, b.table.addr, &got, sizeof got, error));
        }
        tg_graph_destroy(graph);
        take_table(&b, 0);
    }
    bench_close(&b);
}

TEST_MAIN()
