/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/events.h"
#include "serve/query.h"
#include "serve/respond.h"
#include "serve/slices.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/live.h>

enum {
    MOST_STREAMS = 16,
    BLOCK = 16 * 1024,
    NAP_MILLISECONDS = 50 /* how soon the end of the server is noticed */
};
#define LIVE_SECONDS 0.25 /* between two answers of the run */
#define LOOK_SECONDS 1.0  /* between two looks at its files */
#define BEAT_SECONDS 5.0  /* without an event, a comment shows whether the client is still there */
#define LOOK_SHARE 10     /* a look may take at most this part of the time */

/* One client that follows one run. Only its connection's thread uses it. */
struct stream {
    struct serve *serve;
    char *key;  /* as in the address, still encoded */
    char *word; /* as a text of JSON, to find the run in the answer to `runs` */
    const char *path;
    struct tg_live *live; /* NULL: nobody answers, or nobody was asked yet */
    double next_live, next_look, next_beat;
    uint64_t generation;
    bool has_looked, is_last;
    char *text; /* what is to be sent, and how much of it was */
    size_t size, sent;
};

/* ── events ────────────────────────────────────────────────────────────────────────────── */

/* Takes the text, which is sent next. */
static void put_text(struct stream *s, char *text, size_t size)
{
    free(s->text);
    s->text = text;
    s->size = size;
    s->sent = 0;
    s->next_beat = serve_now() + BEAT_SECONDS;
}

/* `data` is JSON, which has no control character but line ends, and these stand between values only. */
static void put_event(struct stream *s, const char *name, const char *data, size_t size)
{
    char *text = malloc(size + strlen(name) + 32);
    if (text == NULL) {
        put_text(s, NULL, 0); /* the next one will tell more */
        return;
    }
    size_t used = (size_t)sprintf(text, "event: %s\ndata: ", name);
    for (size_t i = 0; i < size; i++)
        text[used++] = (unsigned char)data[i] < ' ' ? ' ' : data[i];
    text[used++] = '\n';
    text[used++] = '\n';
    put_text(s, text, used);
}

/* A comment, which a client drops. */
static void put_beat(struct stream *s)
{
    char *text = strdup(":\n\n");
    put_text(s, text, text != NULL ? strlen(text) : 0);
}

/* ── the run ───────────────────────────────────────────────────────────────────────────── */

/* True if the run has answered, and its answer is to be sent. */
static bool ask_run(struct stream *s)
{
    const char *reply;
    struct tg_error error;
    s->next_live = serve_now() + LIVE_SECONDS;
    if (s->live == NULL && tg_live_open(s->path, &s->live, &error) != TG_OK)
        return false;
    if (tg_live_ask(s->live, TG_LIVE_ALL, &reply, &error) == TG_OK) {
        put_event(s, "live", reply, strlen(reply));
        return true;
    }
    tg_live_close(s->live);
    s->live = NULL;
    return false;
}

/* ── its files ─────────────────────────────────────────────────────────────────────────── */

/* What the workbench knows of the run. */
struct look {
    uint64_t generation;
    struct serve_slice records; /* a number; size 0: it is not known */
    bool is_live;
};

static void read_look(struct serve_slice answer, struct look *look)
{
    struct serve_slice value, recording;
    *look = (struct look){0};
    if (serve_slice_member(answer, "generation", &value))
        look->generation = strtoull(value.at, NULL, 10); /* a ',' or '}' follows it */
    if (serve_slice_member(answer, "live", &value))
        look->is_live = serve_slice_is(value, "true");
    if (serve_slice_member(answer, "recording", &recording) &&
        !serve_slice_member(recording, "records", &look->records))
        look->records.size = 0;
}

static void put_growth(struct stream *s, const struct look *look)
{
    char text[120];
    bool is_known = look->records.size > 0 && look->records.size < 24;
    int length =
        snprintf(text, sizeof text, "{\"generation\": %llu, \"records\": %.*s}",
                 (unsigned long long)look->generation, is_known ? (int)look->records.size : 4,
                 is_known ? look->records.at : "null");
    put_event(s, "grown", text, (size_t)length);
}

/* The run's object in the answer to `runs`. */
static void put_end(struct stream *s)
{
    struct tg_workbench_answer answer;
    struct serve_slice rest, run, key;
    tg_workbench_ask(s->serve->bench, "runs", &answer);
    s->is_last = true;
    put_event(s, "ended", "null", 4);
    if (answer.status == MHD_HTTP_OK &&
        serve_slice_member((struct serve_slice){answer.part[0].bytes, answer.part[0].size}, "runs",
                           &rest))
        while (serve_slice_next(&rest, &run))
            if (serve_slice_member(run, "key", &key) && serve_slice_is(key, s->word))
                put_event(s, "ended", run.at, run.size);
    tg_workbench_answer_free(&answer);
}

/* True if there is something to send. A run that does not answer may still go on: it may have been told not to, or be
 * stopped. */
