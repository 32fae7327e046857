/* SPDX-License-Identifier: Apache-2.0 */
/* The request `timeline`: the tasks and when they ran, as columns. */
#include <stdio.h>

#include "workbench/requests.h"
#include "workbench/tasks.h"

static void put_core(struct tg_json *json, const struct tg_timeline_core *core)
{
    char name[64];
    (void)snprintf(name, sizeof name, "core %u", core->number);
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "number", core->number);
    tg_json_put_string(json, "kind",
                       core->kind == TG_AIC   ? "AIC"
                       : core->kind == TG_AIV ? "AIV"
                                              : "?");
    tg_json_put_string(json, "name", *core->name ? core->name : name);
    tg_json_end_object(json);
}

static void put_header(struct tg_json *json, const struct tg_bench_run *run,
                       const struct tg_bench_tasks *tasks)
{
    const struct tg_timeline *names = &tasks->names;
    struct tg_note note;
    char number[TG_BENCH_KERNEL];
    tg_json_key(json, "start_ns");
    tg_json_quoted_uint(json, tasks->start);
    tg_json_put_uint(json, "span_ns", tasks->span);
    tg_json_put_string(json, "source", tasks->source);
    tg_json_put_uint(json, "generation", run->generation);
    tg_json_key(json, "kernels");
    tg_json_begin_line_array(json);
    for (size_t i = 0; i < names->n_kernels && i < UINT16_MAX; i++)
        tg_json_string(json, tg_bench_kernel_name(tasks, i, number));
    tg_json_end_array(json);
    tg_json_key(json, "cores");
    tg_json_begin_array(json);
    for (size_t i = 0; i < names->n_cores && i < UINT16_MAX; i++)
        put_core(json, &names->core[i]);
    tg_json_end_array(json);
    tg_json_put_uint(json, "tasks", tasks->count);
    tg_json_key(json, "notes");
    tg_json_begin_array(json);
    for (int i = 0; i < 2; i++)
        if (*tasks->note[i])
            tg_json_string(json, tasks->note[i]);
    for (unsigned i = 0; run->recording && tg_recording_note(&run->info, i, &note); i++)
        tg_json_string(json, note.text);
    tg_json_end_array(json);
}

tg_status tg_request_timeline(struct tg_request_context *context, struct tg_error *error)
{
    const struct tg_bench_tasks *tasks;
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_bench_tasks_of(context->run, &tasks, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    tg_answer_share(context->answer, &tasks->columns, context->run);
    put_header(&context->answer->json, context->run, tasks);
    return TG_OK;
}
