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

/* True if PREFIX/bin is a folder of PATH. */
static bool path_has(const char *prefix)
{
    const char *path = getenv("PATH"); /* not a setting: it is the shell's */
    size_t length = strlen(prefix);
    while (path && *path) {
        size_t folder = strcspn(path, ":");
        if (folder == length + 4 && strncmp(path, prefix, length) == 0 &&
            strncmp(path + length, "/bin", 4) == 0)
            return true;
        path += folder;
        path += *path == ':';
    }
    return false;
}

static bool is_absent(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == EACCES;
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
            bool is_there = access(candidate, X_OK) == 0 && realpath(candidate, real);
            if (is_there) {
                *finds = strcmp(real, self) == 0;
                return CLI_OK;
            }
            if (!is_absent(errno))
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
    bool by_name;
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
    bool is_found = strcmp(path, "/usr") == 0 || strcmp(path, "/usr/local") == 0 || path_has(path);
    snprintf(words->configure, sizeof words->configure, "cmake -B build%s%s",
             is_found ? "" : " -DCMAKE_PREFIX_PATH=", is_found ? "" : cli_show_word(&shown, path));
    return CLI_OK;
}
