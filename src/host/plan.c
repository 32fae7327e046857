/* SPDX-License-Identifier: Apache-2.0 */
#include "host/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "query/filter.h"
#include "host/graph.h"
#include "host/runtime_ops.h"

/* Adds ", name" to a list for a message; cuts what does not fit. */
static void list_add(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static tg_status find_platform(const char *name, struct tg_platform_info *info,
                               struct tg_error *error)
{
    char known[200] = "";
    for (uint32_t i = 0; tg_platform_get(i, info); i++) {
        list_add(known, sizeof known, info->name);
        if (strcmp(info->name, name) != 0)
            continue;
        return info->available ? TG_OK : tg_platform_named(name)->probe(error);
    }
    return tg_error_set(error, TG_NOT_FOUND, "unknown platform '%s'; platforms are %s", name,
                        known);
}

/* tg_runtime_get counts in the order of enum tg_runtime_kind. */
static tg_status find_runtime(const char *name, enum tg_runtime_kind *runtime,
                              struct tg_error *error)
{
    const struct tg_runtime_ops *ops;
    char known[200] = "";
    for (uint32_t i = 0; (ops = tg_runtime_number(i)) != NULL; i++) {
        list_add(known, sizeof known, ops->name);
        if (strcmp(ops->name, name) == 0) {
            *runtime = (enum tg_runtime_kind)i;
            return TG_OK;
        }
    }
    return tg_error_set(error, TG_NOT_FOUND, "unknown runtime '%s'; runtimes are %s", name, known);
}

static tg_status check_counts(const struct tg_device_config *device,
                              const struct tg_platform_info *platform, struct tg_error *error)
{
    uint32_t most = platform->max_blocks * TG_PARTS;
    if (device->cores > most)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--cores %u: %s has at most %u; from 0 to %u",
                            device->cores, platform->name, most, most);
    if (device->schedulers > platform->max_schedulers)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "--schedulers %u: %s has at most %u; from 0 to %u", device->schedulers,
                            platform->name, platform->max_schedulers, platform->max_schedulers);
    return TG_OK;
}

/* The host builds the graph, before the run. */
static bool is_built_here(const struct tg_plan *plan)
{
    return tg_runtime_number(plan->runtime)->build != tg_graph_place;
}

/* 0, which means that the library chooses, unless somebody has set it. */
static uint64_t chosen(const struct tg_settings *settings, const char *name)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, name) == 0 && info.source == TG_FROM_DEFAULT)
            return 0;
    return tg_settings_count(settings, name);
}

static tg_status plan_recording(const struct tg_settings *settings, struct tg_plan *plan,
                                struct tg_error *error)
{
    struct tg_filter_spec specs[TG_MAX_FILTERS];
    uint32_t count;
    plan->record = (struct tg_record_config){
        .level = tg_settings_choice(settings, "dump-tensor"),
        .policy = tg_settings_choice(settings, "dump-policy"),
        .filter = tg_settings_text(settings, "dump-filter"),
        .arena = chosen(settings, "dump-arena"),
        .buffers = (uint32_t)chosen(settings, "dump-buffers"),
        .wait_limit = tg_settings_seconds(settings, "dump-wait"),
        .transport = tg_settings_choice(settings, "dump-transport"),
    };
    if (plan->record.level == TG_LEVEL_OFF && tg_settings_flag(settings, "dump-args"))
        plan->record.level = TG_LEVEL_META;
    if (plan->record.level == TG_LEVEL_OFF && plan->races != TG_RACES_OFF && !is_built_here(plan))
        plan->record.level = TG_LEVEL_META;
    if (plan->record.level == TG_LEVEL_OFF && *plan->record.filter)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "--dump-filter without a recording; add --dump-tensor");
    return tg_filter_parse(plan->record.filter, specs, &count, error);
}

static tg_status plan_rings(const struct tg_settings *settings, struct tg_plan *plan,
                            struct tg_error *error)
{
    struct tg_rings *rings = &plan->rings;
    uint32_t n = tg_runtime_number(plan->runtime)->n_rings;
    uint64_t heaps = 0;
    if (n == 0) /* a runtime without rings: what the settings say must make sense nevertheless */
        n = TG_RINGS;
    rings->tensormap = (uint32_t)tg_settings_count(settings, "tensormap");
    for (uint32_t r = 0; r < TG_RINGS; r++) {
        rings->task_window[r] = (uint32_t)tg_settings_number(settings, "ring-task-window", r);
        rings->dep_pool[r] = (uint32_t)tg_settings_number(settings, "ring-dep-pool", r);
        rings->heap[r] = tg_settings_number(settings, "ring-heap", r);
        heaps += r < n && rings->heap[r] < UINT64_MAX / TG_RINGS ? rings->heap[r] : 0;
    }
    tg_status status = tg_rings_check(rings, error);
    if (status == TG_OK && plan->device.memory != 0 && heaps > plan->device.memory)
        status = tg_error_set(
            error, TG_BAD_ARGUMENT,
            "--ring-heap: %llu bytes in %u rings, but --device-memory is %llu; raise it",
            (unsigned long long)heaps, n, (unsigned long long)plan->device.memory);
    return status;
}

tg_status tg_plan_make(const struct tg_settings *settings, struct tg_plan *plan,
                       struct tg_error *error)
{
    const char *program = tg_settings_text(settings, "device-program");
    double linger = tg_settings_seconds(settings, "linger");
    struct tg_platform_info platform;
    *plan = (struct tg_plan){
        .device =
            {
                .platform = tg_settings_text(settings, "platform"),
                .cores = (uint32_t)tg_settings_count(settings, "cores"),
                .schedulers = (uint32_t)tg_settings_count(settings, "schedulers"),
                .memory = tg_settings_count(settings, "device-memory"),
                .device_program = *program ? program : NULL,
                .load_timeout = tg_settings_seconds(settings, "load-timeout"),
                .linger = linger > 0 ? linger : -1,
                .poison = tg_settings_flag(settings, "poison"),
                .sandbox = tg_settings_choice(settings, "sandbox"),
                .orchestrator = tg_settings_choice(settings, "orchestrator"),
            },
        .run = {.timeout = tg_settings_seconds(settings, "timeout"),
                .deps = tg_settings_flag(settings, "deps"),
                .shared = tg_settings_flag(settings, "shared")},
        .runtime_name = tg_settings_text(settings, "runtime"),
        .output = tg_settings_text(settings, "output"),
        .deps = tg_settings_flag(settings, "deps"),
        .races = (enum tg_races_mode)tg_settings_choice(settings, "races"),
        .scope_stats = tg_settings_flag(settings, "enable-scope-stats"),
        .live = tg_settings_flag(settings, "live"),
    };
    tg_status status = tg_settings_check(settings, error);
    if (status == TG_OK)
        status = find_platform(plan->device.platform, &platform, error);
    if (status == TG_OK)
        status = find_runtime(plan->runtime_name, &plan->runtime, error);
    if (status == TG_OK)
        status = check_counts(&plan->device, &platform, error);
    if (status == TG_OK)
        status = plan_rings(settings, plan, error);
    if (status == TG_OK)
        status = plan_recording(settings, plan, error);
    return status;
}
