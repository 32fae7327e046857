/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `taskglass shake` as JSON. */
#include <stdio.h>
#include <taskglass/json.h>

#include "cli/shake.h"

static void put_task(struct tg_json *json, const char *key, const struct tg_shake_task *task)
{
    tg_json_key(json, key);
    tg_json_begin_line_object(json);
    tg_json_put_hex(json, "task_id", task->id);
    tg_json_put_string(json, "kernel", task->kernel);
    tg_json_put_string(json, "line", task->line);
    tg_json_end_object(json);
}

static void put_difference(struct tg_json *json, const char *key,
                           const struct tg_shake_difference *difference)
{
    tg_json_key(json, key);
    tg_json_begin_object(json);
    tg_json_put_string(json, "change", tg_shake_change_name(difference->change));
    tg_json_put_string(json, "status", tg_status_name(difference->status));
    tg_json_put_string(json, "text", difference->text);
    tg_json_put_string(json, "output", difference->output);
    tg_json_put_uint(json, "tasks", difference->tasks);
    if (difference->has_task) {
        put_task(json, "first", &difference->task);
        tg_json_put_bool(json, "reads", difference->reads);
        tg_json_put_uint(json, "argument", difference->argument);
    } else {
        tg_json_key(json, "first");
        tg_json_null(json);
    }
    tg_json_end_object(json);
}

static void put_constraints(struct tg_json *json, const struct tg_shake_info *info)
{
    static const char *const races[] = {"no", "yes", "not known"};
    tg_json_key(json, "constraints");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < info->n_constraints; i++) {
        const struct tg_shake_constraint *c = &info->constraint[i];
        tg_json_begin_object(json);
        put_task(json, "before", &c->first);
        put_task(json, "after", &c->second);
        tg_json_put_string(json, "race", races[c->race < 3 ? c->race : 2]);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_counts(struct tg_json *json, const struct tg_shake_info *info)
{
    tg_json_put_uint(json, "tasks", info->tasks);
    tg_json_put_uint(json, "schedules", info->schedules);
    tg_json_put_uint(json, "found_at", info->found_at);
    tg_json_put_uint(json, "runs", info->runs);
    tg_json_put_real(json, "seconds", info->wall);
    tg_json_put_uint(json, "inside", info->inside);
    tg_json_put_bool(json, "unstable_inside", info->unstable_inside);
}

void cli_shake_json(const struct cli *cli, const struct cli_shake *request,
                    const struct tg_shake *shake, const char *command)
{
    struct tg_json json;
    struct tg_shake_info info;
    tg_shake_get(shake, &info);
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "version", tg_version());
    tg_json_put_string(&json, "workload", request->workload);
    tg_json_put_string(&json, "case", info.case_name);
    tg_json_put_string(&json, "platform", tg_settings_text(cli->settings, "platform"));
    tg_json_put_string(&json, "runtime", tg_settings_text(cli->settings, "runtime"));
    tg_json_put_string(&json, "result", tg_shake_result_name(info.result));
    tg_json_put_string(&json, "reason", info.reason);
    tg_json_put_uint(&json, "exit_code", (uint64_t)tg_shake_exit_code(shake));
    put_counts(&json, &info);
    tg_json_put_string(&json, "schedule", info.schedule);
    tg_json_put_string(&json, "reduced", info.reduced);
    tg_json_put_bool(&json, "fewest", info.fewest);
    tg_json_put_uint(&json, "confirmed", info.confirmed);
    put_constraints(&json, &info);
    put_difference(&json, "difference", &info.difference);
    if (info.inside > 0) {
        tg_json_put_string(&json, "inside_schedule", info.inside_schedule);
        put_difference(&json, "inside_difference", &info.inside_difference);
    }
    tg_json_put_string(&json, "command", command);
    tg_json_put_string(&json, "baseline_dir", info.baseline_dir);
    tg_json_put_string(&json, "failing_dir", info.failing_dir);
    tg_json_put_string(&json, "reduced_dir", info.reduced_dir);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}
