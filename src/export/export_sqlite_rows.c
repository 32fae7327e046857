/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_sqlite_rows.h"

#include <string.h>
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>
#include <taskglass/tensor.h>

#include "base/error.h"
#include <taskglass/json.h>

static void failed(struct tg_db *db, int code)
{
    if (db->status != TG_OK)
        return;
    bool memory = code == SQLITE_NOMEM;
    const char *why = memory       ? "no memory for SQLite"
                      : db->handle ? sqlite3_errmsg(db->handle)
                                   : sqlite3_errstr(code);
    int cause = !memory && db->handle ? sqlite3_system_errno(db->handle) : 0;
    db->status = tg_error_set(db->error, memory ? TG_NO_MEMORY : TG_IO_ERROR, "%s%s%s", why,
                              cause ? ": " : "", cause ? strerror(cause) : "");
}

void tg_db_open(struct tg_db *db, const char *path, struct tg_error *error)
{
    *db = (struct tg_db){.error = error};
    int code = sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK)
        failed(db, code);
    tg_db_run(db, "PRAGMA journal_mode = OFF");
    tg_db_run(db, "PRAGMA synchronous = OFF");
    tg_db_run(db, "PRAGMA locking_mode = EXCLUSIVE");
    tg_db_run(db, "PRAGMA temp_store = MEMORY");
}

void tg_db_run(struct tg_db *db, const char *sql)
{
    if (db->status != TG_OK)
        return;
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        failed(db, code);
}

tg_status tg_db_close(struct tg_db *db)
{
    int code = sqlite3_close(db->handle);
    if (code != SQLITE_OK)
        failed(db, code);
    db->handle = NULL;
    return db->status;
}

void tg_row_open(struct tg_db *db, const char *sql, struct tg_row *row)
{
    *row = (struct tg_row){.db = db};
    if (db->status != TG_OK)
        return;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &row->statement, NULL);
    if (code != SQLITE_OK)
        failed(db, code);
}

void tg_row_close(struct tg_row *row)
{
    sqlite3_finalize(row->statement);
    row->statement = NULL;
}

bool tg_row_put(struct tg_row *row)
{
    struct tg_db *db = row->db;
    row->column = 0;
    if (db->status != TG_OK)
        return false;
    int code = sqlite3_step(row->statement);
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        failed(db, code);
    sqlite3_reset(row->statement);
    return db->status == TG_OK;
}

/* The number of the next column; 0 after an error, when the caller must do nothing. */
static int next(struct tg_row *row)
{
    return row->db->status == TG_OK ? ++row->column : 0;
}

static void check(struct tg_row *row, int code)
{
    if (code != SQLITE_OK)
        failed(row->db, code);
}

void tg_row_null(struct tg_row *row)
{
    int column = next(row);
    if (column > 0)
        check(row, sqlite3_bind_null(row->statement, column));
}

void tg_row_int(struct tg_row *row, int64_t value)
{
    int column = next(row);
    if (column > 0)
        check(row, sqlite3_bind_int64(row->statement, column, value));
}

void tg_row_uint(struct tg_row *row, uint64_t value)
{
    char text[24];
    if (value <= INT64_MAX) {
        tg_row_int(row, (int64_t)value);
        return;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    tg_row_text(row, text);
}

void tg_row_real(struct tg_row *row, double value)
{
    int column = next(row);
    if (column > 0)
        check(row, sqlite3_bind_double(row->statement, column, value));
}

void tg_row_hex(struct tg_row *row, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "0x%016" PRIx64, value);
    tg_row_text(row, text);
}

void tg_row_text_of(struct tg_row *row, const char *text, size_t length)
{
    int column = next(row);
    if (column > 0)
        check(row, sqlite3_bind_text64(row->statement, column, text, length, SQLITE_TRANSIENT,
                                       SQLITE_UTF8));
}

void tg_row_text(struct tg_row *row, const char *text)
{
    int column = next(row);
    if (column > 0)
        check(row, sqlite3_bind_text(row->statement, column, text, -1, SQLITE_TRANSIENT));
}

void tg_row_numbers(struct tg_row *row, const int64_t *number, int count)
{
    char text[TG_MAX_DIMS * 22 + 4];
    struct tg_json json;
    tg_json_start_buffer(&json, text, sizeof text, -1, 0);
    tg_json_begin_line_array(&json);
    for (int i = 0; i < count && i < TG_MAX_DIMS; i++)
        tg_json_int(&json, number[i]);
    tg_json_end_array(&json);
    tg_row_text_of(row, text, json.used);
}

void tg_row_value(struct tg_row *row, unsigned dtype, uint64_t bits)
{
    unsigned width = tg_bits_of(dtype);
    if (width == 0)
        tg_row_null(row);
    else if (dtype == TG_BOOL)
        tg_row_int(row, bits != 0);
    else if (tg_dtype_is_float((int)dtype))
        tg_row_real(row, tg_decode(dtype, bits));
    else if (tg_dtype_is_signed((int)dtype))
        tg_row_int(row, tg_sign_extend(width, bits));
    else
        tg_row_uint(row, bits);
}
