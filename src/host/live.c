/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/limit.h"
#include "host/explain.h"
#include "host/live_json.h"

/* A peer may take this long for the rest of a request, and to read a reply. */
#define PATIENCE_SECONDS 5.0
/* A peer that asked nothing for this long gives way to a new one. */
#define SILENT_SECONDS 1.0
/* How often the thread looks for peers that take too long. */
enum { LOOK_MS = 1000, BACKLOG = 16 };

struct peer {
    int fd; /* -1: the place is free */
    char request[TG_LIVE_MOST_REQUEST];
    size_t got;  /* bytes of the request */
    char *reply; /* NULL: the peer may ask */
    size_t size, sent;
    bool is_last; /* close it after this reply */
    double since; /* the last time that something moved */
};

struct tg_live_server {
    /* constant while the thread runs */
    int folder, wake;
    pthread_t thread;
    struct tg_live_about about;
    time_t started;
    double began;
    /* written by the run's threads, read by the server's */
    uint32_t phase;             /* atomic, relaxed: a word of its own */
    uint64_t idle_us, limit_us; /* the same; they may be of different looks */
    pthread_mutex_t lock;       /* of the members up to `has_last` */
    const struct tg_run *run;   /* NULL: there is none to look at */
    bool is_other;              /* than the one that the view is of */
    struct tg_run_result last;
    bool has_last;
    /* only the server's thread uses these */
    int listener;
    struct stat socket; /* as it was made, to remove no other */
    struct tg_run *view;
    struct peer peer[TG_LIVE_MOST_PEERS];
};

/* ── the socket ────────────────────────────────────────────────────────────────────────── */

/* The name that the socket has until it listens: a peer that finds it under its own name, and is refused,
 * knows that its run was killed. */
#define TEMPORARY "." TG_LIVE_SOCKET ".tmp"

/* A file that is no socket is not ours to replace. What a killed run left is: the caller's lock says that no
 * other run is at work here. */
