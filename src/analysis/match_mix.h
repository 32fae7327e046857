/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that matching makes of a few numbers. They are compared within one process only. */
#ifndef TG_ANALYSIS_MATCH_MIX_H
#define TG_ANALYSIS_MATCH_MIX_H

#include <stdint.h>
#include <taskglass/wire/record.h>

static inline uint64_t tg_mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* What a view looks like apart from where it is: its type, shape and strides. */
static inline uint64_t tg_mix_shape(uint64_t hash, const struct tg_record *record)
{
    unsigned ndim = record->ndim < TG_MAX_DIMS ? record->ndim : TG_MAX_DIMS;
    hash = tg_mix(hash, (uint64_t)record->kind << 16 | (uint64_t)record->dtype << 8 | ndim);
    for (unsigned i = 0; i < ndim; i++) {
        hash = tg_mix(hash, (uint64_t)record->shape[i]);
        hash = tg_mix(hash, record->shape[i] == 1 ? 0 : (uint64_t)record->strides[i]);
    }
    return hash;
}

#endif
