/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/sim/device/fault.h"
#include "device/role.h"
#include "platform/process/protocol.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Globals, because a signal handler takes no argument. Set once, before any worker starts. */
static struct tg_control_head *control;
static int dying;
static __thread struct tg_engine *this_engine;
static __thread uint32_t this_thread;

static void record(int signal, const siginfo_t *info)
{
    struct tg_fault_record *fault = &control->fault;
    fault->worker = UINT32_MAX;
    fault->signal = signal;
    fault->address = signal == SIGABRT ? 0 : (uint64_t)(uintptr_t)info->si_addr;
    if (this_engine != NULL) {
        const struct tg_worker *w = tg_role_lane(this_engine, &this_engine->worker[this_thread]);
        fault->worker = w->index;
        fault->running = __atomic_load_n(&w->status->running, __ATOMIC_RELAXED);
        fault->part = w->status->part;
    }
    __atomic_store_n(&fault->valid, 1u, __ATOMIC_RELEASE);
}

/* The first thread that crashes writes the record and exits; other threads that crash wait. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (__atomic_exchange_n(&dying, 1, __ATOMIC_ACQ_REL) == 0) {
        record(signal, info);
        _exit(TG_PROCESS_EXIT_FAULT);
    }
    for (;;)
        pause();
}

void tg_fault_install(struct tg_control_head *head)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    control = head;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

int tg_fault_watch_thread(struct tg_engine *engine, uint32_t thread)
{
    enum { STACK = 64 * 1024 }; /* never freed: the thread lives as long as the process */
    stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
    this_thread = thread;
    this_engine = engine;
    /* Without it only a stack that overflows goes unreported, so want of memory ends no device. */
    if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) != 0)
        free(stack.ss_sp);
    return 0;
}
