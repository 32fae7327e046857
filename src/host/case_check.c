/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/case_check.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "host/check.h"

/* Elements that are compared between two looks at the watch: some milliseconds. An even number, so that
 * a piece of a 4-bit type begins with a whole byte. */
#define PIECE (UINT64_C(1) << 20)

static void check_piece(const struct tg_case_tensor *t, uint64_t at, uint64_t n,
                        struct tg_output_check *piece)
{
    uint64_t bytes = at * tg_dtype_bits(t->tensor.dtype) / 8;
    const char *got = (const char *)t->output + bytes;
    if (t->exact)
        tg_check_exact(t->tensor.dtype, got, (const char *)t->exact + bytes, n, piece);
    else
        tg_check_close(t->tensor.dtype, got, t->expected + at, n, t->atol, t->rtol, piece);
}

/* False if the watch asks to stop. */
static bool compare_one(const struct tg_case_tensor *t, const struct tg_watch *watch,
                        struct tg_output_check *check)
{
    check_piece(t, 0, t->elements < PIECE ? t->elements : PIECE, check);
    for (uint64_t at = PIECE; at < t->elements; at += PIECE) {
        struct tg_output_check piece;
        if (watch->stop && watch->stop(watch->context))
            return false;
        check_piece(t, at, t->elements - at < PIECE ? t->elements - at : PIECE, &piece);
        tg_check_add(check, at, &piece);
    }
    return true;
}

static tg_status mismatch(const struct tg_output_check *check, struct tg_error *error)
{
    return tg_error_set(error, TG_MISMATCH,
                        "output '%s' differs in %llu of %llu elements, first at %llu: %.9g, "
                        "expected %.9g",
                        check->name, (unsigned long long)check->mismatches,
                        (unsigned long long)check->elements, (unsigned long long)check->first,
                        check->first_got, check->first_expected);
}

tg_status tg_case_compare(struct tg_case_host *test_case, const struct tg_watch *watch,
                          struct tg_output_check *check, uint32_t *n, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < tg_case_tensor_count(test_case); i++) {
        const struct tg_case_tensor *t = tg_case_tensor_at(test_case, i);
        struct tg_output_check one = {0};
        if (t->role == TG_IN)
            continue;
        if (!compare_one(t, watch, &one))
            return tg_error_set(error, TG_CANCELLED, "cancelled while output '%s' was checked",
                                t->name);
        one.name = strdup(t->name);
        if (!one.name)
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a name");
        check[(*n)++] = one;
        if (one.mismatches > 0 && status == TG_OK)
            status = mismatch(&one, error);
    }
    return status;
}
