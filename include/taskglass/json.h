/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON as a stream: what is written is on its way, nothing is kept but the nesting.
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
 * Two spaces of indent; a container begun with a `line` call, and all it holds, stays on one
 * line. The first thing that goes wrong is kept and makes the rest do nothing, so only the end
 * needs a check.
 *
 * The text goes to a FILE, or into a buffer of the caller's that is written to a file descriptor
 * each time it is full. A buffer is several times faster, which a manifest of a million records
 * needs. A buffer without a file descriptor is how text stays in memory; where its size is not known
 * before, give the writer an open_memstream.
 *
 * The caller owns the file, the buffer, the descriptor and the writer. A writer belongs to one thread
 * at a time. Its members are for the functions below: start it, hand it on, and leave them alone.
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

struct tg_json {
    FILE *file; /* NULL: the buffer */
    char *buffer;
    size_t used, room;
    int fd;            /* -1: the text stays in the buffer */
    uint64_t position; /* in the file, of the buffer's first byte */
    tg_status status;  /* the first failure */
    int cause;         /* its errno, 0 where there is none */
    unsigned depth;
    bool has_key;    /* a key waits for its value */
    bool ended_line; /* a document has ended, and none has begun since */
    struct tg_json_level {
        bool is_object;
        bool one_line;
        bool has_members;
    } level[TG_JSON_MAX_DEPTH + 1]; /* level[0] is the document itself */
};

TG_API void tg_json_start(struct tg_json *json, FILE *file);
/* `fd` is written to from `position` on. With -1 the text stays in the buffer, json->used bytes of it
 * and no zero behind them; text that does not fit is NO_MEMORY. */
TG_API void tg_json_start_buffer(struct tg_json *json, char *buffer, size_t room, int fd,
                                 uint64_t position);

/*
 * Ends the document with a newline and flushes it. IO_ERROR where something could not be
 * written (errno says why); BAD_ARGUMENT where the calls did not make one JSON value. The writer
 * is then ready for another document in the same file, which makes JSON Lines.
 */
TG_API tg_status tg_json_finish(struct tg_json *json);
/* The same without flushing, for many short documents; a failure is kept until tg_json_finish. */
TG_API void tg_json_end_line(struct tg_json *json);
/* Writes what the buffer holds, in the middle of a document too. */
TG_API void tg_json_flush(struct tg_json *json);

TG_API void tg_json_begin_object(struct tg_json *json);
TG_API void tg_json_begin_line_object(struct tg_json *json);
TG_API void tg_json_end_object(struct tg_json *json);
TG_API void tg_json_begin_array(struct tg_json *json);
TG_API void tg_json_begin_line_array(struct tg_json *json);
TG_API void tg_json_end_array(struct tg_json *json);

/* The name of the next value; wanted in objects, and only there. */
TG_API void tg_json_key(struct tg_json *json, const char *key);
/* The same for a literal without characters that JSON escapes, which need not be searched for. */
#define TG_JSON_KEY(json, key) tg_json_plain_key((json), "" key "", sizeof(key) - 1)
TG_API void tg_json_plain_key(struct tg_json *json, const char *key, size_t length);

/* NULL gives null; bytes that are not UTF-8 become U+FFFD. */
TG_API void tg_json_string(struct tg_json *json, const char *value);
/* For numbers that stay within 2^53, where every reader is exact; tg_json_hex for the others. */
TG_API void tg_json_int(struct tg_json *json, int64_t value);
TG_API void tg_json_uint(struct tg_json *json, uint64_t value);
/* In quotes, for numbers that leave 2^53 and should read as numbers. */
TG_API void tg_json_quoted_int(struct tg_json *json, int64_t value);
TG_API void tg_json_quoted_uint(struct tg_json *json, uint64_t value);
/* "0x" and 16 digits, as a string. */
TG_API void tg_json_hex(struct tg_json *json, uint64_t value);
/* As few digits as give the same double again, always recognisable as a real (`10.0`, `1e+30`);
 * "NaN", "Infinity" and "-Infinity" are strings, since JSON has no such numbers. */
TG_API void tg_json_real(struct tg_json *json, double value);
/* The same with as few digits as give the same float again. */
TG_API void tg_json_float(struct tg_json *json, float value);
TG_API void tg_json_bool(struct tg_json *json, bool value);
TG_API void tg_json_null(struct tg_json *json);

/* A name and its value at once, for the members of an object. */
TG_API void tg_json_put_string(struct tg_json *json, const char *key, const char *value);
TG_API void tg_json_put_uint(struct tg_json *json, const char *key, uint64_t value);
TG_API void tg_json_put_hex(struct tg_json *json, const char *key, uint64_t value);
TG_API void tg_json_put_real(struct tg_json *json, const char *key, double value);
TG_API void tg_json_put_bool(struct tg_json *json, const char *key, bool value);

#ifdef __cplusplus
}
#endif
#endif
