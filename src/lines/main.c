/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass-lines PARENT MODULE ADDRESS…: gives up its rights and becomes addr2line, which writes the
 * source lines of these addresses to standard output. A module is a stranger's file, and programs that
 * read debug information have had many errors.
 */
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_ADDRESSES = 2, MOST_SECONDS = 10, EXIT_USAGE = 2, EXIT_NONE = 127 };
#define MOST_MEMORY ((rlim_t)4 << 30)

static void lower(int resource, rlim_t most)
{
    struct rlimit limit = {most, most};
    (void)setrlimit(resource, &limit);
}

int main(int argc, char **argv)
{
    static const char *const readers[] = {"addr2line", "llvm-addr2line"};
    char *args[6 + MOST_ADDRESSES] = {NULL, "-aifC", "-e"};
    if (argc < 4 || argc > 3 + MOST_ADDRESSES) {
        fputs("taskglass-lines is started by the library alone\n", stderr);
        return EXIT_USAGE;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argv[1], NULL, 10))
        return EXIT_USAGE;
    tg_sandbox_close_from(STDERR_FILENO + 1);
    for (int i = 2; i < argc; i++)
        args[i + 1] = argv[i];
    unsetenv("LD_PRELOAD"); /* what was meant for the host may need more memory than it gets here */
    (void)tg_sandbox_enter(TG_SANDBOX_FOR_LINES, getppid());
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_CPU, MOST_SECONDS);
    lower(RLIMIT_FSIZE, 0); /* it writes into a pipe, which this does not limit */
    lower(RLIMIT_AS, MOST_MEMORY);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        args[0] = (char *)readers[i];
        execvp(readers[i], args);
    }
    _exit(EXIT_NONE); /* a sanitizer's last look at memory would not fit into the limit */
}
