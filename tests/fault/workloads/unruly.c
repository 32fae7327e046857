/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload whose own functions misbehave on the host. The case says how; the parameter `where` says in
 * which function: prepare, orchestration or golden. The tests compile it themselves, because it needs
 * libc and threads in the orchestration, which no device has.
 */
#define _GNU_SOURCE
#include "table.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;
static volatile char *volatile nowhere;

__attribute__((noinline)) static int use_stack(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1;
    if (zero < 0) /* never */
        return 0;
    return use_stack(depth + 1) + room[0];
}

static void *crash_in_thread(void *unused)
{
    *nowhere = 1;
    return unused;
}

static void *exit_in_thread(void *unused)
{
    exit(0);
    return unused;
}

static void in_thread(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

/* With the lock of stdout and in a state in which malloc cannot be used. */
static void crash_with_locks(void)
{
    flockfile(stdout);
    memset(malloc(64), 0xff, 4096);
    free(malloc(3000));
    free(malloc(60000));
    *nowhere = 1;
}

/* A process that outlives its parent and keeps all descriptors open. */
static void start_orphan(void)
{
    if (fork() == 0) {
        for (;;)
            pause();
    }
}

static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

/*      case, what it does */
#define DEEDS(X)                                  \
    X(none, ;)                                    \
    X(null, *nowhere = 1)                         \
    X(fpe, raise(SIGFPE); zero = 1 / zero)        \
    X(stack, zero = use_stack(0))                 \
    X(abort, abort())                             \
    X(trap, __builtin_trap())                     \
    X(locks, crash_with_locks())                  \
    X(thread, in_thread(crash_in_thread))         \
    X(exit, exit(0))                              \
    X(exit_9, exit(9))                            \
    X(quick_exit, quick_exit(0))                  \
    X(exit_at_once, _exit(0))                     \
    X(exit_thread, in_thread(exit_in_thread))     \
    X(spin, while (zero == 0){})                  \
    X(sleep, while (zero == 0) sleep(1))          \
    X(deaf, block_signals(); while (zero == 0){}) \
    X(stop, raise(SIGSTOP))                       \
    X(leave, pthread_exit(NULL))                  \
    X(print, printf("printed by the module\n"))   \
    X(orphan, start_orphan())

#define NAME(name, deed) #name,
static const char *const names[] = {DEEDS(NAME)};
enum { N_DEEDS = sizeof names / sizeof names[0] };

static void misbehave(uint64_t how)
{
    uint64_t number = 0;
#define DO(name, deed)     \
    if (how == number++) { \
        deed;              \
    }
    DEEDS(DO)
}

#define CASE(name, deed) {#name, "misbehaves", "how=" #name " where=prepare"},
static const struct tg_case_def cases[] = {DEEDS(CASE)};

/* Does the deed that TASKGLASS_TEST_UNRULY names while the module is loaded. */
__attribute__((constructor)) static void construct(void)
{
    const char *how = getenv("TASKGLASS_TEST_UNRULY");
    for (uint64_t i = 0; how != NULL && i < N_DEEDS; i++)
        if (strcmp(names[i], how) == 0)
            misbehave(i);
}

/* The same with TASKGLASS_TEST_UNRULY_END when the module is unloaded. */
__attribute__((destructor)) static void destruct(void)
{
    const char *how = getenv("TASKGLASS_TEST_UNRULY_END");
    for (uint64_t i = 0; how != NULL && i < N_DEEDS; i++)
        if (strcmp(names[i], how) == 0)
            misbehave(i);
}

static uint64_t deed_of(struct tg_case *c, const char *here)
{
    uint64_t how = 0;
    if (strcmp(tg_case_text(c, "where"), here) != 0)
        return 0;
    while (how < N_DEEDS && strcmp(names[how], tg_case_text(c, "how")) != 0)
        how++;
    return how;
}

static void prepare(struct tg_case *c)
{
    int64_t one = 1;
    misbehave(deed_of(c, "prepare"));
    tg_case_tensor(c, "count", TG_INOUT, TG_INT32, 1, &one);
    tg_case_scalar(c, "deed", TG_INT64, deed_of(c, "orchestration"));
}

static void golden(struct tg_case *c)
{
    misbehave(deed_of(c, "golden"));
    *(int32_t *)tg_case_expect_exact(c, "count") = 3;
}

static void add_one(const struct tg_ctx *ctx)
{
    *TG_ARG(ctx, 0, int32_t) += 1;
}

static const struct tg_kernel_def kernels[] = {{"add_one", add_one, TG_AIV, "inout:int32"}};

static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    for (int i = 0; i < 3; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, args->tensor[0]);
        tg_args_after(&task, last);
        last = tg_submit(rt, 0, &task);
        if (i == 1)
            misbehave(args->scalar[0].bits);
    }
}

TG_WORKLOAD = {TABLE("unruly", "functions on the host that misbehave")};
