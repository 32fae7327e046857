/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/asks.h"
#include "serve/jobs.h"
#include "serve/respond.h"
#include "serve/slices.h"

#include <stdlib.h>
#include <string.h>

/* ── showing a job ─────────────────────────────────────────────────────────────────────── */

/* A response that shows a job: its head, its answer, its tail. The job stays until it is sent. */
struct shown {
    struct serve_jobs *jobs;
    struct serve_job *job;
    char *head;
    size_t size; /* of the head */
};

static void free_shown(void *context)
{
    struct shown *shown = context;
    serve_jobs_give_back(shown->jobs, shown->job);
    free(shown->head);
    free(shown);
}

/* False: no memory. */
static bool write_head(struct shown *shown, bool *is_done)
{
    FILE *file = open_memstream(&shown->head, &shown->size);
    if (file == NULL)
        return false;
    *is_done = serve_jobs_write(shown->jobs, shown->job, file);
    return fclose(file) == 0;
}

/* Gives the job back when it is sent. */
static enum MHD_Result show(struct serve_jobs *jobs, struct serve_job *job,
                            struct MHD_Connection *connection)
{
    static const char none[] = "null}\n", tail[] = "}\n";
    struct shown *shown = calloc(1, sizeof *shown);
    bool is_done;
    if (shown == NULL) {
        serve_jobs_give_back(jobs, job);
        return MHD_NO;
    }
    shown->jobs = jobs;
    shown->job = job;
    if (!write_head(shown, &is_done)) {
        free_shown(shown);
        return MHD_NO;
    }
    struct MHD_IoVec pieces[] = {
        {shown->head, shown->size},
        {is_done ? job->out.bytes : none, is_done ? job->out.used : sizeof none - 1},
        {tail, sizeof tail - 1}};
    uint64_t size = pieces[0].iov_len + pieces[1].iov_len;
    struct MHD_Response *response =
        MHD_create_response_from_iovec(pieces, is_done ? 3 : 2, free_shown, shown);
    if (response == NULL)
        free_shown(shown);
    return serve_respond(connection, MHD_HTTP_OK, "application/json", size, response);
}

/* ── asking ────────────────────────────────────────────────────────────────────────────── */

static const char *find_path(void *bench, const char *key)
{
    return tg_workbench_run_path(bench, key);
}

/* A number that changes when the files of a run do; 0: it is not known. */
static uint64_t generation_of(struct serve *serve, const char *key)
{
    char request[3 * SERVE_MOST_ADDRESS + 16], *to = request;
    struct tg_workbench_answer answer;
    struct serve_slice value;
    uint64_t generation = 0;
    to += sprintf(to, "run?run=");
    for (const char *from = key; *from != '\0'; from++)
        to += sprintf(to, "%%%02X", (unsigned char)*from);
    tg_workbench_ask(serve->bench, request, &answer);
    if (answer.status == MHD_HTTP_OK &&
        serve_slice_member((struct serve_slice){answer.part[0].bytes, answer.part[0].size},
                           "generation", &value))
        generation = strtoull(value.at, NULL, 10); /* a ',' or '}' follows it */
    tg_workbench_answer_free(&answer);
    return generation;
}

static enum MHD_Result answer_ask(struct serve *serve, struct MHD_Connection *connection,
                                  const struct serve_query *query)
{
    static const struct tg_error full = {
        TG_BUSY, "too many questions wait for an answer; cancel one, or ask again later"};
    struct serve_job *job = calloc(1, sizeof *job);
    struct tg_error error;
    if (job == NULL)
        return MHD_NO;
    tg_status status = serve_question_make(query, find_path, serve->bench, &job->command, &error);
    if (status != TG_OK) {
        serve_job_free(job);
        return serve_respond_error(
            connection, status == TG_NOT_FOUND ? MHD_HTTP_NOT_FOUND : MHD_HTTP_BAD_REQUEST, &error);
    }
    job->child.out = job->child.err = -1;
    job->generation = generation_of(serve, serve_query_get(query, "run"));
    if (serve_query_get(query, "b") != NULL)
        job->generation = job->generation * 31 + generation_of(serve, serve_query_get(query, "b"));
    job = serve_jobs_add(serve->jobs, job);
    return job != NULL ? show(serve->jobs, job, connection)
                       : serve_respond_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, &full);
}

static enum MHD_Result answer_job(struct serve *serve, struct MHD_Connection *connection,
                                  const struct serve_query *query, bool cancels)
{
    static const struct tg_error wrong = {TG_BAD_ARGUMENT,
                                          "the request has one parameter, job=NUMBER"};
    static const struct tg_error gone = {TG_NOT_FOUND,
                                         "there is no such job, or it is forgotten; ask again"};
    const char *text = serve_query_get(query, "job");
    if (text == NULL || query->n != 1 || text[0] == '\0' || strlen(text) > 9 ||
        text[strspn(text, "0123456789")] != '\0')
        return serve_respond_error(connection, MHD_HTTP_BAD_REQUEST, &wrong);
    struct serve_job *job =
        serve_jobs_find(serve->jobs, (unsigned)strtoul(text, NULL, 10), cancels);
    return job != NULL ? show(serve->jobs, job, connection)
                       : serve_respond_error(connection, MHD_HTTP_NOT_FOUND, &gone);
}

static enum MHD_Result answer_questions(struct MHD_Connection *connection)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return MHD_NO;
    tg_status status = serve_questions_write(file);
    if (fclose(file) != 0 || status != TG_OK) {
        free(text);
        return MHD_NO;
    }
    return serve_respond_json(connection, text, size);
}

/* ── which request ─────────────────────────────────────────────────────────────────────── */

enum request { QUESTIONS, ASK, JOB, CANCEL, REQUESTS };

/* REQUESTS: it is none of these. *query is what follows the '?'. */
static enum request find_request(const char *text, const char **query)
{
    static const char *const names[] = {"questions", "ask", "job", "cancel"};
    size_t length = strcspn(text, "?");
    *query = text + length + (text[length] == '?');
    for (unsigned i = 0; i < REQUESTS; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return i;
    return REQUESTS;
}

bool serve_asks_take(const char *request)
{
    const char *query;
    return find_request(request, &query) != REQUESTS;
}

enum MHD_Result serve_asks_answer(struct serve *serve, struct MHD_Connection *connection,
                                  const char *request)
{
    static const struct tg_error without = {
        TG_UNSUPPORTED,
        "the program taskglass is not beside the server, so it answers no questions"};
    struct serve_query query;
    struct tg_error error;
    const char *text;
    enum request which = find_request(request, &text);
    if (serve->jobs == NULL)
        return serve_respond_error(connection, MHD_HTTP_CONFLICT, &without);
    if (serve_query_read(text, &query, &error) != TG_OK)
        return serve_respond_error(connection, MHD_HTTP_BAD_REQUEST, &error);
    if (which == ASK)
        return answer_ask(serve, connection, &query);
    return which == QUESTIONS ? answer_questions(connection)
                              : answer_job(serve, connection, &query, which == CANCEL);
}
