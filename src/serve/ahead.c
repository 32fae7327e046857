/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/ahead.h"
#include "serve/slices.h"

#include <stdio.h>
#include <string.h>

enum { MOST_REQUEST = 1024 };

/* Writes the request for the timeline of the run whose key is the JSON text `key`. False: it needs no reading ahead, or
 * its key has escapes, which are rare and not worth a parser. */
static bool write_request(struct serve_slice key, char request[MOST_REQUEST])
{
    size_t used = (size_t)snprintf(request, MOST_REQUEST, "timeline?run=");
    if (key.size < 2 || key.at[0] != '"' || memchr(key.at, '\\', key.size) != NULL ||
        3 * key.size >= MOST_REQUEST - used)
        return false;
    for (size_t i = 1; i < key.size - 1; i++)
        used += (size_t)snprintf(request + used, MOST_REQUEST - used, "%%%02X",
                                 (unsigned)(unsigned char)key.at[i]);
    return true;
}

static void *read_ahead(void *context)
{
    struct serve *serve = context;
    struct tg_workbench_answer answer;
    struct serve_slice only;
    char request[MOST_REQUEST];
    tg_workbench_ask(serve->bench, "runs", &answer);
    struct serve_slice runs = {answer.part[0].bytes, answer.part[0].size};
    bool has_one = answer.status == 200 && serve_slice_member(runs, "only", &only) &&
                   write_request(only, request);
    tg_workbench_answer_free(&answer);
    if (!has_one || atomic_load(&serve->ends))
        return NULL;
    tg_workbench_ask(serve->bench, request, &answer);
    tg_workbench_answer_free(&answer);
    return NULL;
}

void serve_ahead_start(struct serve *serve)
{
    serve->is_reading = pthread_create(&serve->reader, NULL, read_ahead, serve) == 0;
}

void serve_ahead_end(struct serve *serve)
{
    if (serve->is_reading)
        (void)pthread_join(serve->reader, NULL);
}
