/* SPDX-License-Identifier: Apache-2.0 */
#include "common/stored_args.h"
#include "test.h"
#include <stdlib.h>

static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 20) % below;
}

static void check_same(const struct tg_tensor *a, const struct tg_tensor *b)
{
    CHECK_EQ_U(a->addr, b->addr);
    CHECK_EQ_U(a->storage_bytes, b->storage_bytes);
    CHECK_EQ_I(a->start, b->start);
    CHECK_EQ_U(a->dtype, b->dtype);
    CHECK_EQ_U(a->ndim, b->ndim);
    CHECK_EQ_U(a->owner_depth, b->owner_depth);
    CHECK_EQ_U(a->reserved, b->reserved);
    CHECK_EQ_U(a->owner, b->owner);
    for (int i = 0; i < a->ndim; i++) {
        CHECK_EQ_I(a->shape[i], b->shape[i]);
        CHECK_EQ_I(a->strides[i], b->strides[i]);
    }
}

/* Packs the tensor into memory of exactly its size and reads it back in every way. */
static uint32_t check_kept(const struct tg_tensor *t)
{
    uint64_t words[TG_STORED_TENSOR_WORDS], *to;
    uint32_t n = (uint32_t)(tg_stored_put(words, t) - words);
    uint64_t *exact = malloc(n * sizeof *exact);
    struct tg_tensor got = tg_tensor_none();
    REQUIRE(exact != NULL);
    memcpy(exact, words, n * sizeof *exact);
    CHECK_EQ_U(tg_stored_words(exact[0]), n);
    CHECK_EQ_I(tg_stored_get(exact, &got) - exact, n);
    check_same(&got, t);
    CHECK_EQ_U(tg_stored_get_checked(exact, n, &got), tg_tensor_valid(t) ? n : 0);
    CHECK_EQ_U(tg_stored_get_checked(exact, n - 1, &got), 0);
    to = tg_stored_put_checked(words, t);
    CHECK_EQ_I(to != NULL, tg_tensor_valid(t));
    if (to != NULL)
        CHECK(to == words + n && memcmp(words, exact, n * sizeof *exact) == 0);
    free(exact);
    return n;
}

TEST(a_tensor_takes_what_its_dimensions_need)
{
    int64_t shape[TG_MAX_DIMS] = {3, 2, 3, 2, 3, 2, 3, 2};
    for (int ndim = 0; ndim <= TG_MAX_DIMS; ndim++) {
        struct tg_tensor t = tg_tensor_make(4096, TG_FLOAT32, ndim, shape);
        CHECK_EQ_U(check_kept(&t), 2 + (2 + ndim + 1) / 2);
        if (ndim == 0)
            continue;
        t = tg_tensor_flip(t, 0);
        CHECK_EQ_U(check_kept(&t), 2 + (2 + 2 * ndim + 1) / 2);
        t.storage_bytes = UINT64_C(1) << 32;
        CHECK_EQ_U(check_kept(&t), 2 + 2 + 2 * ndim);
    }
}

TEST(a_tile_of_two_dimensions_takes_40_bytes)
{
    struct tg_tensor t = tg_tensor_make(4096, TG_FLOAT32, 2, (int64_t[]){1024, 1024});
    CHECK_EQ_U(check_kept(&t), 4);
    t = tg_tensor_tile(t, 64, 64, 128, 64);
    CHECK_EQ_U(check_kept(&t), 5);
}

TEST(numbers_at_the_edge_of_32_bits_are_kept)
{
    const int64_t edge[] = {0,         1,         INT32_MAX, INT32_MAX + INT64_C(1), UINT32_MAX,
                            INT32_MIN, INT64_MIN, INT64_MAX, INT32_MIN - INT64_C(1), -1};
    for (size_t i = 0; i < sizeof edge / sizeof edge[0]; i++)
        for (int member = 0; member < 4; member++) {
            struct tg_tensor t = tg_tensor_make(4096, TG_INT8, 2, (int64_t[]){2, 2});
            int64_t *const at[] = {&t.start, &t.shape[1], &t.strides[0],
                                   (int64_t *)&t.storage_bytes};
            *at[member] = edge[i];
            check_kept(&t);
        }
}

TEST(strides_that_only_look_contiguous_are_kept)
{
    struct tg_tensor t = tg_tensor_make(4096, TG_FLOAT16, 3, (int64_t[]){4, 1, 8});
    t.strides[1] = 77; /* of an extent of 1: the view is contiguous all the same */
    CHECK(tg_tensor_contiguous(&t));
    check_kept(&t);
    t = tg_tensor_make(4096, TG_FLOAT16, 3, (int64_t[]){4, 0, 8});
    check_kept(&t);
    t = tg_tensor_broadcast(tg_tensor_make(4096, TG_FLOAT16, 1, (int64_t[]){1}), 0, 5);
    check_kept(&t);
}

