/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a file comes to its name:
 *
 *   a file without a name (O_TMPFILE)  ─ linkat ─►  the temporary name  ─ rename ─►  its name
 *   a file with a temporary name       ─────────────────┘
 *
 * Without `overwrite` the last step is one that fails if the name is taken. A process that is killed
 * leaves nothing if it used a file without a name; not every file system has those.
 */
#define _GNU_SOURCE 1
#include "base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

struct tg_new_file {
    FILE *stream;
    char *path;
    char *temporary; /* NULL: a device */
    bool has_name;   /* the temporary one */
    bool overwrite;
};

/* --- what is there already ------------------------------------------------------------------- */

enum what { NOTHING, TAKEN, DEVICE };

static bool is_plain(const struct stat *info)
{
    return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

/* /dev/NAME, /dev/fd/N, and below /proc …/fd/N: names such as /dev/stdout are links, but stand for what is
 * open there. Only root puts something into these folders; anybody can plant a link in /dev/shm, and
 * /proc/self/cwd/x is a file like any other. */
static bool is_open_name(const char *path)
{
    const char *last = strrchr(path, '/');
    if (!last || last[1] == '\0')
        return false;
    if (strncmp(path, "/dev/", 5) == 0 && last == path + 4)
        return true;
    bool is_fd = last - path >= 3 && strncmp(last - 3, "/fd", 3) == 0 &&
                 last[1 + strspn(last + 1, "0123456789")] == '\0';
    return is_fd && (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0);
}

/* A device elsewhere in /dev, such as /dev/pts/0, was made by root too. */
static enum what look(const char *path, bool overwrite)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return NOTHING; /* or something that creating the file will report */
    if (strncmp(path, "/dev/", 5) == 0 && S_ISCHR(info.st_mode))
        return DEVICE;
    if (!is_open_name(path) || (S_ISLNK(info.st_mode) && stat(path, &info) != 0))
        return TAKEN;
    return !is_plain(&info) || overwrite ? DEVICE : TAKEN;
}

static tg_status taken(const char *path, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' already exists; --force overwrites it", path);
}

/* --- opening --------------------------------------------------------------------------------- */

/* The folder that the path is in, on the heap; NULL if memory ran out. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* "FOLDER/.taskglass-PID-N.tmp": no two files that are being written have the same. */
static char *temporary_in(const char *folder)
{
    static atomic_uint count;
    char *name;
    if (asprintf(&name, "%s/.taskglass-%ld-%u.tmp", folder, (long)getpid(),
                 atomic_fetch_add(&count, 1)) < 0)
        return NULL;
    return name;
}

static int open_unnamed(const char *folder)
{
    if (access("/proc/self/fd", X_OK) != 0)
        return -1; /* linkat needs it */
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

static int open_new(struct tg_new_file *file, bool named)
{
    char *folder = folder_of(file->path);
    int fd = -1;
    file->temporary = folder ? temporary_in(folder) : NULL;
    errno = ENOMEM;
    if (file->temporary && !named)
        fd = open_unnamed(folder);
    if (file->temporary && fd < 0) {
        /* A process of the same number may have been killed here. */
        (void)unlink(file->temporary);
        fd = open(file->temporary, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
        file->has_name = fd >= 0;
    }
    int cause = errno;
    free(folder);
    errno = cause;
    return fd;
}

static void destroy(struct tg_new_file *file)
{
    if (file->has_name)
        (void)unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    free(file);
}

static tg_status begin(struct tg_new_file *file, bool named, struct tg_error *error)
{
    enum what what = look(file->path, file->overwrite);
    struct stat info;
    /* The temporary name is shorter, so only the last step would find out. */
    if (what == NOTHING && lstat(file->path, &info) != 0 && errno == ENAMETOOLONG)
        return tg_file_error(error, "write", file->path, ENAMETOOLONG);
    if (what == TAKEN && lstat(file->path, &info) == 0 && S_ISDIR(info.st_mode))
        return tg_file_error(error, "write", file->path, EISDIR);
    if (what == TAKEN && !file->overwrite)
        return taken(file->path, error);
    int fd = what == DEVICE ? open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC)
                            : open_new(file, named);
    if (fd < 0)
        return tg_file_error(error, "write", file->path, errno);
    file->stream = fdopen(fd, "wb");
    if (file->stream)
        return TG_OK;
    tg_status status = tg_file_error(error, "write", file->path, errno);
    close(fd);
    return status;
}

static tg_status open_file(const char *path, bool overwrite, bool named, struct tg_new_file **out,
                           struct tg_error *error)
{
    struct tg_new_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return tg_file_no_memory(error);
    }
    file->overwrite = overwrite;
    tg_status status = begin(file, named, error);
    if (status != TG_OK)
        destroy(file);
    else
        *out = file;
    return status;
}

