/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text on its way into a file, with its own numbers: a manifest has tens of them per record, and
 * printf would be most of its time. The first failure is kept (`cause`, an errno) and makes the
 * rest do nothing.
 */
#ifndef TG_BASE_OUT_H
#define TG_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TG_OUT_ROOM = 1 << 18 };

struct tg_out {
    int fd;
    int cause;
    uint64_t written;
    size_t used;
    char buffer[TG_OUT_ROOM];
};

void tg_out_start(struct tg_out *out, int fd);
/* 0, or the errno of what failed. */
int tg_out_finish(struct tg_out *out);

/* A place for at most `most` bytes; the caller adds what it used to out->used. */
char *tg_out_place(struct tg_out *out, size_t most);
void tg_out_bytes(struct tg_out *out, const char *bytes, size_t size);

static inline void tg_out_text(struct tg_out *out, const char *text)
{
    tg_out_bytes(out, text, strlen(text));
}

void tg_out_uint(struct tg_out *out, uint64_t value);
void tg_out_int(struct tg_out *out, int64_t value);
/* "0x" and 16 digits, in quotes. */
void tg_out_hex(struct tg_out *out, uint64_t value);
void tg_out_bool(struct tg_out *out, bool value);
/* In quotes; `text` is UTF-8 without control characters (tg_name_clean). */
void tg_out_string(struct tg_out *out, const char *text);
/* As few digits as give the same float (or double) again; "NaN", "Infinity" and "-Infinity" as
 * strings, since JSON has no such numbers. */
void tg_out_float(struct tg_out *out, float value);
void tg_out_double(struct tg_out *out, double value);

#endif
