/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The seccomp filter: a list of system calls that answer with an error. Everything else is allowed, because
 * libc, loader and drivers of debuggers use more than anybody could list. The answer is EPERM and not a
 * signal, so that a library that only tries something goes on.
 *
 * The kernel runs the filter for every system call that it does not know to be always allowed. A task on
 * the device makes at most a futex call, so futex comes first.
 */
#include "sandbox/steps.h"
#include "sandbox/syscalls.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__) && !defined(__ILP32__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0u /* no filter: the numbers of system calls are another machine's */
#endif

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

/* When a call is refused. */
enum when {
    ALWAYS,
    IF_EQUAL,   /* the argument is the value */
    UNLESS,     /* the argument is not the value */
    IF_ANY_BIT, /* the argument and the value have a bit in common */
    IF_NO_BIT
};

/* Who is refused. */
enum who {
    ALL,
    NO_TOOL,      /* all but a process with a sanitizer */
    NO_EXEC,      /* those that stay the program that they are, unless they have a sanitizer */
    NO_FORK,      /* those that start no processes, unless they have a sanitizer */
    WITHOUT_RULES /* NO_TOOL, and only if Landlock does not keep the process from writing files */
};

struct rule {
    int number;
    enum who who;
    enum when when;
    int argument;
    uint32_t value;
    int error; /* 0: EPERM */
};

#define CALL(name) .number = SYS_##name
#define NAMESPACES                                                                            \
    ((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
                CLONE_NEWPID | CLONE_NEWNET))
#define BY_PROCESS 1 /* IOPRIO_WHO_PROCESS, which older headers lack */
#define OPENS_FOR_WRITING ((uint32_t)(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))

