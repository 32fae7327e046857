/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/process/device/fault.h"
#include "device/role.h"
#include "platform/process/protocol.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <taskglass/source.h>
#include <ucontext.h>
#include <unistd.h>

/* Asks a thread where it is. Nothing else in this process uses it. */
#define LOCATE (SIGRTMIN + 4)

/* Modules whose lines can be named. Few programs load more than one. */
enum { MOST_MODULES = 64 };

/* Globals, because a signal handler takes no argument. Set once, before any worker starts. */
static struct tg_control_head *control;
static bool records_others;
static int dying;
static __thread struct tg_engine *this_engine;
static __thread uint32_t this_thread;
static __thread uint64_t stack_begin; /* the lowest address of this thread's stack */
static __thread bool is_recording;
/* The main thread adds modules between runs, so no kernel runs meanwhile. */
static struct tg_code_range modules[MOST_MODULES];
static uint32_t n_modules;

void tg_fault_add_module(const void *address)
{
    if (n_modules < MOST_MODULES && tg_code_range_of(address, &modules[n_modules]))
        n_modules++;
}

static void record_place(void *context, uint32_t state, struct tg_place_record *to)
{
    struct tg_code_place place;
    if (tg_code_place_find(modules, n_modules, context, &place))
        to->module = place.module + 1;
    to->at = place.at;
    to->from = place.from;
    __atomic_store_n(&to->state, state, __ATOMIC_RELEASE);
}

/* The system keeps some pages below a stack free, so that a stack that grows too far faults there. */
static bool is_below_stack(int signal, const siginfo_t *info)
{
    enum { FREE = 64 * 1024 };
    uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
    return signal == SIGSEGV && stack_begin != 0 && at >= stack_begin - FREE &&
           at < stack_begin + FREE;
}

/* The system does not report an address that no memory can have, so that stands for all of these. */
static uint64_t address_of(int signal, const siginfo_t *info)
{
    if (signal == SIGABRT)
        return 0;
    return info->si_code == SI_KERNEL ? UINT64_MAX : (uint64_t)(uintptr_t)info->si_addr;
}

/* Whether the kernel read or wrote the address that it could not access, as far as the machine says. */
static enum tg_access access_of(int signal, const ucontext_t *context)
{
    if (signal != SIGSEGV && signal != SIGBUS)
        return TG_ACCESS_NONE;
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2 ? TG_ACCESS_WRITE : TG_ACCESS_READ;
#elif defined(__aarch64__)
    /* A list of records; that of the fault has the syndrome register, whose bit 6 is set for writes. */
    const struct _aarch64_ctx *head = (const void *)context->uc_mcontext.__reserved;
    const char *end = (const char *)head + sizeof context->uc_mcontext.__reserved;
    while ((const char *)head + sizeof(struct esr_context) <= end && head->magic != 0 &&
           head->size >= sizeof *head) {
        if (head->magic == ESR_MAGIC)
            return ((const struct esr_context *)head)->esr & 64 ? TG_ACCESS_WRITE : TG_ACCESS_READ;
        head = (const void *)((const char *)head + head->size);
    }
    return TG_ACCESS_NONE;
#else
    (void)context;
    return TG_ACCESS_NONE;
#endif
}

static void record(int signal, const siginfo_t *info, void *context)
{
    struct tg_fault_record *fault = &control->fault;
    fault->worker = UINT32_MAX;
    fault->signal = signal;
    fault->address = address_of(signal, info);
    if (this_engine != NULL) {
        const struct tg_worker *w = tg_role_lane(this_engine, &this_engine->worker[this_thread]);
        fault->worker = w->index;
        fault->running = __atomic_load_n(&w->status->running, __ATOMIC_RELAXED);
        fault->part = w->status->part;
    }
    control->fault_access = access_of(signal, context);
    __atomic_store_n(&fault->valid, 1u, __ATOMIC_RELEASE);
    record_place(context, is_below_stack(signal, info) ? TG_PLACE_STACK_OVERFLOW : TG_PLACE_FOUND,
                 &control->fault_place);
}

/* The first thread that crashes writes the record and exits; other threads that crash wait. If the stack
 * is so damaged that reading it crashes too, the report does without the place. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (this_engine == NULL && !records_others) {
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        (void)raise(signal);
        return; /* the instruction faults again, if the signal is still on its way */
    }
    if (is_recording)
        _exit(TG_PROCESS_EXIT_FAULT);
    if (__atomic_exchange_n(&dying, 1, __ATOMIC_ACQ_REL) == 0) {
        is_recording = true;
        record(signal, info, context);
        _exit(TG_PROCESS_EXIT_FAULT);
    }
    for (;;)
        pause();
}

/* In the thread that is asked: says where the kernel is that it runs, or the orchestration. */
static void on_locate(int signal, siginfo_t *info, void *context)
{
    int cause = errno;
    (void)signal;
    (void)info;
    if (this_engine != NULL) {
        struct tg_worker *w = tg_role_lane(this_engine, &this_engine->worker[this_thread]);
        bool orchestrates = w->index == tg_engine_orchestrator(this_engine);
        if (orchestrates || __atomic_load_n(&w->status->running, __ATOMIC_RELAXED) != 0)
            record_place(context, TG_PLACE_FOUND, &w->status->place);
    }
    errno = cause;
}

void tg_fault_locate(pthread_t thread)
{
    (void)pthread_kill(thread, LOCATE);
}

void tg_fault_install(struct tg_control_head *head, bool others)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction locate = {.sa_sigaction = on_locate, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    control = head;
    records_others = others;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigdelset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    sigemptyset(&locate.sa_mask);
    sigaction(LOCATE, &locate, NULL);
}

static uint64_t find_stack(void)
{
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    if (pthread_attr_getstack(&attributes, &begin, &size) != 0)
        begin = NULL;
    pthread_attr_destroy(&attributes);
    return (uint64_t)(uintptr_t)begin;
}

int tg_fault_watch_thread(struct tg_engine *engine, uint32_t thread)
{
    enum { STACK = 64 * 1024 }; /* never freed: the thread lives as long as the process */
    stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
    this_thread = thread;
    this_engine = engine;
    stack_begin = find_stack();
    /* Without it only a stack that overflows goes unreported, so want of memory ends no device. */
    if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) != 0)
        free(stack.ss_sp);
    return 0;
}