static bool look_at_files(struct stream *s)
{
    char request[SERVE_MOST_ADDRESS + 16];
    struct tg_workbench_answer answer;
    struct look look;
    double begin = serve_now();
    snprintf(request, sizeof request, "run?run=%s", s->key);
    tg_workbench_ask(s->serve->bench, request, &answer);
    bool is_known = answer.status == MHD_HTTP_OK;
    if (is_known)
        read_look((struct serve_slice){answer.part[0].bytes, answer.part[0].size}, &look);
    bool has_grown = is_known && (!s->has_looked || look.generation != s->generation);
    double now = serve_now();
    s->next_look = now + fmax(LOOK_SECONDS, LOOK_SHARE * (now - begin));
    if (is_known) {
        s->generation = look.generation;
        s->has_looked = true;
    }
    if (!is_known || (!look.is_live && s->live == NULL))
        put_end(s);
    else if (has_grown)
        put_growth(s, &look);
    tg_workbench_answer_free(&answer);
    return s->is_last || has_grown;
}

/* ── sending ───────────────────────────────────────────────────────────────────────────── */

/* Waits for something to send. False: the server ends. */
static bool await_event(struct stream *s)
{
    for (;;) {
        double now = serve_now();
        if (atomic_load(&s->serve->ends))
            return false;
        if (now >= s->next_live && ask_run(s))
            return true;
        if (now >= s->next_look && look_at_files(s))
            return true;
        if (now >= s->next_beat) {
            put_beat(s);
            return true;
        }
        poll(NULL, 0, NAP_MILLISECONDS);
    }
}

/* The library calls it for the next bytes. It may wait: the connection has a thread of its own. */
static ssize_t read_stream(void *stream, uint64_t position, char *to, size_t room)
{
    struct stream *s = stream;
    (void)position;
    while (s->sent == s->size) {
        if (s->is_last)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!await_event(s))
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t n = s->size - s->sent < room ? s->size - s->sent : room;
    memcpy(to, s->text + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

static void free_stream(void *stream)
{
    struct stream *s = stream;
    atomic_fetch_sub(&s->serve->streams, 1);
    tg_live_close(s->live);
    free(s->text);
    free(s->word);
    free(s->key);
    free(s);
}

/* ── beginning ─────────────────────────────────────────────────────────────────────────── */

/* The text as the library writes it into its own answers. */
static char *json_word(const char *text)
{
    struct tg_json json;
    size_t room = 8 * strlen(text) + 8;
    char *word = malloc(room);
    if (word == NULL)
        return NULL;
    tg_json_start_buffer(&json, word, room, -1, 0);
    tg_json_string(&json, text);
    (void)tg_json_finish(&json);
    size_t used = json.used < room ? json.used : room - 1;
    word[used > 0 && word[used - 1] == '\n' ? used - 1 : used] = '\0';
    return word;
}

/* It is counted already; whoever frees it, or fails to make it, takes it from the count. */
static struct stream *make_stream(struct serve *serve, const char *query, const char *key,
                                  const char *path)
{
    struct stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        atomic_fetch_sub(&serve->streams, 1);
        return NULL;
    }
    s->serve = serve;
    s->key = strdup(strchr(query, '=') + 1);
    s->word = json_word(key);
    s->path = path;
    s->next_beat = serve_now() + BEAT_SECONDS;
    if (s->key != NULL && s->word != NULL)
        return s;
    free_stream(s);
    return NULL;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, tg_status why,
                              const char *text)
{
    struct tg_error error;
    serve_fail(&error, why, "%s", text);
    return serve_respond_error(connection, status, &error);
}

enum MHD_Result serve_events_answer(struct serve *serve, struct MHD_Connection *connection,
                                    const char *query)
{
    struct serve_query read;
    struct tg_error error;
    const char *key, *path;
    if (serve_query_read(query, &read, &error) != TG_OK)
        return serve_respond_error(connection, MHD_HTTP_BAD_REQUEST, &error);
    key = serve_query_get(&read, "run");
    if (key == NULL || read.n != 1)
        return refuse(connection, MHD_HTTP_BAD_REQUEST, TG_BAD_ARGUMENT,
                      "events have one parameter, run=KEY");
    path = tg_workbench_run_path(serve->bench, key);
    if (path == NULL)
        return refuse(connection, MHD_HTTP_NOT_FOUND, TG_NOT_FOUND, "there is no such run");
    if (atomic_fetch_add(&serve->streams, 1) >= MOST_STREAMS) {
        atomic_fetch_sub(&serve->streams, 1);
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, TG_BUSY,
                      "too many pages follow runs; close one");
    }
    struct stream *stream = make_stream(serve, query, key, path);
    if (stream == NULL)
        return MHD_NO;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, free_stream);
    if (response == NULL)
        free_stream(stream);
    return serve_respond(connection, MHD_HTTP_OK, "text/event-stream", SERVE_ENDLESS, response);
}
