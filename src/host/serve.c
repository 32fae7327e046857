/* SPDX-License-Identifier: Apache-2.0 */
/* Starts taskglass-serve, hears its address, and ends it. src/serve/main.c is the other end. */
#define _GNU_SOURCE 1
#include "base/error.h"
#include "base/files.h"
#include "base/limit.h"
#include "host/paths.h"
#include "host/serve_browser.h"
#include "host/text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <taskglass/serve.h>
#include <unistd.h>

/* How long the server may take to find the runs and to begin, and to end. */
#define START_SECONDS 60.0
#define END_SECONDS 10.0

enum { MOST_LINE = 1024 };

struct tg_server {
    pid_t pid; /* 0: it has ended */
    int life;  /* the end of a pipe: when it is closed, the server ends */
    int status;
    uint16_t port;
    char address[MOST_LINE];
    struct tg_serve_browser browser;
};

/* ── starting ──────────────────────────────────────────────────────────────────────────── */

static int add_files(posix_spawn_file_actions_t *files, int life, int said)
{
    int result = posix_spawn_file_actions_adddup2(files, life, STDIN_FILENO);
    return result == 0 ? posix_spawn_file_actions_adddup2(files, said, STDOUT_FILENO) : result;
}

/* In a group of its own: Ctrl-C is for the caller, who then stops the server. */
static int spawn(const char *program, char *const argv[], int life, int said, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int result;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    result = add_files(&files, life, said);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    if (result == 0)
        result = posix_spawn(pid, program, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

/* The words of src/serve/main.c. A path that begins with '-' cannot be taken for an option there: it has none. */
static int spawn_server(struct tg_server *server, const struct tg_server_config *c,
                        const char *program, const char *questions, int life, int said)
{
    char parent[24], port[24];
    const char *argv[8] = {"taskglass-serve", parent, port, c->host ? c->host : "",
                           questions ? questions : ""};
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(port, sizeof port, "%u", c->port);
    argv[5] = c->path;
    argv[6] = c->path ? c->other : NULL;
    return spawn(program, (char *const *)(uintptr_t)argv, life, said, &server->pid);
}

/* ── the line that it says ─────────────────────────────────────────────────────────────── */

static tg_status hear(struct tg_server *server, int from, char line[MOST_LINE],
                      struct tg_error *error)
{
    struct tg_limit limit;
    size_t used = 0;
    tg_limit_start(&limit, START_SECONDS);
    while (used < MOST_LINE - 1) {
        struct pollfd fd = {.fd = from, .events = POLLIN};
        ssize_t got = 0;
        if (tg_limit_look(&limit, server->pid))
            return tg_error_set(error, TG_TIMED_OUT, "the server did not start within %g s",
                                START_SECONDS);
        if (poll(&fd, 1, tg_limit_poll(&limit)) <= 0)
            continue;
        got = read(from, line + used, MOST_LINE - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
        if (memchr(line + used - got, '\n', (size_t)got) != NULL)
            break;
    }
    line[used] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return TG_OK;
}

/* Reads "WORD NUMBER REST". Returns where REST begins; NULL: the line is another one. */
static const char *read_words(const char *line, const char *word, long *number)
{
    size_t length = strlen(word);
    char *end;
    if (strncmp(line, word, length) != 0 || line[length] != ' ')
        return NULL;
    errno = 0;
    *number = strtol(line + length + 1, &end, 10);
    return errno == 0 && end != line + length + 1 && *end == ' ' ? end + 1 : NULL;
}

static tg_status take_line(struct tg_server *server, const char *line, struct tg_error *error)
{
    long number;
    const char *rest = read_words(line, "ready", &number);
    if (rest != NULL && number > 0 && number <= UINT16_MAX) {
        server->port = (uint16_t)number;
        snprintf(server->address, sizeof server->address, "%s", rest);
        return TG_OK;
    }
    rest = read_words(line, "refused", &number);
    if (rest != NULL && number < 0 && number >= INT8_MIN)
        return tg_error_set(error, (tg_status)number, "%s", rest);
    return tg_error_set(error, TG_IO_ERROR, "the server ended before it was ready");
}

/* ── the parts of the installation ─────────────────────────────────────────────────────── */

static tg_status find_server(char **program, struct tg_error *error)
{
#if defined(TG_WITHOUT_SERVE)
    *program = NULL;
    return tg_error_set(error, TG_UNSUPPORTED,
                        "this build has no server: install libmicrohttpd "
                        "(Debian: apt-get install libmicrohttpd-dev) and build Taskglass again");
#else
    tg_status status = tg_paths_find("taskglass-serve", program, error);
    if (status != TG_NOT_FOUND)
        return status;
    return tg_error_set(error, TG_NOT_FOUND,
                        "the program taskglass-serve is not installed beside the library "
                        "(Debian: apt-get install taskglass)");
#endif
}

/* The command line beside the library. Without it the server answers everything but questions. */
static char *find_questions(const char *server)
{
    static const char *const ways[] = {"../../bin", "../../../bin"};
    const char *slash = strrchr(server, '/');
    for (size_t i = 0; slash != NULL && i < sizeof ways / sizeof ways[0]; i++) {
        char *path = tg_text_format("%.*s/%s/taskglass", (int)(slash - server), server, ways[i]);
        if (path != NULL && access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* ── the interface ─────────────────────────────────────────────────────────────────────── */

static int make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return errno;
    }
    ends[0] = tg_file_above(ends[0], STDERR_FILENO);
    ends[1] = tg_file_above(ends[1], STDERR_FILENO);
    return ends[0] < 0 || ends[1] < 0 ? EMFILE : 0;
}

static void close_end(int fd)
{
    if (fd >= 0)
        close(fd);
}

static tg_status launch(struct tg_server *server, const struct tg_server_config *config,
                        const char *program, struct tg_error *error)
{
    char *questions = config->program ? strdup(config->program) : find_questions(program);
    int life[2] = {-1, -1}, said[2] = {-1, -1};
    int cause = make_pipe(life);
    char line[MOST_LINE] = "";
    tg_status status;
    if (cause == 0)
        cause = make_pipe(said);
    if (cause == 0)
        cause = spawn_server(server, config, program, questions, life[0], said[1]);
    if (cause != 0)
        server->pid = 0;
    server->life = life[1];
    close_end(life[0]);
    close_end(said[1]);
    status = cause != 0 ? tg_error_set(error, tg_cause_status(cause), "cannot start %s: %s",
                                       program, strerror(cause))
                        : hear(server, said[0], line, error);
    close_end(said[0]);
    free(questions);
    return status == TG_OK ? take_line(server, line, error) : status;
}

tg_status tg_server_start(const struct tg_server_config *config, struct tg_server **out,
                          struct tg_error *error)
{
    TG_REFUSE_NULL(error, config);
    TG_REFUSE_NULL_AS(error, out, "server");
    char *program;
    *out = NULL;
    if (config->other != NULL && config->path == NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT, "`other` needs a `path` to compare it with");
    if (config->host != NULL && config->host[0] == '\0')
        return tg_error_set(error, TG_BAD_ARGUMENT, "host '' is no address of this machine");
    tg_status status = find_server(&program, error);
    if (status != TG_OK || program == NULL)
        return status;
    struct tg_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        free(program);
        return tg_file_no_memory(error);
    }
    server->life = -1;
    status = launch(server, config, program, error);
    free(program);
    if (status == TG_OK)
        *out = server;
    else
        tg_server_stop(server);
    return status;
}

const char *tg_server_address(const struct tg_server *server)
{
    return server != NULL ? server->address : NULL;
}

uint16_t tg_server_port(const struct tg_server *server)
{
    return server != NULL ? server->port : 0;
}

int64_t tg_server_pid(const struct tg_server *server)
{
    return server != NULL ? server->pid : 0;
}

tg_status tg_server_open(struct tg_server *server, struct tg_error *error)
{
    TG_REFUSE_NULL(error, server);
    return tg_serve_browser_open(&server->browser, server->address, error);
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

/* True if the process has ended; takes its status. A program may collect all its children itself. */
static bool has_ended(struct tg_server *server)
{
    pid_t waited = server->pid != 0 ? waitpid(server->pid, &server->status, WNOHANG) : 0;
    if (waited == server->pid || (waited < 0 && errno == ECHILD))
        server->pid = 0;
    return server->pid == 0;
}

static tg_status say_how(const struct tg_server *server, struct tg_error *error)
{
    if (WIFSIGNALED(server->status))
        return tg_error_set(error, TG_IO_ERROR, "the server was killed: %s",
                            strsignal(WTERMSIG(server->status)));
    return tg_error_set(error, TG_IO_ERROR, "the server has ended");
}

tg_status tg_server_wait(struct tg_server *server, double seconds, struct tg_error *error)
{
    TG_REFUSE_NULL(error, server);
    double until = tg_limit_now() + (seconds > 0 ? seconds : 0);
    for (;;) {
        double left = until - tg_limit_now();
        if (has_ended(server))
            return say_how(server, error);
        if (!(left > 0) || poll(NULL, 0, left < 0.1 ? (int)(left * 1e3) + 1 : 100) < 0)
            return tg_error_set(error, TG_TIMED_OUT, "the server still runs");
    }
}

void tg_server_stop(struct tg_server *server)
{
    struct tg_limit limit;
    if (server == NULL)
        return;
    tg_serve_browser_end(&server->browser);
    close_end(server->life);
    if (!has_ended(server))
        kill(server->pid, SIGTERM);
    tg_limit_start(&limit, END_SECONDS);
    while (!has_ended(server)) {
        if (tg_limit_look(&limit, server->pid))
            kill(server->pid, SIGKILL);
        poll(NULL, 0, 5);
    }
    free(server);
}
