/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `taskglass replay --all` for programs. While devices run, standard output goes elsewhere, so
 * the document is kept in memory until they are closed. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>

#include "cli/recording.h"
#include "cli/replay.h"

/* More tasks than this are counted, but not listed. */
enum { MOST_LISTED = 100000 };

bool replay_json_begin(struct replay_tally *tally)
{
    tally->document = open_memstream(&tally->bytes, &tally->size);
    if (!tally->document)
        return false;
    tg_json_start(&tally->json, tally->document);
    tg_json_begin_object(&tally->json);
    tg_json_key(&tally->json, "findings");
    tg_json_begin_array(&tally->json);
    return true;
}

static void put_finding(struct tg_json *json, const struct tg_guard_finding *finding)
{
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "kind", tg_guard_kind_name(finding->kind));
    if (finding->argument != UINT32_MAX)
        tg_json_put_uint(json, "arg_index", finding->argument);
    if (finding->has_element) {
        tg_json_put_uint(json, "element", finding->element);
        tg_json_key(json, "index");
        tg_json_begin_array(json);
        for (uint32_t d = 0; d < finding->ndim && d < TG_MAX_DIMS; d++)
            tg_json_int(json, finding->index[d]);
        tg_json_end_array(json);
    }
    if (finding->distance > 0) {
        tg_json_put_uint(json, "distance", finding->distance);
        tg_json_key(json, "place");
        tg_json_int(json, finding->place);
    }
    tg_json_put_uint(json, "count", finding->count);
    if (*finding->site)
        tg_json_put_string(json, "site", finding->site);
    tg_json_put_string(json, "text", finding->text);
    tg_json_end_object(json);
}

void replay_json_tell(struct replay_tally *tally, const struct tg_replay_verdict *verdict)
{
    struct tg_json *json = &tally->json;
    char site[400];
    if (tally->listed == MOST_LISTED)
        return;
    tally->listed++;
    tg_json_begin_object(json);
    tg_json_put_hex(json, "task_id", verdict->task);
    tg_json_put_string(json, "kernel", verdict->kernel);
    tg_json_put_string(json, "result", tg_replay_is_name(verdict->is));
    tg_json_put_uint(json, "runs", verdict->runs);
    if (verdict->is == TG_REPLAY_DIFFERS || verdict->output.varied > 0)
        replay_put_output(json, &verdict->output);
    if (verdict->why)
        tg_json_put_string(json, "why", verdict->why);
    tg_source_text(&verdict->site, site, sizeof site);
    if (*site)
        tg_json_put_string(json, "site", site);
    if (verdict->n_findings > 0) {
        tg_json_key(json, "misuse");
        tg_json_begin_array(json);
        for (uint32_t i = 0; i < verdict->n_findings; i++)
            put_finding(json, &verdict->finding[i]);
        tg_json_end_array(json);
        tg_json_put_uint(json, "more_misuse", verdict->more_findings);
    }
    tg_json_end_object(json);
}

static void put_groups(struct replay_tally *tally, const char *name,
                       const struct replay_group *group, size_t count)
{
    struct tg_json *json = &tally->json;
    tg_json_key(json, name);
    tg_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "result", tg_replay_is_name(group[i].is));
        if (group[i].is == TG_REPLAY_MISUSE)
            tg_json_put_string(json, "kind", tg_guard_kind_name(group[i].kind));
        tg_json_put_string(json, "kernel", group[i].kernel ? group[i].kernel : "");
        if (group[i].argument != UINT32_MAX)
            tg_json_put_uint(json, "arg_index", group[i].argument);
        tg_json_put_uint(json, "tasks", group[i].tasks);
        tg_json_put_hex(json, "first_task_id", group[i].first);
        tg_json_put_string(json, "text", group[i].text ? group[i].text : "");
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_counts(struct tg_json *json, const struct tg_replay_summary *s)
{
    tg_json_put_uint(json, "tasks", s->tasks);
    tg_json_put_uint(json, "communication", s->communication);
    tg_json_key(json, "counts");
    tg_json_begin_line_object(json);
    for (uint32_t i = 0; i < TG_REPLAY_WORDS; i++)
        tg_json_put_uint(json, tg_replay_is_name(i), s->count[i]);
    tg_json_end_object(json);
    tg_json_put_string(json, "platform", s->platform);
    tg_json_put_string(json, "recorded_on", *s->recorded_on ? s->recorded_on : NULL);
    tg_json_put_bool(json, "guard", s->guarded);
    tg_json_put_uint(json, "workers", s->workers);
    tg_json_put_uint(json, "devices", s->devices);
}

static void put_limits(struct tg_json *json, const struct tg_replay_summary *s)
{
    const char *text;
    tg_json_key(json, "not_seen");
    tg_json_begin_array(json);
    for (uint32_t i = 0; s->guarded && (text = tg_guard_unseen(s->has_pages, i)) != NULL; i++)
        tg_json_string(json, text);
    tg_json_end_array(json);
}

void replay_json_end(struct replay_tally *tally, const char *result, const char *reason)
{
    struct tg_json *json = &tally->json;
    struct tg_recording_info info;
    tg_json_end_array(json);
    put_groups(tally, "groups", tally->group, tally->n_groups);
    put_groups(tally, "not_judged", tally->left, tally->n_left);
    put_counts(json, &tally->summary);
    put_limits(json, &tally->summary);
    tg_json_put_string(json, "result", result);
    tg_json_put_string(json, "reason", *reason ? reason : NULL);
    tg_recording_get_info(tally->recording, &info);
    tg_json_key(json, "left_out");
    tg_json_begin_array(json);
    cli_json_notes(json, &info);
    tg_json_end_array(json);
    tg_json_end_object(json);
    (void)tg_json_finish(json);
    if (fclose(tally->document) == 0)
        fwrite(tally->bytes, 1, tally->size, stdout); /* main reports errors of stdout */
    else
        cli_fault("the answer", ENOMEM);
}
