/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How device memory holds the arguments of a task. A tensor takes what its dimensions need, so that
 * a task of a large graph costs few bytes; a kernel gets whole tensors, which the device makes from
 * this just before the call. All words are 64 bits, and everything begins at a multiple of 8 bytes:
 *
 *   n_scalars × struct tg_scalar      as they are: the kernel's context points here
 *   n_tensors × stored tensor:
 *     word 0    as bytes 24…31 of struct tg_tensor, with the form in place of `reserved`
 *     word 1    addr
 *     numbers   storage_bytes, start, shape[0…ndim-1] and, without TG_STORED_ROW_MAJOR,
 *               strides[0…ndim-1]: one in each word; with TG_STORED_NARROW, two in each word,
 *               the first in the low half
 *
 * The builder of the graph (host or orchestrator) packs, before it publishes the task; after that
 * nobody writes. The host reads with tg_stored_get_checked, because a kernel may have overwritten
 * anything in device memory.
 */
#ifndef TG_COMMON_STORED_ARGS_H
#define TG_COMMON_STORED_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/target.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/tensor.h>

enum tg_stored_form {
    TG_STORED_NARROW = 1,    /* storage_bytes fits 32 bits without sign, the rest with sign */
    TG_STORED_ROW_MAJOR = 2, /* the strides are those that tg_tensor_make gives the shape */
    TG_STORED_FORMS = 4
};

/* The most that a tensor and a scalar take. */
enum {
    TG_STORED_TENSOR_WORDS = 2 + 2 + 2 * TG_MAX_DIMS,
    TG_STORED_SCALAR_WORDS = sizeof(struct tg_scalar) / 8
};

TG_INLINE uint64_t tg_stored_most_bytes(uint32_t n_tensors, uint32_t n_scalars)
{
    return 8 * ((uint64_t)n_tensors * TG_STORED_TENSOR_WORDS +
                (uint64_t)n_scalars * TG_STORED_SCALAR_WORDS);
}

/* ── writing ───────────────────────────────────────────────────────────────────────────── */

/* The bits of a number that do not fit 32 bits with sign; 0: it fits. */
TG_INLINE uint64_t tg_stored_excess(int64_t number)
{
    return ((uint64_t)number + 0x80000000u) >> 32;
}

TG_INLINE uint32_t tg_stored_form_of(const struct tg_tensor *t, int n)
{
    uint64_t excess = t->storage_bytes >> 32 | tg_stored_excess(t->start), gaps = 0;
    int64_t expect = 1;
    for (int i = n - 1; i >= 0; i--) {
        gaps |= (uint64_t)(t->strides[i] ^ expect);
        expect = (int64_t)((uint64_t)expect * (uint64_t)(t->shape[i] > 0 ? t->shape[i] : 1));
        excess |= tg_stored_excess(t->shape[i]) | tg_stored_excess(t->strides[i]);
    }
    return (excess == 0 ? (uint32_t)TG_STORED_NARROW : 0) |
           (gaps == 0 ? (uint32_t)TG_STORED_ROW_MAJOR : 0);
}

/* Number `k` of a narrow tensor. The first number of a word clears the word's other half. */
TG_INLINE void tg_stored_put_narrow(uint64_t *numbers, int k, int64_t number)
{
    if (k % 2 == 0)
        numbers[k / 2] = (uint32_t)number;
    else
        numbers[k / 2] |= (uint64_t)number << 32;
}

/* With constants for the dimensions and the form, the compiler makes straight code of it. */
TG_INLINE uint64_t *tg_stored_put_as(uint64_t *to, const struct tg_tensor *t, int n, uint32_t form)
{
    int k = 2;
    to[0] = (uint64_t)t->owner << 32 | form << 24 | (uint32_t)t->owner_depth << 16 |
            (uint32_t)t->ndim << 8 | t->dtype;
    to[1] = t->addr;
    to += 2;
    if (form & TG_STORED_NARROW) {
        to[0] = (uint64_t)t->start << 32 | (uint32_t)t->storage_bytes;
        for (int i = 0; i < n; i++)
            tg_stored_put_narrow(to, k++, t->shape[i]);
        for (int i = 0; !(form & TG_STORED_ROW_MAJOR) && i < n; i++)
            tg_stored_put_narrow(to, k++, t->strides[i]);
        return to + (k + 1) / 2;
    }
    to[0] = t->storage_bytes;
    to[1] = (uint64_t)t->start;
    for (int i = 0; i < n; i++)
        to[k++] = (uint64_t)t->shape[i];
    for (int i = 0; !(form & TG_STORED_ROW_MAJOR) && i < n; i++)
        to[k++] = (uint64_t)t->strides[i];
    return to + k;
}

TG_OUT_OF_LINE uint64_t *tg_stored_put_any(uint64_t *to, const struct tg_tensor *t)
{
    return tg_stored_put_as(to, t, t->ndim, tg_stored_form_of(t, t->ndim));
}

