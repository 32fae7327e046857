/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/reference_process.h"
#include "base/children.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "host/signature.h"
#include "sandbox/group.h"
#include "sandbox/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <taskglass/device.h>
#include <taskglass/source.h>
#include <time.h>
#include <unistd.h>

/* How often a waiting thread looks whether it should stop. */
enum { TICK_MILLISECONDS = 50, MOST_REFERENCES = 4096, MOST_SITES = 8 };
/* To load the module, at least: a very short limit is for references, not for constructors. */
#define LOAD_SECONDS 2.0
/* For what takes a moment, unless the machine is very busy. */
#define PATIENCE_SECONDS 5.0

/* What came of waiting for a message. */
enum heard {
    HEARD,
    HEARD_RUNNER,
    HEARD_NOTHING,
    HEARD_GARBAGE,
    HEARD_END,
    HEARD_STOP,
    HEARD_REFUSAL
};

/* ── messages ──────────────────────────────────────────────────────────────────────────── */

/* The system has no memory for a message; in a moment it may have some. */
static bool is_want(int cause)
{
    return cause == ENOMEM || cause == ENOBUFS;
}

/* Waits a moment before the next attempt. False: there were enough of them. Keeps errno. */
static bool may_try_again(int *tries)
{
    enum { MOST = 50 };
    int cause = errno;
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    errno = cause;
    return ++*tries <= MOST;
}

/* The number comes from the socket: only a group that a child of the process leads will be killed. */
static void take_runner(struct tg_reference_process *p, pid_t runner)
{
    p->runner = runner;
    p->group = runner > 1 && tg_limit_parent_of(runner) == p->pid && getpgid(runner) == runner
                   ? runner
                   : 0;
}

