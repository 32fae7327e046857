/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program is installed, and thus what a user types to call it and to let CMake find its package.
 * CMake looks into /usr, /usr/local and, for each folder PREFIX/bin of PATH, into PREFIX. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/new.h"

/* The path of this program. */
static int find_self(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return cli_error("cannot find out where this program is: %s", strerror(errno));
    path[length] = '\0';
    return CLI_OK;
}

static bool is_absent(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == EACCES;
}

/* The real path of the package under a prefix; "" if it has none. Returns the exit code. */
static int find_package(const char *prefix, int length, char real[PATH_MAX])
{
    static const char *const folders[] = {"lib", "lib64", "lib/x86_64-linux-gnu",
                                          "lib/aarch64-linux-gnu"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        int used = snprintf(path, sizeof path, "%.*s/%s/cmake/Taskglass/TaskglassConfig.cmake",
                            length, prefix, folders[i]);
        if (used <= 0 || used >= (int)sizeof path)
            continue;
        bool is_there = access(path, R_OK) == 0;
        if (is_there && realpath(path, real))
            return CLI_OK;
        if (is_there || !is_absent(errno))
            return cli_error("cannot look for the CMake package: %s", strerror(errno));
    }
    real[0] = '\0';
    return CLI_OK;
}

/* Whether CMake finds the package of this prefix by PATH: it takes the first that has one. */
static int ask_cmake(const char *prefix, bool *finds)
{
    const char *path = getenv("PATH"); /* not a setting: it is the shell's */
    char own[PATH_MAX], found[PATH_MAX] = "";
    int code = find_package(prefix, (int)strlen(prefix), own);
    while (code == CLI_OK && !found[0] && path && *path) {
        int folder = (int)strcspn(path, ":");
        if (folder > 4 && strncmp(path + folder - 4, "/bin", 4) == 0)
            code = find_package(path, folder - 4, found);
        path += folder;
        path += *path == ':';
    }
    *finds = (found[0] && strcmp(own, found) == 0) ||
             (!found[0] && (strcmp(prefix, "/usr") == 0 || strcmp(prefix, "/usr/local") == 0));
    return code;
}

/* Whether a shell that gets "taskglass" starts this program. */
static int ask_shell(const char *self, bool *finds)
{
    const char *path = getenv("PATH");
    char candidate[PATH_MAX], real[PATH_MAX];
    *finds = false;
    while (path && *path) {
        int folder = (int)strcspn(path, ":");
        int length = snprintf(candidate, sizeof candidate, "%.*s/taskglass", folder, path);
        if (length > 0 && length < (int)sizeof candidate) {
            bool is_there = access(candidate, X_OK) == 0;
            if (is_there && realpath(candidate, real)) {
                *finds = strcmp(real, self) == 0;
                return CLI_OK;
            }
            if (is_there || !is_absent(errno))
                return cli_error("cannot look for taskglass in PATH: %s", strerror(errno));
        }
        path += folder;
        path += *path == ':';
    }
    return CLI_OK;
}

/* PREFIX/bin/taskglass becomes PREFIX. */
static void cut_to_prefix(char *path)
{
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
}

int new_place_read(const char *runtime, struct new_words *words)
{
    char path[PATH_MAX];
    struct cli_shown shown;
    bool by_name, is_found;
    int code = find_self(path);
    if (code == CLI_OK)
        code = ask_shell(path, &by_name);
    if (code != CLI_OK)
        return code;
    snprintf(words->program, sizeof words->program, "%s",
             by_name ? "taskglass" : cli_show_word(&shown, path));
    snprintf(words->run, sizeof words->run, "%s run build/%s.so%s%s", words->program, words->name,
             runtime ? " --runtime " : "", runtime ? runtime : "");

    cut_to_prefix(path);
    code = ask_cmake(path, &is_found);
    snprintf(words->configure, sizeof words->configure, "cmake -B build%s%s",
             is_found ? "" : " -DCMAKE_PREFIX_PATH=", is_found ? "" : cli_show_word(&shown, path));
    return code;
}
