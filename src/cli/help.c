/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <taskglass/device.h>

#include "cli/cli.h"
#include "cli/options.h"

/* The column in which the help texts begin. */
enum { COLUMN = 30 };

int cli_version(void)
{
    printf("taskglass %s\n", tg_version());
    return CLI_OK;
}

int cli_help(void)
{
    const struct cli_verb *verb;
    puts("taskglass runs task graphs on an accelerator, or on a simulated one.\n\n"
         "Usage: taskglass VERB [OPTIONS]\n");
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        printf("  %-10s%s\n", verb->name, verb->summary);
    puts("  help VERB Show the usage and the options of a verb, as VERB --help does.\n\n"
         "  --help    Show this text.\n"
         "  --version Show the version.\n\n"
         "A first run: taskglass run vector_add\n"
         "Exit status: 0 success, 1 outputs differ, 2 wrong usage or input, 3 the device failed.");
    return CLI_OK;
}

static void put_option(const char *name, const char *value, cli_choice_fn choice, const char *help)
{
    struct cli_choices choices;
    int used = printf("  --%s%s%s", name, value ? " " : "", value ? value : "");
    printf("%*s", used < COLUMN ? COLUMN - used : 1, "");
    if (choice)
        printf("%s; ", cli_choices_format(choice, "or", &choices));
    puts(help);
}

static const char *value_of(enum tg_setting_type type)
{
    static const char *const values[] = {
        [TG_SETTING_TEXT] = "TEXT",       [TG_SETTING_COUNT] = "N",
        [TG_SETTING_BYTES] = "BYTES",     [TG_SETTING_SECONDS] = "SECONDS",
        [TG_SETTING_FLAG] = NULL,         [TG_SETTING_CHOICE] = "WORD",
        [TG_SETTING_LIST] = "TEXT",       [TG_SETTING_COUNTS] = "N[,N,N,N]",
        [TG_SETTING_SIZES] = "BYTES[,…]",
    };
    return values[type];
}

/* True if the verb has an option of this name, which hides the setting of the same name. */
static bool is_option(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->n_options; i++)
        if (strcmp(verb->options[i].name, name) == 0)
            return true;
    return false;
}

int cli_help_verb(const struct cli_verb *verb, const struct tg_settings *settings)
{
    struct tg_setting_info info;
    printf("Usage: taskglass %s %s%s[SETTINGS]\n\n%s\n\nOptions:\n", verb->name, verb->usage,
           *verb->usage ? " " : "", verb->summary);
    for (size_t i = 0; i < verb->n_options; i++)
        put_option(verb->options[i].name, verb->options[i].value, verb->options[i].choice,
                   verb->options[i].help);
    put_option("help", NULL, NULL, "show this text");
    if (verb->more_help)
        verb->more_help();
    puts("\nSettings ('taskglass config' shows the current values):");
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (!is_option(verb, info.name))
            put_option(info.name, value_of(info.type), NULL, info.help);
    return CLI_OK;
}
