/* SPDX-License-Identifier: Apache-2.0 */
/* The one way to read a file; files.h says why. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/map_guard.h"

enum { PAGE = 4096, PIECE = 8 << 20, ZEROS_KEPT = 64 << 10 };

const char *tg_cause_text(int cause)
{
    switch (cause) {
    case TG_CAUSE_NOT_REGULAR:
        return "it is not a regular file";
    case TG_CAUSE_TOO_LARGE:
        return "it is too large";
    case TG_CAUSE_SHORTER:
        return "it became shorter while it was read";
    case TG_CAUSE_CHANGED:
        return "its bytes could not be read: another program changed it, or the disk fails";
    default:
        return strerror(cause);
    }
}

bool tg_cause_is_fault(int cause)
{
    return cause > 0 && cause != ENOENT && cause != ENOTDIR && cause != ELOOP &&
           cause != ENAMETOOLONG && cause != EISDIR;
}

tg_status tg_cause_status(int cause)
{
    return cause == ENOMEM || cause == ENOBUFS ? TG_NO_MEMORY : TG_IO_ERROR;
}

int tg_path_look(const char *path, enum tg_path_kind *kind)
{
    struct stat info;
    *kind = TG_PATH_NOTHING;
    if (stat(path, &info) != 0)
        return tg_cause_is_fault(errno) ? errno : 0;
    *kind = S_ISREG(info.st_mode)   ? TG_PATH_FILE
            : S_ISDIR(info.st_mode) ? TG_PATH_FOLDER
                                    : TG_PATH_OTHER;
    return 0;
}

/* --- opening ------------------------------------------------------------------------------------ */

static int judge(const struct stat *info)
{
    if (S_ISLNK(info->st_mode))
        return ELOOP;
    if (S_ISDIR(info->st_mode))
        return EISDIR;
    return S_ISREG(info->st_mode) ? 0 : TG_CAUSE_NOT_REGULAR;
}

int tg_file_open(const char *path, enum tg_file_links links, bool writable, int *fd, uint64_t *size)
{
    bool follow = links == TG_LINKS_FOLLOW;
    struct stat info;
    *fd = -1;
    if (size)
        *size = 0;
    /* Looks first, because opening some devices does something: a tape rewinds, a watchdog starts.
     * Looks again at what was opened, because the name may stand for another file by then. */
    if (fstatat(AT_FDCWD, path, &info, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    int cause = judge(&info);
    if (cause != 0)
        return cause;
    int opened = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
                                (follow ? 0 : O_NOFOLLOW));
    if (opened < 0)
        return errno;
    cause = fstat(opened, &info) == 0 ? judge(&info) : errno;
    if (cause != 0) {
        close(opened);
        return cause;
    }
    *fd = opened;
    if (size)
        *size = (uint64_t)info.st_size;
    return 0;
}

/* Maps the file, and keeps its descriptor for tg_map_check; without either, closes it. */
static int map_fd(int fd, uint64_t size, struct tg_map *map)
{
    void *bytes = MAP_FAILED;
    int cause = size > SIZE_MAX ? EOVERFLOW : 0;
    if (cause == 0 && size > 0) {
        bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        cause = bytes == MAP_FAILED ? errno : 0;
    }
    if (bytes == MAP_FAILED) {
        close(fd);
        return cause;
    }
    struct tg_guarded *guard = tg_guard_add(bytes, (size_t)size, fd);
    if (!guard) {
        munmap(bytes, (size_t)size);
        close(fd);
        return ENOMEM;
    }
    *map = (struct tg_map){.bytes = bytes, .size = (size_t)size, .guard = guard};
    return 0;
}

int tg_map_open(const char *path, enum tg_file_links links, struct tg_map *map)
{
    uint64_t size;
    int fd;
    *map = (struct tg_map){0};
    int cause = tg_file_open(path, links, false, &fd, &size);
    return cause == 0 ? map_fd(fd, size, map) : cause;
}

/* The first hole that is larger than text may have; `size` if there is none. */
static size_t find_giant_hole(const struct tg_map *map)
{
    int fd = map->guard ? tg_guard_fd(map->guard) : -1;
    for (size_t at = 0; fd >= 0 && at < map->size;) {
        off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
        if (hole < 0 || (uint64_t)hole >= map->size)
            break;
        size_t data = tg_map_skip_hole(map, (size_t)hole);
        if (data - (size_t)hole > TG_TEXT_HOLE)
            return (size_t)hole;
        if (data <= at)
            break; /* the file changes */
        at = data;
    }
    return map->size;
}

int tg_map_text(const char *path, struct tg_map *map)
{
    int cause = tg_map_open(path, TG_LINKS_FOLLOW, map);
    if (cause != 0 || map->size <= ZEROS_KEPT)
        return cause;
    size_t end = find_giant_hole(map);
    if (end == map->size && map->bytes[end - 1] == 0)
        end = tg_map_without_zeros(map);
    if (map->size - end > ZEROS_KEPT) {
        map->left_out = map->size - end - ZEROS_KEPT;
        map->size = end + ZEROS_KEPT;
    }
    return 0;
}

/* A file that ends earlier than it did when it was opened is what it is now: its bytes are a copy. */
static int load_fd(int fd, size_t size, struct tg_map *map)
{
    unsigned char *bytes = malloc(size);
    size_t done = 0;
    if (!bytes)
        return ENOMEM;
    while (done < size) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR) {
            int cause = errno;
            free(bytes);
            return cause;
        }
        if (n == 0)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    *map = (struct tg_map){.bytes = bytes, .size = done, .own = bytes};
    return 0;
}

