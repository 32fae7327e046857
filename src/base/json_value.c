/* SPDX-License-Identifier: Apache-2.0 */
/* One element of a tensor as JSON. */
#include <taskglass/dtype.h>
#include <taskglass/json.h>
#include <taskglass/numeric.h>

/* 64-bit integers are strings: most readers of JSON have no integers beyond 2^53. */
static void put_integer(struct tg_json *json, unsigned dtype, uint64_t bits)
{
    unsigned size = tg_bits_of(dtype);
    int64_t value = tg_sign_extend(size, bits);
    bool is_signed = tg_dtype_is_signed((int)dtype);
    if (size == 64 && is_signed)
        tg_json_quoted_int(json, value);
    else if (size == 64)
        tg_json_quoted_uint(json, bits);
    else if (is_signed)
        tg_json_int(json, value);
    else
        tg_json_uint(json, bits);
}

void tg_json_value(struct tg_json *json, unsigned dtype, uint64_t bits)
{
    if (json == NULL)
        return;
    unsigned size = tg_bits_of(dtype);
    if (size == 0) {
        tg_json_null(json);
        return;
    }
    bits &= UINT64_MAX >> (64 - size);
    if (dtype == TG_BOOL)
        tg_json_bool(json, bits != 0);
    else if (dtype == TG_FLOAT32)
        tg_json_float(json, (float)tg_decode(dtype, bits));
    else if (tg_dtype_is_float((int)dtype))
        tg_json_real(json, tg_decode(dtype, bits)); /* a double holds each value of each type */
    else
        put_integer(json, dtype, bits);
}
