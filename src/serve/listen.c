/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/listen.h"
#include "serve/query.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 64 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t size_of(const union address *address)
{
    return address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
}

static bool is_any(const union address *address)
{
    return address->any.sa_family == AF_INET ? address->v4.sin_addr.s_addr == htonl(INADDR_ANY)
                                             : IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr);
}

/* A port that a server has used a moment ago can be used again. "::" stands for the addresses of IPv4 too, whatever the
 * system's default is. Returns 0 or an errno. */
static int listen_at(union address *address, struct serve_sockets *sockets)
{
    const int on = 1, only_v6 = !is_any(address);
    socklen_t size = size_of(address);
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->any.sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    if (bind(fd, &address->any, size) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, &address->any, &size) != 0) {
        int cause = errno;
        close(fd);
        return cause;
    }
    sockets->fd[sockets->n++] = fd;
    return 0;
}

static tg_status explain(struct tg_error *error, const char *host, uint16_t port, int cause)
{
    if (cause == EADDRINUSE)
        return serve_fail(error, TG_BUSY, "port %u is in use; leave --port out to get a free one",
                          port);
    if (cause == EACCES)
        return serve_fail(error, TG_BAD_ARGUMENT,
                          "port %u is for programs of root; take one above 1023", port);
    if (cause == EADDRNOTAVAIL)
        return serve_fail(error, TG_BAD_ARGUMENT, "this machine does not have the address '%s'",
                          host);
    return serve_fail(error, TG_IO_ERROR, "cannot listen on %s: %s", host, strerror(cause));
}

static tg_status listen_on_loopback(uint16_t port, struct serve_sockets *sockets,
                                    struct tg_error *error)
{
    union address v4 = {.v4 = {.sin_family = AF_INET,
                               .sin_port = htons(port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    int cause = listen_at(&v4, sockets);
    if (cause != 0)
        return explain(error, "127.0.0.1", port, cause);
    sockets->port = ntohs(v4.v4.sin_port);
    union address v6 = {.v6 = {.sin6_family = AF_INET6,
                               .sin6_port = v4.v4.sin_port,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
    (void)listen_at(&v6, sockets); /* the printed address does not need it */
    return TG_OK;
}

static tg_status listen_on(const char *host, uint16_t port, struct serve_sockets *sockets,
                           struct tg_error *error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    union address address = {0};
    int result = getaddrinfo(host, NULL, &hints, &found);
    if (result != 0)
        return serve_fail(error, TG_BAD_ARGUMENT, "--host '%s' is no address of this machine: %s",
                          host, gai_strerror(result));
    if (found->ai_addrlen <= sizeof address)
        memcpy(&address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (address.any.sa_family != AF_INET && address.any.sa_family != AF_INET6)
        return serve_fail(error, TG_BAD_ARGUMENT, "--host '%s' is no address of IPv4 or IPv6",
                          host);
    if (address.any.sa_family == AF_INET)
        address.v4.sin_port = htons(port);
    else
        address.v6.sin6_port = htons(port);
    sockets->is_everywhere = is_any(&address);
    int cause = listen_at(&address, sockets);
    if (cause != 0)
        return explain(error, host, port, cause);
    sockets->port =
        ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
    return TG_OK;
}

tg_status serve_listen(const char *host, uint16_t port, struct serve_sockets *sockets,
                       struct tg_error *error)
{
    *sockets = (struct serve_sockets){0};
    return host != NULL ? listen_on(host, port, sockets, error)
                        : listen_on_loopback(port, sockets, error);
}
