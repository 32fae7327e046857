/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a run from what it answers, or from its run.json. Both may be anybody's: every list and text is
 * bounded. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/live.h>
#include <taskglass/text.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "host/explain.h"
#include "host/live_reply.h"

/* A run writes some kilobytes, and a megabyte if its arguments are long. */
enum { MOST = 16 << 20 };
/* How often, and after how many milliseconds, a run is asked again for places that its cores tell late. */
enum { ASK_AGAIN = 5, ASK_MS = 120 };

/* The explanation, and its text once somebody has asked for that. */
struct held {
    struct tg_explanation e; /* first: callers see only this */
    char *json;
};

/* ── values ────────────────────────────────────────────────────────────────────────────── */

#define TAKE_TEXT(pull, to) take_text(pull, to, sizeof(to))
static void take_text(const struct tg_pull *pull, char *to, size_t room)
{
    char text[1200];
    if (pull->token != TG_PULL_STRING)
        return;
    tg_pull_text(pull, text, sizeof text);
    tg_text_clean(text, to, room);
}

/* A path is not shown, but used: it is taken whole or not at all. */
static void take_path(const struct tg_pull *pull, char *to, size_t room)
{
    if (pull->token != TG_PULL_STRING || pull->length >= room)
        return;
    tg_pull_text(pull, to, room);
}

static void take_u64(const struct tg_pull *pull, uint64_t *to)
{
    uint64_t value;
    if (tg_pull_u64(pull, &value))
        *to = value;
}

static void take_u32(const struct tg_pull *pull, uint32_t *to)
{
    uint64_t value;
    if (tg_pull_u64(pull, &value) && value < UINT32_MAX)
        *to = (uint32_t)value;
}

static void take_seconds(const struct tg_pull *pull, double *to)
{
    double value;
    if (tg_pull_double(pull, &value) && value >= 0 && value < 1e12)
        *to = value;
}

/* Goes to the next member of the object that was begun: its key in `key`, its value's first token read.
 * False at the end of the object, and after an error. */
static bool next_member(struct tg_pull *pull, char key[24])
{
    if (tg_pull_next(pull) != TG_PULL_KEY)
        return false;
    tg_pull_text(pull, key, 24);
    return tg_pull_next(pull) != TG_PULL_ERROR;
}

static bool is(const char *key, const char *word)
{
    return strcmp(key, word) == 0;
}

/* ── the parts of an explanation ───────────────────────────────────────────────────────── */

