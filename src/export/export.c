/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "export/export_job.h"

/* In the order in which people are told of them. */
static const struct format {
    const char *name, *ending, *summary;
    tg_status (*write)(struct tg_export_job *job);
} formats[] = {
    {"npy", ".npy", "NumPy arrays, a file each", tg_export_as_npy},
    {"npz", ".npz", "NumPy arrays in one archive", tg_export_as_npz},
    {"safetensors", ".safetensors", "tensors as machine-learning tools load them",
     tg_export_as_safetensors},
    {"sqlite", ".sqlite", "tasks, records, statistics and edges as tables", tg_export_as_sqlite},
    {"csv", ".csv", "one line a record, without the values", tg_export_as_csv},
    {"trace", ".trace.json", "tasks on their cores, for Perfetto", tg_export_as_trace},
    {"txt", ".txt", "every value, for people", tg_export_as_txt},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

bool tg_export_format_get(uint32_t number, struct tg_export_format_info *info)
{
    if (number >= FORMATS)
        return false;
    const struct format *format = &formats[number];
    *info = (struct tg_export_format_info){
        .name = format->name,
        .ending = format->ending,
        .summary = format->summary,
        .available = format->write != tg_export_as_sqlite || tg_export_has_sqlite(),
    };
    return true;
}

static const struct format *find_format(const char *name, struct tg_error *error)
{
    for (size_t i = 0; name && i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    tg_error_set(error, TG_BAD_ARGUMENT,
                 "there is no export format '%s'; there are npy, npz, safetensors, sqlite, csv, "
                 "trace and txt",
                 name ? name : "");
    return NULL;
}

tg_status tg_recording_export(const struct tg_recording *recording,
                              const struct tg_export_config *config,
                              struct tg_export_result *result, struct tg_error *error)
{
    struct tg_error unread;
    struct tg_export_job job = {
        .recording = recording, .config = config, .error = error ? error : &unread};
    const struct format *format = find_format(config->format, job.error);
    if (!format)
        return TG_BAD_ARGUMENT;
    if (!config->path || !*config->path)
        return tg_error_set(job.error, TG_BAD_ARGUMENT, "an export wants a path to write to");
    tg_recording_get_info(recording, &job.info);
    tg_status status = format->write(&job);
    if (result)
        *result = job.result;
    return status;
}
