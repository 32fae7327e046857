/* SPDX-License-Identifier: Apache-2.0 */
/* The help, from the same tables that the loop over the command line reads. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/option_table.h"
#include "cli/options.h"
#include "cli/wrap.h"

/* The columns in which the texts begin: of options, and of verbs. */
enum { COLUMN = 28, VERB_COLUMN = 13, NARROW = 60, NARROW_COLUMN = 8, MOST_TEXT = 1000 };

/* --- all verbs --------------------------------------------------------------------------------- */

static void put_word(const char *word, const char *what)
{
    cli_wrap_out(what, printf("  %-*s", VERB_COLUMN - 2, word), VERB_COLUMN);
}

static void put_section(enum cli_section section, const char *heading)
{
    const struct cli_verb *verb;
    printf("\n%s:\n", heading);
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (verb->section == section && !verb->is_hidden)
            put_word(verb->name, verb->summary);
}

int cli_help(void)
{
    cli_wrap_out("taskglass runs task graphs on an accelerator, or on a simulated one.", 0, 0);
    puts("\nUsage: taskglass VERB [OPTIONS]");
    put_section(CLI_DO, "Run something");
    put_section(CLI_LOOK, "Look at a run");
    put_section(CLI_ANSWER, "Find out what went wrong");
    put_section(CLI_KEEP, "Keep, share, set up");
    putchar('\n');
    put_word("help VERB", "Show the options of a verb with examples, as VERB --help does.");
    put_word("--help", "Show this text (-h).");
    put_word("--version", "Show version, commit and features; with --json for programs.");
    puts("\nA first run: taskglass run vector_add");
    cli_wrap_out("0 success, 1 outputs differ, 2 wrong usage or input, 3 the device failed.",
                 printf("Exit status: "), VERB_COLUMN);
    return CLI_OK;
}

/* --- one verb ---------------------------------------------------------------------------------- */

/* Adds to the text in the buffer; what does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + used, MOST_TEXT - used, format, values);
    va_end(values);
}

/* Joins "from A to B", and a default of one word, with spaces at which cli_wrap does not break. */
static void glue(char *text)
{
    char *fallback = strstr(text, "default: ");
    if (fallback && !strchr(fallback + 9, ' '))
        fallback[8] = CLI_WRAP_GLUE;
    for (char *from = text; (from = strstr(from, "from ")); from += 5) {
        char *gap = from + 4, *least_end = strchr(gap + 1, ' ');
        if (least_end && strncmp(least_end, " to ", 4) == 0)
            *gap = *least_end = least_end[3] = CLI_WRAP_GLUE;
    }
}

/* Adds " (off, meta or full; default: off)"; either part may be empty. */
static void add_values(char *text, const char *words, const char *fallback)
{
    if (!*words && !*fallback)
        return;
    add(text, " (%s%s", words, *words && *fallback ? "; " : "");
    add(text, "%s%s)", *fallback ? "default: " : "", fallback);
}

/* `label` is what the user types: "-o, --output FILE". */
static void put_row(const char *label, char *help)
{
    int column = cli_wrap_width() < NARROW ? NARROW_COLUMN : COLUMN;
    int used = 2 + cli_format_width(label); /* printf counts bytes, and a label may have "…" */
    printf("  %s", label);
    glue(help);
    if (used > column - 2)
        used = printf("\n%*s", column, "") - 1;
    else
        used += printf("%*s", column - used, "");
    cli_wrap_out(help, used, column);
}

static void put_option(const struct cli_option *option)
{
    struct cli_choices choices;
    char text[MOST_TEXT] = "", label[MOST_TEXT] = "";
    if (option->letter)
        add(label, "-%c, ", option->letter);
    add(label, "--%s%s%s", option->name, option->value ? " " : "",
        option->value ? option->value : "");
    add(text, "%s", option->help);
    if (option->range)
        add(text, "; %s", option->range);
    add_values(text, option->choice ? cli_choices_format(option->choice, "or", &choices) : "",
               option->fallback ? option->fallback : "");
    put_row(label, text);
}

