/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes a view really touches, and whether two views touch the same ones. A region is a run of
 * straight bytes, repeated by up to seven outer dimensions:
 *
 *     a column block of a row-major matrix     ██····██····██····     run, count, stride
 *
 * It is found from shape, strides and start alone; the address of the storage counts only as
 * where the bytes are, so two tensors made over the same memory meet as two views do.
 */
#ifndef TG_ORCHESTRATE_REGION_H
#define TG_ORCHESTRATE_REGION_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>

enum { TG_MAX_OUTER = TG_MAX_DIMS - 1 };

struct tg_region {
    uint64_t lo, hi; /* everything lies in [lo, hi); both 0 for a view without elements */
    uint64_t run;
    uint32_t n_outer;
    uint32_t reserved;
    uint64_t count[TG_MAX_OUTER];
    uint64_t stride[TG_MAX_OUTER]; /* bytes, falling */
};

/* False for what is not a tensor, or leaves its storage, which must lie in device memory. */
TG_FN bool tg_region_of(const struct tg_tensor *t, struct tg_region *region);

/* Do they have a byte in common? Exact, but for pairs so irregular that finding out would take
 * long: those count as meeting. */
TG_FN bool tg_regions_meet(const struct tg_region *a, const struct tg_region *b);

#endif
