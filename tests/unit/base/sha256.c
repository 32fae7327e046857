/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"
#include "test.h"

static const char *hash_of(const void *bytes, size_t size, size_t piece)
{
    static char text[TG_SHA256_TEXT];
    struct tg_sha256 hash;
    tg_sha256_start(&hash);
    for (size_t at = 0; at < size; at += piece)
        tg_sha256_add(&hash, (const char *)bytes + at, size - at < piece ? size - at : piece);
    tg_sha256_end(&hash, text);
    return text;
}

/* From FIPS 180-4's examples. */
TEST(known_texts_have_their_known_hashes)
{
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char many[1000000];
    memset(many, 'a', sizeof many);
    CHECK_EQ_S(hash_of("", 0, 1),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_EQ_S(hash_of("abc", 3, 3),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_EQ_S(hash_of(two, strlen(two), 64),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_EQ_S(hash_of(many, sizeof many, 65536),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(the_hash_does_not_depend_on_the_pieces)
{
    char bytes[300], whole[TG_SHA256_TEXT];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        strcpy(whole, hash_of(bytes, size, sizeof bytes));
        CHECK_EQ_S(hash_of(bytes, size, 1), whole);
        CHECK_EQ_S(hash_of(bytes, size, 63), whole);
        CHECK_EQ_S(hash_of(bytes, size, 65), whole);
    }
}

TEST_MAIN()
