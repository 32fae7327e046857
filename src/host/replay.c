/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one recorded task alone on a device. */
#include <taskglass/replay.h>

#include "base/error.h"
#include "host/module_open.h"
#include "host/plan.h"
#include "host/recorded_task.h"
#include "host/replay.h"
#include "host/replay_stage.h"
#include "host/trust.h"
#include "recording/reader.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void tg_replay_kernel_names(const struct tg_recorded_task *task, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        size_t used = strlen(text);
        if (*task->kernel[part])
            snprintf(text + used, size - used, "%s%s", used ? "+" : "", task->kernel[part]);
    }
}

uint64_t tg_replay_allowed_memory(const struct tg_settings *settings)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, "device-memory") == 0 && info.source != TG_FROM_DEFAULT)
            return tg_settings_count(settings, "device-memory");
    return 0;
}

tg_status tg_replay_load(const struct tg_trusted *module, const struct tg_guard *guard,
                         void **library, struct tg_error *error)
{
    tg_status status = tg_trust_still(module, error);
    *library = NULL;
    if (status == TG_OK)
        status = tg_module_open_guarded(module->path, guard, library, error);
    return status;
}

void tg_replay_unload(const struct tg_guard *guard, void *library)
{
    if (library != NULL && guard->fn == NULL)
        dlclose(library);
}

/* Runs the task that was read. */
static tg_status replay(const struct tg_plan *plan, const struct tg_trusted *module,
                        const struct tg_recorded_task *task, const struct tg_replay_config *config,
                        struct tg_replay_result *result, struct tg_error *error)
{
    struct tg_guard guard = {config->guard, config->guard_context};
    struct tg_replay_stage stage;
    void *library;
    tg_status status = tg_replay_load(module, &guard, &library, error);
    tg_replay_stage_init(&stage, plan, module, config->stop, config->stop_context);
    if (status == TG_OK)
        status = tg_replay_stage_open(&stage, error);
    if (status == TG_OK)
        status = tg_replay_stage_run(&stage, task, config->repeat ? config->repeat : 1, 0, result,
                                     error);
    tg_replay_stage_close(&stage);
    tg_replay_unload(&guard, library);
    return status;
}

tg_status tg_replay_task(const struct tg_settings *settings, const struct tg_recording *recording,
                         uint64_t task, const struct tg_replay_config *config,
                         struct tg_replay_result *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, result);
    struct tg_plan plan;
    static const struct tg_replay_config defaults;
    struct tg_recorded_task read = {.id = task};
    struct tg_trusted module;
    config = config ? config : &defaults;
    tg_status status = tg_plan_make(settings, &plan, error);
    memset(result, 0, sizeof *result);
    result->task = task;
    if (status == TG_OK)
        status = tg_recorded_task_read(recording, task, tg_replay_allowed_memory(settings), &read,
                                       error);
    status = tg_recording_conclude(recording, status, error);
    if (status == TG_OK)
        status = tg_trust_choose(recording, config->module, config->ask, config->ask_context,
                                 &module, error);
    if (status == TG_OK) {
        tg_replay_kernel_names(&read, result->kernel, sizeof result->kernel);
        status = replay(&plan, &module, &read, config, result, error);
        snprintf(result->platform, sizeof result->platform, "%s", plan.device.platform);
        status = tg_recording_conclude(recording, status,
                                       error); /* outputs were compared with its bytes */
    }
    tg_recorded_task_free(&read);
    return status;
}

/* True if there are outputs, but the recording has none of them, and no two runs differ. */
static bool is_open(const struct tg_replay_result *result)
{
    return result->n_outputs > 0 && result->n_compared == 0 && result->deterministic;
}

const char *tg_replay_word(const struct tg_replay_result *result, const char **reason)
{
    if (reason)
        *reason = "";
    if (result && !is_open(result))
        return result->same && result->deterministic ? "same" : "differs";
    if (reason)
        *reason = "the recording has no output of the task to compare with; record with "
                  "--dump-tensor=full";
    return "not known";
}