TEST(views_of_every_type_are_kept)
{
    for (unsigned dtype = 0; dtype < 256; dtype++) {
        struct tg_tensor t = tg_tensor_make(4096, dtype, 2, (int64_t[]){6, 10});
        if (tg_bits_of(dtype) == 0)
            continue;
        t.owner_depth = 3;
        t.owner = 0xfedcba98;
        check_kept(&t);
        t = tg_tensor_transpose(tg_tensor_slice(t, 1, 1, 9, 3), 0, 1); /* starts in a byte */
        check_kept(&t);
    }
}

TEST(random_tensors_are_kept)
{
    for (int round = 0; round < 20000; round++) {
        struct tg_tensor t = tg_tensor_none();
        uint64_t bits = 1 + draw(63);
        t.addr = draw(UINT64_MAX);
        t.storage_bytes = draw(UINT64_C(1) << bits);
        t.start = (int64_t)draw(UINT64_C(1) << bits) - (int64_t)draw(UINT64_C(1) << bits);
        t.dtype = (uint8_t)draw(40);
        t.ndim = (uint8_t)draw(TG_MAX_DIMS + 1);
        for (int i = 0; i < t.ndim; i++) {
            t.shape[i] = (int64_t)draw(UINT64_C(1) << bits);
            t.strides[i] = (int64_t)draw(UINT64_C(1) << bits) * (draw(2) ? 1 : -1);
        }
        check_kept(&t);
    }
}

/* Small views of a small storage: most lie inside, many just leave it. */
TEST(a_tensor_is_stored_exactly_if_it_is_valid)
{
    uint32_t valid = 0;
    for (int round = 0; round < 100000; round++) {
        struct tg_tensor t = tg_tensor_none();
        t.storage_bytes = draw(40);
        t.start = (int64_t)draw(20) - 3;
        t.dtype = (uint8_t)draw(20);
        t.ndim = (uint8_t)draw(3);
        for (int i = 0; i < t.ndim; i++) {
            t.shape[i] = (int64_t)draw(7) - 1;
            t.strides[i] = (int64_t)draw(9) - 4;
        }
        if (draw(50) == 0) /* or far away */
            t.start = (int64_t)draw(UINT64_MAX);
        if (t.ndim > 0 && draw(50) == 0)
            t.strides[0] = (int64_t)draw(UINT32_MAX) - INT32_MAX;
        check_kept(&t);
        valid += tg_tensor_valid(&t);
    }
    CHECK(valid > 10000 && valid < 90000);
}

TEST(arguments_of_a_task_are_found_one_after_the_other)
{
    uint64_t stored[2 * TG_STORED_SCALAR_WORDS + 3 * TG_STORED_TENSOR_WORDS];
    struct tg_scalar scalar = {.bits = 42, .dtype = TG_INT64};
    struct tg_tensor t = tg_tensor_make(4096, TG_FLOAT32, 3, (int64_t[]){2, 3, 4}), got;
    struct tg_tensor view = tg_tensor_slice(t, 1, 1, 3, 1);
    uint64_t *to = tg_stored_put_scalar(tg_stored_put_scalar(stored, &scalar), &scalar);
    tg_stored_put(tg_stored_put(tg_stored_put(to, &t), &view), &t);
    CHECK_EQ_U(tg_stored_scalars(stored)[1].bits, 42);
    CHECK_EQ_U(tg_stored_scalars(stored)[1].dtype, TG_INT64);
    tg_stored_get(tg_stored_tensor(stored, 2, 1), &got);
    check_same(&got, &view);
    tg_stored_get(tg_stored_tensor(stored, 2, 2), &got);
    check_same(&got, &t);
    CHECK(tg_stored_most_bytes(3, 2) == sizeof stored);
}

/* Heap memory of the exact size, so that a sanitizer reports a read beyond it. */
TEST(hostile_words_are_refused_or_give_a_valid_tensor)
{
    uint32_t accepted = 0;
    for (int round = 0; round < 50000; round++) {
        uint32_t n = 1 + (uint32_t)draw(TG_STORED_TENSOR_WORDS), taken;
        uint64_t *words = malloc(n * sizeof *words);
        struct tg_tensor got;
        REQUIRE(words != NULL);
        for (uint32_t i = 0; i < n; i++)
            words[i] = draw(2) ? draw(16) : draw(UINT64_MAX);
        if (draw(4)) /* mostly with a plausible first word */
            words[0] = (1 + draw(20)) | draw(10) << 8 | draw(5) << 24;
        taken = tg_stored_get_checked(words, n, &got);
        CHECK(taken <= n);
        if (taken > 0)
            accepted += CHECK(tg_tensor_valid(&got));
        free(words);
    }
    CHECK(accepted > 0);
}

TEST(a_device_that_reads_hostile_words_writes_only_the_tensor)
{
    for (int round = 0; round < 20000; round++) {
        uint64_t words[TG_STORED_TENSOR_WORDS];
        struct tg_tensor *got = malloc(sizeof *got);
        REQUIRE(got != NULL);
        for (uint32_t i = 0; i < TG_STORED_TENSOR_WORDS; i++)
            words[i] = draw(UINT64_MAX);
        CHECK(tg_stored_get(words, got) - words <= TG_STORED_TENSOR_WORDS);
        CHECK(got->ndim <= TG_MAX_DIMS);
        free(got);
    }
}

TEST_MAIN()
