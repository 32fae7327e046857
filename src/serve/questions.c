/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/questions.h"

#include <stdint.h>
#include <string.h>
#include <taskglass/json.h>
#include <taskglass/text.h>

enum { MOST_VALUE = 400, MOST_OPTIONS = 12, MOST_ROWS = 2000 };

/* ── the tables ────────────────────────────────────────────────────────────────────────── */

enum form { FLAG, TEXT };

struct option {
    const char *name, *text;
    enum form form;
};

#define FILTERS                                                                              \
    {"task", "tasks: 12, 1:12 (ring:index), 1:0-1:99, or several with commas", TEXT},        \
        {"kernel", "kernels; * stands for any characters", TEXT},                            \
        {"stage", "before, after or orchestration", TEXT},                                   \
        {"role", "in, out, inout or scalar", TEXT}, {"arg", "arguments: 0, 0-2, 0,3", TEXT}, \
    {                                                                                        \
        "index", "records: 12, 0-99", TEXT                                                   \
    }

static const struct option filters[] = {FILTERS, {0}};
static const struct option of_stomp[] = {
    FILTERS, {"no-replay", "do not replay the suspects", FLAG}, {0}};
static const struct option of_diff[] = {
    FILTERS,
    {"atol", "absolute tolerance: 1e-6, or kernel=add,arg=2:1e-6", TEXT},
    {"rtol", "relative tolerance, written the same way", TEXT},
    {"equal-nan", "NaN equals NaN, whatever its bits", FLAG},
    {"blame", "show all tasks that caused a difference", FLAG},
    {0}};
static const struct option none[] = {{0}};

struct question {
    const char *verb, *what, *text;
    unsigned runs;
    const struct option *options;
    bool has_rows; /* --limit bounds what it prints */
};

static const struct question questions[] = {
    {"find", "nan", "NaN in a tensor", 1, filters, true},
    {"find", "inf", "an infinity in a tensor", 1, filters, true},
    {"find", "overflow", "an infinity or the type's largest value, computed from finite inputs", 1,
     filters, true},
    {"find", "constant", "an output whose elements are all equal", 1, filters, true},
    {"find", "unwritten", "an output that its task did not write, or not all of it", 1, filters,
     true},
    {"find", "stomp", "a tensor that changed although no recorded task wrote it", 1, of_stomp,
     true},
    {"find", "race", "tasks that share bytes, one writing them, without an order", 1, filters,
     true},
    {"check", "", "compare recorded tasks with their references", 1, filters, true},
    {"stats", "", "range, mean, NaN, Inf, zeros and denormals of each tensor", 1, filters, true},
    {"explain", "", "why the run failed or hangs", 1, none, false},
    {"path", "", "where the time of the run went, and what would make it faster", 1, none, false},
    {"diff", "", "compare two recordings task by task; find what caused a difference", 2, of_diff,
     true},
    {"verify", "", "check the recording: hashes, counters, extents, manifest", 1, none, false},
};

enum { N_QUESTIONS = sizeof questions / sizeof questions[0] };

