/* SPDX-License-Identifier: Apache-2.0 */
#include "query/npy_type.h"

#include <stdbool.h>
#include <stdio.h>
#include <taskglass/numeric.h>

static bool is_of_numpy(unsigned dtype)
{
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_SHORT:
        return dtype == TG_FLOAT16;
    case TG_NUMBER_POWER:
        return false;
    default:
        return tg_bits_of(dtype) >= 8;
    }
}

unsigned tg_npy_held_as(unsigned dtype)
{
    if (is_of_numpy(dtype))
        return dtype;
    switch (tg_bits_of(dtype)) {
    case 64:
        return TG_UINT64;
    case 32:
        return TG_UINT32;
    case 16:
        return TG_UINT16;
    default:
        return TG_UINT8;
    }
}

static char letter_of(unsigned dtype)
{
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_SIGNED:
        return 'i';
    case TG_NUMBER_UNSIGNED:
        return 'u';
    case TG_NUMBER_TRUTH:
        return 'b';
    default:
        return 'f';
    }
}

const char *tg_npy_descr_of(unsigned dtype, struct tg_npy_descr *descr)
{
    unsigned held = tg_npy_held_as(dtype), bytes = tg_bits_of(held) / 8;
    (void)snprintf(descr->text, sizeof descr->text, "%c%c%u", bytes > 1 ? '<' : '|',
                   letter_of(held), bytes % 100);
    return descr->text;
}
