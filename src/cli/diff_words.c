/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff_words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>
#include <taskglass/wire/stream.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/format.h"

/* Splits a row-major element number into one index for each dimension. */
static void coordinates(const struct tg_record *record, uint64_t element, uint64_t *at)
{
    for (int i = record->ndim; i-- > 0;) {
        uint64_t count = (uint64_t)record->shape[i];
        at[i] = count ? element % count : 0;
        element = count ? element / count : 0;
    }
}

const char *cli_element_at(struct cli_words *words, const struct tg_record *record,
                           uint64_t element)
{
    uint64_t at[TG_MAX_DIMS] = {0};
    size_t used = 1;
    coordinates(record, element, at);
    snprintf(words->text, sizeof words->text, "[");
    for (int i = 0; i < record->ndim; i++)
        used += (size_t)snprintf(words->text + used, sizeof words->text - used, "%s%" PRIu64,
                                 i > 0 ? ", " : "", at[i]);
    snprintf(words->text + used, sizeof words->text - used, "]");
    return words->text;
}

const char *cli_task_words(struct cli_words *words, const struct tg_entry *entry)
{
    struct cli_words task, kernels;
    const char *name = cli_record_kernels(&kernels, entry);
    if (entry->record.task_id == TG_TASK_NONE)
        return "the orchestration";
    snprintf(words->text, sizeof words->text, "task %.40s%s%.*s",
             cli_record_task(&task, entry->record.task_id), *name ? " " : "",
             cli_format_fit(name, 300), name);
    return words->text;
}

const char *cli_argument_words(struct cli_words *words, const struct tg_record *record)
{
    struct cli_words shape;
    snprintf(words->text, sizeof words->text, "%s, %s arg %u, %s %.250s",
             cli_record_stage(record->stage), cli_record_role(record->role), record->arg_index,
             tg_dtype_name(record->dtype), cli_record_shape(&shape, record));
    return words->text;
}

const char *cli_short_number(struct cli_words *words, double number)
{
    snprintf(words->text, sizeof words->text, "%.4g", number);
    return words->text;
}

/* Floats with less than 32 bits are printed as float32: with the few digits that identify a
 * float8_e4m3fn, its 448 would become 450. */
static unsigned widen(unsigned dtype, uint64_t *bits)
{
    if (!tg_dtype_is_float((int)dtype) || tg_dtype_bits((int)dtype) >= 32)
        return dtype;
    *bits = tg_encode(TG_FLOAT32, tg_decode(dtype, *bits));
    return TG_FLOAT32;
}

const char *cli_value_words(struct cli_words *words, unsigned dtype, uint64_t bits)
{
    struct tg_value_text text;
    dtype = widen(dtype, &bits);
    snprintf(words->text, sizeof words->text, "%s", tg_value_format(dtype, bits, &text));
    return words->text;
}

void cli_json_at(struct tg_json *json, const char *key, const struct tg_record *record,
                 uint64_t element)
{
    uint64_t at[TG_MAX_DIMS] = {0};
    tg_json_key(json, key);
    if (element == TG_NONE) {
        tg_json_null(json);
        return;
    }
    coordinates(record, element, at);
    tg_json_begin_line_array(json);
    for (int i = 0; i < record->ndim; i++)
        tg_json_uint(json, at[i]);
    tg_json_end_array(json);
}

void cli_json_real(struct tg_json *json, const char *key, double value)
{
    tg_json_key(json, key);
    if (isnan(value))
        tg_json_null(json);
    else
        tg_json_real(json, value);
}

void cli_json_index(struct tg_json *json, const char *key, uint64_t index)
{
    tg_json_key(json, key);
    if (index == TG_NONE)
        tg_json_null(json);
    else
        tg_json_uint(json, index);
}

void cli_json_argument(struct tg_json *json, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    tg_json_key(json, "kernel");
    tg_json_begin_line_array(json);
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part])
            tg_json_string(json, entry->kernel[part]);
    tg_json_end_array(json);
    tg_json_put_string(json, "stage", tg_stage_name(record->stage));
    tg_json_put_string(json, "role", tg_record_role_name(record->role));
    tg_json_put_uint(json, "arg_index", record->arg_index);
    tg_json_put_string(json, "kind", record->kind == TG_KIND_SCALAR ? "scalar" : "tensor");
    tg_json_put_string(json, "dtype", tg_dtype_name(record->dtype));
    tg_json_key(json, "shape");
    tg_json_begin_line_array(json);
    for (int i = 0; i < record->ndim; i++)
        tg_json_int(json, record->shape[i]);
    tg_json_end_array(json);
}

void cli_json_recording(struct tg_json *json, const char *key, const struct tg_recording *recording)
{
    struct tg_recording_info info;
    char name[256];
    tg_recording_get_info(recording, &info);
    cli_recording_name(&info, name, sizeof name);
    tg_json_key(json, key);
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "run", name);
    tg_json_put_string(json, "dir", info.dir);
    tg_json_put_string(json, "level", info.level ? tg_level_name(info.level) : NULL);
    tg_json_put_bool(json, "complete", info.complete);
    tg_json_put_string(json, "state", tg_recording_state_name(info.state));
    tg_json_put_bool(json, "foreign", info.foreign);
    tg_json_put_uint(json, "records", info.records);
    tg_json_put_uint(json, "lost", cli_recording_lost(&info.summary));
    tg_json_put_uint(json, "damaged", info.damaged);
    tg_json_end_object(json);
}