/* A reference may write to the socket too, so a message can be anything. */
static enum heard take(struct tg_reference_process *p, struct tg_reference_message *message)
{
    ssize_t size = recv(p->socket, message, sizeof *message, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return HEARD_NOTHING;
    if (size < 0 && is_want(errno))
        return HEARD_REFUSAL;
    if (size <= 0)
        return HEARD_END;
    message->text[sizeof message->text - 1] = '\0';
    message->signature[sizeof message->signature - 1] = '\0';
    if (size != (ssize_t)sizeof *message || message->magic != TG_REFERENCE_MAGIC)
        return HEARD_GARBAGE;
    if (message->type == TG_REFERENCE_DEAD)
        p->runner = p->group = 0; /* with all that references have started */
    if (message->type != TG_REFERENCE_RUNNER)
        return HEARD;
    take_runner(p, (pid_t)message->number);
    return HEARD_NOTHING;
}

/* True if the first process has ended. What a reference started may still hold the socket. */
static bool is_over(const struct tg_reference_process *p)
{
    siginfo_t info = {0};
    if (p->pid == 0)
        return false;
    if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD; /* the program may have chosen not to wait for its children */
    return info.si_pid != 0;
}

/* HEARD_NOTHING: the time is over, of which only that counts in which the runner could run.
 * HEARD_REFUSAL: errno says what the system refused. With `or_runner` it does not wait for a message once it is known
 * which process is the runner. */
static enum heard hear_from(struct tg_reference_process *p, double seconds, bool or_runner,
                            struct tg_reference_message *message)
{
    struct tg_limit limit;
    bool is_late = false;
    int tries = 0;
    tg_limit_start(&limit, seconds);
    for (;; is_late = tg_limit_look(&limit, p->runner != 0 ? p->runner : p->pid)) {
        struct pollfd fd = {.fd = p->socket, .events = POLLIN};
        int tick = tg_limit_poll(&limit);
        limit.parent = p->runner != 0 ? p->pid : 0;
        if (or_runner && p->runner != 0)
            return HEARD_RUNNER;
        if (__atomic_load_n(p->stop, __ATOMIC_RELAXED) || (p->idle && p->idle(p->idle_context)))
            return HEARD_STOP;
        if (is_late)
            return HEARD_NOTHING;
        bool has_ended = is_over(p); /* before the look for its last message */
        if (poll(&fd, 1, tick < TICK_MILLISECONDS ? tick : TICK_MILLISECONDS) > 0) {
            enum heard heard = take(p, message);
            if (heard != HEARD_NOTHING && !(heard == HEARD_REFUSAL && may_try_again(&tries)))
                return heard;
        } else if (has_ended) {
            return HEARD_END;
        }
    }
}

static enum heard hear(struct tg_reference_process *p, double seconds,
                       struct tg_reference_message *message)
{
    return hear_from(p, seconds, false, message);
}

/* ── start and end ─────────────────────────────────────────────────────────────────────── */

void tg_reference_process_init(struct tg_reference_process *p, const char *program,
                               const struct tg_trusted *module, double limit, uint32_t sandbox,
                               const int *stop)
{
    *p = (struct tg_reference_process){.socket = -1,
                                       .memory_fd = -1,
                                       .program = program,
                                       .module = module,
                                       .load_limit = limit > LOAD_SECONDS ? limit : LOAD_SECONDS,
                                       .sandbox = sandbox,
                                       .stop = stop};
}

/* False if the process has not ended within a few seconds. */
static bool ends_soon(const struct tg_reference_process *p)
{
    struct tg_limit limit;
    tg_limit_start(&limit, PATIENCE_SECONDS);
    for (;;) {
        if (is_over(p))
            return true;
        if (tg_limit_look(&limit, p->pid))
            return false;
        nanosleep(&(struct timespec){0, limit.counted < 0.1 ? 200000 : 20000000}, NULL);
    }
}

/* Ends the process and everything that its references have started. The process ends by itself when its
 * socket is closed and its runner is dead, and waits for that runner, so that no zombie is left. */
static void kill_all(struct tg_reference_process *p)
{
    if (p->socket >= 0)
        close(p->socket);
    p->socket = -1;
    if (p->pid == 0)
        return;
    kill(p->pid, TG_REFERENCE_KILL);
    if (!ends_soon(p))
        kill(p->pid, SIGKILL);
    tg_children_remove(p->pid); /* before its number can belong to another process */
    p->how = 0;
    while (waitpid(p->pid, &p->how, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(p->how) && p->group > 0) /* it could not do that itself */
        kill(-p->group, SIGKILL);
    p->pid = p->runner = p->group = 0;
}

/* After the end of its messages: true if the process gave up because the system refused it something. */
static bool ended_for_want(struct tg_reference_process *p)
{
    kill_all(p);
    return WIFEXITED(p->how) && WEXITSTATUS(p->how) == TG_REFERENCE_EXIT_WANT;
}

void tg_reference_process_end(struct tg_reference_process *p)
{
    kill_all(p);
    if (p->memory_size > 0)
        munmap(p->memory, p->memory_size);
    if (p->memory_fd >= 0)
        close(p->memory_fd);
    p->memory = NULL;
    p->memory_size = 0;
    p->memory_fd = -1;
}

/* Moves a descriptor above the fixed ones, so that dup2 in the child overwrites none that it still
 * needs. */
static int above_reserved(int fd)
{
    return tg_file_above(fd, TG_REFERENCE_MEMORY_FD);
}

/* The size can only grow: if the runner could shrink it, this process would get a SIGBUS. */
static int make_memory(struct tg_reference_process *p)
{
    if (p->memory_fd >= 0)
        return 0;
    p->memory_fd =
        above_reserved(memfd_create("taskglass-reference", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (p->memory_fd < 0)
        return -1;
    (void)fcntl(p->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK);
    return 0;
}

/* Which file the child has at which descriptor. Returns 0 or an errno: each of these takes memory. */
static int add_files(posix_spawn_file_actions_t *files, int socket, int memory)
{
    int result = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0 && fcntl(STDERR_FILENO, F_GETFD) < 0 && errno == EBADF)
        result = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, socket, TG_REFERENCE_SOCKET_FD);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(files, memory, TG_REFERENCE_MEMORY_FD);
    return result;
}

/* In a group of its own, because Ctrl-C is for the caller alone. What references print goes to standard
 * error, so that it cannot mix with the caller's output. */
static int spawn(struct tg_reference_process *p, int socket)
{
    char parent[32];
    char *argv[] = {(char *)"taskglass-reference", (char *)p->module->path, parent,
                    (char *)(p->sandbox == TG_SANDBOX_OFF ? "off" : "on"), NULL};
    char **chosen = NULL;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals, before;
    int result;
    if (p->sandbox != TG_SANDBOX_OFF &&
        (chosen = tg_sandbox_environment(TG_SANDBOX_FOR_REFERENCES)) == NULL)
        return ENOMEM;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    posix_spawn_file_actions_init(&files);
    result = add_files(&files, socket, p->memory_fd);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    tg_group_mask(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    tg_children_hold(&before);
    if (result == 0)
        result =
            posix_spawn(&p->pid, p->program, &files, &attributes, argv, chosen ? chosen : environ);
    if (result != 0)
        p->pid = 0;
    else
        tg_children_add(p->pid, TG_REFERENCE_STOP);
    tg_children_release(&before);
    free(chosen);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

static tg_status launch(struct tg_reference_process *p, struct tg_error *error)
{
    int ends[2], cause;
    if (make_memory(p) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return tg_error_set(error, tg_cause_status(errno),
                            "cannot start the process for references: %s", strerror(errno));
    p->socket = above_reserved(ends[0]);
    cause = p->socket < 0 ? errno : 0;
    ends[1] = above_reserved(ends[1]);
    if (cause == 0)
        cause = ends[1] < 0 ? errno : spawn(p, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    p->fresh = true;
    if (cause == 0)
        return TG_OK;
    return tg_error_set(error, tg_cause_is_fault(cause) ? TG_IO_ERROR : TG_NOT_FOUND,
                        "cannot start %s: %s", p->program, strerror(cause));
}

static bool is_tolerance(double value)
{
    return isfinite(value) && value >= 0;
}

static tg_status bad_module(const struct tg_reference_process *p, const char *how,
                            struct tg_error *error)
{
    return tg_error_set(error, TG_WORKLOAD_FAULT, "the module %s %s while it was loaded",
                        p->module->path, how);
}

static tg_status no_answer(const char *why, struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "cannot talk to the process for references: %s", why);
}

/* Takes one message of the list. Sets *is_last with the last. */
static tg_status take_reference(struct tg_reference_process *p, struct tg_reference_about *about,
                                uint32_t *n, bool *is_last, struct tg_error *error)
{
    struct tg_reference_message m;
    struct tg_error why;
    enum heard heard = hear(p, p->load_limit, &m);
    if (heard == HEARD_STOP)
        return tg_error_set(error, TG_CANCELLED, "cancelled while the module was loaded");
    if (heard == HEARD_NOTHING)
        return bad_module(p, "did not return within the limit of --timeout", error);
    if (heard == HEARD_REFUSAL)
        return no_answer(strerror(errno), error);
    if (heard == HEARD_END && ended_for_want(p))
        return no_answer("out of memory or processes", error);
    if (heard == HEARD_END)
        return bad_module(p, "crashed or exited", error);
    if (heard == HEARD && m.type == TG_REFERENCE_REFUSED)
        return tg_error_set(error, m.number < 0 ? (tg_status)m.number : TG_BAD_ARGUMENT, "%s",
                            m.text);
    *is_last = heard == HEARD && m.type == TG_REFERENCE_READY;
    if (*is_last)
        return TG_OK;
    if (heard != HEARD || m.type != TG_REFERENCE_IS || *n == MOST_REFERENCES)
        return bad_module(p, "wrote to the socket of its process, or has too many references,",
                          error);
    if (!is_tolerance(m.atol) || !is_tolerance(m.rtol))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: the reference of kernel '%s' has tolerances of %g and %g; use 0 "
                            "or more",
                            p->module->path, m.text, m.atol, m.rtol);
    about[*n] = (struct tg_reference_about){.atol = m.atol, .rtol = m.rtol};
    if (tg_signature_parse(&about[*n].signature, m.has_signature ? m.signature : NULL, &why) !=
        TG_OK)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s: kernel %s: %s", p->module->path, m.text,
                            why.text);
    snprintf(about[*n].kernel, sizeof about[*n].kernel, "%.127s", m.text);
    ++*n;
    return TG_OK;
}

tg_status tg_reference_process_start(struct tg_reference_process *p,
                                     struct tg_reference_about **about, uint32_t *count,
                                     struct tg_error *error)
{
    struct tg_reference_about *list = calloc(MOST_REFERENCES, sizeof *list);
    bool is_last = false;
    uint32_t n = 0;
    tg_status status;
    if (list == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    status = tg_trust_still(p->module, error);
    if (status == TG_OK)
        status = launch(p, error);
    while (status == TG_OK && !is_last)
        status = take_reference(p, list, &n, &is_last, error);
    if (status == TG_OK)
        status = tg_trust_still(p->module, error);
    if (status != TG_OK)
        kill_all(p);
    if (status != TG_OK || about == NULL) {
        free(list);
    } else {
        *about = list;
        *count = n;
    }
    return status;
}

tg_status tg_reference_process_reserve(struct tg_reference_process *p, uint64_t size,
                                       struct tg_error *error)
{
    uint64_t wanted = p->memory_size ? p->memory_size : 1 << 20;
    void *memory;
    if (size <= p->memory_size)
        return TG_OK;
    while (wanted < size)
        wanted *= 2;
    if (ftruncate(p->memory_fd, (off_t)wanted) != 0)
        return tg_error_set(error, TG_NO_MEMORY, "no memory for a task's %llu bytes: %s",
                            (unsigned long long)size, strerror(errno));
    memory = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, p->memory_fd, 0);
    if (memory == MAP_FAILED)
        return tg_error_set(error, TG_NO_MEMORY, "no memory for a task's %llu bytes: %s",
                            (unsigned long long)size, strerror(errno));
    if (p->memory_size > 0)
        munmap(p->memory, p->memory_size);
    p->memory = memory;
    p->memory_size = wanted;
    return TG_OK;
}

/* ── calls ─────────────────────────────────────────────────────────────────────────────── */

static bool ask(struct tg_reference_process *p, const struct tg_reference_request *request)
{
    ssize_t sent;
    int tries = 0;
    do
        sent = send(p->socket, request, sizeof *request, MSG_NOSIGNAL);
    while (sent < 0 && (errno == EINTR || (is_want(errno) && may_try_again(&tries))));
    return sent == (ssize_t)sizeof *request;
}

tg_status tg_reference_process_renew(struct tg_reference_process *p, struct tg_error *error)
{
    struct tg_reference_request retire = {.magic = TG_REFERENCE_MAGIC,
                                          .reference = TG_REFERENCE_RETIRE};
    struct tg_reference_message message;
    if (p->pid != 0 && p->fresh)
        return TG_OK;
    if (p->pid != 0 && ask(p, &retire) && hear(p, PATIENCE_SECONDS, &message) == HEARD &&
        message.type == TG_REFERENCE_DEAD && message.number == CLD_EXITED && message.status == 0) {
        p->fresh = true;
        return TG_OK;
    }
    kill_all(p); /* it does not listen any more */
    return tg_reference_process_start(p, NULL, NULL, error);
}

/* "crashed: Segmentation fault, 4 bytes behind argument 2" */
static void describe_fault(const struct tg_reference_request *request,
                           const struct tg_reference_message *m, char *text, size_t size)
{
    int used = snprintf(text, size, "crashed: %s", strsignal((int)m->number));
    for (uint32_t i = 0; i < request->n_tensors && m->offset >= 0; i++) {
        const struct tg_reference_tensor *t = &request->tensor[i];
        uint64_t at = (uint64_t)m->offset, end = t->offset + t->bytes;
        if (at >= end && at - end < UINT64_C(2) * TG_REFERENCE_PAGE) {
            snprintf(text + used, size - (size_t)used, " %llu bytes behind the end of argument %u",
                     (unsigned long long)(at - end), i);
            return;
        }
    }
    if (m->number == SIGSEGV && m->address == UINT64_MAX)
        snprintf(text + used, size - (size_t)used, " at an address that no memory can have");
    else if (m->number != SIGABRT)
        snprintf(text + used, size - (size_t)used, " at address 0x%llx",
                 (unsigned long long)m->address);
}

/* Adds the source line, if the debug information has one. A reference that crashes in every task would
 * take a process each time, so the first few lines must do. */
static void describe_site(struct tg_reference_process *p, const struct tg_reference_message *m,
                          char *text, size_t size)
{
    struct tg_code_place place = {.at = m->at, .from = m->from};
    struct tg_source_site site;
    char words[400];
    if (place.at == 0 || p->sites++ >= MOST_SITES ||
        tg_source_find(p->module->path, &place, &site, NULL) != TG_OK)
        return;
    tg_source_text(&site, words, sizeof words);
    snprintf(text + strlen(text), size - strlen(text), ", %s", words);
}

static bool is_end_for_want(const struct tg_reference_message *m)
{
    return m->number == CLD_EXITED && m->status == TG_REFERENCE_EXIT_WANT;
}

static void describe_death(const struct tg_reference_message *m, char *text, size_t size)
{
    if (m->number != CLD_EXITED)
        snprintf(text, size, "was killed: %s", strsignal((int)m->status));
    else if (is_end_for_want(m))
        snprintf(text, size, "out of memory");
    else if (m->status == TG_REFERENCE_EXIT_LOST)
        snprintf(text, size, "closed or used up the file descriptors of its process");
    else
        snprintf(text, size, "ended its process with exit status %lld", (long long)m->status);
}

/* Waits until the runner is dead, so that the next message comes from the next one. */
static bool wait_for_death(struct tg_reference_process *p)
{
    struct tg_reference_message message;
    for (int i = 0; i < 16; i++) {
        enum heard heard = hear(p, PATIENCE_SECONDS, &message);
        if (heard == HEARD && message.type == TG_REFERENCE_DEAD)
            return true;
        if (heard != HEARD && heard != HEARD_GARBAGE)
            return false;
    }
    return false;
}

/* Sends the request and waits for the answer. No reference is called before its group is known: what it starts in
 * there could not be ended if somebody killed the first process. errno says what was refused. */
static enum heard ask_and_hear(struct tg_reference_process *p,
                               const struct tg_reference_request *request, double limit,
                               struct tg_reference_message *m)
{
    enum heard heard = hear_from(p, PATIENCE_SECONDS, true, m);
    if (heard == HEARD_RUNNER)
        return ask(p, request) ? hear(p, limit, m) : is_want(errno) ? HEARD_REFUSAL : HEARD_END;
    if (heard != HEARD_NOTHING)
        return heard;
    errno = ETIMEDOUT;
    return HEARD_REFUSAL;
}

enum tg_reference_end tg_reference_process_call(struct tg_reference_process *p,
                                                struct tg_reference_request *request, double limit,
                                                char *text, size_t size)
{
    struct tg_reference_message m;
    enum heard heard;
    bool was_fresh = p->fresh;
    request->magic = TG_REFERENCE_MAGIC;
    request->sequence = ++p->sequence;
    request->memory = p->memory_size;
    p->fresh = false;
    heard = ask_and_hear(p, request, limit, &m);
    snprintf(text, size, "%s", strerror(errno)); /* for a refusal */
    if (heard == HEARD && m.type == TG_REFERENCE_DONE && m.number == request->sequence)
        return TG_CALLED_DONE;
    if (heard == HEARD && m.type == TG_REFERENCE_DEAD) {
        describe_death(&m, text, size);
        p->fresh = true;
        if (!is_end_for_want(&m))
            return TG_CALLED_FAILED;
        kill_all(p); /* it may not have taken the request, and the next runner would */
        /* In a runner that served others before, a reference may have used up the memory. */
        return was_fresh ? TG_CALLED_REFUSED : TG_CALLED_FAILED;
    }
    if (heard == HEARD && m.type == TG_REFERENCE_FAULT) {
        describe_fault(request, &m, text, size);
        describe_site(p, &m, text, size);
    } else if (heard == HEARD_NOTHING)
        snprintf(text, size, "did not return within %g s", limit);
    else if (heard == HEARD_END && ended_for_want(p)) {
        snprintf(text, size, "out of memory or processes");
        heard = HEARD_REFUSAL;
    } else if (heard == HEARD_END)
        snprintf(text, size, "ended all processes that run references");
    else if (heard != HEARD_REFUSAL)
        snprintf(text, size, "wrote to a file descriptor that is not its own");
    if (heard == HEARD_STOP)
        return TG_CALLED_STOPPED;
    if (heard == HEARD && m.type == TG_REFERENCE_FAULT)
        p->fresh = wait_for_death(p);
    if (!p->fresh) /* which runner a signal would meet now is not certain, so all of them go */
        kill_all(p);
    if (heard == HEARD_REFUSAL)
        return TG_CALLED_REFUSED;
    return heard == HEARD_NOTHING ? TG_CALLED_LATE : TG_CALLED_FAILED;
}
