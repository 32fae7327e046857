/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON that somebody else wrote, one token after the other, out of memory:
 *
 *     struct tg_pull pull;
 *     tg_pull_start(&pull, text, size);
 *     while ((token = tg_pull_next(&pull)) > TG_PULL_END) …
 *
 * It allocates nothing and never recurses; nesting deeper than TG_PULL_MAX_DEPTH is an error.
 * Strict JSON (RFC 8259) but for one thing: bytes in strings need not be UTF-8. Numbers stay text,
 * so that 64-bit integers are exact. Keys may repeat: what that means is the caller's business.
 */
#ifndef TG_BASE_JSON_PULL_H
#define TG_BASE_JSON_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TG_PULL_MAX_DEPTH = 64 };

enum tg_pull_token {
    TG_PULL_ERROR = 0, /* and from then on; `problem` says why, `at` where */
    TG_PULL_END,       /* the document is over */
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
    const char *value; /* KEY, STRING: between the quotes, escapes as they are; NUMBER */
    size_t length;
    const char *problem;
    enum tg_pull_token token; /* the last one */
    unsigned depth;
    unsigned expects;   /* private: what the grammar wants next */
    uint64_t is_object; /* bit d: container at depth d */
};

void tg_pull_start(struct tg_pull *pull, const char *text, size_t size);
enum tg_pull_token tg_pull_next(struct tg_pull *pull);

/* Having got a token that begins a value: passes over the rest of it. False: an error. */
bool tg_pull_skip(struct tg_pull *pull);
/* The caller found something wrong: next gives ERROR from now on. */
enum tg_pull_token tg_pull_fail(struct tg_pull *pull, const char *problem);

/* The last KEY or STRING without its escapes (as UTF-8), cut to `room` with its zero; gives the
 * length. A zero character in it becomes U+FFFD, as do halves of surrogate pairs. */
size_t tg_pull_text(const struct tg_pull *pull, char *text, size_t room);
/* Whether the last KEY or STRING is this word, which has no escapes. */
bool tg_pull_is(const struct tg_pull *pull, const char *word);

/* The last NUMBER or STRING as an integer: decimal, or "0x…" in a string. False where it is none or
 * does not fit. */
bool tg_pull_u64(const struct tg_pull *pull, uint64_t *value);
bool tg_pull_i64(const struct tg_pull *pull, int64_t *value);
/* The last NUMBER; false for anything else. Too large ones are infinite. */
bool tg_pull_double(const struct tg_pull *pull, double *value);

/* Which line the reader is in, from 1. */
unsigned long tg_pull_line(const struct tg_pull *pull);

#endif
