/* SPDX-License-Identifier: Apache-2.0 */
/* The words that filters and selections share: ids, ranges, stages, roles, patterns. A word is a
 * piece of a longer text and ends where its length says. */
#ifndef TG_BASE_WORDS_H
#define TG_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_word {
    const char *text;
    size_t length;
};

/* A whole text. */
struct tg_word tg_word_of(const char *text);
/* Takes the piece up to the next separator, or the last one, off the rest; false where nothing is
 * left. There is one piece more than there are separators. */
bool tg_word_next(struct tg_word *rest, char separator, struct tg_word *piece);
bool tg_word_is(struct tg_word word, const char *text);

/* "12", "0x1f". False for anything else, also for what does not fit in 64 bits. */
bool tg_word_number(struct tg_word word, uint64_t *number);
/* The same, or "ring:index". */
bool tg_word_task(struct tg_word word, uint64_t *task);
/* "A" or "A-B", A not after B, by either of the above. */
typedef bool (*tg_word_parse_fn)(struct tg_word word, uint64_t *number);
bool tg_word_range(struct tg_word word, tg_word_parse_fn parse, uint64_t *first, uint64_t *last);

/* The bit of a stage (enum tg_stage), of a role (enum tg_role; 0: scalars), of a kind (enum
 * tg_kind); 0 for a word that is none. */
uint32_t tg_word_stage(struct tg_word word);
uint32_t tg_word_role(struct tg_word word);
uint32_t tg_word_kind(struct tg_word word);

/* The whole text against a pattern with * and ?. */
bool tg_word_fits(struct tg_word pattern, const char *text);

#endif
