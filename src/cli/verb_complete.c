/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass complete: what may come next on a command line. Only the scripts in completions/ call it:
 *
 *     taskglass complete words -- WORD...          the words after "taskglass"; the last is to complete
 *     taskglass complete fish -- WORD...           the same, the last as it was typed, with its quotes
 *     taskglass complete bash -- BREAKS LINE       the line up to the cursor, and COMP_WORDBREAKS
 *
 * It prints a candidate in each line, for words and fish with a tab and a text about it. Exit status 1: the
 * shell should complete the names of files.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/complete.h"

enum { LEAVE_TO_SHELL = 1 };

static void print_words(void *context, const char *candidate, const char *about)
{
    (void)context;
    printf("%s\t", candidate);
    for (; *about; about++)
        putchar((unsigned char)*about < ' ' || *about == 0x7f ? ' ' : *about);
    putchar('\n');
}

static void print_quoted(void *context, const char *candidate, const char *about)
{
    char text[8200];
    (void)about;
    if (cli_line_quote(context, candidate, text, sizeof text))
        puts(text);
}

static int complete_words(struct cli *cli, char **words, int n)
{
    struct cli_completion completion = {.words = words,
                                        .n_words = n - 1,
                                        .word = words[n - 1],
                                        .offer = print_words,
                                        .settings = cli->settings};
    cli_complete(&completion);
    return CLI_OK;
}

static int complete_fish(struct cli *cli, char **words, int n)
{
    struct cli_line line;
    if (!cli_line_split(words[n - 1], "", &line))
        return cli_error("out of memory");
    words[n - 1] = line.words[line.n_words - 1];
    int code = line.is_open ? LEAVE_TO_SHELL : complete_words(cli, words, n);
    cli_line_free(&line);
    return code;
}

/* The words before the command set variables: `X=1 taskglass …`. */
static int count_before_command(const struct cli_line *line)
{
    int i = 0;
    while (i + 1 < line->n_words && strchr(line->words[i], '='))
        i++;
    return i + 1;
}

static int complete_bash(struct cli *cli, const char *breaks, const char *text)
{
    struct cli_line line;
    if (!cli_line_split(text, breaks, &line))
        return cli_error("out of memory");
    int skipped = count_before_command(&line), n = line.n_words - skipped;
    int code = LEAVE_TO_SHELL;
    if (n > 0 && !line.is_open) {
        struct cli_completion completion = {.words = line.words + skipped,
                                            .n_words = n - 1,
                                            .word = line.words[line.n_words - 1],
                                            .offer = print_quoted,
                                            .context = &line,
                                            .settings = cli->settings};
        cli_complete(&completion);
        code = CLI_OK;
    }
    cli_line_free(&line);
    return code;
}

struct request {
    const char *shell;
};

/* The words after "--" may be anything; complete() takes them from the command line. */
static int take_operand(const struct cli_verb *verb, void *request, const char *word)
{
    struct request *r = request;
    (void)verb;
    if (!r->shell)
        r->shell = word;
    return CLI_OK;
}

static int complete(struct cli *cli, void *context)
{
    const char *shell = ((struct request *)context)->shell;
    char **words = cli->argv + cli->first;
    int n = cli->argc - cli->first;
    if (n < 3 || !shell || strcmp(words[1], "--") != 0)
        return cli_error("complete is for completion scripts; see 'taskglass help completion'");
    words += 2;
    n -= 2;
    if (strcmp(shell, "words") == 0)
        return complete_words(cli, words, n);
    if (strcmp(shell, "fish") == 0)
        return complete_fish(cli, words, n);
    if (strcmp(shell, "bash") == 0 && n == 2)
        return complete_bash(cli, words[0], words[1]);
    return cli_error("complete: unknown shell '%s'", shell);
}

const struct cli_verb cli_verb_complete = {
    .name = "complete",
    .rank = 1000,
    .is_hidden = true,
    .usage = "words|fish|bash -- WORD...",
    .summary = "Print what may come next on a command line, for completion scripts.",
    .request_size = sizeof(struct request),
    .operand = take_operand,
    .run = complete,
};
