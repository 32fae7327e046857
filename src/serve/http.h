/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks that libmicrohttpd calls for each request; `serve` in all of them is a struct serve. Any thread. */
#ifndef TG_SERVE_HTTP_H
#define TG_SERVE_HTTP_H

#include <microhttpd.h>

/* The first line has come: keeps the address as it was sent, before anything is decoded. */
void *serve_http_begin(void *serve, const char *address, struct MHD_Connection *connection);
/* The headers have come: answers. */
enum MHD_Result serve_http_answer(void *serve, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **exchange);
/* The answer is sent, or never will be. */
void serve_http_end(void *serve, struct MHD_Connection *connection, void **exchange,
                    enum MHD_RequestTerminationCode how);
/* Nothing in an address is decoded behind our back. */
size_t serve_http_keep_escapes(void *serve, struct MHD_Connection *connection, char *text);

#endif
