/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of files and folders (flock). The kernel drops a lock when its holder ends, however it ends.
 *
 *     who               takes            for how long
 *     a writer          exclusive        until its files are complete
 *     a reader          shared, a look   a moment, to see whether there is a writer
 *
 * A lock belongs to an open file description: two writers in one process exclude each other too.
 */
#ifndef TG_BASE_LOCK_H
#define TG_BASE_LOCK_H

enum tg_lock {
    TG_LOCK_FREE,    /* nobody else writes; tg_lock_take: the caller holds the lock now */
    TG_LOCK_BUSY,    /* another writer holds it */
    TG_LOCK_UNKNOWN, /* the file system has no locks, or there is no such file */
};

/* For a writer. Never fails because of readers: it waits until they have looked. */
enum tg_lock tg_lock_take(int fd);
/* For a reader: whether a writer holds the lock of that file or folder. Returns 0, or a cause that is a
 * fault (base/files.h). */
int tg_lock_look(const char *path, enum tg_lock *held);
/* Unlocks and closes. Closing alone would not unlock if the program has forked meanwhile: the child has
 * the descriptor too. -1 is allowed. Returns 0, or the errno of a failed close, with which some file
 * systems report that earlier writes failed. */
int tg_lock_drop(int fd);

#endif
