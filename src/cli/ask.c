/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/ask.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/print.h"

enum { TICK_MILLISECONDS = 50 };

/* Reads one line and takes its first character; 0 at the end of the input or after Ctrl-C. It reads
 * byte by byte, because what follows the line is not for us. */
static char read_answer(void)
{
    char first = '\0', byte;
    for (size_t n = 0; !cli_interrupt_caught();) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&input, 1, TICK_MILLISECONDS) <= 0)
            continue;
        if (read(STDIN_FILENO, &byte, 1) != 1)
            return '\0';
        if (byte == '\n')
            return first;
        if (n++ == 0)
            first = byte;
    }
    return '\0';
}

bool cli_ask_can(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool cli_ask_yes(void)
{
    cli_print_flush();
    char answer = read_answer();
    if (answer == '\0')
        fputc('\n', stderr);
    cli_print_answered();
    return answer == 'y' || answer == 'Y';
}
