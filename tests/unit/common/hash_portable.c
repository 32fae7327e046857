/* SPDX-License-Identifier: Apache-2.0 */
/* The hash as computed on processors that have no special kernel. */
#include "test.h"
#include "unit/common/hash_model.h"

#define tg_hash_update portable_update
#define tg_hash_copy portable_copy
#undef __x86_64__
#include "common/hash.c"

TEST(the_portable_kernel_agrees_with_the_model)
{
    unsigned char bytes[1024], copy[1024];
    fill_bytes(bytes, sizeof bytes, 5);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        struct tg_hash hash;
        tg_hash_init(&hash);
        portable_copy(&hash, copy, bytes, size);
        CHECK_EQ_U(tg_hash_final(&hash, size), model_hash(bytes, size));
        CHECK_EQ_MEM(copy, bytes, size);
        tg_hash_init(&hash);
        portable_update(&hash, bytes, size);
        CHECK_EQ_U(tg_hash_final(&hash, size), model_hash(bytes, size));
    }
}

TEST_MAIN()