/* Stores a valid tensor at `to`, which has room for TG_STORED_TENSOR_WORDS. Returns where the next
 * one begins. */
TG_INLINE uint64_t *tg_stored_put(uint64_t *to, const struct tg_tensor *t)
{
    if (t->ndim == 2)
        return tg_stored_put_as(to, t, 2, tg_stored_form_of(t, 2));
    if (t->ndim == 1)
        return tg_stored_put_as(to, t, 1, tg_stored_form_of(t, 1));
    return tg_stored_put_any(to, t);
}

/* tg_tensor_valid for a tensor of up to two dimensions that has a narrow form, without checks for
 * overflow: a sum of two products of 32-bit numbers fits 64 bits. */
TG_INLINE bool tg_stored_is_valid(const struct tg_tensor *t, int n)
{
    int64_t low = t->start, high = t->start;
    uint64_t bits = tg_bits_of(t->dtype);
    for (int i = 0; i < n; i++) {
        int64_t reach = (t->shape[i] - 1) * t->strides[i];
        if (t->shape[i] < 1)
            return tg_tensor_valid(t);
        low += reach < 0 ? reach : 0;
        high += reach < 0 ? 0 : reach;
    }
    return bits != 0 && low >= 0 && high >> 40 == 0 &&
           ((uint64_t)(high + 1) * bits + 7) / 8 <= t->storage_bytes;
}

/* Stores a tensor that may be invalid; returns 0 for one that is. `n` is its ndim, at most 2. */
TG_INLINE uint64_t *tg_stored_put_small(uint64_t *to, const struct tg_tensor *t, int n)
{
    uint32_t form = tg_stored_form_of(t, n);
    if (!(form & TG_STORED_NARROW))
        return tg_tensor_valid(t) ? tg_stored_put_any(to, t) : 0;
    if (!tg_stored_is_valid(t, n))
        return 0;
    return form & TG_STORED_ROW_MAJOR
               ? tg_stored_put_as(to, t, n, TG_STORED_NARROW | TG_STORED_ROW_MAJOR)
               : tg_stored_put_as(to, t, n, TG_STORED_NARROW);
}

/* tg_tensor_valid and tg_stored_put in one: returns 0 if the tensor is not valid. */
TG_INLINE uint64_t *tg_stored_put_checked(uint64_t *to, const struct tg_tensor *t)
{
    if (t->ndim == 2)
        return tg_stored_put_small(to, t, 2);
    if (t->ndim == 1)
        return tg_stored_put_small(to, t, 1);
    return tg_tensor_valid(t) ? tg_stored_put_any(to, t) : 0;
}

TG_INLINE uint64_t *tg_stored_put_scalar(uint64_t *to, const struct tg_scalar *s)
{
    to[0] = s->bits;
    to[1] = s->dtype; /* and zeros */
    return to + TG_STORED_SCALAR_WORDS;
}

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

TG_INLINE const struct tg_scalar *tg_stored_scalars(const void *args)
{
    return (const struct tg_scalar *)args;
}

/* The first stored tensor of a task's arguments. */
TG_INLINE const uint64_t *tg_stored_tensors(const void *args, uint32_t n_scalars)
{
    return (const uint64_t *)args + (uint64_t)n_scalars * TG_STORED_SCALAR_WORDS;
}

/* Dimensions by the tensor's first word; never more than fit a struct tg_tensor. */
TG_INLINE int tg_stored_ndim(uint64_t first)
{
    int n = (int)(first >> 8 & 255);
    return n < TG_MAX_DIMS ? n : TG_MAX_DIMS;
}

/* The words of a stored tensor, by its first word. */
TG_INLINE uint32_t tg_stored_words(uint64_t first)
{
    uint32_t n = (uint32_t)tg_stored_ndim(first), form = (uint32_t)(first >> 24);
    uint32_t numbers = 2 + (form & TG_STORED_ROW_MAJOR ? n : 2 * n);
    return 2 + (form & TG_STORED_NARROW ? (numbers + 1) / 2 : numbers);
}

/* Where tensor `i` begins. */
TG_INLINE const uint64_t *tg_stored_tensor(const void *args, uint32_t n_scalars, uint32_t i)
{
    const uint64_t *at = tg_stored_tensors(args, n_scalars);
    for (; i > 0; i--)
        at += tg_stored_words(*at);
    return at;
}

TG_INLINE int64_t tg_stored_narrow(const uint64_t *numbers, int k)
{
    return (int32_t)(uint32_t)(numbers[k / 2] >> (k % 2 * 32));
}

TG_INLINE void tg_stored_row_major(struct tg_tensor *t, int n)
{
    int64_t stride = 1;
    for (int i = n - 1; i >= 0; i--) {
        t->strides[i] = stride;
        /* Without sign, because what an attacker wrote must not overflow. */
        stride = (int64_t)((uint64_t)stride * (uint64_t)(t->shape[i] > 0 ? t->shape[i] : 1));
    }
}

