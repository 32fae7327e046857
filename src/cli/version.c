/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass --version: the version in the first line, then what this build is made of. */
#include <stdio.h>
#include <string.h>
#include <taskglass/device.h>
#include <taskglass/execute.h>
#include <taskglass/export.h>
#include <taskglass/json.h>

#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/wrap.h"

enum { LABEL = 12, ROOM = 1000 };

/* Calls `put` for each of some words with spaces between them. */
static void each_word(const char *words, void (*put)(void *context, const char *word),
                      void *context)
{
    char word[64];
    for (; *words; words += strspn(words, " ")) {
        size_t size = strcspn(words, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)size, words);
        put(context, word);
        words += size;
    }
}

static void each_platform(void (*put)(void *context, const char *word), void *context)
{
    struct tg_platform_info info;
    for (uint32_t i = 0; tg_platform_get(i, &info); i++)
        if (*cli_build_cuda || strcmp(info.name, "cuda") != 0)
            put(context, info.name);
}

static void each_runtime(void (*put)(void *context, const char *word), void *context)
{
    struct tg_runtime_info info;
    for (uint32_t i = 0; tg_runtime_get(i, &info); i++)
        if (info.available)
            put(context, info.name);
}

static void each_format(void (*put)(void *context, const char *word), void *context)
{
    struct tg_export_format_info info;
    for (uint32_t i = 0; tg_export_format_get(i, &info); i++)
        if (info.available)
            put(context, info.name);
}

static void add_to_line(void *context, const char *word)
{
    char *line = context;
    size_t used = strlen(line);
    (void)snprintf(line + used, ROOM - used, "%s%s", used > 0 ? ", " : "", word);
}

static void put_line(const char *label, const char *text)
{
    cli_wrap_out(*text ? text : "none", printf("%-*s", LABEL, label), LABEL);
}

static void print_text(void)
{
    char line[ROOM];
    printf("taskglass %s\n", tg_version());
    put_line("commit", *cli_build_commit ? cli_build_commit : "unknown");
    line[0] = '\0';
    each_platform(add_to_line, line);
    put_line("platforms", line);
    if (*cli_build_cuda) {
        line[0] = '\0';
        each_word(cli_build_cuda, add_to_line, line);
        put_line("GPUs", line);
    }
    line[0] = '\0';
    each_runtime(add_to_line, line);
    put_line("runtimes", line);
    line[0] = '\0';
    each_format(add_to_line, line);
    put_line("exports", line);
    line[0] = '\0';
    each_word(cli_build_features, add_to_line, line);
    put_line("features", line);
}

static void put_string(void *context, const char *word)
{
    tg_json_string(context, word);
}

static void begin_list(struct tg_json *json, const char *key)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
}

static void print_json(void)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "version", tg_version());
    tg_json_put_string(&json, "commit", *cli_build_commit ? cli_build_commit : NULL);
    begin_list(&json, "platforms");
    each_platform(put_string, &json);
    tg_json_end_array(&json);
    begin_list(&json, "cuda_architectures");
    each_word(cli_build_cuda, put_string, &json);
    tg_json_end_array(&json);
    begin_list(&json, "runtimes");
    each_runtime(put_string, &json);
    tg_json_end_array(&json);
    begin_list(&json, "exports");
    each_format(put_string, &json);
    tg_json_end_array(&json);
    begin_list(&json, "features");
    each_word(cli_build_features, put_string, &json);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

int cli_version(bool json)
{
    if (json)
        print_json();
    else
        print_text();
    return CLI_OK;
}
