/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON as a stream: text is passed on at once, and the writer keeps only the nesting.
 *
 *     struct tg_json json;
 *     tg_json_start(&json, file);
 *     tg_json_begin_object(&json);
 *     tg_json_key(&json, "tasks");
 *     tg_json_uint(&json, 12);
 *     tg_json_key(&json, "shape");
 *     tg_json_begin_line_array(&json);
 *     …
 *     tg_json_end_array(&json);
 *     tg_json_end_object(&json);
 *     status = tg_json_finish(&json);
 *
 * The indent is two spaces; a container begun with a `line` call stays on one line with all it
 * holds. The writer keeps the first error, and all later calls do nothing, so only the end needs a
 * check.
 *
 * The text goes to a FILE, or into a buffer of the caller's that is written to a file descriptor
 * each time it is full. A buffer is several times faster, which a manifest of a million records
 * needs. To keep the text in memory, give a buffer without a file descriptor; if its size is not
 * known beforehand, give a FILE from open_memstream.
 *
 * The caller owns the file, the buffer, the descriptor and the writer. A writer belongs to one
 * thread at a time. Only the functions below may use its members.
 */
#ifndef TASKGLASS_JSON_H
#define TASKGLASS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TG_JSON_MAX_DEPTH = 32 };

/* A writer. Its members belong to the functions below. */
struct tg_json {
    FILE *file; /* NULL: the buffer */
    char *buffer;
    size_t used, room;
    int fd;            /* -1: the text stays in the buffer */
    uint64_t position; /* in the file, of the buffer's first byte */
    tg_status status;  /* the first failure */
    int cause;         /* its errno, 0 if it has none */
    unsigned depth;
    bool has_key;    /* a key has been written, its value has not */
    bool ended_line; /* a document has ended, and none has begun since */
    /* An object or array that is open. */
    struct tg_json_level {
        bool is_object;
        bool one_line;
        bool has_members;
    } level[TG_JSON_MAX_DEPTH + 1]; /* level[0] is the document itself */
};

/* Writes to `file`, which the caller keeps and closes. */
TG_API void tg_json_start(struct tg_json *json, FILE *file);
/* Writes to `fd` from `position` on. With -1 the text stays in the buffer: json->used bytes without
 * a zero byte at the end; text that does not fit is NO_MEMORY. */
TG_API void tg_json_start_buffer(struct tg_json *json, char *buffer, size_t room, int fd,
                                 uint64_t position);

/*
 * Ends the document with a newline and flushes it. Returns IO_ERROR if something could not be
 * written (errno says why), BAD_ARGUMENT if the calls did not make one JSON value. The writer is
 * then ready for another document in the same file, which makes JSON Lines.
 */
TG_API tg_status tg_json_finish(struct tg_json *json);
/* The same without flushing, for many short documents; a failure is kept until tg_json_finish. */
TG_API void tg_json_end_line(struct tg_json *json);
/* Writes what the buffer holds; it may be called in the middle of a document. */
TG_API void tg_json_flush(struct tg_json *json);

/* Begin and end an object or an array. A line object or line array, with all that is in it, is
 * written on one line. */
TG_API void tg_json_begin_object(struct tg_json *json);
TG_API void tg_json_begin_line_object(struct tg_json *json);
TG_API void tg_json_end_object(struct tg_json *json);
TG_API void tg_json_begin_array(struct tg_json *json);
TG_API void tg_json_begin_line_array(struct tg_json *json);
TG_API void tg_json_end_array(struct tg_json *json);

/* The name of the next value; required in objects, and allowed only there. */
TG_API void tg_json_key(struct tg_json *json, const char *key);
/* The same for a literal without characters that JSON escapes, so that the writer need not search
 * for them. */
#define TG_JSON_KEY(json, key) tg_json_plain_key((json), "" key "", sizeof(key) - 1)
TG_API void tg_json_plain_key(struct tg_json *json, const char *key, size_t length);

/* NULL gives null; bytes that are not UTF-8 become U+FFFD. Characters that tg_text_clean (text.h) would
 * replace are written as \u escapes. */
TG_API void tg_json_string(struct tg_json *json, const char *value);
/* For numbers that stay within 2^53, where every reader is exact; tg_json_hex for the others. */
TG_API void tg_json_int(struct tg_json *json, int64_t value);
TG_API void tg_json_uint(struct tg_json *json, uint64_t value);
/* In quotes, for integers beyond 2^53 that should read as numbers. */
TG_API void tg_json_quoted_int(struct tg_json *json, int64_t value);
TG_API void tg_json_quoted_uint(struct tg_json *json, uint64_t value);
/* "0x" and 16 digits, as a string. */
TG_API void tg_json_hex(struct tg_json *json, uint64_t value);
/* The fewest digits that identify the double, always recognisable as a real (`10.0`, `1e+30`);
 * "NaN", "Infinity" and "-Infinity" are strings, since JSON has no such numbers. */
TG_API void tg_json_real(struct tg_json *json, double value);
/* The same with the fewest digits that identify the float. */
TG_API void tg_json_float(struct tg_json *json, float value);
/* One element of a tensor, by its bits. A float32 or float64 has the fewest digits from which a reader
 * of that type gets exactly the element; every shorter float is written so that a reader of doubles
 * gets exactly its value, because few readers have its type. A 64-bit integer is in quotes. null if
 * `dtype` is not a type. */
TG_API void tg_json_value(struct tg_json *json, unsigned dtype, uint64_t bits);
TG_API void tg_json_bool(struct tg_json *json, bool value);
TG_API void tg_json_null(struct tg_json *json);

/* Writes a name and its value at once, for the members of an object. */
TG_API void tg_json_put_string(struct tg_json *json, const char *key, const char *value);
TG_API void tg_json_put_uint(struct tg_json *json, const char *key, uint64_t value);
TG_API void tg_json_put_hex(struct tg_json *json, const char *key, uint64_t value);
TG_API void tg_json_put_real(struct tg_json *json, const char *key, double value);
TG_API void tg_json_put_bool(struct tg_json *json, const char *key, bool value);

#ifdef __cplusplus
}
#endif
#endif
