/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Starts and ends a device's process. */
#include "base/children.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "platform/process/protocol.h"
#include "platform/process/state.h"
#include "sandbox/group.h"
#include "sandbox/sandbox.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <taskglass/device.h>
#include <time.h>
#include <unistd.h>

#define HELLO_SECONDS 30.0

/* The host's descriptors for what the child gets. */
struct child_files {
    int socket, memory, calls;
    int mover; /* or -1 */
};

/* Which file the child has at which descriptor. Returns 0 or an errno: each of these takes memory. */
static int add_files(posix_spawn_file_actions_t *files, const struct child_files *child)
{
    int result = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0 && fcntl(STDERR_FILENO, F_GETFD) < 0 && errno == EBADF) /* the host closed it */
        result = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, child->socket, TG_PROCESS_SOCKET_FD);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, child->memory, TG_PROCESS_MEMORY_FD);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, child->calls, TG_PROCESS_CALLS_FD);
    if (result == 0 && child->mover >= 0)
        result = posix_spawn_file_actions_adddup2(files, child->mover, TG_PROCESS_MOVER_FD);
    return result;
}

/* Starts the program in its own process group, because Ctrl-C is for the host alone. No signal is
 * ignored, and only the signals of groups are blocked; socket and memory are at their fixed descriptors; standard input is empty,
 * and standard output goes to the host's standard error. */
