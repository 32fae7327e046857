/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which a command of Taskglass needs: to find programs and its user's notes on modules, for words and times, and for
 * those who test it. A star ends a prefix. */
static const char *const variables[] = {
    "HOME",         "LANG",           "LANGUAGE",    "LC_*",         "LD_*",
    "LOCPATH",      "PATH",           "TMPDIR",      "TZ",           "TZDIR",
    "USER",         "XDG_STATE_HOME", "TASKGLASS_*", "ASAN_OPTIONS", "LSAN_OPTIONS",
    "TSAN_OPTIONS", "UBSAN_OPTIONS",
};

/* Mapped files do not count as data. A sanitizer maps terabytes of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOST_DATA RLIM_INFINITY
#else
#define MOST_DATA ((rlim_t)4 << 30)
#endif

static bool is_wanted(const char *variable)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        size_t length = strcspn(variables[i], "*");
        if (strncmp(variable, variables[i], length) == 0 &&
            (variables[i][length] == '*' || variable[length] == '='))
            return true;
    }
    return false;
}

/* The texts stay where they are. */
static char **choose_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ[n] != NULL)
        n++;
    char **chosen = calloc(n + 1, sizeof *chosen);
    for (size_t i = 0; chosen != NULL && i < n; i++)
        if (is_wanted(environ[i]))
            chosen[kept++] = environ[i];
    return chosen;
}

static void lower(int resource, rlim_t most)
{
    struct rlimit limit;
    if (most == RLIM_INFINITY || getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_cur = limit.rlim_max = most;
    (void)setrlimit(resource, &limit);
}

/* In the new process, between fork and exec: only calls that are safe in a signal handler. Does not return. */
static void become(pid_t parent, const char *program, char *const argv[], char *const environment[],
                   int out, int err)
{
    sigset_t signals;
    int in = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid(); /* a group of its own, and no terminal that it could ask */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (in < 0 || getppid() != parent || dup2(in, STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_DATA, MOST_DATA);
    execve(program, argv, environment);
    _exit(127);
}

/* Above the standard ones, which the new process overwrites. */
static int make_pipe(int ends[2])
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(made[i]);
    }
    return ends[0] < 0 || ends[1] < 0 ? EMFILE : 0;
}

static void close_all(int fds[4])
{
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int serve_child_start(struct serve_child *child, const char *program, char *const argv[])
{
    int fds[4] = {-1, -1, -1, -1}; /* both ends of the output's pipe, and of the errors' */
    char **environment = choose_environment();
    pid_t parent = getpid();
    int cause = environment != NULL ? make_pipe(fds) : ENOMEM;
    *child = (struct serve_child){.out = -1, .err = -1};
    if (cause == 0)
        cause = make_pipe(fds + 2);
    if (cause == 0) {
        child->pid = fork();
        if (child->pid == 0)
            become(parent, program, argv, environment, fds[1], fds[3]);
        cause = child->pid < 0 ? errno : 0;
    }
    free(environment);
    if (cause != 0) {
        child->pid = 0;
        close_all(fds);
        return cause;
    }
    close(fds[1]);
    close(fds[3]);
    child->out = fds[0];
    child->err = fds[2];
    (void)fcntl(child->out, F_SETFL, O_NONBLOCK);
    (void)fcntl(child->err, F_SETFL, O_NONBLOCK);
    return 0;
}

void serve_child_signal(const struct serve_child *child, int number)
{
    if (child->pid > 0 && kill(-child->pid, number) != 0)
        (void)kill(child->pid, number); /* it has only begun, and has no group yet */
}

/* The group is killed while the process, although dead, still holds its number. */
bool serve_child_has_ended(struct serve_child *child)
{
    siginfo_t info = {0};
    if (child->pid == 0)
        return true;
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        return false;
    serve_child_signal(child, SIGKILL);
    while (waitpid(child->pid, &child->how, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
    return true;
}

void serve_child_close(struct serve_child *child)
{
    if (child->out >= 0)
        close(child->out);
    if (child->err >= 0)
        close(child->err);
    child->out = child->err = -1;
}
