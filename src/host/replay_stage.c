/* SPDX-License-Identifier: Apache-2.0 */
#include "host/replay_stage.h"

#include "base/error.h"
#include "common/gather.h"
#include "host/check.h"
#include "host/device.h"
#include "host/graph.h"
#include "host/module.h"
#include "host/replay.h"
#include "host/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

/* ── the device ────────────────────────────────────────────────────────────────────────── */

/* Of a guarded task that has lost its device. */
static tg_status reopen(struct tg_guard_bench *bench, struct tg_error *error)
{
    struct tg_replay_stage *stage = bench->context;
    tg_replay_stage_close(stage);
    return tg_replay_stage_open(stage, error);
}

void tg_replay_stage_init(struct tg_replay_stage *stage, const struct tg_plan *plan,
                          const struct tg_trusted *trusted, int (*stop)(void *context),
                          void *stop_context)
{
    *stage = (struct tg_replay_stage){.plan = plan, .trusted = trusted};
    stage->bench = (struct tg_guard_bench){.run = &plan->run,
                                           .reopen = reopen,
                                           .context = stage,
                                           .stop = stop,
                                           .stop_context = stop_context};
}

static bool is_stopped(void *context)
{
    const struct tg_replay_stage *stage = context;
    return stage->bench.stop != NULL && stage->bench.stop(stage->bench.stop_context) != 0;
}

tg_status tg_replay_stage_open(struct tg_replay_stage *stage, struct tg_error *error)
{
    struct tg_guard_bench *bench = &stage->bench;
    tg_status status;
    if (bench->device != NULL)
        return TG_OK;
    status = tg_device_open_watched(&stage->plan->device, (struct tg_watch){is_stopped, stage},
                                    &bench->device, error);
    stage->opened += status == TG_OK;
    if (status == TG_OK)
        status = tg_trust_still(stage->trusted, error);
    if (status == TG_OK)
        status = tg_device_load(bench->device, stage->trusted->path, &bench->module, error);
    if (status == TG_OK)
        status = tg_trust_still(stage->trusted, error);
    if (status == TG_OK)
        status = tg_graph_create(bench->module, &stage->graph, error);
    if (status != TG_OK)
        tg_replay_stage_close(stage);
    return status;
}

void tg_replay_stage_close(struct tg_replay_stage *stage)
{
    tg_graph_destroy(stage->graph);
    tg_device_close(stage->bench.device);
    stage->graph = NULL;
    stage->bench.device = NULL;
    stage->bench.module = NULL;
    stage->served = 0;
}

/* ── a task on it ──────────────────────────────────────────────────────────────────────── */

struct scene {
    struct tg_replay_stage *stage;
    const struct tg_recorded_task *task;
    uint64_t block[TG_MAX_TENSORS]; /* device addresses; 0: none */
    char *got[TG_MAX_TENSORS];      /* the first run's outputs, as logical bytes */
};

tg_status tg_replay_find_kernels(const struct tg_recorded_task *task,
                                 const struct tg_module *module, uint32_t kernel[TG_PARTS],
                                 struct tg_error *error)
{
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        const char *name = task->kernel[part];
        kernel[part] = *name ? tg_module_kernel(module, name) : TG_NO_KERNEL;
        if (*name && kernel[part] == TG_NO_KERNEL)
            return tg_error_set(error, TG_NOT_FOUND, "%s has no kernel %s", module->path, name);
    }
    /* A manifest lists kernels without the gaps of absent parts. */
    if (kernel[TG_PART_AIC] != TG_NO_KERNEL && kernel[TG_PART_AIV1] == TG_NO_KERNEL &&
        module->kernels[kernel[TG_PART_AIC]].core != TG_AIC) {
        kernel[TG_PART_AIV1] = kernel[TG_PART_AIV0];
        kernel[TG_PART_AIV0] = kernel[TG_PART_AIC];
        kernel[TG_PART_AIC] = TG_NO_KERNEL;
    }
    return TG_OK;
}

static tg_status place_blocks(struct scene *s, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < s->task->n_blocks && status == TG_OK; b++)
        status =
            tg_device_alloc(s->stage->bench.device, s->task->block[b].size, &s->block[b], error);
    return status;
}

static tg_status build(struct scene *s, struct tg_error *error)
{
    struct tg_args args;
    uint32_t kernel[TG_PARTS];
    tg_status status = tg_replay_find_kernels(s->task, s->stage->bench.module, kernel, error);
    if (status == TG_OK)
        status = place_blocks(s, error);
    if (status == TG_OK)
        status = tg_graph_reset(s->stage->graph, error);
    if (status != TG_OK)
        return status;
    tg_args_init(&args);
    for (uint32_t i = 0; i < s->task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &s->task->tensor[i];
        struct tg_tensor tensor = t->tensor;
        tensor.addr = s->block[t->block] + t->offset;
        tg_args_tensor(&args, (enum tg_role)t->role, tensor);
    }
    for (uint32_t i = 0; i < s->task->n_scalars; i++)
        tg_args_bits(&args, s->task->scalar[i].dtype, s->task->scalar[i].bits);
    return tg_graph_add_mix(s->stage->graph, kernel, &args, NULL, error);
}

