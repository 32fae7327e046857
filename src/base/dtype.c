/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the table of wire/dtype.h by name and by number. numeric.h has the arithmetic. */
#include <math.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

/* clang-format off */
static const char *const names[] = {
    [TG_DTYPE_NONE] = "invalid",
#define DTYPE_NAME(constant, number, bits, name, kind) [TG_##constant] = (name),
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

bool tg_dtype_is_float(int dtype)
{
    enum tg_number number = tg_number_of((unsigned)dtype);
    return number == TG_NUMBER_DOUBLE || number == TG_NUMBER_SINGLE || number == TG_NUMBER_SHORT ||
           number == TG_NUMBER_POWER;
}

bool tg_dtype_is_signed(int dtype)
{
    enum tg_number number = tg_number_of((unsigned)dtype);
    return number == TG_NUMBER_SIGNED || (tg_dtype_is_float(dtype) && number != TG_NUMBER_POWER);
}

double tg_dtype_load(int dtype, const void *base, size_t index)
{
    if (base == NULL)
        return NAN;
    return tg_load((unsigned)dtype, base, (int64_t)index);
}

void tg_dtype_store(int dtype, void *base, size_t index, double value)
{
    if (base == NULL)
        return;
    tg_store((unsigned)dtype, base, (int64_t)index, value);
}
