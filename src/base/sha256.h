/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4), for the one place where an attacker chooses the bytes and gains from a
 * collision: whether a module is one that the user has run. Records use common/hash.h, which is
 * faster and protects from accidents only.
 */
#ifndef TG_BASE_SHA256_H
#define TG_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { TG_SHA256_BYTES = 32, TG_SHA256_TEXT = 65 };

struct tg_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char rest[64]; /* the bytes that do not fill a block yet */
};

void tg_sha256_start(struct tg_sha256 *hash);
void tg_sha256_add(struct tg_sha256 *hash, const void *bytes, size_t size);
/* As 64 hexadecimal digits and a zero. The hash cannot be continued. */
void tg_sha256_end(struct tg_sha256 *hash, char text[TG_SHA256_TEXT]);

#endif
