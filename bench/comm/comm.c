/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * bench_comm MODULE PLATFORM ROUNDS MESSAGES: between two ranks, in turn and in the same two processes,
 * plain MPI and Taskglass over MPI. Rank 0 prints one line of JSON for each figure of each round.
 *
 *   wake     from the store of one thread to the next instruction of another that slept for it
 *   ping     a message of 8 bytes, one way: MPI_Send and MPI_Recv; a chain of tg_send and tg_recv
 *   reduce   an all-reduce of float32, in place: MPI_Allreduce; a chain of tg_all_reduce
 *
 * While plain MPI is measured, as many threads sleep in each process as Taskglass has there.
 */
#include <linux/futex.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <taskglass/comm.h>
#include <taskglass/taskglass.h>
#include <time.h>
#include <unistd.h>

enum { WAKES = 2000, IDLE = 8, SIZES = 4 };
static const size_t sizes[SIZES] = {1 << 20, 4 << 20, 16 << 20, 64 << 20};

static int rank;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void show(int round, const char *what, const char *who, size_t bytes, double seconds)
{
    if (rank == 0)
        printf("{\"round\": %d, \"what\": \"%s\", \"who\": \"%s\", \"bytes\": %zu, \"ns\": %.1f}\n",
               round, what, who, bytes, seconds * 1e9);
    fflush(stdout);
}

static void must(tg_status status, const struct tg_error *error)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_comm: rank %d: %s\n", rank, error->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ── a wake-up ─────────────────────────────────────────────────────────────────────────── */

static unsigned turn;

static void wait_for(unsigned value)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != value)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - value, NULL, NULL, 0);
}

static void give(unsigned value)
{
    __atomic_store_n(&turn, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *answer(void *unused)
{
    for (int i = 0; i < WAKES; i++) {
        wait_for(1);
        give(0);
    }
    return unused;
}

static double measure_wake(void)
{
    pthread_t thread;
    double began;
    if (pthread_create(&thread, NULL, answer, NULL) != 0)
        exit(1);
    began = now();
    for (int i = 0; i < WAKES; i++) {
        give(1);
        wait_for(0);
    }
    began = (now() - began) / (2.0 * WAKES);
    pthread_join(thread, NULL);
    return began;
}

/* ── plain MPI ─────────────────────────────────────────────────────────────────────────── */

static unsigned sleeping = 1;

static void *sleep_on(void *unused)
{
    while (__atomic_load_n(&sleeping, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &sleeping, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

static double mpi_ping(int n)
{
    char bytes[8] = {0};
    double began;
    MPI_Barrier(MPI_COMM_WORLD);
    began = now();
    for (int i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Send(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return (now() - began) / (2.0 * n);
}

static double mpi_reduce(float *x, size_t bytes, int n)
{
    double began;
    memset(x, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    began = now();
    for (int i = 0; i < n; i++)
        MPI_Allreduce(MPI_IN_PLACE, x, (int)(bytes / sizeof *x), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    return (now() - began) / n;
}

static int repeats(size_t bytes)
{
    return (int)((256u << 20) / bytes);
}

static void measure_mpi(int round, int messages)
{
    pthread_t idle[IDLE];
    float *x = malloc(sizes[SIZES - 1]);
    sleeping = 1;
    for (int i = 0; i < IDLE; i++)
        pthread_create(&idle[i], NULL, sleep_on, NULL);
    mpi_ping(messages / 10 + 1);
    show(round, "ping", "mpi", 8, mpi_ping(messages));
    for (int s = 0; s < SIZES && x != NULL; s++) {
        mpi_reduce(x, sizes[s], 1);
        show(round, "reduce", "mpi", sizes[s], mpi_reduce(x, sizes[s], repeats(sizes[s])));
    }
    __atomic_store_n(&sleeping, 0u, __ATOMIC_RELEASE);
    syscall(SYS_futex, &sleeping, FUTEX_WAKE_PRIVATE, IDLE, NULL, NULL, 0);
    for (int i = 0; i < IDLE; i++)
        pthread_join(idle[i], NULL);
    free(x);
}

/* ── Taskglass ─────────────────────────────────────────────────────────────────────────── */

struct rig {
    struct tg_device *device;
    struct tg_module *module;
    uint64_t address;
};

/* Seconds of a run of that many calls of a kind. */
static double run_calls(const struct rig *rig, int64_t what, size_t bytes, int64_t n)
{
    const int64_t shape[] = {(int64_t)(bytes / sizeof(float))};
    struct tg_run_result result;
    struct tg_graph *graph = NULL;
    struct tg_error error;
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(rig->address, TG_FLOAT32, 1, shape));
    tg_args_i64(&args, what);
    tg_args_i64(&args, n);
    must(
        tg_graph_orchestrate(rig->module, TG_RUNTIME_HOST_BUILD_GRAPH, &args, NULL, &graph, &error),
        &error);
    must(tg_graph_upload(graph, &error), &error);
    must(tg_graph_run(graph, NULL, &result, &error), &error);
    tg_graph_destroy(graph);
    return result.execute_seconds;
}

static void measure_taskglass(int round, const char *module, const char *platform, int messages)
{
    struct tg_device_config config = {.platform = platform, .cores = 1};
    struct tg_comm_config how = {.transport = "mpi"};
    struct tg_comm *comm = NULL;
    struct tg_error error;
    struct rig rig = {0};
    must(tg_comm_open(&how, &comm, &error), &error);
    must(tg_device_open(&config, &rig.device, &error), &error);
    must(tg_device_join(rig.device, comm, &error), &error);
    must(tg_device_load(rig.device, module, &rig.module, &error), &error);
    must(tg_device_alloc(rig.device, sizes[SIZES - 1], &rig.address, &error), &error);
    run_calls(&rig, 0, 8, messages / 10 + 1);
    show(round, "ping", "taskglass", 8, run_calls(&rig, 0, 8, messages) / (2.0 * messages));
    for (int s = 0; s < SIZES; s++) {
        run_calls(&rig, 1, sizes[s], 1);
        show(round, "reduce", "taskglass", sizes[s],
             run_calls(&rig, 1, sizes[s], repeats(sizes[s])) / repeats(sizes[s]));
    }
    tg_device_close(rig.device);
    tg_comm_close(comm);
}

int main(int argc, char **argv)
{
    int given, ranks;
    if (argc != 5) {
        fprintf(stderr, "usage: bench_comm MODULE PLATFORM ROUNDS MESSAGES\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || given < MPI_THREAD_SERIALIZED) {
        fprintf(stderr, "bench_comm: start it as two ranks of an MPI that has threads\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int round = 0; round < atoi(argv[3]); round++) {
        show(round, "wake", "linux", 0, measure_wake());
        measure_mpi(round, atoi(argv[4]));
        measure_taskglass(round, argv[1], argv[2], atoi(argv[4]));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
