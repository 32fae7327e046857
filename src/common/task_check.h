/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the arguments of a task fit its kernels. These functions only say yes or no, in the
 * same way on the host and on the device; src/host/task_check.c finds the words for a no.
 */
#ifndef TG_COMMON_TASK_CHECK_H
#define TG_COMMON_TASK_CHECK_H

#include <taskglass/args.h>
#include <taskglass/wire/orchestration.h>

/* False if the arguments hold what lay in their memory, because nobody called tg_args_init. */
TG_INLINE bool tg_args_initialised(const struct tg_args *args)
{
    return args->ready == TG_ARGS_READY || args->ready == 0;
}

/* True if the task has no more tensors, scalars and edges than allowed. */
TG_INLINE bool tg_args_within_limits(const struct tg_args *args)
{
    return tg_args_initialised(args) && !args->overflow && args->n_tensors <= TG_MAX_TENSORS &&
           args->n_scalars <= TG_MAX_SCALARS && args->n_after <= TG_MAX_INLINE_AFTER &&
           (args->n_more_after == 0 || args->more_after != 0);
}

TG_INLINE bool tg_role_fits(const struct tg_args *args, uint32_t i)
{
    return args->role[i] >= TG_IN && args->role[i] <= TG_INOUT &&
           (args->role[i] == TG_IN || !tg_tensor_repeats(&args->tensor[i]));
}

TG_INLINE bool tg_tensor_fits(const struct tg_kernel_desc *k, const struct tg_args *args,
                              uint32_t i)
{
    return k->role[i] == args->role[i] &&
           (k->tensor_dtype[i] == TG_DTYPE_NONE || k->tensor_dtype[i] == args->tensor[i].dtype);
}

TG_INLINE bool tg_scalar_fits(const struct tg_kernel_desc *k, const struct tg_args *args,
                              uint32_t i)
{
    return k->scalar_dtype[i] == TG_DTYPE_NONE || k->scalar_dtype[i] == args->scalar[i].dtype;
}

TG_INLINE bool tg_signature_fits(const struct tg_kernel_desc *k, const struct tg_args *args)
{
    if (!k->given)
        return true;
    if (k->n_tensors != args->n_tensors || k->n_scalars != args->n_scalars)
        return false;
    for (uint32_t i = 0; i < k->n_tensors; i++)
        if (!tg_tensor_fits(k, args, i))
            return false;
    for (uint32_t i = 0; i < k->n_scalars; i++)
        if (!tg_scalar_fits(k, args, i))
            return false;
    return true;
}

/* Makes a task of one kernel, which runs on the part of its kind of core; a kernel for either kind
 * has the part AIV0. */
TG_INLINE bool tg_task_set_kernel(struct tg_task_desc *desc, uint32_t kernel,
                                  const struct tg_kernel_desc *kernels, uint32_t n_kernels,
                                  uint32_t first)
{
    bool aic;
    if (kernel >= n_kernels)
        return false;
    aic = kernels[kernel].core == TG_AIC;
    desc->kernel[TG_PART_AIC] = aic ? first + kernel : TG_NO_KERNEL;
    desc->kernel[TG_PART_AIV0] = aic ? TG_NO_KERNEL : first + kernel;
    desc->kernel[TG_PART_AIV1] = TG_NO_KERNEL;
    desc->n_parts = 1;
    desc->task_class = aic                              ? TG_CLASS_AIC
                       : kernels[kernel].core == TG_AIV ? TG_CLASS_AIV
                                                        : TG_CLASS_EITHER;
    return true;
}

/* Sets the kernel of each part. A single kernel runs on the part of its kind of core; several run on
 * the parts that the caller chose. False if a kernel does not exist or is of the wrong kind for its
 * part, or if there is none. `first` is the number that kernel 0 of the module has on the device. */
TG_INLINE bool tg_task_set_kernels(struct tg_task_desc *desc, const uint32_t kernel[TG_PARTS],
                                   const struct tg_kernel_desc *kernels, uint32_t n_kernels,
                                   uint32_t first)
{
    uint32_t n = 0, only = TG_NO_KERNEL;
    if (kernel[TG_PART_AIV0] == TG_NO_KERNEL && kernel[TG_PART_AIV1] == TG_NO_KERNEL)
        return tg_task_set_kernel(desc, kernel[TG_PART_AIC], kernels, n_kernels, first);
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        desc->kernel[part] = TG_NO_KERNEL;
        if (kernel[part] == TG_NO_KERNEL)
            continue;
        only = kernel[part];
        n++;
        if (only >= n_kernels)
            return false;
        desc->kernel[part] = first + only;
    }
    if (n == 1)
        return tg_task_set_kernel(desc, only, kernels, n_kernels, first);
    desc->n_parts = (uint8_t)n;
    desc->task_class = TG_CLASS_MIX;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL &&
            kernels[kernel[part]].core != (part == TG_PART_AIC ? TG_AIC : TG_AIV))
            return false;
    return true;
}

TG_INLINE uint32_t tg_args_roles(const struct tg_args *args)
{
    uint32_t roles = 0;
    for (uint32_t i = 0; i < args->n_tensors; i++)
        roles |= (uint32_t)args->role[i] << (2 * i);
    return roles;
}

TG_INLINE uint32_t tg_args_marks(const struct tg_args *args)
{
    return (args->tensor_marks & ((1u << args->n_tensors) - 1)) |
           (args->scalar_marks & ((1u << args->n_scalars) - 1)) << args->n_tensors;
}

#endif
