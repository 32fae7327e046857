/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "serve/job.h"
#include "serve/serve.h"
#include "serve/slices.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <taskglass/json.h>
#include <unistd.h>

enum {
    MOST_SECONDS = 600,
    END_SECONDS = 2, /* between the wish that it ends, and its death */
    MOST_TEXT = 64 * 1024,
    PIECE = 64 * 1024
};
#define MOST_ANSWER ((size_t)64 << 20)

void serve_job_free(struct serve_job *job)
{
    free(job->out.bytes);
    free(job->err.bytes);
    free(job);
}

bool serve_job_is_over(const struct serve_job *job)
{
    return job->state != SERVE_JOB_WAITS && job->state != SERVE_JOB_RUNS;
}

static void end(struct serve_job *job, enum serve_job_state state, const char *error)
{
    job->state = state;
    job->ended = serve_now();
    if (error != NULL && job->error[0] == '\0')
        snprintf(job->error, sizeof job->error, "%s", error);
}

void serve_job_start(struct serve_job *job, const char *program)
{
    int cause = serve_child_start(&job->child, program, job->command.argv);
    job->began = serve_now();
    job->state = SERVE_JOB_RUNS;
    if (cause != 0)
        end(job, SERVE_JOB_FAILED, strerror(cause));
}

void serve_job_stop(struct serve_job *job, const char *error)
{
    if (serve_job_is_over(job))
        return;
    job->is_cancelled |= error == NULL;
    if (error != NULL && job->error[0] == '\0')
        snprintf(job->error, sizeof job->error, "%s", error);
    if (job->state == SERVE_JOB_WAITS) {
        end(job, SERVE_JOB_STOPPED, NULL);
    } else if (job->told == 0) {
        serve_child_signal(&job->child, SIGTERM);
        job->told = serve_now();
    }
}

/* ── what it prints ────────────────────────────────────────────────────────────────────── */

/* Room for one more piece, and a zero. False: there is no memory. */
static bool make_room(struct serve_output *output)
{
    size_t wanted = output->room;
    while (wanted < output->used + PIECE + 1)
        wanted = wanted ? 2 * wanted : 2 * (size_t)PIECE;
    if (wanted == output->room)
        return true;
    char *bytes = realloc(output->bytes, wanted);
    if (bytes == NULL)
        return false;
    output->bytes = bytes;
    output->room = wanted;
    return true;
}

/* Reads what is there. Beyond `most` it reads on, so that the process does not wait, but keeps nothing. */
static bool take_output(struct serve_job *job, int fd, struct serve_output *output, size_t most)
{
    for (;;) {
        if (!make_room(output)) {
            serve_job_stop(job, "the server has no memory for the answer");
            return false;
        }
        ssize_t got = read(fd, output->bytes + output->used, PIECE);
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == EINTR);
        size_t kept = most - output->used;
        output->used += (size_t)got < kept ? (size_t)got : kept;
        if ((size_t)got > kept && most == MOST_ANSWER) {
            serve_job_stop(job, "the answer is larger than 64 MiB; use the command in a terminal, "
                                "or select less");
            return true;
        }
    }
}

/* False once both pipes are closed. */
static bool take_outputs(struct serve_job *job)
{
    if (job->child.out >= 0 && !take_output(job, job->child.out, &job->out, MOST_ANSWER)) {
        close(job->child.out);
        job->child.out = -1;
    }
    if (job->child.err >= 0 && !take_output(job, job->child.err, &job->err, MOST_TEXT)) {
        close(job->child.err);
        job->child.err = -1;
    }
    return job->child.out >= 0 || job->child.err >= 0;
}

/* ── its end ───────────────────────────────────────────────────────────────────────────── */

/* The command itself says on standard error what is wrong with its words. */
static void fail_with_text(struct serve_job *job)
{
    char line[sizeof job->error];
    size_t length = job->err.used < sizeof line ? job->err.used : sizeof line - 1;
    memcpy(line, job->err.used > 0 ? job->err.bytes : "", length);
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    end(job, SERVE_JOB_FAILED, line[0] ? line : "the command gave no answer in JSON");
}

static void finish(struct serve_job *job)
{
    struct serve_slice answer;
    (void)take_outputs(job);
    serve_child_close(&job->child);
    if (job->is_cancelled)
        end(job, SERVE_JOB_STOPPED, NULL);
    else if (job->error[0] != '\0')
        end(job, SERVE_JOB_FAILED, NULL);
    else if (WIFSIGNALED(job->child.how))
        end(job, SERVE_JOB_FAILED, strsignal(WTERMSIG(job->child.how)));
    else if (WEXITSTATUS(job->child.how) == 127)
        end(job, SERVE_JOB_FAILED, "the program taskglass did not start");
    else {
        answer = (struct serve_slice){job->out.bytes, job->out.used};
        if (job->out.used > 0 && serve_slice_is_json(answer))
            end(job, SERVE_JOB_DONE, NULL);
        else
            fail_with_text(job);
    }
    if (job->state != SERVE_JOB_DONE) { /* nobody may read half an answer */
        free(job->out.bytes);
        job->out = (struct serve_output){0};
    }
}

void serve_job_look(struct serve_job *job)
{
    double now = serve_now();
    if (job->state != SERVE_JOB_RUNS)
        return;
    (void)take_outputs(job);
    if (serve_child_has_ended(&job->child)) {
        job->has_exited = true;
        finish(job);
        return;
    }
    if (job->told == 0 && now > job->began + MOST_SECONDS)
        serve_job_stop(job, "stopped after 10 minutes; use the command in a terminal");
    if (job->told != 0 && now > job->told + END_SECONDS)
        serve_child_signal(&job->child, SIGKILL);
}

/* ── as JSON ───────────────────────────────────────────────────────────────────────────── */

static const char *state_name(enum serve_job_state state)
{
    switch (state) {
    case SERVE_JOB_DONE:
        return "done";
    case SERVE_JOB_STOPPED:
        return "stopped";
    case SERVE_JOB_FAILED:
        return "failed";
    default:
        return "working";
    }
}

static void write_exit(const struct serve_job *job, struct tg_json *json)
{
    tg_json_key(json, "exit");
    if (job->has_exited && WIFEXITED(job->child.how))
        tg_json_uint(json, (uint64_t)WEXITSTATUS(job->child.how));
    else
        tg_json_null(json);
}

void serve_job_write(const struct serve_job *job, FILE *file)
{
    struct tg_json json;
    double until = job->ended != 0 ? job->ended : serve_now();
    char text[MOST_TEXT + 1] = "";
    if (job->err.used > 0)
        memcpy(text, job->err.bytes, job->err.used);
    text[job->err.used] = '\0';
    tg_json_start(&json, file);
    tg_json_begin_line_object(&json);
    tg_json_put_uint(&json, "job", job->number);
    tg_json_put_string(&json, "command", job->command.text);
    tg_json_put_string(&json, "state", state_name(job->state));
    tg_json_put_bool(&json, "queued", job->state == SERVE_JOB_WAITS);
    tg_json_put_real(&json, "seconds", job->began != 0 ? until - job->began : 0);
    write_exit(job, &json);
    tg_json_key(&json, "limit");
    if (job->command.limit > 0)
        tg_json_uint(&json, job->command.limit);
    else
        tg_json_null(&json);
    tg_json_put_string(&json, "text", text);
    tg_json_put_string(&json, "error", job->error);
    tg_json_key(&json, "answer");
}
