/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass-reference MODULE PARENT on|off: calls the reference functions of a workload on behalf of the library. */
#define _GNU_SOURCE 1
#include "reference/protocol.h"
#include "sandbox/group.h"
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <taskglass/execute.h>
#include <taskglass/source.h>
#include <taskglass/workload.h>
#include <unistd.h>

/* Globals, because the signal handler takes no argument. */
static char *memory;
static uint64_t memory_size;
static struct tg_code_range module;
static struct tg_code_place place;
static volatile sig_atomic_t is_looking; /* the handler reads the stack, and may crash */

/* ── messages ──────────────────────────────────────────────────────────────────────────── */

static struct tg_reference_message message_of(enum tg_reference_message_type type, int64_t number)
{
    return (struct tg_reference_message){
        .magic = TG_REFERENCE_MAGIC, .type = (uint32_t)type, .number = number, .offset = -1};
}

/* True if the system may do in a moment what it refused now; waits that moment, but not for ever. */
static bool may_try_again(int *tries)
{
    enum { MOST = 50 };
    if (errno == EINTR)
        return true;
    if ((errno != ENOMEM && errno != ENOBUFS) || ++*tries > MOST)
        return false;
    usleep(1000);
    errno = ENOMEM;
    return true;
}

static bool tell(const struct tg_reference_message *message)
{
    ssize_t sent;
    int tries = 0;
    do
        sent = send(TG_REFERENCE_SOCKET_FD, message, sizeof *message, MSG_NOSIGNAL);
    while (sent < 0 && may_try_again(&tries));
    return sent == (ssize_t)sizeof *message;
}

/* The exit status after a call that failed. */
static int exit_after(int cause)
{
    return cause == ENOMEM || cause == ENOBUFS || cause == EAGAIN ? TG_REFERENCE_EXIT_WANT
                                                                  : TG_REFERENCE_EXIT_LOST;
}

/* ── the runner ────────────────────────────────────────────────────────────────────────── */

/* Says which signal it is and where, then lets the signal kill the process. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    static struct tg_reference_message message; /* of the first fault */
    uint64_t at = (uint64_t)(uintptr_t)info->si_addr, begin = (uint64_t)(uintptr_t)memory;
    if (is_looking)
        goto tell;
    message = message_of(TG_REFERENCE_FAULT, number);
    if (info->si_code > 0) {
        /* The system does not report an address that no memory can have. */
        message.address = number == SIGSEGV && info->si_code == SI_KERNEL ? UINT64_MAX : at;
        if (memory_size > 0 && at >= begin && at - begin < memory_size)
            message.offset = (int64_t)(at - begin);
    }
    is_looking = 1;
    (void)tg_code_place_find(&module, module.end != 0, context, &place);
tell:
    message.at = place.at;
    message.from = place.from;
    tell(&message);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    static char room[64 * 1024]; /* a stack that has overflowed cannot run the handler */
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

static uint64_t page_down(uint64_t offset)
{
    return offset / TG_REFERENCE_PAGE * TG_REFERENCE_PAGE;
}

static uint64_t page_up(uint64_t offset)
{
    return page_down(offset + TG_REFERENCE_PAGE - 1);
}

/* Opens or closes the page before and the page behind a tensor. */
static bool set_guards(const struct tg_reference_tensor *t, int access)
{
    uint64_t before = page_down(t->offset) - TG_REFERENCE_PAGE,
             behind = page_up(t->offset + t->bytes);
    return mprotect(memory + before, TG_REFERENCE_PAGE, access) == 0 &&
           mprotect(memory + behind, TG_REFERENCE_PAGE, access) == 0;
}

static bool same_places(const struct tg_reference_request *a, const struct tg_reference_request *b)
{
    bool same = a->n_tensors == b->n_tensors && a->memory == b->memory;
    for (uint32_t i = 0; i < a->n_tensors && same; i++)
        same =
            a->tensor[i].offset == b->tensor[i].offset && a->tensor[i].bytes == b->tensor[i].bytes;
    return same;
}

