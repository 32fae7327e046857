/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer while it is made. A request's function writes one of these, and returns a status; an error becomes a
 * JSON object with the status of HTTP that fits.
 *
 *   JSON      tg_answer_json begins, the caller writes with the functions of taskglass/json.h into it
 *   columns   tg_answer_column adds them, and tg_answer_json begins the header behind the last of them; columns that
 *             stay in an open run are not copied: tg_answer_share
 *   a file    tg_answer_file: some bytes made here, and bytes of the recording behind them, which are not copied
 *
 * The answer is bounded: what grows beyond TG_ANSWER_MOST is refused with 413.
 */
#ifndef TG_WORKBENCH_ANSWER_H
#define TG_WORKBENCH_ANSWER_H

#include <taskglass/json.h>
#include <taskglass/workbench.h>

enum { TG_ANSWER_COLUMNS = 24, TG_ANSWER_ALIGN = 8 };
#define TG_ANSWER_MOST (UINT64_C(512) << 20)

enum tg_column_type {
    TG_COLUMN_U8,
    TG_COLUMN_U16,
    TG_COLUMN_U32,
    TG_COLUMN_U64,
    TG_COLUMN_F32,
    TG_COLUMN_F64
};

struct tg_answer_column {
    const char *name; /* static */
    enum tg_column_type type;
    uint64_t count;
    size_t offset; /* from the end of the header */
};

/* Columns, one after the other, as an answer has them. */
struct tg_columns {
    unsigned char *bytes;
    size_t used, room;
    struct tg_answer_column column[TG_ANSWER_COLUMNS];
    unsigned count;
};

/* Adds a column of elements that are not initialised. What was there may move: ask tg_columns_at behind the last.
 * NO_MEMORY; UNSUPPORTED if they would be larger than an answer may be. */
tg_status tg_columns_add(struct tg_columns *columns, const char *name, enum tg_column_type type,
                         uint64_t count, struct tg_error *error);
/* The elements of column `number`, in the order of adding. */
void *tg_columns_at(const struct tg_columns *columns, unsigned number);
void tg_columns_free(struct tg_columns *columns);

struct tg_bench_run;

struct tg_answer {
    struct tg_json json; /* of a JSON answer, or of the header of columns */
    FILE *stream;        /* collects its text */
    bool is_object;      /* an object is open */
    char *text;
    size_t size;
    struct tg_columns columns;
    const struct tg_columns *shared; /* of `run`, in place of `columns`; NULL */
    bool is_too_large;               /* more was to be added than an answer may have */
    char file[256];                  /* of a download */
    const void *mapped;              /* bytes of a recording, behind `text` */
    size_t mapped_size;
    struct tg_bench_run *run; /* kept open as long as the answer needs `shared` or `mapped`; NULL */
};

/* Begins a JSON document, or the header of columns: an object is open, and tg_answer_finish ends it. */
tg_status tg_answer_json(struct tg_answer *answer, struct tg_error *error);
/* The same without an object: the caller writes the whole value. */
tg_status tg_answer_value(struct tg_answer *answer, struct tg_error *error);

/* Adds a column and returns room for its elements, which the caller fills before it adds the next one; NULL: no memory,
 * or the answer is too large, as *error says. */
void *tg_answer_column(struct tg_answer *answer, const char *name, enum tg_column_type type,
                       uint64_t count, struct tg_error *error);

/* The answer has these columns, which must not change; the run that they belong to is kept open. */
void tg_answer_share(struct tg_answer *answer, const struct tg_columns *columns,
                     struct tg_bench_run *run);

/* A file to download: `size` bytes at `head` are copied, those at `mapped` are not; `run` is kept open for them. */
tg_status tg_answer_file(struct tg_answer *answer, const char *name, const void *head, size_t size,
                         struct tg_bench_run *run, const void *mapped, size_t mapped_size,
                         struct tg_error *error);

/* Makes the public answer of what was written, or of the error; never fails. Frees `answer`. */
void tg_answer_finish(struct tg_answer *answer, tg_status status, const struct tg_error *error,
                      struct tg_workbench_answer *made);

#endif
