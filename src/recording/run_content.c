/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json_pull.h"
#include "recording/record.h"
#include "recording/run_folder.h"
#include "recording/runs.h"

/* More names in one folder are not looked at: a run has less than ten, and somebody else's million would
 * take long. A run.json and a deps.json name their workload near the beginning. */
enum { MOST_NAMES = 10000, MOST_HEAD = 65536 };

int tg_run_content_open(const char *path, int *dir)
{
    *dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    return *dir < 0 ? errno : 0;
}

static bool is_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* ".NAME.tmp", under which a run writes NAME. */
static bool is_temporary(const char *file, const char *name)
{
    size_t length = strlen(name);
    return file[0] == '.' && strncmp(file + 1, name, length) == 0 &&
           strcmp(file + 1 + length, ".tmp") == 0;
}

/* What `recover` keeps of a damaged manifest, and the file with which a run tries whether it can write. */
static bool is_leftover(const char *folder, const char *file)
{
    static const char aside[] = TG_DUMP_MANIFEST ".damaged", probe[] = ".probe.";
    const char *rest = file + sizeof aside - 1;
    if (strcmp(folder, TG_DUMP_FOLDER) == 0 && strncmp(file, aside, sizeof aside - 1) == 0)
        return *rest == '\0' || (*rest == '.' && is_digits(rest + 1));
    return strncmp(file, probe, sizeof probe - 1) == 0 && is_digits(file + sizeof probe - 1);
}

/* A file that a run writes in this folder of its directory; "" is the directory itself. */
static bool is_own(const char *folder, const char *file, mode_t mode)
{
    const struct tg_run_name *name;
    if (S_ISSOCK(mode))
        return *folder == '\0' && strcmp(file, "live.sock") == 0;
    if (!S_ISREG(mode))
        return false;
    for (unsigned i = 0; (name = tg_run_name_at(i)); i++)
        if (strcmp(name->folder, folder) == 0 &&
            (strcmp(name->name, file) == 0 || is_temporary(file, name->name)))
            return true;
    return is_leftover(folder, file);
}

/* Other programs write files of these names, too. */
static bool is_common_name(const char *name)
{
    return strcmp(name, "run.json") == 0 || strcmp(name, "deps.json") == 0;
}

static bool is_own_folder(const char *name, mode_t mode)
{
    const struct tg_run_name *file;
    for (unsigned i = 0; S_ISDIR(mode) && (file = tg_run_name_at(i)); i++)
        if (*file->folder && strcmp(file->folder, name) == 0)
            return true;
    return false;
}

struct walk {
    tg_run_file_fn visit;
    void *context;
    struct tg_run_content *content;
};

static void note_other(struct tg_run_content *content, const char *name)
{
    content->others++;
    snprintf(content->other, sizeof content->other, "%s", name);
}

static int walk_folder(const struct walk *walk, int fd, const char *folder);

static int enter(const struct walk *walk, int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    int cause = walk_folder(walk, fd, name);
    close(fd);
    return cause;
}

/* Visits run.json last: a removal that is interrupted then leaves what can still be recognised as a run. */
static int visit_name(const struct walk *walk, int fd, const char *folder, const char *name,
                      bool is_last)
{
    struct tg_run_content *content = walk->content;
    struct stat info;
    if (fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno; /* it went away meanwhile */
    if (is_last != (*folder == '\0' && strcmp(name, "run.json") == 0))
        return 0;
    if (*folder == '\0' && is_own_folder(name, info.st_mode))
        return enter(walk, fd, name);
    if (!is_own(folder, name, info.st_mode)) {
        note_other(content, name);
        return 0;
    }
    if (walk->visit && !walk->visit(walk->context, fd, name))
        return EIO;
    content->bytes += (uint64_t)info.st_blocks * 512;
    content->own++;
    content->sure += *folder != '\0' || !is_common_name(name);
    return 0;
}

static int walk_folder(const struct walk *walk, int fd, const char *folder)
{
    /* A copy of the descriptor would share the position in the directory. */
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), cause = 0;
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry = NULL;
    if (!names) {
        cause = errno;
        if (copy >= 0)
            close(copy);
        return cause;
    }
    for (int i = 0; cause == 0 && i < MOST_NAMES; i++) {
        errno = 0;
        entry = readdir(names);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            cause = visit_name(walk, fd, folder, entry->d_name, false);
    }
    cause = cause == 0 && !entry ? errno : cause;
    closedir(names);
    return cause == 0 && *folder == '\0' ? visit_name(walk, fd, folder, "run.json", true) : cause;
}

int tg_run_content(int dir, tg_run_file_fn visit, void *context, struct tg_run_content *content)
{
    const struct walk walk = {visit, context, content};
    *content = (struct tg_run_content){0};
    return walk_folder(&walk, dir, "");
}

/* "…_20260101_120000", or with "_2" behind it. */
static bool has_time(const char *name)
{
    static const char digit[] = "0123456789";
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_')) {
        const char *end = at + 16;
        if (strspn(at + 1, digit) == 8 && at[9] == '_' && strspn(at + 10, digit) == 6 &&
            (*end == '\0' || (*end == '_' && is_digits(end + 1))))
            return true;
    }
    return false;
}

/* Sets *names_one if the file is a JSON object with a workload. Damage behind it does not matter. */
static int look_for_workload(const char *path, const char *file, bool *names_one)
{
    struct tg_map map = {0};
    struct tg_pull pull;
    char *whole = tg_path_join(path, file);
    int cause = whole ? tg_map_open(whole, TG_LINKS_REFUSE, &map) : ENOMEM;
    tg_pull_start(&pull, (const char *)map.bytes, map.size < MOST_HEAD ? map.size : MOST_HEAD);
    bool good = map.size > 0 && tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT;
    while (good && !*names_one && tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_workload = tg_pull_is(&pull, "workload");
        *names_one = tg_pull_next(&pull) == TG_PULL_STRING && is_workload;
        good = tg_pull_skip(&pull);
    }
    tg_map_close(&map);
    free(whole);
    return tg_cause_is_fault(cause) ? cause : 0;
}

int tg_run_content_is_run(const char *path, const struct tg_run_content *content, bool *is_run)
{
    char name[256];
    tg_path_last(path, name, sizeof name);
    *is_run = content->sure > 0 || (has_time(name) && (content->own > 0 || content->others == 0));
    if (*is_run || content->own == 0)
        return 0;
    int cause = look_for_workload(path, "run.json", is_run);
    if (cause == 0 && !*is_run)
        cause = look_for_workload(path, "deps.json", is_run);
    return cause;
}
