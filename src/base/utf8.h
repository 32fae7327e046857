/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as RFC 3629 has it, and which of its characters a terminal or a page may be given. */
#ifndef TG_BASE_UTF8_H
#define TG_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The number of the character at `text`, which tg_utf8_length found to have `length` bytes. */
static inline uint32_t tg_utf8_code(const unsigned char *text, size_t length)
{
    static const unsigned char bits_of_first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = text[0] & bits_of_first[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (text[i] & 0x3f);
    return code;
}

/*
 * False for characters that do something instead of being shown: control characters (C0, DEL, C1), line
 * and paragraph separators, marks that change the direction of text, and characters without width, which
 * make two names that differ look the same.
 */
static inline bool tg_code_is_inert(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } active[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5}, {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof active / sizeof active[0] && code >= active[i].first; i++)
        if (code <= active[i].last)
            return false;
    return true;
}

/* Length of the inert character at `text`; 0 if there is none. */
static inline size_t tg_utf8_inert_length(const unsigned char *text, size_t left)
{
    size_t length = tg_utf8_length(text, left);
    return length > 0 && tg_code_is_inert(tg_utf8_code(text, length)) ? length : 0;
}

#endif
