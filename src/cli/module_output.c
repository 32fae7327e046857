/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/module_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

/* The command's own standard output while it is away; -1: it is not. */
static int own = -1;

void cli_module_output_away(void)
{
    fflush(stdout);
    own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

void cli_module_output_back(void)
{
    if (own < 0)
        return;
    fflush(stdout); /* what a module left in the buffer goes where the rest went */
    while (dup2(own, STDOUT_FILENO) < 0) {
        if (errno == EINTR || errno == EBUSY)
            continue;
        cli_fault("go back to standard output", errno);
        close(STDOUT_FILENO); /* else the answer would go to standard error */
        break;
    }
    close(own);
    own = -1;
}
