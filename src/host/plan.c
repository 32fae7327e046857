/* SPDX-License-Identifier: Apache-2.0 */
#include "host/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "dump/filter.h"

/* Adds ", name" to a list for a message; a list too long is cut. */
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
        if (info->available)
            return TG_OK;
        return tg_error_set(error, TG_UNSUPPORTED,
                            "platform %s cannot be opened on this machine; `taskglass list` shows "
                            "those that can",
                            name);
    }
    return tg_error_set(error, TG_NOT_FOUND, "no platform '%s'; there are %s", name, known);
}

static tg_status check_runtime(const char *name, struct tg_error *error)
{
    struct tg_runtime_info info;
    char known[200] = "";
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++) {
        list_add(known, sizeof known, info.name);
        if (strcmp(info.name, name) != 0)
            continue;
        if (info.available)
            return TG_OK;
        return tg_error_set(error, TG_UNSUPPORTED,
                            "runtime %s is not in this version; `taskglass list` shows those that "
                            "are",
                            name);
    }
    return tg_error_set(error, TG_NOT_FOUND, "no runtime '%s'; there are %s", name, known);
}

static tg_status check_counts(const struct tg_device_config *device,
                              const struct tg_platform_info *platform, struct tg_error *error)
{
    uint32_t most = platform->max_blocks * TG_PARTS;
    if (device->cores > most)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--cores %u: %s has at most %u", device->cores,
                            platform->name, most);
    if (device->schedulers > platform->max_schedulers)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--schedulers %u: %s has at most %u",
                            device->schedulers, platform->name, platform->max_schedulers);
    return TG_OK;
}

/* The number of a word in a choice's list. */
static uint32_t choice(const struct tg_settings *settings, const char *name,
                       const char *const *words)
{
    const char *value = tg_settings_text(settings, name);
    uint32_t i = 0;
    while (words[i + 1] && strcmp(words[i], value) != 0)
        i++;
    return i;
}

static tg_status plan_recording(const struct tg_settings *settings, struct tg_plan *plan,
                                struct tg_error *error)
{
    static const char *const levels[] = {"off", "meta", "hash", "marked", "hybrid", "full", NULL};
    static const char *const policies[] = {"block", "drop", "overwrite", NULL};
    struct tg_filter_spec specs[TG_MAX_FILTERS];
    uint32_t count;
    plan->record = (struct tg_record_config){
        .level = choice(settings, "dump-tensor", levels),
        .policy = choice(settings, "dump-policy", policies),
        .filter = tg_settings_text(settings, "dump-filter"),
        .arena = tg_settings_count(settings, "dump-arena"),
        .buffers = (uint32_t)tg_settings_count(settings, "dump-buffers"),
        .wait_limit = tg_settings_seconds(settings, "dump-wait"),
    };
    if (plan->record.level == TG_LEVEL_OFF && tg_settings_flag(settings, "dump-args"))
        plan->record.level = TG_LEVEL_META;
    if (plan->record.level == TG_LEVEL_OFF && *plan->record.filter)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "--dump-filter without a recording; add --dump-tensor");
    return tg_filter_parse(plan->record.filter, specs, &count, error);
}

tg_status tg_plan_make(const struct tg_settings *settings, struct tg_plan *plan,
                       struct tg_error *error)
{
    const char *program = tg_settings_text(settings, "device-program");
    struct tg_platform_info platform;
    *plan = (struct tg_plan){
        .device =
            {
                .platform = tg_settings_text(settings, "platform"),
                .cores = (uint32_t)tg_settings_count(settings, "cores"),
                .schedulers = (uint32_t)tg_settings_count(settings, "schedulers"),
                .memory = tg_settings_count(settings, "device-memory"),
                .device_program = *program ? program : NULL,
            },
        .run = {.timeout = tg_settings_seconds(settings, "timeout")},
        .runtime = tg_settings_text(settings, "runtime"),
        .output = tg_settings_text(settings, "output"),
        .deps = tg_settings_flag(settings, "deps"),
    };
    tg_status status = find_platform(plan->device.platform, &platform, error);
    if (status == TG_OK)
        status = check_runtime(plan->runtime, error);
    if (status == TG_OK)
        status = check_counts(&plan->device, &platform, error);
    if (status == TG_OK)
        status = plan_recording(settings, plan, error);
    return status;
}
