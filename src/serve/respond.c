/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/respond.h"
#include "serve/connections.h"

#include <stdlib.h>
#include <taskglass/json.h>

/* The page takes everything from this server and sends nothing elsewhere, nothing may show it in a frame, and no cache
 * keeps it. */
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

enum MHD_Result serve_respond(struct MHD_Connection *connection, int status, const char *type,
                              uint64_t size, struct MHD_Response *response)
{
    enum MHD_Result result = MHD_YES;
    if (response == NULL)
        return MHD_NO;
    serve_connection_sends(connection, size);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0] && result == MHD_YES; i++)
        result = MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (result == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (result == MHD_YES)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (result == MHD_YES)
        result = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result serve_respond_line(struct MHD_Connection *connection, int status, const char *text)
{
    char line[200];
    int length = snprintf(line, sizeof line, "%s\n", text);
    return serve_respond(
        connection, status, "text/plain; charset=utf-8", (uint64_t)length,
        MHD_create_response_from_buffer((size_t)length, line, MHD_RESPMEM_MUST_COPY));
}

enum MHD_Result serve_respond_error(struct MHD_Connection *connection, int status,
                                    const struct tg_error *error)
{
    char text[8 * sizeof error->text]; /* a byte may become an escape of six */
    struct tg_json json;
    tg_json_start_buffer(&json, text, sizeof text, -1, 0);
    tg_json_begin_line_object(&json);
    tg_json_key(&json, "error");
    tg_json_begin_line_object(&json);
    tg_json_put_string(&json, "status", tg_status_name(error->status));
    tg_json_put_string(&json, "text", error->text);
    tg_json_end_object(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json);
    return serve_respond(connection, status, "application/json", json.used,
                         MHD_create_response_from_buffer(json.used, text, MHD_RESPMEM_MUST_COPY));
}

enum MHD_Result serve_respond_json(struct MHD_Connection *connection, char *text, size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(text);
    return serve_respond(connection, MHD_HTTP_OK, "application/json", size, response);
}
