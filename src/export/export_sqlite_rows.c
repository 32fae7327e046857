/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_sqlite_rows.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>
#include <taskglass/tensor.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/grow.h"

/* So many rows that starting a statement costs nothing beside them, and so few that a batch stays in the
 * caches. */
enum { BATCH_ROWS = 128, BATCH_TEXT = 1 << 16 };

enum cell_type { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT };

struct tg_cell {
    enum cell_type type;
    uint32_t length; /* of a text */
    union {
        int64_t integer;
        double real;
        size_t at; /* where the text begins in the row's `text`, which moves when it grows */
    };
};

/* --- a virtual table of the rows in the batch -------------------------------------------------- */

struct cursor {
    sqlite3_vtab_cursor base;
    const struct tg_row *row;
    size_t at;
};

struct table {
    sqlite3_vtab base;
    struct tg_db *db;
};

static int table_connect(sqlite3 *handle, void *db, int argc, const char *const *argv,
                         sqlite3_vtab **table, char **error)
{
    (void)argc, (void)argv, (void)error;
    struct table *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct table){.db = db};
    *table = &made->base;
    return sqlite3_declare_vtab(handle,
                                "CREATE TABLE x (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12,"
                                " c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24)");
}

static int table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->estimatedCost = BATCH_ROWS;
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct cursor *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct cursor){.row = ((struct table *)table)->db->batch};
    *cursor = &made->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int cursor_begin(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)plan, (void)text, (void)argc, (void)argv;
    ((struct cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int cursor_is_at_end(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *at = (struct cursor *)cursor;
    return at->at >= at->row->rows;
}

/* The batch is not touched before the statement has ended, so SQLite need not copy texts. */
static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const struct cursor *at = (struct cursor *)cursor;
    const struct tg_row *row = at->row;
    const struct tg_cell *cell = &row->cell[at->at * (size_t)row->columns + (size_t)column];
    switch (cell->type) {
    case CELL_NULL:
        break; /* what a column is if nothing is set */
    case CELL_INT:
        sqlite3_result_int64(to, cell->integer);
        break;
    case CELL_REAL:
        sqlite3_result_double(to, cell->real);
        break;
    case CELL_TEXT:
        sqlite3_result_text(to, row->text + cell->at, (int)cell->length, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int cursor_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)((struct cursor *)cursor)->at;
    return SQLITE_OK;
}

const sqlite3_module tg_batch_module = {
    .xConnect = table_connect, /* and no xCreate: the table exists by itself, and no other does */
    .xDisconnect = table_disconnect,
    .xBestIndex = table_plan,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_begin,
    .xNext = cursor_next,
    .xEof = cursor_is_at_end,
    .xColumn = cursor_column,
    .xRowid = cursor_number,
};

/* --- rows --------------------------------------------------------------------------------------- */

static void prepare(struct tg_row *row, const char *insert, const char *conflict)
{
    struct tg_db *db = row->db;
    sqlite3_str *sql = sqlite3_str_new(db->handle);
    sqlite3_str_appendf(sql, "%s SELECT c1", insert);
    for (int i = 2; i <= row->columns; i++)
        sqlite3_str_appendf(sql, ", c%d", i);
    sqlite3_str_appendf(sql, " FROM batch WHERE true %s", conflict);
    char *text = sqlite3_str_finish(sql);
    int code =
        text ? sqlite3_prepare_v2(db->handle, text, -1, &row->statement, NULL) : SQLITE_NOMEM;
    if (code != SQLITE_OK)
        tg_db_failed(db, code);
    sqlite3_free(text);
}

void tg_row_open(struct tg_db *db, const char *insert, int columns, const char *conflict,
                 struct tg_row *row)
{
    *row = (struct tg_row){.db = db, .columns = columns};
    if (db->status != TG_OK)
        return;
    row->cell = malloc(BATCH_ROWS * (size_t)columns * sizeof *row->cell);
    if (row->cell)
        prepare(row, insert, conflict);
    else
        tg_db_failed(db, SQLITE_NOMEM);
}

static void insert_batch(struct tg_row *row)
{
    struct tg_db *db = row->db;
    if (db->status == TG_OK && row->rows > 0) {
        db->batch = row;
        int code = sqlite3_step(row->statement);
        if (code != SQLITE_DONE)
            tg_db_failed(db, code);
        sqlite3_reset(row->statement);
        db->batch = NULL;
    }
    row->rows = row->used = 0;
}

void tg_row_close(struct tg_row *row)
{
    insert_batch(row);
    sqlite3_finalize(row->statement);
    free(row->cell);
    free(row->text);
    *row = (struct tg_row){.db = row->db};
}

void tg_row_put(struct tg_row *row)
{
    row->column = 0;
    if (row->db->status != TG_OK)
        return;
    row->rows++;
    if (row->rows == BATCH_ROWS || row->used >= BATCH_TEXT)
        insert_batch(row);
}

/* The next cell; NULL after an error, when the caller must do nothing. */
static struct tg_cell *next(struct tg_row *row)
{
    if (row->db->status != TG_OK)
        return NULL;
    return &row->cell[row->rows * (size_t)row->columns + (size_t)row->column++];
}

/* Room for a text of at most `length` bytes, which the caller writes and gives to end_text. */
static char *begin_text(struct tg_row *row, size_t length)
{
    if (length > INT32_MAX)
        tg_db_failed(row->db, SQLITE_TOOBIG);
    else if (!tg_grow(&row->text, &row->text_room, row->used + length + 1, 1)) /* never NULL */
        tg_db_failed(row->db, SQLITE_NOMEM);
    return row->db->status == TG_OK ? row->text + row->used : NULL;
}

static void end_text(struct tg_row *row, const char *end)
{
    struct tg_cell *cell = next(row);
    size_t length = (size_t)(end - (row->text + row->used));
    *cell = (struct tg_cell){.type = CELL_TEXT, .length = (uint32_t)length, .at = row->used};
    row->used += length;
}

void tg_row_null(struct tg_row *row)
{
    struct tg_cell *cell = next(row);
    if (cell)
        cell->type = CELL_NULL;
}

void tg_row_int(struct tg_row *row, int64_t value)
{
    struct tg_cell *cell = next(row);
    if (!cell)
        return;
    cell->type = CELL_INT;
    cell->integer = value;
}

void tg_row_uint(struct tg_row *row, uint64_t value)
{
    char *to;
    if (value <= INT64_MAX)
        tg_row_int(row, (int64_t)value);
    else if ((to = begin_text(row, TG_MOST_DIGITS)))
        end_text(row, tg_digits_uint(to, value));
}

void tg_row_real(struct tg_row *row, double value)
{
    struct tg_cell *cell = next(row);
    if (!cell)
        return;
    cell->type = CELL_REAL;
    cell->real = value;
}

void tg_row_hex(struct tg_row *row, uint64_t value)
{
    char *to = begin_text(row, 18);
    if (!to)
        return;
    *to++ = '0';
    *to++ = 'x';
    end_text(row, tg_digits_hex16(to, value));
}

void tg_row_text_of(struct tg_row *row, const char *text, size_t length)
{
    char *to = begin_text(row, length);
    if (!to)
        return;
    memcpy(to, text, length);
    end_text(row, to + length);
}

void tg_row_text(struct tg_row *row, const char *text)
{
    if (text)
        tg_row_text_of(row, text, strlen(text));
    else
        tg_row_null(row);
}

void tg_row_numbers(struct tg_row *row, const int64_t *number, int count)
{
    char *to = begin_text(row, TG_MAX_DIMS * (TG_MOST_DIGITS + 3) + 2);
    if (!to)
        return;
    *to++ = '[';
    for (int i = 0; i < count && i < TG_MAX_DIMS; i++) {
        if (i > 0) {
            *to++ = ',';
            *to++ = ' ';
        }
        to = tg_digits_int(to, number[i]);
    }
    *to++ = ']';
    end_text(row, to);
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
