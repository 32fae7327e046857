/* SPDX-License-Identifier: Apache-2.0 */
/* The request `rings`: the document that the page of `taskglass scope` contains. */
#include <taskglass/scope_stats.h>

#include "base/error.h"
#include "scope/scope_document.h"
#include "workbench/requests.h"

/* The samples of a run of any length are read in one go, but an answer has a limit. */
enum { MOST_SAMPLES = 20 << 20 };

static int stop_at_limit(void *context, uint64_t samples)
{
    (void)context;
    return samples > MOST_SAMPLES;
}

/* On one line: most of it is lists of numbers. */
static tg_status write(const struct tg_scope_document *document, struct tg_json *json,
                       struct tg_error *error)
{
    tg_json_begin_line_object(json);
    tg_status status = tg_scope_document_write(document, json);
    tg_json_end_object(json);
    return status == TG_OK ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "out of memory");
}

tg_status tg_request_rings(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_scope_document document = {0};
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status != TG_OK)
        return status;
    status = tg_scope_document_open(context->run->folder, stop_at_limit, NULL, &document, error);
    if (status == TG_CANCELLED)
        status = tg_error_set(error, TG_UNSUPPORTED,
                              "the run has more than %d samples of scopes; show them with: "
                              "taskglass scope",
                              MOST_SAMPLES);
    else if (status == TG_NOT_FOUND)
        status = tg_error_set(error, TG_UNSUPPORTED,
                              "the run took no scope stats; run with --enable-scope-stats");
    else if (status == TG_BAD_ARGUMENT) /* of the file, not of the request */
        status = TG_UNSUPPORTED;
    if (status == TG_OK)
        status = tg_answer_value(context->answer, error);
    if (status == TG_OK)
        status = write(&document, &context->answer->json, error);
    tg_scope_document_close(&document);
    return status;
}
