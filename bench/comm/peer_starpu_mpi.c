/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_comm_starpu_mpi N TILE: the Cholesky factorisation of examples/cholesky with StarPU-MPI,
 * for any number of ranks. Rank 0 prints one line of JSON: the seconds of the first
 * factorisation in the process, which is what `taskglass run` measures too, and of a second one.
 *
 * The same as there: the matrix, the tiles, who has which (cholesky_owner), the order in which
 * tasks are submitted, and the kernels: this program is linked with the object file of
 * examples/cholesky/kernels.c.
 *
 * StarPU's own way: every rank inserts every task, StarPU-MPI runs it where the tile is that it
 * writes, and its cache sends a tile only once to a rank that reads it. Tiles are contiguous.
 * The environment says how many workers there are and which policy schedules (cholesky.py).
 *
 * Time runs from a barrier, before the first task is inserted, to a barrier after the last task.
 * The result has to be that of the same kernels called one after the other, bit by bit: whatever
 * the order in which tasks run, a tile's updates come in the order of columns.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <starpu.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../examples/cholesky/cholesky.h"

enum { TILES = CHOLESKY_MAX_TILES, RUNS = 2 };

struct matrix {
    int64_t n, tile, tiles;
    struct cholesky_grid grid;
    float *at[TILES][TILES]; /* lower triangle, each tile by itself; NULL: another rank has it */
    starpu_data_handle_t handle[TILES][TILES];
};

static int rank, ranks;

