/* SPDX-License-Identifier: Apache-2.0 */
#include "host/check.h"

#include <string.h>
#include <taskglass/dtype.h>

#include "base/files.h"
#include "base/tolerance.h"

static void start(struct tg_output_check *check, int dtype, uint64_t elements, bool exact)
{
    check->dtype = tg_dtype_name(dtype);
    check->elements = elements;
    check->exact = exact;
    check->mismatches = 0;
    check->max_error = 0;
    check->first = 0;
    check->first_got = check->first_expected = 0;
}

static void miss(struct tg_output_check *check, uint64_t index, double got, double expected)
{
    if (check->mismatches++ == 0) {
        check->first = index;
        check->first_got = got;
        check->first_expected = expected;
    }
}

void tg_check_close(int dtype, const void *got, const double *expected, uint64_t elements,
                    double atol, double rtol, struct tg_output_check *check)
{
    if (check == NULL)
        return;
    start(check, dtype, elements, false);
    if (!tg_dtype_valid(dtype) || got == NULL || expected == NULL) {
        check->mismatches = elements; /* nothing can be compared, so nothing is right */
        return;
    }
    for (uint64_t i = 0; i < elements; i++) {
        double value = tg_dtype_load(dtype, got, i);
        double error = tg_distance(value, expected[i]);
        if (error > check->max_error)
            check->max_error = error;
        if (!tg_is_close(value, expected[i], error, atol, rtol, true))
            miss(check, i, value, expected[i]);
    }
    tg_bytes_were_read(got, (size_t)(elements * tg_dtype_bits(dtype) / 8));
}

void tg_check_add(struct tg_output_check *check, uint64_t at, const struct tg_output_check *piece)
{
    if (check == NULL || piece == NULL)
        return;
    if (check->mismatches == 0 && piece->mismatches > 0) {
        check->first = at + piece->first;
        check->first_got = piece->first_got;
        check->first_expected = piece->first_expected;
    }
    check->dtype = piece->dtype;
    check->exact = piece->exact;
    check->mismatches += piece->mismatches;
    check->elements += piece->elements;
    if (piece->max_error > check->max_error)
        check->max_error = piece->max_error;
}

static bool same_bits(unsigned bits, const unsigned char *a, const unsigned char *b, uint64_t i)
{
    if (bits == 4)
        return ((a[i / 2] ^ b[i / 2]) >> (i % 2 * 4) & 0xf) == 0;
    size_t bytes = bits / 8;
    return memcmp(a + i * bytes, b + i * bytes, bytes) == 0;
}

void tg_check_exact(int dtype, const void *got, const void *expected, uint64_t elements,
                    struct tg_output_check *check)
{
    unsigned bits = tg_dtype_bits(dtype);
    start(check, dtype, elements, true);
    if (memcmp(got, expected, elements * bits / 8) == 0 && elements * bits % 8 == 0)
        return;
    for (uint64_t i = 0; i < elements; i++) {
        if (same_bits(bits, got, expected, i))
            continue;
        double value = tg_dtype_load(dtype, got, i), wanted = tg_dtype_load(dtype, expected, i);
        if (tg_distance(value, wanted) > check->max_error)
            check->max_error = tg_distance(value, wanted);
        miss(check, i, value, wanted);
    }
}
