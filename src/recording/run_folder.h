/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run: who may write in it, and what a killed run leaves there.
 *
 * A run locks its folder (flock on the folder itself) before it removes the files of an earlier run, and
 * holds the lock until its last file is written. `recover` takes the same lock. The writer of a journal
 * also locks the journal (base/files.h): readers of earlier versions look at that lock, and it works
 * between machines that share the folder by NFS, where the lock of a folder is only known to one machine.
 * On a file system without locks nothing keeps two runs apart.
 */
#ifndef TG_RECORDING_RUN_FOLDER_H
#define TG_RECORDING_RUN_FOLDER_H

#include <stdbool.h>
#include <taskglass/status.h>

/* The files of a run: the folder in the run's folder ("" for the run's folder itself), and the name. */
struct tg_run_name {
    const char *folder;
    const char *name;
};
/* NULL past the last. */
const struct tg_run_name *tg_run_name_at(unsigned number);

struct tg_run_lock {
    int fd; /* -1: not held */
};
#define TG_RUN_LOCK_NONE ((struct tg_run_lock){-1})

/* BUSY: another run, or recover, is at work in the folder; the text says what to do. IO_ERROR: there is
 * no such folder, or it cannot be opened. The caller unlocks. */
tg_status tg_run_folder_lock(const char *dir, struct tg_run_lock *lock, struct tg_error *error);
void tg_run_folder_unlock(struct tg_run_lock *lock);
/* Whether the lock is that of the folder that the path leads to. Returns 0, or a cause that is a fault. */
int tg_run_lock_compare(const struct tg_run_lock *lock, const char *dir, bool *same);

/* For the folder of a new run, which need not exist: BUSY if it lies in the folder of a run that is still
 * at work. Its files would become part of that run's, for readers and for whoever copies the folder. */
tg_status tg_run_folder_check_parents(const char *dir, struct tg_error *error);

/* Makes a folder that only its owner may enter, or with `shared` as the umask says. One that is there
 * keeps its mode. Returns 0 or an errno. */
int tg_run_folder_make(const char *path, bool shared);

/* Makes the folder dir/name as the umask says. A writer makes its folder for the owner alone, and keeps
 * one that is there; it also reports what this could not do. */
void tg_run_folder_share(const char *dir, const char *name);

/* Removes the folders of a recording and of scope stats in a run's folder if they are empty. The caller
 * holds the folder's lock. */
void tg_run_folder_remove_empty(const char *dir);

/* Removes the temporary files that a killed run left. The caller holds the folder's lock. Files of other
 * names stay, and so does what is not a regular file. */
void tg_run_folder_clean(const char *dir);

#endif
