/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload whose references misbehave. Each case is a deed; the parameter `at` says for which task the
 * reference of kernel `twice` does it. The kernels are good, and so are the references for other tasks.
 */
#define _GNU_SOURCE
#include "table.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS = 12, ELEMENTS = 100 };

static volatile int zero;
static volatile char *volatile nowhere;
static volatile int was_called;

__attribute__((noinline)) static int use_stack(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1;
    if (zero < 0) /* never */
        return 0;
    return use_stack(depth + 1) + room[0];
}

static void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
}

static void write_to_all(void)
{
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, "garbage", 7) < 0)
            continue;
}

static void block_and_spin(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    while (zero == 0) {
    }
}

/* Breaks the heap. Nothing happens before somebody uses it, which the next reference does. */
static void break_heap(void)
{
    static char *blocks[64];
    for (int i = 0; i < 64; i++)
        blocks[i] = malloc(40);
    for (int i = 0; i < 64; i++)
        memset(blocks[i], 0xff, 60);
}

static void *crash(void *unused)
{
    *nowhere = 1;
    return unused;
}

static void crash_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, crash, NULL);
    pthread_join(thread, NULL);
}

static void make_twin(void)
{
    if (fork() < 0)
        abort();
}

/* A process that has neither its group nor its session, and whose parent has ended. */
static void leave_behind(void)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

#ifdef SLOW_TO_TELL
static pid_t loader;

static void wait_a_moment(void)
{
    if (getpid() == loader)
        usleep(500000);
}

/* When the first process of references forks, it goes on later than the copy. */
__attribute__((constructor)) static void be_slow(void)
{
    loader = getpid();
    pthread_atfork(NULL, wait_a_moment, NULL);
}
#endif

/* A twin stops this process as often as somebody continues it. */
static void keep_stopped(void)
{
    pid_t own = getpid(), child = fork();
    while (child == 0) {
        if (getppid() != own || kill(own, SIGSTOP) != 0)
            _exit(0);
        usleep(100);
    }
    while (zero == 0)
        pause();
}

static void scribble(char *output, int64_t offset, size_t size)
{
    memset(output + offset, 0x5a, size);
}

/* For a reference that does its deed only if it is not the first that its process calls. */
static void crash_later(void)
{
    if (was_called)
        *nowhere = 1;
}

/*      name, whether its task fails, the deed */
#define DEEDS(X)                                                                 \
    X(none, 0, ;)                                                                \
    X(null, 1, *nowhere = 1)                                                     \
    X(abort, 1, abort())                                                         \
    X(fpe, 1, raise(SIGFPE))                                                     \
    X(stack, 1, zero = use_stack(0))                                             \
    X(spin, 1, while (zero == 0){})                                              \
    X(sleep, 1, while (zero == 0) sleep(1))                                      \
    X(deaf, 1, block_and_spin())                                                 \
    X(stop, 0, raise(SIGSTOP))                                                   \
    X(stopping, 1, while (zero == 0) raise(SIGSTOP))                             \
    X(stopped, 1, keep_stopped())                                                \
    X(slow, 0, usleep(150000))                                                   \
    X(exit, 1, exit(0))                                                          \
    X(exit_at_once, 1, _exit(0))                                                 \
    X(killed, 1, kill(getpid(), SIGKILL))                                        \
    X(parricide, 1, kill(getppid(), SIGKILL); pause())                           \
    X(close_all, 1, close_all())                                                 \
    X(write_to_all, 1, write_to_all())                                           \
    X(thread, 1, crash_in_thread())                                              \
    X(far_behind, 1, scribble(output, sizeof(float) * ELEMENTS, 100000))         \
    X(just_behind, 1, scribble(output, sizeof(float) * ELEMENTS, 1))             \
    X(just_before, 1, scribble(output, -1, 1))                                   \
    X(break_heap, 1, break_heap())                                               \
    X(twin, 0, make_twin())                                                      \
    X(leave, 0, leave_behind())                                                  \
    X(leave_and_crash, 1, leave_behind(); *nowhere = 1)                          \
    X(leave_and_parricide, 1, leave_behind(); kill(getppid(), SIGKILL); pause()) \
    X(leave_and_spin, 1, leave_behind(); while (zero == 0){})                    \
    X(input, 0, scribble(input, 0, sizeof(float) * ELEMENTS))                    \
    X(round, 0, fesetround(FE_UPWARD))                                           \
    X(print, 0, printf("garbage\n{\"result\": \"good\"}\n"))                     \
    X(later, 0, crash_later())                                                   \
    X(limits, 0, setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}))

#define NAME(name, fails, deed) #name,
static const char *const names[] = {DEEDS(NAME)};
enum { N_DEEDS = sizeof names / sizeof names[0] };

static void twice(const struct tg_ctx *ctx)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    for (int64_t i = 0; i < tg_arg_numel(ctx, 0); i++)
        y[i] = x[i] * 2 + 0.1f;
}

static void reference(const struct tg_ctx *ctx)
{
    char *input = TG_ARG(ctx, 0, char), *output = TG_ARG(ctx, 1, char);
    int64_t deed = tg_arg_i64(ctx, 0), number = 0;
    void *used = malloc(40); /* as references do, so that a broken heap shows */
    twice(ctx);
    free(used);
#define DO(name, fails, deed_) \
    if (deed == number++) {    \
        deed_;                 \
    }
    DEEDS(DO)
    was_called = 1;
    (void)input;
}

static const struct tg_kernel_def kernels[] = {
    {"twice", twice, TG_AIV, "in:float32 out:float32 scalar:int64"},
    {"doubled", twice, TG_AIV, "in:float32 out:float32 scalar:int64"},
};
static const struct tg_reference_def references[] = {{"twice", reference, 0, 0},
                                                     {"doubled", reference, 0, 0}};

#define CASE(name, fails, deed) {#name, "misbehaves", "how=" #name " at=5 more=-1"},
static const struct tg_case_def cases[] = {DEEDS(CASE)};

static void prepare(struct tg_case *c)
{
    int64_t n = ELEMENTS, how = 0;
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    while (how < N_DEEDS && strcmp(names[how], tg_case_text(c, "how")) != 0)
        how++;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)i / 3;
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "how", TG_INT64, (uint64_t)how);
    tg_case_scalar(c, "at", TG_INT64, (uint64_t)tg_case_int(c, "at"));
    tg_case_scalar(c, "more", TG_INT64, (uint64_t)tg_case_int(c, "more"));
}

static void golden(struct tg_case *c)
{
    const float *x = tg_case_input(c, "x");
    double *y = tg_case_expect(c, "y", 1e-3, 1e-3);
    for (int64_t i = 0; i < ELEMENTS; i++)
        y[i] = (double)x[i] * 2 + 0.1;
}

/* Tasks in a chain, because all write the same output; every second one is of the other kernel. */
static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < TASKS; i++) {
        int64_t at = (int64_t)args->scalar[1].bits, more = (int64_t)args->scalar[2].bits;
        struct tg_args task;
        tg_args_init(&task);
        tg_args_in(&task, args->tensor[0]);
        tg_args_out(&task, args->tensor[1]);
        tg_args_i64(&task, i == at || i == more ? (int64_t)args->scalar[0].bits : 0);
        tg_args_after(&task, last);
        last = tg_submit(rt, (uint32_t)(i % 2), &task);
    }
}

TG_WORKLOAD = {TABLE("doubtful", "references that misbehave"), TABLE_REFERENCES};
