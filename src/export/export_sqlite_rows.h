/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows into a SQLite database:
 *
 *     tg_row_open(&db, "INSERT INTO tasks", 3, "", &row)
 *     tg_row_int(&row, 12);  tg_row_text(&row, "add");  tg_row_null(&row);
 *     tg_row_put(&row);               and from the first column again
 *     tg_row_close(&row);
 *
 * Rows are collected, and one statement inserts all of a batch: a statement for each row would spend more
 * time on starting and ending than on the row. So the database has all rows only after tg_row_close.
 *
 * The first error is kept in db->status and db->error, and all later calls do nothing, so that only
 * the end needs a check.
 */
#ifndef TG_EXPORT_EXPORT_SQLITE_ROWS_H
#define TG_EXPORT_EXPORT_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>

struct tg_row;

/* Where SQLite opens files (export_sqlite_db.c). */
struct tg_db_files {
    sqlite3_vfs vfs; /* first, because SQLite hands a pointer to it to our function */
    sqlite3_vfs *system;
    char name[40];
    char *temporary; /* the path of temporary files; they lose it at once */
};

struct tg_db {
    sqlite3 *handle;
    struct tg_db_files files;
    struct tg_row *batch; /* whose rows the statement that runs inserts */
    tg_status status;
    struct tg_error *error;
};

struct tg_row {
    struct tg_db *db;
    sqlite3_stmt *statement;
    int columns, column;  /* column: the next one of the row that is being made */
    size_t rows;          /* complete ones in the batch */
    struct tg_cell *cell; /* of the batch, row by row */
    char *text;           /* the bytes of all texts in the batch */
    size_t used, text_room;
};

/* Opens an empty file that exists already. No other program reads it yet, and an incomplete
 * database is removed, so no journal is kept. */
void tg_db_open(struct tg_db *db, const char *path, struct tg_error *error);
void tg_db_run(struct tg_db *db, const char *sql);
/* Notes the first error, with SQLite's code. */
void tg_db_failed(struct tg_db *db, int code);
/* Returns db->status. */
tg_status tg_db_close(struct tg_db *db);

/* `insert` names the table; `conflict` is "", or what to do with a row whose key is taken, as SQL's upsert
 * says it. At most TG_ROW_COLUMNS columns. */
enum { TG_ROW_COLUMNS = 24 };
extern const sqlite3_module tg_batch_module;
void tg_row_open(struct tg_db *db, const char *insert, int columns, const char *conflict,
                 struct tg_row *row);
/* Inserts what is left. */
void tg_row_close(struct tg_row *row);
void tg_row_put(struct tg_row *row);

void tg_row_null(struct tg_row *row);
void tg_row_int(struct tg_row *row, int64_t value);
/* Stored as text if the value is larger than SQLite's integers. */
void tg_row_uint(struct tg_row *row, uint64_t value);
/* NaN becomes NULL, because SQLite has no NaN. */
void tg_row_real(struct tg_row *row, double value);
/* "0x" and 16 digits. */
void tg_row_hex(struct tg_row *row, uint64_t value);
/* Copies the text; NULL becomes SQL's NULL. */
void tg_row_text(struct tg_row *row, const char *text);
void tg_row_text_of(struct tg_row *row, const char *text, size_t length);
/* "[2, 3]" */
void tg_row_numbers(struct tg_row *row, const int64_t *number, int count);
/* An element of a tensor, or a scalar. */
void tg_row_value(struct tg_row *row, unsigned dtype, uint64_t bits);

#endif
