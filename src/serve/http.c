/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/http.h"
#include "serve/answers.h"
#include "serve/asks.h"
#include "serve/connections.h"
#include "serve/events.h"
#include "serve/respond.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One request: from its first line until its answer is sent. */
struct exchange {
    bool has_headers;
    /* As it was sent. One that is too long is cut, but stays too long. */
    char address[SERVE_MOST_ADDRESS + 2];
};

void *serve_http_begin(void *serve, const char *address, struct MHD_Connection *connection)
{
    struct exchange *exchange = malloc(sizeof *exchange);
    (void)serve;
    (void)connection;
    if (exchange == NULL)
        return NULL;
    exchange->has_headers = false;
    snprintf(exchange->address, sizeof exchange->address, "%s", address);
    return exchange;
}

size_t serve_http_keep_escapes(void *serve, struct MHD_Connection *connection, char *text)
{
    (void)serve;
    (void)connection;
    return strlen(text);
}

void serve_http_end(void *serve, struct MHD_Connection *connection, void **exchange,
                    enum MHD_RequestTerminationCode how)
{
    (void)serve;
    (void)how;
    serve_connection_waits(connection);
    free(*exchange);
    *exchange = NULL;
}

/* ── reading the headers ───────────────────────────────────────────────────────────────── */

static enum MHD_Result take_header(void *request, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct serve_request *r = request;
    (void)kind;
    if (value == NULL)
        value = "";
    if (strcasecmp(name, "Host") == 0) {
        r->host = value;
        r->hosts++;
    } else if (strcasecmp(name, "Origin") == 0)
        r->origin = value;
    else if (strcasecmp(name, "Sec-Fetch-Site") == 0)
        r->site = value;
    else if (strcasecmp(name, "Sec-Fetch-Mode") == 0)
        r->mode = value;
    else if (strcasecmp(name, "Sec-Fetch-Dest") == 0)
        r->destination = value;
    else if (strcasecmp(name, "Transfer-Encoding") == 0 ||
             (strcasecmp(name, "Content-Length") == 0 && strcmp(value, "0") != 0))
        r->has_body = true;
    return MHD_YES;
}

static void judge(const struct serve *serve, struct MHD_Connection *connection, const char *method,
                  const char *address, struct serve_judgement *judgement)
{
    struct serve_request request = {.method = method, .address = address};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &request);
    serve_judge(&serve->rules, &request, judgement);
}

/* ── answering ─────────────────────────────────────────────────────────────────────────── */

static enum MHD_Result answer_redirect(const struct serve *serve, struct MHD_Connection *connection)
{
    char place[SERVE_TOKEN_CHARACTERS + 3];
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    snprintf(place, sizeof place, "/%s/", serve->rules.token);
    if (response != NULL &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place) != MHD_YES) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return serve_respond(connection, MHD_HTTP_PERMANENT_REDIRECT, "text/plain", 0, response);
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *name)
{
    const char *type;
    size_t size;
    const void *bytes = tg_workbench_file(name, &type, &size);
    if (bytes == NULL)
        return serve_respond_line(connection, MHD_HTTP_NOT_FOUND, "not found");
    return serve_respond(
        connection, MHD_HTTP_OK, type, size,
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer(struct serve *serve, struct MHD_Connection *connection,
                              const struct serve_judgement *judgement)
{
    if (judgement->status != MHD_HTTP_OK)
        return serve_respond_line(connection, judgement->status, judgement->text);
    switch (judgement->target) {
    case SERVE_REDIRECT:
        return answer_redirect(serve, connection);
    case SERVE_EVENTS:
        return serve_events_answer(serve, connection, judgement->rest);
    case SERVE_API:
        return serve_asks_take(judgement->rest)
                   ? serve_asks_answer(serve, connection, judgement->rest)
                   : serve_answer(serve, connection, judgement->rest);
    case SERVE_FILE:
        return answer_file(connection, judgement->rest);
    default:
        return MHD_NO;
    }
}

/* The library calls this once for the headers, for each piece of a body, and once behind them. An answer to the first
 * call would close the connection behind it, which is right for a request that has a body and wrong for all others. */
enum MHD_Result serve_http_answer(void *serve, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **exchange)
{
    struct exchange *e = *exchange;
    struct serve_judgement judgement;
    (void)url;
    (void)version;
    (void)body;
    (void)body_size;
    if (e == NULL)
        return MHD_NO;
    judge(serve, connection, method, e->address, &judgement);
    if (!e->has_headers && judgement.status == MHD_HTTP_OK) {
        e->has_headers = true;
        serve_connection_asks(connection, judgement.showed_token);
        return MHD_YES;
    }
    return answer(serve, connection, &judgement);
}