/* Maps the memory at its present size and moves the guards; mostly there is nothing to do, because
 * neighbouring tasks look alike. */
static bool arrange(const struct tg_reference_request *request, struct tg_reference_request *last)
{
    if (same_places(request, last))
        return true;
    for (uint32_t i = 0; i < last->n_tensors; i++)
        if (!set_guards(&last->tensor[i], PROT_READ | PROT_WRITE))
            return false;
    last->n_tensors = 0;
    if (request->memory != memory_size) {
        if (memory_size > 0)
            munmap(memory, memory_size);
        memory = mmap(NULL, request->memory, PROT_READ | PROT_WRITE, MAP_SHARED,
                      TG_REFERENCE_MEMORY_FD, 0);
        if (memory == MAP_FAILED)
            return false;
        memory_size = request->memory;
    }
    for (uint32_t i = 0; i < request->n_tensors; i++)
        if (!set_guards(&request->tensor[i], PROT_NONE))
            return false;
    *last = *request;
    return true;
}

static void no_barrier(const struct tg_ctx *ctx)
{
    (void)ctx;
}

static void call(const struct tg_reference_request *request, tg_kernel_fn reference)
{
    struct tg_tensor tensor[TG_MAX_TENSORS] = {0};
    struct tg_ctx ctx = {.tensor = tensor,
                         .scalar = request->scalar,
                         .n_tensors = request->n_tensors,
                         .n_scalars = request->n_scalars,
                         .part = request->part,
                         .parts = 1,
                         .mix_barrier = no_barrier};
    for (uint32_t i = 0; i < request->n_tensors; i++) {
        const struct tg_reference_tensor *t = &request->tensor[i];
        tensor[i] = tg_tensor_make((uint64_t)(uintptr_t)(memory + t->offset), t->dtype,
                                   (int)t->ndim, t->shape);
    }
    fesetenv(FE_DFL_ENV); /* an earlier reference may have changed how numbers are rounded */
    reference(&ctx);
}

/* Never returns. */
static void run(const struct tg_workload *workload)
{
    static struct tg_reference_request request, last;
    pid_t own = getpid();
    catch_faults();
    for (;;) {
        struct tg_reference_message done;
        int tries = 0;
        ssize_t size;
        do
            size = recv(TG_REFERENCE_SOCKET_FD, &request, sizeof request, 0);
        while (size < 0 && may_try_again(&tries));
        if (size < 0)
            _exit(exit_after(errno));
        if (size != (ssize_t)sizeof request || request.magic != TG_REFERENCE_MAGIC)
            _exit(TG_REFERENCE_EXIT_LOST);
        if (request.reference >= workload->n_references)
            _exit(request.reference == TG_REFERENCE_RETIRE ? 0 : TG_REFERENCE_EXIT_LOST);
        if (!arrange(&request, &last))
            _exit(exit_after(errno));
        call(&request, workload->references[request.reference].fn);
        if (getpid() != own) /* the reference has forked, and this is the copy */
            _exit(0);
        fflush(stdout);
        done = message_of(TG_REFERENCE_DONE, request.sequence);
        if (!tell(&done))
            _exit(exit_after(errno));
    }
}

/* ── the first process ─────────────────────────────────────────────────────────────────── */

/* The library's process, and whether this one is in the sandbox. */
static pid_t host;
static bool is_sandboxed;

/* Gets the signal when its parent dies, also while a reference loops. */
static void follow(pid_t parent, int number)
{
    prctl(PR_SET_PDEATHSIG, number);
    if (getppid() != parent)
        _exit(TG_REFERENCE_EXIT_LOST);
}

