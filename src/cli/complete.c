/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which option or operand is to be completed, from the words before it. */
#include "cli/complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/filters.h"
#include "cli/option_table.h"
#include "cli/options.h"

/* What the words before the one to complete say. */
struct state {
    const struct cli_verb *verb;
    const char *pending; /* an option that needs the next word as its value; NULL: none */
    const char *maybe;   /* a setting that takes the next word if it accepts it; NULL: none */
    bool only_operands;
    unsigned operands;
};

void cli_complete_offer(const struct cli_completion *completion, const char *word,
                        const char *about)
{
    size_t typed = strlen(completion->typed);
    size_t kept = (size_t)(completion->typed - completion->word);
    if (strncmp(word, completion->typed, typed) != 0)
        return;
    for (const char *c = word; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return;
    size_t size = kept + strlen(word) + 1;
    char *whole = malloc(size);
    if (!whole)
        return;
    (void)snprintf(whole, size, "%.*s%s", (int)kept, completion->word, word);
    completion->offer(completion->context, whole, about ? about : "");
    free(whole);
}

/* --- names ------------------------------------------------------------------------------------- */

static void offer_verbs(const struct cli_completion *completion)
{
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (!verb->is_hidden)
            cli_complete_offer(completion, verb->name, verb->summary);
    cli_complete_offer(completion, "help", "Show the options of a verb with examples.");
}

static void offer_option(const struct cli_completion *completion, const char *name, char letter,
                         const char *help)
{
    char text[100];
    (void)snprintf(text, sizeof text, "--%s", name);
    cli_complete_offer(completion, text, help);
    if (letter && completion->typed[0] == '-' && completion->typed[1] != '-') {
        (void)snprintf(text, sizeof text, "-%c", letter);
        cli_complete_offer(completion, text, help);
    }
}

static void offer_options(const struct cli_completion *completion, const struct cli_verb *verb)
{
    const struct cli_option *option;
    struct tg_setting_info info;
    for (size_t i = 0; i < verb->n_options; i++)
        if (!verb->options[i].is_hidden)
            offer_option(completion, verb->options[i].name, verb->options[i].letter,
                         verb->options[i].help);
    for (uint32_t i = 0; tg_settings_get(completion->settings, i, &info); i++)
        if (cli_setting_applies(verb, info.name))
            offer_option(completion, info.name, cli_setting_letter(info.name), info.help);
    for (size_t i = 0; (option = cli_common_option(i)); i++)
        offer_option(completion, option->name, option->letter, option->help);
}

/* --- values ------------------------------------------------------------------------------------ */

static bool get_setting(const struct cli_completion *completion, const struct cli_verb *verb,
                        const char *name, struct tg_setting_info *info)
{
    for (uint32_t i = 0; tg_settings_get(completion->settings, i, info); i++)
        if (strcmp(info->name, name) == 0)
            return cli_setting_applies(verb, name);
    return false;
}

static void offer_words(const struct cli_completion *completion, const char *words)
{
    char word[64];
    for (; *words; words += strspn(words, " ")) {
        size_t size = strcspn(words, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)size, words);
        cli_complete_offer(completion, word, NULL);
        words += size;
    }
}

static void offer_values_of(struct cli_completion *completion, const struct cli_verb *verb,
                            const char *name)
{
    const struct cli_option *option = cli_option_named(verb, name);
    struct tg_setting_info info;
    cli_choice_fn choice;
    if (option) {
        const char *comma = strrchr(completion->typed, ',');
        if (option->take == cli_take_filter && comma) /* a list: complete its last item */
            completion->typed = comma + 1;
        cli_complete_value(completion, option->expects, option->choice);
    } else if (get_setting(completion, verb, name, &info)) {
        enum cli_expects expects = cli_setting_expects(name, &choice);
        if (info.choices || info.type == TG_SETTING_FLAG)
            offer_words(completion, info.choices ? info.choices : "on off");
        else
            cli_complete_value(completion, expects, choice);
    }
}

static bool needs_value(const struct cli_completion *completion, const struct cli_verb *verb,
                        const char *name, bool *may_omit)
{
    const struct cli_option *option = cli_option_named(verb, name);
    struct tg_setting_info info;
    *may_omit = false;
    if (option)
        return option->value != NULL;
    if (!get_setting(completion, verb, name, &info))
        return false;
    *may_omit = info.alone != NULL;
    return true;
}

/* --- the words before it ----------------------------------------------------------------------- */

/* Notes what other values depend on. */
static void note_value(struct cli_completion *completion, const char *name, const char *value)
{
    if (strcmp(name, "case") == 0)
        completion->case_name = value;
    else if (strcmp(name, "workload-path") == 0)
        (void)tg_settings_set(completion->settings, name, value, NULL);
}

