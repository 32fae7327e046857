/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/digits.h"
#include "base/names.h"
#include "base/new_file.h"
#include "trace/out.h"

enum { MEMORY = 32 << 20, FLUSH_AT = 1 << 18, LOOK_EVENTS = 4096 };

#define TEXT(name, text) text,
const char *const tg_trace_words[TG_TRACE_WORDS] = {TG_TRACE_WORD_MAP(TEXT)};
const char *const tg_trace_keys[TG_TRACE_KEYS] = {TG_TRACE_KEY_MAP(TEXT)};
const char *const tg_trace_categories[TG_TRACE_CATEGORIES] = {TG_TRACE_CATEGORY_MAP(TEXT)};

enum tg_trace_format tg_trace_format_of(const char *path)
{
    static const char ending[] = ".json";
    size_t n = strlen(path), m = sizeof ending - 1;
    return n >= m && strcmp(path + n - m, ending) == 0 ? TG_TRACE_CHROME : TG_TRACE_PERFETTO;
}

/* --- names ----------------------------------------------------------------------------------- */

static char *cleaned(const char *text)
{
    char name[TG_NAME_MAX + 1];
    tg_name_clean(text, strlen(text), name, sizeof name);
    return strdup(name);
}

/* A kernel without a name is shown as its number, a site without one as "scope". */
static bool make_names(struct tg_trace_out *out)
{
    const struct tg_trace_run *run = out->run;
    char number[24];
    out->n_names = 0;
    out->name = calloc((size_t)TG_TRACE_WORDS + run->n_kernels + run->n_sites, sizeof *out->name);
    if (!out->name)
        return false;
    uint32_t all = TG_TRACE_WORDS + run->n_kernels + run->n_sites;
    for (uint32_t i = 0; i < all; i++) {
        const char *text;
        uint32_t kernel = i - TG_TRACE_WORDS, site = kernel - run->n_kernels;
        (void)snprintf(number, sizeof number, "#%u", kernel);
        if (i < TG_TRACE_WORDS)
            text = tg_trace_words[i];
        else if (kernel < run->n_kernels)
            text = run->kernel[kernel] && *run->kernel[kernel] ? run->kernel[kernel] : number;
        else
            text = run->site[site] && *run->site[site] ? run->site[site] : "scope";
        out->name[i] = cleaned(text);
        if (!out->name[i])
            return false;
        out->n_names = i + 1;
    }
    return true;
}

uint32_t tg_trace_kernel_name(const struct tg_trace_out *out, uint32_t kernel)
{
    return kernel < out->run->n_kernels ? TG_TRACE_WORDS + kernel : TG_SPOOL_NO_NAME;
}

uint32_t tg_trace_site_name(const struct tg_trace_out *out, uint32_t site)
{
    return site < out->run->n_sites ? TG_TRACE_WORDS + out->run->n_kernels + site
                                    : TG_SPOOL_NO_NAME;
}

void tg_trace_row_name(const struct tg_trace_out *out, const struct tg_trace_row *row, char *name,
                       size_t room)
{
    static const char *const plain[TG_LANE_CORES] = {"run", "orchestrator", "scopes"};
    char part[TG_NAME_MAX + 1] = "";
    int n;
    if (row->lane < TG_LANE_CORES) {
        n = snprintf(name, room, "%s", plain[row->lane]);
    } else {
        const struct tg_trace_core *core = &out->run->core[row->lane - TG_LANE_CORES];
        if (core->name)
            tg_name_clean(core->name, strlen(core->name), part, sizeof part);
        n = *part ? snprintf(name, room, "core %u (%s)", core->number, part)
                  : snprintf(name, room, "core %u", core->number);
    }
    if (row->number > 0 && n > 0 && (size_t)n < room)
        (void)snprintf(name + n, room - (size_t)n, ", row %u", row->number + 1);
}

static const char *name_ring_counter(uint32_t resource)
{
    static const char *const names[TG_RING_COUNTERS] = {"task slots", "heap", "dependencies"};
    return names[resource];
}

