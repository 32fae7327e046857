/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows runs in a browser: starts the server that `taskglass serve` starts.
 *
 *     tg_server_start(&(struct tg_server_config){.path = "outputs"}, &server, &error)
 *     puts(tg_server_address(server))
 *     …                                            a browser opens that address
 *     tg_server_stop(server)
 *
 * The server is a process of its own. It ends with tg_server_stop, and at the latest when this process ends. Whoever
 * knows the address can read the runs, so it should be shown to nobody else; docs/security.md says what else is checked.
 */
#ifndef TASKGLASS_SERVE_H
#define TASKGLASS_SERVE_H

#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_server;

/* What to show, and where. Zeros are the defaults. */
struct tg_server_config {
    const char *path;  /* a run, a recording, or a directory of runs; NULL: outputs/ */
    const char *other; /* a second run, to compare `path` with; NULL: none */
    const char *host;  /* an address of this machine to listen on; NULL: loopback only */
    uint16_t port;     /* 0: any that is free */
    const char
        *program; /* the program `taskglass`, for questions; NULL: the one beside the library */
};

/* Returns when the server answers. NOT_FOUND: there is no such path, or the installation is incomplete; BAD_ARGUMENT:
 * `path` and `other` must be runs, or `host` is no address of this machine; BUSY: the port is not free; UNSUPPORTED: this
 * build has no server; IO_ERROR, NO_MEMORY, TIMED_OUT. The caller stops *server. One thread uses it at a time. */
TG_API tg_status tg_server_start(const struct tg_server_config *config, struct tg_server **server,
                                 struct tg_error *error);
/* "http://127.0.0.1:40123/TOKEN/". It lives as long as the server's handle, and so does the server's number. */
TG_API const char *tg_server_address(const struct tg_server *server);
TG_API uint16_t tg_server_port(const struct tg_server *server);
TG_API int64_t tg_server_pid(const struct tg_server *server);

/* Shows the page in the user's browser: $BROWSER, or else xdg-open. The token is on no command line, where other users
 * could read it. NOT_FOUND: there is no such program; IO_ERROR, NO_MEMORY. */
TG_API tg_status tg_server_open(struct tg_server *server, struct tg_error *error);

/* Waits until the server has ended, which it does by itself only if something is wrong: IO_ERROR, with the reason.
 * TIMED_OUT: it still runs after these seconds, or a signal came. */
TG_API tg_status tg_server_wait(struct tg_server *server, double seconds, struct tg_error *error);
/* Ends the server and frees the handle. NULL is allowed. */
TG_API void tg_server_stop(struct tg_server *server);

#ifdef __cplusplus
}
#endif
#endif
