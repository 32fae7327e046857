/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "unit/common/hash_model.h"

#include <stdlib.h>

/* Tests each kernel of the hash; otherwise the processor decides which one runs. */
#define tg_hash_update chosen_update
#define tg_hash_copy chosen_copy
#include "common/hash.c"
#undef tg_hash_update
#undef tg_hash_copy

enum { ROOM = 64 * 40 };

static uint64_t hash_of(const void *bytes, size_t size)
{
    struct tg_hash hash;
    tg_hash_init(&hash);
    tg_hash_update(&hash, bytes, size);
    return tg_hash_final(&hash, size);
}

/* Heap memory of exactly that size, so that a sanitizer reports every access beyond it. */
static unsigned char *exactly(size_t size, size_t offset, uint64_t seed)
{
    unsigned char *memory = malloc(offset + size + (offset + size == 0));
    fill_bytes(memory + offset, size, seed);
    return memory;
}

TEST(every_size_gives_the_hash_of_the_model)
{
    for (size_t size = 0; size <= 700; size++) {
        unsigned char *bytes = exactly(size, 0, size);
        CHECK_EQ_U(hash_of(bytes, size), model_hash(bytes, size));
        free(bytes);
    }
}

TEST(every_alignment_of_source_and_target_copies_and_hashes_the_same)
{
    for (size_t from_offset = 0; from_offset < 64; from_offset += 1) {
        for (size_t to_offset = 0; to_offset < 64; to_offset += 7) {
            size_t size = 64 * 3 + (from_offset + to_offset) % 64;
            unsigned char *from = exactly(size, from_offset, 9);
            unsigned char *to = exactly(size, to_offset, 10);
            struct tg_hash hash;
            tg_hash_init(&hash);
            tg_hash_copy(&hash, to + to_offset, from + from_offset, size);
            CHECK_EQ_U(tg_hash_final(&hash, size), model_hash(from + from_offset, size));
            CHECK_EQ_MEM(to + to_offset, from + from_offset, size);
            free(from);
            free(to);
        }
    }
}

TEST(pieces_of_any_multiple_of_64_give_the_same_hash)
{
    unsigned char bytes[ROOM], copy[ROOM];
    fill_bytes(bytes, sizeof bytes, 3);
    for (size_t total = ROOM - 70; total <= ROOM; total++) {
        uint64_t want = model_hash(bytes, total);
        for (size_t piece = 64; piece <= ROOM; piece += 64) {
            struct tg_hash hash;
            tg_hash_init(&hash);
            for (size_t at = 0; at < total; at += piece) {
                size_t size = total - at < piece ? total - at : piece;
                if (at / piece % 2)
                    tg_hash_update(&hash, bytes + at, size);
                else
                    tg_hash_copy(&hash, copy + at, bytes + at, size);
            }
            CHECK_EQ_U(tg_hash_final(&hash, total), want);
        }
    }
}

TEST(sums_of_pieces_can_be_added_in_any_order)
{
    unsigned char bytes[ROOM];
    struct tg_hash first, second;
    fill_bytes(bytes, sizeof bytes, 4);
    tg_hash_init(&first);
    tg_hash_init(&second);
    second.words = 128 / 8;
    tg_hash_update(&second, bytes + 128, ROOM - 128);
    tg_hash_update(&first, bytes, 128);
    second.a += first.a;
    second.b += first.b;
    CHECK_EQ_U(tg_hash_final(&second, ROOM), model_hash(bytes, ROOM));
}

TEST(a_large_tensor_gives_the_hash_of_the_model)
{
    size_t size = ((size_t)1 << 20) + 13;
    unsigned char *from = exactly(size, 0, 77), *to = exactly(size, 0, 78);
    struct tg_hash hash;
    tg_hash_init(&hash);
    tg_hash_copy(&hash, to, from, size);
    CHECK_EQ_U(tg_hash_final(&hash, size), model_hash(from, size));
    CHECK_EQ_MEM(to, from, size);
    free(from);
    free(to);
}

TEST(every_single_flipped_bit_changes_the_hash)
{
    unsigned char bytes[256 + 5];
    uint64_t before;
    fill_bytes(bytes, sizeof bytes, 6);
    before = hash_of(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(hash_of(bytes, sizeof bytes) != before);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

TEST(two_swapped_words_change_the_hash)
{
    uint64_t words[48];
    uint64_t before;
    fill_bytes((unsigned char *)words, sizeof words, 8);
    before = hash_of(words, sizeof words);
    for (size_t i = 0; i < 48; i++)
        for (size_t j = 0; j < i; j++) {
            uint64_t kept = words[i];
            words[i] = words[j];
            words[j] = kept;
            CHECK(hash_of(words, sizeof words) != before);
            words[j] = words[i];
            words[i] = kept;
        }
}

TEST(zeros_of_different_length_have_different_hashes)
{
    unsigned char zeros[300] = {0};
    for (size_t size = 1; size < sizeof zeros; size++)
        CHECK(hash_of(zeros, size) != hash_of(zeros, size - 1));
}

TEST(the_hash_of_known_bytes_never_changes)
{
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    CHECK_EQ_U(hash_of(NULL, 0), UINT64_C(0x0));
    CHECK_EQ_U(hash_of("a", 1), UINT64_C(0xa75d895f86835144));
    CHECK_EQ_U(hash_of(bytes, sizeof bytes), UINT64_C(0x9c84d6d3d2ae9d09));
}

#if defined(__x86_64__)
static void check_kernel(blocks_fn kernel)
{
    unsigned char bytes[ROOM], copy[ROOM];
    fill_bytes(bytes, sizeof bytes, 11);
    for (size_t blocks = 1; blocks <= ROOM / 64; blocks++) {
        struct tg_hash hash;
        tg_hash_init(&hash);
        kernel(&hash, copy, bytes, blocks);
        CHECK_EQ_U(tg_hash_final(&hash, blocks * 64), model_hash(bytes, blocks * 64));
        CHECK_EQ_MEM(copy, bytes, blocks * 64);
        tg_hash_init(&hash);
        kernel(&hash, NULL, bytes, blocks);
        CHECK_EQ_U(tg_hash_final(&hash, blocks * 64), model_hash(bytes, blocks * 64));
    }
}

TEST(the_sse2_kernel_agrees_with_the_model)
{
    check_kernel(add_sse2);
}

TEST(the_avx2_kernel_agrees_with_the_model)
{
    if (!__builtin_cpu_supports("avx2"))
        SKIP("this processor has no AVX2");
    check_kernel(add_avx2);
}
#endif

TEST_MAIN()
