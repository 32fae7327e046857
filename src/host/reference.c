/* SPDX-License-Identifier: Apache-2.0 */
/* Computes recorded tasks again on the host, with the reference functions of their kernels. */
#define _GNU_SOURCE
#include <taskglass/replay.h>

#include "base/error.h"
#include "host/check.h"
#include "host/replay.h"
#include "host/workload.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>
#include <taskglass/workload.h>

/* ── which records belong to which task ────────────────────────────────────────────────── */

struct belongs {
    uint64_t task;
    uint64_t index;
};

static int by_task(const void *a, const void *b)
{
    const struct belongs *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct belongs *sort_records(const struct tg_recording *recording, uint64_t *count)
{
    struct tg_recording_info info;
    struct belongs *all;
    struct tg_entry entry;
    tg_recording_get_info(recording, &info);
    *count = 0;
    all = calloc(info.records + 1, sizeof *all);
    for (uint64_t i = 0; all != NULL && i < info.records; i++)
        if (tg_recording_get(recording, i, &entry) && entry.record.task_id != TG_TASK_NONE)
            all[(*count)++] = (struct belongs){entry.record.task_id, i};
    if (all != NULL)
        qsort(all, *count, sizeof *all, by_task);
    return all;
}

/* ── one task ──────────────────────────────────────────────────────────────────────────── */

/* The reference function of the task's one kernel. A mix has none: its kernels share their
 * arguments, so no reference can say what one of them writes alone. */
static const struct tg_reference_def *reference_of(const struct tg_workload *workload,
                                                   const struct tg_recorded_task *task)
{
    for (uint32_t part = 0; part < TG_PARTS && task->n_parts == 1; part++)
        for (uint32_t i = 0; *task->kernel[part] && i < workload->n_references; i++)
            if (strcmp(workload->references[i].kernel, task->kernel[part]) == 0)
                return &workload->references[i];
    return NULL;
}

/* The reference's own copies of the arguments, each contiguous. */
struct desk {
    struct tg_tensor tensor[TG_MAX_TENSORS];
    char *bytes[TG_MAX_TENSORS];
};

static void no_barrier(const struct tg_ctx *ctx)
{
    (void)ctx;
}

static bool lay_out(const struct tg_recorded_task *task, struct desk *desk)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        desk->bytes[i] = calloc(1, t->bytes + 1);
        if (desk->bytes[i] == NULL)
            return false;
        if (t->before != NULL)
            memcpy(desk->bytes[i], t->before, t->bytes);
        desk->tensor[i] = tg_tensor_make((uint64_t)(uintptr_t)desk->bytes[i], t->tensor.dtype,
                                         t->tensor.ndim, t->tensor.shape);
    }
    return true;
}

static void clear(struct desk *desk)
{
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++)
        free(desk->bytes[i]);
}

/* Finds the first output that differs from the reference. False if memory ran out. */
static bool compare(const struct tg_recorded_task *task, const struct desk *desk,
                    const struct tg_reference_def *def, struct tg_reference_task *verdict)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        uint64_t n = (uint64_t)tg_tensor_numel(&t->tensor);
        double *expected;
        if (t->role == TG_IN)
            continue;
        expected = malloc((n + 1) * sizeof *expected);
        if (expected == NULL)
            return false;
        for (uint64_t k = 0; k < n; k++)
            expected[k] = tg_load(t->tensor.dtype, desk->bytes[i], (int64_t)k);
        tg_check_close(t->tensor.dtype, t->after, expected, n, def->atol, def->rtol,
                       &verdict->check);
        free(expected);
        if (verdict->check.mismatches > 0) {
            verdict->argument = i;
            verdict->is = TG_REFERENCE_DIFFERS;
            return true;
        }
    }
    verdict->is = TG_REFERENCE_AGREES;
    return true;
}

static bool has_outputs(const struct tg_recorded_task *task)
{
    for (uint32_t i = 0; i < task->n_tensors; i++)
        if (task->tensor[i].role != TG_IN && task->tensor[i].after == NULL)
            return false;
    return true;
}

