/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass find race: tasks that share bytes, one of them writing, without an order between them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/race.h>

#include "cli/find.h"
#include "cli/format.h"
#include "cli/print.h"
#include "cli/progress.h"

/* The groups that are shown, kept until the head is printed, which has their number. */
struct races {
    const struct cli_find *find;
    struct tg_races_summary is;
    struct tg_race *race; /* its texts are copies */
    size_t count, room;
};

static const char *keep(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        cli_fault("keep the races", ENOMEM);
    return copy;
}

static void keep_side(struct tg_race_side *side)
{
    side->kernels = keep(side->kernels);
    side->line = keep(side->line);
    side->scope = keep(side->scope);
    side->region = keep(side->region);
}

static void drop_side(const struct tg_race_side *side)
{
    free((void *)side->kernels);
    free((void *)side->line);
    free((void *)side->scope);
    free((void *)side->region);
}

static int take(void *context, const struct tg_race *race)
{
    struct races *races = context;
    if (races->count >= races->find->limit.number)
        return 0;
    if (races->count == races->room) {
        races->room = races->room ? races->room * 2 : 16;
        struct tg_race *more = realloc(races->race, races->room * sizeof *more);
        if (!more)
            cli_fault("keep the races", ENOMEM);
        races->race = more;
    }
    struct tg_race *kept = &races->race[races->count++];
    *kept = *race;
    keep_side(&kept->first);
    keep_side(&kept->second);
    kept->fix = keep(kept->fix);
    return 0;
}

static void drop(struct races *races)
{
    for (size_t i = 0; i < races->count; i++) {
        drop_side(&races->race[i].first);
        drop_side(&races->race[i].second);
        free((void *)races->race[i].fix);
    }
    free(races->race);
}

