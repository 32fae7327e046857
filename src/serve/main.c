/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass-serve PARENT PORT HOST PROGRAM [PATH [OTHER]]: shows runs to a browser. The library starts it
 * (src/host/serve.c) and hears one line on its standard output:
 *
 *   ready PORT ADDRESS        or        refused STATUS TEXT
 *
 * Standard input is a pipe that nobody writes to: when it ends, the program that wanted the server has ended, and so
 * does the server. SIGTERM, SIGINT and SIGHUP end it too. HOST "" is loopback; PROGRAM "" means that there is no command
 * line to start for questions.
 */
#define _GNU_SOURCE 1
#include "serve/ahead.h"
#include "serve/answers.h"
#include "serve/connections.h"
#include "serve/http.h"
#include "serve/jobs.h"
#include "serve/listen.h"
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    IDLE_SECONDS = 60, /* without a byte in either direction */
    END_SECONDS = 5,   /* for requests under way when the server ends */
    LOOK_MILLISECONDS = 1000,
    MOST_HEADERS = 32 * 1024 /* bytes of a request, and of what the library keeps for it */
};

struct arguments {
    pid_t parent;
    uint16_t port;
    const char *host, *program; /* NULL: none */
    struct tg_workbench_config shown;
};

static bool read_arguments(int argc, char **argv, struct arguments *a)
{
    if (argc < 5 || argc > 7)
        return false;
    a->parent = (pid_t)strtol(argv[1], NULL, 10);
    a->port = (uint16_t)strtoul(argv[2], NULL, 10);
    a->host = argv[3][0] ? argv[3] : NULL;
    a->program = argv[4][0] ? argv[4] : NULL;
    a->shown.path = argc > 5 ? argv[5] : NULL;
    a->shown.other = argc > 6 ? argv[6] : NULL;
    return true;
}

static int refuse(const struct tg_error *error)
{
    printf("refused %d %s\n", (int)error->status, error->text);
    fflush(stdout);
    return EXIT_USAGE;
}

/* ── the token ─────────────────────────────────────────────────────────────────────────── */

static tg_status make_token(char token[SERVE_TOKEN_CHARACTERS + 1], struct tg_error *error)
{
    unsigned char bytes[SERVE_TOKEN_CHARACTERS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        snprintf(error->text, sizeof error->text, "the system gives no random numbers: %s",
                 strerror(errno));
        return error->status = TG_IO_ERROR;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return TG_OK;
}

/* ── daemons ───────────────────────────────────────────────────────────────────────────── */

static struct MHD_Daemon *start_daemon(struct serve *serve, int fd)
{
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC,
        0, serve_connections_admit, serve->connections, serve_http_answer, serve,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_MOST_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)MOST_HEADERS, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
        serve_http_begin, serve, MHD_OPTION_UNESCAPE_CALLBACK, serve_http_keep_escapes, serve,
        MHD_OPTION_NOTIFY_COMPLETED, serve_http_end, serve, MHD_OPTION_NOTIFY_CONNECTION,
        serve_connections_notify, serve->connections, MHD_OPTION_END);
}

/* Starts one for each socket, which they close. */
static tg_status start_daemons(struct serve *serve, const struct serve_sockets *sockets,
                               struct MHD_Daemon *daemons[], struct tg_error *error)
{
    for (unsigned i = 0; i < sockets->n; i++) {
        daemons[i] = start_daemon(serve, sockets->fd[i]);
        if (daemons[i] == NULL) {
            snprintf(error->text, sizeof error->text, "the HTTP library does not start: %s",
                     strerror(errno));
            return error->status = TG_IO_ERROR;
        }
    }
    return TG_OK;
}

/* ── waiting ───────────────────────────────────────────────────────────────────────────── */

/* Blocked in all threads, which inherit it; jobs.c gives them back to the processes that it starts. */
static int catch_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until a signal comes, or the parent is gone. A process that the parent has forked may hold the other end of the pipe,
 * so the parent's number counts too. */
static void wait_for_end(int signals, pid_t parent)
{
    struct pollfd fds[] = {{signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    while (getppid() == parent) {
        int n = poll(fds, 2, LOOK_MILLISECONDS);
        if ((n < 0 && errno != EINTR) || (n > 0 && (fds[0].revents | fds[1].revents) != 0))
            return;
    }
}

static void give_up(int number)
{
    (void)number;
    _exit(0);
}

static void stop_all(struct serve *serve, struct MHD_Daemon *daemons[])
{
    atomic_store(&serve->ends, true);
    signal(SIGALRM, give_up); /* a request that reads a giant is not waited for */
    alarm(END_SECONDS);
    serve_jobs_stop(serve->jobs);
    for (unsigned i = 0; i < SERVE_MOST_SOCKETS; i++)
        if (daemons[i] != NULL)
            MHD_stop_daemon(daemons[i]);
    serve_ahead_end(serve);
    serve_connections_end(serve->connections);
    serve_jobs_free(serve->jobs);
    serve_budget_end(&serve->budget);
    tg_workbench_close(serve->bench);
}

/* ── main ──────────────────────────────────────────────────────────────────────────────── */

static void say_ready(const struct serve *serve, const struct serve_sockets *sockets)
{
    const char *host = serve->rules.name   ? serve->rules.name
                       : serve->rules.host ? serve->rules.host
                                           : "127.0.0.1";
    bool is_v6 = strchr(host, ':') != NULL;
    printf("ready %u http://%s%s%s:%u/%s/\n", sockets->port, is_v6 ? "[" : "", host,
           is_v6 ? "]" : "", sockets->port, serve->rules.token);
    fflush(stdout);
    fclose(stdout);
}

static tg_status start(struct serve *serve, const struct arguments *a,
                       struct serve_sockets *sockets, struct MHD_Daemon *daemons[],
                       struct tg_error *error)
{
    static char name[256];
    tg_status status = make_token(serve->rules.token, error);
    if (status == TG_OK)
        status = tg_workbench_open(&a->shown, &serve->bench, error);
    if (status == TG_OK)
        status = serve_listen(a->host, a->port, sockets, error);
    if (status != TG_OK)
        return status;
    serve->rules.host = a->host;
    if (sockets->is_everywhere && gethostname(name, sizeof name - 1) == 0)
        serve->rules.name = name;
    serve->connections = serve_connections_start();
    serve->jobs = a->program ? serve_jobs_start(a->program) : NULL;
    if (serve->connections == NULL || (a->program && serve->jobs == NULL)) {
        snprintf(error->text, sizeof error->text, "no memory or no threads for the server");
        return error->status = TG_NO_MEMORY;
    }
    return start_daemons(serve, sockets, daemons, error);
}

int main(int argc, char **argv)
{
    static struct serve serve;
    struct serve_sockets sockets = {0};
    struct MHD_Daemon *daemons[SERVE_MOST_SOCKETS] = {NULL};
    struct arguments arguments;
    struct tg_error error;
    int signals = catch_signals();
    if (signals < 0 || !read_arguments(argc, argv, &arguments)) {
        fputs("taskglass-serve is started by the library alone: taskglass serve\n", stderr);
        return EXIT_USAGE;
    }
    serve_budget_init(&serve.budget);
    if (start(&serve, &arguments, &sockets, daemons, &error) != TG_OK)
        return refuse(&error);
    serve_ahead_start(&serve);
    say_ready(&serve, &sockets);
    wait_for_end(signals, arguments.parent);
    stop_all(&serve, daemons);
    return 0;
}
