/* SPDX-License-Identifier: Apache-2.0 */
/* The database that an export fills. */
#include <string.h>

#include "base/error.h"
#include "export/export_sqlite_rows.h"

void tg_db_failed(struct tg_db *db, int code)
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

/* One thread uses the connection, so it needs no lock. */
void tg_db_open(struct tg_db *db, const char *path, struct tg_error *error)
{
    *db = (struct tg_db){.error = error};
    int code =
        sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_module(db->handle, "batch", &tg_batch_module, db);
    if (code != SQLITE_OK)
        tg_db_failed(db, code);
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
        tg_db_failed(db, code);
}

tg_status tg_db_close(struct tg_db *db)
{
    int code = sqlite3_close(db->handle);
    if (code != SQLITE_OK)
        tg_db_failed(db, code);
    db->handle = NULL;
    return db->status;
}
