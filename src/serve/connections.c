/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/connections.h"
#include "serve/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    LOOK_MILLISECONDS = 500,
    WAIT_SECONDS = 30,
    SEND_SECONDS = 60,       /* that a client may take for any answer */
    LEAST_RATE = 256 * 1024, /* bytes a second that it must take of a large one */
    ROOM = 16 /* places that a new connection finds free, unless all have shown the token */
};

struct entry {
    struct serve_connections *all;
    bool is_used, showed_token;
    bool is_over; /* hung up: its thread will give the place back */
    int fd;
    double begin; /* of the connection */
    double until; /* of its phase; INFINITY: it has no limit */
};

struct serve_connections {
    pthread_mutex_t lock; /* for everything below */
    pthread_cond_t ends_now;
    bool ends;
    struct entry entry[SERVE_MOST_CONNECTIONS];
    pthread_t watcher; /* not changed */
};

double serve_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ── the thread that looks ─────────────────────────────────────────────────────────────── */

/* Its thread then finds the connection closed, and ends. The descriptor is open as long as the entry is used. */
static void hang_up(struct entry *entry)
{
    (void)shutdown(entry->fd, SHUT_RDWR);
    entry->is_over = true;
    entry->until = INFINITY;
}

static void *watch(void *connections)
{
    struct serve_connections *all = connections;
    pthread_mutex_lock(&all->lock);
    while (!all->ends) {
        struct timespec next;
        double now = serve_now();
        for (unsigned i = 0; i < SERVE_MOST_CONNECTIONS; i++)
            if (all->entry[i].is_used && now > all->entry[i].until)
                hang_up(&all->entry[i]);
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += LOOK_MILLISECONDS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&all->ends_now, &all->lock, &next);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

struct serve_connections *serve_connections_start(void)
{
    struct serve_connections *all = calloc(1, sizeof *all);
    pthread_condattr_t attributes;
    if (all == NULL)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all->ends_now, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&all->watcher, NULL, watch, all) == 0)
        return all;
    pthread_cond_destroy(&all->ends_now);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return NULL;
}

void serve_connections_end(struct serve_connections *all)
{
    if (all == NULL)
        return;
    pthread_mutex_lock(&all->lock);
    all->ends = true;
    pthread_cond_signal(&all->ends_now);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->watcher, NULL);
    pthread_cond_destroy(&all->ends_now);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ── coming and going ──────────────────────────────────────────────────────────────────── */

static struct entry *find_stranger(struct serve_connections *all, unsigned *n_used)
{
    struct entry *oldest = NULL;
    *n_used = 0;
    for (unsigned i = 0; i < SERVE_MOST_CONNECTIONS; i++) {
        struct entry *entry = &all->entry[i];
        *n_used += entry->is_used;
        if (entry->is_used && !entry->is_over && !entry->showed_token &&
            (oldest == NULL || entry->begin < oldest->begin))
            oldest = entry;
    }
    return oldest;
}

enum MHD_Result serve_connections_admit(void *connections, const struct sockaddr *address,
                                        socklen_t size)
{
    struct serve_connections *all = connections;
    unsigned n_used;
    (void)address;
    (void)size;
    pthread_mutex_lock(&all->lock);
    struct entry *stranger = find_stranger(all, &n_used);
    if (stranger != NULL && n_used >= SERVE_MOST_CONNECTIONS - ROOM)
        hang_up(stranger);
    pthread_mutex_unlock(&all->lock);
    return n_used < SERVE_MOST_CONNECTIONS ? MHD_YES : MHD_NO;
}

static struct entry *add(struct serve_connections *all, int fd)
{
    struct entry *found = NULL;
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 0; i < SERVE_MOST_CONNECTIONS && found == NULL; i++)
        if (!all->entry[i].is_used)
            found = &all->entry[i];
    if (found != NULL) {
        double now = serve_now();
        *found = (struct entry){
            .all = all, .is_used = true, .fd = fd, .begin = now, .until = now + WAIT_SECONDS};
    }
    pthread_mutex_unlock(&all->lock);
    return found;
}

void serve_connections_notify(void *connections, struct MHD_Connection *connection, void **entry,
                              enum MHD_ConnectionNotificationCode what)
{
    struct serve_connections *all = connections;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *entry = info != NULL ? add(all, info->connect_fd) : NULL;
    } else if (*entry != NULL) { /* before the descriptor is closed */
        pthread_mutex_lock(&all->lock);
        ((struct entry *)*entry)->is_used = false;
        pthread_mutex_unlock(&all->lock);
        *entry = NULL;
    }
}

/* ── phases ────────────────────────────────────────────────────────────────────────────── */

static struct entry *entry_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void set_phase(struct MHD_Connection *connection, double until, bool showed_token)
{
    struct entry *entry = entry_of(connection);
    if (entry == NULL)
        return;
    pthread_mutex_lock(&entry->all->lock);
    entry->until = until;
    entry->showed_token |= showed_token;
    pthread_mutex_unlock(&entry->all->lock);
}

void serve_connection_waits(struct MHD_Connection *connection)
{
    set_phase(connection, serve_now() + WAIT_SECONDS, false);
}

void serve_connection_asks(struct MHD_Connection *connection, bool showed_token)
{
    set_phase(connection, INFINITY, showed_token);
}

void serve_connection_sends(struct MHD_Connection *connection, uint64_t bytes)
{
    double seconds = SEND_SECONDS + (double)bytes / LEAST_RATE;
    set_phase(connection, bytes == UINT64_MAX ? INFINITY : serve_now() + seconds, false);
}
