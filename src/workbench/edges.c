/* SPDX-License-Identifier: Apache-2.0 */
/* The request `edges`: who waited for whom, as columns. */
#include "workbench/edges.h"

#include "workbench/requests.h"

static void put_texts(struct tg_json *json, const char *key, const struct tg_texts *texts)
{
    tg_json_key(json, key);
    tg_json_begin_line_array(json);
    for (uint32_t i = 0; i < texts->count; i++)
        tg_json_string(json, texts->text[i]);
    tg_json_end_array(json);
}

static void put_header(struct tg_json *json, const struct tg_bench_run *run,
                       const struct tg_bench_edges *edges)
{
    tg_json_put_uint(json, "tasks", edges->count);
    tg_json_put_uint(json, "known", edges->known);
    put_texts(json, "scopes", &edges->scopes);
    put_texts(json, "lines", &edges->lines);
    put_texts(json, "kernels", &edges->kernels);
    tg_json_put_string(json, "runtime", edges->runtime);
    tg_json_put_uint(json, "lost", edges->lost);
    tg_json_put_uint(json, "unknown", edges->unknown);
    tg_json_put_uint(json, "generation", run->generation);
}

tg_status tg_request_edges(struct tg_request_context *context, struct tg_error *error)
{
    const struct tg_bench_edges *edges;
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_bench_edges_of(context->run, &edges, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    tg_answer_share(context->answer, &edges->columns, context->run);
    put_header(&context->answer->json, context->run, edges);
    return TG_OK;
}
