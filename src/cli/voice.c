/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/voice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/device.h>
#include <taskglass/text.h>
#include <unistd.h>

#include "cli/option_table.h"
#include "cli/print.h"

/* Set once, before the verb runs. */
static bool is_quiet, is_verbose;

bool cli_is_quiet(void)
{
    return is_quiet;
}

bool cli_is_verbose(void)
{
    return is_verbose;
}

void cli_detail(const char *format, ...)
{
    va_list values;
    char text[4200], clean[4200];
    if (!is_verbose)
        return;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    cli_print_to(stderr, "taskglass: %s\n", tg_text_clean(text, clean, sizeof clean));
}

/* The settings that apply to the verb, and those of them that are not at their default with their source. */
static void tell_settings(const struct cli_verb *verb, const struct tg_settings *settings)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++) {
        if (!cli_setting_applies(verb, info.name))
            continue;
        const char *source = info.source == TG_FROM_CALLER        ? "the command line"
                             : info.source == TG_FROM_ENVIRONMENT ? info.environment
                                                                  : "the default";
        cli_detail("--%s is '%s', from %s", info.name, info.value, source);
    }
}

static void tell_what_is_used(const struct cli_verb *verb, const struct cli *cli)
{
    char *folder = getcwd(NULL, 0);
    cli_detail("version %s, in %s", tg_version(), folder ? folder : "a folder that is gone");
    free(folder);
    tell_settings(verb, cli->settings);
}

/* Sends what the verb prints on stdout to /dev/null. */
static bool hush(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
    if (!good)
        (void)cli_error("cannot open /dev/null: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return good;
}

bool cli_voice_start(const struct cli_verb *verb, const struct cli *cli, const void *request)
{
    bool has_data = cli->has_data || (verb->prints_data && verb->prints_data(request));
    is_quiet = cli->is_quiet;
    is_verbose = cli->is_verbose;
    if (is_verbose)
        tell_what_is_used(verb, cli);
    return !is_quiet || has_data || hush();
}
