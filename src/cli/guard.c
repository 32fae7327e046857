/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/source.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

/* The watchdog looks this often whether the user wants to stop. */
#define TICK_SECONDS 0.05
/* A function that does not react to the watchdog's signal within this time never will. */
#define REACTION_SECONDS 1.0
/* After a function was left: how long the command may take to write its files and end. */
#define ENDING_SECONDS 10.0

/* Sent by the watchdog to the thread that runs the function. Its default action is to be ignored, so
 * one that arrives too late does nothing. */
#define WAKE SIGURG

enum cause { CAUSE_NONE, CAUSE_SIGNAL, CAUSE_EXIT, CAUSE_LATE, CAUSE_INTERRUPT };
enum watch { WATCH_NOTHING, WATCH_FUNCTION, WATCH_REACTION, WATCH_ENDING };

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, WAKE};
enum { FAULTS = sizeof faults / sizeof faults[0], STACK = 64 * 1024 };

/* One per program, because signal handlers and exit() get no context. */
static struct {
    double limit;
    struct sigaction before[FAULTS];
    stack_t stack_before;
    void *stack;

    /* The guarded thread writes these, and its signal handler. */
    pthread_t thread;
    pid_t thread_id;
    sigjmp_buf out;
    volatile sig_atomic_t inside; /* the thread is in a function of the workload */
    volatile sig_atomic_t left;   /* a function was left; the command is ending */
    volatile sig_atomic_t cause;  /* enum cause */
    volatile sig_atomic_t number; /* CAUSE_SIGNAL: the signal; CAUSE_EXIT: the status */
    const void *volatile address;
    const char *volatile exit_function;
    const char *module;            /* the file of the function; NULL: not known */
    struct tg_code_range range;    /* where that module lies, if it is known */
    struct tg_code_place place;    /* where in it the function was left */
    volatile sig_atomic_t looking; /* the handler reads the stack, and may crash */
    char what[300];                /* "golden() of workload 'x', case 'y'" */
    char line[900];                /* to be printed if the command cannot end as it should */
    volatile sig_atomic_t reported;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t watchdog;
    bool running, quit;
    enum watch watch;
    double looked, counted; /* the last look at the clock, and the seconds that count so far */
    double used;            /* CPU time of the guarded thread at the last look */
    enum cause asked;       /* why the watchdog sent WAKE; written before it is sent */
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of CPU time that the guarded thread has used. */
static double cpu_time(void)
{
    clockid_t clock;
    struct timespec t = {0};
    if (guard.thread != 0 && pthread_getcpuclockid(guard.thread, &clock) == 0)
        clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* True if the guarded thread wants a CPU, or has one. Its state follows its name, in parentheses. */
static bool wants_cpu(void)
{
    char path[64], text[512];
    const char *name_end;
    ssize_t size = 0;
    int fd;
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)guard.thread_id);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        size = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[size > 0 ? size : 0] = '\0';
    name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") R", 3) == 0;
}

/* Called with the lock, when there is something else to watch. */
static void start_counting(void)
{
    guard.looked = now();
    guard.used = cpu_time();
    guard.counted = 0;
}

/* Time in which this process was stopped counts for little more than one tick. Of a tick in which the
 * guarded thread wanted a CPU, only the part counts in which it had one. Called with the lock. */
static void count(void)
{
    double at = now(), used = cpu_time();
    double step = fmin(at - guard.looked, 2 * TICK_SECONDS), got = fmax(0, used - guard.used);
    guard.counted += got < step && wants_cpu() ? got : step;
    guard.looked = at;
    guard.used = used;
}

/* ── last words ────────────────────────────────────────────────────────────────────────── */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody hears it */
}

/* Ends the process at once. Calls only what a signal handler may call. */
__attribute__((noreturn)) static void end_now(const char *why)
{
    if (!guard.reported) {
        say("taskglass: WORKLOAD_FAULT: ");
        say(guard.left ? guard.line : guard.what);
        say(guard.left ? "" : why);
        say("\n");
    }
    guard.inside = 0; /* _exit below is ours */
    _exit(tg_status_exit_code(TG_WORKLOAD_FAULT));
}

/* ── leaving a function ────────────────────────────────────────────────────────────────── */

__attribute__((noreturn)) static void jump(enum cause cause, int number, const void *address)
{
    guard.cause = cause;
    guard.number = number;
    guard.address = address;
    guard.inside = 0;
    siglongjmp(guard.out, 1);
}

/* Leaves the function, and notes where it was. If the stack is so damaged that reading it crashes too, the
 * handler is entered again, and does without. */
__attribute__((noreturn)) static void jump_from(enum cause cause, int number, const void *address,
                                                void *context)
{
    if (!guard.looking && guard.module != NULL) {
        guard.cause = cause;
        guard.number = number;
        guard.address = address;
        guard.looking = 1;
        (void)tg_code_place_find(&guard.range, 1, context, &guard.place);
    } else if (guard.looking) {
        cause = (enum cause)guard.cause;
        number = guard.number;
        address = guard.address;
    }
    guard.looking = 0;
    jump(cause, number, address);
}

