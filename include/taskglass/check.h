/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an output with its golden values, as `taskglass run` and `taskglass check` do. */
#ifndef TASKGLASS_CHECK_H
#define TASKGLASS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How one output compared with its golden values. */
struct tg_output_check {
    const char *name;
    const char *dtype;
    uint64_t elements;
    uint64_t mismatches;
    double max_error; /* largest |output - expected|, 0 for an exact check that passed */
    bool exact;       /* compared bit for bit */
    uint64_t first;   /* flat index of the first mismatch, if any */
    double first_got;
    double first_expected;
};

/*
 * Compares `elements` values of that type, packed as in tensors, with as many doubles: |got -
 * expected| <= atol + rtol * |expected|. NaN matches NaN, and an infinity matches only itself. If
 * the difference is not a number (NaN against a value), it counts as infinite. Fills in all of
 * *check except its name. Keeps no pointer except to the type's name, which lives for ever; any
 * number of threads may call it.
 */
TG_API void tg_check_close(int dtype, const void *got, const double *expected, uint64_t elements,
                           double atol, double rtol, struct tg_output_check *check);

/* For an output that is compared in pieces: adds the result of the piece that begins at element `at`.
 * *check begins as the result of the first piece, or with zeros. */
TG_API void tg_check_add(struct tg_output_check *check, uint64_t at,
                         const struct tg_output_check *piece);

#ifdef __cplusplus
}
#endif
#endif
