/* SPDX-License-Identifier: Apache-2.0 */
/* The request `explain`: why the run did not end, or failed. */
#include <taskglass/explain.h>

#include "base/error.h"
#include "workbench/requests.h"

tg_status tg_request_explain(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_explanation *why = NULL;
    tg_status status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_explain(context->run->folder, &why, error);
    if (status == TG_NOT_FOUND) /* the run is there; what explains it is not */
        status = tg_error_set(error, TG_UNSUPPORTED,
                              "nothing is known about how this run ended: it has no run.json and "
                              "does not answer");
    if (status == TG_OK)
        status = tg_answer_value(context->answer, error);
    if (status == TG_OK)
        tg_explanation_write(why, &context->answer->json);
    tg_explanation_free(why);
    return status;
}