tg_status serve_questions_write(FILE *file)
{
    struct tg_json json;
    tg_json_start(&json, file);
    tg_json_begin_array(&json);
    for (unsigned i = 0; i < N_QUESTIONS; i++) {
        tg_json_begin_line_object(&json);
        tg_json_put_string(&json, "verb", questions[i].verb);
        tg_json_put_string(&json, "what", questions[i].what);
        tg_json_put_string(&json, "text", questions[i].text);
        tg_json_put_uint(&json, "runs", questions[i].runs);
        tg_json_key(&json, "options");
        tg_json_begin_array(&json);
        for (const struct option *o = questions[i].options; o->name != NULL; o++) {
            tg_json_begin_line_object(&json);
            tg_json_put_string(&json, "name", o->name);
            tg_json_put_string(&json, "text", o->text);
            tg_json_put_bool(&json, "flag", o->form == FLAG);
            tg_json_end_object(&json);
        }
        tg_json_end_array(&json);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    return tg_json_finish(&json);
}

/* ── words ─────────────────────────────────────────────────────────────────────────────── */

/* Adds a word that the command line gets. False: the command is too long. */
static bool add_word(struct serve_command *c, const char *first, const char *second)
{
    size_t left = sizeof c->room - c->used;
    int length = snprintf(c->room + c->used, left, "%s%s", first, second);
    if (length < 0 || (size_t)length >= left || c->n == SERVE_MOST_WORDS)
        return false;
    c->argv[c->n++] = c->room + c->used;
    c->argv[c->n] = NULL;
    c->used += (size_t)length + 1;
    return true;
}

/* Adds a word that the user sees, quoted where a shell would not take it as it is. */
static bool show_word(struct serve_command *c, const char *word)
{
    char quoted[8 * 1024];
    size_t length = strlen(c->text), left = sizeof c->text - length;
    if (!tg_text_shell_word(word, quoted, sizeof quoted))
        return false;
    int n = snprintf(c->text + length, left, "%s%s", length ? " " : "", quoted);
    return n >= 0 && (size_t)n < left;
}

static bool add_both(struct serve_command *c, const char *word)
{
    return add_word(c, word, "") && show_word(c, word);
}

static tg_status too_long(struct tg_error *error)
{
    return serve_fail(error, TG_BAD_ARGUMENT, "the command would be too long");
}

/* ── making a command ──────────────────────────────────────────────────────────────────── */

static const struct question *find_question(const struct serve_query *query)
{
    const char *verb = serve_query_get(query, "verb"), *what = serve_query_get(query, "what");
    for (unsigned i = 0; verb != NULL && i < N_QUESTIONS; i++)
        if (strcmp(questions[i].verb, verb) == 0 &&
            strcmp(questions[i].what, what ? what : "") == 0)
            return &questions[i];
    return NULL;
}

/* A path that begins with '-' would be taken for an option. */
static tg_status add_run(const struct serve_query *query, const char *name, serve_path_fn path,
                         void *context, struct serve_command *command, struct tg_error *error)
{
    const char *key = serve_query_get(query, name), *found;
    char plain[4200];
    if (key == NULL)
        return serve_fail(error, TG_BAD_ARGUMENT, "the question needs the parameter '%s'", name);
    found = path(context, key);
    if (found == NULL)
        return serve_fail(error, TG_NOT_FOUND, "there is no such run");
    if (snprintf(plain, sizeof plain, "%s%s", found[0] == '-' ? "./" : "", found) >=
        (int)sizeof plain)
        return too_long(error);
    return add_both(command, plain) ? TG_OK : too_long(error);
}

static const struct option *find_option(const struct question *question, const char *name)
{
    for (const struct option *o = question->options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static tg_status add_option(const struct option *option, const char *value,
                            struct serve_command *command, struct tg_error *error)
{
    char name[40];
    snprintf(name, sizeof name, "--%s", option->name);
    if (option->form == FLAG) {
        if (strcmp(value, "1") != 0)
            return serve_fail(error, TG_BAD_ARGUMENT, "%s: write %s=1, or leave it out", name,
                              option->name);
        return add_both(command, name) ? TG_OK : too_long(error);
    }
    if (value[0] == '\0' || value[0] == '-' || strlen(value) > MOST_VALUE)
        return serve_fail(error, TG_BAD_ARGUMENT,
                          "%s: a value has 1 to %d bytes and does not begin with '-'", name,
                          MOST_VALUE);
    if (!show_word(command, name) || !show_word(command, value))
        return too_long(error);
    snprintf(name, sizeof name, "--%s=", option->name);
    return add_word(command, name, value) ? TG_OK : too_long(error);
}

static bool is_place(const char *name)
{
    return strcmp(name, "verb") == 0 || strcmp(name, "what") == 0 || strcmp(name, "run") == 0;
}

static tg_status add_options(const struct serve_query *query, const struct question *question,
                             struct serve_command *command, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (unsigned i = 0; status == TG_OK && i < query->n; i++) {
        const struct serve_parameter *p = &query->parameter[i];
        const struct option *option = find_option(question, p->name);
        if (is_place(p->name) || (question->runs == 2 && strcmp(p->name, "b") == 0))
            continue;
        status = option != NULL ? add_option(option, p->value, command, error)
                                : serve_fail(error, TG_BAD_ARGUMENT,
                                             "the question does not have this parameter");
    }
    return status;
}

tg_status serve_question_make(const struct serve_query *query, serve_path_fn path, void *context,
                              struct serve_command *command, struct tg_error *error)
{
    const struct question *question = find_question(query);
    char limit[32];
    tg_status status;
    *command = (struct serve_command){0};
    if (question == NULL)
        return serve_fail(error, TG_BAD_ARGUMENT, "there is no such question");
    if (!add_both(command, "taskglass") || !add_both(command, question->verb) ||
        (question->what[0] && !add_both(command, question->what)))
        return too_long(error);
    status = add_run(query, "run", path, context, command, error);
    if (status == TG_OK && question->runs == 2)
        status = add_run(query, "b", path, context, command, error);
    if (status == TG_OK)
        status = add_options(query, question, command, error);
    if (status != TG_OK)
        return status;
    snprintf(limit, sizeof limit, "--limit=%d", MOST_ROWS);
    if (!add_word(command, "--json", "") || (question->has_rows && !add_word(command, limit, "")))
        return too_long(error);
    command->limit = question->has_rows ? MOST_ROWS : 0;
    return TG_OK;
}
