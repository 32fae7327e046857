/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a trace can be written where the user wants it, before anything runs. */
#define _GNU_SOURCE 1
#include "host/execute_trace.h"

#include <stdbool.h>
#include <string.h>
#include <taskglass/recording.h>

#include "base/error.h"
#include "host/output.h"
#include "host/run.h"

/* True if the trace goes into the output directory, which does not exist before the run. */
static bool is_in_output(const char *trace, const char *output)
{
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    return length > 0 && strncmp(trace, output, length) == 0 && trace[length] == '/' &&
           strchr(trace + length + 1, '/') == NULL;
}

/* In a directory that does not exist yet, the names of files tell whether the run will write one there. */
static tg_status check_name(const char *trace, struct tg_error *error)
{
    const char *last = strrchr(trace, '/') + 1;
    const struct tg_run_name *name;
    for (unsigned i = 0; (name = tg_run_name_at(i)); i++)
        if (*name->folder == '\0' && strcmp(name->name, last) == 0)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "the run writes another file to '%s'; name another for the trace",
                                trace);
    return TG_OK;
}

tg_status tg_execute_check_trace(const char *trace, const char *output, struct tg_error *error)
{
    if (trace == NULL)
        return TG_OK;
    tg_status status = *output ? tg_run_check_output(output, trace, error) : TG_OK;
    if (status != TG_OK)
        return status;
    return is_in_output(trace, output) ? check_name(trace, error)
                                       : tg_trace_file_check(trace, error);
}