static tg_status compute(const struct tg_recorded_task *task, const struct tg_reference_def *def,
                         struct tg_reference_task *verdict, struct tg_error *error)
{
    struct desk desk;
    struct tg_ctx ctx = {.tensor = desk.tensor,
                         .scalar = task->scalar,
                         .n_tensors = task->n_tensors,
                         .n_scalars = task->n_scalars,
                         .part = *task->kernel[TG_PART_AIC] ? TG_PART_AIC : TG_PART_AIV0,
                         .parts = 1,
                         .mix_barrier = no_barrier};
    tg_status status = TG_OK;
    memset(&desk, 0, sizeof desk);
    if (!has_outputs(task)) {
        verdict->is = TG_REFERENCE_INCOMPLETE;
        verdict->why = "an output was not recorded";
        return TG_OK;
    }
    if (lay_out(task, &desk)) {
        def->fn(&ctx);
        if (!compare(task, &desk, def, verdict))
            status = tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    } else {
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    }
    clear(&desk);
    return status;
}

/* ── all tasks ─────────────────────────────────────────────────────────────────────────── */

static tg_status check_one(const struct tg_recording *recording, const struct tg_workload *workload,
                           uint64_t id, const struct tg_task_records *records,
                           struct tg_reference_task *verdict, struct tg_error *error)
{
    struct tg_recorded_task task;
    static const char unknown[] = "its arguments were not recorded in full";
    tg_status status = tg_recorded_task_take(recording, id, records, &task, NULL);
    const struct tg_reference_def *def;
    *verdict = (struct tg_reference_task){.task = id};
    tg_replay_kernel_names(&task, verdict->kernel, sizeof verdict->kernel);
    def = reference_of(workload, &task);
    if (def == NULL) {
        verdict->is = TG_REFERENCE_NONE;
    } else if (status != TG_OK) {
        verdict->is = TG_REFERENCE_INCOMPLETE;
        verdict->why = unknown;
    } else {
        tg_status computed = compute(&task, def, verdict, error);
        tg_recorded_task_free(&task);
        return computed;
    }
    if (status == TG_OK)
        tg_recorded_task_free(&task);
    return TG_OK;
}

static tg_status check_all(const struct tg_recording *recording, const struct tg_workload *workload,
                           const struct belongs *all, uint64_t count,
                           int (*tell)(void *context, const struct tg_reference_task *task),
                           void *context, struct tg_error *error)
{
    enum { MOST = 4 * (TG_MAX_TENSORS + TG_MAX_SCALARS) };
    for (uint64_t first = 0, end; first < count; first = end) {
        struct tg_reference_task verdict;
        uint64_t index[MOST], n = 0;
        tg_status status;
        for (end = first; end < count && all[end].task == all[first].task; end++)
            if (n < MOST)
                index[n++] = all[end].index;
        status = check_one(recording, workload, all[first].task,
                           &(struct tg_task_records){index, n}, &verdict, error);
        if (status != TG_OK)
            return status;
        if (tell(context, &verdict) != 0)
            break;
    }
    return TG_OK;
}

tg_status tg_reference_check(const struct tg_recording *recording, const char *module,
                             int (*tell)(void *context, const struct tg_reference_task *task),
                             void *context, struct tg_error *error)
{
    char path[4096];
    const struct tg_workload *workload;
    struct belongs *all;
    void *handle;
    uint64_t count;
    tg_status status = tg_replay_module(recording, module, path, sizeof path, error);
    if (status != TG_OK)
        return status;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return tg_error_set(error, TG_NOT_FOUND, "cannot load %s: %s", path, dlerror());
    workload = dlsym(handle, TG_WORKLOAD_SYMBOL);
    status = TG_BAD_ARGUMENT;
    if (workload == NULL)
        tg_error_set(error, status,
                     "%s is not a workload: it does not export '" TG_WORKLOAD_SYMBOL "'", path);
    else
        status = tg_workload_check(workload, path, error);
    if (workload != NULL && status == TG_OK) {
        all = sort_records(recording, &count);
        status = all ? check_all(recording, workload, all, count, tell, context, error)
                     : tg_error_set(error, TG_NO_MEMORY, "out of host memory");
        free(all);
    }
    dlclose(handle);
    return status;
}
