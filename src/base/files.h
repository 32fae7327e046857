/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recordings: paths, whole writes, and files mapped for reading. */
#ifndef TG_BASE_FILES_H
#define TG_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

/* "dir/name", on the heap; NULL where memory ran out. */
char *tg_path_join(const char *dir, const char *name);
/* The last part of a path, without trailing slashes, cut to `room` with its zero. */
void tg_path_last(const char *path, char *last, size_t room);

/* A name of a file in the same folder, and nothing else: no slash, not empty, not "." or "..", and
 * nothing that tg_name_clean would change. */
bool tg_path_is_plain(const char *name);

/* All bytes at that position: 0, or the errno of what failed; *done says how many were written.
 * `done` may be NULL. */
int tg_write_at(int fd, const void *bytes, uint64_t size, uint64_t position, uint64_t *done);

/* Fills a file from its beginning: 0, or the errno of what failed. */
typedef int (*tg_file_fill_fn)(int fd, const void *context);

/* dir/name, whole or not at all: it is filled under another name and then takes the place of what
 * has this one. IO_ERROR names path and cause. */
tg_status tg_file_write(const char *dir, const char *name, tg_file_fill_fn fill,
                        const void *context, struct tg_error *error);
/* The same of a file that grows: there is no moment at which it has its name and not yet its
 * beginning, nor the lock (flock) of whoever writes it; where the file system has no locks, it goes
 * without. The caller closes *fd. */
tg_status tg_file_begin(const char *dir, const char *name, const void *begin, size_t size, int *fd,
                        struct tg_error *error);
/* What is not there is fine. */
tg_status tg_file_remove(const char *dir, const char *name, struct tg_error *error);

/* "cannot write '…': No space left on device": IO_ERROR. */
tg_status tg_file_error(struct tg_error *error, const char *verb, const char *path, int cause);
tg_status tg_file_no_memory(struct tg_error *error);

/* A file's bytes as it was when it was mapped. Should somebody cut the file meanwhile, reading
 * there ends the program (SIGBUS), as with every mapped file. */
struct tg_map {
    const unsigned char *bytes; /* NULL where the file is empty */
    size_t size;
    bool is_mapped; /* else somebody else's memory */
};

/* Only regular files, whatever a stranger put there; links where `follow` says so, ELOOP else. Gives
 * 0 or an errno; `*map` is left empty where it fails. */
int tg_map_open(const char *path, bool follow, struct tg_map *map);
void tg_map_close(struct tg_map *map);
/* Of a large file read from front to end: what lies before `end` need not stay in memory. Reading it
 * again is allowed. */
void tg_map_let_go(const struct tg_map *map, size_t end);

#endif
