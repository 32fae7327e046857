/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of the server. */
#ifndef TG_SERVE_LISTEN_H
#define TG_SERVE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>

enum { SERVE_MOST_SOCKETS = 2 };

struct serve_sockets {
    int fd[SERVE_MOST_SOCKETS]; /* the caller closes them */
    unsigned n;
    uint16_t port;
    bool is_everywhere; /* all addresses of the machine */
};

/* Listens on loopback, of IPv4 and where the port is free there of IPv6; or on `host`, if it is not NULL. Port 0: any
 * that is free. BAD_ARGUMENT: no such address; BUSY: the port is not free; IO_ERROR. */
tg_status serve_listen(const char *host, uint16_t port, struct serve_sockets *sockets,
                       struct tg_error *error);

#endif
