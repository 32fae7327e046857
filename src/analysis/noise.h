/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What good runs differ by. Each further run that is known to be good is compared with B, the trusted
 * one. The largest difference that one of them shows at an argument is that argument's noise floor, and
 * takes the place of the tolerance that would be guessed from the type.
 */
#ifndef TG_ANALYSIS_NOISE_H
#define TG_ANALYSIS_NOISE_H

#include <stdint.h>
#include <taskglass/recording.h>

/* A difference is noise up to this multiple of the floor. The largest of a few differences is exceeded
 * by chance every other time, and four times of it hardly ever. */
#define TG_NOISE_MARGIN 4.0

struct tg_noise {
    /* For each record of B: the floor as |a - b|; infinite if good runs differ in a way that has no
     * measure (NaN, shapes, hashes alone), which excuses nothing; NaN if no good run has the argument.
     * NULL: no good runs. */
    double *floor;
    uint64_t n_floors;
    uint32_t runs; /* good runs that were compared with B */
};

void tg_noise_free(struct tg_noise *noise);

/* The floor of a record of B; NaN if there is none. */
double tg_noise_floor(const struct tg_noise *noise, uint64_t record_b);

#endif
