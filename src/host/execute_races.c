/* SPDX-License-Identifier: Apache-2.0 */
#include "host/execute_races.h"
#include "base/error.h"
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/recording.h>

struct telling {
    const struct tg_execute_config *config;
    struct tg_execution_races *races;
};

static void keep_side(struct tg_kept_race *kept, int i, const struct tg_race_side *side)
{
    kept->task_id[i] = side->task_id;
    kept->argument[i] = side->argument;
    kept->writes[i] = side->writes;
    snprintf(kept->kernels[i], sizeof kept->kernels[i], "%s", side->kernels);
    snprintf(kept->line[i], sizeof kept->line[i], "%s", side->line);
    snprintf(kept->region[i], sizeof kept->region[i], "%s", side->region);
}

static int on_race(void *context, const struct tg_race *race)
{
    struct telling *telling = context;
    struct tg_execution_races *races = telling->races;
    if (races->n_kept < TG_KEPT_RACES) {
        struct tg_kept_race *kept = &races->kept[races->n_kept++];
        keep_side(kept, 0, &race->first);
        keep_side(kept, 1, &race->second);
        kept->pairs = race->pairs;
        snprintf(kept->fix, sizeof kept->fix, "%s", race->fix);
    }
    return telling->config->race ? telling->config->race(telling->config->race_context, race) : 0;
}

/* Keeps why nothing was judged, or says that a run that was to fail does. */
static tg_status conclude(struct tg_execution_races *races, tg_status status,
                          const struct tg_error *why, struct tg_error *error)
{
    const struct tg_races_summary *summary = &races->summary;
    races->judged = status == TG_OK;
    if (status != TG_OK)
        snprintf(races->unknown, sizeof races->unknown, "%s", why->text);
    if (status == TG_CANCELLED)
        return tg_error_set(error, TG_CANCELLED, "cancelled while races were searched");
    if (status != TG_OK || summary->exit_code != 1 || races->mode != TG_RACES_ERROR)
        return TG_OK;
    return tg_error_set(
        error, TG_RACE, "%s%" PRIu64 " %s of tasks in no order over common bytes; %s",
        summary->is_exact ? "" : "at least ", summary->pairs,
        summary->pairs == 1 ? "pair" : "pairs",
        races->before ? "nothing ran" : "the device builds the graph while it runs, so it has run");
}

tg_status tg_execute_races_before(const struct tg_execute_config *config, struct tg_graph *graph,
                                  struct tg_execution_races *races, struct tg_error *error)
{
    struct telling telling = {config, races};
    struct tg_error why = {TG_OK, ""};
    races->before = true;
    tg_status status = tg_graph_races(graph, NULL, on_race, &telling, &races->summary, &why);
    return conclude(races, status, &why, error);
}

tg_status tg_execute_races_after(const struct tg_execute_config *config, const char *directory,
                                 struct tg_execution_races *races, struct tg_error *error)
{
    struct telling telling = {config, races};
    struct tg_recording *recording = NULL;
    struct tg_error why = {TG_OK, ""};
    tg_status status = tg_recording_open(directory, &recording, &why);
    if (status == TG_OK)
        status = tg_races_find(recording, NULL, on_race, &telling, &races->summary, &why);
    tg_recording_close(recording);
    return conclude(races, status, &why, error);
}

/* ── run.json ──────────────────────────────────────────────────────────────────────────── */

static void put_side(struct tg_json *json, const char *key, const struct tg_kept_race *kept, int i)
{
    tg_json_key(json, key);
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", kept->task_id[i]);
    tg_json_put_string(json, "kernels", kept->kernels[i]);
    tg_json_put_string(json, "line", *kept->line[i] ? kept->line[i] : NULL);
    tg_json_put_uint(json, "argument", kept->argument[i]);
    tg_json_put_bool(json, "writes", kept->writes[i]);
    tg_json_put_string(json, "region", kept->region[i]);
    tg_json_end_object(json);
}

static void put_found(struct tg_json *json, const struct tg_execution_races *races)
{
    tg_json_key(json, "found");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < races->n_kept; i++) {
        tg_json_begin_object(json);
        put_side(json, "first", &races->kept[i], 0);
        put_side(json, "second", &races->kept[i], 1);
        tg_json_put_uint(json, "pairs", races->kept[i].pairs);
        tg_json_put_string(json, "fix", races->kept[i].fix);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

void tg_execute_races_put(struct tg_json *json, const struct tg_execution_races *races)
{
    const struct tg_races_summary *summary = &races->summary;
    if (races->mode == TG_RACES_OFF)
        return;
    tg_json_key(json, "races");
    if (!races->judged && !*races->unknown) {
        tg_json_null(json);
        return;
    }
    tg_json_begin_object(json);
    tg_json_put_string(json, "searched", races->before ? "before the run" : "after the run");
    tg_json_put_string(json, "result", races->judged ? summary->result : "not known");
    tg_json_put_string(json, "reason", races->judged ? NULL : races->unknown);
    tg_json_put_uint(json, "pairs", summary->pairs);
    tg_json_put_uint(json, "groups", summary->groups);
    tg_json_put_bool(json, "is_exact", races->judged && summary->is_exact);
    put_found(json, races);
    tg_json_key(json, "left_out");
    tg_json_begin_array(json);
    for (unsigned i = 0; races->judged && i < summary->n_notes; i++)
        tg_json_string(json, summary->note[i].text);
    tg_json_end_array(json);
    tg_json_end_object(json);
}