/* clang-format off */
static const struct rule table[] = {
    /* other processes: their memory, descriptors and limits */
    {CALL(ptrace), NO_TOOL}, {CALL(process_vm_readv)}, {CALL(process_vm_writev)},
    {CALL(process_madvise)}, {CALL(process_mrelease)}, {CALL(kcmp)}, {CALL(pidfd_getfd)},
    {CALL(migrate_pages)}, {CALL(move_pages)}, {CALL(prlimit64), ALL, UNLESS, 0, 0},
    /* groups of processes, and all of a user; put_scheduling adds single ones */
    {CALL(setpriority), ALL, UNLESS, 0, PRIO_PROCESS}, {CALL(ioprio_set), ALL, UNLESS, 0, BY_PROCESS},
    /* signals to others, also by a descriptor that sends them; put_signals adds those by number */
    {CALL(pidfd_send_signal)}, {CALL(tkill), NO_TOOL},
    {CALL(fcntl), ALL, IF_EQUAL, 1, F_SETOWN}, {CALL(fcntl), ALL, IF_EQUAL, 1, F_SETOWN_EX},
    {CALL(fcntl), ALL, IF_EQUAL, 1, F_SETSIG},
    {CALL(ioctl), ALL, IF_EQUAL, 1, FIOSETOWN}, {CALL(ioctl), ALL, IF_EQUAL, 1, SIOCSPGRP},
    /* typing into the user's terminal, or taking it */
    {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCSTI}, {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCLINUX},
    {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCSPGRP}, {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCSCTTY},
    {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCSETD}, {CALL(ioctl), ALL, IF_EQUAL, 1, TIOCCONS},
    /* new processes and programs; threads are allowed. The flags of clone3 are out of a filter's reach,
     * and libc takes clone where clone3 is missing. */
    {CALL(fork), NO_FORK}, {CALL(vfork), NO_FORK},
    {CALL(clone), NO_FORK, IF_NO_BIT, 0, CLONE_THREAD}, {CALL(clone), ALL, IF_ANY_BIT, 0, NAMESPACES},
    {CALL(clone3), .error = ENOSYS},
    {CALL(execve), NO_EXEC}, {CALL(execveat), NO_TOOL},
    /* namespaces, mounts, swap */
    {CALL(unshare)}, {CALL(setns)}, {CALL(chroot)}, {CALL(pivot_root)}, {CALL(mount)},
    {CALL(umount2)}, {CALL(open_tree)}, {CALL(open_tree_attr)}, {CALL(move_mount)},
    {CALL(fsopen)}, {CALL(fsconfig)}, {CALL(fsmount)}, {CALL(fspick)}, {CALL(mount_setattr)},
    {CALL(swapon)}, {CALL(swapoff)}, {CALL(quotactl)}, {CALL(quotactl_fd)},
    /* the machine: its kernel, clock, name and ports */
    {CALL(init_module)}, {CALL(finit_module)}, {CALL(delete_module)}, {CALL(kexec_load)},
    {CALL(kexec_file_load)}, {CALL(reboot)}, {CALL(settimeofday)}, {CALL(clock_settime)},
    {CALL(clock_adjtime)}, {CALL(adjtimex)}, {CALL(sethostname)}, {CALL(setdomainname)},
    {CALL(acct)}, {CALL(syslog)}, {CALL(vhangup)}, {CALL(iopl)}, {CALL(ioperm)},
    /* large parts of the kernel that no kernel of a workload needs */
    {CALL(bpf)}, {CALL(perf_event_open)}, {CALL(userfaultfd)}, {CALL(io_uring_setup)},
    {CALL(io_uring_enter)}, {CALL(io_uring_register)}, {CALL(keyctl)}, {CALL(add_key)},
    {CALL(request_key)}, {CALL(fanotify_init)}, {CALL(fanotify_mark)},
    {CALL(open_by_handle_at)}, {CALL(lookup_dcookie)},
    /* networks and services. A pair that sends datagrams could send them to any socket by its name. */
    {CALL(socket)}, {CALL(connect)}, {CALL(bind)}, {CALL(listen)}, {CALL(accept)}, {CALL(accept4)},
    {CALL(socketpair), ALL, IF_ANY_BIT, 1, SOCK_DGRAM & SOCK_RAW}, /* not of stream and seqpacket */
    /* memory, queues and semaphores that other processes have */
    {CALL(shmget)}, {CALL(shmat)}, {CALL(shmctl)}, {CALL(semget)}, {CALL(semctl)}, {CALL(semop)},
    {CALL(semtimedop)}, {CALL(msgget)}, {CALL(msgctl)}, {CALL(msgsnd)}, {CALL(msgrcv)},
    {CALL(mq_open)}, {CALL(mq_unlink)},
    /* properties of files, which Landlock leaves alone */
    {CALL(chmod), NO_TOOL}, {CALL(fchmod), NO_TOOL}, {CALL(fchmodat), NO_TOOL},
    {CALL(fchmodat2), NO_TOOL}, {CALL(chown), NO_TOOL}, {CALL(lchown), NO_TOOL},
    {CALL(fchown), NO_TOOL}, {CALL(fchownat), NO_TOOL}, {CALL(setxattr), NO_TOOL},
    {CALL(lsetxattr), NO_TOOL}, {CALL(fsetxattr), NO_TOOL}, {CALL(setxattrat), NO_TOOL},
    {CALL(removexattr), NO_TOOL}, {CALL(lremovexattr), NO_TOOL}, {CALL(fremovexattr), NO_TOOL},
    {CALL(removexattrat), NO_TOOL}, {CALL(file_setattr), NO_TOOL}, {CALL(utime), NO_TOOL},
    {CALL(utimes), NO_TOOL}, {CALL(futimesat), NO_TOOL}, {CALL(utimensat), NO_TOOL},
    /* files and folders. Landlock refuses these too, where there is Landlock. */
    {CALL(mknod), NO_TOOL}, {CALL(mknodat), NO_TOOL}, {CALL(mkdir), NO_TOOL},
    {CALL(mkdirat), NO_TOOL}, {CALL(rmdir), NO_TOOL}, {CALL(unlink), NO_TOOL},
    {CALL(unlinkat), NO_TOOL}, {CALL(rename), NO_TOOL}, {CALL(renameat), NO_TOOL},
    {CALL(renameat2), NO_TOOL}, {CALL(link), NO_TOOL}, {CALL(linkat), NO_TOOL},
    {CALL(symlink), NO_TOOL}, {CALL(symlinkat), NO_TOOL}, {CALL(truncate), NO_TOOL},
    /* the file that standard output and error may be; under other numbers they are out of reach */
    {CALL(ftruncate), NO_TOOL, IF_EQUAL, 0, STDOUT_FILENO},
    {CALL(ftruncate), NO_TOOL, IF_EQUAL, 0, STDERR_FILENO},
    {CALL(fallocate), NO_TOOL, IF_EQUAL, 0, STDOUT_FILENO},
    {CALL(fallocate), NO_TOOL, IF_EQUAL, 0, STDERR_FILENO},
    {CALL(creat), WITHOUT_RULES},
    {CALL(open), WITHOUT_RULES, IF_ANY_BIT, 1, OPENS_FOR_WRITING},
    {CALL(openat), WITHOUT_RULES, IF_ANY_BIT, 2, OPENS_FOR_WRITING},
    {CALL(openat2), WITHOUT_RULES, .error = ENOSYS}, /* its flags are out of a filter's reach too */
};
/* clang-format on */

