/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a document that somebody else wrote into an answer. */
#ifndef TG_WORKBENCH_JSON_COPY_H
#define TG_WORKBENCH_JSON_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/json.h>

/* Writes the value, token by token, so that whatever is in it becomes inert text; null if the text is no JSON object,
 * or nested too deeply. Integers beyond 2^53 become strings. False if memory ran out. */
bool tg_json_copy(struct tg_json *json, const char *text, size_t size);

#endif
