/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one recorded task alone on a device. */
#include <taskglass/dtype.h>
#include <taskglass/replay.h>

#include "base/error.h"
#include "common/gather.h"
#include "host/check.h"
#include "host/module.h"
#include "host/plan.h"
#include "host/module_open.h"
#include "host/recorded_task.h"
#include "host/replay.h"
#include "host/run.h"
#include "host/trust.h"
#include "recording/reader.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stage {
    struct tg_recorded_task task;
    void *library;      /* the module in this process */
    bool keeps_library; /* its destructors are not called: nobody guards them */
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    uint64_t block[TG_MAX_TENSORS]; /* device addresses */
    char *got[TG_MAX_TENSORS];      /* the first run's outputs, as logical bytes */
    int (*stop)(void *context);
    void *stop_context;
};

void tg_replay_kernel_names(const struct tg_recorded_task *task, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        size_t used = strlen(text);
        if (*task->kernel[part])
            snprintf(text + used, size - used, "%s%s", used ? "+" : "", task->kernel[part]);
    }
}

/* ── setting up ────────────────────────────────────────────────────────────────────────── */

/* Loads the module into this process first, in the caller's guard, because that runs its constructors.
 * tg_device_load then finds it loaded. */
static tg_status load(struct stage *s, const struct tg_trusted *module,
                      const struct tg_replay_config *config, struct tg_error *error)
{
    struct tg_guard guard = {config->guard, config->guard_context};
    s->keeps_library = guard.fn != NULL;
    tg_status status = tg_trust_still(module, error);
    if (status == TG_OK)
        status = tg_module_open_guarded(module->path, &guard, &s->library, error);
    return status;
}

static tg_status find_kernels(const struct stage *s, const char *path, uint32_t kernel[TG_PARTS],
                              struct tg_error *error)
{
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        const char *name = s->task.kernel[part];
        kernel[part] = *name ? tg_module_kernel(s->module, name) : TG_NO_KERNEL;
        if (*name && kernel[part] == TG_NO_KERNEL)
            return tg_error_set(error, TG_NOT_FOUND, "%s has no kernel %s", path, name);
    }
    /* A manifest lists kernels without the gaps of absent parts. */
    if (kernel[TG_PART_AIC] != TG_NO_KERNEL && kernel[TG_PART_AIV1] == TG_NO_KERNEL &&
        s->module->kernels[kernel[TG_PART_AIC]].core != TG_AIC) {
        kernel[TG_PART_AIV1] = kernel[TG_PART_AIV0];
        kernel[TG_PART_AIV0] = kernel[TG_PART_AIC];
        kernel[TG_PART_AIC] = TG_NO_KERNEL;
    }
    return TG_OK;
}

static tg_status place_blocks(struct stage *s, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < s->task.n_blocks && status == TG_OK; b++)
        status = tg_device_alloc(s->device, s->task.block[b].size, &s->block[b], error);
    return status;
}

static tg_status build(struct stage *s, const char *path, struct tg_error *error)
{
    struct tg_args args;
    uint32_t kernel[TG_PARTS];
    tg_status status = find_kernels(s, path, kernel, error);
    if (status == TG_OK)
        status = place_blocks(s, error);
    if (status == TG_OK)
        status = tg_graph_create(s->module, &s->graph, error);
    if (status != TG_OK)
        return status;
    tg_args_init(&args);
    for (uint32_t i = 0; i < s->task.n_tensors; i++) {
        const struct tg_recorded_tensor *t = &s->task.tensor[i];
        struct tg_tensor tensor = t->tensor;
        tensor.addr = s->block[t->block] + t->offset;
        tg_args_tensor(&args, (enum tg_role)t->role, tensor);
    }
    for (uint32_t i = 0; i < s->task.n_scalars; i++)
        tg_args_bits(&args, s->task.scalar[i].dtype, s->task.scalar[i].bits);
    return tg_graph_add_mix(s->graph, kernel, &args, NULL, error);
}

/* ── running ───────────────────────────────────────────────────────────────────────────── */

/* Copies the view's block from the device and gathers the view's logical bytes from it. The caller
 * frees *bytes, also after an error. */
static tg_status fetch(struct stage *s, const struct tg_recorded_tensor *t, char **bytes,
                       struct tg_error *error)
{
    const struct tg_recorded_block *block = &s->task.block[t->block];
    char *image = malloc(block->size + 1);
    tg_status status = TG_OK;
    *bytes = calloc(1, t->bytes + 1);
    if (image == NULL || *bytes == NULL)
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for the outputs");
    if (status == TG_OK && block->size > 0)
        status = tg_device_copy_out(s->device, image, s->block[t->block], block->size, error);
    if (status == TG_OK && t->bytes > 0)
        tg_gather(*bytes, image + t->offset, &t->tensor, 0, tg_tensor_numel(&t->tensor));
    free(image);
    return status;
}

static void compare(const struct tg_recorded_tensor *t, const char *bytes,
                    struct tg_replay_output *output)
{
    if (t->after == NULL)
        return;
    output->recorded = true;
    tg_check_exact(t->tensor.dtype, bytes, t->after, (uint64_t)tg_tensor_numel(&t->tensor),
                   &output->check);
}