void tg_trace_counter_info(const struct tg_trace_out *out, uint32_t counter,
                           struct tg_counter_info *info)
{
    static const char *const plain[TG_COUNTER_RINGS] = {"ready tasks", "running tasks",
                                                        "recorder bytes", "tensor map entries"};
    static const uint32_t resource_of[TG_RING_COUNTERS] = {TG_RESOURCE_SLOTS, TG_RESOURCE_HEAP,
                                                           TG_RESOURCE_DEPS};
    uint32_t ring = 0, resource = TG_RESOURCE_MAP;
    *info = (struct tg_counter_info){.is_bytes = counter == TG_COUNTER_RECORDER};
    int n;
    if (counter < TG_COUNTER_RINGS) {
        n = snprintf(info->name, sizeof info->name, "%s", plain[counter]);
    } else {
        uint32_t number = (counter - TG_COUNTER_RINGS) % TG_RING_COUNTERS;
        ring = (counter - TG_COUNTER_RINGS) / TG_RING_COUNTERS;
        resource = resource_of[number];
        info->is_bytes = resource == TG_RESOURCE_HEAP;
        n = snprintf(info->name, sizeof info->name, "ring %u %s", ring, name_ring_counter(number));
    }
    uint64_t capacity = out->run->capacity[ring][resource];
    if (counter >= TG_COUNTER_MAP && capacity > 0 && n > 0)
        (void)snprintf(info->name + n, sizeof info->name - (size_t)n, " (of %llu)",
                       (unsigned long long)capacity);
}

size_t tg_trace_task_text(uint64_t id, char *text)
{
    char *end = tg_digits_uint(text, id >> 32);
    *end++ = ':';
    end = tg_digits_uint(end, id & UINT32_MAX);
    *end = '\0';
    return (size_t)(end - text);
}

/* --- the file -------------------------------------------------------------------------------- */

void tg_trace_flush(struct tg_trace_out *out, bool all)
{
    struct tg_bytes *bytes = &out->bytes;
    if (bytes->used < FLUSH_AT && !all)
        return;
    errno = 0;
    if (out->cause == 0 && bytes->used > 0 &&
        fwrite(bytes->at, 1, bytes->used, out->file) != bytes->used)
        out->cause = errno ? errno : EIO;
    out->written += bytes->used;
    bytes->used = 0;
}

bool tg_trace_goes_on(struct tg_trace_out *out)
{
    const struct tg_trace_target *target = out->target;
    if (++out->looked % LOOK_EVENTS == 0 && target->goes_on && !target->goes_on(target->context))
        out->is_cancelled = true;
    return !out->is_cancelled && out->cause == 0 && !out->bytes.no_memory;
}

static tg_status problem(const struct tg_trace_out *out, struct tg_error *error)
{
    if (out->is_cancelled)
        return tg_error_set(error, TG_CANCELLED, "writing the trace was cancelled");
    if (out->bytes.no_memory)
        return tg_file_no_memory(error);
    if (out->cause == 0)
        return TG_OK;
    return tg_error_set(error, TG_IO_ERROR, "%s", tg_cause_text(out->cause));
}

static tg_status write_all(struct tg_trace_out *out, struct tg_error *error)
{
    size_t memory = out->target->memory ? out->target->memory : MEMORY;
    const char *folder = tg_spool_folder(out->spool);
    out->by_task = tg_sort_create(folder, memory);
    out->by_time = tg_sort_create(folder, memory);
    if (!out->by_task || !out->by_time || !make_names(out))
        return tg_file_no_memory(error);
    tg_status status = tg_trace_join(out, error);
    if (status == TG_OK && problem(out, error) == TG_OK)
        status = tg_trace_emit(out, error);
    tg_trace_flush(out, true);
    if (out->cause == 0 && fflush(out->file) != 0)
        out->cause = errno;
    return status == TG_OK ? problem(out, error) : status;
}

static void release(struct tg_trace_out *out)
{
    for (uint32_t i = 0; i < out->n_names; i++)
        free(out->name[i]);
    free(out->name);
    free(out->bytes.at);
    tg_sort_destroy(out->by_task);
    tg_sort_destroy(out->by_time);
    tg_steps_free(&out->ready);
    tg_steps_free(&out->running);
}

tg_status tg_trace_write(struct tg_spool *spool, const struct tg_trace_run *run,
                         const struct tg_trace_target *target, struct tg_trace_result *result,
                         struct tg_error *error)
{
    struct tg_new_file *made = NULL;
    struct tg_trace_out out = {.run = run,
                               .target = target,
                               .spool = spool,
                               .ops = target->format == TG_TRACE_CHROME ? &tg_trace_chrome
                                                                        : &tg_trace_perfetto,
                               .file = target->file};
    tg_status status = TG_OK;
    if (!target->file)
        status = tg_new_file_open(target->path, target->overwrite, &made, error);
    if (status == TG_OK && made)
        out.file = tg_new_file_stream(made);
    if (status == TG_OK)
        status = write_all(&out, error);
    if (made && status == TG_IO_ERROR && error)
        (void)tg_error_set(error, status, "cannot write '%s': %s", target->path, error->text);
    tg_status closed = tg_new_file_close(made, status == TG_OK, status == TG_OK ? error : NULL);
    release(&out);
    out.result.bytes = out.written;
    if (result)
        *result = out.result;
    return status == TG_OK ? closed : status;
}
