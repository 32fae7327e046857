/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass new: makes a folder with a workload that builds, runs and passes, to be changed by its user. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/execute.h>
#include <taskglass/json.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/new.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/term.h"

struct request {
    const char *name;
    const char *output; /* NULL: a folder of that name */
    const char *runtime;
    bool json;
};

static const char *runtime_name(unsigned number)
{
    static struct tg_runtime_info info;
    return tg_runtime_get(number, &info) ? info.name : NULL;
}

static int take_runtime(void *request, const struct cli_option *option, const char *name)
{
    struct cli_choices choices;
    struct cli_shown shown;
    for (unsigned i = 0; runtime_name(i); i++)
        if (strcmp(runtime_name(i), name) == 0) {
            ((struct request *)request)->runtime = name;
            return CLI_OK;
        }
    return cli_error("unknown %s '%s'; runtimes are %s", option->name, cli_show(&shown, name),
                     cli_choices_format(runtime_name, "and", &choices));
}

static int take_output(void *request, const struct cli_option *option, const char *path)
{
    ((struct request *)request)->output = path;
    if (!*path)
        return cli_error("--%s needs the name of a folder", option->name);
    return strlen(path) < PATH_MAX - 32
               ? CLI_OK
               : cli_error("the path after --%s is too long", option->name);
}

static const struct cli_option options[] = {
    CLI_CALL("output", "DIR", take_output, "the folder to make", .letter = 'o', .fallback = "NAME",
             .expects = CLI_FOLDER),
    CLI_CHOICE("runtime", "NAME", runtime_name, take_runtime,
               "the runtime that the commands to type name"),
    CLI_JSON(struct request, json, "print the result for programs"),
};

/* --- the folder ---------------------------------------------------------------------------- */

static int check_empty(const char *path)
{
    struct cli_shown shown;
    const struct dirent *entry;
    DIR *folder = opendir(path);
    bool is_empty = true;
    int cause = folder ? 0 : errno;
    while (folder && is_empty && (errno = 0, entry = readdir(folder)))
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (folder) {
        cause = is_empty ? errno : 0;
        closedir(folder);
    }
    if (cause)
        return cli_error("cannot read the folder '%s': %s", cli_show(&shown, path),
                         strerror(cause));
    return is_empty ? CLI_OK
                    : cli_error("the folder '%s' is not empty; --output DIR names another place",
                                cli_show(&shown, path));
}

static int check_existing(const char *path)
{
    struct cli_shown shown;
    struct stat about;
    if (stat(path, &about) != 0)
        return cli_error("cannot use '%s': %s", cli_show(&shown, path), strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return cli_error("'%s' exists and is not a folder; --output DIR names another place",
                         cli_show(&shown, path));
    return check_empty(path);
}

/* Makes the folders above the last one, as far as they are missing. Returns an errno, or 0. */
static int make_parents(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i < length; i++)
        if (path[i] == '/' && path[i + 1] != '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            if (mkdir(part, 0777) != 0 && errno != EEXIST)
                return errno;
        }
    return 0;
}

/* Sets *is_new if the folder was made and not there before. */
static int make_folder(const char *path, bool *is_new)
{
    struct cli_shown shown;
    int cause = make_parents(path);
    *is_new = cause == 0 && mkdir(path, 0777) == 0;
    if (*is_new)
        return CLI_OK;
    cause = cause ? cause : errno;
    if (cause == EEXIST)
        return check_existing(path);
    return cli_error("cannot make the folder '%s': %s", cli_show(&shown, path), strerror(cause));
}

/* --- what it prints ------------------------------------------------------------------------ */

/* The commands to type next, after `cd`. */
static const char *command(const struct new_words *words, int number, char *room, size_t size)
{
    switch (number) {
    case 0:
        return words->configure;
    case 1:
        return "cmake --build build";
    case 2:
        snprintf(room, size, "%s --dump-tensor", words->run);
        return room;
    default:
        snprintf(room, size, "%s %s", words->program, number == 3 ? "view" : "check");
        return room;
    }
}