int tg_map_load(const char *path, size_t most, struct tg_map *map)
{
    uint64_t size;
    int fd;
    *map = (struct tg_map){0};
    int cause = tg_file_open(path, TG_LINKS_FOLLOW, false, &fd, &size);
    if (cause != 0)
        return cause;
    if (size > most)
        cause = TG_CAUSE_TOO_LARGE;
    else if (size > 0)
        cause = load_fd(fd, (size_t)size, map);
    close(fd);
    return cause;
}

void tg_map_close(struct tg_map *map)
{
    if (map->guard) {
        size_t whole = map->size + (size_t)map->left_out;
        int fd = tg_guard_remove(map->guard);
        munmap((void *)(uintptr_t)map->bytes, whole);
        close(fd);
    }
    free(map->own);
    *map = (struct tg_map){0};
}

/* --- what became of it -------------------------------------------------------------------------- */

int tg_map_check(const struct tg_map *map)
{
    return map->guard ? tg_guard_check(map->guard) : 0;
}

tg_status tg_map_report(const struct tg_map *map, const char *path, struct tg_error *error)
{
    int cause = tg_map_check(map);
    if (cause == 0)
        return TG_OK;
    if (cause == TG_CAUSE_SHORTER)
        return tg_error_set(error, TG_IO_ERROR, "the file '%s' became shorter while it was read",
                            path);
    return tg_file_error(error, "read", path, cause);
}

void tg_map_let_go_part(const struct tg_map *map, size_t begin, size_t end)
{
    begin = (begin + PAGE - 1) / PAGE * PAGE;
    end = end / PAGE * PAGE;
    if (map->guard && begin < end && end <= map->size)
        (void)madvise((void *)((uintptr_t)map->bytes + begin), end - begin, MADV_DONTNEED);
}

void tg_map_let_go(const struct tg_map *map, size_t end)
{
    tg_map_let_go_part(map, 0, end);
}

void tg_bytes_were_read(const void *bytes, size_t size)
{
    tg_guard_account(bytes, size);
}

void tg_bytes_are_wanted(const void *bytes, size_t size)
{
    const uintptr_t begin = (uintptr_t)bytes / PAGE * PAGE;
    if (size > 0)
        (void)madvise((void *)begin, (uintptr_t)bytes + size - begin, MADV_WILLNEED);
}

bool tg_bytes_equal(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t at = 0; at < size; at += TG_READ_PIECE) {
        size_t piece = size - at < TG_READ_PIECE ? size - at : TG_READ_PIECE;
        bool is_equal = memcmp(x + at, y + at, piece) == 0;
        tg_bytes_were_read(x + at, piece);
        tg_bytes_were_read(y + at, piece);
        if (!is_equal)
            return false;
    }
    return true;
}

/* --- holes and zeros ---------------------------------------------------------------------------- */

size_t tg_map_skip_hole(const struct tg_map *map, size_t at)
{
    if (!map->guard || at >= map->size)
        return at;
    off_t data = lseek(tg_guard_fd(map->guard), (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? map->size : at;
    return (size_t)data < map->size ? (size_t)data : map->size;
}

uint64_t tg_map_data(const struct tg_map *map)
{
    return tg_map_data_part(map, 0, map->size);
}

uint64_t tg_map_data_part(const struct tg_map *map, size_t begin, size_t end)
{
    enum { MOST_STRETCHES = 65536 };
    uint64_t sum = 0;
    size_t at = begin;
    if (!map->guard)
        return end - begin;
    for (int n = 0; n < MOST_STRETCHES; n++) {
        size_t data = tg_map_skip_hole(map, at);
        if (data >= end)
            return sum;
        off_t hole = lseek(tg_guard_fd(map->guard), (off_t)data, SEEK_HOLE);
        if (hole <= (off_t)data)
            return end - begin;
        at = (uint64_t)hole < end ? (size_t)hole : end;
        sum += at - data;
    }
    return end - begin;
}

/* Where the last stretch of data begins; 0 if the file system does not tell. *end: where it ends. */
static size_t find_last_data(const struct tg_map *map, size_t *end)
{
    int fd = map->guard ? tg_guard_fd(map->guard) : -1;
    size_t begin = 0;
    *end = map->size;
    for (size_t at = 0; fd >= 0 && at < map->size;) {
        size_t data = tg_map_skip_hole(map, at);
        if (data == map->size) {
            *end = at;
            break;
        }
        off_t hole = lseek(fd, (off_t)data, SEEK_HOLE);
        if (hole <= (off_t)data)
            break;
        begin = data;
        at = (uint64_t)hole < map->size ? (size_t)hole : map->size;
    }
    return begin;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

size_t tg_map_without_zeros(const struct tg_map *map)
{
    size_t end;
    (void)find_last_data(map, &end);
    for (size_t kept = end; end > 0;) {
        size_t piece = end % PAGE ? end % PAGE : PAGE;
        if (!is_zero(map->bytes + end - piece, piece))
            break;
        end -= piece;
        if (kept - end > PIECE) {
            tg_map_let_go_part(map, end, kept);
            kept = end;
        }
    }
    while (end > 0 && map->bytes[end - 1] == 0)
        end--;
    return end;
}
