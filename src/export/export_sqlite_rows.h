/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows into a SQLite database:
 *
 *     tg_row_open(&db, "INSERT INTO tasks VALUES (?, ?, ?)", &row)
 *     tg_row_int(&row, 12);  tg_row_text(&row, "add");  tg_row_null(&row);
 *     status = tg_row_put(&row);      and from the first column again
 *     tg_row_close(&row);
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

struct tg_db {
    sqlite3 *handle;
    tg_status status;
    struct tg_error *error;
};

struct tg_row {
    struct tg_db *db;
    sqlite3_stmt *statement;
    int column;
};

/* Opens an empty file that exists already. No other program reads it yet, and an incomplete
 * database is removed, so no journal is kept. */
void tg_db_open(struct tg_db *db, const char *path, struct tg_error *error);
void tg_db_run(struct tg_db *db, const char *sql);
/* Returns db->status. */
tg_status tg_db_close(struct tg_db *db);

void tg_row_open(struct tg_db *db, const char *sql, struct tg_row *row);
void tg_row_close(struct tg_row *row);
/* Returns false after an error. */
bool tg_row_put(struct tg_row *row);

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
