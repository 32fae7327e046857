/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON from memory, one token after the other. The text may come from any writer:
 *
 *     struct tg_pull pull;
 *     tg_pull_start(&pull, text, size);
 *     while ((token = tg_pull_next(&pull)) > TG_PULL_END) …
 *
 * It allocates nothing and never recurses; nesting deeper than TG_PULL_MAX_DEPTH is an error.
 * Strict JSON (RFC 8259) but for one thing: bytes in strings need not be UTF-8. Numbers stay text,
 * so that 64-bit integers are exact. Keys may repeat: the caller decides what that means. A string of more
 * than 64 MiB is an error.
 */
#ifndef TG_BASE_JSON_PULL_H
#define TG_BASE_JSON_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tg_map;

enum { TG_PULL_MAX_DEPTH = 64 };

enum tg_pull_token {
    TG_PULL_ERROR = 0, /* every later call returns it too; `problem` says why, `at` where */
    TG_PULL_END,       /* the end of the document */
    TG_PULL_BEGIN_OBJECT,
    TG_PULL_END_OBJECT,
    TG_PULL_BEGIN_ARRAY,
    TG_PULL_END_ARRAY,
    TG_PULL_KEY,
    TG_PULL_STRING,
    TG_PULL_NUMBER,
    TG_PULL_TRUE,
    TG_PULL_FALSE,
    TG_PULL_NULL
};

struct tg_pull {
    const char *text;
    size_t size, at;
    const char *value; /* KEY, STRING: between the quotes, escapes undecoded; NUMBER */
    size_t length;
    const char *problem;
    enum tg_pull_token token; /* the last one */
    unsigned depth;
    unsigned expects;         /* private: what the grammar allows next */
    uint64_t is_object;       /* bit d: container at depth d */
    const struct tg_map *map; /* the text's, whose memory is given back on the way; may be NULL */
    size_t released;          /* bytes of it */
};

void tg_pull_start(struct tg_pull *pull, const char *text, size_t size);
/* The same for a file of any size: only a part of it stays in memory. The map must outlive the reader. */
void tg_pull_start_map(struct tg_pull *pull, const struct tg_map *map);
enum tg_pull_token tg_pull_next(struct tg_pull *pull);

/* Skips the rest of the value that the last token began. False: an error. */
bool tg_pull_skip(struct tg_pull *pull);
/* For errors that the caller finds: tg_pull_next returns ERROR from now on. */
enum tg_pull_token tg_pull_fail(struct tg_pull *pull, const char *problem);

/* Copies the last KEY or STRING with its escapes decoded (as UTF-8), cut to `room` bytes including
 * its zero; returns the length. A zero character becomes U+FFFD, and so does half of a surrogate
 * pair. */
size_t tg_pull_text(const struct tg_pull *pull, char *text, size_t room);
/* True if the last KEY or STRING is this word; the word must not need escapes. */
static inline bool tg_pull_is(const struct tg_pull *pull, const char *word)
{
    size_t length = strlen(word); /* of a literal, the compiler knows it */
    return pull->length == length && memcmp(pull->value, word, length) == 0;
}

/* The last NUMBER or STRING as an integer: decimal, or "0x…" in a string. False if it is not an
 * integer or does not fit. */
bool tg_pull_u64(const struct tg_pull *pull, uint64_t *value);
bool tg_pull_i64(const struct tg_pull *pull, int64_t *value);
/* The last NUMBER; false for anything else. A number too large for a double becomes infinity. */
bool tg_pull_double(const struct tg_pull *pull, double *value);

/* The line that the reader is in, counted from 1. */
unsigned long tg_pull_line(const struct tg_pull *pull);

#endif