/* Reads a tensor whose first word says `n` dimensions and `form`. With constants for both, the
 * compiler makes straight code of it. */
TG_INLINE const uint64_t *tg_stored_get_as(const uint64_t *from, struct tg_tensor *t, int n,
                                           uint32_t form)
{
    bool strided = !(form & TG_STORED_ROW_MAJOR);
    int k = 2;
    t->addr = from[1];
    from += 2;
    if (form & TG_STORED_NARROW) {
        t->storage_bytes = (uint32_t)from[0];
        t->start = tg_stored_narrow(from, 1);
        for (int i = 0; i < n; i++, k++)
            t->shape[i] = tg_stored_narrow(from, k);
        for (int i = 0; strided && i < n; i++, k++)
            t->strides[i] = tg_stored_narrow(from, k);
        from += (k + 1) / 2;
    } else {
        t->storage_bytes = from[0];
        t->start = (int64_t)from[1];
        for (int i = 0; i < n; i++, k++)
            t->shape[i] = (int64_t)from[k];
        for (int i = 0; strided && i < n; i++, k++)
            t->strides[i] = (int64_t)from[k];
        from += k;
    }
    if (!strided)
        tg_stored_row_major(t, n);
    return from;
}

/* Bytes 24…31 of a tensor as one word. */
typedef uint64_t __attribute__((may_alias)) tg_stored_word;

/* Form and dimensions in one number, by the tensor's first word. */
#define TG_STORED_KIND(form, n) ((uint32_t)(form) << 16 | (n))
TG_INLINE uint32_t tg_stored_kind(uint64_t first)
{
    return (uint32_t)(first >> 8) & 0xff00ff;
}

/* Out of line, so that the usual kinds below need few registers. */
TG_OUT_OF_LINE const uint64_t *tg_stored_get_any(const uint64_t *from, struct tg_tensor *t)
{
    t->ndim = (uint8_t)tg_stored_ndim(from[0]);
    return tg_stored_get_as(from, t, t->ndim, (uint32_t)(from[0] >> 24));
}

/* Reads the tensor at `from`; leaves dimensions beyond ndim unset. Returns where the next one
 * begins. Whatever the words hold, it reads at most TG_STORED_TENSOR_WORDS and writes only *t. */
TG_INLINE const uint64_t *tg_stored_get(const uint64_t *from, struct tg_tensor *t)
{
    enum { NARROW = TG_STORED_NARROW, ROWS = TG_STORED_NARROW | TG_STORED_ROW_MAJOR };
    uint32_t kind = tg_stored_kind(from[0]);
    *(tg_stored_word *)((char *)t + offsetof(struct tg_tensor, dtype)) =
        from[0] & ~(UINT64_C(255) << 24);
    if (kind == TG_STORED_KIND(NARROW, 2))
        return tg_stored_get_as(from, t, 2, NARROW);
    if (kind == TG_STORED_KIND(ROWS, 2))
        return tg_stored_get_as(from, t, 2, ROWS);
    if (kind == TG_STORED_KIND(ROWS, 1))
        return tg_stored_get_as(from, t, 1, ROWS);
    return tg_stored_get_any(from, t);
}

/* Reads all tensors of a task, which has some. Out of line, so that a core does not save registers for
 * a task that has none. */
TG_OUT_OF_LINE void tg_stored_get_all(const uint64_t *from, uint32_t n, struct tg_tensor *tensors)
{
    for (uint32_t i = 0; i < n; i++)
        from = tg_stored_get(from, &tensors[i]);
}

/* The same as tg_stored_get for words that are not to be trusted, of which there are `words`: returns how many the
 * tensor takes, or 0 if no builder wrote it so. Sets unused dimensions to zero. */
TG_INLINE uint32_t tg_stored_get_checked(const uint64_t *from, uint32_t words, struct tg_tensor *t)
{
    tg_tensor_clear(t);
    if (words == 0 || (from[0] >> 8 & 255) > TG_MAX_DIMS ||
        (from[0] >> 24 & 255) >= TG_STORED_FORMS || tg_stored_words(from[0]) > words)
        return 0;
    tg_stored_get(from, t);
    return tg_tensor_valid(t) ? tg_stored_words(from[0]) : 0;
}

/* The most words that the arguments of a task take. */
enum {
    TG_STORED_MOST_WORDS =
        TG_MAX_TENSORS * TG_STORED_TENSOR_WORDS + TG_MAX_SCALARS * TG_STORED_SCALAR_WORDS
};

/* Reads all tensors of a task, out of `words` words that are not to be trusted. */
TG_INLINE bool tg_stored_get_all_checked(const uint64_t *args, uint32_t words, uint32_t n_scalars,
                                         uint32_t n_tensors, struct tg_tensor *tensors)
{
    uint32_t at = n_scalars * TG_STORED_SCALAR_WORDS;
    for (uint32_t i = 0; i < n_tensors; i++) {
        uint32_t n = at < words ? tg_stored_get_checked(args + at, words - at, &tensors[i]) : 0;
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

#endif
