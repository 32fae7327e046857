/* SPDX-License-Identifier: Apache-2.0 */
/* What a verb takes: its own options, the settings that apply to it, and the options of every verb. */
#ifndef TG_CLI_OPTION_TABLE_H
#define TG_CLI_OPTION_TABLE_H

#include "cli/cli.h"

/* The options that every verb has: --help, --quiet, --verbose. NULL past the last. */
const struct cli_option *cli_common_option(size_t number);

/* The verb's own option, shown or hidden; NULL: none. */
const struct cli_option *cli_option_named(const struct cli_verb *verb, const char *name);

/* True if the verb takes the setting as an option. An own option of the same name hides the setting. */
bool cli_setting_applies(const struct cli_verb *verb, const char *setting);
/* The short option of a setting; 0: there is none. */
char cli_setting_letter(const char *setting);
/* What the value of a setting is, and the words it may be; *choice is NULL if there are none. */
enum cli_expects cli_setting_expects(const char *setting, cli_choice_fn *choice);

/* The long name of -letter in the verb; NULL: the verb has no such option. */
const char *cli_letter_name(const struct cli_verb *verb, char letter);

/* What to say about an option that the verb does not have: that other verbs have it, or which of the
 * verb's options has a similar name. `typed` has no hyphens. */
void cli_option_unknown(const struct cli_verb *verb, const struct tg_settings *settings,
                        const char *typed, char *text, size_t room);
void cli_letter_unknown(const struct cli_verb *verb, const char *letter, char *text, size_t room);

#endif
