/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the source line of a place in a module: asks taskglass-lines, and believes none of its text. */
#define _GNU_SOURCE 1
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "host/paths.h"
#include "sandbox/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <taskglass/source.h>
#include <unistd.h>

/* Debug information of some hundred megabytes takes a second or two. */
#define LIMIT_SECONDS 3.0

enum { MOST_TEXT = 16384, ADDRESS_TEXT = 24, EXIT_NONE = 127 };

struct question {
    const char *program, *module;
    const struct tg_code_place *place;
    pid_t pid;
    int exit; /* the status of its process, or -1 */
    char answer[MOST_TEXT];
};

/* ── asking ────────────────────────────────────────────────────────────────────────────── */

static int add_files(posix_spawn_file_actions_t *files, int to)
{
    int result = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return result == 0 ? posix_spawn_file_actions_adddup2(files, to, STDOUT_FILENO) : result;
}

static int spawn(struct question *q, int to)
{
    char parent[ADDRESS_TEXT], at[ADDRESS_TEXT], from[ADDRESS_TEXT];
    char *argv[] = {(char *)"taskglass-lines",    parent, (char *)q->module, at,
                    q->place->from ? from : NULL, NULL};
    char **chosen = tg_sandbox_environment(TG_SANDBOX_FOR_LINES);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int result;
    if (chosen == NULL)
        return ENOMEM;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(at, sizeof at, "0x%" PRIx64, q->place->at);
    snprintf(from, sizeof from, "0x%" PRIx64, q->place->from);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    result = add_files(&files, to);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    if (result == 0)
        result = posix_spawn(&q->pid, q->program, &files, &attributes, argv, chosen);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(chosen);
    return result;
}

