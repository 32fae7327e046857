/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "export/export_job.h"
#include "recording/reader.h"

#define ROW(name, ending, summary, available) {#name, (ending), (summary), tg_export_as_##name},
static const struct format {
    const char *name, *ending, *summary;
    tg_status (*write)(struct tg_export_job *job);
} formats[] = {TG_EXPORT_FORMAT_MAP(ROW)};
enum { FORMATS = sizeof formats / sizeof formats[0] };

bool tg_export_format_get(uint32_t number, struct tg_export_format_info *info)
{
    if (info == NULL)
        return false;
#define AVAILABLE(name, ending, summary, available) (available),
    const bool has[] = {TG_EXPORT_FORMAT_MAP(AVAILABLE)};
    if (number >= FORMATS)
        return false;
    const struct format *format = &formats[number];
    *info = (struct tg_export_format_info){.name = format->name,
                                           .ending = format->ending,
                                           .summary = format->summary,
                                           .available = has[number]};
    return true;
}

static tg_status unknown_format(const char *name, struct tg_error *error)
{
#define LISTED(name, ending, summary, available) ", " #name
    static const char listed[] = TG_EXPORT_FORMAT_MAP(LISTED);
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "there is no export format '%s'; the formats are %s", name ? name : "",
                        listed + 2);
}

static const struct format *find_format(const char *name, struct tg_error *error)
{
    for (size_t i = 0; name && i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    (void)unknown_format(name, error);
    return NULL;
}

/* False if filters are given and no record matches them: a file without records would look as if the
 * recording had none. */
static bool selects_something(const struct tg_export_job *job)
{
    struct tg_entry entry;
    uint64_t index = 0;
    return tg_query_is_empty(job->config->query) ||
           tg_query_next(job->config->query, job->recording, &index, &entry);
}

tg_status tg_recording_export(const struct tg_recording *recording,
                              const struct tg_export_config *config,
                              struct tg_export_result *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, config);
    struct tg_error unread;
    struct tg_export_job job = {
        .recording = recording, .config = config, .error = error ? error : &unread};
    const struct format *format = find_format(config->format, job.error);
    if (!format)
        return TG_BAD_ARGUMENT;
    if (!config->path || !*config->path)
        return tg_error_set(job.error, TG_BAD_ARGUMENT, "an export needs a path to write to");
    tg_recording_get_info(recording, &job.info);
    if (!selects_something(&job))
        return tg_error_set(job.error, TG_NOT_FOUND,
                            "nothing to export: no record matches the filters");
    tg_status status = format->write(&job);
    status = tg_recording_conclude(recording, status, job.error);
    tg_export_made_end(&job, status);
    if (result)
        *result = job.result;
    return status;
}
