/* SPDX-License-Identifier: Apache-2.0 */
/* What taskglass/new_file.h has, and more for the library itself. */
#ifndef TG_BASE_NEW_FILE_H
#define TG_BASE_NEW_FILE_H

#include <taskglass/new_file.h>

/* Like tg_new_file_open, for writers that open the file by its name (SQLite): until it is closed it has
 * the temporary name that tg_new_file_name returns. That is NULL if it is not a regular file. */
tg_status tg_new_file_open_named(const char *path, bool overwrite, struct tg_new_file **file,
                                 struct tg_error *error);
const char *tg_new_file_name(const struct tg_new_file *file);

/* Like tg_new_file_open with `overwrite`, for a file that may grow for hours: UNSUPPORTED if it would have a
 * name before it is closed, so that a killed process would leave it behind. */
tg_status tg_new_file_open_unnamed(const char *path, struct tg_new_file **file,
                                   struct tg_error *error);

/* Makes a folder, by the rules of taskglass/new_file.h. A folder that exists and is empty is used.
 * `overwrite` allows one that is not empty, and replaces a symbolic link. Sets *is_new, which may be
 * NULL, if the caller should remove the folder should it fail. */
tg_status tg_new_folder(const char *path, bool overwrite, bool *is_new, struct tg_error *error);

#endif
