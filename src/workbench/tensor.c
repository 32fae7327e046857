/* SPDX-License-Identifier: Apache-2.0 */
/* `tensor`: a record, and how its elements can be shown. */
#include <stdlib.h>

#include "base/error.h"
#include "workbench/numpy_line.h"
#include "workbench/plane.h"
#include "workbench/records.h"
#include "workbench/requests.h"

static tg_status put_line(struct tg_json *json, const struct tg_shown *shown,
                          struct tg_error *error)
{
    char *line = NULL;
    size_t size;
    FILE *file = open_memstream(&line, &size);
    if (file && shown->is_readable)
        tg_numpy_line(file, shown);
    const bool is_made = file && fclose(file) == 0;
    if (is_made)
        tg_json_put_string(json, "numpy", line);
    free(line);
    return is_made ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "out of memory");
}

static tg_status put_tensor(struct tg_json *json, const struct tg_shown *shown,
                            struct tg_error *error)
{
    struct tg_plane plane;
    struct tg_entry entry; /* as the recording has it: that of `shown` has lost the flag EXCESS */
    tg_plane_default(shown, &plane);
    if (tg_recording_get(shown->run->recording, shown->index, &entry))
        tg_bench_put_record(json, shown->run, shown->index, &entry);
    tg_json_put_bool(json, "readable", shown->is_readable);
    tg_json_put_string(json, "why", shown->why);
    tg_json_put_uint(json, "elements", (uint64_t)shown->array.elements);
    tg_json_put_bool(json, "cut", shown->array.cut);
    tg_put_numbers(json, "view", shown->shape, shown->ndim);
    tg_json_key(json, "rows");
    tg_json_int(json, plane.rows);
    tg_json_put_uint(json, "cols", (uint64_t)plane.cols);
    tg_json_put_uint(json, "levels", plane.levels);
    return put_line(json, shown, error);
}

tg_status tg_request_tensor(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    tg_status status = tg_shown_take(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    return status == TG_OK ? put_tensor(&context->answer->json, &shown, error) : status;
}