static int spawn(const char *program, char **environment, const struct child_files *child,
                 pid_t *pid)
{
    char *argv[] = {(char *)"taskglass-device", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int result;
    posix_spawn_file_actions_init(&files);
    result = add_files(&files, child);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    tg_group_mask(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    if (result == 0)
        result = posix_spawn(pid, program, &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

/* With the sandbox the program gets only some of the host's variables. Returns an errno. */
static int spawn_with_environment(const struct tg_platform_config *config,
                                  const struct tg_process *process, const struct child_files *child,
                                  pid_t *pid)
{
    char **chosen;
    int result;
    if (config->sandbox == TG_SANDBOX_OFF)
        return spawn(config->device_program, environ, child, pid);
    chosen =
        tg_sandbox_environment(process->hidden > 0 ? TG_SANDBOX_FOR_GPU : TG_SANDBOX_FOR_DEVICE);
    if (chosen == NULL)
        return ENOMEM;
    result = spawn(config->device_program, chosen, child, pid);
    free(chosen);
    return result;
}

/* Above the fixed descriptors, so that dup2 in the child overwrites none that it still needs. */
static int make_sockets(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    ends[0] = tg_file_above(ends[0], TG_PROCESS_MOVER_FD);
    int cause = errno;
    ends[1] = tg_file_above(ends[1], TG_PROCESS_MOVER_FD);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    errno = ends[0] < 0 ? cause : errno;
    cause = errno;
    if (ends[0] >= 0)
        close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    errno = cause;
    return -1;
}

static void close_ends(const struct child_files *child)
{
    if (child->socket >= 0)
        close(child->socket);
    if (child->calls >= 0)
        close(child->calls);
    if (child->mover >= 0)
        close(child->mover);
}

static bool make_pair(int *ours, int *theirs)
{
    int ends[2];
    if (make_sockets(ends) != 0)
        return false;
    *ours = ends[0];
    *theirs = ends[1];
    return true;
}

static tg_status make_all_sockets(struct tg_process *process, struct child_files *child,
                                  struct tg_error *error)
{
    if (make_pair(&process->socket, &child->socket) && make_pair(&process->calls, &child->calls) &&
        (process->hidden == 0 || make_pair(&process->mover, &child->mover)))
        return TG_OK;
    int cause = errno;
    close_ends(child);
    return tg_error_set(error, tg_cause_status(cause), "cannot make a socket pair: %s",
                        strerror(cause));
}

static tg_status say_init(struct tg_process *process, const struct tg_platform_config *config,
                          struct tg_process_message *message, struct tg_error *error)
{
    *message = (struct tg_process_message){
        .type = TG_PROCESS_INIT,
        .protocol = TG_PROCESS_PROTOCOL,
        .cores = config->cores,
        .schedulers = config->schedulers,
        .host_pid = getpid(),
        .sandbox = config->sandbox,
        .gpu = config->gpu,
        .address = (uint64_t)(uintptr_t)process->reserved,
        .size = process->size,
        .memory = process->hidden,
        .linger_ns = (uint64_t)(config->linger_seconds * 1e9),
    };
    if (tg_process_send(process->socket, message) != 0)
        return tg_error_set(error, TG_DEVICE_LOST, "the device did not start: %s", strerror(errno));
    return TG_OK;
}

static void keep_gpu(struct tg_process *process, const struct tg_process_message *hello)
{
    process->gpu = (struct tg_platform_gpu){
        .index = hello->gpu, .count = hello->gpus, .id = hello->gpus > 0 ? hello->gpu_id : 0};
    if (hello->gpus > 0) /* other devices say nothing there */
        snprintf(process->gpu.name, sizeof process->gpu.name, "%.95s", hello->text);
}

static tg_status hear_hello(struct tg_process *process, struct tg_process_message *message,
                            struct tg_error *error)
{
    struct tg_autopsy autopsy;
    int heard = tg_process_hear(process, message, HELLO_SECONDS);
    if (heard == 0)
        return tg_error_set(error, TG_DEVICE_LOST, "the device did not start within %g s",
                            HELLO_SECONDS);
    if (heard == TG_HEARD_STOP) {
        tg_process_reap(process, 0);
        return tg_error_set(error, TG_CANCELLED, "cancelled while the device started");
    }
    if (heard < 0 || message->type != TG_PROCESS_HELLO) {
        tg_process_reap(process, 1);
        tg_process_autopsy(process, &autopsy);
        return tg_error_set(error, TG_DEVICE_LOST, "the device did not start: it %s",
                            autopsy.cause);
    }
    if (message->status != TG_OK)
        return tg_error_set(error, (tg_status)message->status, "the device did not start: %s",
                            message->text);
    process->base = message->address;
    process->hidden_at = message->memory;
    process->taken = message->free;
    process->rings_at = message->place;
    process->sandbox =
        (struct tg_sandbox_report){.no_new_privs = message->sandbox & TG_PROCESS_NO_NEW_PRIVS,
                                   .seccomp = message->sandbox & TG_PROCESS_SECCOMP,
                                   .landlock = message->landlock};
    keep_gpu(process, message);
    return TG_OK;
}

tg_status tg_process_start(struct tg_process *process, const struct tg_platform_config *config,
                           struct tg_error *error)
{
    struct tg_process_message message;
    struct child_files child = {-1, process->memory_fd, -1, -1};
    int result;
    sigset_t before;
    tg_status status = make_all_sockets(process, &child, error);
    if (status != TG_OK)
        return status;
    /* Send INIT before the device starts, so that the device never waits for it. INIT holds the
     * host's pid, by which the device notices that the host has died. */
    status = say_init(process, config, &message, error);
    tg_children_hold(&before);
    result = status == TG_OK ? spawn_with_environment(config, process, &child, &process->pid) : 0;
    /* Until HELLO the device blocks SIGTSTP while it does not yet notice that the host dies. */
    if (status == TG_OK && result == 0)
        tg_children_add(process->pid, SIGTSTP);
    tg_children_release(&before);
    close_ends(&child);
    if (status != TG_OK)
        return status;
    if (result != 0) {
        process->pid = 0;
        if (tg_cause_is_fault(result) && result != EACCES)
            return tg_error_set(error, TG_IO_ERROR, "cannot start the device program %s: %s",
                                config->device_program, strerror(result));
        return tg_error_set(error, TG_NOT_FOUND, "cannot start the device program %s: %s; %s",
                            config->device_program, strerror(result),
                            process->hidden > 0 ? "install Taskglass again, or build it"
                                                : "set --device-program");
    }
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    status = hear_hello(process, &message, error);
    if (status == TG_OK)
        tg_children_change(process->pid, SIGSTOP); /* nothing in the device can block this one */
    return status;
}

/* 1: there is something to read, or the process has ended; 0: the time is over; or TG_HEARD_STOP. */
static int await(const struct tg_process *process, int socket, double seconds,
                 const struct tg_watch *watch)
{
    struct pollfd fds[] = {{.fd = socket, .events = POLLIN},
                           {.fd = process->pidfd, .events = POLLIN}};
    struct tg_limit limit;
    tg_limit_start(&limit, seconds);
    for (;;) {
        int ready = poll(fds, process->pidfd >= 0 ? 2 : 1, tg_limit_poll(&limit));
        if (ready > 0)
            return 1;
        if (ready < 0 && errno != EINTR) /* want of memory: as if this wait were over */
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (tg_limit_look(&limit, process->pid))
            return 0;
        if (watch && watch->stop && watch->stop(watch->context))
            return TG_HEARD_STOP;
    }
}

bool tg_process_await(const struct tg_process *process, int socket, double seconds)
{
    return await(process, socket, seconds, NULL) == 1;
}

int tg_process_hear(struct tg_process *process, struct tg_process_message *message, double seconds)
{
    int came = await(process, process->socket, seconds, &process->watch);
    if (came != 1)
        return came;
    int got = tg_process_receive(process->socket, message, MSG_DONTWAIT);
    if (got < 0)
        tg_process_note_refusal(process, errno);
    return got == 1 ? 1 : -1;
}

/* Uses the pidfd if there is one: if the host's program has already waited for our child, the pid
 * may belong to another process by now. */
static int ask_whether_ended(const struct tg_process *process, int options, siginfo_t *info)
{
    *info = (siginfo_t){0};
    return process->pidfd >= 0
               ? waitid((idtype_t)P_PIDFD, (id_t)process->pidfd, info, WEXITED | options)
               : waitid(P_PID, (id_t)process->pid, info, WEXITED | options);
}

static bool has_ended(struct tg_process *process)
{
    siginfo_t info;
    int result = ask_whether_ended(process, WNOHANG | WNOWAIT, &info);
    if (result == 0 ? info.si_pid == 0 : errno == EINTR)
        return false;
    tg_children_remove(process->pid);
    if (result == 0)
        result = ask_whether_ended(process, 0, &info);
    process->was_reaped_elsewhere = result != 0;
    process->wait_status =
        info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
    process->pid = 0;
    __atomic_store_n(&process->reaped, 1u, __ATOMIC_RELEASE); /* E1: pairs with find_signal */
    return true;
}

/* False while nobody knows yet how the process ended. */
static bool find_signal(const struct tg_process *process, int *number)
{
    siginfo_t info;
    bool ours = __atomic_load_n(&process->killed_by_us, __ATOMIC_RELAXED);
    if (__atomic_load_n(&process->reaped, __ATOMIC_ACQUIRE)) { /* E1: pairs with has_ended */
        bool known = !process->was_reaped_elsewhere && WIFSIGNALED(process->wait_status);
        *number = known && !process->killed_by_us ? WTERMSIG(process->wait_status) : 0;
        return true;
    }
    if (ask_whether_ended(process, WNOHANG | WNOWAIT, &info) != 0 || info.si_pid == 0)
        return false;
    *number = info.si_code == CLD_EXITED || ours ? 0 : info.si_status;
    return true;
}

/* Without a pidfd the process could only be named by a pid that another thread may have reaped. */
int tg_process_signal(const struct tg_process *process, double seconds)
{
    int number = 0;
    struct tg_limit limit;
    tg_limit_start(&limit, seconds);
    while (process->pidfd >= 0 && !find_signal(process, &number) && !tg_limit_look(&limit, 0))
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return number;
}

static void send_kill(const struct tg_process *process)
{
    if (process->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
    else
        kill(process->pid, SIGKILL);
}

void tg_process_reap(struct tg_process *process, double seconds)
{
    struct pollfd fd = {.fd = process->pidfd, .events = POLLIN};
    struct tg_limit limit;
    tg_limit_start(&limit, seconds);
    while (process->pid != 0 && !has_ended(process)) {
        if (seconds <= 0 || tg_limit_look(&limit, process->pid)) {
            __atomic_store_n(&process->killed_by_us, true, __ATOMIC_RELAXED);
            send_kill(process);
        }
        /* Without a pidfd this only sleeps for a millisecond. */
        poll(&fd, process->pidfd >= 0 ? 1 : 0, process->pidfd >= 0 ? tg_limit_poll(&limit) : 1);
    }
}