/* The system does not report an address that no memory can have, so that stands for all of these. */
static const void *address_of(const siginfo_t *info)
{
    if (info->si_code == SI_KERNEL)
        return (const void *)UINTPTR_MAX;
    return info->si_code > 0 ? info->si_addr : NULL;
}

static void on_signal(int number, siginfo_t *info, void *context);

/* Gives a signal to the handler that was there before: the library's own, which puts zeros in the place of
 * what a mapped file has lost. True if that handled it; otherwise it has restored the default action. */
static bool pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction now;
    for (int i = 0; i < FAULTS; i++)
        if (faults[i] == number && guard.before[i].sa_flags & SA_SIGINFO) {
            guard.before[i].sa_sigaction(number, info, context);
            return sigaction(number, NULL, &now) == 0 && now.sa_sigaction == on_signal;
        }
    return false;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    bool own = guard.thread != 0 && pthread_equal(pthread_self(), guard.thread);
    if (number == WAKE) {
        if (own && guard.inside && guard.asked != CAUSE_NONE)
            jump_from(guard.asked, 0, NULL, context);
        return;
    }
    if (own && guard.inside)
        jump_from(CAUSE_SIGNAL, number, address_of(info), context);
    if (guard.inside || guard.left) /* a thread of the workload, or what it left behind */
        end_now(" crashed in a thread of its own");
    if (number == SIGBUS && pass_on(number, info, context))
        return;
    if (*guard.what) {
        say("taskglass: the command crashed after ");
        say(guard.what);
        say(" returned; that function may have overwritten memory\n");
    }
    signal(number, SIG_DFL); /* the signal happens again, and now kills the program */
    if (info->si_code <= 0)
        raise(number);
}

void cli_guard_left(const char *function, int status)
{
    if (!guard.inside)
        return;
    if (!pthread_equal(pthread_self(), guard.thread))
        end_now(" ended the process from a thread of its own");
    guard.exit_function = function;
    jump(CAUSE_EXIT, status, NULL);
}

/* ── the watchdog ──────────────────────────────────────────────────────────────────────── */

/* Asks the thread to leave the function. Called with the lock. */
static void ask(enum cause why)
{
    guard.asked = why;
    guard.watch = WATCH_REACTION;
    start_counting();
    pthread_kill(guard.thread, WAKE);
}

/* The user has asked to stop: ends the process as the signal does by default. It does not flush streams,
 * because the function that hangs may hold their locks. */
static void obey_interrupt(void)
{
    int caught = cli_interrupt_caught();
    if (!caught)
        return;
    signal(caught, SIG_DFL);
    kill(getpid(), caught);
    sleep(1);
}

static void look(void)
{
    count();
    switch (guard.watch) {
    case WATCH_NOTHING:
        break;
    case WATCH_FUNCTION:
        if (cli_interrupt_caught())
            ask(CAUSE_INTERRUPT);
        else if (guard.counted > guard.limit)
            ask(CAUSE_LATE);
        break;
    case WATCH_REACTION:
        if (guard.counted > REACTION_SECONDS) {
            obey_interrupt();
            end_now(" did not return within the limit of --timeout");
        }
        break;
    case WATCH_ENDING:
        if (guard.counted > ENDING_SECONDS) {
            obey_interrupt();
            end_now("");
        }
    }
}

