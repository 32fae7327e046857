/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest, tensor_dump.json: everything the journal says, for people and for programs that
 * read JSON. The writer reads an open recording record by record and writes one line for each. It
 * counts the records that it lists; the numbers of lost records come from the journal's summary.
 */
#ifndef TG_RECORDING_MANIFEST_H
#define TG_RECORDING_MANIFEST_H

#include <taskglass/recording.h>

#include <taskglass/json.h>
#include <taskglass/wire/journal.h>

enum { TG_MANIFEST_VERSION = 2 };

/* Writes dir/tensor_dump.json under a temporary name and renames it when it is whole. IO_ERROR
 * names path and cause. */
tg_status tg_manifest_write(const struct tg_recording *recording, const char *dir,
                            struct tg_error *error);
/* Writes the text itself, from the file's beginning. Returns 0 or an errno. */
int tg_manifest_print(const struct tg_recording *recording, int fd);

/* Longer than any entry: three names of 255 bytes, each byte as \\u0000, are most of it. */
enum { TG_MANIFEST_LINE = 1 << 13 };

/* The text that the records of one argument share (manifest_entry.c), and of what it was made. */
enum { TG_MANIFEST_PIECES = 256, TG_MANIFEST_PIECE = 504 };
struct tg_manifest_key {
    uint64_t words; /* flags, ndim, arg_index, stage, role, kind, dtype */
    uint32_t kernel[TG_PARTS], reserved;
    const char *name[TG_PARTS];
    int64_t shape[TG_MAX_DIMS], strides[TG_MAX_DIMS];
};
struct tg_manifest_piece {
    struct tg_manifest_key key;
    uint32_t size; /* 0: free */
    char text[TG_MANIFEST_PIECE];
};
/* The place of a key in a table of that size. All bits of `x` count. */
static inline unsigned tg_manifest_place(uint64_t x)
{
    return (unsigned)((x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15) >> 56) % TG_MANIFEST_PIECES;
}
/* Zeros at first. Belongs to one thread, and to the recording whose names it points to. */
struct tg_manifest_pieces {
    struct tg_manifest_piece piece[TG_MANIFEST_PIECES];
};

/* One entry: an object without white space. `to` has room for TG_MANIFEST_LINE bytes. Returns the length of
 * the text. */
size_t tg_manifest_put_entry(struct tg_manifest_pieces *pieces, const struct tg_entry *entry,
                             char *to);
/* The part of an entry that depends on the argument alone: kernels, shape, flags. */
char *tg_manifest_put_common(char *at, const struct tg_entry *entry);

/* Texts of entries by the slots of the journal that give them (manifest_slot.c). */
enum { TG_MANIFEST_KEY = 8 };
struct tg_manifest_line {
    uint64_t key[TG_MANIFEST_KEY];
    uint32_t front_size; /* 0: free */
    uint32_t middle_size;
    char front[448];
    char middle[56];
};
/* Zeros at first. Belongs to one thread, and to one journal. */
struct tg_manifest_lines {
    struct tg_manifest_line line[TG_MANIFEST_PIECES];
};

/* As tg_manifest_put_entry for the record of a slot, if tg_manifest_learn was given one like it; else
 * returns 0. The slot may have any bytes. */
size_t tg_manifest_put_slot(const struct tg_manifest_lines *lines,
                            const struct tg_record_packed *slot, char *to);
/* `entry`: the record of that slot, confined, and the names of its kernels. */
void tg_manifest_learn(struct tg_manifest_lines *lines, const struct tg_record_packed *slot,
                       const struct tg_entry *entry);

/* What stands before the entries, up to the bracket that opens their list. `counted`: the records,
 * added up. */
void tg_manifest_put_head(struct tg_json *json, const struct tg_recording *recording,
                          const struct tg_record_summary *counted);

/* The sum at the end of an entry (docs/wire-format.md, 7): 24 bits, as four digits. */
enum { TG_TEXT_SUM_DIGITS = 4 };
/* Of a text without white space outside strings. */
uint32_t tg_text_sum_plain(const char *text, size_t size);
void tg_text_sum_digits(uint32_t sum, char digits[TG_TEXT_SUM_DIGITS]);

#endif