static void take_name(struct cli_completion *completion, struct state *state, const char *name,
                      const char *value)
{
    bool may_omit;
    if (value)
        note_value(completion, name, value);
    else if (needs_value(completion, state->verb, name, &may_omit))
        *(may_omit ? &state->maybe : &state->pending) = name;
}

static void take_long(struct cli_completion *completion, struct state *state, char *word)
{
    const struct cli_option *option;
    struct tg_setting_info info;
    char name[64];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    if (length >= sizeof name)
        return;
    memcpy(name, word + 2, length);
    name[length] = '\0';
    option = cli_option_named(state->verb, name);
    if (option)
        take_name(completion, state, option->name, equals ? equals + 1 : NULL);
    else if (get_setting(completion, state->verb, name, &info))
        take_name(completion, state, info.name, equals ? equals + 1 : NULL);
}

/* "-qo" waits for a value, "-ofile" does not. */
static void take_short(struct cli_completion *completion, struct state *state, const char *letters)
{
    bool may_omit;
    for (; *letters; letters++) {
        const char *name = cli_letter_name(state->verb, *letters);
        if (!name || !needs_value(completion, state->verb, name, &may_omit))
            continue;
        take_name(completion, state, name, letters[1] ? letters + 1 : NULL);
        return;
    }
}

static void take_operand(struct cli_completion *completion, struct state *state, const char *word)
{
    if (state->operands++ == 0 && state->verb->expects == CLI_WORKLOAD)
        completion->workload = word;
}

static void take_word(struct cli_completion *completion, struct state *state, char *word)
{
    const char *pending = state->pending, *maybe = state->maybe;
    state->pending = state->maybe = NULL;
    if (pending)
        note_value(completion, pending, word);
    else if (maybe && *word != '-' &&
             tg_settings_set(completion->settings, maybe, word, NULL) == TG_OK)
        return;
    else if (state->only_operands || word[0] != '-' || word[1] == '\0')
        take_operand(completion, state, word);
    else if (strcmp(word, "--") == 0)
        state->only_operands = true;
    else if (word[1] == '-')
        take_long(completion, state, word);
    else
        take_short(completion, state, word + 1);
}

/* --- the word itself --------------------------------------------------------------------------- */

/* --name=value, -ovalue: completes the value. Returns false for a name without a value. */
static bool offer_attached(struct cli_completion *completion, const struct cli_verb *verb)
{
    const char *word = completion->word, *equals = strchr(word, '=');
    char name[64];
    bool may_omit;
    if (word[1] != '-' && word[1] && word[2]) {
        const char *known = cli_letter_name(verb, word[1]);
        if (!known || !needs_value(completion, verb, known, &may_omit))
            return false;
        completion->typed = word + 2;
        offer_values_of(completion, verb, known);
        return true;
    }
    if (word[1] != '-' || !equals || (size_t)(equals - word - 2) >= sizeof name)
        return false;
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - word - 2), word + 2);
    completion->typed = equals + 1;
    offer_values_of(completion, verb, name);
    return true;
}

static void offer_operands(struct cli_completion *completion, const struct state *state)
{
    const struct cli_verb *verb = state->verb;
    if (verb->choice && state->operands == 0)
        cli_complete_value(completion, CLI_WORDS, verb->choice);
    else if (state->operands == 0 || verb->operand != cli_take_one)
        cli_complete_value(completion, verb->expects, NULL);
}

static void complete_in_verb(struct cli_completion *completion, struct state *state)
{
    for (int i = 1; i < completion->n_words; i++)
        take_word(completion, state, completion->words[i]);
    if (state->pending) {
        offer_values_of(completion, state->verb, state->pending);
        return;
    }
    if (!state->only_operands && completion->word[0] == '-') {
        if (!offer_attached(completion, state->verb))
            offer_options(completion, state->verb);
        return;
    }
    if (state->maybe)
        offer_values_of(completion, state->verb, state->maybe);
    offer_operands(completion, state);
}

void cli_complete(struct cli_completion *completion)
{
    struct state state = {0};
    completion->typed = completion->word;
    if (completion->n_words == 0) {
        offer_verbs(completion);
        if (completion->word[0] == '-') {
            cli_complete_offer(completion, "--help", "show the verbs");
            cli_complete_offer(completion, "--version", "show version, commit and features");
        }
        return;
    }
    if (strcmp(completion->words[0], "help") == 0) {
        if (completion->n_words == 1)
            offer_verbs(completion);
        return;
    }
    state.verb = cli_verb_named(completion->words[0]);
    if (state.verb && !state.verb->is_hidden)
        complete_in_verb(completion, &state);
}
