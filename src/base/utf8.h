/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as RFC 3629 has it. */
#ifndef TG_BASE_UTF8_H
#define TG_BASE_UTF8_H

#include <stddef.h>

/*
 * Length of the character at `text`, of which `left` bytes may be read; 0 where the bytes there are
 * none. The range of the second byte excludes overlong forms, surrogates and numbers past U+10FFFF. A
 * zero byte is no continuation, so a text that ends in one needs no other limit than 4.
 */
static inline size_t tg_utf8_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0], low = 0x80, high = 0xbf;
    size_t length;
    if (first < 0x80)
        return 1;
    length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || length > left)
        return 0;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

#endif
