/* SPDX-License-Identifier: Apache-2.0 */
/* Checks one task: lays its arguments out, has the reference called, compares. */
#include "host/reference.h"

#include "base/error.h"
#include "common/task_check.h"
#include "host/replay.h"
#include "host/signature.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/analysis.h>
#include <taskglass/dtype.h>

/* Bytes between a tensor and its guards. */
enum { FILL = 0xa5, MOST_FILL = 256 };
/* A reference that did not return this often is not called again. */
enum { MOST_LOOPS = 8 };

/* ── which reference ───────────────────────────────────────────────────────────────────── */

/* The reference of the task's one kernel. A mix has none: its kernels share their arguments, so no
 * reference can say what one of them writes alone. */
static uint32_t reference_of(const struct tg_reference_job *job,
                             const struct tg_recorded_task *task)
{
    for (uint32_t part = 0; part < TG_PARTS && task->n_parts == 1; part++)
        for (uint32_t i = 0; *task->kernel[part] && i < job->n_about; i++)
            if (strcmp(job->about[i].kernel, task->kernel[part]) == 0)
                return i;
    return UINT32_MAX;
}

/* The task's arguments as its kernel got them, without their memory. */
static struct tg_args arguments_of(const struct tg_recorded_task *task)
{
    struct tg_args args;
    tg_args_init(&args);
    for (uint32_t i = 0; i < task->n_tensors; i++)
        tg_args_put(&args, (enum tg_role)task->tensor[i].role, &task->tensor[i].tensor);
    for (uint32_t i = 0; i < task->n_scalars; i++)
        tg_args_bits(&args, task->scalar[i].dtype, task->scalar[i].bits);
    return args;
}

/* True if the arguments are not those of the kernel's signature: then its reference would read or write
 * beyond them. A kernel without a signature takes any. */
static bool misfits(const struct tg_kernel_desc *signature, const struct tg_recorded_task *task,
                    char *text, size_t size)
{
    struct tg_args args = arguments_of(task);
    struct tg_error error;
    if (!signature->given || tg_signature_fits(signature, &args))
        return false;
    if (task->n_tensors < signature->n_tensors || task->n_scalars < signature->n_scalars) {
        snprintf(text, size,
                 "%u of its %u tensors and %u of its %u scalars were recorded; record the run "
                 "without --dump-filter",
                 task->n_tensors, signature->n_tensors, task->n_scalars, signature->n_scalars);
        return true;
    }
    tg_signature_explain(signature, &args, &error);
    snprintf(text, size, "%s", error.text);
    return true;
}

/* Writes what the task lacks to be compared; false if it lacks nothing. */
static bool lacks(const struct tg_reference_job *job, const struct tg_recorded_task *task,
                  uint32_t def, char *text, size_t size)
{
    const struct tg_reference_about *about = &job->about[def];
    uint32_t outputs = 0;
    if (!about->signature.given && job->was_filtered) {
        snprintf(
            text, size,
            "its kernel has no signature, so after --dump-filter it is not known whether all its "
            "arguments were recorded");
        return true;
    }
    if (misfits(&about->signature, task, text, size))
        return true;
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        outputs += task->tensor[i].role != TG_IN;
        if (task->tensor[i].role == TG_IN || task->tensor[i].after != NULL)
            continue;
        snprintf(text, size, "argument %u, an output: %s", i, task->tensor[i].lacks);
        return true;
    }
    if (outputs == 0)
        snprintf(text, size, "no output was recorded; record the run with --dump-tensor=full");
    return outputs == 0;
}

static void set(struct tg_task_verdict *verdict, unsigned is, const char *why)
{
    verdict->is.is = is;
    snprintf(verdict->why, sizeof verdict->why, "%s", why);
}

static bool is_call(const struct tg_recording *recording, const struct tg_task_record *record)
{
    struct tg_entry entry;
    return tg_recording_get(recording, record->index, &entry) && tg_entry_call(&entry) != NULL;
}

