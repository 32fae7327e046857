/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/answers.h"
#include "serve/respond.h"

#include <stdlib.h>
#include <time.h>

enum {
    MOST_MADE = 8,        /* answers that are made at the same time */
    PATIENCE_SECONDS = 30 /* for a place among them */
};
#define MOST_BYTES (UINT64_C(768) << 20) /* of answers that are not yet taken */

/* ── the budget ────────────────────────────────────────────────────────────────────────── */

void serve_budget_init(struct serve_budget *budget)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&budget->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&budget->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    budget->made = 0;
    budget->bytes = 0;
}

void serve_budget_end(struct serve_budget *budget)
{
    pthread_cond_destroy(&budget->changed);
    pthread_mutex_destroy(&budget->lock);
}

/* Waits for a place among the requests whose answers are made. False: for too long. */
static bool take_place(struct serve_budget *budget)
{
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&budget->lock);
    while (budget->made >= MOST_MADE && late == 0)
        late = pthread_cond_timedwait(&budget->changed, &budget->lock, &until);
    bool has_place = budget->made < MOST_MADE;
    budget->made += has_place;
    pthread_mutex_unlock(&budget->lock);
    return has_place;
}

/* Gives the place back, and counts the bytes of the answer. False: with them there would be too many. */
static bool give_place(struct serve_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    bool fits = bytes <= MOST_BYTES - budget->bytes;
    budget->made--;
    budget->bytes += fits ? bytes : 0;
    pthread_cond_signal(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
    return fits;
}

static void give_bytes(struct serve_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->bytes -= bytes;
    pthread_mutex_unlock(&budget->lock);
}

/* ── sending ───────────────────────────────────────────────────────────────────────────── */

/* Lives until its last byte is sent. */
struct sent_answer {
    struct serve *serve;
    uint64_t bytes; /* that it takes in memory */
    struct tg_workbench_answer answer;
};

static void free_answer(void *sent)
{
    struct sent_answer *s = sent;
    tg_workbench_answer_free(&s->answer);
    give_bytes(&s->serve->budget, s->bytes);
    free(s);
}

/* The second piece of a file is the recording's own, which is mapped. */
static uint64_t bytes_in_memory(const struct tg_workbench_answer *answer)
{
    return answer->part[0].size + (answer->file[0] ? 0 : answer->part[1].size);
}

static bool add_file_name(struct MHD_Response *response, const char *file)
{
    char value[sizeof(((struct tg_workbench_answer *)0)->file) + 40];
    if (file[0] == '\0')
        return true;
    snprintf(value, sizeof value, "attachment; filename=\"%s\"", file);
    return MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, value) == MHD_YES;
}

/* The pieces are sent from where they lie. If a recording's file became shorter meanwhile, the kernel cannot read the
 * lost bytes, and the connection is closed before the promised length. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct sent_answer *sent)
{
    const struct tg_workbench_answer *answer = &sent->answer;
    struct MHD_IoVec pieces[2];
    unsigned n = 0;
    uint64_t size = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (answer->part[i].size > 0)
            pieces[n++] = (struct MHD_IoVec){answer->part[i].bytes, answer->part[i].size};
        size += answer->part[i].size;
    }
    struct MHD_Response *response = MHD_create_response_from_iovec(pieces, n, free_answer, sent);
    if (response == NULL) {
        free_answer(sent);
        return MHD_NO;
    }
    if (!add_file_name(response, answer->file)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return serve_respond(connection, answer->status, answer->type, size, response);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const char *text)
{
    struct tg_error error = {.status = TG_BUSY};
    snprintf(error.text, sizeof error.text, "%s", text);
    return serve_respond_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, &error);
}

enum MHD_Result serve_answer(struct serve *serve, struct MHD_Connection *connection,
                             const char *request)
{
    struct sent_answer *sent = malloc(sizeof *sent);
    if (sent == NULL)
        return MHD_NO;
    if (!take_place(&serve->budget)) {
        free(sent);
        return refuse(connection, "too many requests at a time; ask again");
    }
    tg_workbench_ask(serve->bench, request, &sent->answer);
    sent->serve = serve;
    sent->bytes = bytes_in_memory(&sent->answer);
    if (give_place(&serve->budget, sent->bytes))
        return send_answer(connection, sent);
    tg_workbench_answer_free(&sent->answer);
    free(sent);
    return refuse(connection, "answers of other requests fill the server's memory; ask again");
}