/* Fetches one output after a run, compares it with the recording and with the first run. */
static tg_status take_output(struct stage *s, uint32_t argument, uint32_t run,
                             struct tg_replay_output *output, struct tg_error *error)
{
    const struct tg_recorded_tensor *t = &s->task.tensor[argument];
    char *bytes = NULL;
    tg_status status = fetch(s, t, &bytes, error);
    if (status == TG_OK && run > 0 && memcmp(bytes, s->got[argument], t->bytes) != 0)
        output->varied++;
    if (status == TG_OK && (run == 0 || output->check.mismatches == 0))
        compare(t, bytes, output);
    if (run == 0 && status == TG_OK) {
        s->got[argument] = bytes;
        return TG_OK;
    }
    free(bytes);
    return status;
}

/* Waits in short pieces, because `stop` wants to be asked often. */
static tg_status run_graph(struct stage *s, const struct tg_run_config *config,
                           struct tg_replay_result *result, struct tg_error *error)
{
    const double piece = 0.05;
    struct tg_run *run = NULL;
    if (s->stop == NULL)
        return tg_graph_run(s->graph, config, &result->run, error);
    tg_status status = tg_run_start(s->graph, config, &run, error);
    if (status == TG_OK)
        do {
            bool stopped = s->stop(s->stop_context) != 0;
            if (stopped)
                tg_run_cancel_within(run, TG_RUN_CANCEL_SECONDS);
            status = stopped ? tg_error_set(error, TG_CANCELLED, "the replay was cancelled")
                             : tg_run_wait(run, piece, error);
        } while (status == TG_TIMED_OUT);
    if (run != NULL)
        tg_run_get_result(run, &result->run);
    tg_run_destroy(run);
    return status;
}

static tg_status run_once(struct stage *s, const struct tg_run_config *config, uint32_t run,
                          struct tg_replay_result *result, struct tg_error *error)
{
    tg_status status = TG_OK;
    uint32_t n = 0;
    for (uint32_t b = 0; b < s->task.n_blocks && status == TG_OK; b++)
        if (s->task.block[b].size > 0)
            status = tg_device_copy_in(s->device, s->block[b], s->task.block[b].image,
                                       s->task.block[b].size, error);
    if (status == TG_OK)
        status = run_graph(s, config, result, error);
    for (uint32_t i = 0; i < s->task.n_tensors && status == TG_OK; i++)
        if (s->task.tensor[i].role != TG_IN)
            status = take_output(s, i, run, &result->output[n++], error);
    return status;
}

static void describe_outputs(const struct stage *s, struct tg_replay_result *result)
{
    for (uint32_t i = 0; i < s->task.n_tensors; i++) {
        const struct tg_tensor *t = &s->task.tensor[i].tensor;
        struct tg_replay_output *output = &result->output[result->n_outputs];
        if (s->task.tensor[i].role == TG_IN)
            continue;
        output->argument = i;
        output->ndim = t->ndim;
        memcpy(output->shape, t->shape, sizeof output->shape);
        output->check.dtype = tg_dtype_name(t->dtype);
        output->check.elements = (uint64_t)tg_tensor_numel(t);
        result->n_outputs++;
    }
}

static void conclude(struct tg_replay_result *result)
{
    result->same = result->deterministic = true;
    result->n_compared = 0;
    for (uint32_t i = 0; i < result->n_outputs; i++) {
        result->same &= result->output[i].check.mismatches == 0;
        result->n_compared += result->output[i].recorded;
        result->deterministic &= result->output[i].varied == 0;
    }
}

static void leave(struct stage *s)
{
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++)
        free(s->got[i]);
    tg_graph_destroy(s->graph);
    tg_device_close(s->device);
    if (s->library && !s->keeps_library)
        dlclose(s->library);
    tg_recorded_task_free(&s->task);
}

/* The memory that the user gave the device, unless it is the default: a task may take as much, however
 * small its recording is. */
static uint64_t allowed_memory(const struct tg_settings *settings)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, "device-memory") == 0 && info.source != TG_FROM_DEFAULT)
            return tg_settings_count(settings, "device-memory");
    return 0;
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
    struct tg_trusted module;
    config = config ? config : &defaults;
    struct stage s = {.stop = config->stop, .stop_context = config->stop_context};
    uint32_t repeat = config->repeat ? config->repeat : 1;
    tg_status status = tg_plan_make(settings, &plan, error);
    memset(result, 0, sizeof *result);
    result->task = task;
    if (status == TG_OK)
        status = tg_recorded_task_read(recording, task, allowed_memory(settings), &s.task, error);
    status = tg_recording_conclude(recording, status, error);
    if (status == TG_OK)
        status = tg_trust_choose(recording, config->module, config->ask, config->ask_context,
                                 &module, error);
    if (status != TG_OK) {
        tg_recorded_task_free(&s.task);
        return status;
    }
    tg_replay_kernel_names(&s.task, result->kernel, sizeof result->kernel);
    snprintf(result->platform, sizeof result->platform, "%s", plan.device.platform);
    status = load(&s, &module, config, error);
    if (status == TG_OK)
        status = tg_device_open(&plan.device, &s.device, error);
    if (status == TG_OK)
        status = tg_device_load(s.device, module.path, &s.module, error);
    if (status == TG_OK)
        status = tg_trust_still(&module, error);
    if (status == TG_OK)
        status = build(&s, module.path, error);
    if (status == TG_OK)
        describe_outputs(&s, result);
    for (uint32_t run = 0; run < repeat && status == TG_OK; run++) {
        status = run_once(&s, &plan.run, run, result, error);
        result->runs += status == TG_OK;
    }
    result->run.running = NULL;
    conclude(result);
    leave(&s);
    return tg_recording_conclude(recording, status,
                                 error); /* outputs were compared with its bytes */
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
