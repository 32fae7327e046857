/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a new workload: those of examples/template, which the build embeds, with other words. */
#include <stdio.h>
#include <string.h>
#include <taskglass/new_file.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/new.h"

extern const unsigned char cli_template_kernels_c[], cli_template_orchestrate_c[],
    cli_template_cases_c[], cli_template_kernels_h[], cli_template_cmake[], cli_template_readme[],
    cli_template_gitignore[];

const struct new_file new_files[NEW_FILES] = {
    {"kernels.c", "what one task does", cli_template_kernels_c},
    {"orchestrate.c", "how the arguments of a run become tasks", cli_template_orchestrate_c},
    {"cases.c", "inputs, golden values, and a reference for each kernel", cli_template_cases_c},
    {"kernels.h", "declarations that these share", cli_template_kernels_h},
    {"CMakeLists.txt", "builds the workload", cli_template_cmake},
    {"README.md", "the commands below", cli_template_readme},
    {".gitignore", "what git leaves out", cli_template_gitignore},
};

/* The word of the template that begins at `text`, and what stands in its place; NULL if none does. */
static const char *replacement(const struct new_words *words, const char *text, size_t *length)
{
    const struct {
        const char *word, *text;
    } table[] = {
        {"workload_name", words->name},    {"WORKLOAD_NAME", words->upper},
        {"@CONFIGURE@", words->configure}, {"@RUN@", words->run},
        {"@TASKGLASS@", words->program},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        *length = strlen(table[i].word);
        if (strncmp(text, table[i].word, *length) == 0)
            return table[i].text;
    }
    return NULL;
}

/* Leaves out the line with the template's licence: the new files are the user's. */
static const char *skip_licence(const char *text)
{
    size_t line = strcspn(text, "\n");
    const char *end = text + line;
    const char *found = strstr(text, "SPDX-License-Identifier");
    return found && found < end && *end ? end + 1 : text;
}

static void put(FILE *file, const char *text, const struct new_words *words)
{
    text = skip_licence(text);
    while (*text) {
        size_t length;
        const char *other = replacement(words, text, &length);
        if (other)
            fputs(other, file);
        else
            putc(*text, file);
        text += other ? length : 1;
    }
}

static tg_status write_one(const char *path, const struct new_file *from,
                           const struct new_words *words, struct tg_error *error)
{
    struct tg_new_file *file;
    tg_status status = tg_new_file_open(path, false, &file, error);
    if (status != TG_OK)
        return status;
    put(tg_new_file_stream(file), (const char *)from->text, words);
    return tg_new_file_close(file, true, error);
}

int new_files_write(const char *folder, const struct new_words *words)
{
    char path[PATH_MAX];
    struct tg_error error;
    for (int i = 0; i < NEW_FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, new_files[i].name);
        if (write_one(path, &new_files[i], words, &error) == TG_OK)
            continue;
        while (i-- > 0) {
            snprintf(path, sizeof path, "%s/%s", folder, new_files[i].name);
            (void)unlink(path);
        }
        return cli_fail(&error);
    }
    return CLI_OK;
}
