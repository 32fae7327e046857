/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/trust.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <taskglass/text.h>
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

static bool ask(void *context, const struct tg_trust_question *question)
{
    char module[PATH_MAX], named_by[PATH_MAX];
    char answer;
    (void)context;
    cli_print_flush();
    cli_print_to(stderr,
                 "%s names the module\n    %s\nand %s. Loading it runs its code with your rights. "
                 "Load it? [y/N] ",
                 tg_text_clean(question->named_by, named_by, sizeof named_by),
                 tg_text_clean(question->module, module, sizeof module), question->why);
    cli_print_flush();
    answer = read_answer();
    if (answer == '\0')
        cli_print_to(stderr, "\n");
    return answer == 'y' || answer == 'Y';
}

tg_trust_fn cli_trust_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? ask : NULL;
}