/* ── running ───────────────────────────────────────────────────────────────────────────── */

/* Copies the view's block from the device and gathers the view's logical bytes from it. The caller
 * frees *bytes, also after an error. */
static tg_status fetch(struct scene *s, const struct tg_recorded_tensor *t, char **bytes,
                       struct tg_error *error)
{
    const struct tg_recorded_block *block = &s->task->block[t->block];
    char *image = malloc(block->size + 1);
    tg_status status = TG_OK;
    *bytes = calloc(1, t->bytes + 1);
    if (image == NULL || *bytes == NULL)
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for the outputs");
    if (status == TG_OK && block->size > 0)
        status = tg_device_copy_out(s->stage->bench.device, image, s->block[t->block], block->size,
                                    error);
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
static tg_status take_output(struct scene *s, uint32_t argument, uint32_t run,
                             struct tg_replay_output *output, struct tg_error *error)
{
    const struct tg_recorded_tensor *t = &s->task->tensor[argument];
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
static tg_status run_graph(struct scene *s, struct tg_replay_result *result, struct tg_error *error)
{
    const double piece = 0.05;
    const struct tg_guard_bench *bench = &s->stage->bench;
    struct tg_run *run = NULL;
    if (bench->stop == NULL)
        return tg_graph_run(s->stage->graph, bench->run, &result->run, error);
    tg_status status = tg_run_start(s->stage->graph, bench->run, &run, error);
    if (status == TG_OK)
        do {
            bool stopped = bench->stop(bench->stop_context) != 0;
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

static tg_status run_once(struct scene *s, uint32_t run, struct tg_replay_result *result,
                          struct tg_error *error)
{
    tg_status status = TG_OK;
    uint32_t n = 0;
    for (uint32_t b = 0; b < s->task->n_blocks && status == TG_OK; b++)
        if (s->task->block[b].size > 0)
            status = tg_device_copy_in(s->stage->bench.device, s->block[b], s->task->block[b].image,
                                       s->task->block[b].size, error);
    if (status == TG_OK)
        status = run_graph(s, result, error);
    for (uint32_t i = 0; i < s->task->n_tensors && status == TG_OK; i++)
        if (s->task->tensor[i].role != TG_IN)
            status = take_output(s, i, run, &result->output[n++], error);
    return status;
}

static void describe_outputs(const struct scene *s, struct tg_replay_result *result)
{
    for (uint32_t i = 0; i < s->task->n_tensors; i++) {
        const struct tg_tensor *t = &s->task->tensor[i].tensor;
        struct tg_replay_output *output = &result->output[result->n_outputs];
        if (s->task->tensor[i].role == TG_IN)
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

/* A lost device frees its memory when it is closed. */
static void leave(struct scene *s)
{
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++)
        free(s->got[i]);
    for (uint32_t b = 0; b < s->task->n_blocks; b++)
        if (s->block[b] != 0)
            (void)tg_device_free(s->stage->bench.device, s->block[b], NULL);
}

static tg_status run_all(struct scene *s, uint32_t repeat, uint32_t more,
                         struct tg_replay_result *result, struct tg_error *error)
{
    tg_status status = build(s, error);
    uint32_t most = repeat;
    if (status == TG_OK)
        describe_outputs(s, result);
    for (uint32_t run = 0; run < most && status == TG_OK; run++) {
        status = run_once(s, run, result, error);
        result->runs += status == TG_OK;
        conclude(result);
        if (!result->same && most == repeat)
            most += more;
        if (most > repeat && !result->deterministic)
            break; /* the further runs were to show just this */
    }
    return status;
}

tg_status tg_replay_stage_run(struct tg_replay_stage *stage, const struct tg_recorded_task *task,
                              uint32_t repeat, uint32_t more, struct tg_replay_result *result,
                              struct tg_error *error)
{
    struct scene s = {.stage = stage, .task = task};
    tg_status status;
    memset(result, 0, sizeof *result);
    result->task = task->id;
    tg_replay_kernel_names(task, result->kernel, sizeof result->kernel);
    status = run_all(&s, repeat, more, result, error);
    stage->served++;
    result->run.running = NULL;
    conclude(result);
    leave(&s);
    return status;
}

void tg_replay_stage_lacks(const struct tg_replay_stage *stage, const struct tg_recorded_task *task,
                           bool was_filtered, char *text, size_t size)
{
    const struct tg_module *module = stage->bench.module;
    text[0] = '\0';
    for (uint32_t part = 0; part < TG_PARTS && was_filtered; part++) {
        uint32_t kernel =
            *task->kernel[part] ? tg_module_kernel(module, task->kernel[part]) : TG_NO_KERNEL;
        if (kernel != TG_NO_KERNEL && !module->kernels[kernel].given)
            snprintf(text, size,
                     "its kernel has no signature, so after --dump-filter it is not known whether "
                     "all its arguments were recorded");
    }
}