/* Reads until the process has closed its end, said too much, or the limit is over. */
static void read_answer(struct question *q, int from)
{
    struct tg_limit limit;
    size_t used = 0;
    ssize_t got = 1;
    tg_limit_start(&limit, LIMIT_SECONDS);
    while (got != 0 && used < sizeof q->answer - 1 && !tg_limit_look(&limit, q->pid)) {
        struct pollfd fd = {.fd = from, .events = POLLIN};
        if (poll(&fd, 1, tg_limit_poll(&limit)) <= 0)
            continue;
        got = read(from, q->answer + used, sizeof q->answer - 1 - used);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    q->answer[used] = '\0';
}

/* A program may collect all its children itself, so the number may not be ours any more. */
static void end_process(struct question *q)
{
    int how = 0;
    pid_t waited = waitpid(q->pid, &how, WNOHANG);
    if (waited == 0 && tg_limit_parent_of(q->pid) == getpid()) {
        /* It has closed its output, so it ends by itself unless something is wrong with it. */
        for (int i = 0; i < 50 && (waited = waitpid(q->pid, &how, WNOHANG)) == 0; i++)
            usleep(2000);
        if (waited == 0)
            kill(q->pid, SIGKILL);
    }
    while (waited == 0 && waitpid(q->pid, &how, 0) < 0 && errno == EINTR) {
    }
    q->exit = waited > 0 && WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static int ask(struct question *q)
{
    int ends[2], cause;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    ends[0] = tg_file_above(ends[0], STDERR_FILENO);
    ends[1] = tg_file_above(ends[1], STDERR_FILENO);
    cause = ends[0] < 0 || ends[1] < 0 ? EMFILE : spawn(q, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    if (cause == 0) {
        read_answer(q, ends[0]);
        end_process(q);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    return cause;
}

/* ── reading the answer ────────────────────────────────────────────────────────────────── */

static void copy_printable(char *to, size_t size, const char *from, size_t length)
{
    size_t n = length < size - 1 ? length : size - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[n] = '\0';
}

/* Takes out "x/../" and "./", as they come from a build in another folder. */
static void straighten(char *path)
{
    char *up;
    while ((up = strstr(path, "/../")) != NULL && up != path) {
        char *before = up - 1;
        while (before > path && before[-1] != '/')
            before--;
        if (strncmp(before, "..", 2) == 0 && before + 2 == up)
            return;
        memmove(before, up + 4, strlen(up + 4) + 1);
    }
}

/* "model.c:42 (discriminator 3)"; a file or a line that is not known is "??", "?" or 0. */
static bool parse_line(const char *text, size_t length, struct tg_source_line *line)
{
    char copy[1024], *colon, *end;
    unsigned long number;
    if (length >= sizeof copy || length == 0 || text[0] == '?')
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    end = strstr(copy, " (discriminator ");
    if (end != NULL)
        *end = '\0';
    colon = strrchr(copy, ':');
    if (colon == NULL || colon == copy || colon[1] < '1' || colon[1] > '9')
        return false;
    number = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || number > INT32_MAX)
        return false;
    line->line = (uint32_t)number;
    /* Of a path that is too long the end says more. */
    *colon = '\0';
    straighten(copy);
    length = strlen(copy);
    end = length < sizeof line->file ? copy : copy + length - (sizeof line->file - 1);
    copy_printable(line->file, sizeof line->file, end, strlen(end));
    return true;
}

/* Reads "address", then pairs of lines, innermost first: the function, and its file and line. Keeps the
 * first and the last pair with a line. Returns what follows: the next address, or the end. */
static const char *parse_address(const char *text, struct tg_source_line *first,
                                 struct tg_source_line *last)
{
    const char *end = strchr(text, '\n');
    memset(first, 0, sizeof *first);
    memset(last, 0, sizeof *last);
    while (end != NULL && strncmp(end + 1, "0x", 2) != 0) {
        const char *function = end + 1, *file = strchr(function, '\n');
        struct tg_source_line line = {0};
        end = file ? strchr(file + 1, '\n') : NULL;
        if (end == NULL)
            break;
        if (!parse_line(file + 1, (size_t)(end - file - 1), &line))
            continue;
        if (*function != '?')
            copy_printable(line.function, sizeof line.function, function,
                           (size_t)(file - function));
        if (first->line == 0)
            *first = line;
        *last = line;
    }
    return end != NULL ? end + 1 : "";
}

static bool is_same(const struct tg_source_line *a, const struct tg_source_line *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0 &&
           strcmp(a->function, b->function) == 0;
}

static bool parse_answer(const char *text, struct tg_source_site *site)
{
    struct tg_source_line unused;
    text = parse_address(text, &site->at, &site->called_at);
    if (strncmp(text, "0x", 2) == 0)
        (void)parse_address(text, &unused, &site->called_at);
    if (is_same(&site->at, &site->called_at))
        memset(&site->called_at, 0, sizeof site->called_at);
    return site->at.line != 0;
}

tg_status tg_source_find(const char *module, const struct tg_code_place *place,
                         struct tg_source_site *site, struct tg_error *error)
{
    struct question q = {.module = module, .place = place};
    char *program;
    tg_status status;
    int cause;
    TG_REFUSE_NULL(error, module);
    TG_REFUSE_NULL(error, place);
    TG_REFUSE_NULL(error, site);
    memset(site, 0, sizeof *site);
    if (place->at == 0)
        return tg_error_set(error, TG_NOT_FOUND, "no place in %s is known", module);
    status = tg_paths_find("taskglass-lines", &program, error);
    if (status != TG_OK)
        return status;
    q.program = program;
    cause = ask(&q);
    free(program);
    if (cause != 0)
        return tg_error_set(error, TG_UNSUPPORTED, "cannot look up a source line: %s",
                            strerror(cause));
    if (parse_answer(q.answer, site))
        return TG_OK;
    memset(site, 0, sizeof *site);
    if (q.exit == EXIT_NONE)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "addr2line is not installed (Debian: apt-get install binutils)");
    return tg_error_set(error, TG_NOT_FOUND, "%s has no line for this place; compile it with -g",
                        module);
}

/* ── the line as text ──────────────────────────────────────────────────────────────────── */

static void add_line(const struct tg_source_line *line, char *text, size_t size)
{
    char here[4096];
    size_t length;
    const char *path = line->file, *shown = path;
    if (getcwd(here, sizeof here) != NULL && (length = strlen(here)) > 1 &&
        strncmp(path, here, length) == 0 && path[length] == '/')
        shown = path + length + 1;
    snprintf(text, size, "%s:%" PRIu32 "%s%s", shown, line->line, line->function[0] ? " in " : "",
             line->function);
}

void tg_source_text(const struct tg_source_site *site, char *text, size_t size)
{
    char line[400];
    if (text == NULL || size == 0)
        return;
    text[0] = '\0';
    if (site == NULL || site->at.line == 0)
        return;
    add_line(&site->at, line, sizeof line);
    snprintf(text, size, "at %s", line);
    if (site->called_at.line == 0)
        return;
    add_line(&site->called_at, line, sizeof line);
    snprintf(text + strlen(text), size - strlen(text), ", called at %s", line);
}