static const char *role_of(const struct tg_race_side *side)
{
    if (side->reads && side->writes)
        return "inout";
    return side->writes ? "out" : "in";
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_side(const struct tg_race_side *side)
{
    struct cli_words task;
    const char *line = *side->line ? side->line : side->scope;
    cli_print("    %-12s%s, %s arg %" PRIu32 ": %s", cli_record_task(&task, side->task_id),
              side->kernels, role_of(side), side->argument, side->region);
    if (*line)
        cli_print("\n    %-12s%s %s", "", *side->line ? "submitted at" : "in the scope of", line);
    cli_print("\n");
}

static void put_race(const struct tg_race *race)
{
    struct cli_words first, second;
    struct cli_text count;
    cli_print("  %srace%s: tasks %s and %s ", cli_color(stdout, CLI_RED),
              cli_color(stdout, CLI_PLAIN), cli_record_task(&first, race->first.task_id),
              cli_record_task(&second, race->second.task_id));
    if (race->bytes == TG_NONE)
        cli_print("share bytes without an order");
    else
        cli_print("share %s without an order", cli_format_count(&count, race->bytes, "byte"));
    if (race->pairs > 1)
        cli_print(" (and %s)", cli_format_count(&count, race->pairs - 1, "more pair"));
    cli_print("\n");
    put_side(&race->first);
    put_side(&race->second);
    cli_print("    %-12s%s\n", "add", race->fix);
}

static void put_head(const struct races *races, const struct tg_recording_info *info)
{
    const struct tg_races_summary *is = &races->is;
    struct cli_shown dir;
    struct cli_text tasks, tensors, pairs, groups;
    cli_print("%s%s%s  %s: %s with %s compared, ",
              cli_color(stdout, is->exit_code == 0 ? CLI_GREEN : CLI_RED),
              tg_find_kind_name(TG_FIND_RACE), cli_color(stdout, CLI_PLAIN),
              cli_show(&dir, info->dir), cli_format_count(&tasks, is->tasks, "task"),
              cli_format_count(&tensors, is->accesses, "tensor"));
    if (is->pairs == 0)
        cli_print("%s\n", is->result);
    else
        cli_print("%s%s of tasks in %s%s\n", is->is_exact ? "" : "at least ",
                  cli_format_count(&pairs, is->pairs, "pair"),
                  cli_format_count(&groups, is->groups, "group"),
                  is->exit_code == 1 ? "" : ", which are only possible");
}

static void print_text(const struct races *races)
{
    struct tg_recording_info info;
    tg_recording_get_info(races->find->recording, &info);
    put_head(races, &info);
    for (size_t i = 0; i < races->count; i++)
        put_race(&races->race[i]);
    if (races->is.groups > races->count)
        cli_print("  and %" PRIu64 " more; --all shows them\n", races->is.groups - races->count);
    if (races->is.is_proof)
        cli_print("  The edges, and what the orchestrator waited for, cover all accesses declared: "
                  "tasks that share bytes, of which one writes them, are in order.\n");
    for (unsigned i = 0; i < races->is.n_notes; i++)
        cli_print("  note: %s\n", races->is.note[i].text);
    cli_recording_print_notes(&info);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_text(struct tg_json *json, const char *key, const char *text)
{
    tg_json_put_string(json, key, *text ? text : NULL);
}

static void put_side_json(struct tg_json *json, const char *key, const struct tg_race_side *side)
{
    tg_json_key(json, key);
    tg_json_begin_object(json);
    tg_json_put_hex(json, "task_id", side->task_id);
    tg_json_put_uint(json, "position", side->position);
    put_text(json, "kernel", side->kernels);
    put_text(json, "line", side->line);
    put_text(json, "scope", side->scope);
    tg_json_put_uint(json, "arg_index", side->argument);
    tg_json_put_string(json, "role", role_of(side));
    put_text(json, "region", side->region);
    tg_json_end_object(json);
}

static void print_json(const struct races *races)
{
    const struct tg_races_summary *is = &races->is;
    struct tg_recording_info info;
    struct tg_json json;
    tg_recording_get_info(races->find->recording, &info);
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    cli_json_recording(&json, "recording", races->find->recording);
    tg_json_put_string(&json, "what", tg_find_kind_name(TG_FIND_RACE));
    tg_json_put_string(&json, "result", is->result);
    tg_json_put_string(&json, "reason",
                       is->exit_code == 2 && is->n_notes ? is->note[is->n_notes - 1].text : NULL);
    tg_json_put_uint(&json, "tasks", is->tasks);
    tg_json_put_uint(&json, "looked_at", is->accesses);
    tg_json_put_uint(&json, "found", is->pairs);
    tg_json_put_uint(&json, "groups", is->groups);
    tg_json_put_bool(&json, "exact", is->is_exact);
    tg_json_put_uint(&json, "unclear", is->unclear);
    tg_json_put_bool(&json, "proof", is->is_proof);
    tg_json_key(&json, "left_out");
    tg_json_begin_array(&json);
    for (unsigned i = 0; i < is->n_notes; i++)
        tg_json_string(&json, is->note[i].text);
    cli_json_notes(&json, &info);
    tg_json_end_array(&json);
    tg_json_key(&json, "findings");
    tg_json_begin_array(&json);
    for (size_t i = 0; i < races->count; i++) {
        const struct tg_race *race = &races->race[i];
        tg_json_begin_object(&json);
        put_side_json(&json, "first", &race->first);
        put_side_json(&json, "second", &race->second);
        cli_json_index(&json, "bytes", race->bytes);
        tg_json_put_uint(&json, "pairs", race->pairs);
        tg_json_put_string(&json, "fix", race->fix);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

/* --- the question ----------------------------------------------------------------------------- */

static int print(const struct races *races)
{
    if (races->find->json)
        print_json(races);
    else if (strcmp(races->is.result, "not known") == 0)
        return cli_error("not known: %s",
                         races->is.n_notes ? races->is.note[races->is.n_notes - 1].text : "");
    else
        print_text(races);
    return races->is.exit_code;
}

static int watch(void *context, uint64_t done, uint64_t total)
{
    cli_progress_show(context, done, total);
    return 0;
}

int cli_find_races(struct cli_find *find)
{
    struct races races = {.find = find};
    struct cli_progress progress;
    const struct tg_races_config config = {
        .query = find->query, .watch = watch, .watch_context = &progress};
    struct tg_error error;
    int code;
    cli_progress_init(&progress, "find", "task");
    tg_status status = tg_races_find(find->recording, &config, take, &races, &races.is, &error);
    cli_progress_erase(&progress);
    if (status == TG_UNSUPPORTED || status == TG_NOT_FOUND)
        code = cli_not_known(find->recording, find->json, error.text);
    else if (status != TG_OK)
        code = cli_recording_fail(find->recording, find->json, &error);
    else
        code = print(&races);
    drop(&races);
    return code;
}
