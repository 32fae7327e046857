/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the elements of a view in row-major order into packed bytes, whatever the strides of the
 * view. The recorder stores tensors that are not contiguous in this form. For device and host.
 */
#ifndef TG_COMMON_GATHER_H
#define TG_COMMON_GATHER_H

#include <taskglass/tensor.h>

/* A view with as few dimensions as possible: dimensions that are contiguous together become one. */
struct tg_gather_plan {
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    int64_t strides[TG_MAX_DIMS];
};

TG_INLINE struct tg_gather_plan tg_gather_plan(const struct tg_tensor *t)
{
    struct tg_gather_plan p;
    p.ndim = 0;
    for (int i = 0; i < t->ndim; i++) {
        int last = p.ndim - 1;
        if (t->shape[i] == 1)
            continue;
        if (last >= 0 && p.strides[last] == t->shape[i] * t->strides[i]) {
            p.shape[last] *= t->shape[i];
            p.strides[last] = t->strides[i];
            continue;
        }
        p.shape[p.ndim] = t->shape[i];
        p.strides[p.ndim++] = t->strides[i];
    }
    if (p.ndim == 0) {
        p.shape[0] = p.strides[0] = 1;
        p.ndim = 1;
    }
    return p;
}

/* Copies `count` elements of 8 bits or more; each is `stride` after the last. */
TG_INLINE void tg_gather_row(char *to, const char *from, int64_t count, int64_t stride,
                             unsigned size)
{
    if (stride == 1) {
        __builtin_memcpy(to, from, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++, to += size, from += stride * (int64_t)size) {
        switch (size) { /* a constant size compiles to a single move */
        case 1:
            *to = *from;
            break;
        case 2:
            __builtin_memcpy(to, from, 2);
            break;
        case 4:
            __builtin_memcpy(to, from, 4);
            break;
        default:
            __builtin_memcpy(to, from, 8);
            break;
        }
    }
}

/* The same for 4-bit elements; the first one becomes element `at` of the packed result. */
TG_INLINE void tg_gather_nibbles(uint8_t *to, int64_t at, const uint8_t *storage, int64_t element,
                                 int64_t count, int64_t stride)
{
    for (int64_t i = 0; i < count; i++, at++, element += stride) {
        unsigned nibble = storage[element / 2] >> (element % 2 * 4) & 15u;
        if (at % 2 == 0)
            to[at / 2] = (uint8_t)nibble;
        else
            to[at / 2] = (uint8_t)(to[at / 2] | nibble << 4);
    }
}

/* Packs elements [first, first + count) of the view into `to`. `storage` points to the memory at
 * t->addr on this side. For 4-bit types `first` must be even. */
TG_INLINE void tg_gather(void *to, const void *storage, const struct tg_tensor *t, int64_t first,
                         int64_t count)
{
    struct tg_gather_plan p = tg_gather_plan(t);
    unsigned bits = tg_bits_of(t->dtype);
    int inner = p.ndim - 1;
    int64_t at[TG_MAX_DIMS], offset = t->start, rest = first;
    for (int i = inner; i >= 0; i--) {
        int64_t extent = p.shape[i] > 0 ? p.shape[i] : 1;
        at[i] = rest % extent;
        rest /= extent;
        offset += at[i] * p.strides[i];
    }
    for (int64_t done = 0; done < count;) {
        int64_t run = p.shape[inner] - at[inner];
        run = run < count - done ? run : count - done;
        if (bits >= 8)
            tg_gather_row((char *)to + done * (bits / 8),
                          (const char *)storage + offset * (int64_t)(bits / 8), run,
                          p.strides[inner], bits / 8);
        else
            tg_gather_nibbles((uint8_t *)to, done, (const uint8_t *)storage, offset, run,
                              p.strides[inner]);
        done += run;
        at[inner] += run;
        offset += run * p.strides[inner];
        for (int i = inner; i > 0 && at[i] == p.shape[i]; i--) { /* move on to the next row */
            offset += p.strides[i - 1] - at[i] * p.strides[i];
            at[i] = 0;
            at[i - 1]++;
        }
    }
}

#endif
