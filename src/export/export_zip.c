/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_zip.h"

#include <string.h>

#define LIMIT UINT32_MAX /* this value means that the extension has the number */

enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR = 0x07064b50,
    EXTENSION = 1,
    VERSION = 20,
    VERSION64 = 45,
    OLDEST_DATE = 0x21, /* 1 January 1980 */
    UTF8 = 0x800,
};

static unsigned char *put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

static uint64_t clamp(uint64_t value)
{
    return value < LIMIT ? value : LIMIT;
}

static unsigned char *put_name(unsigned char *at, const struct tg_zip_entry *entry)
{
    size_t length = strlen(entry->name);
    memcpy(at, entry->name, length);
    return at + length;
}

/* The fields from version to sizes, which both heads share. */
static unsigned char *put_common(unsigned char *at, const struct tg_zip_entry *entry, int version)
{
    at = put(at, (uint64_t)version, 2);
    at = put(at, UTF8, 2);
    at = put(at, 0, 2); /* stored */
    at = put(at, 0, 2); /* midnight */
    at = put(at, OLDEST_DATE, 2);
    at = put(at, entry->crc, 4);
    at = put(at, clamp(entry->size), 4);
    return put(at, clamp(entry->size), 4);
}

size_t tg_zip_local_head(const struct tg_zip_entry *entry, unsigned char part[TG_ZIP_PART])
{
    uint64_t extension = entry->size >= LIMIT ? 16 : 0;
    unsigned char *at = put(part, LOCAL, 4);
    at = put_common(at, entry, extension ? VERSION64 : VERSION);
    at = put(at, strlen(entry->name), 2);
    at = put(at, extension ? extension + 4 : 0, 2);
    at = put_name(at, entry);
    if (extension) {
        at = put(put(at, EXTENSION, 2), extension, 2);
        at = put(put(at, entry->size, 8), entry->size, 8);
    }
    return (size_t)(at - part);
}

size_t tg_zip_central_head(const struct tg_zip_entry *entry, unsigned char part[TG_ZIP_PART])
{
    uint64_t extension = (entry->size >= LIMIT ? 16 : 0) + (entry->offset >= LIMIT ? 8 : 0);
    int version = extension ? VERSION64 : VERSION;
    unsigned char *at = put(part, CENTRAL, 4);
    at = put(at, (uint64_t)version, 2);
    at = put_common(at, entry, version);
    at = put(at, strlen(entry->name), 2);
    at = put(at, extension ? extension + 4 : 0, 2);
    at = put(put(at, 0, 6), 0, 4); /* comment, disk, attributes */
    at = put(at, clamp(entry->offset), 4);
    at = put_name(at, entry);
    if (extension)
        at = put(put(at, EXTENSION, 2), extension, 2);
    if (entry->size >= LIMIT)
        at = put(put(at, entry->size, 8), entry->size, 8);
    if (entry->offset >= LIMIT)
        at = put(at, entry->offset, 8);
    return (size_t)(at - part);
}

static unsigned char *put_end64(unsigned char *at, uint64_t entries, uint64_t where, uint64_t size)
{
    at = put(at, END64, 4);
    at = put(at, 56 - 12, 8); /* size of the rest of this part */
    at = put(put(at, VERSION64, 2), VERSION64, 2);
    at = put(put(at, 0, 4), 0, 4); /* disks */
    at = put(put(at, entries, 8), entries, 8);
    at = put(put(at, size, 8), where, 8);
    at = put(put(at, LOCATOR, 4), 0, 4);
    at = put(at, where + size, 8);
    return put(at, 1, 4);
}

size_t tg_zip_end(uint64_t entries, uint64_t where, uint64_t size, unsigned char part[TG_ZIP_END])
{
    uint64_t few = entries < UINT16_MAX ? entries : UINT16_MAX;
    unsigned char *at = part;
    if (few == UINT16_MAX || where >= LIMIT || size >= LIMIT)
        at = put_end64(at, entries, where, size);
    at = put(at, END, 4);
    at = put(put(at, 0, 2), 0, 2); /* disks */
    at = put(put(at, few, 2), few, 2);
    at = put(put(at, clamp(size), 4), clamp(where), 4);
    at = put(at, 0, 2);
    return (size_t)(at - part);
}

void tg_crc_init(struct tg_crc *crc)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
        crc->table[0][i] = value;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++)
            crc->table[k][i] =
                crc->table[k - 1][i] >> 8 ^ crc->table[0][crc->table[k - 1][i] & 0xff];
}

uint32_t tg_crc_update(const struct tg_crc *crc, uint32_t value, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    const uint32_t(*table)[256] = crc->table;
    value = ~value;
    for (; size >= 8; size -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= value;
        value = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^
                table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
                table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
    }
    for (; size > 0; size--)
        value = value >> 8 ^ table[0][(value ^ *at++) & 0xff];
    return ~value;
}
