/* SPDX-License-Identifier: Apache-2.0 */
#include "host/record_result.h"

#include <stdio.h>

#include "host/text.h"

void tg_record_result_say(struct tg_record_result *result, const char *text)
{
    tg_text_add(result->text, sizeof result->text, text);
}

void tg_record_result_fail(struct tg_record_result *result, const char *file,
                           const struct tg_error *error)
{
    char text[80];
    if (result->status == TG_OK) {
        result->status = error->status;
        tg_record_result_say(result, error->text);
        return;
    }
    snprintf(text, sizeof text, "%s not written", file);
    tg_record_result_say(result, text);
}
