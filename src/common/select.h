/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by level, marks and filters which arguments to record, and how much of each. The recorder on
 * the device uses it, and the host, for the arguments that it reads of tasks that never finished. */
#ifndef TG_COMMON_SELECT_H
#define TG_COMMON_SELECT_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/stream.h>

enum tg_want { TG_WANT_NOTHING, TG_WANT_META, TG_WANT_HASH, TG_WANT_PAYLOAD };

/* The argument to decide on. */
struct tg_subject {
    const struct tg_task_desc *desc;
    enum tg_stage stage;
    uint32_t index; /* among all arguments; tensors come first; or TG_ARG_UNKNOWN */
    uint32_t role;  /* enum tg_role; 0 for a scalar */
};

/* True if a tensor of this role is recorded at this stage. */
TG_INLINE bool tg_role_has_stage(uint32_t role, enum tg_stage stage)
{
    return role == TG_INOUT || role == (stage == TG_BEFORE_DISPATCH ? TG_IN : TG_OUT);
}

TG_INLINE bool tg_is_marked(const struct tg_subject *a)
{
    return a->index < 32 && (a->desc->marks >> a->index & 1);
}

TG_INLINE bool tg_filter_passes(const struct tg_filter *f, const struct tg_subject *a)
{
    return a->desc->id >= f->first_task && a->desc->id <= f->last_task &&
           (a->index < 32 ? f->arguments >> a->index & 1 : f->arguments == UINT32_MAX) &&
           (f->stages >> a->stage & 1) && (f->roles >> a->role & 1);
}

TG_INLINE bool tg_has_kernel(const struct tg_subject *a)
{
    bool any = false;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        any |= a->desc->kernel[part] != TG_NO_KERNEL;
    return any;
}

/* Counts in `matched` for each filter how many arguments it let pass, because the host warns about
 * filters that matched nothing. `kernel_filters` points to setup->kernel_filters on this side. */
TG_INLINE bool tg_passes(const struct tg_record_setup *setup, const uint8_t *kernel_filters,
                         const struct tg_subject *a, uint64_t *matched)
{
    uint32_t kernels = 0;
    bool any = setup->n_filters == 0, has_kernel = tg_has_kernel(a);
    if (any)
        return true;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (a->desc->kernel[part] != TG_NO_KERNEL)
            kernels |= kernel_filters[a->desc->kernel[part]];
    for (uint32_t f = 0; f < setup->n_filters; f++) {
        if (!has_kernel && setup->filter[f].any_kernel)
            kernels |= 1u << f;
        if ((kernels >> f & 1) && tg_filter_passes(&setup->filter[f], a)) {
            matched[f]++;
            any = true;
        }
    }
    return any;
}

TG_INLINE enum tg_want tg_wanted(const struct tg_record_setup *setup, const uint8_t *kernel_filters,
                                 const struct tg_subject *a, uint64_t *matched)
{
    bool marked = tg_is_marked(a);
    if (setup->level == TG_LEVEL_MARKED && !marked && a->stage != TG_STAGE_ORCHESTRATION)
        return TG_WANT_NOTHING;
    if (!tg_passes(setup, kernel_filters, a, matched))
        return TG_WANT_NOTHING;
    /* The tasks that use the tensors of the orchestration record their content. */
    if (a->stage == TG_STAGE_ORCHESTRATION)
        return setup->level == TG_LEVEL_META ? TG_WANT_META : TG_WANT_HASH;
    switch (setup->level) {
    case TG_LEVEL_META:
        return TG_WANT_META;
    case TG_LEVEL_HASH:
        return TG_WANT_HASH;
    case TG_LEVEL_HYBRID:
        return marked ? TG_WANT_PAYLOAD : TG_WANT_META;
    default:
        return TG_WANT_PAYLOAD;
    }
}

/* Fills the fields of a record that do not depend on the content of its argument. */
TG_INLINE void tg_record_describe(struct tg_record *r, const struct tg_subject *a)
{
    r->type = TG_RECORD_ARGUMENT;
    r->flags = (uint16_t)(tg_is_marked(a) ? TG_RECORD_MARKED : 0);
    r->check = 0;
    r->sequence = 0;
    r->task_id = a->desc->id;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        r->kernel[part] = a->desc->kernel[part];
    r->stage = (uint8_t)a->stage;
    r->role = (uint8_t)(a->role ? a->role : (uint32_t)TG_IN);
    r->kind = (uint8_t)(a->role ? TG_KIND_TENSOR : TG_KIND_SCALAR);
    r->dtype = TG_DTYPE_NONE;
    r->ndim = 0;
    r->arg_index = (uint8_t)a->index;
    r->stream = 0;
    r->core = 0;
    r->data_ptr = 0;
    r->start = 0;
    for (int i = 0; i < TG_MAX_DIMS; i++)
        r->shape[i] = r->strides[i] = 0;
    r->hash = r->bytes = r->stored = r->position = r->value = 0;
    r->time = 0;
    r->reserved[0] = r->reserved[1] = 0;
}

/* `bytes` and `contiguous` are the tensor's. */
TG_INLINE void tg_record_describe_view(struct tg_record *r, const struct tg_tensor *t,
                                       uint64_t bytes, bool contiguous)
{
    r->dtype = t->dtype;
    r->ndim = t->ndim;
    r->data_ptr = t->addr;
    r->start = t->start;
    for (int i = 0; i < t->ndim; i++) {
        r->shape[i] = t->shape[i];
        r->strides[i] = t->strides[i];
    }
    r->bytes = bytes;
    if (contiguous)
        r->flags = (uint16_t)(r->flags | TG_RECORD_CONTIGUOUS);
}

TG_INLINE void tg_record_describe_tensor(struct tg_record *r, const struct tg_tensor *t)
{
    tg_record_describe_view(r, t, tg_bytes_of(t->dtype, tg_tensor_numel(t)),
                            tg_tensor_contiguous(t));
}

TG_INLINE void tg_record_describe_scalar(struct tg_record *r, const struct tg_scalar *s)
{
    r->dtype = s->dtype;
    r->value = s->bits;
}

#endif
