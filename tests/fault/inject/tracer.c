/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault-tracer [--process NAME] [--kind KIND --nth N [--from] [--errno E | --short]] --report FILE
 *              -- COMMAND...
 *
 * Runs a command and fails the N-th system call of a kind in the processes of one program. A seccomp
 * filter stops only the calls of that kind, so that the calls that the C library makes itself are
 * reached too: those of stdio, of the loader, of thread creation.
 *
 *   NAME    the file name of the program; calls count from its entry point on, after the loader
 *   --from  every call from the N-th on fails, not only the N-th
 *   E       the number of the error that the call returns
 *   --short instead of failing, reads or writes half of what it was asked to, at least one byte
 *
 * Without --kind it counts the calls of every kind. FILE gets a line per kind, `KIND CALLS`, and
 * `failed NUMBER` for the number of calls that it failed, and `left NUMBER` for the threads that did not
 * end with the command. It exits as the command does; 128 + N if a
 * signal N ended it; 125 if it cannot trace.
 */
#define _GNU_SOURCE 1
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.h"

#ifndef __x86_64__
int main(void)
{
    fputs("fault-tracer: this machine is not x86-64\n", stderr);
    return 125;
}
#else

enum { CANNOT = 125, PATIENCE = 20, CALLS = 512, KINDS = 64, THREADS = 4096 };

static const struct {
    const char *kind;
    int number;
} calls[] = {
#define ROW(kind, call) {#kind, __NR_##call},
    FAULT_CALLS(ROW)
#undef ROW
};
enum { ROWS = sizeof calls / sizeof calls[0] };

/* What a process is, and its threads: a row for each thread. */
struct thread {
    pid_t id, process;
    bool counts;     /* its calls count: the program's entry point was reached */
    bool is_failing; /* at the end of this call, set its result to the error */
    bool is_changed; /* at the end of this call, give it back the arguments that we changed */
    uint64_t first, third;
    uint64_t entry;   /* 0, or where a breakpoint is */
    long entry_bytes; /* what was there before */
};

static struct {
    const char *process, *kind, *report;
    uint64_t nth;
    bool from, is_short;
    int error;
} option;
static struct thread threads[THREADS];
static int thread_count;
static const char *kinds[KINDS];
static uint64_t counted[KINDS], failed;
static int kind_count, kind_of[CALLS], left;

__attribute__((noreturn)) static void fail(const char *what)
{
    fprintf(stderr, "fault-tracer: %s: %s\n", what, strerror(errno));
    exit(CANNOT);
}

static void learn_kinds(void)
{
    memset(kind_of, 0xff, sizeof kind_of);
    for (int i = 0; i < ROWS; i++) {
        int k = 0;
        while (k < kind_count && strcmp(kinds[k], calls[i].kind) != 0)
            k++;
        if (k == kind_count)
            kinds[kind_count++] = calls[i].kind;
        kind_of[calls[i].number] = k;
    }
}

static bool is_wanted(int row)
{
    return !option.kind || strcmp(option.kind, calls[row].kind) == 0;
}

/* Stops the wanted calls and lets all others pass. */
static void install_filter(void)
{
    struct sock_filter code[ROWS + 6];
    unsigned short n = 0, wanted = 0;
    for (int i = 0; i < ROWS; i++)
        wanted += is_wanted(i);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < ROWS; i++) {
        if (!is_wanted(i))
            continue;
        unsigned char jump = (unsigned char)(wanted - (n - 1)); /* to the last statement */
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (unsigned)calls[i].number, jump, 0);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("seccomp");
}

static struct thread *thread_of(pid_t id)
{
    for (int i = 0; i < thread_count; i++)
        if (threads[i].id == id)
            return &threads[i];
    if (thread_count == THREADS) {
        errno = EAGAIN;
        fail("too many threads");
    }
    threads[thread_count] = (struct thread){.id = id, .process = id};
    return &threads[thread_count++];
}

static void forget(pid_t id)
{
    for (int i = 0; i < thread_count; i++)
        if (threads[i].id == id) {
            threads[i] = threads[--thread_count];
            return;
        }
}

