/* SPDX-License-Identifier: Apache-2.0 */
/* The table of wire/dtype.h by name and number; the arithmetic is numeric.h's. */
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

/* clang-format off */
static const char *const names[] = {
    [TG_DTYPE_NONE] = "invalid",
#define DTYPE_NAME(constant, number, bits, name) [TG_##constant] = (name),
    TG_DTYPE_MAP(DTYPE_NAME)
#undef DTYPE_NAME
};
/* clang-format on */

bool tg_dtype_valid(int dtype)
{
    return dtype > TG_DTYPE_NONE && dtype < TG_DTYPE_END;
}

const char *tg_dtype_name(int dtype)
{
    return names[tg_dtype_valid(dtype) ? dtype : TG_DTYPE_NONE];
}

enum tg_dtype tg_dtype_from_name(const char *name)
{
    for (int dtype = TG_DTYPE_NONE + 1; name && dtype < TG_DTYPE_END; dtype++)
        if (strcmp(names[dtype], name) == 0)
            return (enum tg_dtype)dtype;
    return TG_DTYPE_NONE;
}

unsigned tg_dtype_bits(int dtype)
{
    return tg_bits_of((unsigned)dtype);
}

/* A float type has the word in its name and no other type has: true of those to come as well. */
bool tg_dtype_is_float(int dtype)
{
    return strstr(tg_dtype_name(dtype), "float") != NULL;
}

bool tg_dtype_is_signed(int dtype)
{
    switch (dtype) {
    case TG_INT64:
    case TG_INT32:
    case TG_INT16:
    case TG_INT8:
    case TG_INT4:
        return true;
    default:
        return tg_dtype_is_float(dtype) && dtype != TG_FLOAT8_E8M0FNU;
    }
}

double tg_dtype_load(int dtype, const void *base, size_t index)
{
    return tg_load((unsigned)dtype, base, (int64_t)index);
}

void tg_dtype_store(int dtype, void *base, size_t index, double value)
{
    tg_store((unsigned)dtype, base, (int64_t)index, value);
}
