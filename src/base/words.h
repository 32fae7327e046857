/* SPDX-License-Identifier: Apache-2.0 */
/* The words that filters and selections share: ids, ranges, stages, roles, patterns. A word is a
 * piece of a longer text: it has a length, and no zero at its end. */
#ifndef TG_BASE_WORDS_H
#define TG_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_word {
    const char *text;
    size_t length;
};

/* The whole text as one word. */
struct tg_word tg_word_of(const char *text);
/* Takes the next piece, up to the separator or the end, off the rest; false if nothing is left. A
 * text with n separators has n + 1 pieces. */
bool tg_word_next(struct tg_word *rest, char separator, struct tg_word *piece);
bool tg_word_is(struct tg_word word, const char *text);

/* "12", "0x1f". False for anything else, and for a number that does not fit in 64 bits. */
bool tg_word_number(struct tg_word word, uint64_t *number);
/* The same, or "ring:index". */
bool tg_word_task(struct tg_word word, uint64_t *task);
/* "A" or "A-B" with A <= B; `parse` is one of the two functions above. */
typedef bool (*tg_word_parse_fn)(struct tg_word word, uint64_t *number);
bool tg_word_range(struct tg_word word, tg_word_parse_fn parse, uint64_t *first, uint64_t *last);

/* The bit of a stage (enum tg_stage), of a role (enum tg_role; 0: scalars), of a kind (enum
 * tg_kind); 0 for an unknown word. */
uint32_t tg_word_stage(struct tg_word word);
uint32_t tg_word_role(struct tg_word word);
uint32_t tg_word_kind(struct tg_word word);

/* True if the pattern, with * and ?, matches the whole text. */
bool tg_word_fits(struct tg_word pattern, const char *text);

#endif