static bool is_program(pid_t id)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)id);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    const char *name = strrchr(path, '/');
    return strcmp(name ? name + 1 : path, option.process) == 0;
}

static uint64_t entry_of(pid_t id)
{
    char path[64];
    Elf64_auxv_t row;
    uint64_t entry = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, &row, sizeof row) == (ssize_t)sizeof row)
        if (row.a_type == AT_ENTRY)
            entry = row.a_un.a_val;
    if (fd >= 0)
        close(fd);
    return entry;
}

/* A new program: its calls count from its entry point on, where a breakpoint tells us. */
static void on_exec(struct thread *thread)
{
    thread->counts = false;
    thread->is_failing = thread->is_changed = false;
    thread->entry = 0;
    if (!is_program(thread->id) || !(thread->entry = entry_of(thread->id)))
        return;
    thread->entry_bytes = ptrace(PTRACE_PEEKTEXT, thread->id, (void *)thread->entry, NULL);
    ptrace(PTRACE_POKETEXT, thread->id, (void *)thread->entry,
           (void *)((thread->entry_bytes & ~0xffL) | 0xcc));
}

static bool on_breakpoint(struct thread *thread)
{
    struct user_regs_struct regs;
    if (!thread->entry || ptrace(PTRACE_GETREGS, thread->id, NULL, &regs) != 0 ||
        regs.rip != thread->entry + 1)
        return false;
    ptrace(PTRACE_POKETEXT, thread->id, (void *)thread->entry, (void *)thread->entry_bytes);
    regs.rip = thread->entry;
    ptrace(PTRACE_SETREGS, thread->id, NULL, &regs);
    thread->entry = 0;
    thread->counts = true;
    return true;
}

static void on_start(struct thread *parent, pid_t child)
{
    bool counts = parent->counts;
    thread_of(child)->counts = counts;
}

/* A message that cannot be written cannot be judged. */
static bool is_message(const struct user_regs_struct *regs)
{
    return regs->rdi == STDERR_FILENO &&
           (regs->orig_rax == __NR_write || regs->orig_rax == __NR_writev);
}

/* Returns how to go on: PTRACE_SYSCALL to see the end of the call too. */
static int on_call(struct thread *thread)
{
    struct user_regs_struct regs;
    if (!thread->counts || ptrace(PTRACE_GETREGS, thread->id, NULL, &regs) != 0)
        return PTRACE_CONT;
    int call = (int)regs.orig_rax;
    if (call < 0 || call >= CALLS || kind_of[call] < 0 || is_message(&regs))
        return PTRACE_CONT;
    uint64_t n = ++counted[kind_of[call]];
    if (!option.kind || n < option.nth || (n > option.nth && !option.from))
        return PTRACE_CONT;
    /* A system call leaves its arguments in their registers, and the caller may rely on that. */
    thread->first = regs.rdi;
    thread->third = regs.rdx;
    if (option.is_short) {
        if (regs.rdx <= 1)
            return PTRACE_CONT;
        regs.rdx /= 2;
        thread->is_changed = true;
        failed++;
    } else if (call == __NR_brk) {
        failed++;
        thread->is_changed = true;
        regs.rdi = 0; /* the kernel answers with the old limit, as if there were no memory */
    } else if (call == __NR_close || call == __NR_close_range) {
        failed++;
        thread->is_failing = true; /* Linux closes the file even if close() fails */
        return PTRACE_SYSCALL;
    } else {
        failed++;
        regs.orig_rax = (unsigned long long)-1;
        regs.rax = (unsigned long long)-(long long)option.error;
    }
    ptrace(PTRACE_SETREGS, thread->id, NULL, &regs);
    return thread->is_changed ? PTRACE_SYSCALL : PTRACE_CONT;
}

