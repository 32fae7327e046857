/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/trust.h"

#include <limits.h>
#include <stdio.h>
#include <taskglass/text.h>

#include "cli/ask.h"
#include "cli/print.h"

static bool ask(void *context, const struct tg_trust_question *question)
{
    char module[PATH_MAX], named_by[PATH_MAX];
    (void)context;
    cli_print_flush();
    cli_print_to(stderr,
                 "%s names the module\n    %s\nand %s. Loading it runs its code with your rights. "
                 "Load it? [y/N] ",
                 tg_text_clean(question->named_by, named_by, sizeof named_by),
                 tg_text_clean(question->module, module, sizeof module), question->why);
    return cli_ask_yes();
}

tg_trust_fn cli_trust_ask(void)
{
    return cli_ask_can() ? ask : NULL;
}
