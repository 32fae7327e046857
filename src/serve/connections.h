/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is connected, and for how long they may do what they do now. libmicrohttpd closes a connection on which nothing
 * moves, but a client that sends or takes a byte from time to time could hold one for ever: so each phase of a
 * connection has a limit, and a thread looks for those that are over it.
 *
 *   waits   no complete request has come: 30 seconds
 *   asks    its answer is made: no limit here, the requests have their own
 *   sends   the client takes the answer: 60 seconds, and one for each 256 KiB; UINT64_MAX bytes: no limit
 *
 * When there are too many connections, the oldest that has never shown the token is closed for the new one.
 */
#ifndef TG_SERVE_CONNECTIONS_H
#define TG_SERVE_CONNECTIONS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

enum { SERVE_MOST_CONNECTIONS = 128 };

struct serve_connections;

/* Starts the thread that looks; NULL: no memory or no thread. */
struct serve_connections *serve_connections_start(void);
void serve_connections_end(struct serve_connections *connections);

/* Callbacks of libmicrohttpd, with the struct serve_connections. */
enum MHD_Result serve_connections_admit(void *connections, const struct sockaddr *address,
                                        socklen_t size);
void serve_connections_notify(void *connections, struct MHD_Connection *connection, void **entry,
                              enum MHD_ConnectionNotificationCode what);

/* The phases. */
void serve_connection_waits(struct MHD_Connection *connection);
void serve_connection_asks(struct MHD_Connection *connection, bool showed_token);
void serve_connection_sends(struct MHD_Connection *connection, uint64_t bytes);

#endif
