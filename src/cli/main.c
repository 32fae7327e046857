/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/guard.h"
#include "cli/suggest.h"

/* The commands use less than 64 KiB, in builds without a sanitizer. */
enum { LEAST_STACK = 256 * 1024 };

static int unknown_verb(const char *typed)
{
    struct cli_suggestion near;
    const struct cli_verb *verb;
    cli_suggest_start(&near, typed);
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (!verb->is_hidden)
            cli_suggest_consider(&near, verb->name);
    cli_suggest_consider(&near, "help");
    if (near.best)
        return cli_error("unknown command '%s'; did you mean '%s'?", typed, near.best);
    return cli_error("unknown command '%s'; 'taskglass --help' lists the commands", typed);
}

static int run_verb(const struct cli_verb *verb, struct cli *cli)
{
    struct tg_error error;
    if (tg_settings_create(&cli->settings, &error) != TG_OK)
        return cli_fail(&error);
    int code = cli_verb_start(verb, cli);
    tg_settings_destroy(cli->settings);
    return code;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* `taskglass help VERB`, also `--help VERB`, does the same as `taskglass VERB --help`. */
static int help(int argc, char **argv)
{
    struct tg_settings *settings;
    struct tg_error error;
    if (argc > 3)
        return cli_error("help takes one command; '%s' is one too many", argv[3]);
    if (argc < 3 || asks_for_help(argv[2]))
        return cli_help();
    const struct cli_verb *verb = cli_verb_named(argv[2]);
    if (!verb)
        return unknown_verb(argv[2]);
    if (tg_settings_create(&settings, &error) != TG_OK)
        return cli_fail(&error);
    int code = cli_help_verb(verb, settings);
    tg_settings_destroy(settings);
    return code;
}

static int version(int argc, char **argv)
{
    bool json = argc > 2 && strcmp(argv[2], "--json") == 0;
    if (argc > 2 + json)
        return cli_error("--version takes --json and nothing else; remove '%s'", argv[2 + json]);
    return cli_version(json);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_help();
    const char *word = argv[1];
    if (asks_for_help(word))
        return help(argc, argv);
    if (strcmp(word, "--version") == 0)
        return version(argc, argv);
    if (word[0] == '-')
        return cli_error("unknown option %s; a command comes first: taskglass run …", word);
    const struct cli_verb *verb = cli_verb_named(word);
    struct cli cli = {.argc = argc, .argv = argv, .first = 2};
    return verb ? run_verb(verb, &cli) : unknown_verb(word);
}

/* Opens /dev/null in place of every closed standard stream. Otherwise the next file that the program
 * opens would get the stream's number, and output would end up in that file. */
static bool guard_streams(void)
{
    bool had_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0 || errno != EBADF;
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return had_output;
}

/* Fails if the output could not be written, whatever the verb returned. */
static int flush_output(int code)
{
    bool failed_before = ferror(stdout);
    if (fflush(stdout) == 0 && !failed_before)
        return cli_has_fault() ? CLI_USAGE : code;
    if (cli_has_spoken()) /* it has been said what failed first */
        return code == CLI_OK || cli_has_fault() ? CLI_USAGE : code;
    /* The errno of an earlier write is gone. What stopped that one usually stops the next as well. */
    if (!failed_before || write(STDOUT_FILENO, "\n", 1) < 0)
        return cli_error("cannot write to standard output: %s", strerror(errno));
    return cli_error("cannot write to standard output: a write failed, and a part is missing");
}

/* Buffers for paths and lines are on the stack, and the threads' stacks are as large as this limit. With too
 * little, a crash would be blamed on the workload. Says it without printf, which needs stack as well. */
static bool has_stack(void)
{
    static const char text[] =
        "taskglass: the stack is limited to less than 256 KiB; type 'ulimit -s 8192'\n";
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= LEAST_STACK)
        return true;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    return false;
}

int main(int argc, char **argv)
{
    if (!has_stack())
        return CLI_USAGE;
    /* With SIGXFSZ ignored, write() fails at a file size limit and the run reports it; the default
     * action would kill the run. */
    signal(SIGXFSZ, SIG_IGN);
    if (!guard_streams())
        return cli_error("standard output is closed");
    int code = flush_output(dispatch(argc, argv));
    cli_guard_leave(code);
    return code;
}
