/* SPDX-License-Identifier: Apache-2.0 */
/* Reads elements of a packed array. */
#include "workbench/elements.h"

#include <string.h>
#include <taskglass/numeric.h>

#include "base/files.h"

void tg_elements_init(struct tg_elements *elements, const struct tg_array *array)
{
    elements->bytes = array->bytes;
    elements->bits = tg_bits_of(array->dtype);
    tg_decoder_init(&elements->decoder, array->dtype);
}

static const unsigned char *byte_of(const struct tg_elements *elements, uint64_t index)
{
    return elements->bytes + index / 2 * elements->bits / 4 + index % 2 * elements->bits / 8;
}

#define GATHER(bytes)               \
    for (int i = 0; i < count; i++) \
    memcpy(to + (size_t)i * (bytes), from + (uint64_t)i * step * (bytes), (bytes))

static void gather(struct tg_elements *elements, uint64_t first, uint64_t step, int count)
{
    const unsigned char *from = byte_of(elements, first);
    unsigned char *to = elements->gathered;
    const unsigned dtype = elements->decoder.dtype;
    switch (elements->bits) {
    case 64:
        GATHER(8);
        break;
    case 32:
        GATHER(4);
        break;
    case 16:
        GATHER(2);
        break;
    case 8:
        GATHER(1);
        break;
    default:
        for (int i = 0; i < count; i++)
            tg_store_bits(
                dtype, to, i,
                tg_load_bits(dtype, elements->bytes, (int64_t)(first + (uint64_t)i * step)));
        break;
    }
}

const void *tg_elements_packed(struct tg_elements *elements, uint64_t first, uint64_t step,
                               int count)
{
    if (step == 1 && (elements->bits >= 8 || first % 2 == 0))
        return byte_of(elements, first);
    gather(elements, first, step, count);
    return elements->gathered;
}

bool tg_elements_read(struct tg_elements *elements, uint64_t first, uint64_t step, int count,
                      double *value)
{
    const void *bytes = tg_elements_packed(elements, first, step, count);
    if (elements->decoder.is_wide)
        return tg_decode_wide(&elements->decoder, bytes, count, value);
    bool is_special = tg_decode_narrow(&elements->decoder, bytes, count, elements->narrow);
    for (int i = 0; i < count; i++)
        value[i] = (double)elements->narrow[i];
    return is_special;
}

/* True if no two of the elements lie on one page. */
static bool is_scattered(const struct tg_elements *elements, uint64_t step)
{
    return step >= (uint64_t)TG_ELEMENTS_PAGE * 8 / elements->bits;
}

static size_t span_of(const struct tg_elements *elements, uint64_t first, uint64_t step,
                      uint64_t count)
{
    return (size_t)(byte_of(elements, first + (count - 1) * step) - byte_of(elements, first)) +
           (elements->bits + 7) / 8;
}

void tg_elements_want(const struct tg_elements *elements, uint64_t first, uint64_t step,
                      uint64_t count)
{
    if (count == 0)
        return;
    if (!is_scattered(elements, step))
        tg_bytes_are_wanted(byte_of(elements, first), span_of(elements, first, step, count));
    for (uint64_t i = 0; is_scattered(elements, step) && i < count; i++)
        tg_bytes_are_wanted(byte_of(elements, first + i * step), 1);
}

/* A fault maps pages around the one that is read: 64 KiB on Linux. */
void tg_elements_were_read(const struct tg_elements *elements, uint64_t first, uint64_t step,
                           uint64_t count)
{
    enum { AROUND = 64 << 10 };
    if (count == 0)
        return;
    size_t size = is_scattered(elements, step) ? (size_t)count * AROUND
                                               : span_of(elements, first, step, count);
    tg_bytes_were_read(byte_of(elements, first), size > AROUND ? size : AROUND);
}
