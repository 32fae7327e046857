/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>
#include <taskglass/device.h>
#include <taskglass/execute.h>

#include "cli/suggest.h"

static const struct cli_option common[] = {
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "quiet",
     .letter = 'q',
     .help = "print errors and warnings only; what --json prints, and data that goes to standard "
             "output, is still printed"},
    {.name = "verbose",
     .letter = 'v',
     .help = "also print on standard error what the command uses: version, settings, files"},
};

const struct cli_option *cli_common_option(size_t number)
{
    return number < sizeof common / sizeof common[0] ? &common[number] : NULL;
}

const struct cli_option *cli_option_named(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->n_options; i++)
        if (strcmp(verb->options[i].name, name) == 0)
            return &verb->options[i];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (; *words; words += strspn(words, " ")) {
        size_t size = strcspn(words, " ");
        if (size == length && memcmp(words, word, size) == 0)
            return true;
        words += size;
    }
    return false;
}

bool cli_setting_applies(const struct cli_verb *verb, const char *setting)
{
    if (!verb->settings || cli_option_named(verb, setting))
        return false;
    return strcmp(verb->settings, CLI_ALL_SETTINGS) == 0 || has_word(verb->settings, setting);
}

/* --- what the command line adds to a setting ---------------------------------------------------- */

static const char *platform_name(unsigned number)
{
    struct tg_platform_info info;
    return tg_platform_get(number, &info) ? info.name : NULL;
}

static const char *runtime_name(unsigned number)
{
    struct tg_runtime_info info;
    return tg_runtime_get(number, &info) ? info.name : NULL;
}

static const struct {
    const char *setting;
    char letter;
    enum cli_expects expects;
    cli_choice_fn choice;
} extras[] = {
    {"platform", 'p', CLI_WORDS, platform_name}, {"runtime", 0, CLI_WORDS, runtime_name},
    {"output", 'o', CLI_FOLDER, NULL},           {"device-program", 0, CLI_FILE, NULL},
    {"workload-path", 0, CLI_FOLDER, NULL},
};

enum { EXTRAS = sizeof extras / sizeof extras[0] };

char cli_setting_letter(const char *setting)
{
    for (size_t i = 0; i < EXTRAS; i++)
        if (strcmp(extras[i].setting, setting) == 0)
            return extras[i].letter;
    return 0;
}

enum cli_expects cli_setting_expects(const char *setting, cli_choice_fn *choice)
{
    *choice = NULL;
    for (size_t i = 0; i < EXTRAS; i++)
        if (strcmp(extras[i].setting, setting) == 0) {
            *choice = extras[i].choice;
            return extras[i].expects;
        }
    return CLI_ANY;
}

/* --- letters ---------------------------------------------------------------------------------- */

const char *cli_letter_name(const struct cli_verb *verb, char letter)
{
    const struct cli_option *option;
    for (size_t i = 0; i < verb->n_options; i++)
        if (verb->options[i].letter == letter)
            return verb->options[i].name;
    for (size_t i = 0; (option = cli_common_option(i)); i++)
        if (option->letter == letter)
            return option->name;
    for (size_t i = 0; i < EXTRAS; i++)
        if (extras[i].letter == letter && cli_setting_applies(verb, extras[i].setting))
            return extras[i].setting;
    return NULL;
}

/* --- options of other verbs --------------------------------------------------------------------- */

static bool is_setting(const struct tg_settings *settings, const char *name)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

static bool takes(const struct cli_verb *verb, const char *name, bool is_setting)
{
    const struct cli_option *option = cli_option_named(verb, name);
    if (verb->is_hidden || (option && option->is_hidden))
        return false;
    return option || (is_setting && cli_setting_applies(verb, name));
}

/* "run, replay, config": the verbs that take it. Returns false if none does. */
static bool list_takers(const char *name, bool is_setting, char *text, size_t room)
{
    const struct cli_verb *verb;
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; (verb = cli_verb_at(i)) && at < room; i++)
        if (takes(verb, name, is_setting))
            at += (size_t)snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", verb->name);
    return at > 0;
}

static void consider_own(struct cli_suggestion *near, const struct cli_verb *verb,
                         const struct tg_settings *settings)
{
    const struct cli_option *option;
    struct tg_setting_info info;
    for (size_t i = 0; i < verb->n_options; i++)
        if (!verb->options[i].is_hidden)
            cli_suggest_consider(near, verb->options[i].name);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (cli_setting_applies(verb, info.name))
            cli_suggest_consider(near, info.name);
    for (size_t i = 0; (option = cli_common_option(i)); i++)
        cli_suggest_consider(near, option->name);
}

void cli_option_unknown(const struct cli_verb *verb, const struct tg_settings *settings,
                        const char *typed, char *text, size_t room)
{
    struct cli_suggestion near;
    char takers[300];
    if (list_takers(typed, is_setting(settings, typed), takers, sizeof takers)) {
        snprintf(text, room, "%s does not take --%s; it is an option of %s", verb->name, typed,
                 takers);
        return;
    }
    cli_suggest_start(&near, typed);
    consider_own(&near, verb, settings);
    if (near.best)
        snprintf(text, room, "unknown option --%s; did you mean --%s?", typed, near.best);
    else
        snprintf(text, room, "unknown option --%s; 'taskglass %s --help' lists the options", typed,
                 verb->name);
}

/* The bytes of the first character of a text in UTF-8. */
static int character_size(const char *text)
{
    int size = 1;
    while (((unsigned char)text[size] & 0xc0) == 0x80)
        size++;
    return size;
}

void cli_letter_unknown(const struct cli_verb *verb, const char *letter, char *text, size_t room)
{
    const struct cli_verb *other;
    const char *name = NULL;
    char takers[300];
    for (size_t i = 0; !name && (other = cli_verb_at(i)); i++)
        name = cli_letter_name(other, *letter);
    if (name && list_takers(name, cli_setting_letter(name) != 0, takers, sizeof takers))
        snprintf(text, room, "%s does not take -%c (--%s); it is an option of %s", verb->name,
                 *letter, name, takers);
    else
        snprintf(text, room, "unknown option -%.*s; 'taskglass %s --help' lists the options",
                 character_size(letter), letter, verb->name);
}
