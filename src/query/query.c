/* SPDX-License-Identifier: Apache-2.0 */
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the query");
}

tg_status tg_query_create(struct tg_query **query, struct tg_error *error)
{
    *query = calloc(1, sizeof **query);
    return *query ? TG_OK : no_memory(error);
}

void tg_query_destroy(struct tg_query *query)
{
    if (!query)
        return;
    tg_selection_free(&query->selection);
    for (size_t i = 0; i < query->n_texts; i++)
        free(query->text[i]);
    free(query->text);
    free(query);
}

static char *keep(struct tg_query *query, const char *text)
{
    char **texts = realloc(query->text, (query->n_texts + 1) * sizeof *texts);
    if (!texts)
        return NULL;
    query->text = texts;
    texts[query->n_texts] = strdup(text);
    return texts[query->n_texts] ? texts[query->n_texts++] : NULL;
}

tg_status tg_query_add(struct tg_query *query, const char *option, const char *text,
                       struct tg_error *error)
{
    const char *kept = keep(query, text);
    return kept ? tg_selection_add(&query->selection, option, kept, error) : no_memory(error);
}

bool tg_query_next(const struct tg_query *query, const struct tg_recording *recording,
                   uint64_t *index, struct tg_entry *entry)
{
    static const struct tg_selection everything;
    return tg_selection_next(query ? &query->selection : &everything, recording, index, entry);
}