/* How many bytes of a command go on a line of that many columns: whole words, and not within quotes, where a
 * \ would not continue the line. The rest, if there is no such place within the line. */
static size_t fit_words(const char *command, size_t columns)
{
    size_t length = strlen(command), fits = 0;
    bool is_quoted = false;
    if (length <= columns)
        return length;
    for (size_t i = 0; i < length && (i + 2 <= columns || fits == 0); i++) {
        is_quoted ^= command[i] == '\'';
        if (command[i] == ' ' && !is_quoted)
            fits = i;
    }
    return fits ? fits : length;
}

/* Prints a command that can be copied, on a terminal in lines that fit. */
static void print_command(const char *command)
{
    int width = cli_stream_width(stdout), indent = 2;
    while (width > 0 && *command) {
        size_t columns = width > indent ? (size_t)(width - indent) : 1;
        size_t fits = fit_words(command, columns);
        printf("%*s%.*s%s\n", indent, "", (int)fits, command, command[fits] ? " \\" : "");
        command += fits + (command[fits] == ' ');
        indent = 6;
    }
    if (*command)
        printf("  %s\n", command);
}

static void print_text(const char *folder, const struct new_words *words)
{
    struct cli_shown shown;
    char room[4 * PATH_MAX + 32];
    cli_print("made %s, the workload %s: y = factor * x + b\n", cli_show(&shown, folder),
              words->name);
    for (int i = 0; i < NEW_FILES; i++)
        cli_print("  %-14s  %s\n", new_files[i].name, new_files[i].about);
    printf("%snext, type%s\n", cli_color(stdout, CLI_BOLD), cli_color(stdout, CLI_PLAIN));
    printf("  cd %s\n", cli_show_word(&shown, folder));
    for (int i = 0; i < NEW_COMMANDS; i++)
        print_command(command(words, i, room, sizeof room));
}

static void print_json(const char *folder, const struct new_words *words)
{
    char room[4 * PATH_MAX + 32];
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "name", words->name);
    tg_json_put_string(&json, "folder", folder);
    tg_json_key(&json, "files");
    tg_json_begin_array(&json);
    for (int i = 0; i < NEW_FILES; i++)
        tg_json_string(&json, new_files[i].name);
    tg_json_end_array(&json);
    tg_json_key(&json, "commands");
    tg_json_begin_array(&json);
    for (int i = 0; i < NEW_COMMANDS; i++)
        tg_json_string(&json, command(words, i, room, sizeof room));
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

/* --- the verb ------------------------------------------------------------------------------ */

static int write_folder(const char *folder, const struct new_words *words)
{
    bool is_new;
    int code = make_folder(folder, &is_new);
    if (code != CLI_OK)
        return code;
    code = new_files_write(folder, words);
    if (code != CLI_OK && is_new)
        (void)rmdir(folder);
    return code;
}

static int make(struct cli *cli, void *context)
{
    const struct request *request = context;
    struct new_words words = {0};
    (void)cli;
    if (!request->name)
        return cli_error("new needs a name: taskglass new NAME");
    int code = new_name_read(request->name, &words);
    if (code != CLI_OK)
        return code;
    code = new_place_read(request->runtime, &words);
    if (code != CLI_OK)
        return code;
    const char *folder = request->output ? request->output : request->name;
    cli_interrupt_catch_writing(); /* a signal waits until the folder is complete */
    code = write_folder(folder, &words);
    cli_interrupt_pass_on();
    if (code != CLI_OK)
        return code;
    if (request->json)
        print_json(folder, &words);
    else
        print_text(folder, &words);
    return CLI_OK;
}

static const struct cli_example examples[] = {
    {"scale", "Make the folder scale, with a workload that builds, runs and passes."},
    {"scale -o src/scale --runtime aicpu_build_graph", "Choose the folder and the runtime."},
    {0},
};

const struct cli_verb cli_verb_new = {
    .name = "new",
    .rank = 15,
    .section = CLI_DO,
    .usage = "NAME [--output DIR] [--runtime NAME] [--json]",
    .summary = "Make a folder with a workload to start from.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "name",
    .member = offsetof(struct request, name),
    .run = make,
    .examples = examples,
};