static void stop(const char *why)
{
    fprintf(stderr, "bench_comm_starpu_mpi: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int failed, const char *what)
{
    if (failed != 0)
        stop(what);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rows of the i-th row of tiles, or columns of the i-th column. */
static int64_t extent(const struct matrix *m, int64_t i)
{
    int64_t left = m->n - i * m->tile;
    return left < m->tile ? left : m->tile;
}

/* ── the matrix ────────────────────────────────────────────────────────────────────────── */

static void put(const struct matrix *m, int64_t i, int64_t j, float value)
{
    float *tile = m->at[i / m->tile][j / m->tile];
    if (tile != NULL)
        tile[i % m->tile * extent(m, j / m->tile) + j % m->tile] = value;
}

/* The numbers of `fill` in examples/cholesky/cases.c. A diagonal tile is whole, as it is there. */
static void fill(const struct matrix *m)
{
    uint32_t seed = 1;
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t j = 0; j < i; j++) {
            seed = seed * 1664525u + 1013904223u;
            float value = (float)(seed >> 8) / 8388608.0f - 1.0f;
            put(m, i, j, value);
            if (i / m->tile == j / m->tile)
                put(m, j, i, value);
        }
        put(m, i, i, (float)m->n);
    }
}

/* A matrix of which this process has the tiles of one rank of so many. */
static struct matrix *create(int64_t n, int64_t tile, int64_t which, int64_t of)
{
    struct matrix *m = calloc(1, sizeof *m);
    if (m == NULL) {
        stop("no memory");
        return NULL;
    }
    m->n = n;
    m->tile = tile;
    m->tiles = (n + tile - 1) / tile;
    m->grid = cholesky_place(which, of);
    for (int64_t i = 0; i < m->tiles; i++)
        for (int64_t j = 0; j <= i; j++) {
            if (cholesky_owner(&m->grid, i, j) != which)
                continue;
            m->at[i][j] = malloc((size_t)(extent(m, i) * extent(m, j)) * sizeof(float));
            must(m->at[i][j] == NULL, "no memory");
        }
    fill(m);
    return m;
}

static void destroy(struct matrix *m)
{
    for (int64_t i = 0; i < m->tiles; i++)
        for (int64_t j = 0; j <= i; j++)
            free(m->at[i][j]);
    free(m);
}

/* ── kernels ───────────────────────────────────────────────────────────────────────────── */

static struct tg_tensor tensor_of(const float *at, int64_t rows, int64_t cols, int64_t down)
{
    const int64_t shape[] = {rows, cols};
    struct tg_tensor t = tg_tensor_make((uint64_t)(uintptr_t)at, TG_FLOAT32, 2, shape);
    t.strides[0] = down;
    return t;
}

static void call(tg_kernel_fn kernel, const struct tg_tensor *tensor, uint32_t n)
{
    struct tg_ctx ctx = {.tensor = tensor, .n_tensors = n, .parts = 1};
    kernel(&ctx);
}

/* StarPU counts x along a row. */
static void run_kernel(tg_kernel_fn kernel, void *buffers[], uint32_t n)
{
    struct tg_tensor tensor[3];
    for (uint32_t i = 0; i < n; i++)
        tensor[i] = tensor_of((const float *)STARPU_MATRIX_GET_PTR(buffers[i]),
                              STARPU_MATRIX_GET_NY(buffers[i]), STARPU_MATRIX_GET_NX(buffers[i]),
                              STARPU_MATRIX_GET_LD(buffers[i]));
    call(kernel, tensor, n);
}

static void run_potrf(void *buffers[], void *unused)
{
    (void)unused;
    run_kernel(cholesky_potrf, buffers, 1);
}

static void run_trsm(void *buffers[], void *unused)
{
    (void)unused;
    run_kernel(cholesky_trsm, buffers, 2);
}

static void run_syrk(void *buffers[], void *unused)
{
    (void)unused;
    run_kernel(cholesky_syrk, buffers, 2);
}

static void run_gemm(void *buffers[], void *unused)
{
    (void)unused;
    run_kernel(cholesky_gemm, buffers, 3);
}

static struct starpu_codelet potrf = {
    .cpu_funcs = {run_potrf}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "potrf"};
static struct starpu_codelet trsm = {
    .cpu_funcs = {run_trsm}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "trsm"};
static struct starpu_codelet syrk = {
    .cpu_funcs = {run_syrk}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "syrk"};
static struct starpu_codelet gemm = {.cpu_funcs = {run_gemm},
                                     .nbuffers = 3,
                                     .modes = {STARPU_R, STARPU_R, STARPU_RW},
                                     .name = "gemm"};

/* ── one after the other ───────────────────────────────────────────────────────────────── */

static struct tg_tensor tile_of(const struct matrix *m, int64_t i, int64_t j)
{
    return tensor_of(m->at[i][j], extent(m, i), extent(m, j), extent(m, j));
}

static void factorize_serially(const struct matrix *m)
{
    for (int64_t k = 0; k < m->tiles; k++) {
        call(cholesky_potrf, (struct tg_tensor[]){tile_of(m, k, k)}, 1);
        for (int64_t i = k + 1; i < m->tiles; i++)
            call(cholesky_trsm, (struct tg_tensor[]){tile_of(m, k, k), tile_of(m, i, k)}, 2);
        for (int64_t i = k + 1; i < m->tiles; i++) {
            for (int64_t j = k + 1; j < i; j++)
                call(cholesky_gemm,
                     (struct tg_tensor[]){tile_of(m, i, k), tile_of(m, j, k), tile_of(m, i, j)}, 3);
            call(cholesky_syrk, (struct tg_tensor[]){tile_of(m, i, k), tile_of(m, i, i)}, 2);
        }
    }
}

/* Compares the tiles that this rank has; a tile in which a bit differs ends the program. */
static void check(const struct matrix *m, const struct matrix *right)
{
    for (int64_t i = 0; i < m->tiles; i++)
        for (int64_t j = 0; j <= i; j++) {
            size_t bytes = (size_t)(extent(m, i) * extent(m, j)) * sizeof(float);
            const float *own = m->at[i][j], *serial = right->at[i][j];
            if (own != NULL && (serial == NULL || memcmp(own, serial, bytes) != 0)) {
                fprintf(stderr, "bench_comm_starpu_mpi: tile (%d, %d) is wrong\n", (int)i, (int)j);
                stop("the result is not that of the serial factorisation");
            }
        }
}

/* ── over the ranks ────────────────────────────────────────────────────────────────────── */

/* A tile that another rank has gets its memory from StarPU when it comes. */
static void register_tiles(struct matrix *m)
{
    for (int64_t i = 0; i < m->tiles; i++)
        for (int64_t j = 0; j <= i; j++) {
            uint32_t rows = (uint32_t)extent(m, i), cols = (uint32_t)extent(m, j);
            int home = m->at[i][j] != NULL ? STARPU_MAIN_RAM : -1;
            starpu_matrix_data_register(&m->handle[i][j], home, (uintptr_t)m->at[i][j], cols, cols,
                                        rows, sizeof(float));
            starpu_mpi_data_register(m->handle[i][j], i * m->tiles + j,
                                     (int)cholesky_owner(&m->grid, i, j));
        }
}

/* Brings the result into the memory of the tiles. */
static void unregister_tiles(struct matrix *m)
{
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    for (int64_t i = 0; i < m->tiles; i++)
        for (int64_t j = 0; j <= i; j++)
            starpu_data_unregister(m->handle[i][j]);
}

static void insert_updates(const struct matrix *m, int64_t i, int64_t k)
{
    for (int64_t j = k + 1; j < i; j++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &gemm, STARPU_R, m->handle[i][k], STARPU_R,
                                    m->handle[j][k], STARPU_RW, m->handle[i][j], 0),
             "gemm was not inserted");
    must(starpu_mpi_task_insert(MPI_COMM_WORLD, &syrk, STARPU_R, m->handle[i][k], STARPU_RW,
                                m->handle[i][i], 0),
         "syrk was not inserted");
}