static tg_status open_module(const char *path, const struct tg_workload **workload,
                             struct tg_error *error)
{
    /* Both stay as long as the process lives. They are static so that a leak checker finds them. */
    static struct tg_workload_file *file;
    static struct tg_settings *settings;
    tg_status status = tg_settings_create(&settings, error);
    if (status == TG_OK)
        status = tg_workload_open(settings, path, &file, error);
    if (status == TG_OK)
        *workload = tg_workload_get(file);
    if (status == TG_OK)
        (void)tg_code_range_of(*workload, &module);
    return status;
}

/* Copies words with one space behind each. The longest valid signature then fits. */
static void copy_words(const char *from, char *to, size_t size)
{
    size_t used = 0;
    for (from += strspn(from, " "); *from && used + 1 < size; from += strspn(from, " ")) {
        size_t length = strcspn(from, " ");
        used += (size_t)snprintf(to + used, size - used, "%.*s ", (int)length, from);
        from += length;
    }
}

/* Takes the kernel's signature, for the library to compare it with what was recorded. */
static void take_signature(const struct tg_workload *workload, struct tg_reference_message *is)
{
    for (uint32_t i = 0; i < workload->n_kernels; i++) {
        const char *signature = workload->kernels[i].signature;
        if (signature == NULL || strcmp(workload->kernels[i].name, is->text) != 0)
            continue;
        is->has_signature = 1;
        copy_words(signature, is->signature, sizeof is->signature);
        return;
    }
}

static bool list_references(const struct tg_workload *workload)
{
    uint32_t count = workload->references ? workload->n_references : 0;
    struct tg_reference_message ready = message_of(TG_REFERENCE_READY, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tg_reference_def *def = &workload->references[i];
        struct tg_reference_message is = message_of(TG_REFERENCE_IS, i);
        is.atol = def->atol;
        is.rtol = def->rtol;
        snprintf(is.text, sizeof is.text, "%s", def->fn && def->kernel ? def->kernel : "");
        take_signature(workload, &is);
        if (!tell(&is))
            return false;
    }
    return tell(&ready);
}

/* The present runner, which leads a group of its own. */
static volatile sig_atomic_t runner;

/* The library asks to kill the runner, and all that its references have started. */
static void on_kill(int number)
{
    (void)number;
    if (runner > 0)
        kill(-(pid_t)runner, SIGKILL);
}

/* Stops the runner, with all that its references have started, and this process. */
static void on_stop(int number)
{
    int cause = errno;
    (void)number;
    if (runner > 0)
        kill(-(pid_t)runner, SIGSTOP);
    raise(SIGSTOP);
    if (runner > 0)
        kill(-(pid_t)runner, SIGCONT);
    errno = cause;
}

static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, TG_REFERENCE_KILL);
    sigaddset(&action.sa_mask, TG_REFERENCE_STOP);
    sigaction(number, &action, NULL);
}

/* Forks with the signals blocked, so that their handlers know the runner. */
static pid_t start_runner(const struct tg_workload *workload)
{
    pid_t own = getpid(), child;
    sigset_t handled, before;
    sigemptyset(&handled);
    sigaddset(&handled, TG_REFERENCE_KILL);
    sigaddset(&handled, TG_REFERENCE_STOP);
    sigprocmask(SIG_BLOCK, &handled, &before);
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        follow(own, SIGKILL);
        if (is_sandboxed)
            (void)tg_sandbox_keep_group();
        signal(TG_REFERENCE_KILL, SIG_DFL);
        signal(TG_REFERENCE_STOP, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        run(workload);
    }
    if (child > 0)
        setpgid(child, child); /* both do it, because either may come first */
    runner = child;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* Waits for the runner's end. Continues it if it stops: it has no reason to stop alone. Takes leave of
 * others that end meanwhile: they are processes that a reference has left behind. */
static siginfo_t wait_for_end(pid_t child)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED) != 0) {
            if (errno != EINTR)
                return info;
        } else if (info.si_pid == child && info.si_code == CLD_STOPPED) {
            kill(-child, SIGCONT);
        } else if (info.si_pid == child) {
            return info;
        }
    }
}

