/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <taskglass/execute.h>
#include <taskglass/workload.h>
#include <time.h>
#include <unistd.h>

/* The most that a module may have to say. */
enum { MOST_BYTES = 4 << 20, TICK_MILLISECONDS = 50 };

/* What the process sends first; then `bytes` bytes of texts, each with its zero: path, summary, and three
 * for each case. If the module cannot be opened there is one text, the error. */
struct answer {
    uint32_t magic, bytes, n_cases;
    int32_t status;
};
enum { MAGIC = 0x74676c69, EXIT_MUTE = 122 /* it could not send its answer */ };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ── the process that loads it ─────────────────────────────────────────────────────────── */

static void put(FILE *texts, const char *text)
{
    fwrite(text ? text : "", 1, text ? strlen(text) + 1 : 1, texts);
}

static void put_workload(FILE *texts, const struct tg_workload_file *file)
{
    const struct tg_workload *workload = tg_workload_get(file);
    put(texts, tg_workload_path(file));
    put(texts, workload->summary);
    for (uint32_t i = 0; i < workload->n_cases; i++) {
        put(texts, workload->cases[i].name);
        put(texts, workload->cases[i].params);
        put(texts, workload->cases[i].summary);
    }
}

static bool send_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)bytes + done, size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Drops a Ctrl-Z that came before: in its own group nobody would continue this process. */
static void leave_group(const sigset_t *mask)
{
    struct sigaction before, ignored = {.sa_handler = SIG_IGN};
    setpgid(0, 0);
    sigaction(SIGTSTP, &ignored, &before);
    sigaction(SIGTSTP, &before, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* What the module prints goes to standard error: the list is for programs too. Ends without
 * destructors, which are the module's code as well. */
__attribute__((noreturn)) static void answer(const struct tg_settings *settings, const char *name,
                                             int to, pid_t parent, const sigset_t *mask)
{
    struct answer head = {.magic = MAGIC};
    struct tg_workload_file *file = NULL;
    struct tg_error error = {TG_OK, ""};
    char *bytes = NULL;
    size_t size = 0;
    FILE *texts;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    leave_group(mask);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(STDERR_FILENO, STDOUT_FILENO);
    head.status = tg_workload_open(settings, name, &file, &error);
    texts = open_memstream(&bytes, &size);
    if (texts != NULL && head.status == TG_OK)
        put_workload(texts, file);
    else if (texts != NULL)
        put(texts, error.text);
    if (texts == NULL || fclose(texts) != 0 || bytes == NULL || size > MOST_BYTES) {
        head.status = TG_NO_MEMORY; /* without a text */
        size = 0;
    }
    head.n_cases = head.status == TG_OK ? tg_workload_get(file)->n_cases : 0;
    head.bytes = (uint32_t)size;
    fflush(stdout);
    _exit(send_all(to, &head, sizeof head) && send_all(to, bytes, size) ? 0 : EXIT_MUTE);
}

/* ── what it says ──────────────────────────────────────────────────────────────────────── */

/* Where the process answers, and how long it may still take. */
struct listening {
    int from;
    double at, left; /* the last look at the clock, and seconds */
};

/* Counts the time since the last look, but no pause: a step that took much longer than a tick was
 * interrupted. */
static bool is_late(struct listening *l)
{
    double passed = now() - l->at, most = 2e-3 * TICK_MILLISECONDS;
    l->at += passed;
    l->left -= passed < most ? passed : most;
    return l->left < 0;
}

/* False: the process ended, the time is over, or *cause says what the system refused. */
static bool hear(struct listening *l, void *bytes, size_t size, int *cause)
{
    for (size_t got = 0; got < size;) {
        struct pollfd input = {.fd = l->from, .events = POLLIN};
        ssize_t n;
        if (is_late(l))
            return false;
        if (poll(&input, 1, TICK_MILLISECONDS) <= 0)
            continue;
        n = read(l->from, (char *)bytes + got, size - got);
        if (n < 0 && errno != EINTR)
            *cause = errno;
        if (n == 0 || *cause != 0)
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The next text; "" behind the last. `bytes` ends in a zero. */
static const char *take(const char **at, const char *end)
{
    const char *text = *at < end ? *at : "";
    *at += *at < end ? strlen(*at) + 1 : 0;
    return text;
}

/* The module's code ran in that process, so what it sent may be anything. */
static bool read_answer(struct listening *l, struct cli_module *module, int *cause)
{
    struct answer head;
    const char *at, *end;
    if (!hear(l, &head, sizeof head, cause) || head.magic != MAGIC || head.bytes > MOST_BYTES ||
        head.n_cases > head.bytes / 3)
        return false;
    module->bytes = calloc(1, (size_t)head.bytes + 1);
    module->cases = calloc((size_t)head.n_cases + 1, sizeof *module->cases);
    if (!module->bytes || !module->cases)
        *cause = ENOMEM;
    if (*cause != 0 || !hear(l, module->bytes, head.bytes, cause))
        return false;
    at = module->bytes;
    end = at + head.bytes;
    module->path = take(&at, end);
    if (head.status != TG_OK) {
        module->error.status = (tg_status)head.status;
        snprintf(module->error.text, sizeof module->error.text, "%s",
                 head.bytes > 0 ? module->path : "out of memory to look into it");
        return true;
    }
    module->summary = take(&at, end);
    for (module->n_cases = 0; module->n_cases < head.n_cases; module->n_cases++) {
        struct cli_module_case *c = &module->cases[module->n_cases];
        c->name = take(&at, end);
        c->params = take(&at, end);
        c->summary = take(&at, end);
    }
    module->is_good = true;
    return true;
}

static void blame(struct cli_module *module, bool was_late, double limit, int how)
{
    struct tg_error *error = &module->error;
    error->status = TG_WORKLOAD_FAULT;
    if (was_late)
        snprintf(error->text, sizeof error->text,
                 "a constructor did not return within %g s; --timeout sets the limit", limit);
    else if (WIFSIGNALED(how))
        snprintf(error->text, sizeof error->text, "it crashed while it was loaded: %s",
                 strsignal(WTERMSIG(how)));
    else
        snprintf(error->text, sizeof error->text,
                 "a constructor ended its process with exit status %d",
                 WIFEXITED(how) ? WEXITSTATUS(how) : 0);
}

static void cannot_look(struct cli_module *module, int cause)
{
    module->error.status = TG_IO_ERROR;
    snprintf(module->error.text, sizeof module->error.text,
             "cannot start a process to look into it: %s", strerror(cause));
}

static void listen_to(pid_t child, int from, double limit, struct cli_module *module)
{
    struct listening l = {.from = from, .at = now(), .left = limit};
    int how = 0, cause = 0;
    bool good = read_answer(&l, module, &cause), was_late = !good && l.left < 0;
    if (good || was_late || cause != 0) {
        kill(-child, SIGKILL); /* and what it has started */
        kill(child, SIGKILL);  /* in case it has not yet made its group */
    }
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    kill(-child, SIGKILL);
    if (cause != 0)
        cannot_look(module, cause);
    else if (!good && WIFEXITED(how) && WEXITSTATUS(how) == EXIT_MUTE)
        cannot_look(module, EIO);
    else if (!good)
        blame(module, was_late, limit, how);
}

void cli_module_inspect(const struct tg_settings *settings, const char *name, double limit,
                        struct cli_module *module)
{
    int ends[2], cause = 0;
    pid_t parent = getpid(), child = -1;
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    *module = (struct cli_module){.path = "", .summary = ""};
    fflush(NULL); /* else both processes would write what is buffered */
    if (pipe2(ends, O_CLOEXEC) == 0) {
        sigprocmask(SIG_BLOCK, &stop, &before);
        child = fork();
        cause = errno;
        if (child == 0) {
            close(ends[0]);
            answer(settings, name, ends[1], parent, &before);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(ends[1]);
        if (child > 0)
            listen_to(child, ends[0], limit, module);
        close(ends[0]);
    } else {
        cause = errno;
    }
    if (child < 0)
        cannot_look(module, cause);
}

void cli_module_free(struct cli_module *module)
{
    free(module->bytes);
    free(module->cases);
}
