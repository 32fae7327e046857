/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/module_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/module_elf.h"

enum { PIECE = 256 * 1024 };

tg_status tg_module_file_open_other(const char *path, struct tg_module_file *file,
                                    struct tg_error *error)
{
    *file = (struct tg_module_file){.fd = -1};
    int cause = tg_file_open(path, TG_LINKS_FOLLOW, false, &file->fd, &file->size);
    bool is_other = cause == TG_CAUSE_NOT_REGULAR || cause == EISDIR;
    if (cause == 0 && fstat(file->fd, &file->was) != 0)
        cause = errno;
    if (cause == 0 && file->size > TG_MODULE_MOST_BYTES)
        cause = TG_CAUSE_TOO_LARGE;
    if (cause == 0)
        return TG_OK;
    tg_module_file_close(file);
    if (is_other)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'%s' is not a file; a module is a shared object", path);
    tg_status status = cause == TG_CAUSE_TOO_LARGE ? TG_BAD_ARGUMENT
                       : tg_cause_is_fault(cause)  ? TG_IO_ERROR
                                                   : TG_NOT_FOUND;
    return tg_error_set(error, status, "cannot open module '%s': %s", path, tg_cause_text(cause));
}

tg_status tg_module_file_open(const char *path, struct tg_module_file *file, struct tg_error *error)
{
    tg_status status = tg_module_file_open_other(path, file, error);
    int cause = 0;
    struct tg_module_bytes bytes = {NULL, file->fd, file->size, &cause};
    const char *problem = NULL;
    if (status == TG_OK)
        problem = tg_module_elf_problem(&bytes, &file->looks_beside);
    if (!problem)
        return status;
    tg_module_file_close(file);
    if (cause != 0) /* whatever the problem seems to be */
        return tg_file_error(error, "read module", path, cause);
    return tg_error_set(error, TG_BAD_ARGUMENT, "cannot load module %s: it %s", path, problem);
}

void tg_module_file_close(struct tg_module_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool tg_module_file_is(const struct tg_module_file *file, const char *path)
{
    const struct stat *was = &file->was;
    struct stat is;
    if (stat(path, &is) != 0) {
        errno = tg_cause_is_fault(errno) ? errno : 0;
        return false;
    }
    errno = 0;
    return is.st_dev == was->st_dev && is.st_ino == was->st_ino && is.st_size == was->st_size &&
           same_time(is.st_mtim, was->st_mtim) && same_time(is.st_ctim, was->st_ctim);
}

/* Who gets the content: a hash, or a file. */
struct taker {
    struct tg_sha256 *hash; /* NULL: the file */
    int to;
    int (*stop)(void *context); /* NULL: nobody stops it */
    void *context;
};

/* Hands the content on, piece by piece. Returns 0 or an errno. */
static int each_piece(const struct tg_module_file *file, const struct taker *taker)
{
    int cause = 0;
    struct tg_module_bytes bytes = {NULL, file->fd, file->size, &cause};
    char *piece = malloc(PIECE);
    if (!piece)
        cause = ENOMEM;
    for (uint64_t at = 0; at < file->size && cause == 0; at += PIECE) {
        uint64_t left = file->size - at;
        size_t size = left < PIECE ? (size_t)left : PIECE;
        if (!tg_module_bytes_read(&bytes, at, piece, size))
            cause = cause ? cause : EIO;
        else if (taker->hash)
            tg_sha256_add(taker->hash, piece, size);
        else
            cause = tg_write_at(taker->to, piece, size, at, NULL);
        if (cause == 0 && taker->stop && taker->stop(taker->context))
            cause = ECANCELED;
    }
    free(piece);
    return cause;
}

bool tg_module_file_hash(const struct tg_module_file *file, char text[TG_SHA256_TEXT])
{
    struct tg_sha256 hash;
    tg_sha256_start(&hash);
    errno = each_piece(file, &(struct taker){.hash = &hash});
    if (errno != 0)
        return false;
    tg_sha256_end(&hash, text);
    return true;
}

int tg_module_file_copy(const struct tg_module_file *file, int to, int (*stop)(void *context),
                        void *context)
{
    return each_piece(file, &(struct taker){.to = to, .stop = stop, .context = context});
}

tg_status tg_module_file_check(const char *path, struct tg_error *error)
{
    struct tg_module_file file;
    tg_status status = tg_module_file_open(path, &file, error);
    if (status == TG_OK)
        tg_module_file_close(&file);
    return status;
}
