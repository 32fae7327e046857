/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/term.h"

static void begin_line(void)
{
    fprintf(stderr, "%staskglass:%s ", cli_color(stderr, CLI_RED), cli_color(stderr, CLI_PLAIN));
}

int cli_error(const char *format, ...)
{
    va_list values;
    begin_line();
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    return CLI_USAGE;
}

int cli_fail(const struct tg_error *error)
{
    begin_line();
    fprintf(stderr, "%s: %s\n", tg_status_name(error->status), error->text);
    return tg_status_exit_code(error->status);
}
