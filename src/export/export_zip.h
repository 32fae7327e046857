/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a zip archive as bytes: entries without compression, with the 64-bit extension
 * (zip64) where a number needs it.
 *
 *   ┌ local head, name ┬ bytes ┐ … ┌ central head, name ┐ … ┌ [zip64 end, locator] ┬ end ┐
 *
 * The local head has size and checksum, so that a reader can go from front to back. All times are
 * the oldest that the format has, so that the same records make the same archive.
 */
#ifndef TG_EXPORT_EXPORT_ZIP_H
#define TG_EXPORT_EXPORT_ZIP_H

#include <stddef.h>
#include <stdint.h>

enum { TG_ZIP_NAME = 112, TG_ZIP_PART = 46 + 28 + TG_ZIP_NAME, TG_ZIP_END = 56 + 20 + 22 };

struct tg_zip_entry {
    char name[TG_ZIP_NAME];
    uint32_t crc;
    uint64_t size;
    uint64_t offset; /* of its local head */
};

/* Each returns the number of bytes it has written. */
size_t tg_zip_local_head(const struct tg_zip_entry *entry, unsigned char part[TG_ZIP_PART]);
size_t tg_zip_central_head(const struct tg_zip_entry *entry, unsigned char part[TG_ZIP_PART]);
/* `at` and `size` are the position and size of all central heads together. */
size_t tg_zip_end(uint64_t entries, uint64_t at, uint64_t size, unsigned char part[TG_ZIP_END]);

/* The CRC-32 of zip, computed eight bytes at a time. */
struct tg_crc {
    uint32_t table[8][256];
};
void tg_crc_init(struct tg_crc *crc);
/* Start with value 0. */
uint32_t tg_crc_update(const struct tg_crc *crc, uint32_t value, const void *bytes, size_t size);

#endif