/* ── the program ───────────────────────────────────────────────────────────────────────── */

enum { MOST = 1024 };

struct program {
    struct sock_filter code[MOST];
    unsigned short n;
    bool is_full;
};

static void put(struct program *p, unsigned code, uint32_t k, unsigned yes, unsigned no)
{
    p->is_full |= p->n == MOST;
    if (!p->is_full)
        p->code[p->n++] = (struct sock_filter){
            .code = (uint16_t)code, .jt = (uint8_t)yes, .jf = (uint8_t)no, .k = k};
}

static void load(struct program *p, size_t offset)
{
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_number(struct program *p)
{
    load(p, offsetof(struct seccomp_data, nr));
}

/* Goes on if A compares so with k, else skips the next `skip` steps. */
static void go_on_if(struct program *p, unsigned compare, uint32_t k, unsigned skip)
{
    put(p, BPF_JMP | compare | BPF_K, k, 0, skip);
}

static void answer(struct program *p, uint32_t value)
{
    put(p, BPF_RET | BPF_K, value, 0, 0);
}

static uint32_t error_of(const struct rule *rule)
{
    return SECCOMP_RET_ERRNO | (uint32_t)(rule->error ? rule->error : EPERM);
}

/* Expects the call's number in A, and leaves it there. Both machines are little-endian, so the low half of
 * an argument comes first; all arguments that a rule looks at are 32 bits wide. */
static void put_rule(struct program *p, const struct rule *rule)
{
    enum { STEPS = 4 }; /* load the argument, compare, answer, load the number again */
    bool by_bits = rule->when == IF_ANY_BIT || rule->when == IF_NO_BIT;
    bool negated = rule->when == UNLESS || rule->when == IF_NO_BIT;
    if (rule->number == TG_NO_CALL)
        return;
    go_on_if(p, BPF_JEQ, (uint32_t)rule->number, rule->when == ALWAYS ? 1 : STEPS);
    if (rule->when == ALWAYS) {
        answer(p, error_of(rule));
        return;
    }
    load(p, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)rule->argument);
    put(p, BPF_JMP | (by_bits ? BPF_JSET : BPF_JEQ) | BPF_K, rule->value, negated, !negated);
    answer(p, error_of(rule));
    load_number(p);
}

static bool applies(const struct rule *rule, const struct tg_sandbox_needs *needs)
{
    switch (rule->who) {
    case NO_TOOL:
        return !needs->tools;
    case NO_EXEC:
        return !needs->tools && !needs->execs;
    case NO_FORK:
        return !needs->tools && !needs->forks;
    case WITHOUT_RULES:
        return !needs->tools && !needs->file_rules;
    default:
        return true;
    }
}

