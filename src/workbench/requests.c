/* SPDX-License-Identifier: Apache-2.0 */
/* Answers requests: parses, opens the run that a request names, and calls the request's function. */
#include "workbench/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    tg_request_fn answer;
} requests[] = {
#define TG_REQUEST_ROW_(name, function) {name, function},
    TG_REQUEST_MAP(TG_REQUEST_ROW_)
#undef TG_REQUEST_ROW_
};

static tg_request_fn function_of(const char *name)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (strcmp(requests[i].name, name) == 0)
            return requests[i].answer;
    return NULL;
}

static tg_status answer_of_run(struct tg_request_context *context, tg_request_fn function,
                               struct tg_error *error)
{
    const char *key;
    tg_status status = tg_ask_need(context->ask, "run", &key, error);
    if (status == TG_OK)
        status = tg_bench_take(context->bench, key, &context->run, error);
    if (status != TG_OK)
        return status;
    status = function(context, error);
    /* What was read of files that changed meanwhile is not true. */
    if (status == TG_OK && context->run->recording)
        status = tg_recording_check_files(context->run->recording, error);
    tg_bench_give_back(context->run);
    return status;
}

static tg_status answer(struct tg_request_context *context, const char *request,
                        struct tg_error *error)
{
    tg_status status = tg_ask_parse(request, context->ask, error);
    if (status != TG_OK)
        return status;
    tg_request_fn function = function_of(context->ask->name);
    if (!function)
        return tg_error_set(error, TG_NOT_FOUND, "there is no request '%s'", context->ask->name);
    return function == tg_request_runs ? function(context, error)
                                       : answer_of_run(context, function, error);
}

void tg_workbench_ask(struct tg_workbench *bench, const char *request,
                      struct tg_workbench_answer *made)
{
    if (!made)
        return;
    struct tg_error error = {0};
    struct tg_answer building = {0};
    struct tg_ask *ask = calloc(1, sizeof *ask);
    struct tg_request_context context = {.bench = bench, .ask = ask, .answer = &building};
    tg_status status = TG_OK;
    if (!bench || !request)
        status = tg_error_null(&error, __func__, bench ? "request" : "bench");
    else
        status = ask ? answer(&context, request, &error)
                     : tg_error_set(&error, TG_NO_MEMORY, "out of memory");
    tg_answer_finish(&building, status, &error, made);
    free(ask);
}
