/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/process/device/link.h"
#include "sandbox/group.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <taskglass/device.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void tg_link_reply(struct tg_process_message *message, uint32_t type, tg_status status,
                   const char *format, ...)
{
    va_list args;
    message->type = type;
    message->status = status;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    if (tg_process_send(TG_PROCESS_SOCKET_FD, message) != 0)
        _exit(TG_PROCESS_EXIT_BYE); /* the host is gone */
}

void tg_link_done(int stopped)
{
    tg_link_done_begun(stopped, 0, false);
}

void tg_link_done_begun(int stopped, uint64_t began, bool lingered)
{
    struct tg_process_message done = {
        .type = TG_PROCESS_DONE, .status = stopped, .address = began, .count = lingered};
    if (tg_process_send(TG_PROCESS_SOCKET_FD, &done) != 0)
        _exit(TG_PROCESS_EXIT_BYE);
}

/* Without a limit: waits until a message comes. */
static bool hear(int host, struct tg_process_message *message, const struct timespec *limit)
{
    struct pollfd fds[] = {{.fd = TG_PROCESS_SOCKET_FD, .events = POLLIN},
                           {.fd = host, .events = POLLIN}};
    if (ppoll(fds, host >= 0 ? 2 : 1, limit, NULL) <= 0)
        return false;
    if (host >= 0 && fds[1].revents != 0)
        _exit(TG_PROCESS_EXIT_BYE);
    if (tg_process_receive(TG_PROCESS_SOCKET_FD, message, 0) != 1)
        _exit(TG_PROCESS_EXIT_BYE);
    return true;
}

void tg_link_listen(int host, struct tg_process_message *message)
{
    while (!hear(host, message, NULL))
        ;
}

bool tg_link_hear(int host, struct tg_process_message *message, uint64_t nanoseconds)
{
    const struct timespec limit = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                                   .tv_nsec = (long)(nanoseconds % 1000000000u)};
    return hear(host, message, &limit);
}

char *tg_link_map(const struct tg_process_message *init)
{
    void *wanted = (void *)(uintptr_t)init->address;
    int protection = PROT_READ | PROT_WRITE;
    void *memory = mmap(wanted, init->size, protection, MAP_SHARED | MAP_FIXED_NOREPLACE,
                        TG_PROCESS_MEMORY_FD, 0);
    if (memory == MAP_FAILED)
        memory = mmap(NULL, init->size, protection, MAP_SHARED, TG_PROCESS_MEMORY_FD, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void tg_link_enter_sandbox(enum tg_sandbox_kind kind, struct tg_process_message *init)
{
    struct tg_sandbox_report report = {0};
    if (init->sandbox == TG_SANDBOX_ON)
        report = tg_sandbox_enter(kind, init->host_pid);
    init->sandbox = (report.no_new_privs ? (uint32_t)TG_PROCESS_NO_NEW_PRIVS : 0) |
                    (report.seccomp ? (uint32_t)TG_PROCESS_SECCOMP : 0);
    init->landlock = report.landlock;
}

int tg_link_open(const char *name, int last_fd, struct tg_process_message *init)
{
    int host;
    tg_sandbox_close_from(last_fd + 1);
    if (tg_process_receive(TG_PROCESS_SOCKET_FD, init, 0) != 1 || init->type != TG_PROCESS_INIT) {
        fprintf(stderr,
                "%s: the taskglass library starts this program; to run a graph use "
                "`taskglass run`\n",
                name);
        exit(TG_PROCESS_EXIT_USAGE);
    }
    /* The socket alone does not show that the host died: a process that the host forked may still
     * hold a copy of it. The host's pidfd does. */
    host = (int)syscall(SYS_pidfd_open, init->host_pid, 0);
    /* A process that is stopped notices nothing, so the host's death continues it. The signal also comes
     * if only the thread ends that opened the device; a device that runs ignores it. */
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (getppid() != init->host_pid)
        exit(TG_PROCESS_EXIT_BYE);
    tg_group_leave(); /* only now: a device that stops earlier would not notice the host's death */
    if (init->protocol != TG_PROCESS_PROTOCOL) {
        tg_link_reply(init, TG_PROCESS_HELLO, TG_ABI_MISMATCH,
                      "the device program speaks protocol %u, the library %u; use both from one "
                      "version",
                      TG_PROCESS_PROTOCOL, init->protocol);
        exit(TG_PROCESS_EXIT_USAGE);
    }
    return host;
}
