/* SPDX-License-Identifier: Apache-2.0 */
#include "host/task_check.h"
#include "base/error.h"
#include "common/task_check.h"
#include "host/text.h"
#include <taskglass/wire/comm.h>
#include <stdio.h>

static tg_status explain_kernels(const struct tg_module *m, const uint32_t kernel[TG_PARTS],
                                 const char *task, struct tg_error *error)
{
    static const char *const parts[] = {"AIC", "AIV0", "AIV1"};
    uint32_t present = 0;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        if (kernel[part] == TG_NO_KERNEL)
            continue;
        present++;
        if (kernel[part] >= m->n_kernels)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "task %s: no kernel %u; the module has %u kernel%s, numbered from "
                                "0 in the order of .kernels in its TG_WORKLOAD",
                                task, kernel[part], m->workload->n_kernels,
                                m->workload->n_kernels == 1 ? "" : "s");
    }
    if (present == 0)
        return tg_error_set(error, TG_BAD_ARGUMENT, "task %s has no kernel", task);
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (present > 1 && kernel[part] != TG_NO_KERNEL &&
            m->kernels[kernel[part]].core != (part == TG_PART_AIC ? TG_AIC : TG_AIV))
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "task %s: kernel %s cannot be part %s of a mix", task,
                                tg_module_kernel_name(m, kernel[part]), parts[part]);
    return TG_OK;
}

/* "(256, 32)" */
static const char *shape_text(const struct tg_tensor *t, char text[256])
{
    size_t used = (size_t)snprintf(text, 256, "(");
    for (int i = 0; i < t->ndim && i < TG_MAX_DIMS; i++)
        used += (size_t)snprintf(text + used, 256 - used, "%s%lld", i ? ", " : "",
                                 (long long)t->shape[i]);
    snprintf(text + used, 256 - used, "%s", t->ndim == 1 ? ",)" : ")");
    return text;
}

void tg_tensor_none_text(const struct tg_tensor *t, char *text, size_t size)
{
    long long first = (long long)t->start, second = (long long)t->strides[0];
    int dim = (int)t->owner;
    char shape[256];
    shape_text(t, shape);
    switch (t->reserved) {
    case TG_TENSOR_NO_DIM:
        snprintf(text, size, "there is no dimension %d in shape %s", dim, shape);
        break;
    case TG_TENSOR_OUTSIDE:
        snprintf(text, size, "slice %lld:%lld of dimension %d %s shape %s", first, second, dim,
                 second < first ? "ends before it begins, in" : "is outside", shape);
        break;
    case TG_TENSOR_NO_STEP:
        snprintf(text, size, "a slice of dimension %d has step %lld; steps are 1 or more", dim,
                 first);
        break;
    case TG_TENSOR_NO_INDEX:
        snprintf(text, size, "index %lld of dimension %d is outside shape %s", first, dim, shape);
        break;
    case TG_TENSOR_NO_REPEAT:
        snprintf(text, size,
                 "dimension %d of shape %s cannot be broadcast to %lld elements; its extent must "
                 "be 1",
                 dim, shape, first);
        break;
    case TG_TENSOR_GAPS:
        snprintf(text, size,
                 "a view of shape %s that is not contiguous cannot be reshaped; reshape the whole "
                 "tensor first",
                 shape);
        break;
    case TG_TENSOR_OTHER_SIZE:
        if (first < 0)
            snprintf(text, size, "shape %s cannot be reshaped to a shape that is not valid", shape);
        else
            snprintf(text, size,
                     "shape %s cannot be reshaped to %lld elements; their number must stay", shape,
                     first);
        break;
    default:
        snprintf(text, size, "not a tensor (it was never set, or its type or shape is not valid)");
    }
}

static tg_status explain_tensor(const struct tg_args *args, uint32_t i, const char *who,
                                struct tg_error *error)
{
    const struct tg_tensor *t = &args->tensor[i];
    if (t->dtype == TG_DTYPE_NONE && t->reserved == TG_TENSOR_MISSING)
        return tg_error_set(
            error, TG_BAD_ARGUMENT,
            "%s argument %u: this is args->tensor[%lld] of the orchestration, which "
            "was given %u tensor%s only",
            who, i, (long long)t->start, t->owner, t->owner == 1 ? "" : "s");
    if (tg_bits_of(t->dtype) == 0 || t->ndim > TG_MAX_DIMS) {
        char why[400];
        tg_tensor_none_text(t, why, sizeof why);
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s argument %u: %s", who, i, why);
    }
    if (args->role[i] < TG_IN || args->role[i] > TG_INOUT)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s argument %u: unknown role %u", who, i,
                            args->role[i]);
    if (t->owner_depth == TG_TENSOR_NEW && args->role[i] != TG_OUT)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s argument %u: a submit allocates memory only for outputs", who, i);
    if (!tg_tensor_valid(t) || t->addr > UINT64_MAX - t->storage_bytes)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s argument %u: the view exceeds its storage of %llu bytes", who, i,
                            (unsigned long long)t->storage_bytes);
    if (!tg_role_fits(args, i))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s argument %u: an output cannot have a stride of 0", who, i);
    return TG_OK;
}

