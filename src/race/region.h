/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a view, and whether two views share one. A region is a union of lattices; a lattice is a run of
 * bytes that dimensions repeat:
 *
 *     a column block of a row-major matrix     ██····██····██····     run, count, stride
 *
 * Views of whole bytes are one lattice. A view of 4-bit elements with an odd stride is several: one for each
 * place in a byte at which elements begin.
 */
#ifndef TG_RACE_REGION_H
#define TG_RACE_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/tensor.h>

enum { TG_RACE_LATTICES = 64 };

struct tg_race_lattice {
    uint64_t lo, run;
    uint64_t reach; /* bytes from the first to behind the last */
    uint32_t n;
    uint64_t count[TG_MAX_DIMS], stride[TG_MAX_DIMS]; /* bytes, the largest stride first */
};

struct tg_race_region {
    uint64_t lo, hi; /* all bytes lie in [lo, hi) */
    uint32_t n;      /* lattices; 0: the view has no elements */
    struct tg_race_lattice lattice[TG_RACE_LATTICES];
};

enum tg_race_answer { TG_RACE_NO, TG_RACE_YES, TG_RACE_OPEN };

/* False if the bytes are not known: the tensor is not valid, its view leaves the address space, or it would
 * take more than TG_RACE_LATTICES lattices. Does not ask whether the view leaves its storage. */
bool tg_race_region_of(const struct tg_tensor *tensor, struct tg_race_region *region);
/* True if the region is [lo, hi) without gaps. */
bool tg_race_region_is_run(const struct tg_race_region *region);
/* OPEN: it would take too long to know. Adds the steps that it took to *work. */
enum tg_race_answer tg_race_regions_share(const struct tg_race_region *a,
                                          const struct tg_race_region *b, uint64_t *work);
/* The number of bytes that both have; UINT64_MAX if they have more runs than *budget, from which it takes
 * those that it looked at, or memory ran out. */
uint64_t tg_race_regions_common(const struct tg_race_region *a, const struct tg_race_region *b,
                                uint64_t *budget);

#endif
