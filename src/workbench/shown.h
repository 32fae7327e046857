/* SPDX-License-Identifier: Apache-2.0 */
/* The record that a request shows: what it is, its stored elements, or why there are none. */
#ifndef TG_WORKBENCH_SHOWN_H
#define TG_WORKBENCH_SHOWN_H

#include <taskglass/array.h>

#include "workbench/ask.h"
#include "workbench/bench.h"

/* `array` may point into `entry`, so this is filled in place and never copied. It lives as long as its run is open. */
struct tg_shown {
    struct tg_bench_run *run;
    uint64_t index;
    struct tg_entry entry;
    struct tg_array array; /* zero if it is not readable */
    bool is_readable;
    char why[240]; /* one sentence; "" if it is readable */
    /* The shape in which the elements are shown: that of the record, or one dimension if it is cut, a scalar or a
     * tensor without dimensions. Its product is array.elements. */
    int ndim; /* at least 1 */
    int64_t shape[TG_MAX_DIMS];
};

/* Takes the record whose number is the parameter `name`. BAD_ARGUMENT; UNSUPPORTED: the run has no recording;
 * NOT_FOUND: there is no such record. */
tg_status tg_shown_take(struct tg_bench_run *run, struct tg_ask *ask, const char *name,
                        struct tg_shown *shown, struct tg_error *error);
/* The same, and UNSUPPORTED, with the reason, if it is not readable. */
tg_status tg_shown_take_readable(struct tg_bench_run *run, struct tg_ask *ask, const char *name,
                                 struct tg_shown *shown, struct tg_error *error);
/* UNSUPPORTED, with the reason, if it is not readable. */
tg_status tg_shown_need(const struct tg_shown *shown, struct tg_error *error);

#endif