bool tg_tensor_is_in_memory(const struct tg_module *m, const struct tg_tensor *t)
{
    const struct tg_control_head *head = &m->device->head;
    return t->owner_depth == TG_TENSOR_NEW || t->storage_bytes == 0 ||
           (t->addr >= head->memory_start && t->addr <= head->memory_end &&
            t->storage_bytes <= head->memory_end - t->addr);
}

static tg_status explain_address(const struct tg_module *m, const struct tg_tensor *t, uint32_t i,
                                 const char *who, struct tg_error *error)
{
    if (tg_tensor_is_in_memory(m, t))
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "%s argument %u is not in device memory: %llu bytes at 0x%llx, which is no "
                        "address of the device; a pointer of the host or to a local variable does "
                        "not work there, so use a tensor of the case (tg_case_tensor), tg_alloc or "
                        "tg_device_alloc",
                        who, i, (unsigned long long)t->storage_bytes, (unsigned long long)t->addr);
}

static tg_status explain_counts(const struct tg_args *args, const char *who, struct tg_error *error)
{
    if (!tg_args_initialised(args))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: the arguments were not initialised; call tg_args_init before the "
                            "first argument is added",
                            who);
    if (!tg_args_within_limits(args))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: more than %d tensors, %d scalars or %d single predecessors (use "
                            "tg_args_after_all for more predecessors), or tg_args_init was not "
                            "called for this task",
                            who, TG_MAX_TENSORS, TG_MAX_SCALARS, TG_MAX_INLINE_AFTER);
    return TG_OK;
}

/* "task 3 (add)", or "task 3 (load+add)" for a mix. Kernels that do not exist have no name. */
static void put_who(const struct tg_module *m, const uint32_t kernel[TG_PARTS], uint64_t task,
                    char *who, size_t size)
{
    char id[32];
    size_t used = (size_t)snprintf(who, size, "task %s", tg_task_text(task, id)), start = used;
    for (uint32_t part = 0; part < TG_PARTS && used < size; part++)
        if (kernel[part] != TG_NO_KERNEL && kernel[part] < m->n_kernels)
            used += (size_t)snprintf(who + used, size - used, "%s%.60s", used == start ? " (" : "+",
                                     tg_module_kernel_name(m, kernel[part]));
    if (used > start && used < size)
        snprintf(who + used, size - used, ")");
}

static tg_status explain_signature(const struct tg_module *m, uint32_t kernel, const char *who,
                                   const struct tg_args *args, struct tg_error *error)
{
    const struct tg_kernel_desc *wants = &m->kernels[kernel];
    const char *signature = m->workload->kernels[kernel].signature;
    struct tg_error why;
    bool more = args->n_tensors > wants->n_tensors || args->n_scalars > wants->n_scalars;
    if (tg_signature_explain(wants, args, &why) == TG_OK)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s; the signature of %s is \"%.150s\"%s", who,
                        why.text, tg_module_kernel_name(m, kernel), signature ? signature : "",
                        more ? "; was tg_args_init called for this task?" : "");
}

/* A call is submitted by its own function, which gives it its scalars and has checked it. */
static tg_status explain_call(const struct tg_module *m, uint32_t kernel, const char *who,
                              const struct tg_args *args, struct tg_error *error)
{
    if (args->n_scalars == TG_COMM_SCALARS)
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s is a call and no kernel; use %s()", who,
                        tg_module_kernel_name(m, kernel), tg_module_kernel_name(m, kernel));
}

tg_status tg_task_explain(const struct tg_module *m, const uint32_t kernel[TG_PARTS],
                          const struct tg_args *args, uint64_t task, struct tg_error *error)
{
    char id[32], who[240];
    tg_status status;
    put_who(m, kernel, task, who, sizeof who);
    status = explain_kernels(m, kernel, tg_task_text(task, id), error);
    if (status == TG_OK)
        status = explain_counts(args, who, error);
    for (uint32_t i = 0; status == TG_OK && i < args->n_tensors; i++)
        if ((status = explain_tensor(args, i, who, error)) == TG_OK)
            status = explain_address(m, &args->tensor[i], i, who, error);
    for (uint32_t part = 0; status == TG_OK && part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL)
            status = kernel[part] < m->workload->n_kernels
                         ? explain_signature(m, kernel[part], who, args, error)
                         : explain_call(m, kernel[part], who, args, error);
    return status;
}

tg_status tg_task_explain_memory(const struct tg_module *m, const uint32_t kernel[TG_PARTS],
                                 const struct tg_tensor *tensors, uint32_t n, uint64_t task,
                                 struct tg_error *error)
{
    char who[240];
    tg_status status = TG_OK;
    put_who(m, kernel, task, who, sizeof who);
    for (uint32_t i = 0; status == TG_OK && i < n; i++)
        status = explain_address(m, &tensors[i], i, who, error);
    return status;
}

tg_status tg_orchestration_args_explain(const struct tg_args *args, struct tg_error *error)
{
    tg_status status = explain_counts(args, "the orchestration", error);
    for (uint32_t i = 0; status == TG_OK && i < args->n_tensors; i++)
        status = explain_tensor(args, i, "the orchestration's", error);
    return status;
}
