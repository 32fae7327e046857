/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders that a program of Taskglass makes where the user said, by the same rules for all:
 *
 *   - What exists is not overwritten unless the caller says so.
 *   - A symbolic link in place of the file is not followed: it counts as a file that exists, and is
 *     itself replaced if the caller overwrites.
 *   - The file gets its name when it is complete. Until then an old file of that name stays as it is, and
 *     a program that fails or is killed leaves no part of a new one.
 *   - The mode is that of the umask.
 *   - What is open (/dev/stdout, the /dev/fd/63 of a shell) and devices in /dev are written to as they are.
 *     A pipe or a link elsewhere is something that exists: somebody may have put it there to be waited
 *     for, or to be followed.
 */
#ifndef TASKGLASS_NEW_FILE_H
#define TASKGLASS_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_new_file;

/* Begins a file; the caller closes it. BAD_ARGUMENT: it exists and `overwrite` is not set; IO_ERROR. */
TG_API tg_status tg_new_file_open(const char *path, bool overwrite, struct tg_new_file **file,
                                  struct tg_error *error);
/* Where its bytes go. It belongs to the file: do not close it. */
TG_API FILE *tg_new_file_stream(struct tg_new_file *file);
/* Gives the file its name if `keep` is set and every write succeeded; otherwise nothing of it stays.
 * IO_ERROR: not all could be written; BAD_ARGUMENT: meanwhile another program made a file of that name.
 * NULL as `file` is fine. */
TG_API tg_status tg_new_file_close(struct tg_new_file *file, bool keep, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
