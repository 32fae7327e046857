/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recordings: paths, whole writes, and files mapped for reading. */
#ifndef TG_BASE_FILES_H
#define TG_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

/* "dir/name", on the heap; NULL if memory ran out. */
char *tg_path_join(const char *dir, const char *name);
/* The last part of a path, without trailing slashes, cut to `room` bytes including its zero. */
void tg_path_last(const char *path, char *last, size_t room);

/* True for the plain name of a file in the same folder: no slash, not empty, not "." or "..", and
 * nothing that tg_name_clean would change. */
bool tg_path_is_plain(const char *name);

/* Writes all bytes at that position. Returns 0, or the errno of the failed call; *done says how
 * many bytes were written. `done` may be NULL. */
int tg_write_at(int fd, const void *bytes, uint64_t size, uint64_t position, uint64_t *done);

/* Fills a file from its beginning. Returns 0, or the errno of the failed call. */
typedef int (*tg_file_fill_fn)(int fd, const void *context);

/* Writes dir/name whole or not at all: fills a file under a temporary name, then renames it over
 * the old one. IO_ERROR names path and cause. */
tg_status tg_file_write(const char *dir, const char *name, tg_file_fill_fn fill,
                        const void *context, struct tg_error *error);
/* The same for a file that grows: it gets its name only when its beginning is written and the
 * writer holds its lock (flock), so a reader never sees one without the other. On a file system
 * without locks there is no lock. The caller closes *fd. */
tg_status tg_file_begin(const char *dir, const char *name, const void *begin, size_t size, int *fd,
                        struct tg_error *error);
/* Succeeds if there is no such file. */
tg_status tg_file_remove(const char *dir, const char *name, struct tg_error *error);

/* "cannot write '…': No space left on device": IO_ERROR. */
tg_status tg_file_error(struct tg_error *error, const char *verb, const char *path, int cause);
tg_status tg_file_no_memory(struct tg_error *error);

/* A file's bytes, with the size it had when it was mapped. If another program truncates the file
 * meanwhile, reading past the new end kills the program (SIGBUS), as with every mapped file. */
struct tg_map {
    const unsigned char *bytes; /* NULL if the file is empty */
    size_t size;
    bool is_mapped; /* false: the bytes belong to the caller */
};

/* Maps regular files only, since the file may come from a stranger. Follows symbolic links only if
 * `follow` is set, else fails with ELOOP. Returns 0 or an errno; leaves `*map` empty on failure. */
int tg_map_open(const char *path, bool follow, struct tg_map *map);
void tg_map_close(struct tg_map *map);
/* For a large file that is read from front to end: tells the kernel that the bytes before `end`
 * need not stay in memory. Reading them again is allowed. */
void tg_map_let_go(const struct tg_map *map, size_t end);
/* The same for the pages that lie wholly in a part of the file. */
void tg_map_let_go_part(const struct tg_map *map, size_t begin, size_t end);

#endif