/* Kills the children that one thread of this process has. None can have ended and lent its number to
 * another process, because only this process takes leave of them. */
static void kill_children_of(const char *thread)
{
    char path[320], numbers[4096], *at = numbers, *end; /* the caller comes again for the rest */
    FILE *list;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", thread);
    list = fopen(path, "r");
    if (list == NULL)
        return;
    numbers[fread(numbers, 1, sizeof numbers - 1, list)] = '\0';
    fclose(list);
    for (long child; (child = strtol(at, &end, 10)) > 1 && *end == ' '; at = end)
        kill((pid_t)child, SIGKILL);
}

/* Ends all that references have started, also in groups and sessions of their own: whoever loses its parent
 * becomes a child of this process. Gives up on those that start others faster than it kills. */
static void end_children(void)
{
    enum { MOST = 10000, WAIT_MICROSECONDS = 100 };
    for (int i = 0; i < MOST; i++) {
        DIR *threads;
        pid_t ended = waitpid(-1, NULL, WNOHANG | __WALL);
        if (ended > 0)
            continue;
        if (ended < 0 && errno == ECHILD)
            return;
        threads = opendir("/proc/self/task");
        for (struct dirent *d; threads != NULL && (d = readdir(threads)) != NULL;)
            if (d->d_name[0] != '.')
                kill_children_of(d->d_name);
        if (threads != NULL)
            closedir(threads);
        usleep(WAIT_MICROSECONDS);
    }
}

/* One runner after the other. */
static int serve(const struct tg_workload *workload)
{
    catch_signal(TG_REFERENCE_KILL, on_kill);
    catch_signal(TG_REFERENCE_STOP, on_stop);
    /* From now on this process can end what references have started before it ends itself. A constructor
     * may have blocked the signal. */
    sigset_t kill_signal;
    sigemptyset(&kill_signal);
    sigaddset(&kill_signal, TG_REFERENCE_KILL);
    sigprocmask(SIG_UNBLOCK, &kill_signal, NULL);
    follow(host, TG_REFERENCE_KILL);
    for (;;) {
        struct tg_reference_message dead = message_of(TG_REFERENCE_DEAD, CLD_EXITED), born;
        pid_t child = start_runner(workload);
        siginfo_t info;
        if (child < 0)
            return TG_REFERENCE_EXIT_WANT;
        born = message_of(TG_REFERENCE_RUNNER, child);
        if (!tell(&born))
            return exit_after(errno);
        info = wait_for_end(child);
        runner = 0;
        end_children();
        dead.number = info.si_code;
        dead.status = info.si_status;
        if (!tell(&dead))
            return exit_after(errno);
    }
}

int main(int argc, char **argv)
{
    const struct tg_workload *workload = NULL;
    struct tg_error error = {TG_BAD_ARGUMENT,
                             "taskglass-reference is started by the library alone"};
    struct tg_reference_message refused = message_of(TG_REFERENCE_REFUSED, error.status);
    if (argc != 4) {
        fprintf(stderr, "taskglass: %s\n", error.text);
        return 2;
    }
    tg_sandbox_close_from(TG_REFERENCE_MEMORY_FD + 1);
    host = (pid_t)strtol(argv[2], NULL, 10);
    follow(host, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    tg_group_leave(); /* only now: a process that stops earlier would not end with its parent */
    is_sandboxed = strcmp(argv[3], "on") == 0;
    if (is_sandboxed) /* before the module's constructors run */
        (void)tg_sandbox_enter(TG_SANDBOX_FOR_REFERENCES, getppid());
    setvbuf(stdout, NULL, _IOLBF, 0);
    refused.number = open_module(argv[1], &workload, &error);
    if (workload != NULL) { /* ends without the module's destructors, which may crash or hang */
        int status = list_references(workload) ? serve(workload) : exit_after(errno);
        end_children();
        _exit(status);
    }
    memcpy(refused.text, error.text, sizeof refused.text);
    tell(&refused);
    return 2;
}
