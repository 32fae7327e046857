/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database that an export fills. SQLite sorts the keys of an index in a temporary file, so that memory
 * stays the same whatever the number of records is. The system's folder for such files may be small or
 * missing, so a file system of our own puts them beside the database, where there is room for the database
 * too. SQLite removes the name of a temporary file as soon as the file is open.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
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

static int open_beside(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *given)
{
    const struct tg_db_files *files = (struct tg_db_files *)vfs;
    return files->system->xOpen(files->system, name ? name : files->temporary, file, flags, given);
}

/* A copy of the system's functions with another way to open files, under a name that no other export has. */
static int make_files(struct tg_db_files *files, const char *path)
{
    int code = sqlite3_initialize();
    files->system = code == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (!files->system)
        return code == SQLITE_OK ? SQLITE_ERROR : code;
    files->vfs = *files->system;
    files->vfs.xOpen = open_beside;
    files->vfs.zName = files->name;
    (void)snprintf(files->name, sizeof files->name, "taskglass-%p", (void *)files);
    if (asprintf(&files->temporary, "%s-sort", path) < 0) {
        files->temporary = NULL;
        return SQLITE_NOMEM;
    }
    return sqlite3_vfs_register(&files->vfs, 0);
}

static void end_files(struct tg_db_files *files)
{
    if (files->temporary)
        (void)sqlite3_vfs_unregister(&files->vfs);
    free(files->temporary);
    *files = (struct tg_db_files){0};
}

/* One thread uses the connection, so it needs no lock. */
void tg_db_open(struct tg_db *db, const char *path, struct tg_error *error)
{
    *db = (struct tg_db){.error = error};
    int code = make_files(&db->files, path);
    if (code == SQLITE_OK)
        code = sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                               db->files.name);
    if (code == SQLITE_OK)
        code = sqlite3_create_module(db->handle, "batch", &tg_batch_module, db);
    if (code != SQLITE_OK)
        tg_db_failed(db, code);
    tg_db_run(db, "PRAGMA journal_mode = OFF");
    tg_db_run(db, "PRAGMA synchronous = OFF");
    tg_db_run(db, "PRAGMA locking_mode = EXCLUSIVE");
    tg_db_run(db, "PRAGMA temp_store = FILE");
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
    end_files(&db->files);
    return db->status;
}
