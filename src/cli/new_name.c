/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a new workload: it becomes a part of C identifiers, the name of a target of CMake, and the name
 * of files. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/new.h"

/* Words of C and of C++; nvcc compiles kernels as C++. */
static const char *const keywords[] = {
    "alignas",  "alignof", "and",     "asm",       "auto",      "bool",     "break",    "case",
    "catch",    "char",    "class",   "const",     "constexpr", "continue", "decltype", "default",
    "delete",   "do",      "double",  "else",      "enum",      "explicit", "export",   "extern",
    "false",    "float",   "for",     "friend",    "goto",      "if",       "inline",   "int",
    "long",     "main",    "mutable", "namespace", "new",       "noexcept", "not",      "nullptr",
    "operator", "or",      "private", "protected", "public",    "register", "restrict", "return",
    "short",    "signed",  "sizeof",  "static",    "struct",    "switch",   "template", "this",
    "throw",    "true",    "try",     "typedef",   "typeid",    "typename", "typeof",   "union",
    "unsigned", "using",   "virtual", "void",      "volatile",  "while",    "xor",
};

/* Targets that CMake makes or reserves (its policy CMP0037), and the library m, which a workload is linked with. */
static const char *const targets[] = {
    "ALL_BUILD",
    "INSTALL",
    "PACKAGE",
    "RUN_TESTS",
    "ZERO_CHECK",
    "all",
    "clean",
    "codegen",
    "default_target",
    "depend",
    "edit_cache",
    "help",
    "install",
    "list_install_components",
    "m",
    "package",
    "package_source",
    "package_tests",
    "preinstall",
    "rebuild_cache",
    "test",
    "uninstall",
};

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

static bool is_allowed(char letter)
{
    return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
}

static int check_letters(const char *typed)
{
    struct cli_shown shown;
    struct cli_shown name, folder;
    const char *last = strrchr(typed, '/');
    if (last && last[1])
        return cli_error("'%s' is a path; type: taskglass new %s --output %s",
                         cli_show(&shown, typed), cli_show_word(&name, last + 1),
                         cli_show_word(&folder, typed));
    if (last)
        return cli_error("'%s' is a path; type the name of the workload without '/'",
                         cli_show(&shown, typed));
    for (const char *at = typed; *at; at++)
        if (!is_allowed(*at))
            return cli_error("the name '%s' has other characters than letters, digits, _ and -",
                             cli_show(&shown, typed));
    if (!is_letter(typed[0]))
        return cli_error("the name '%s' must begin with a letter", cli_show(&shown, typed));
    if (strlen(typed) > NEW_MOST_NAME)
        return cli_error("the name '%s' has more than %d characters", cli_show(&shown, typed),
                         NEW_MOST_NAME);
    return CLI_OK;
}

int new_name_read(const char *typed, struct new_words *words)
{
    size_t length;
    if (!*typed)
        return cli_error("the name is empty; type 'taskglass new NAME'");
    int code = check_letters(typed);
    if (code != CLI_OK)
        return code;
    length = strlen(typed);
    for (size_t i = 0; i <= length; i++) {
        words->name[i] = typed[i] == '-' ? '_' : typed[i];
        words->upper[i] = (char)toupper((unsigned char)words->name[i]);
    }
    if (is_one_of(words->name, keywords, sizeof keywords / sizeof keywords[0]))
        return cli_error("'%s' is a word of C or C++; choose another name, such as my_%s", typed,
                         words->name);
    if (is_one_of(words->name, targets, sizeof targets / sizeof targets[0]))
        return cli_error("'%s' is a name that CMake's builds use; choose another, such as my_%s",
                         typed, words->name);
    return CLI_OK;
}
