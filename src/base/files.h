/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recordings: paths, whole writes, and the one way to read a file. */
#ifndef TG_BASE_FILES_H
#define TG_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <taskglass/status.h>

/* "dir/name", on the heap; NULL if memory ran out. */
char *tg_path_join(const char *dir, const char *name);
/* The name under which tg_file_write fills dir/name: "dir/.name.tmp", on the heap; NULL if memory ran
 * out. */
char *tg_path_temporary(const char *dir, const char *name);
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
/* Moves a descriptor above `last`; it is closed on exec, and the old one is closed always. -1 with errno
 * set if that fails, also if `fd` is -1: then errno stays as it is. */
int tg_file_above(int fd, int last);
/* Succeeds if there is no such file. */
tg_status tg_file_remove(const char *dir, const char *name, struct tg_error *error);

/* "cannot write '…': No space left on device": IO_ERROR. */
tg_status tg_file_error(struct tg_error *error, const char *verb, const char *path, int cause);
tg_status tg_file_no_memory(struct tg_error *error);

/*
 * --- reading ---
 *
 * Every file that Taskglass reads may be a stranger's, so every reader opens it here, and no other code
 * calls open, fopen or mmap to read one (tests/reads.py holds that, with a short list of exceptions):
 *
 *   tg_map_load   a small file, such as run.json: copied into memory, refused above a limit
 *   tg_map_open   a file of any size: mapped
 *   tg_map_text   the same for text, which ends where a giant of zeros begins
 *   tg_file_open  only its descriptor: a lock, the first bytes, a copy
 *
 * All of them refuse what is not a regular file: a FIFO would block, /dev/zero never end. They neither
 * wait nor gain a controlling terminal, and the descriptor is closed on exec.
 *
 * Another program may cut a file while it is mapped, and a disk may fail. Reading a page that is not
 * there any more raises SIGBUS; base/map_guard.c catches it and puts zeros there. So whoever has read a
 * mapped file asks tg_map_check before it gives an answer. A file that grows, or that is replaced by
 * another of the same name, changes nothing: the map keeps the bytes and the size it had when it was
 * opened.
 */

/* Causes that errno has no number for; functions below return them where they return an errno. */
enum {
    TG_CAUSE_NOT_REGULAR = -1, /* a directory, FIFO, socket or device */
    TG_CAUSE_TOO_LARGE = -2,
    TG_CAUSE_SHORTER = -3, /* than it was when it was opened */
    TG_CAUSE_CHANGED = -4  /* bytes that were there could not be read */
};
/* "No such file or directory", "it is not a regular file" …: of an errno or one of the above. */
const char *tg_cause_text(int cause);

/* True if the system could not do what was asked: no memory, no descriptors, no permission, an error of
 * the disk. What the file holds, or whether there is one, is then not known. False: there is no such file,
 * or it is none that can be read. */
bool tg_cause_is_fault(int cause);
/* The status for an errno of a call that wants memory and descriptors: NO_MEMORY or IO_ERROR. */
tg_status tg_cause_status(int cause);

enum tg_path_kind { TG_PATH_NOTHING, TG_PATH_FILE, TG_PATH_FOLDER, TG_PATH_OTHER };
/* What a path leads to; follows links. Returns 0, or a cause that is a fault. */
int tg_path_look(const char *path, enum tg_path_kind *kind);

/* Symbolic links are followed, unless the file's name comes out of a stranger's file: such a name must
 * not lead to a file of the user's. */
enum tg_file_links { TG_LINKS_REFUSE, TG_LINKS_FOLLOW };

/* Opens a regular file for reading, or for reading and writing. Returns 0 or a cause: ELOOP for a
 * symbolic link that is refused. The caller closes *fd. `size` may be NULL. */
int tg_file_open(const char *path, enum tg_file_links links, bool writable, int *fd,
                 uint64_t *size);

struct tg_guarded;