static bool is_free(const struct tg_live_server *s)
{
    struct stat info;
    return fstatat(s->folder, TG_LIVE_SOCKET, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
           S_ISSOCK(info.st_mode);
}

/* A path has room for 107 bytes, and the folder's may be longer: go through the folder's descriptor. The
 * mode that the socket has before it is bound is that of the file, so nobody else can ever connect. */
static bool bind_socket(struct tg_live_server *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" TEMPORARY, s->folder);
    (void)unlinkat(s->folder, TEMPORARY, 0);
    return fchmod(s->listener, 0600) == 0 &&
           bind(s->listener, (const struct sockaddr *)&address, sizeof address) == 0;
}

/* Shows the socket to peers, in place of an old one. */
static bool show_socket(struct tg_live_server *s)
{
    return fstatat(s->folder, TEMPORARY, &s->socket, AT_SYMLINK_NOFOLLOW) == 0 &&
           (s->socket.st_mode & 0077) == 0 && is_free(s) && listen(s->listener, BACKLOG) == 0 &&
           renameat(s->folder, TEMPORARY, s->folder, TG_LIVE_SOCKET) == 0;
}

static void remove_socket(const struct tg_live_server *s)
{
    struct stat info;
    if (fstatat(s->folder, TG_LIVE_SOCKET, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_dev == s->socket.st_dev && info.st_ino == s->socket.st_ino)
        (void)unlinkat(s->folder, TG_LIVE_SOCKET, 0);
}

static bool open_socket(struct tg_live_server *s)
{
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0)
        return false;
    if (bind_socket(s)) {
        if (show_socket(s))
            return true;
        (void)unlinkat(s->folder, TEMPORARY, 0);
    }
    close(s->listener);
    s->listener = -1;
    return false;
}

/* A process that was forked from this one has the descriptor too, so closing alone would leave peers
 * waiting for an answer. */
static void close_socket(struct tg_live_server *s)
{
    remove_socket(s);
    shutdown(s->listener, SHUT_RDWR);
    close(s->listener);
}

/* ── replies ───────────────────────────────────────────────────────────────────────────── */

static struct tg_run *view_of(struct tg_live_server *s)
{
    if (s->run == NULL)
        return NULL;
    if (s->is_other || s->view == NULL) {
        tg_run_view_free(s->view);
        s->view = tg_run_view(s->run);
        s->is_other = false;
    }
    return s->view;
}

/* Asks the cores where they are, for the next answer: the thread that waits for the run tells them. */
static void explain(struct tg_live_server *s, struct tg_live_facts *facts)
{
    struct tg_run *run = (struct tg_run *)s->run;
    struct tg_place_record place;
    facts->explanation = calloc(1, sizeof *facts->explanation);
    if (facts->explanation == NULL)
        return;
    tg_run_explain(s->view, facts->explanation);
    for (uint32_t i = 0; i < facts->explanation->n_cores; i++) {
        uint32_t core = facts->explanation->core[i].core;
        facts->places_late |=
            tg_run_tells_place(s->view, core) && !tg_run_seen_place(s->view, core, &place);
    }
    __atomic_fetch_add(&run->wants_places, 1, __ATOMIC_RELAXED);
}

/* The run cannot end while this holds the lock. */
static void look(struct tg_live_server *s, struct tg_live_facts *facts,
                 struct tg_collector_counts *counts)
{
    const uint32_t lists = 1u << TG_LIVE_CORES | 1u << TG_LIVE_WAITS | 1u << TG_LIVE_EXPLAIN;
    struct tg_run *view = view_of(s);
    facts->view = view;
    facts->last = s->has_last ? &s->last : NULL;
    if (view != NULL)
        tg_run_view_look(view, (facts->sections & lists) != 0);
    if (view != NULL && (facts->sections & 1u << TG_LIVE_EXPLAIN) != 0)
        explain(s, facts);
    if (s->run != NULL && s->run->collector != NULL &&
        (facts->sections & 1u << TG_LIVE_RECORDER) != 0) {
        tg_collector_count(s->run->collector, counts);
        facts->recorder = counts;
    }
}

static char *render(struct tg_live_server *s, uint32_t sections, size_t *size)
{
    struct tg_collector_counts counts;
    struct tg_live_facts facts = {
        .about = &s->about,
        .phase = __atomic_load_n(&s->phase, __ATOMIC_RELAXED),
        .started = s->started,
        .elapsed = tg_limit_now() - s->began,
        .idle = (double)__atomic_load_n(&s->idle_us, __ATOMIC_RELAXED) * 1e-6,
        .limit = (double)__atomic_load_n(&s->limit_us, __ATOMIC_RELAXED) * 1e-6,
        .sections = sections,
    };
    pthread_mutex_lock(&s->lock);
    look(s, &facts, &counts);
    char *text = tg_live_json_status(&facts, size);
    pthread_mutex_unlock(&s->lock);
    free(facts.explanation);
    return text;
}

/* ── peers ─────────────────────────────────────────────────────────────────────────────── */

static void drop(struct peer *p)
{
    close(p->fd);
    free(p->reply);
    p->fd = -1;
    p->reply = NULL;
}

static void set_reply(struct peer *p, char *text, size_t size, bool is_last)
{
    if (text == NULL) {
        drop(p);
        return;
    }
    p->reply = text;
    p->size = size;
    p->sent = 0;
    p->is_last = is_last;
}

static void refuse(struct peer *p, const char *problem)
{
    size_t size = 0;
    char *text = tg_live_json_error(problem, &size);
    set_reply(p, text, size, true);
}

static void send_some(struct peer *p)
{
    ssize_t n = send(p->fd, p->reply + p->sent, p->size - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        drop(p);
        return;
    }
    p->since = tg_limit_now();
    p->sent += (size_t)n;
    if (p->sent < p->size)
        return;
    free(p->reply);
    p->reply = NULL;
    if (p->is_last)
        drop(p);
}

/* Answers the first whole line that has come; the next one waits until the reply is sent. */
static void answer(struct tg_live_server *s, struct peer *p)
{
    const char *end = memchr(p->request, '\n', p->got);
    const char *problem;
    uint32_t sections;
    if (end == NULL) {
        if (p->got == sizeof p->request)
            refuse(p, "the request is too long");
        return;
    }
    size_t size = (size_t)(end - p->request);
    if (tg_live_parse_request(p->request, size, &sections, &problem)) {
        size_t length = 0;
        char *text = render(s, sections, &length);
        set_reply(p, text, length, false);
    } else {
        refuse(p, problem);
    }
    p->got -= size + 1;
    memmove(p->request, end + 1, p->got);
}

static void receive_some(struct peer *p)
{
    if (p->got == sizeof p->request)
        return; /* it is full of requests that are not answered yet */
    ssize_t n = recv(p->fd, p->request + p->got, sizeof p->request - p->got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(p);
        return;
    }
    if (p->got == 0)
        p->since = tg_limit_now(); /* of a request that comes byte by byte, the first one counts */
    p->got += (size_t)n;
}

static void serve(struct tg_live_server *s, struct peer *p, short events)
{
    if (p->reply == NULL && (events & (POLLIN | POLLHUP | POLLERR)) != 0)
        receive_some(p);
    else if (p->reply != NULL && (events & (POLLOUT | POLLHUP | POLLERR)) != 0)
        send_some(p);
    if (p->fd >= 0 && p->reply == NULL && p->got > 0)
        answer(s, p);
    if (p->fd >= 0 && p->reply != NULL)
        send_some(p);
}

/* True if a whole request has come that is not answered yet. */
static bool waits_for_answer(const struct peer *p)
{
    return p->fd >= 0 && p->reply == NULL && memchr(p->request, '\n', p->got) != NULL;
}

static void drop_late(struct tg_live_server *s)
{
    double now = tg_limit_now();
    for (int i = 0; i < TG_LIVE_MOST_PEERS; i++) {
        struct peer *p = &s->peer[i];
        if (p->fd >= 0 && (p->reply != NULL || p->got > 0) && now - p->since > PATIENCE_SECONDS)
            drop(p);
    }
}

/* A free place, or that of the peer that has been silent for longest; NULL: all are at work. */
static struct peer *find_place(struct tg_live_server *s)
{
    struct peer *oldest = &s->peer[0];
    for (int i = 0; i < TG_LIVE_MOST_PEERS; i++) {
        if (s->peer[i].fd < 0)
            return &s->peer[i];
        if (s->peer[i].since < oldest->since)
            oldest = &s->peer[i];
    }
    if (tg_limit_now() - oldest->since < SILENT_SECONDS)
        return NULL;
    drop(oldest);
    return oldest;
}

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static void take_peer(struct tg_live_server *s)
{
    static const char busy[] = "{\"version\": 1, \"error\": \"too many ask at once; ask again\"}\n";
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct peer *p = is_own_user(fd) ? find_place(s) : NULL;
    if (p == NULL) {
        (void)send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(fd);
        return;
    }
    p->fd = fd;
    p->got = 0;
    p->since = tg_limit_now();
}

/* ── the thread ────────────────────────────────────────────────────────────────────────── */

enum { WAKE, LISTENER, FIRST_PEER, WATCHED = FIRST_PEER + TG_LIVE_MOST_PEERS };

static void serve_all(struct tg_live_server *s)
{
    struct pollfd watched[WATCHED] = {
        [WAKE] = {s->wake, POLLIN, 0}, [LISTENER] = {s->listener, POLLIN, 0}};
    for (;;) {
        bool at_once = false; /* each peer gets one answer a turn, so that none has to wait long */
        for (int i = 0; i < TG_LIVE_MOST_PEERS; i++) {
            watched[FIRST_PEER + i] =
                (struct pollfd){s->peer[i].fd, s->peer[i].reply ? POLLOUT : POLLIN, 0};
            at_once = at_once || waits_for_answer(&s->peer[i]);
        }
        if (poll(watched, WATCHED, at_once ? 0 : LOOK_MS) < 0 || watched[WAKE].revents != 0)
            return; /* signals do not come here, so poll fails only if memory ran out */
        for (int i = 0; i < TG_LIVE_MOST_PEERS; i++)
            if (watched[FIRST_PEER + i].revents != 0 || waits_for_answer(&s->peer[i]))
                serve(s, &s->peer[i], watched[FIRST_PEER + i].revents);
        drop_late(s);
        if (watched[LISTENER].revents != 0)
            take_peer(s);
    }
}

static void *work(void *argument)
{
    struct tg_live_server *s = argument;
    struct pollfd wake = {s->wake, POLLIN, 0};
    int woken;
    do
        woken = poll(&wake, 1, TG_LIVE_DELAY_MS);
    while (woken < 0 && errno == EINTR);
    if (woken != 0 || !open_socket(s))
        return NULL;
    serve_all(s);
    for (int i = 0; i < TG_LIVE_MOST_PEERS; i++)
        if (s->peer[i].fd >= 0)
            drop(&s->peer[i]);
    close_socket(s);
    return NULL;
}

/* Signals are for the program's own threads. Those that a fault raises come to the thread that caused it. */
static bool start_thread(struct tg_live_server *s)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&s->thread, NULL, work, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0;
}

