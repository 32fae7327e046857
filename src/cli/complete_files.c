/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates that are files. Their names may be anything, so nothing here prints or evaluates them. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/complete.h"

static const char outputs[] = "outputs/";

/* A folder with more entries than this is not one in which somebody chooses by Tab. */
enum { MOST_ENTRIES = 10000 };

/* "~/" is the user's home, as it is for shells. False if the path is too long. */
static bool locate(const char *path, char *place)
{
    const char *home = getenv("HOME");
    bool is_home = strncmp(path, "~/", 2) == 0 && home;
    int length = snprintf(place, PATH_MAX, "%s%s", is_home ? home : "", is_home ? path + 1 : path);
    return length >= 0 && length < PATH_MAX;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* `folder` is what was typed up to the last slash. */
static void offer_entry(const struct cli_completion *completion, const char *folder,
                        const char *name, enum cli_complete_files which)
{
    char path[PATH_MAX], place[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s%s", folder, name);
    if (length < 0 || length + 1 >= PATH_MAX ||
        strncmp(path, completion->typed, strlen(completion->typed)) != 0)
        return;
    if (!locate(path, place) || stat(place, &info) != 0)
        return;
    if (S_ISDIR(info.st_mode) && which == CLI_OTHER_FOLDERS && strcmp(path, "outputs") == 0)
        return;
    if (S_ISDIR(info.st_mode)) {
        memcpy(path + length, "/", 2);
        cli_complete_offer(completion, path, NULL);
    } else if (which == CLI_ALL_FILES || (which == CLI_ONLY_MODULES && ends_in(name, ".so"))) {
        cli_complete_offer(completion, path, NULL);
    }
}

void cli_complete_files(const struct cli_completion *completion, enum cli_complete_files which)
{
    char folder[PATH_MAX], place[PATH_MAX];
    const char *slash = strrchr(completion->typed, '/');
    size_t length = slash ? (size_t)(slash + 1 - completion->typed) : 0;
    const char *base = completion->typed + length;
    struct dirent *entry;
    if (length >= sizeof folder)
        return;
    memcpy(folder, completion->typed, length);
    folder[length] = '\0';
    if (!locate(*folder ? folder : ".", place))
        return;
    DIR *dir = opendir(place);
    for (int i = 0; dir && i < MOST_ENTRIES && (entry = readdir(dir)); i++) {
        bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        bool is_hidden = entry->d_name[0] == '.' && base[0] != '.';
        if (!is_dots && !is_hidden)
            offer_entry(completion, folder, entry->d_name, which);
    }
    if (dir)
        closedir(dir);
}

static void offer_run(const struct cli_completion *completion, const char *name)
{
    char path[PATH_MAX], about[60] = "";
    struct stat info;
    struct tm when;
    int length = snprintf(path, sizeof path, "%s%s", outputs, name);
    if (name[0] == '.' || length < 0 || length >= PATH_MAX || stat(path, &info) != 0 ||
        !S_ISDIR(info.st_mode))
        return;
    if (localtime_r(&info.st_mtim.tv_sec, &when))
        (void)strftime(about, sizeof about, "a run of %Y-%m-%d %H:%M:%S", &when);
    cli_complete_offer(completion, path, about);
}

void cli_complete_runs(const struct cli_completion *completion)
{
    size_t length = strlen(completion->typed), known = strlen(outputs);
    bool may_be_run = strncmp(completion->typed, outputs, length < known ? length : known) == 0 &&
                      (length <= known || !strchr(completion->typed + known, '/'));
    DIR *dir = may_be_run ? opendir(outputs) : NULL;
    struct dirent *entry;
    for (int i = 0; dir && i < MOST_ENTRIES && (entry = readdir(dir)); i++)
        offer_run(completion, entry->d_name);
    if (!dir || length < known) /* otherwise the runs are all that there is */
        cli_complete_files(completion, dir ? CLI_OTHER_FOLDERS : CLI_ONLY_FOLDERS);
    if (dir)
        closedir(dir);
}