static void on_end_of_call(struct thread *thread)
{
    struct user_regs_struct regs;
    if ((!thread->is_failing && !thread->is_changed) ||
        ptrace(PTRACE_GETREGS, thread->id, NULL, &regs) != 0)
        return;
    if (thread->is_failing)
        regs.rax = (unsigned long long)-(long long)option.error;
    if (thread->is_changed) {
        regs.rdi = thread->first;
        regs.rdx = thread->third;
    }
    thread->is_failing = thread->is_changed = false;
    ptrace(PTRACE_SETREGS, thread->id, NULL, &regs);
}

/* Handles one stop and lets the thread go on. */
static void on_stop(pid_t id, int status)
{
    struct thread *thread = thread_of(id);
    int signal = WSTOPSIG(status), event = status >> 16, how = PTRACE_CONT;
    unsigned long message = 0;
    if (event == PTRACE_EVENT_SECCOMP) {
        how = on_call(thread);
        signal = 0;
    } else if (event == PTRACE_EVENT_EXEC) {
        on_exec(thread);
        signal = 0;
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
               event == PTRACE_EVENT_CLONE) {
        ptrace(PTRACE_GETEVENTMSG, id, NULL, &message);
        on_start(thread, (pid_t)message);
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP) {
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            how = PTRACE_LISTEN;
        signal = 0;
    } else if (signal == (SIGTRAP | 0x80)) {
        on_end_of_call(thread);
        signal = 0;
    } else if (signal == SIGTRAP && on_breakpoint(thread)) {
        signal = 0;
    }
    ptrace(how, id, NULL, (void *)(uintptr_t)signal);
}

static void write_report(void)
{
    FILE *file = fopen(option.report, "w");
    if (!file)
        fail(option.report);
    for (int k = 0; k < kind_count; k++)
        fprintf(file, "%s %llu\n", kinds[k], (unsigned long long)counted[k]);
    fprintf(file, "failed %llu\n", (unsigned long long)failed);
    fprintf(file, "left %d\n", left);
    fclose(file);
}

static void on_alarm(int number)
{
    (void)number; /* it only interrupts waitpid() */
}

/* Returns when the command and all its processes have ended, or when the command has ended and the
 * others did not follow it for PATIENCE seconds. Those are killed with the tracer. */
static int follow(pid_t child)
{
    struct sigaction action = {.sa_handler = on_alarm};
    int code = -1;
    sigaction(SIGALRM, &action, NULL);
    for (;;) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR && code < 0)
            continue;
        if (id < 0 && code < 0)
            fail("waitpid");
        if (id < 0) {
            left = errno == ECHILD ? 0 : thread_count;
            return code;
        }
        if (WIFSTOPPED(status)) {
            on_stop(id, status);
            continue;
        }
        forget(id);
        if (id == child) {
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            alarm(PATIENCE);
        }
    }
}

static int trace(char **command)
{
    int gate[2];
    char go = 1;
    if (pipe2(gate, O_CLOEXEC) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        close(gate[1]);
        if (read(gate[0], &go, 1) != 1)
            _exit(CANNOT);
        install_filter();
        execvp(command[0], command);
        fail(command[0]);
    }
    close(gate[0]);
    if (ptrace(PTRACE_SEIZE, child, NULL,
               (void *)(uintptr_t)(PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                                   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) != 0)
        fail("ptrace");
    thread_of(child);
    if (write(gate[1], &go, 1) != 1)
        fail("pipe");
    close(gate[1]);
    return follow(child);
}

int main(int argc, char **argv)
{
    int i = 1;
    option.process = "taskglass";
    learn_kinds();
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--from") == 0)
            option.from = true;
        else if (strcmp(argv[i], "--short") == 0)
            option.is_short = true;
        else if (i + 1 < argc && strcmp(argv[i], "--process") == 0)
            option.process = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--kind") == 0)
            option.kind = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--nth") == 0)
            option.nth = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--errno") == 0)
            option.error = (int)strtol(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--report") == 0)
            option.report = argv[++i];
        else
            break;
    }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0 || !option.report) {
        fputs("fault-tracer: wrong usage; the head of tracer.c has the options\n", stderr);
        return CANNOT;
    }
    int code = trace(argv + i + 1);
    write_report();
    return code;
}
#endif