void tg_reference_look(const struct tg_reference_job *job, const struct tg_task_record *record,
                       uint64_t n_records, struct tg_recorded_task *task, uint32_t *def,
                       struct tg_task_verdict *verdict)
{
    uint32_t number;
    struct tg_error error = {TG_OK, ""};
    tg_status status = tg_task_records_read(job->recording, record, n_records, 0, task, &error);
    verdict->is = (struct tg_reference_task){.task = record->task};
    verdict->why[0] = '\0';
    tg_replay_kernel_names(task, verdict->is.kernel, sizeof verdict->is.kernel);
    number = reference_of(job, task);
    *def = UINT32_MAX;
    if (task->n_parts > 1)
        set(verdict, TG_REFERENCE_NONE, "a mix of kernels has no reference");
    else if (number == UINT32_MAX && is_call(job->recording, record))
        set(verdict, TG_REFERENCE_NONE, "it is communication: other ranks had a part in it");
    else if (number == UINT32_MAX)
        set(verdict, TG_REFERENCE_NONE, "the workload has no reference for its kernel");
    else if (status != TG_OK)
        set(verdict, TG_REFERENCE_INCOMPLETE, error.text);
    else if (lacks(job, task, number, error.text, sizeof error.text))
        set(verdict, TG_REFERENCE_INCOMPLETE, error.text);
    else
        *def = number;
}

/* ── the shared memory ─────────────────────────────────────────────────────────────────── */

static uint64_t up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Places each tensor in front of a guard. Returns the size of it all. */
static uint64_t lay_out(const struct tg_recorded_task *task, struct tg_reference_request *request)
{
    uint64_t at = TG_REFERENCE_PAGE; /* behind the first guard */
    request->n_tensors = task->n_tensors;
    request->n_scalars = task->n_scalars;
    request->part = *task->kernel[TG_PART_AIC] ? TG_PART_AIC : TG_PART_AIV0;
    memcpy(request->scalar, task->scalar, sizeof request->scalar);
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        struct tg_reference_tensor *placed = &request->tensor[i];
        uint64_t pages = up(t->bytes ? t->bytes : 1, TG_REFERENCE_PAGE);
        placed->bytes = t->bytes;
        placed->offset = at + pages - up(t->bytes, TG_REFERENCE_ALIGN);
        if (t->bytes == 0)
            placed->offset -= TG_REFERENCE_ALIGN;
        placed->dtype = t->tensor.dtype;
        placed->ndim = t->tensor.ndim;
        memcpy(placed->shape, t->tensor.shape, sizeof placed->shape);
        at += pages + TG_REFERENCE_PAGE;
    }
    return at;
}

/* The bytes before and behind a tensor that a reference must leave alone. */
struct fill {
    char *before, *behind;
    uint64_t n_before, n_behind;
};

static struct fill fill_of(const struct tg_lane *lane, const struct tg_reference_tensor *t)
{
    char *begin = lane->process.memory + t->offset;
    uint64_t before = t->offset % TG_REFERENCE_PAGE, end = t->offset + t->bytes;
    before = before < MOST_FILL ? before : MOST_FILL;
    return (struct fill){begin - before, begin + t->bytes, before,
                         up(end, TG_REFERENCE_PAGE) - end};
}

static void write_arguments(struct tg_lane *lane, const struct tg_recorded_task *task,
                            const struct tg_reference_request *request)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        struct fill fill = fill_of(lane, &request->tensor[i]);
        char *begin = lane->process.memory + request->tensor[i].offset;
        memset(fill.before, FILL, fill.n_before);
        memset(fill.behind, FILL, fill.n_behind);
        if (t->before != NULL)
            memcpy(begin, t->before, t->bytes);
        else
            memset(begin, 0, t->bytes);
    }
}

static bool is_filled(const char *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if ((unsigned char)bytes[i] != FILL)
            return false;
    return true;
}

/* False if the reference wrote beyond one of its tensors. */
static bool check_fill(const struct tg_lane *lane, const struct tg_reference_request *request,
                       struct tg_task_verdict *verdict)
{
    for (uint32_t i = 0; i < request->n_tensors; i++) {
        struct fill fill = fill_of(lane, &request->tensor[i]);
        bool before = is_filled(fill.before, fill.n_before);
        if (before && is_filled(fill.behind, fill.n_behind))
            continue;
        verdict->is.is = TG_REFERENCE_FAILED;
        snprintf(verdict->why, sizeof verdict->why, "wrote %s argument %u",
                 before ? "behind the end of" : "before the beginning of", i);
        return false;
    }
    return true;
}

/* ── the comparison ────────────────────────────────────────────────────────────────────── */

/* Steps between neighbouring values; of integers that is the difference. */
static uint64_t steps(unsigned dtype, const struct tg_comparison *c)
{
    if (c->special > 0)
        return TG_ULP_UNDEFINED;
    if (tg_dtype_is_float((int)dtype))
        return c->max_ulp;
    return c->max_abs < 0x1p63 ? (uint64_t)c->max_abs : UINT64_MAX - 1;
}