static void server_free(struct tg_live_server *s)
{
    if (s->folder >= 0)
        close(s->folder);
    if (s->wake >= 0)
        close(s->wake);
    tg_run_view_free(s->view);
    pthread_mutex_destroy(&s->lock);
    free((char *)s->about.workload);
    free((char *)s->about.case_name);
    free((char *)s->about.platform);
    free((char *)s->about.runtime);
    free(s);
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

struct tg_live_server *tg_live_server_start(const struct tg_run_lock *folder,
                                            const struct tg_live_about *about)
{
    struct tg_live_server *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->about = (struct tg_live_about){copy_of(about->workload), copy_of(about->case_name),
                                      copy_of(about->platform), copy_of(about->runtime), 0};
    s->began = about->began > 0 ? about->began : tg_limit_now();
    s->started = time(NULL) - (time_t)(tg_limit_now() - s->began);
    for (int i = 0; i < TG_LIVE_MOST_PEERS; i++)
        s->peer[i].fd = -1;
    s->folder = fcntl(folder->fd, F_DUPFD_CLOEXEC, 0);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->folder >= 0 && s->wake >= 0 && start_thread(s))
        return s;
    server_free(s);
    return NULL;
}

void tg_live_server_stop(struct tg_live_server *s)
{
    if (s == NULL)
        return;
    (void)eventfd_write(s->wake, 1);
    pthread_join(s->thread, NULL);
    server_free(s);
}

/* ── what the run tells ────────────────────────────────────────────────────────────────── */

void tg_live_server_enter(struct tg_live_server *s, enum tg_live_phase phase)
{
    if (s != NULL)
        __atomic_store_n(&s->phase, (uint32_t)phase, __ATOMIC_RELAXED);
}

void tg_live_server_note_idle(struct tg_live_server *s, double counted, double limit)
{
    if (s == NULL)
        return;
    __atomic_store_n(&s->idle_us, (uint64_t)(counted * 1e6), __ATOMIC_RELAXED);
    __atomic_store_n(&s->limit_us, (uint64_t)(limit * 1e6), __ATOMIC_RELAXED);
}

void tg_live_server_attach(struct tg_live_server *s, const struct tg_run *run)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->run = run;
    s->is_other = true;
    s->has_last = false;
    pthread_mutex_unlock(&s->lock);
}

void tg_live_server_detach(struct tg_live_server *s, const struct tg_run_result *result)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->run = NULL;
    s->last = *result;
    s->has_last = true;
    pthread_mutex_unlock(&s->lock);
}
