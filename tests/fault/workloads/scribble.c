/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that attack the device they run on, and through it the host: they attack its control area,
 * its memory, its socket, its process. The fault suite compiles this file. Every case runs a few good
 * tasks, then the attack, then good tasks again; its outputs may be wrong.
 */
#define _GNU_SOURCE 1
#include "table.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <taskglass/wire/device.h>
#include <unistd.h>

/* The descriptors that host and device share: src/platform/process/protocol.h. */
enum { SOCKET_FD = 3, MEMORY_FD = 4 };

static struct tg_control_head *control(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long start = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "taskglass-device-memory") != NULL && sscanf(line, "%lx", &start) == 1)
            break;
    if (maps != NULL)
        fclose(maps);
    return (struct tg_control_head *)start;
}

static struct tg_worker_status *status(void)
{
    return (struct tg_worker_status *)((char *)control() + control()->status);
}

static void for_ever(void)
{
    for (;;)
        pause();
}

static void do_head(void)
{
    memset(control(), 0xff, sizeof(struct tg_control_head));
    for_ever();
}

static void do_head_then_abort(void)
{
    memset(control(), 0xff, offsetof(struct tg_control_head, fault));
    abort();
}

static void do_status(void)
{
    uint32_t n = control()->n_lanes + control()->n_schedulers;
    memset(status(), 0xff, n * sizeof(struct tg_worker_status));
    for_ever();
}

static void do_status_then_abort(void)
{
    uint32_t n = control()->n_lanes + control()->n_schedulers;
    memset(status(), 0xff, n * sizeof(struct tg_worker_status));
    abort();
}

static void do_engine(void)
{
    memset((char *)control() + 4096, 0xff, control()->control_size - 4096);
}

static void do_everything(void)
{
    memset(control(), 0xff, control()->control_size);
}

/* Writes a false report of a fault and exits with the status of a crash. */
static void do_false_fault(void)
{
    struct tg_fault_record *fault = &control()->fault;
    memset(fault, 0xff, sizeof *fault);
    _exit(70);
}

static void do_false_fault_of_no_part(void)
{
    struct tg_fault_record *fault = &control()->fault;
    *fault = (struct tg_fault_record){.valid = 1, .signal = -5, .part = 2, .running = 1};
    _exit(70);
}

static void do_false_finished(void)
{
    status()->finished = UINT64_MAX;
}

static void do_truncate(void)
{
    if (ftruncate(MEMORY_FD, 0) == 0)
        for_ever();
}

static void do_unmap(void)
{
    munmap(control(), control()->memory_size);
}

static void do_close_socket(void)
{
    close(SOCKET_FD);
    for_ever();
}

static void do_shut_socket(void)
{
    shutdown(SOCKET_FD, SHUT_RDWR);
    for_ever();
}

/* Sends packets that are not valid messages: too short, too long, of an unknown or a wrong type. */
static void do_short_packet(void)
{
    send(SOCKET_FD, "x", 1, MSG_NOSIGNAL);
    for_ever();
}

static void do_empty_packet(void)
{
    send(SOCKET_FD, "", 0, MSG_NOSIGNAL);
    for_ever();
}

static void do_long_packet(void)
{
    static char bytes[60000];
    memset(bytes, 0xff, sizeof bytes);
    send(SOCKET_FD, bytes, sizeof bytes, MSG_NOSIGNAL);
    for_ever();
}

static void do_many_packets(void)
{
    static char bytes[300];
    memset(bytes, 0x5a, sizeof bytes);
    for (int i = 0; i < 1000; i++)
        send(SOCKET_FD, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    for_ever();
}

static void do_exit_0(void)
{
    exit(0);
}

static void do_exit_70(void)
{
    _exit(70);
}

static void do_sigkill(void)
{
    raise(SIGKILL);
    for_ever();
}

static void do_sigstop(void)
{
    raise(SIGSTOP);
}

static void do_sigstop_for_ever(void)
{
    for (;;)
        raise(SIGSTOP);
}

static void do_thread_exit(void)
{
    pthread_exit(NULL);
}

/* Leaves a copy of the process behind for a while, which has the socket and the memory. */
static void do_fork_then_abort(void)
{
    if (fork() == 0) {
        sleep(2);
        _exit(0);
    }
    abort();
}

static void do_default_signals_then_abort(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

/* ── the workload ──────────────────────────────────────────────────────────────────────── */

/* clang-format off */
#define ATTACKS(X) \
    X(head) \
    X(head_then_abort) \
    X(status) \
    X(status_then_abort) \
    X(engine) \
    X(everything) \
    X(false_fault) \
    X(false_fault_of_no_part) \
    X(false_finished) \
    X(truncate) \
    X(unmap) \
    X(close_socket) \
    X(shut_socket) \
    X(short_packet) \
    X(empty_packet) \
    X(long_packet) \
    X(many_packets) \
    X(exit_0) \
    X(exit_70) \
    X(sigkill) \
    X(sigstop) \
    X(sigstop_for_ever) \
    X(thread_exit) \
    X(fork_then_abort) \
    X(default_signals_then_abort)
/* clang-format on */

#define KERNEL(name)                                    \
    static void attack_##name(const struct tg_ctx *ctx) \
    {                                                   \
        (void)ctx;                                      \
        do_##name();                                    \
    }
ATTACKS(KERNEL)

static void good(const struct tg_ctx *ctx)
{
    *TG_ARG(ctx, 0, int32_t) += 1;
}

#define DEFINITION(name) {#name, attack_##name, TG_AIV, "inout:int32"},
static const struct tg_kernel_def kernels[] = {
    ATTACKS(DEFINITION){"good", good, TG_AIV, "inout:int32"}};
enum { N_ATTACKS = sizeof kernels / sizeof kernels[0] - 1 };

#define CASE(name) {#name, "attacks the device", "kernel=" #name},
static const struct tg_case_def cases[] = {ATTACKS(CASE)};

static void prepare(struct tg_case *c)
{
    int64_t one = 1;
    uint64_t kernel = 0;
    while (kernel < N_ATTACKS && strcmp(kernels[kernel].name, tg_case_text(c, "kernel")) != 0)
        kernel++;
    tg_case_tensor(c, "count", TG_INOUT, TG_INT32, 1, &one);
    tg_case_scalar(c, "kernel", TG_INT64, kernel);
}

static void golden(struct tg_case *c)
{
    *(int32_t *)tg_case_expect_exact(c, "count") = 6;
}

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    for (int i = 0; i < 7; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, args->tensor[0]);
        tg_args_after(&task, last);
        last = tg_submit(rt, i == 3 ? (uint32_t)args->scalar[0].bits : (uint32_t)N_ATTACKS, &task);
    }
}

TG_WORKLOAD = {TABLE("scribble", "kernels that attack their device")};