static void keep_largest(unsigned dtype, const struct tg_comparison *c,
                         struct tg_reference_task *is)
{
    uint64_t ulp = steps(dtype, c);
    double relative = c->special > 0 ? (double)INFINITY : c->max_rel;
    is->max_ulp = ulp > is->max_ulp ? ulp : is->max_ulp;
    is->max_relative = relative > is->max_relative ? relative : is->max_relative;
    is->max_error = c->max_abs > is->max_error ? c->max_abs : is->max_error;
    if (c->special > 0)
        is->max_error = (double)INFINITY;
}

/* Keeps the first output that differs. */
static void keep_difference(const struct tg_recorded_tensor *t, uint32_t argument,
                            const struct tg_comparison *c, struct tg_reference_task *is)
{
    struct tg_output_check *check = &is->check;
    if (c->mismatches == 0 || is->is == TG_REFERENCE_DIFFERS)
        return;
    is->is = TG_REFERENCE_DIFFERS;
    is->argument = argument;
    *check = (struct tg_output_check){.dtype = tg_dtype_name(t->tensor.dtype),
                                      .elements = c->elements,
                                      .mismatches = c->mismatches,
                                      .max_error = c->special > 0 ? (double)INFINITY : c->max_abs};
    if (c->n_first > 0) {
        check->first = c->first[0].element;
        check->first_got = tg_dtype_load(t->tensor.dtype, &c->first[0].a, 0);
        check->first_expected = tg_dtype_load(t->tensor.dtype, &c->first[0].b, 0);
    }
}

static tg_status compare(const struct tg_lane *lane, const struct tg_recorded_task *task,
                         uint32_t def, const struct tg_reference_request *request,
                         struct tg_task_verdict *verdict, struct tg_error *error)
{
    struct tg_reference_task *is = &verdict->is;
    struct tg_tolerance tolerance = {lane->job->about[def].atol, lane->job->about[def].rtol};
    int64_t elements = 0;
    is->is = TG_REFERENCE_AGREES;
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        struct tg_comparison c;
        tg_status status;
        if (t->role == TG_IN)
            continue;
        status = tg_tensor_compare(t->tensor.dtype, t->after,
                                   lane->process.memory + request->tensor[i].offset,
                                   tg_tensor_numel(&t->tensor), &tolerance, true, &c, error);
        if (status != TG_OK)
            return status;
        keep_largest(t->tensor.dtype, &c, is);
        keep_difference(t, i, &c, is);
        elements |= tg_tensor_numel(&t->tensor);
    }
    if (elements == 0)
        set(verdict, TG_REFERENCE_EMPTY, "its outputs have no elements");
    return TG_OK;
}

/* ── a call ────────────────────────────────────────────────────────────────────────────── */

tg_status tg_reference_judge(struct tg_lane *lane, const struct tg_recorded_task *task,
                             uint32_t def, struct tg_task_verdict *verdict, struct tg_error *error)
{
    struct tg_reference_request request = {.reference = def};
    uint64_t size = lay_out(task, &request);
    char how[sizeof verdict->why];
    bool was_fresh;
    tg_status status = TG_OK;
    *verdict = (struct tg_task_verdict){.is = {.task = task->id}};
    tg_replay_kernel_names(task, verdict->is.kernel, sizeof verdict->is.kernel);
    if (__atomic_load_n(&lane->job->loops[def], __ATOMIC_RELAXED) >= MOST_LOOPS) {
        set(verdict, TG_REFERENCE_FAILED,
            "was not called any more, because it had not returned for 8 tasks");
        return TG_OK;
    }
    if (lane->process.pid == 0)
        status = tg_reference_process_renew(&lane->process, error);
    if (status == TG_OK)
        status = tg_reference_process_reserve(&lane->process, size, error);
    if (status != TG_OK)
        return status;
    write_arguments(lane, task, &request);
    was_fresh = lane->process.fresh;
    switch (
        tg_reference_process_call(&lane->process, &request, lane->job->limit, how, sizeof how)) {
    case TG_CALLED_DONE:
        return check_fill(lane, &request, verdict)
                   ? compare(lane, task, def, &request, verdict, error)
                   : TG_OK;
    case TG_CALLED_STOPPED:
        return tg_error_set(error, TG_CANCELLED, "cancelled");
    case TG_CALLED_REFUSED:
        return tg_error_set(error, TG_NO_MEMORY, "cannot call the reference of a task: %s", how);
    case TG_CALLED_LATE:
        if (was_fresh)
            __atomic_fetch_add(&lane->job->loops[def], 1, __ATOMIC_RELAXED);
        set(verdict, TG_REFERENCE_FAILED, how);
        break;
    case TG_CALLED_FAILED:
        set(verdict, TG_REFERENCE_FAILED, how);
    }
    return TG_OK;
}
