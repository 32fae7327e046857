/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include <string.h>

#include "base/error.h"

enum tg_trace_format tg_trace_format_of(const char *path)
{
    static const char ending[] = ".json";
    size_t n = strlen(path), m = sizeof ending - 1;
    return n >= m && strcmp(path + n - m, ending) == 0 ? TG_TRACE_CHROME : TG_TRACE_PERFETTO;
}

tg_status tg_trace_write(struct tg_spool *spool, const struct tg_trace_run *run,
                         const struct tg_trace_target *target, struct tg_trace_result *result,
                         struct tg_error *error)
{
    (void)spool;
    (void)run;
    (void)target;
    (void)result;
    return tg_error_set(error, TG_UNSUPPORTED, "this build does not write traces");
}
