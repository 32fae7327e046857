/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>

char *tg_base64(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(size / 3 * 4 + 5);
    size_t used = 0;
    for (size_t at = 0; text && at < size; at += 3) {
        size_t left = size - at;
        uint32_t word = (uint32_t)bytes[at] << 16 | (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                        (left > 2 ? bytes[at + 2] : 0);
        for (size_t i = 0; i < (left > 2 ? 4 : left + 1); i++)
            text[used++] = digits[word >> (18 - 6 * i) & 63];
    }
    if (text)
        text[used] = '\0';
    return text;
}