static void insert_column(const struct matrix *m, int64_t k)
{
    must(starpu_mpi_task_insert(MPI_COMM_WORLD, &potrf, STARPU_RW, m->handle[k][k], 0),
         "potrf was not inserted");
    for (int64_t i = k + 1; i < m->tiles; i++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &trsm, STARPU_R, m->handle[k][k], STARPU_RW,
                                    m->handle[i][k], 0),
             "trsm was not inserted");
    for (int64_t i = k + 1; i < m->tiles; i++)
        insert_updates(m, i, k);
}

static double factorize(struct matrix *m)
{
    double began;
    register_tiles(m);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    began = now();
    for (int64_t k = 0; k < m->tiles; k++)
        insert_column(m, k);
    starpu_task_wait_for_all();
    starpu_mpi_barrier(MPI_COMM_WORLD);
    began = now() - began;
    unregister_tiles(m);
    return began;
}

static void measure(int64_t n, int64_t tile, double seconds[RUNS])
{
    struct matrix *m[RUNS], *right = create(n, tile, 0, 1);
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    must(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf), "StarPU does not start");
    for (int run = 0; run < RUNS; run++) {
        m[run] = create(n, tile, rank, ranks);
        seconds[run] = factorize(m[run]);
    }
    starpu_mpi_shutdown();
    factorize_serially(right);
    for (int run = 0; run < RUNS; run++) {
        check(m[run], right);
        destroy(m[run]);
    }
    destroy(right);
}

int main(int argc, char **argv)
{
    double own[RUNS], slowest[RUNS];
    int64_t n = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    int64_t tile = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    int given;
    if (n < 1 || n > INT32_MAX || tile < 1 || tile > n || n > tile * TILES) {
        fprintf(stderr, "usage: bench_comm_starpu_mpi N TILE, where N is at most %d tiles\n",
                TILES);
        return 2;
    }
    /* The level that StarPU-MPI itself asks for: between barriers only its own thread calls MPI. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(given < MPI_THREAD_SERIALIZED, "this MPI has no threads");
    measure(n, tile, own);
    MPI_Reduce(own, slowest, RUNS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"ranks\": %d, \"n\": %d, \"tile\": %d, \"seconds\": %.9f, \"again\": %.9f}\n",
               ranks, (int)n, (int)tile, slowest[0], slowest[1]);
    MPI_Finalize();
    return 0;
}
