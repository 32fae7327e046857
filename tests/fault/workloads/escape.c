/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and references that try to do what the sandbox refuses, and what it must allow. Each task is a
 * deed, which its kernel does, or with `by=reference` the kernel's reference. Its output is 0 if the deed
 * ended as it should in the sandbox, else 1, and then standard error names it. TASKGLASS_TEST_VICTIM is a
 * folder with a file `kept`.
 */
#define _GNU_SOURCE 1
#include "table.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The process that started everything: the parent, or for a reference the parent's parent. */
static pid_t host(void)
{
    pid_t found = getpid();
    for (int i = 0; i < 4; i++) {
        char path[64], line[256], name[64] = "";
        int parent = 0;
        FILE *file;
        snprintf(path, sizeof path, "/proc/%d/status", (int)found);
        file = fopen(path, "r");
        while (file != NULL && fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "Name: %63s", name) != 1)
                (void)sscanf(line, "PPid: %d", &parent);
        if (file != NULL)
            fclose(file);
        if (strncmp(name, "taskglass-", 10) != 0 && strncmp(name, "tg-", 3) != 0)
            break;
        found = parent;
    }
    return found;
}

static const char *victim(const char *name)
{
    static char path[4096];
    const char *folder = getenv("TASKGLASS_TEST_VICTIM");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/nowhere", name);
    return path;
}

/* Was it refused? ENOSYS too: a call that seems to be missing does no harm. */
static int refused(long result)
{
    return result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS) ? 0 : 1;
}

