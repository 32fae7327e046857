/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <taskglass/tensor.h>

#include "analysis/blame.h"
#include "analysis/match_mix.h"

bool tg_view_is_same(const struct tg_record *a, const struct tg_record *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim || a->start != b->start)
        return false;
    for (int i = 0; i < a->ndim && i < TG_MAX_DIMS; i++)
        if (a->shape[i] != b->shape[i] || (a->shape[i] > 1 && a->strides[i] != b->strides[i]))
            return false;
    return true;
}

uint64_t tg_view_place(const struct tg_record *view, const struct tg_record *from)
{
    uint64_t key = (view->data_ptr - from->data_ptr) * 8;
    key += (uint64_t)view->start * tg_bits_of(view->dtype);
    key -= (uint64_t)from->start * tg_bits_of(from->dtype);
    return tg_mix_shape(tg_mix(1, key), view);
}

const struct tg_object *tg_blame_object(const struct tg_blame *blame, int side,
                                        const struct tg_record *record)
{
    return tg_sources_object(blame->side[side].sources, record->data_ptr);
}

bool tg_objects_agree(const struct tg_object *a, const struct tg_object *b)
{
    return a || b ? tg_object_is(a, b) : true;
}
