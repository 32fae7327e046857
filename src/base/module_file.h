/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's file. Everything that loads, hashes or copies a module opens it here first, once: a file
 * that is no shared object of this machine, or is cut short, is refused before the dynamic linker or a
 * copy sees it.
 */
#ifndef TG_BASE_MODULE_FILE_H
#define TG_BASE_MODULE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <taskglass/status.h>

#include "base/sha256.h"

/* Larger files are no modules. */
#define TG_MODULE_MOST_BYTES (UINT64_C(2) << 30)

struct tg_module_file {
    int fd; /* -1: closed */
    uint64_t size;
    bool looks_beside; /* as in base/module_elf.h */
    struct stat was;   /* when it was opened */
};

/* Never blocks, and never reads from anything but a regular file. NOT_FOUND: it cannot be opened;
 * BAD_ARGUMENT: it is not a module. */
tg_status tg_module_file_open(const char *path, struct tg_module_file *file,
                              struct tg_error *error);
/* The same without a look at the content, for files that belong to a module. */
tg_status tg_module_file_open_other(const char *path, struct tg_module_file *file,
                                    struct tg_error *error);
void tg_module_file_close(struct tg_module_file *file);

/* True if the path still names this file, and nobody wrote to it since it was opened. If false, errno is
 * 0, or says why the system would not tell. */
bool tg_module_file_is(const struct tg_module_file *file, const char *path);

/* The hash of its content. False if it could not be read to its end; errno says why. */
bool tg_module_file_hash(const struct tg_module_file *file, char text[TG_SHA256_TEXT]);
/* Writes its bytes into another file. Returns 0 or an errno; EIO: it became shorter; ECANCELED: `stop`,
 * which may be NULL, is asked between pieces and returned something other than 0. */
int tg_module_file_copy(const struct tg_module_file *file, int to, int (*stop)(void *context),
                        void *context);

/* Opens, checks and closes: whether the dynamic linker may have this file. */
tg_status tg_module_file_check(const char *path, struct tg_error *error);

#endif