/* A process that starts no others sends signals to itself alone. One that does may end its children, whose
 * numbers nobody knows yet, so the filter protects the host; Landlock protects the others too. */
static void put_signals(struct program *p, const struct tg_sandbox_needs *needs)
{
    static const int by_process[] = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo,
                                     SYS_rt_tgsigqueueinfo};
    bool knows_all = !needs->forks && !needs->tools;
    pid_t group = getpgid(needs->host);
    for (size_t i = 0; i < sizeof by_process / sizeof by_process[0]; i++) {
        struct rule rule = {.number = by_process[i],
                            .when = knows_all ? UNLESS : IF_EQUAL,
                            .value = (uint32_t)(knows_all ? needs->self : needs->host)};
        put_rule(p, &rule);
    }
    if (knows_all)
        return;
    put_rule(p, &(struct rule){.number = SYS_kill, .when = IF_EQUAL, .value = (uint32_t)-1});
    if (group > 0)
        put_rule(p,
                 &(struct rule){.number = SYS_kill, .when = IF_EQUAL, .value = (uint32_t)-group});
}

/* Who may be scheduled otherwise: the caller, named by 0, or by its number where the filter knows it. Threads
 * go by numbers that nobody knows yet, so one may change itself by 0 alone. */
static void put_scheduling(struct program *p, const struct tg_sandbox_needs *needs)
{
    static const struct {
        int number, argument;
    } calls[] = {{SYS_setpriority, 1},        {SYS_ioprio_set, 1},     {SYS_sched_setaffinity, 0},
                 {SYS_sched_setscheduler, 0}, {SYS_sched_setparam, 0}, {SYS_sched_setattr, 0}};
    enum { STEPS = 5 }; /* load the argument, compare twice, answer, load the number again */
    uint32_t own = needs->forks || needs->tools ? 0 : (uint32_t)needs->self;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        go_on_if(p, BPF_JEQ, (uint32_t)calls[i].number, STEPS);
        load(p, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)calls[i].argument);
        put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
        put(p, BPF_JMP | BPF_JEQ | BPF_K, own, 1, 0);
        answer(p, SECCOMP_RET_ERRNO | EPERM);
        load_number(p);
    }
}

/* Refuses calls of another machine's kind, such as those of 32-bit programs, whose numbers mean others. */
static void put_machine(struct program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
    load_number(p);
#if defined(__x86_64__)
    go_on_if(p, BPF_JGE, 0x40000000u, 1); /* x32 */
    answer(p, SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

static void put_all(struct program *p, const struct tg_sandbox_needs *needs)
{
    static const int often[] = {SYS_futex, SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep};
    put_machine(p);
    for (size_t i = 0; i < sizeof often / sizeof often[0]; i++) {
        go_on_if(p, BPF_JEQ, (uint32_t)often[i], 1);
        answer(p, SECCOMP_RET_ALLOW);
    }
    put_signals(p, needs);
    put_scheduling(p, needs);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (applies(&table[i], needs))
            put_rule(p, &table[i]);
    answer(p, SECCOMP_RET_ALLOW);
}

/* Asks to leave the processor's speculation alone: older kernels slow it down in processes with a filter,
 * against attacks on other code in the same process, which a module need not attack this way. */
static bool install(struct program *p)
{
    struct sock_fprog filter = {.filter = p->code, .len = p->n};
    if (p->is_full)
        return false;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) ==
               0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

bool tg_sandbox_filter(const struct tg_sandbox_needs *needs)
{
    static struct program p;
    if (MACHINE == 0)
        return false;
    p.n = 0;
    p.is_full = false;
    put_all(&p, needs);
    return install(&p);
}

bool tg_sandbox_keep_group(void)
{
    static const struct rule rules[] = {{CALL(setsid)}, {CALL(setpgid)}};
    static struct program p;
    if (MACHINE == 0)
        return false;
    p.n = 0;
    p.is_full = false;
    put_machine(&p);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        put_rule(&p, &rules[i]);
    answer(&p, SECCOMP_RET_ALLOW);
    return install(&p);
}
