/* SPDX-License-Identifier: Apache-2.0 */
#include "host/task_check.h"
#include "base/error.h"
#include "common/task_check.h"
#include "host/text.h"
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
                                "task %s: no kernel %u; the module has %u kernels", task,
                                kernel[part], m->n_kernels);
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

static tg_status explain_tensor(const struct tg_args *args, uint32_t i, const char *who,
                                struct tg_error *error)
{
    const struct tg_tensor *t = &args->tensor[i];
    if (tg_bits_of(t->dtype) == 0 || t->ndim > TG_MAX_DIMS)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s argument %u: not a tensor (it was never set, or it is a "
                            "view that does not fit its tensor)",
                            who, i);
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

tg_status tg_task_explain(const struct tg_module *m, const uint32_t kernel[TG_PARTS],
                          const struct tg_args *args, uint64_t task, struct tg_error *error)
{
    char id[32], who[40];
    tg_task_text(task, id);
    snprintf(who, sizeof who, "task %s", id);
    tg_status status = explain_kernels(m, kernel, id, error);
    if (status == TG_OK && !tg_args_within_limits(args))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "task %s: more than %d tensors, %d scalars or %d single "
                            "predecessors (use tg_args_after_all for more predecessors)",
                            id, TG_MAX_TENSORS, TG_MAX_SCALARS, TG_MAX_INLINE_AFTER);
    for (uint32_t i = 0; status == TG_OK && i < args->n_tensors; i++)
        status = explain_tensor(args, i, who, error);
    for (uint32_t part = 0; status == TG_OK && part < TG_PARTS; part++) {
        struct tg_error why;
        if (kernel[part] == TG_NO_KERNEL ||
            tg_signature_explain(&m->kernels[kernel[part]], args, &why) == TG_OK)
            continue;
        status = tg_error_set(error, TG_BAD_ARGUMENT, "task %s (%s): %s", id,
                              tg_module_kernel_name(m, kernel[part]), why.text);
    }
    return status;
}

tg_status tg_orchestration_args_explain(const struct tg_args *args, struct tg_error *error)
{
    tg_status status = TG_OK;
    if (!tg_args_within_limits(args))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "the orchestration: more than %d tensors or %d scalars", TG_MAX_TENSORS,
                            TG_MAX_SCALARS);
    for (uint32_t i = 0; status == TG_OK && i < args->n_tensors; i++)
        status = explain_tensor(args, i, "the orchestration's", error);
    return status;
}
