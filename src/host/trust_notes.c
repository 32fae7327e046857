/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/trust_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "host/text.h"

/* Beyond MOST bytes, which is thousands of builds of a module, the older half is forgotten. */
enum { MOST = 1 << 20, KEPT = MOST / 2, LINE = PATH_MAX + 128, DIGITS = 64 };

/* ── where they are ────────────────────────────────────────────────────────────────────── */

/* The variables of the XDG base directory specification, which wants relative paths to be ignored. The
 * caller frees it; NULL: neither variable names a folder. */
static char *state_folder(void)
{
    const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");
    if (state && *state == '/')
        return tg_text_format("%s/taskglass", state);
    if (home && *home == '/')
        return tg_text_format("%s/.local/state/taskglass", home);
    return NULL;
}

static const char no_folder[] =
    "neither XDG_STATE_HOME nor HOME names a folder for notes of the modules that you run";

/* Makes the folder and those above it that are missing. The specification wants them to be private. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* if this fails, the last one does too */
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/* Why notes do not count, besides the causes of base/files.h: others could have written them, or can at
 * any moment put others in their place. Notes that somebody else could have written say nothing about
 * what this user ran. */
enum { FILE_OPEN = -103, FILE_OF_OTHERS, FOLDER_OPEN, FOLDER_OF_OTHERS };

