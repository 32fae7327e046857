/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: every one has the same headers for safety. MHD_NO: no memory, and the connection will be closed. */
#ifndef TG_SERVE_RESPOND_H
#define TG_SERVE_RESPOND_H

#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/status.h>

/* Adds the headers and sends the response, which is gone then; NULL is a response that there was no memory for. `size`
 * is how many bytes the client has to take; SERVE_ENDLESS: as many as come. */
#define SERVE_ENDLESS UINT64_MAX
enum MHD_Result serve_respond(struct MHD_Connection *connection, int status, const char *type,
                              uint64_t size, struct MHD_Response *response);
/* One line for a person. */
enum MHD_Result serve_respond_line(struct MHD_Connection *connection, int status, const char *text);
/* The object that every failed request gets. */
enum MHD_Result serve_respond_error(struct MHD_Connection *connection, int status,
                                    const struct tg_error *error);
/* Takes the text, which malloc has made. */
enum MHD_Result serve_respond_json(struct MHD_Connection *connection, char *text, size_t size);

#endif
