/* SPDX-License-Identifier: Apache-2.0 */
/* What a user probably meant who named something else than a module. Only looks at names of files. */
#define _GNU_SOURCE 1
#include "host/workload.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/text.h>

enum { MOST_ENTRIES = 4096 };

static bool is_file(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* The path as a user types it: with a slash, so that it is no name, and as one word for a shell. */
static void say_run(const char *path, const char *what, char *text, size_t size)
{
    char typed[1100], word[600];
    snprintf(typed, sizeof typed, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (!tg_text_shell_word(typed, word, sizeof word))
        snprintf(word, sizeof word, "MODULE.so");
    snprintf(text, size, "%s%s: taskglass run %s", what, word, word);
}

/* The folder of `typed` with its slash, and its name up to `length`, with .so. */
static bool find_module(const char *typed, size_t length, char *path, size_t size)
{
    static const char *const places[] = {"", "build/", "../build/"};
    const char *slash = strrchr(typed, '/');
    int folder = slash ? (int)(slash + 1 - typed) : 0;
    if (length <= (size_t)folder)
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int wrote = snprintf(path, size, "%.*s%s%.*s.so", folder, typed, places[i],
                             (int)length - folder, typed + folder);
        if (wrote > 0 && (size_t)wrote < size && strcmp(path, typed) != 0 && is_file(path))
            return true;
    }
    return false;
}

/* How many modules the folder has; `path` is the first in the order of the alphabet. */
static unsigned count_modules(const char *folder, char *path, size_t size)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char first[256] = "";
    unsigned count = 0, seen = 0;
    while (dir != NULL && seen++ < MOST_ENTRIES && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !ends_in(entry->d_name, ".so"))
            continue;
        if (count++ == 0 || strcmp(entry->d_name, first) < 0)
            snprintf(first, sizeof first, "%s", entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    snprintf(path, size, "%s%s%s", folder, ends_in(folder, "/") ? "" : "/", first);
    return count;
}

static void hint_at_folder(const char *folder, char *text, size_t size)
{
    char below[1024], path[1400];
    unsigned count = count_modules(folder, path, sizeof path);
    if (count == 0) {
        snprintf(below, sizeof below, "%s%sbuild", folder, ends_in(folder, "/") ? "" : "/");
        count = count_modules(below, path, sizeof path);
    }
    if (count == 1)
        say_run(path, "it is a folder; its module is ", text, size);
    else if (count > 1)
        say_run(path, "it is a folder with several modules; name one, such as ", text, size);
    else
        snprintf(
            text, size,
            "it is a folder without a module; build the workload there (cmake -B build && cmake "
            "--build build), and name the .so");
}

static bool is_source(const char *name)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".cu", ".h"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_in(name, ends[i]))
            return true;
    return false;
}

/* A file of a known kind that is no module; *text stays "" for others. */
static void hint_at_kind(const char *name, char *text, size_t size)
{
    size_t stem = strlen(name) - strlen(strrchr(name, '.'));
    char path[1100];
    bool found = find_module(name, stem, path, sizeof path);
    if (ends_in(name, ".cubin") && found)
        say_run(path, "a cubin holds the GPU's kernels of the module beside it, ", text, size);
    else if (ends_in(name, ".cubin"))
        snprintf(
            text, size,
            "a cubin holds the GPU's kernels of a module and lies beside it; name that module, "
            "%.*s.so, which is not there",
            (int)(stem < 300 ? stem : 300), name);
    else if (is_source(name) && found)
        say_run(path, "it is source code; its module is ", text, size);
    else if (is_source(name))
        snprintf(
            text, size,
            "it is source code; compile it first: cc -g -O2 -fPIC -shared $(pkg-config --cflags "
            "taskglass) -o MODULE.so SOURCE.c");
    else if (ends_in(name, ".o") || ends_in(name, ".a"))
        snprintf(
            text, size,
            "it is no shared object yet; link it: cc -shared -o MODULE.so FILE.o, and run that");
    else if (ends_in(name, ".py"))
        snprintf(text, size, "it is a Python program; start it with python3");
}

bool tg_workload_hint(const char *typed, char *text, size_t size)
{
    char path[1100];
    const char *slash = strrchr(typed, '/'), *dot = strrchr(slash ? slash : typed, '.');
    text[0] = '\0';
    if (is_folder(typed))
        hint_at_folder(typed, text, size);
    else if (dot != NULL && dot > typed && !ends_in(typed, ".so"))
        hint_at_kind(typed, text, size);
    if (!*text && !is_file(typed) &&
        find_module(typed, strlen(typed) - (ends_in(typed, ".so") ? 3 : 0), path, sizeof path))
        say_run(path, "there is ", text, size);
    return *text != '\0';
}