tg_status tg_new_file_open(const char *path, bool overwrite, struct tg_new_file **file,
                           struct tg_error *error)
{
    TG_REFUSE_NULL(error, path);
    TG_REFUSE_NULL(error, file);
    return open_file(path, overwrite, false, file, error);
}

tg_status tg_new_file_open_named(const char *path, bool overwrite, struct tg_new_file **file,
                                 struct tg_error *error)
{
    return open_file(path, overwrite, true, file, error);
}

tg_status tg_new_file_open_unnamed(const char *path, struct tg_new_file **file,
                                   struct tg_error *error)
{
    tg_status status = open_file(path, true, false, file, error);
    if (status != TG_OK || (!(*file)->has_name && (*file)->temporary))
        return status;
    tg_new_file_close(*file, false, NULL);
    *file = NULL;
    return tg_error_set(error, TG_UNSUPPORTED, "'%s': no file without a name is possible here",
                        path);
}

FILE *tg_new_file_stream(struct tg_new_file *file)
{
    return file ? file->stream : NULL;
}

const char *tg_new_file_name(const struct tg_new_file *file)
{
    return file->temporary;
}

/* --- closing --------------------------------------------------------------------------------- */

/* Gives a file without a name the temporary one. Returns 0 or an errno. */
static int name_temporarily(struct tg_new_file *file)
{
    char open_as[40];
    (void)snprintf(open_as, sizeof open_as, "/proc/self/fd/%d", fileno(file->stream));
    (void)unlink(file->temporary);
    if (linkat(AT_FDCWD, open_as, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    file->has_name = true;
    return 0;
}

/* Not every file system can rename without replacing; most of those have hard links. */
static int rename_to_free_name(const char *from, const char *to)
{
    struct stat info;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(from, to) == 0)
        return unlink(from) == 0 ? 0 : errno;
    if (errno == EEXIST || lstat(to, &info) == 0)
        return EEXIST;
    return rename(from, to) == 0 ? 0 : errno;
}

/* Closing may fail too, so the file gets its name only then. */
static int close_and_name(struct tg_new_file *file)
{
    int cause = file->has_name ? 0 : name_temporarily(file);
    if (fclose(file->stream) != 0 && cause == 0)
        cause = errno;
    if (cause == 0 && file->overwrite)
        cause = rename(file->temporary, file->path) == 0 ? 0 : errno;
    else if (cause == 0)
        cause = rename_to_free_name(file->temporary, file->path);
    file->has_name = file->has_name && cause != 0;
    return cause;
}

tg_status tg_new_file_close(struct tg_new_file *file, bool keep, struct tg_error *error)
{
    tg_status status = TG_OK;
    int cause = errno ? errno : EIO; /* of the write that failed, if one did just now */
    if (!file)
        return TG_OK;
    if (fflush(file->stream) != 0)
        cause = errno;
    else if (!ferror(file->stream))
        cause = 0;
    if (cause == 0 && keep && file->temporary)
        cause = close_and_name(file);
    else if (fclose(file->stream) != 0 && cause == 0)
        cause = errno;
    if (keep && cause == EEXIST)
        status = taken(file->path, error);
    else if (keep && cause != 0)
        status = tg_file_error(error, "write", file->path, cause);
    destroy(file);
    return status;
}

/* --- folders --------------------------------------------------------------------------------- */

/* True also if the folder cannot be read: then nobody knows what is in it. */
static bool has_files(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool found = !dir;
    while (dir && !found && (entry = readdir(dir)) != NULL)
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return found;
}

tg_status tg_new_folder(const char *path, bool overwrite, bool *is_new, struct tg_error *error)
{
    struct stat info;
    bool made = mkdir(path, 0777) == 0;
    int cause = made ? 0 : errno;
    if (cause == EEXIST && lstat(path, &info) == 0) {
        bool is_folder = S_ISDIR(info.st_mode);
        if (!overwrite && !(is_folder && !has_files(path)))
            return taken(path, error);
        if (is_folder)
            cause = 0;
        else if (S_ISLNK(info.st_mode))
            cause = unlink(path) == 0 && (made = mkdir(path, 0777) == 0) ? 0 : errno;
    }
    if (is_new)
        *is_new = made;
    return cause == 0 ? TG_OK : tg_file_error(error, "write", path, cause);
}