/* A file's bytes, with the size it had when it was opened. {.bytes, .size} alone is memory of the
 * caller's. */
struct tg_map {
    const unsigned char *bytes; /* NULL if the file is empty */
    size_t size;
    uint64_t left_out;        /* tg_map_text: bytes of the file behind `size` */
    struct tg_guarded *guard; /* of a mapped file */
    void *own;                /* of a loaded file, on the heap */
};

/* Each returns 0 or a cause, and leaves `*map` empty on failure. */
int tg_map_open(const char *path, enum tg_file_links links, struct tg_map *map);
/* Text has no zeros. If the file ends in many of them, or has a hole of more than TG_TEXT_HOLE bytes,
 * `size` ends within the zeros, so that a parser stumbles over the first ones; follows links. */
int tg_map_text(const char *path, struct tg_map *map);
enum { TG_TEXT_HOLE = 16 << 20 };
/* Follows links. A file of more than `most` bytes is refused. */
int tg_map_load(const char *path, size_t most, struct tg_map *map);
/* Bytes of the map must not be used any more. */
void tg_map_close(struct tg_map *map);

/* 0 if every byte that was read so far was the file's: to be asked after reading and before an answer.
 * Otherwise a cause, for good: the file became shorter, or could not be read. Any thread may ask. */
int tg_map_check(const struct tg_map *map);
/* The same as an IO_ERROR: "the file '…' became shorter while it was read". */
tg_status tg_map_report(const struct tg_map *map, const char *path, struct tg_error *error);

/* For a large file that is read from front to end: tells the kernel that the bytes before `end`
 * need not stay in memory. Reading them again is allowed. */
void tg_map_let_go(const struct tg_map *map, size_t end);
/* The same for the pages that lie wholly in a part of the file. */
void tg_map_let_go_part(const struct tg_map *map, size_t begin, size_t end);

/* Says that a reader, which need not know the map, has read `size` bytes at `bytes`: a whole tensor, or a
 * piece of a large one. When enough of a map was read, none of its pages stays in memory; reading them
 * again is allowed. Does nothing for memory that is not of a mapped file. Any thread may call it. */
void tg_bytes_were_read(const void *bytes, size_t size);
/* Says that a reader is about to read `size` bytes at `bytes`, so that the disk can begin with all parts that it
 * wants before it waits for the first. Any thread may call it. */
void tg_bytes_are_wanted(const void *bytes, size_t size);
/* Loops read so much between two calls of tg_bytes_were_read. */
enum { TG_READ_PIECE = 1 << 20 };
/* The same in a loop, forwards or backwards, which begins with *from where it begins to read and is
 * now at `at`. */
static inline void tg_bytes_reach(const void **from, const void *at)
{
    const uintptr_t old = (uintptr_t)*from, now = (uintptr_t)at;
    const uintptr_t low = old < now ? old : now, size = old < now ? now - old : old - now;
    if (size < TG_READ_PIECE)
        return;
    tg_bytes_were_read((const void *)low, size);
    *from = at;
}
/* memcmp() == 0 of bytes that may lie in mapped files, in pieces. */
bool tg_bytes_equal(const void *a, const void *b, size_t size);

/* The first byte from `at` on that is not in a hole of the file, or the map's size. Where the file
 * system does not tell, there are no holes: the result is `at`. */
size_t tg_map_skip_hole(const struct tg_map *map, size_t at);
/* How many bytes of the file are not in holes: what it really takes on the disk. The whole size where the
 * file system does not tell, or if there are very many holes. */
uint64_t tg_map_data(const struct tg_map *map);
/* The same for a part of the file, which must be inside it. */
uint64_t tg_map_data_part(const struct tg_map *map, size_t begin, size_t end);
/* The number of bytes up to the last one that is not zero. Reads the zeros at the end, but not holes. */
size_t tg_map_without_zeros(const struct tg_map *map);

#endif