static bool take_line(struct tg_pull *pull, struct tg_source_line *line)
{
    char key[24];
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return tg_pull_skip(pull);
    while (next_member(pull, key)) {
        if (is(key, "file"))
            TAKE_TEXT(pull, line->file);
        else if (is(key, "line"))
            take_u32(pull, &line->line);
        else if (is(key, "function"))
            TAKE_TEXT(pull, line->function);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

static bool take_root(struct tg_pull *pull, struct tg_explanation *e)
{
    char key[24], word[24] = "";
    while (next_member(pull, key)) {
        if (is(key, "kind"))
            TAKE_TEXT(pull, word);
        else if (is(key, "text"))
            TAKE_TEXT(pull, e->root);
        else if (is(key, "core"))
            take_u32(pull, &e->root_core);
        if (!tg_pull_skip(pull))
            return false;
    }
    for (uint32_t i = 0; i < TG_EXPLAIN_ROOTS; i++)
        if (is(word, tg_explain_root_name(i)))
            e->root_kind = i;
    return pull->token == TG_PULL_END_OBJECT;
}

static bool take_link(struct tg_pull *pull, struct tg_explain_link *link)
{
    char key[24];
    *link = (struct tg_explain_link){.task = TG_TASK_NONE, .core = TG_EXPLAIN_NO_CORE};
    while (next_member(pull, key)) {
        if (is(key, "kind"))
            TAKE_TEXT(pull, link->kind);
        else if (is(key, "task_id"))
            take_u64(pull, &link->task);
        else if (is(key, "tasks"))
            take_u64(pull, &link->tasks);
        else if (is(key, "core"))
            take_u32(pull, &link->core);
        else if (is(key, "text"))
            TAKE_TEXT(pull, link->text);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

static bool take_core(struct tg_pull *pull, struct tg_explain_core *core)
{
    char key[24];
    *core = (struct tg_explain_core){.task = TG_TASK_NONE};
    while (next_member(pull, key)) {
        if (is(key, "site") || is(key, "called_at")) {
            if (!take_line(pull, is(key, "site") ? &core->at.at : &core->at.called_at))
                return false;
            continue;
        }
        if (is(key, "core"))
            take_u32(pull, &core->core);
        else if (is(key, "kind"))
            TAKE_TEXT(pull, core->kind);
        else if (is(key, "task_id"))
            take_u64(pull, &core->task);
        else if (is(key, "kernel"))
            TAKE_TEXT(pull, core->kernel);
        else if (is(key, "crashed"))
            core->crashed = pull->token == TG_PULL_TRUE;
        else if (is(key, "seconds"))
            take_seconds(pull, &core->seconds);
        else if (is(key, "module"))
            take_path(pull, core->module, sizeof core->module);
        else if (is(key, "code_at"))
            take_u64(pull, &core->code.at);
        else if (is(key, "code_from"))
            take_u64(pull, &core->code.from);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

/* Reads the array that the last token began; elements that do not fit, or are of another kind, are left
 * out. */
static bool take_links(struct tg_pull *pull, struct tg_explanation *e)
{
    while (tg_pull_next(pull) > TG_PULL_END && pull->token != TG_PULL_END_ARRAY) {
        bool fits = pull->token == TG_PULL_BEGIN_OBJECT && e->n_links < TG_EXPLAIN_LINKS;
        if (fits ? !take_link(pull, &e->link[e->n_links]) : !tg_pull_skip(pull))
            return false;
        e->n_links += fits;
    }
    return pull->token == TG_PULL_END_ARRAY;
}

static bool take_cores(struct tg_pull *pull, struct tg_explanation *e)
{
    while (tg_pull_next(pull) > TG_PULL_END && pull->token != TG_PULL_END_ARRAY) {
        bool fits = pull->token == TG_PULL_BEGIN_OBJECT && e->n_cores < TG_EXPLAIN_CORES;
        if (fits ? !take_core(pull, &e->core[e->n_cores]) : !tg_pull_skip(pull))
            return false;
        e->n_cores += fits;
    }
    return pull->token == TG_PULL_END_ARRAY;
}

static bool take_texts(struct tg_pull *pull, char (*list)[240], uint32_t room, uint32_t *n)
{
    while (tg_pull_next(pull) > TG_PULL_END && pull->token != TG_PULL_END_ARRAY) {
        bool fits = pull->token == TG_PULL_STRING && *n < room;
        if (fits)
            take_text(pull, list[*n], sizeof list[0]);
        *n += fits;
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_ARRAY;
}

/* Reads what tg_explanation_put wrote. The last token began the object. */
static bool take_explanation(struct tg_pull *pull, struct tg_explanation *e)
{
    char key[24];
    e->n_links = e->n_cores = e->n_also = e->n_unknown = 0; /* the key may repeat */
    e->root_core = TG_EXPLAIN_NO_CORE;
    while (next_member(pull, key)) {
        bool is_array = pull->token == TG_PULL_BEGIN_ARRAY, good;
        if (is(key, "root") && pull->token == TG_PULL_BEGIN_OBJECT)
            good = take_root(pull, e);
        else if (is(key, "chain") && is_array)
            good = take_links(pull, e);
        else if (is(key, "cores") && is_array)
            good = take_cores(pull, e);
        else if (is(key, "also") && is_array)
            good = take_texts(pull, e->also, TG_EXPLAIN_ALSO, &e->n_also);
        else if (is(key, "not_known") && is_array)
            good = take_texts(pull, e->unknown, TG_EXPLAIN_UNKNOWN, &e->n_unknown);
        else {
            if (is(key, "more_cores"))
                take_u32(pull, &e->more_cores);
            else if (is(key, "idle_cores"))
                take_u32(pull, &e->idle_cores);
            good = tg_pull_skip(pull);
        }
        if (!good)
            return false;
    }
    e->looked = e->root[0] != '\0';
    return pull->token == TG_PULL_END_OBJECT;
}

/* ── run.json ──────────────────────────────────────────────────────────────────────────── */

static void say_unknown(struct tg_explanation *e, const char *text)
{
    if (e->n_unknown < TG_EXPLAIN_UNKNOWN)
        tg_text_clean(text, e->unknown[e->n_unknown++], sizeof e->unknown[0]);
}

/* An object of run.json: some of its members. */
static bool take_object(struct tg_pull *pull, const char *object, struct tg_explanation *e)
{
    char key[24];
    while (next_member(pull, key)) {
        if (is(object, "result") && is(key, "status"))
            TAKE_TEXT(pull, e->status);
        else if (is(object, "error") && is(key, "text"))
            TAKE_TEXT(pull, e->error);
        else if (is(object, "counters") && is(key, "tasks"))
            take_u64(pull, &e->tasks);
        else if (is(object, "counters") && is(key, "finished"))
            take_u64(pull, &e->finished);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

static bool take_member(struct tg_pull *pull, const char *key, struct tg_explanation *e)
{
    if (pull->token == TG_PULL_BEGIN_OBJECT)
        return is(key, "explanation") ? take_explanation(pull, e) : take_object(pull, key, e);
    if (is(key, "workload"))
        TAKE_TEXT(pull, e->workload);
    else if (is(key, "case"))
        TAKE_TEXT(pull, e->case_name);
    else if (is(key, "platform"))
        TAKE_TEXT(pull, e->platform);
    else if (is(key, "runtime"))
        TAKE_TEXT(pull, e->runtime);
    return tg_pull_skip(pull);
}

/* Errors of the device and of what runs on it, which run.json explains since it has explanations. */
static bool is_of_device(const char *status)
{
    static const tg_status of_device[] = {TG_HANG,
                                          TG_KERNEL_FAULT,
                                          TG_DEVICE_LOST,
                                          TG_CANCELLED,
                                          TG_SCOPE_DEADLOCK,
                                          TG_HEAP_RING_DEADLOCK,
                                          TG_FLOW_CONTROL_DEADLOCK,
                                          TG_DEP_POOL_OVERFLOW,
                                          TG_TENSORMAP_OVERFLOW};
    for (size_t i = 0; i < sizeof of_device / sizeof of_device[0]; i++)
        if (is(status, tg_status_name(of_device[i])))
            return true;
    return false;
}

/* A run without an explanation: one that ended well, that failed before or after its tasks ran, or of an
 * older version. */
static void explain_without(struct tg_explanation *e)
{
    if (is(e->status, "OK")) {
        e->state = TG_EXPLAIN_ENDED_WELL;
        e->root_kind = TG_ROOT_NONE;
        return;
    }
    e->state = TG_EXPLAIN_FAILED;
    if (e->looked)
        return;
    e->root_core = TG_EXPLAIN_NO_CORE;
    memcpy(e->root, e->error, sizeof e->root);
    e->root_kind = is_of_device(e->status) ? TG_ROOT_UNKNOWN : TG_ROOT_RESULT;
    if (is_of_device(e->status))
        say_unknown(
            e, "the chain of waits and what each core did: this run.json has no \"explanation\"; "
               "it is of an older version, or the run ended before its tasks ran");
}

bool tg_explanation_take_run(const char *text, size_t size, struct tg_explanation *e)
{
    struct tg_pull pull;
    char key[24];
    tg_pull_start(&pull, text, size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (next_member(&pull, key))
        if (!take_member(&pull, key, e))
            return false;
    if (pull.token != TG_PULL_END_OBJECT || tg_pull_next(&pull) != TG_PULL_END || !e->status[0])
        return false;
    explain_without(e);
    return true;
}

static bool has_socket(const char *dir)
{
    struct stat info;
    char *path = tg_path_join(dir, TG_LIVE_SOCKET);
    bool has = path != NULL && lstat(path, &info) == 0;
    free(path);
    return has;
}

static tg_status read_run_json(const char *dir, struct tg_explanation *e, struct tg_error *error)
{
    struct tg_map map;
    tg_status status = TG_OK;
    char *path = tg_path_join(dir, "run.json");
    if (path == NULL)
        return tg_file_no_memory(error);
    int cause = tg_map_load(path, MOST, &map);
    if ((cause == ENOENT || cause == ENOTDIR) && has_socket(dir)) {
        status =
            tg_error_set(error, TG_NOT_FOUND,
                         "the run in '%s' was killed before it could say how it ended; 'taskglass "
                         "recover' completes its recording, if it has one",
                         dir);
    } else if (cause == ENOENT || cause == ENOTDIR) {
        status = tg_error_set(
            error, TG_NOT_FOUND,
            "no run answers in '%s', and it has no run.json that says how one ended", dir);
    } else if (cause != 0) {
        status =
            tg_error_set(error, TG_IO_ERROR, "cannot read '%s': %s", path, tg_cause_text(cause));
    } else {
        if (!tg_explanation_take_run((const char *)map.bytes, map.size, e))
            status = tg_error_set(error, TG_IO_ERROR, "'%s' is not a run.json of a run", path);
        tg_map_close(&map);
    }
    free(path);
    return status;
}

/* ── a run that goes on ────────────────────────────────────────────────────────────────── */

/* The client has checked that it is an answer; here only its part about the explanation is read. */
bool tg_explanation_take_answer(const char *text, size_t size, struct tg_explanation *e, bool *late)
{
    struct tg_pull pull;
    char key[24];
    tg_pull_start(&pull, text, size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (next_member(&pull, key)) {
        bool is_object = pull.token == TG_PULL_BEGIN_OBJECT;
        if (is(key, "places_late"))
            *late = pull.token == TG_PULL_TRUE;
        if (is(key, "explanation") && is_object ? !take_explanation(&pull, e)
                                                : !tg_pull_skip(&pull))
            return false;
    }
    return pull.token == TG_PULL_END_OBJECT;
}

static void take_status(const struct tg_live_status *s, struct tg_explanation *e)
{
    e->state = TG_EXPLAIN_GOES_ON;
    e->tasks = s->submitted;
    e->finished = s->finished;
    e->idle = s->idle_seconds;
    e->limit = s->hang_seconds;
    tg_text_clean(s->workload, e->workload, sizeof e->workload);
    tg_text_clean(s->case_name, e->case_name, sizeof e->case_name);
    tg_text_clean(s->platform, e->platform, sizeof e->platform);
    tg_text_clean(s->runtime, e->runtime, sizeof e->runtime);
    if (e->looked)
        return;
    e->root_kind = TG_ROOT_NONE;
    snprintf(e->root, sizeof e->root, "no tasks run now: the run is %s",
             s->phase == TG_LIVE_OPENING    ? "opening the device"
             : s->phase == TG_LIVE_BUILDING ? "building the graph"
             : s->phase == TG_LIVE_CHECKING ? "checking the outputs"
             : s->phase == TG_LIVE_SAVING   ? "saving its files"
                                            : "between two steps");
}

/* A run of an older version refuses the word. It still says what runs. */
static tg_status ask_old(const char *dir, struct tg_explanation *e, struct tg_error *error)
{
    struct tg_live *live;
    struct tg_live_status answer;
    tg_status status = tg_live_open(dir, &live, error);
    if (status != TG_OK)
        return status;
    status = tg_live_look(live, TG_LIVE_ALL, &answer, error);
    if (status == TG_OK) {
        take_status(&answer, e);
        e->root_kind = TG_ROOT_UNKNOWN;
        snprintf(
            e->root, sizeof e->root,
            "the run goes on, and is of a version that cannot explain itself; see taskglass top");
        say_unknown(e, "the chain of waits: the run's version of Taskglass does not answer that");
    }
    tg_live_close(live);
    return status;
}

static tg_status ask_once(struct tg_live *live, struct tg_explanation *e, bool *late,
                          struct tg_error *error)
{
    struct tg_live_status answer;
    struct tg_live_lists *lists = malloc(sizeof *lists);
    const char *text = NULL;
    *late = false;
    memset(e, 0, sizeof *e);
    tg_status status = lists ? TG_OK : tg_file_no_memory(error);
    if (status == TG_OK)
        status = tg_live_ask(live, 1u << TG_LIVE_EXPLAIN, &text, error);
    if (status == TG_OK)
        status = tg_live_reply_read(text, strlen(text), &answer, lists, error);
    if (status == TG_OK && !tg_explanation_take_answer(text, strlen(text), e, late))
        status = tg_error_set(error, TG_IO_ERROR, "what came is no answer of a run");
    if (status == TG_OK)
        take_status(&answer, e);
    free(lists);
    return status;
}

/* Looks up the lines of the places that the run has named: here, because it takes some milliseconds. */
static void find_lines(struct tg_explanation *e)
{
    bool lacks = false;
    for (uint32_t i = 0; i < e->n_cores; i++) {
        struct tg_explain_core *core = &e->core[i];
        if (core->module[0] != '\0' && core->at.at.line == 0 && i < 8)
            lacks |= tg_source_find(core->module, &core->code, &core->at, NULL) != TG_OK;
    }
    if (lacks)
        say_unknown(e,
                    "some source lines: the module has no debug information (-g), or there is no "
                    "addr2line (binutils)");
}

static tg_status ask_run(struct tg_live *live, const char *dir, struct tg_explanation *e,
                         struct tg_error *error)
{
    bool late = false;
    tg_status status = TG_OK;
    for (int i = 0; i < ASK_AGAIN; i++) {
        status = ask_once(live, e, &late, error);
        if (status != TG_OK || !late)
            break;
        poll(NULL, 0, ASK_MS);
    }
    if (status == TG_BUSY)
        return ask_old(dir, e, error);
    if (status == TG_OK)
        find_lines(e);
    return status;
}

/* ── for callers ───────────────────────────────────────────────────────────────────────── */

static tg_status explain(const char *dir, struct tg_explanation *e, struct tg_error *error)
{
    struct tg_live *live = NULL;
    tg_status status = tg_live_open(dir, &live, error);
    if (status == TG_OK) {
        status = ask_run(live, dir, e, error);
        tg_live_close(live);
    }
    if (status != TG_NOT_FOUND)
        return status;
    memset(e, 0, sizeof *e);
    return read_run_json(dir, e, error);
}

tg_status tg_explain(const char *dir, struct tg_explanation **out, struct tg_error *error)
{
    TG_REFUSE_NULL(error, out);
    *out = NULL;
    TG_REFUSE_NULL(error, dir);
    struct held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return tg_file_no_memory(error);
    tg_status status = explain(dir, &held->e, error);
    if (status == TG_OK)
        *out = &held->e;
    else
        free(held);
    return status;
}

void tg_explanation_free(struct tg_explanation *explanation)
{
    if (explanation == NULL)
        return;
    free(((struct held *)explanation)->json);
    free(explanation);
}

const char *tg_explanation_json(struct tg_explanation *explanation)
{
    if (explanation == NULL)
        return NULL;
    struct held *held = (struct held *)explanation;
    struct tg_json json;
    size_t size;
    FILE *file = held->json ? NULL : open_memstream(&held->json, &size);
    if (file == NULL)
        return held->json;
    tg_json_start(&json, file);
    tg_explanation_write(explanation, &json);
    tg_status status = tg_json_finish(&json);
    if (fclose(file) != 0 || status != TG_OK) {
        free(held->json);
        held->json = NULL;
    }
    return held->json;
}
