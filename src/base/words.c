/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include <string.h>
#include <taskglass/wire/record.h>

struct tg_word tg_word_of(const char *text)
{
    return (struct tg_word){text, strlen(text)};
}

bool tg_word_next(struct tg_word *rest, char separator, struct tg_word *piece)
{
    const char *end;
    if (rest->text == NULL)
        return false;
    end = memchr(rest->text, separator, rest->length);
    piece->text = rest->text;
    piece->length = end ? (size_t)(end - rest->text) : rest->length;
    if (end) {
        rest->text = end + 1;
        rest->length -= piece->length + 1;
    } else {
        rest->text = NULL; /* the last piece has been taken */
        rest->length = 0;
    }
    return true;
}

bool tg_word_is(struct tg_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

bool tg_word_number(struct tg_word word, uint64_t *number)
{
    bool hex = word.length > 2 && word.text[0] == '0' && (word.text[1] | 32) == 'x';
    uint64_t base = hex ? 16 : 10, value = 0;
    size_t i = hex ? 2 : 0;
    if (word.length == 0)
        return false;
    for (; i < word.length; i++) {
        uint64_t digit = (uint64_t)digit_of(word.text[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value;
    return true;
}

bool tg_word_task(struct tg_word word, uint64_t *task)
{
    struct tg_word rest = word, ring;
    uint64_t high, low;
    if (memchr(word.text, ':', word.length) == NULL)
        return tg_word_number(word, task);
    tg_word_next(&rest, ':', &ring);
    if (!tg_word_number(ring, &high) || !tg_word_number(rest, &low) || high > UINT32_MAX ||
        low > UINT32_MAX)
        return false;
    *task = high << 32 | low;
    return true;
}

bool tg_word_range(struct tg_word word, tg_word_parse_fn parse, uint64_t *first, uint64_t *last)
{
    struct tg_word rest = word, piece;
    if (!tg_word_next(&rest, '-', &piece) || !parse(piece, first))
        return false;
    *last = *first;
    if (rest.text == NULL)
        return true;
    return parse(rest, last) && *first <= *last;
}

/* A word as files have it, and the shorter one that users type. */
struct choice {
    const char *word, *option;
    unsigned number;
};

static uint32_t bit_of(struct tg_word word, const struct choice *choice, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tg_word_is(word, choice[i].word) || tg_word_is(word, choice[i].option))
            return 1u << choice[i].number;
    return 0;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

uint32_t tg_word_stage(struct tg_word word)
{
#define STAGE(constant, number, word, option, shortest) {(word), (option), (number)},
    static const struct choice stages[] = {TG_STAGE_MAP(STAGE)};
    return bit_of(word, stages, COUNT(stages));
}

uint32_t tg_word_role(struct tg_word word)
{
#define ROLE(constant, number, word, option) {(word), (option), (number)},
    static const struct choice roles[] = {TG_ROLE_MAP(ROLE)};
    return tg_word_is(word, "scalar") ? 1u : bit_of(word, roles, COUNT(roles));
}

uint32_t tg_word_kind(struct tg_word word)
{
#define KIND(constant, number, word, meaning) {(word), (word), (number)},
    static const struct choice kinds[] = {TG_KIND_MAP(KIND)};
    return bit_of(word, kinds, COUNT(kinds));
}

/* Does not recurse: after a mismatch the last star takes one character more. */
bool tg_word_fits(struct tg_word pattern, const char *text)
{
    size_t p = 0, star = SIZE_MAX;
    const char *retry = text;
    while (*text) {
        if (p < pattern.length && pattern.text[p] == '*') {
            star = p++;
            retry = text;
        } else if (p < pattern.length && (pattern.text[p] == '?' || pattern.text[p] == *text)) {
            p++;
            text++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.length && pattern.text[p] == '*')
        p++;
    return p == pattern.length;
}
