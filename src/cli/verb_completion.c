/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass completion: prints the script that lets a shell complete command lines of taskglass. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

/* Embedded by the build from completions/. */
extern const unsigned char cli_completion_bash[], cli_completion_zsh[], cli_completion_fish[];
extern const size_t cli_completion_bash_size, cli_completion_zsh_size, cli_completion_fish_size;

struct request {
    const char *shell;
};

static const char *shell_name(unsigned number)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    return number < sizeof shells / sizeof shells[0] ? shells[number] : NULL;
}

static int completion(struct cli *cli, void *context)
{
    const char *shell = ((const struct request *)context)->shell;
    (void)cli;
    if (!shell)
        return cli_error("completion needs a shell: bash, zsh or fish");
    if (strcmp(shell, "bash") == 0)
        fwrite(cli_completion_bash, 1, cli_completion_bash_size, stdout);
    else if (strcmp(shell, "zsh") == 0)
        fwrite(cli_completion_zsh, 1, cli_completion_zsh_size, stdout);
    else if (strcmp(shell, "fish") == 0)
        fwrite(cli_completion_fish, 1, cli_completion_fish_size, stdout);
    else
        return cli_error("completion: unknown shell '%s'; shells are bash, zsh and fish", shell);
    return CLI_OK; /* main reports errors of stdout */
}

static bool prints_data(const void *request)
{
    (void)request;
    return true;
}

static const struct cli_example examples[] = {
    {"bash", "For this shell only: source <(taskglass completion bash)"},
    {"zsh", "Redirect it to the file _taskglass in a folder of zsh's fpath."},
    {"fish", "Redirect it to ~/.config/fish/completions/taskglass.fish"},
    {0},
};

const struct cli_verb cli_verb_completion = {
    .name = "completion",
    .rank = 140,
    .usage = "bash|zsh|fish",
    .summary = "Print the script that completes command lines in a shell.",
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "shell",
    .member = offsetof(struct request, shell),
    .choice = shell_name,
    .run = completion,
    .prints_data = prints_data,
    .examples = examples,
};