static bool others_write(const struct stat *is)
{
    return (is->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* A link counts as its owner's, and what it leads to too. */
static int check_folder(const char *folder)
{
    struct stat link, is;
    if (lstat(folder, &link) != 0 || stat(folder, &is) != 0)
        return errno;
    if (link.st_uid != geteuid() || is.st_uid != geteuid())
        return FOLDER_OF_OTHERS;
    return others_write(&is) ? FOLDER_OPEN : 0;
}

static int check_file(int fd)
{
    struct stat is;
    if (fstat(fd, &is) != 0)
        return errno;
    if (!S_ISREG(is.st_mode) || is.st_uid != geteuid())
        return FILE_OF_OTHERS;
    return others_write(&is) ? FILE_OPEN : 0;
}

/* What is wrong with the notes, and what to do. Others may have written lines already, so a change of the
 * mode alone would make them the user's. */
static void explain(int cause, const char *folder, char *text, size_t size)
{
    bool of_folder = cause == FOLDER_OF_OTHERS || cause == FOLDER_OPEN;
    const char *file = of_folder ? "" : "/modules";
    if (cause == FOLDER_OF_OTHERS || cause == FILE_OF_OTHERS)
        snprintf(
            text, size,
            "the notes of the modules that you have run do not count, because %.130s%s belongs to another "
            "user; name a folder of your own with XDG_STATE_HOME",
            folder, file);
    else if (cause == FOLDER_OPEN || cause == FILE_OPEN)
        snprintf(
            text, size,
            "the notes of the modules that you have run do not count, because others can write to "
            "%.130s%s; remove it, and run the module again",
            folder, file);
    else
        snprintf(
            text, size,
            "the notes of the modules that you have run, %.150s/modules, cannot be read: %.80s",
            folder, tg_cause_text(cause));
}

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

/* The whole file, or its newest part if it is too large. Returns 0 or a cause. */
static int read_all(int fd, uint64_t size, struct tg_trust_notes *notes)
{
    uint64_t from = size > MOST ? size - MOST : 0;
    size_t room = (size_t)(size - from), got = 0;
    notes->text = malloc(room + 1);
    if (!notes->text)
        return ENOMEM;
    while (got < room) {
        ssize_t n = pread(fd, notes->text + got, room - got, (off_t)(from + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int cause = errno;
            free(notes->text);
            notes->text = NULL; /* what was read has no end yet */
            return cause;
        }
        if (n == 0)
            break; /* another process has just made it shorter */
        got += (size_t)n;
    }
    notes->text[got] = '\0';
    notes->size = got;
    return 0;
}

static int read_notes(const char *folder, const char *path, struct tg_trust_notes *notes)
{
    uint64_t size = 0;
    int fd = -1, cause = check_folder(folder);
    if (cause == 0)
        cause = tg_file_open(path, TG_LINKS_REFUSE, false, &fd, &size);
    if (cause == 0)
        cause = check_file(fd);
    if (cause == 0)
        cause = read_all(fd, size, notes);
    if (fd >= 0)
        close(fd);
    return cause;
}

void tg_trust_notes_read(struct tg_trust_notes *notes)
{
    errno = 0;
    char *folder = state_folder(), *path = folder ? tg_path_join(folder, "modules") : NULL;
    int cause = 0;
    *notes = (struct tg_trust_notes){0};
    if (path)
        cause = read_notes(folder, path, notes);
    else
        snprintf(notes->why_not, sizeof notes->why_not, "%s",
                 errno == ENOMEM ? "out of memory for the notes of the modules that you have run"
                                 : no_folder);
    if (cause != 0 && cause != ENOENT) {
        explain(cause, folder, notes->why_not, sizeof notes->why_not);
        notes->cause = cause;
    }
    free(folder);
    free(path);
}

void tg_trust_notes_free(struct tg_trust_notes *notes)
{
    free(notes->text);
    *notes = (struct tg_trust_notes){0};
}

/* ── finding ───────────────────────────────────────────────────────────────────────────── */

struct line {
    const char *hash; /* DIGITS characters */
    uint64_t size;
    const char *path;
    size_t path_length;
};

/* Takes the line at *at and moves behind it. False: it is not a note. */
static bool take_line(const char **at, struct line *line)
{
    const char *begin = *at, *end = begin + strcspn(begin, "\n");
    char *behind;
    *at = end + (*end == '\n');
    if (end - begin < DIGITS + 2 || strspn(begin, "0123456789abcdef") != DIGITS ||
        begin[DIGITS] != ' ' || *end != '\n')
        return false;
    line->hash = begin;
    line->size = strtoull(begin + DIGITS + 1, &behind, 10);
    if (*behind != ' ')
        return false;
    line->path = behind + 1;
    line->path_length = (size_t)(end - line->path);
    return true;
}

static bool is_path(const struct line *line, const char *path)
{
    return strlen(path) == line->path_length && memcmp(line->path, path, line->path_length) == 0;
}

void tg_trust_notes_find(const struct tg_trust_notes *notes, const struct tg_module_file *file,
                         const char *path, struct tg_trust_match *match)
{
    char hash[TG_SHA256_TEXT] = "";
    const char *at = notes->text;
    struct line line;
    *match = (struct tg_trust_match){0};
    while (at && *at) {
        if (!take_line(&at, &line))
            continue;
        bool here = is_path(&line, path), same = false;
        if (line.size == file->size) {
            if (*hash == '\0' && !tg_module_file_hash(file, hash)) {
                match->cause = errno;
                return;
            }
            same = memcmp(hash, line.hash, DIGITS) == 0;
        }
        match->content |= same;
        match->content_here |= same && here;
        match->other_here |= !same && here;
    }
}

/* ── writing ───────────────────────────────────────────────────────────────────────────── */

/* Waits a moment for other processes. Without the lock a line may be written twice, no more. */
static bool lock(int fd)
{
    for (int i = 0; i < 50; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

/* Keeps the newest lines. If the process dies in between, some lines are there twice, or one is torn
 * and will be skipped. */
static void forget_old(int fd, struct tg_trust_notes *notes)
{
    const char *from = notes->text + (notes->size > KEPT ? notes->size - KEPT : 0);
    from += strcspn(from, "\n");
    from += *from == '\n';
    uint64_t size = (uint64_t)(notes->text + notes->size - from);
    int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, flags & ~O_APPEND); /* with it, Linux ignores the position */
    if (tg_write_at(fd, from, size, 0, NULL) == 0)
        (void)!ftruncate(fd, (off_t)size);
    (void)fcntl(fd, F_SETFL, flags);
}

/* A path with a line end would look like two notes, so such a file is noted without its path. A full disk
 * may have left a part of a note at the end of the others, which must not become a part of this one. */
static int append(int fd, const struct tg_trust_notes *notes, const char *hash, uint64_t size,
                  const char *path)
{
    char text[LINE];
    bool is_plain = path[strcspn(path, "\n")] == '\0' && strlen(path) < PATH_MAX;
    bool is_torn = notes->size > 0 && notes->text[notes->size - 1] != '\n';
    int length = snprintf(text, sizeof text, "%s%s %llu %s\n", is_torn ? "\n" : "", hash,
                          (unsigned long long)size, is_plain ? path : "?");
    ssize_t n = write(fd, text, (size_t)length);
    return n == length ? 0 : n < 0 ? errno : ENOSPC;
}

static int add(int fd, const struct tg_module_file *file, const char *path)
{
    struct tg_trust_notes notes = {0};
    struct tg_trust_match match = {0};
    char hash[TG_SHA256_TEXT];
    struct stat is;
    bool locked;
    int cause = check_file(fd);
    if (cause != 0)
        return cause;
    locked = lock(fd);
    cause = fstat(fd, &is) == 0 ? read_all(fd, (uint64_t)is.st_size, &notes) : errno;
    if (cause == 0)
        tg_trust_notes_find(&notes, file, path, &match);
    if (cause == 0 && !match.content_here) {
        if (locked && is.st_size > MOST)
            forget_old(fd, &notes);
        cause = tg_module_file_hash(file, hash) ? append(fd, &notes, hash, file->size, path) : EIO;
    }
    free(notes.text);
    return cause;
}

static int add_to(const char *notes, const struct tg_module_file *file, const char *path)
{
    int fd = open(
        notes, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    int cause = fd < 0 ? errno : add(fd, file, path);
    if (fd >= 0)
        close(fd); /* which releases the lock */
    return cause;
}

tg_status tg_trust_notes_add(const struct tg_module_file *file, const char *path,
                             struct tg_error *error)
{
    errno = 0;
    char *folder = state_folder(), *notes = folder ? tg_path_join(folder, "modules") : NULL;
    char why[300];
    tg_status status = TG_OK;
    int cause = notes ? make_folders(folder) : 0;
    if (!notes && errno == ENOMEM)
        status = tg_file_no_memory(error);
    else if (!notes)
        status = tg_error_set(error, TG_IO_ERROR, "%s", no_folder);
    if (notes && cause == 0)
        cause = check_folder(folder);
    if (notes && cause == 0)
        cause = add_to(notes, file, path);
    if (cause <= FOLDER_OF_OTHERS) {
        explain(cause, folder, why, sizeof why);
        status = tg_error_set(error, TG_IO_ERROR, "%s", why);
    } else if (cause != 0) {
        status = tg_file_error(error, "write", notes, cause);
    }
    free(folder);
    free(notes);
    return status;
}