static void *watchdog(void *unused)
{
    pthread_mutex_lock(&guard.lock);
    while (!guard.quit) {
        struct timespec until;
        if (guard.watch == WATCH_NOTHING) {
            pthread_cond_wait(&guard.changed, &guard.lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(TICK_SECONDS * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&guard.changed, &guard.lock, &until);
        look();
    }
    pthread_mutex_unlock(&guard.lock);
    return unused;
}

static void set_watch(enum watch watch)
{
    pthread_mutex_lock(&guard.lock);
    guard.watch = watch;
    start_counting();
    if (watch == WATCH_FUNCTION)
        guard.asked = CAUSE_NONE;
    pthread_cond_signal(&guard.changed);
    pthread_mutex_unlock(&guard.lock);
}

/* ── calling a function ────────────────────────────────────────────────────────────────── */

/* The part of the message behind guard.what. */
static void describe(char *text, size_t size)
{
    switch ((enum cause)guard.cause) {
    case CAUSE_SIGNAL:
        if (guard.number == SIGABRT || guard.number == SIGTRAP)
            snprintf(text, size, " crashed: %s", strsignal(guard.number));
        else if ((uintptr_t)guard.address == UINTPTR_MAX)
            snprintf(text, size, " crashed: %s at an address that no memory can have",
                     strsignal(guard.number));
        else
            snprintf(text, size, " crashed: %s at address 0x%llx", strsignal(guard.number),
                     (unsigned long long)(uintptr_t)guard.address);
        break;
    case CAUSE_EXIT:
        snprintf(text, size, " called %s(%d), which would end taskglass itself; it must return",
                 guard.exit_function, (int)guard.number);
        break;
    case CAUSE_LATE:
        snprintf(text, size, " did not return within %g s; --timeout sets the limit", guard.limit);
        break;
    default:
        snprintf(text, size, " was running when the user stopped the command");
    }
}

/* Which module the function is in. */
static void find_module(const void *code)
{
    Dl_info info;
    guard.module = NULL;
    guard.place = (struct tg_code_place){0};
    if (code != NULL && dladdr(code, &info) != 0 && tg_code_range_of(code, &guard.range))
        guard.module = info.dli_fname;
}

/* Adds the source line, if the debug information has one. */
static void describe_site(char *text, size_t size)
{
    struct tg_source_site site;
    char words[400];
    if (guard.module == NULL || guard.place.at == 0 ||
        tg_source_find(guard.module, &guard.place, &site, NULL) != TG_OK)
        return;
    tg_source_text(&site, words, sizeof words);
    snprintf(text + strlen(text), size - strlen(text), "%s%s",
             guard.cause == CAUSE_LATE ? "; it was " : ", ", words);
}

tg_status cli_guard_call(void *context, const struct tg_workload_call *call, struct tg_error *error)
{
    char how[200];
    (void)context;
    find_module(call->code);
    if (call->case_name)
        snprintf(guard.what, sizeof guard.what, "%s() of workload '%.80s', case '%.80s'",
                 call->function, call->workload, call->case_name);
    else
        snprintf(guard.what, sizeof guard.what, "%s of module '%.200s'", call->function,
                 call->workload);
    pthread_mutex_lock(&guard.lock); /* the watchdog of an earlier call may still look at them */
    guard.thread = pthread_self();
    guard.thread_id = gettid();
    pthread_mutex_unlock(&guard.lock);
    if (sigsetjmp(guard.out, 1) == 0) {
        guard.inside = 1;
        set_watch(WATCH_FUNCTION);
        call->call(call->argument);
        guard.inside = 0;
        set_watch(WATCH_NOTHING);
        return TG_OK;
    }
    describe(how, sizeof how);
    snprintf(guard.line, sizeof guard.line, "%s%s", guard.what, how);
    guard.left = 1; /* from here on the line is printed whatever happens */
    set_watch(WATCH_ENDING);
    if (guard.cause == CAUSE_SIGNAL || guard.cause == CAUSE_LATE)
        describe_site(guard.line, sizeof guard.line);
    error->status = guard.cause == CAUSE_INTERRUPT ? TG_CANCELLED : TG_WORKLOAD_FAULT;
    snprintf(error->text, sizeof error->text, "%.*s", (int)sizeof error->text - 1, guard.line);
    return error->status;
}

/* ── start and end ─────────────────────────────────────────────────────────────────────── */

/* The watchdog takes only the signals that ask the command to end: a workload may have blocked them in
 * the other thread. */
static int start_watchdog(void)
{
    sigset_t all, before;
    guard.quit = false;
    guard.watch = WATCH_NOTHING;
    sigfillset(&all);
    sigdelset(&all, SIGINT);
    sigdelset(&all, SIGTERM);
    sigdelset(&all, SIGHUP);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int cause = pthread_create(&guard.watchdog, NULL, watchdog, NULL);
    guard.running = cause == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return cause;
}

tg_status cli_guard_start(double limit, struct tg_error *error)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER};
    stack_t stack = {.ss_size = STACK};
    guard.limit = limit;
    guard.stack = stack.ss_sp = malloc(STACK);
    int cause = guard.stack ? start_watchdog() : ENOMEM;
    if (cause != 0) {
        free(guard.stack);
        error->status = TG_NO_MEMORY;
        snprintf(error->text, sizeof error->text,
                 "cannot start the thread that watches the workload's functions: %s",
                 strerror(cause));
        return error->status;
    }
    sigaltstack(&stack, &guard.stack_before);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i], &action, &guard.before[i]);
    return TG_OK;
}

void cli_guard_reported(int code)
{
    guard.reported = 1;
    if (!guard.left)
        return;
    cli_interrupt_pass_on();
    fflush(NULL);
    _exit(code);
}

void cli_guard_end(void)
{
    if (!guard.running)
        return;
    pthread_mutex_lock(&guard.lock);
    guard.quit = true;
    pthread_cond_signal(&guard.changed);
    pthread_mutex_unlock(&guard.lock);
    pthread_join(guard.watchdog, NULL);
    guard.running = false;
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i], &guard.before[i], NULL);
    sigaltstack(&guard.stack_before, NULL);
    free(guard.stack);
}

double cli_guard_limit(const struct tg_settings *settings)
{
    double limit = tg_settings_seconds(settings, "timeout");
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, "timeout") == 0 && info.source == TG_FROM_DEFAULT)
            return 10 * limit;
    return limit;
}

/* Of the leak checker, where the program was built with it: it works when the program exits. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

void cli_guard_leave(int code)
{
    if (*guard.what == '\0')
        return;
    if (__lsan_do_leak_check)
        __lsan_do_leak_check();
    fflush(stderr);
    _exit(code);
}