/* The same for an open. */
static int closed(int fd)
{
    int result = refused(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

/* ── what must be refused ──────────────────────────────────────────────────────────────── */

static int do_internet(void)
{
    return closed(socket(AF_INET, SOCK_STREAM, 0));
}

static int do_internet6_datagrams(void)
{
    return closed(socket(AF_INET6, SOCK_DGRAM, 0));
}

static int do_unix_socket(void)
{
    return closed(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int do_netlink(void)
{
    return closed(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int do_datagram_pair(void)
{
    int ends[2];
    return refused(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends));
}

static int do_raw_pair(void)
{
    int ends[2];
    return refused(socketpair(AF_UNIX, SOCK_RAW, 0, ends));
}

static int do_overwrite(void)
{
    return closed(open(victim("kept"), O_WRONLY | O_TRUNC));
}

static int do_append(void)
{
    return closed(open(victim("kept"), O_RDWR | O_APPEND));
}

static int do_create(void)
{
    return closed(open(victim("new"), O_WRONLY | O_CREAT, 0600));
}

static int do_open_unnamed(void)
{
    return closed(open(victim("."), O_TMPFILE | O_RDWR, 0600));
}

static int do_shared_memory(void)
{
    return closed(shm_open("/taskglass-escape", O_RDWR | O_CREAT, 0600));
}

static int do_remove(void)
{
    return refused(unlink(victim("kept")));
}

static int do_rename(void)
{
    char from[4096];
    snprintf(from, sizeof from, "%s", victim("kept"));
    return refused(rename(from, victim("renamed")));
}

static int do_link(void)
{
    char from[4096];
    snprintf(from, sizeof from, "%s", victim("kept"));
    return refused(link(from, victim("linked")));
}

static int do_symlink(void)
{
    return refused(symlink("/etc/passwd", victim("symlinked")));
}

static int do_make_folder(void)
{
    return refused(mkdir(victim("folder"), 0700));
}

static int do_make_fifo(void)
{
    return refused(mkfifo(victim("fifo"), 0600));
}

static int do_cut_errors(void)
{
    return refused(ftruncate(STDERR_FILENO, 0));
}

static int do_empty_errors(void)
{
    return refused(
        fallocate(STDERR_FILENO, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
}

static int do_truncate(void)
{
    return refused(truncate(victim("kept"), 0));
}

static int do_change_mode(void)
{
    return refused(chmod(victim("kept"), 0777));
}

static int do_change_owner(void)
{
    return refused(chown(victim("kept"), getuid(), getgid()));
}

static int do_change_time(void)
{
    return refused(utimensat(AT_FDCWD, victim("kept"), NULL, 0));
}

static int do_execute(void)
{
    char *argv[] = {(char *)"true", NULL};
    return refused(execve("/bin/true", argv, argv + 1));
}

static int do_shell(void)
{
    int status = system("exit 0");
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int do_trace_host(void)
{
    long result = ptrace(PTRACE_SEIZE, host(), NULL, NULL);
    if (result == 0)
        ptrace(PTRACE_DETACH, host(), NULL, NULL);
    return refused(result);
}

static int do_read_host(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&environ, 1};
    return refused(process_vm_readv(host(), &here, 1, &there, 1, 0));
}

static int open_of_host(const char *file)
{
    char path[64], byte;
    int fd, result;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)host(), file);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return refused(fd);
    result = pread(fd, &byte, 1, 0) == 1 || strcmp(file, "mem") == 0;
    close(fd);
    return result;
}

static int do_memory_of_host(void)
{
    return open_of_host("mem");
}

static int do_environment_of_host(void)
{
    return open_of_host("environ");
}

static int do_own_environment(void)
{
    return getenv("ESCAPE_SECRET") != NULL;
}

static int do_signal_host(void)
{
    return refused(kill(host(), 0));
}

static int do_kill_host(void)
{
    return refused(kill(host(), SIGKILL));
}

static int do_signal_thread_of_host(void)
{
    return refused(syscall(SYS_tgkill, host(), host(), 0));
}

static int do_signal_any_thread(void)
{
    return refused(syscall(SYS_tkill, host(), 0));
}

static int do_signal_everybody(void)
{
    return refused(kill(-1, 0));
}

static int do_signal_group_of_host(void)
{
    return refused(kill(-getpgid(host()), 0));
}

static int do_signal_by_descriptor(void)
{
    int fd = (int)syscall(SYS_pidfd_open, host(), 0);
    return fd < 0 ? refused(fd) : refused(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
}

static int do_signal_when_ready(void)
{
    struct f_owner_ex owner = {F_OWNER_PID, host()};
    pid_t pid = owner.pid;
    return refused(fcntl(STDERR_FILENO, F_SETOWN, pid)) |
           refused(fcntl(STDERR_FILENO, F_SETOWN_EX, &owner)) |
           refused(fcntl(STDERR_FILENO, F_SETSIG, SIGTERM)) |
           refused(ioctl(STDERR_FILENO, FIOSETOWN, &pid)) |
           refused(ioctl(STDERR_FILENO, SIOCSPGRP, &pid));
}

static int do_limit_host(void)
{
    struct rlimit limit;
    return refused(prlimit(host(), RLIMIT_CORE, NULL, &limit));
}

/* With the host's own values, so that nothing changes where it works. */
static int do_schedule_host(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t times[3];
    } attributes = {.size = 48, .nice = getpriority(PRIO_PROCESS, (id_t)host())};
    struct sched_param none = {0};
    cpu_set_t where;
    sched_getaffinity(host(), sizeof where, &where);
    return refused(setpriority(PRIO_PROCESS, (id_t)host(), attributes.nice)) |
           refused(sched_setaffinity(host(), sizeof where, &where)) |
           refused(syscall(SYS_sched_setscheduler, host(), SCHED_OTHER, &none)) |
           refused(syscall(SYS_sched_setparam, host(), &none)) |
           refused(syscall(SYS_sched_setattr, host(), &attributes, 0)) |
           refused(syscall(SYS_ioprio_set, 1 /* a process */, host(), 2 << 13 | 4));
}

static int do_schedule_many(void)
{
    return refused(setpriority(PRIO_USER, 0, 19)) | refused(setpriority(PRIO_PGRP, 0, 19)) |
           refused(syscall(SYS_ioprio_set, 3 /* a user */, getuid(), 2 << 13 | 7));
}

static int do_namespace(void)
{
    return refused(unshare(CLONE_NEWUSER));
}

static int do_process_in_namespace(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid((pid_t)child, NULL, 0);
    return refused(child);
}

static int do_type_into_terminal(void)
{
    return refused(ioctl(STDERR_FILENO, TIOCSTI, "x"));
}

static int do_take_terminal(void)
{
    pid_t group = getpgrp();
    return refused(ioctl(STDERR_FILENO, TIOCSPGRP, &group));
}

/* Calls that only an administrator may make, or that open large parts of the kernel. With these arguments
 * none does anything. */
static int do_odd_calls(void)
{
    static const long numbers[] = {SYS_bpf,
                                   SYS_perf_event_open,
                                   SYS_userfaultfd,
                                   SYS_keyctl,
                                   SYS_add_key,
                                   SYS_request_key,
                                   SYS_mount,
                                   SYS_umount2,
                                   SYS_pivot_root,
                                   SYS_chroot,
                                   SYS_swapon,
                                   SYS_init_module,
                                   SYS_kexec_load,
                                   SYS_reboot,
                                   SYS_setns,
                                   SYS_clock_settime,
                                   SYS_sethostname,
                                   SYS_acct,
                                   SYS_shmget,
                                   SYS_msgget,
                                   SYS_semget,
                                   SYS_fanotify_init,
                                   425 /* io_uring_setup */};
    int worked = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        long result = syscall(numbers[i], -1L, -1L, -1L, -1L, -1L);
        if (result >= 0 || errno != EPERM) {
            fprintf(stderr, "system call %ld: %ld, %s\n", numbers[i], result, strerror(errno));
            worked = 1;
        }
    }
    return worked;
}

/* ── what must be allowed ──────────────────────────────────────────────────────────────── */

static int may_print(void)
{
    return printf("a kernel prints to stdout\n") < 0 || fflush(stdout) != 0 ||
           fprintf(stderr, "a kernel prints to stderr\n") < 0;
}

static int may_print_by_name(void)
{
    FILE *file = fopen("/dev/stderr", "a");
    int result = file == NULL || fprintf(file, "a kernel prints to /dev/stderr\n") < 0;
    if (file != NULL)
        fclose(file);
    return result;
}

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static int may_signal_itself(void)
{
    sigset_t usual;
    signal(SIGUSR2, on_signal);
    sigemptyset(&usual);
    sigaddset(&usual, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &usual, NULL);
    raise(SIGUSR2);
    return caught != SIGUSR2 || kill(getpid(), 0) != 0 ||
           sigqueue(getpid(), SIGUSR2, (union sigval){0}) != 0;
}

static int may_schedule_itself(void)
{
    cpu_set_t where;
    return sched_getaffinity(0, sizeof where, &where) != 0 ||
           sched_setaffinity(0, sizeof where, &where) != 0 ||
           setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) != 0;
}

static void *half(void *number)
{
    *(double *)number /= 2;
    return number;
}

static int may_start_threads(void)
{
    pthread_t thread[8];
    double number[8];
    for (int i = 0; i < 8; i++) {
        number[i] = i;
        if (pthread_create(&thread[i], NULL, half, &number[i]) != 0)
            return 1;
    }
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    return number[7] != 3.5;
}

static int may_read_and_load(void)
{
    void *module = dlopen("libm.so.6", RTLD_NOW);
    FILE *maps = fopen("/proc/self/maps", "r");
    int result =
        module == NULL || maps == NULL || fgetc(maps) == EOF || access(victim("kept"), R_OK) != 0;
    if (maps != NULL)
        fclose(maps);
    return result;
}

static int may_use_libc(void)
{
    void *large = malloc(64 << 20);
    int null = open("/dev/null", O_WRONLY), ends[2], result;
    memset(large ? large : &null, 1, large ? 64 << 20 : 0);
    result = large == NULL || null < 0 || write(null, "x", 1) != 1 ||
             setlocale(LC_ALL, "C") == NULL || cos((double)null) > 1 || pipe(ends) != 0 ||
             socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || isatty(0) > 1;
    free(large);
    return result;
}

/* Code that a library makes while it runs. */
static int may_make_code(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code == MAP_FAILED || mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0;
}

/* ── the workload ──────────────────────────────────────────────────────────────────────── */

/* TOOL: a process with a sanitizer may do it. HARM: not to be done outside the sandbox. */
enum { TOOL = 1, HARM = 2 };

/* clang-format off */
#define DEEDS(X) \
    X(do_internet, 0) X(do_internet6_datagrams, 0) X(do_unix_socket, 0) X(do_netlink, 0) \
    X(do_datagram_pair, 0) X(do_raw_pair, 0) X(do_overwrite, TOOL | HARM) X(do_append, TOOL) \
    X(do_create, TOOL) X(do_open_unnamed, TOOL) X(do_shared_memory, TOOL | HARM) \
    X(do_remove, TOOL | HARM) X(do_rename, TOOL | HARM) X(do_link, TOOL) X(do_symlink, TOOL) \
    X(do_make_folder, TOOL) X(do_make_fifo, TOOL) X(do_truncate, TOOL | HARM) \
    X(do_cut_errors, TOOL | HARM) X(do_empty_errors, TOOL | HARM)                        \
    X(do_change_mode, TOOL) X(do_change_owner, TOOL) X(do_change_time, TOOL) \
    X(do_execute, TOOL | HARM) X(do_shell, TOOL) X(do_trace_host, TOOL | HARM) \
    X(do_read_host, 0) X(do_memory_of_host, 0) X(do_environment_of_host, 0) \
    X(do_own_environment, 0) X(do_signal_host, 0) X(do_kill_host, HARM) \
    X(do_signal_thread_of_host, 0) X(do_signal_any_thread, TOOL) X(do_signal_everybody, 0) \
    X(do_signal_group_of_host, 0) X(do_signal_by_descriptor, 0) X(do_signal_when_ready, HARM) \
    X(do_limit_host, 0) X(do_schedule_host, 0) X(do_schedule_many, HARM) X(do_namespace, HARM) \
    X(do_process_in_namespace, HARM) X(may_schedule_itself, 0) \
    X(do_type_into_terminal, HARM) X(do_take_terminal, HARM) X(do_odd_calls, HARM) \
    X(may_print, 0) X(may_print_by_name, 0) X(may_signal_itself, 0) X(may_start_threads, 0) \
    X(may_read_and_load, 0) X(may_use_libc, 0) X(may_make_code, 0)
/* clang-format on */

#define ROW(name, flags) {#name, name, flags},
static const struct deed {
    const char *name;
    int (*act)(void);
    int flags;
} deeds[] = {DEEDS(ROW)};
enum { N_DEEDS = sizeof deeds / sizeof deeds[0] };

/* Scalars: the deed, and whether the kernel does it or its reference. Both give 0 if it ended well. */
static void act(const struct tg_ctx *ctx, int64_t is_reference)
{
    const struct deed *deed = &deeds[tg_arg_i64(ctx, 0)];
    int went_wrong = tg_arg_i64(ctx, 1) == is_reference ? deed->act() : 0;
    if (went_wrong)
        fprintf(stderr, "escape: %s\n", deed->name);
    *TG_ARG(ctx, 0, int32_t) = went_wrong;
}

static void kernel(const struct tg_ctx *ctx)
{
    act(ctx, 0);
}

static void reference(const struct tg_ctx *ctx)
{
    act(ctx, 1);
}

static const struct tg_kernel_def kernels[] = {
    {"act", kernel, TG_AIV, "out:int32 scalar:int64 scalar:int64"}};
static const struct tg_reference_def references[] = {{"act", reference, 0, 0}};
static const struct tg_case_def cases[] = {{"all", "all deeds", "by=kernel skip=0"}};

static void prepare(struct tg_case *c)
{
    int64_t n = N_DEEDS;
    tg_case_tensor(c, "went_wrong", TG_OUT, TG_INT32, 1, &n);
    tg_case_scalar(c, "skip", TG_INT64, (uint64_t)tg_case_int(c, "skip"));
    tg_case_scalar(c, "by", TG_INT64, strcmp(tg_case_text(c, "by"), "kernel") != 0);
}

static void golden(struct tg_case *c)
{
    memset(tg_case_expect_exact(c, "went_wrong"), 0, N_DEEDS * sizeof(int32_t));
}

/* One after the other: the deeds of the list, but those with a flag of `skip`. */
static void orchestrate(struct tg_rt *rt, const struct tg_args *args)
{
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < N_DEEDS; i++) {
        int64_t what = (uint64_t)deeds[i].flags & args->scalar[0].bits ? N_DEEDS - 1 : i;
        struct tg_args task;
        tg_args_init(&task);
        tg_args_out(&task, tg_tensor_slice(args->tensor[0], 0, i, i + 1, 1));
        tg_args_i64(&task, what);
        tg_args_i64(&task, (int64_t)args->scalar[1].bits);
        tg_args_after(&task, last);
        last = tg_submit(rt, 0, &task);
    }
}

TG_WORKLOAD = {TABLE("escape", "kernels and references that try to leave the sandbox"),
               TABLE_REFERENCES};
