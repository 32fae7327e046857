/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a view really touches, and whether two views touch the same bytes. A region is a
 * contiguous run of bytes, repeated by up to seven outer dimensions:
 *
 *     a column block of a row-major matrix     ██····██····██····     run, count, stride
 *
 * It follows from address, shape, strides and start alone, so two tensors made over the same memory
 * meet just as two views of one tensor do.
 */
#ifndef TG_ORCHESTRATE_REGION_H
#define TG_ORCHESTRATE_REGION_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>

enum { TG_MAX_OUTER = TG_MAX_DIMS - 1 };

struct tg_region {
    uint64_t lo, hi; /* all bytes lie in [lo, hi); both 0 for a view without elements */
    uint64_t run;
    uint32_t n_outer;
    uint32_t form; /* enum tg_stored_form: of the view, if storage_bytes fits; 0: not known */
    uint64_t count[TG_MAX_OUTER];
    uint64_t stride[TG_MAX_OUTER]; /* bytes, the largest first */
};

/* Returns false if the argument is not a tensor, or leaves its storage, which must lie in device
 * memory. */
TG_FN bool tg_region_of(const struct tg_tensor *t, struct tg_region *region);

/* True if they have a byte in common. Exact, except for pairs so irregular that an exact answer
 * would take long: those count as meeting. */
TG_FN bool tg_regions_meet(const struct tg_region *a, const struct tg_region *b);

#endif