/* "off, meta or full" for "off meta full". */
static void add_words(char *text, const char *words)
{
    for (; *words; words += strspn(words, " ")) {
        size_t size = strcspn(words, " ");
        bool is_last = !words[size], is_next_last = !is_last && !strchr(words + size + 1, ' ');
        add(text, "%.*s%s", (int)size, words, is_last ? "" : is_next_last ? " or " : ", ");
        words += size;
    }
}

/* A flag that nobody needs to give, so that the help says how to take it back. */
static bool is_on_by_default(const struct tg_setting_info *info)
{
    return info->alone && !info->choices && strcmp(info->fallback, "on") == 0;
}

static void put_setting(const struct tg_setting_info *info)
{
    char text[MOST_TEXT] = "", words[MOST_TEXT] = "", label[MOST_TEXT] = "";
    if (cli_setting_letter(info->name))
        add(label, "-%c, ", cli_setting_letter(info->name));
    add(label, "--%s", info->name);
    if (info->placeholder)
        add(label, info->alone ? " [%s]" : " %s", info->placeholder);
    add(text, "%s", info->help);
    if (info->choices)
        add_words(words, info->choices);
    if (is_on_by_default(info))
        add(words, "--%s=off switches it off", info->name);
    add_values(text, words, info->fallback);
    put_row(label, text);
}

static bool is_first_of_group(const struct cli_verb *verb, const struct tg_settings *settings,
                              uint32_t number, const char *group)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; i < number && tg_settings_get(settings, i, &info); i++)
        if (cli_setting_applies(verb, info.name) && strcmp(info.group, group) == 0)
            return false;
    return true;
}

static void put_group(const struct cli_verb *verb, const struct tg_settings *settings,
                      const char *group)
{
    struct tg_setting_info info;
    printf("\nSettings: %s\n", group);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (cli_setting_applies(verb, info.name) && strcmp(info.group, group) == 0)
            put_setting(&info);
}

/* The groups in the order of their first settings that apply. */
static bool put_settings(const struct cli_verb *verb, const struct tg_settings *settings)
{
    struct tg_setting_info info;
    bool has_any = false;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (cli_setting_applies(verb, info.name) &&
            is_first_of_group(verb, settings, i, info.group)) {
            put_group(verb, settings, info.group);
            has_any = true;
        }
    return has_any;
}

static void put_examples(const struct cli_verb *verb)
{
    puts("\nExamples:");
    for (const struct cli_example *example = verb->examples; example->command; example++) {
        printf("  taskglass %s%s%s\n      ", verb->name, *example->command ? " " : "",
               example->command);
        cli_wrap_out(example->what, 6, 6);
    }
}

int cli_help_verb(const struct cli_verb *verb, const struct tg_settings *settings)
{
    const struct cli_option *option;
    char usage[MOST_TEXT] = "";
    add(usage, "%s%s", verb->usage, *verb->usage && verb->settings ? " " : "");
    add(usage, "%s", verb->settings ? "[SETTINGS]" : "");
    cli_wrap_out(usage, printf("Usage: taskglass %s ", verb->name), 11);
    putchar('\n');
    cli_wrap_out(verb->summary, 0, 0);
    puts("\nOptions:");
    for (size_t i = 0; i < verb->n_options; i++)
        if (!verb->options[i].is_hidden)
            put_option(&verb->options[i]);
    for (size_t i = 0; (option = cli_common_option(i)); i++)
        put_option(option);
    if (verb->more_help)
        verb->more_help();
    if (put_settings(verb, settings)) {
        putchar('\n');
        cli_wrap_out(
            "'taskglass config' shows the values in force. Variables of the environment set "
            "them for every command: TASKGLASS_TIMEOUT=5 is --timeout 5.",
            0, 0);
    }
    if (verb->examples)
        put_examples(verb);
    return CLI_OK;
}
