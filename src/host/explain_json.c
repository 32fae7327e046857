/* SPDX-License-Identifier: Apache-2.0 */
/* Writes explanations; man/taskglass-explain.1 describes the members. */
#define _GNU_SOURCE 1
#include "host/explain.h"
#include <math.h>
#include <stdlib.h>

#define LARGEST (UINT64_C(1) << 53)

#define WORD(constant, number, word, meaning) word,
const char *tg_explain_state_name(uint32_t state)
{
    static const char *const names[] = {TG_EXPLAIN_STATE_MAP(WORD)};
    return state < TG_EXPLAIN_STATES ? names[state] : "unknown";
}

const char *tg_explain_root_name(uint32_t root)
{
    static const char *const names[] = {TG_EXPLAIN_ROOT_MAP(WORD)};
    return root < TG_EXPLAIN_ROOTS ? names[root] : "unknown";
}
#undef WORD

static void put_count(struct tg_json *json, const char *key, uint64_t count)
{
    tg_json_put_uint(json, key, count < LARGEST ? count : LARGEST);
}

static void put_core_number(struct tg_json *json, const char *key, uint32_t core)
{
    if (core != TG_EXPLAIN_NO_CORE)
        tg_json_put_uint(json, key, core);
}

static void put_seconds(struct tg_json *json, const char *key, double seconds)
{
    tg_json_put_real(json, key, round(seconds * 1e3) / 1e3);
}

static void put_text(struct tg_json *json, const char *key, const char *text)
{
    tg_json_put_string(json, key, text[0] ? text : NULL);
}

static void put_line(struct tg_json *json, const char *key, const struct tg_source_line *line)
{
    if (line->line == 0)
        return;
    tg_json_key(json, key);
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "file", line->file);
    tg_json_put_uint(json, "line", line->line);
    tg_json_put_string(json, "function", line->function);
    tg_json_end_object(json);
}

static void put_chain(struct tg_json *json, const struct tg_explanation *e)
{
    tg_json_key(json, "chain");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_links; i++) {
        const struct tg_explain_link *link = &e->link[i];
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "kind", link->kind);
        if (link->task != TG_TASK_NONE)
            tg_json_put_hex(json, "task_id", link->task);
        if (link->tasks > 0)
            put_count(json, "tasks", link->tasks);
        put_core_number(json, "core", link->core);
        tg_json_put_string(json, "text", link->text);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_core(struct tg_json *json, const struct tg_explain_core *core)
{
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "core", core->core);
    tg_json_put_string(json, "kind", core->kind);
    if (core->task != TG_TASK_NONE) {
        tg_json_put_hex(json, "task_id", core->task);
        tg_json_put_string(json, "kernel", core->kernel);
        tg_json_put_bool(json, "crashed", core->crashed);
    }
    put_seconds(json, "seconds", core->seconds);
    put_line(json, "site", &core->at.at);
    put_line(json, "called_at", &core->at.called_at);
    if (core->module[0] != '\0' && core->at.at.line == 0) {
        tg_json_put_string(json, "module", core->module);
        tg_json_put_hex(json, "code_at", core->code.at);
        tg_json_put_hex(json, "code_from", core->code.from);
    }
    tg_json_end_object(json);
}

void tg_explanation_put(const struct tg_explanation *e, struct tg_json *json)
{
    tg_json_key(json, "root");
    tg_json_begin_object(json);
    tg_json_put_string(json, "kind", tg_explain_root_name(e->root_kind));
    put_text(json, "text", e->root);
    put_core_number(json, "core", e->root_core);
    tg_json_end_object(json);
    put_chain(json, e);
    tg_json_key(json, "cores");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_cores; i++)
        put_core(json, &e->core[i]);
    tg_json_end_array(json);
    put_count(json, "more_cores", e->more_cores);
    put_count(json, "idle_cores", e->idle_cores);
    tg_json_key(json, "also");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_also; i++)
        tg_json_string(json, e->also[i]);
    tg_json_end_array(json);
    tg_json_key(json, "not_known");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < e->n_unknown; i++)
        tg_json_string(json, e->unknown[i]);
    tg_json_end_array(json);
}

void tg_explanation_write(const struct tg_explanation *e, struct tg_json *json)
{
    if (e == NULL || json == NULL)
        return;
    tg_json_begin_object(json);
    tg_json_put_string(json, "result", tg_explain_state_name(e->state));
    put_text(json, "status", e->status);
    put_text(json, "error", e->error);
    put_text(json, "workload", e->workload);
    put_text(json, "case", e->case_name);
    put_text(json, "platform", e->platform);
    put_text(json, "runtime", e->runtime);
    tg_json_key(json, "tasks");
    tg_json_begin_line_object(json);
    put_count(json, "submitted", e->tasks);
    put_count(json, "finished", e->finished);
    tg_json_end_object(json);
    if (e->state == TG_EXPLAIN_GOES_ON) {
        put_seconds(json, "idle_seconds", e->idle);
        put_seconds(json, "hang_seconds", e->limit);
    }
    tg_json_put_bool(json, "looked", e->looked);
    tg_explanation_put(e, json);
    tg_json_end_object(json);
}
